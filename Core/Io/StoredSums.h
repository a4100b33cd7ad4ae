// Checksums of values as they are stored, compared while the values are read.
#pragma once

#include "Catalog/Extent.h"
#include "Plan/ReadPlan.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio {

/// The checksums of the tasks of one read, put together from their pieces, which come in any order and from
/// several threads. A task takes part if its checksum is known and the read fetches all its stored values.
class StoredSums
{
public:
  StoredSums() = default;
  StoredSums(const LocationTable& table, const ReadPlan& plan);

  /// Whether the piece belongs to a task that takes part. Thread-safe, like all methods below.
  bool Wants(const Piece& piece) const { return !this->OfTasks.empty() && this->OfTasks[piece.Task].Known; }
  /// sum: the contribution of the piece's values, see PartOfCrc32(). A piece that is read again is set again.
  void Set(std::size_t piece, std::uint32_t sum) { this->OfPieces[piece] = sum; }
  /// Adds the piece to the sum of its task; called once per piece, before the task counts as complete.
  void Add(std::size_t piece, std::uint32_t task)
  {
    this->OfTasks[task].Sum.fetch_xor(this->OfPieces[piece], std::memory_order_relaxed);
  }
  /// Whether the values of a complete task have the expected checksum.
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
