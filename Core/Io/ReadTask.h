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
  std::byte* Scratch(std::size_t bytes) { return this->Memory.Reserve(bytes); }
  /// Returns an empty list of buffers, which keeps its memory and is valid until the next call.
  std::vector<iovec>& ClearedBuffers();
  ChunkDecoder& Decoder() { return this->Chunks; }

private:
  Source& Storage;
  ReadMeter& Meter;
  std::shared_ptr<Source::File> Current;
  int CurrentNumber = -1;
  ScratchMemory Memory;
  std::vector<iovec> Addresses;
  ChunkDecoder Chunks;
};

/// Returns a function that returns the TaskReader of the calling thread. `source` and `meter` must outlive
/// the function.
std::function<TaskReader&()> MakeTaskReaders(Source& source, ReadMeter& meter);

/// The checksums of the tasks of one read, combined from their segments, which several threads read in any
/// order. Only tasks with a known checksum take part, and only if the read fetches all stored values of the
/// task.
class StoredSums
{
public:
  StoredSums() = default;
  StoredSums(const LocationTable& table, const ReadPlan& plan);

  /// Returns whether the segment belongs to a task that takes part. This method and the following methods are
  /// thread-safe.
  bool Includes(const Segment& segment) const
  {
    return !this->TaskSums.empty() && this->TaskSums[segment.Task].Known;
  }
  /// Sets the contribution of a segment's values to the CRC-32 of its task, see Crc32Contribution(). A second
  /// call for the same segment replaces the contribution.
  void Set(std::size_t segment, std::uint32_t sum) { this->SegmentSums[segment] = sum; }
  /// Adds the contribution of a segment to the sum of its task. Call this method once per segment, before the
  /// task counts as complete.
  void Add(std::size_t segment, std::uint32_t task)
  {
    this->TaskSums[task].Sum.fetch_xor(this->SegmentSums[segment], std::memory_order_relaxed);
  }
  /// Returns whether the values of a complete task have the expected checksum.
  bool Matches(std::uint32_t task) const
  {
    return this->TaskSums[task].Sum.load(std::memory_order_relaxed) == this->TaskSums[task].Expected;
  }

private:
  struct Task
  {
    std::atomic<std::uint32_t> Sum{0};
    std::uint32_t Expected = 0;
    bool Known = false;
  };

  std::vector<std::uint32_t> SegmentSums;
  std::vector<Task> TaskSums;  ///< empty if no checksum is known
};

/// One destination of the values of a task.
struct Destination
{
  void* Data = nullptr;  ///< address of the output: Mapping.Output tuples of OutputComponents elements
  ArrayMapping Mapping;
  /// Type of the elements, and of stored values that are not constant.
  ElementType Type = ElementType::Float32;
  std::atomic<bool>* HasUndefined = nullptr;  ///< set to true if a value is undefined; may be null
};

/// The destinations of the values of a task: an array that holds the patch, or the arrays of one or more
/// blocks that contain the patch.
struct ReadTarget
{
  Destination Main;
  std::vector<Destination> Additional;
  /// The variable, which defines the undefined values; null: all values are defined.
  const Variable* Info = nullptr;
  const std::vector<int>* Slots = nullptr;  ///< output component of each stored array; other components get 0

  template <typename Visit>
  void ForEach(Visit visit) const
  {
    visit(this->Main);
    for (const Destination& destination : this->Additional) {
      visit(destination);
    }
  }
};

/// Returns the target of a task, given by its index in the LocationTable. Several threads call this function
/// concurrently.
using TargetFunction = std::function<ReadTarget(std::uint32_t)>;

/// Carries out one request: reads the bytes of its segments and copies the values to their destinations.
/// Values that need no conversion are read directly to their final place. Throws Error if the storage fails
/// or the bytes are invalid; any of the segments may be the cause. `sums`: receives the contributions of the
/// segments that take part; may be null.
void ReadSegments(TaskReader& reader, const LocationTable& table, const ReadPlan& plan,
    const StorageRequest& request, const TargetFunction& targetOf, StoredSums* sums = nullptr);

/// Completes a task after all its segments were read: sets output components without a stored component to 0,
/// and fills ghost layers that are not stored with the nearest value.
void FinishTask(const ReadTarget& target);

/// Carries out a task that does not consist of segments (SparseMaterials or Constant), including
/// FinishTask(). Throws like ReadSegments().
void ReadWholeTask(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target);

/// Returns the range of bytes that the target needs of each stored array. The range leaves out planes at both
/// ends that go to no output.
ComponentRange NeededBytes(const ReadTarget& target);

/// Returns the element type of the values at a location. Constant values and volume fractions are Float32.
ElementType TypeOf(const LocationTable& table, const Location& location);

}  // namespace patchio
