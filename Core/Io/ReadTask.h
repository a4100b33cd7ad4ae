// From requests to values in place, with stored checksums compared on the way.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Io/Decode.h"
#include "Io/Filters.h"
#include "Io/Progress.h"
#include "Io/Source.h"
#include "Plan/ReadPlan.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace patchio {

/// Reads for one thread at a time.
class TaskReader
{
public:
  TaskReader(Source& source, ReadMeter& meter) : Storage(source), Meter(meter) {}

  /// One request; see Source::File::Read.
  void Read(int file, std::uint64_t offset, const std::vector<iovec>& buffers);
  /// At least `bytes` of memory, contents undefined, valid until the next call.
  std::byte* Scratch(std::size_t bytes);
  /// An empty list to fill, valid until the next call.
  std::vector<iovec>& Buffers();
  ChunkDecoder& Decoder() { return this->Chunks; }

private:
  Source& Storage;
  ReadMeter& Meter;
  std::shared_ptr<Source::File> Current;
  int CurrentNumber = -1;
  std::unique_ptr<std::byte[]> Memory;
  std::size_t MemoryBytes = 0;
  std::vector<iovec> Addresses;
  ChunkDecoder Chunks;
};

/// A TaskReader for each thread that asks. Keeps references.
class TaskReaders
{
public:
  TaskReaders(Source& source, ReadMeter& meter);
  ~TaskReaders();
  TaskReaders(const TaskReaders&) = delete;
  TaskReaders& operator=(const TaskReaders&) = delete;

  TaskReader& OfThisThread();

private:
  struct PerThread;
  const std::unique_ptr<PerThread> All;
};

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

/// One of the places where the values of a task go.
struct Destination
{
  void* Data = nullptr;  ///< Output tuples x OutputComponents elements
  Window Place;
  ElementType Type =
      ElementType::Float32;  ///< of the elements; stored values that are not constant have it too
  std::atomic<bool>* HasUndefined = nullptr;  ///< becomes true when some value is undefined; may be null
};

/// Where the values of a task go: to the patch's own array, or to one or more blocks that it is part of.
struct ReadTarget
{
  Destination One;
  std::vector<Destination> More;
  const Variable* Info = nullptr;           ///< says which stored numbers stand for no value; null: none
  const std::vector<int>* Slots = nullptr;  ///< output component of each stored array; the rest become 0

  template <typename Visit>
  void ForEach(Visit visit) const
  {
    visit(this->One);
    for (const Destination& destination : this->More) {
      visit(destination);
    }
  }
};

/// The target of a task, by its index in the LocationTable. Called by several threads at once.
using TargetFunction = std::function<ReadTarget(std::uint32_t)>;

/// One request: fetches the bytes of its pieces and brings the values to their places. Values that no
/// decoding moves are read straight to where they stay. Throws Error when the storage fails or the bytes make
/// no sense; then any of its pieces may be the reason. sums: are set for its pieces, where they are wanted;
/// null: they are not.
void ReadTransfer(TaskReader& reader, const LocationTable& table, const ReadPlan& plan,
    const Transfer& transfer, const TargetFunction& targetOf, StoredSums* sums = nullptr);

/// What remains when all pieces of a task are in place: output components that no stored one goes to become
/// 0, and layers that are not stored repeat the nearest value.
void FinishTask(const ReadTarget& target);

/// A task that is not made of pieces: SparseMaterials or Constant. FinishTask() is included. Throws like
/// ReadTransfer().
void ReadWhole(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target);

/// The stored bytes of each component that the target needs: planes at both ends that no output has room for
/// are not even read.
ByteRange WantedBytes(const ReadTarget& target);

/// Element type of the values that a location delivers.
ElementType TypeOf(const LocationTable& table, const Location& location);

}  // namespace patchio
