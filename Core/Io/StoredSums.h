// Checksums of values as they are stored, compared while the values are read.
#pragma once

#include "Catalog/Extent.h"
#include "Plan/ReadPlan.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio {

/// The checksums of the tasks of a read, from their pieces, which come in any order and from several threads.
/// Only tasks whose checksum is known and all of whose stored values are read have one. Belongs to one read.
class StoredSums
{
public:
  StoredSums() = default;
  StoredSums(const LocationTable& table, const ReadPlan& plan);

  /// Whether the piece belongs to a task with a checksum. Thread-safe, like all below.
  bool Wants(const Piece& piece) const { return !this->OfTasks.empty() && this->OfTasks[piece.Task].Known; }
  /// sum: of the piece's values, by PartOfCrc32(). A piece that is read again is set again.
  void Set(std::size_t piece, std::uint32_t sum) { this->OfPieces[piece] = sum; }
  /// Once for each piece, before the last one of its task counts as read.
  void Add(std::size_t piece, std::uint32_t task)
  {
    this->OfTasks[task].Sum.fetch_xor(this->OfPieces[piece], std::memory_order_relaxed);
  }
  /// After all pieces of the task: false where the values are not those of which the checksum is.
  bool Agrees(std::uint32_t task) const
  {
    return this->OfTasks[task].Sum.load(std::memory_order_relaxed) == this->OfTasks[task].Expected;
  }

private:
  struct Task
  {
    std::atomic<std::uint32_t> Sum{0};
    std::uint32_t Expected = 0;
    bool Known = false;
  };

  std::vector<std::uint32_t> OfPieces;
  std::vector<Task> OfTasks;  ///< empty: no checksum is known
};

}  // namespace patchio
