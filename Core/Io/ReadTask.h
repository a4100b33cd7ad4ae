// Execution of requests: reads bytes, decodes them, places the values, and compares stored checksums.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
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

/// The resources of a thread that carries out read tasks: open file, scratch memory, decoder. Not
/// thread-safe.
class TaskReader
{
public:
  TaskReader(Source& source, ReadMeter& meter) : Storage(source), Meter(meter) {}

  /// Carries out one request; see Source::File::Read().
  void Read(int file, std::uint64_t offset, const std::vector<iovec>& buffers);
  /// Returns at least `bytes` bytes of uninitialized memory, valid until the next call.
  std::byte* Scratch(std::size_t bytes);
  /// Returns an empty list, valid until the next call.
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

/// Provides one TaskReader per thread. `source` and `meter` must outlive this object.
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

/// The checksums of the tasks of one read, combined from their pieces, which several threads read in any
/// order. Only tasks with a known checksum take part, and only if the read fetches all their stored values.
class StoredSums
{
public:
  StoredSums() = default;
  StoredSums(const LocationTable& table, const ReadPlan& plan);

  /// Returns whether the piece belongs to a task that takes part. This method and the following ones are
  /// thread-safe.
  bool Wants(const Piece& piece) const { return !this->OfTasks.empty() && this->OfTasks[piece.Task].Known; }
  /// Sets the contribution of a piece's values, see PartOfCrc32(). A second call for the same piece replaces
  /// the contribution.
  void Set(std::size_t piece, std::uint32_t sum) { this->OfPieces[piece] = sum; }
  /// Adds the contribution of a piece to the sum of its task. Call it once per piece, before the task counts
  /// as complete.
  void Add(std::size_t piece, std::uint32_t task)
  {
    this->OfTasks[task].Sum.fetch_xor(this->OfPieces[piece], std::memory_order_relaxed);
  }
  /// Returns whether the values of a complete task have the expected checksum.
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
  std::vector<Task> OfTasks;  ///< empty if no checksum is known
};

/// One destination of the values of a task.
struct Destination
{
  void* Data = nullptr;  ///< address of the output: Place.Output tuples of OutputComponents elements
  Window Place;
  ElementType Type =
      ElementType::Float32;  ///< type of the elements, and of stored values that are not constant
  std::atomic<bool>* HasUndefined = nullptr;  ///< set to true if a value is undefined; may be null
};

/// The destinations of the values of a task: the patch's own array, or one or more blocks that contain the
/// patch.
struct ReadTarget
{
  Destination One;
  std::vector<Destination> More;
  const Variable* Info = nullptr;           ///< tells which stored numbers are undefined; null: none
  const std::vector<int>* Slots = nullptr;  ///< output component of each stored array; other components get 0

  template <typename Visit>
  void ForEach(Visit visit) const
  {
    visit(this->One);
    for (const Destination& destination : this->More) {
      visit(destination);
    }
  }
};

/// Returns the target of a task, given by its index in the LocationTable. Several threads call it
/// concurrently.
using TargetFunction = std::function<ReadTarget(std::uint32_t)>;

/// Carries out one request: reads the bytes of its pieces and places the values. Values that need no
/// conversion are read directly to their final place. Throws Error if the storage fails or the bytes are
/// invalid; any of the pieces may be the cause. sums: gets the contributions of the pieces that take part;
/// may be null.
void ReadTransfer(TaskReader& reader, const LocationTable& table, const ReadPlan& plan,
    const Transfer& transfer, const TargetFunction& targetOf, StoredSums* sums = nullptr);

/// Completes a task after all its pieces are placed: output components without stored component become 0, and
/// ghost layers that are not stored repeat the nearest value.
void FinishTask(const ReadTarget& target);

/// Carries out a task that does not consist of pieces (SparseMaterials or Constant), including FinishTask().
/// Throws like ReadTransfer().
void ReadWhole(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target);

/// Returns the range of stored bytes of each component that the target needs. Planes at both ends that have
/// no place in any output are left out.
ComponentRange WantedBytes(const ReadTarget& target);

/// Returns the element type of the values at a location.
ElementType TypeOf(const LocationTable& table, const Location& location);

}  // namespace patchio
