#include "Io/ReadTask.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Io/Chunks.h"
#include "Io/Decode.h"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <mutex>

namespace patchio {

void TaskReader::Read(int file, std::uint64_t offset, const std::vector<iovec>& buffers)
{
  if (this->CurrentNumber != file) {
    this->CurrentNumber = -1;
    this->Current = this->Storage.Open(file);
    this->CurrentNumber = file;
  }
  std::uint64_t bytes = 0;
  for (const iovec& buffer : buffers) {
    bytes += buffer.iov_len;
  }
  const ReadMeter::Request request(this->Meter, bytes);
  this->Current->Read(offset, buffers);
}

std::byte* TaskReader::Scratch(std::size_t bytes)
{
  if (this->MemoryBytes < bytes) {
    // The old contents are not needed, and the new memory is written before it is read.
    this->MemoryBytes = 0;
    this->Memory.reset();
    this->Memory.reset(new std::byte[bytes]);
    this->MemoryBytes = bytes;
  }
  return this->Memory.get();
}

std::vector<iovec>& TaskReader::Buffers()
{
  this->Addresses.clear();
  return this->Addresses;
}

struct TaskReaders::PerThread
{
  tbb::enumerable_thread_specific<TaskReader> Readers;
};

TaskReaders::TaskReaders(Source& source, ReadMeter& meter)
    : All(new PerThread{tbb::enumerable_thread_specific<TaskReader>(
          [&source, &meter] { return TaskReader(source, meter); })})
{
}

TaskReaders::~TaskReaders() = default;

TaskReader& TaskReaders::OfThisThread()
{
  return this->All->Readers.local();
}

namespace {

/// Returns what the plan reads of each task: the number of bytes of its segments, or, for chunked tasks, the
/// number of chunks.
std::vector<std::uint64_t> AmountsInPlan(const LocationTable& table, const ReadPlan& plan)
{
  std::vector<std::uint64_t> read(table.Locations.size(), 0);
  for (const Segment& segment : plan.Segments) {
    read[segment.Task] += table.Locations[segment.Task].Kind == Encoding::Chunked ? 1 : segment.Bytes;
  }
  return read;
}

/// Returns what a read of all values of a task reads, in the units of AmountsInPlan().
std::uint64_t CompleteAmount(const LocationTable& table, const Location& location)
{
  if (location.Kind == Encoding::Chunked) {
    const ChunkRange chunks = ChunksHolding(table.ChunkedArrays[location.First]);
    return chunks.End - chunks.Begin;
  }
  return table.ByteRanges[location.First].Bytes;
}

}  // namespace

StoredSums::StoredSums(const LocationTable& table, const ReadPlan& plan)
{
  if (table.Checksums.empty()) {
    return;
  }
  this->OfSegments.resize(plan.Segments.size());
  this->OfTasks = std::vector<Task>(table.Locations.size());
  const std::vector<std::uint64_t> read = AmountsInPlan(table, plan);
  for (std::size_t task = 0; task < this->OfTasks.size(); ++task) {
    const Location& location = table.Locations[task];
    this->OfTasks[task].Expected = table.Checksums[task];
    this->OfTasks[task].Known = (location.Kind == Encoding::Raw || location.Kind == Encoding::Chunked) &&
                                location.Count == 1 && read[task] == CompleteAmount(table, location);
  }
}

namespace {

bool NeedsSwap(ElementType type, bool bigEndian)
{
  return SizeOf(type) > 1 && bigEndian == HostIsLittleEndian();
}

bool BlanksUndefined(const ReadTarget& target)
{
  return target.Info && target.Info->HasUndefined();
}

/// Converts stored values to this machine's byte order and replaces undefined values by NaN. If `bytes` is 0,
/// all values are undefined.
void BlankStored(
    const ReadTarget& target, ElementType type, bool bigEndian, std::byte* values, std::uint64_t bytes)
{
  const auto count = static_cast<std::int64_t>(bytes / SizeOf(type));
  if (count > 0 && NeedsSwap(type, bigEndian)) {
    SwapByteOrder(values, count, SizeOf(type));
  }
  if (count == 0 ||
      BlankUndefined(values, count, type, target.Info->UndefinedFrom, target.Info->UndefinedTo)) {
    target.ForEach([](const Destination& destination) {
      if (destination.HasUndefined) {
        destination.HasUndefined->store(true, std::memory_order_relaxed);
      }
    });
  }
}

/// Returns the number of bytes of a chunk's values, or 0 if the chunk was never written.
std::size_t BytesOf(const ChunkedArray& array, const Chunk& chunk)
{
  const bool plain = array.Filters == decltype(array.Filters){};
  return plain && chunk.Bytes > 0 && chunk.Bytes < ChunkBytes(array) ? UsedChunkBytes(array, chunk.Number)
         : chunk.Bytes > 0                                           ? ChunkBytes(array)
                                                                     : 0;
}

/// Serializes the decoding of large compressed chunks, and frees their memory afterwards. Otherwise each
/// thread would keep as much memory as the largest chunk, which may be the entire array.
class LargeChunkTurn
{
public:
  LargeChunkTurn(const ChunkedArray& array, TaskReader& reader) : Executor(reader)
  {
    if (array.Filters != decltype(array.Filters){} && ChunkBytes(array) > Large) {
      this->Turn = std::unique_lock<std::mutex>(LargeChunks);
    }
  }
  ~LargeChunkTurn()
  {
    if (this->Turn) {
      this->Executor.Decoder().Trim(Large);
    }
  }

private:
  static constexpr std::size_t Large = 64 << 20;
  static std::mutex LargeChunks;

  TaskReader& Executor;
  std::unique_lock<std::mutex> Turn;
};

std::mutex LargeChunkTurn::LargeChunks;

/// Carries out one request, from reading its bytes to placing its values.
class RequestReader
{
public:
  RequestReader(TaskReader& reader, const LocationTable& table, const ReadPlan& plan,
      const StorageRequest& request, const TargetFunction& targetOf, StoredSums* sums)
      : Executor(reader),
        Table(table),
        Request(request),
        Sums(sums),
        FirstSegment(plan.Segments.data()),
        Begin(plan.Segments.data() + request.FirstSegment),
        End(Begin + request.SegmentCount)
  {
    this->Targets.reserve(request.SegmentCount);
    for (const Segment* segment = this->Begin; segment != this->End; ++segment) {
      this->Targets.push_back(targetOf(segment->Task));
    }
  }

  void Run()
  {
    this->Fetch();
    std::byte* stored = this->Stored;
    for (const Segment* segment = this->Begin; segment != this->End; ++segment) {
      const ReadTarget& target = this->TargetOf(*segment);
      if (std::byte* straight = this->DirectAddress(*segment, target)) {
        this->PlaceByteRange(*segment, target, straight);
        continue;
      }
      if (this->KindOf(*segment) == Encoding::Raw) {
        this->PlaceByteRange(*segment, target, stored);
      } else {
        this->PlaceStoredChunk(*segment, target, stored);
      }
      stored += segment->Bytes;
    }
  }

private:
  const ReadTarget& TargetOf(const Segment& segment) const { return this->Targets[&segment - this->Begin]; }
  Encoding KindOf(const Segment& segment) const { return this->Table.Locations[segment.Task].Kind; }
  const ByteRange& ByteRangeOf(const Segment& segment) const
  {
    return this->Table.ByteRanges[this->Table.Locations[segment.Task].First + segment.Component];
  }
  const ChunkedArray& ArrayOf(const Segment& segment) const
  {
    return this->Table.ChunkedArrays[this->Table.Locations[segment.Task].First + segment.Component];
  }

  /// Returns the address in the output to which the storage can write the segment directly, or null if stored
  /// values and output have different layouts. Small segments go through the thread's scratch memory, which
  /// is in the cache, because a copy is cheaper than one more buffer in the request.
  std::byte* DirectAddress(const Segment& segment, const ReadTarget& target) const
  {
    constexpr std::uint64_t small = 64 << 10;
    std::int64_t first = 0;
    const bool straight = this->KindOf(segment) == Encoding::Raw &&
                          (segment.Bytes >= small || this->Request.SegmentCount == 1) &&
                          target.More.empty() && target.One.Place.OutputComponents == 1 &&
                          target.One.Place.Contiguous(first);
    return straight
               ? static_cast<std::byte*>(target.One.Data) + first * SizeOf(target.One.Type) + segment.Begin
               : nullptr;
  }

  void Fetch();
  void PlaceByteRange(const Segment& segment, const ReadTarget& target, std::byte* values) const;
  void PlaceStoredChunk(const Segment& segment, const ReadTarget& target, std::byte* stored) const;
  void SumChunk(const Segment& segment, const std::byte* values) const;
  std::byte* InflateDirect(const ChunkedArray& array, const Chunk& chunk, const Segment& segment,
      const ReadTarget& target, const std::byte* stored) const;
  void PlaceBlanked(ChunkedArray array, const Chunk& chunk, const Segment& segment, const ReadTarget& target,
      std::byte* stored) const;
  const std::byte* Decoded(
      const ChunkedArray& array, const Chunk& chunk, const Segment& segment, const std::byte* stored) const;
  void PlaceValues(const ChunkedArray& array, const Chunk& chunk, const Segment& segment,
      const ReadTarget& target, const std::byte* values) const;

  TaskReader& Executor;
  const LocationTable& Table;
  const StorageRequest& Request;
  std::vector<ReadTarget> Targets;  ///< one per segment of the request
  StoredSums* Sums;                 ///< may be null
  const Segment* FirstSegment;      ///< first segment of the plan
  const Segment* Begin;
  const Segment* End;
  std::byte* Stored = nullptr;  ///< bytes that were not read directly to the output
};

void RequestReader::Fetch()
{
  std::size_t indirect = 0;
  std::size_t widestGap = 0;
  std::uint64_t position = this->Request.Offset;
  for (const Segment* segment = this->Begin; segment != this->End; ++segment) {
    widestGap = std::max<std::size_t>(widestGap, segment->Offset - position);
    indirect += this->DirectAddress(*segment, this->TargetOf(*segment)) ? 0 : segment->Bytes;
    position = segment->Offset + segment->Bytes;
  }
  std::byte* const scratch = this->Executor.Scratch(indirect + widestGap);
  std::byte* const waste = scratch + indirect;
  std::byte* next = scratch;
  std::vector<iovec>& buffers = this->Executor.Buffers();
  position = this->Request.Offset;
  for (const Segment* segment = this->Begin; segment != this->End; ++segment) {
    if (segment->Offset > position) {
      buffers.push_back({waste, segment->Offset - position});
    }
    std::byte* const straight = this->DirectAddress(*segment, this->TargetOf(*segment));
    buffers.push_back({straight ? straight : next, segment->Bytes});
    next += straight ? 0 : segment->Bytes;
    position = segment->Offset + segment->Bytes;
  }
  if (this->Request.Bytes > 0) {
    this->Executor.Read(this->Request.File, this->Request.Offset, buffers);
  }
  this->Stored = scratch;
}

void RequestReader::PlaceByteRange(const Segment& segment, const ReadTarget& target, std::byte* values) const
{
  const ByteRange& byteRange = this->ByteRangeOf(segment);
  const std::int64_t elementBytes = SizeOf(byteRange.Type);
  if (this->Sums && this->Sums->Wants(segment)) {
    const std::uint32_t sum = Crc32(0, values, segment.Bytes);
    this->Sums->Set(
        &segment - this->FirstSegment, PartOfCrc32(sum, byteRange.Bytes - segment.Begin - segment.Bytes));
  }
  const bool blanks = BlanksUndefined(target);
  if (blanks) {
    BlankStored(target, byteRange.Type, byteRange.BigEndian, values, segment.Bytes);
  }
  target.ForEach([&](const Destination& destination) {
    PlaceRun(destination.Place, values, segment.Begin / elementBytes, segment.Bytes / elementBytes,
        elementBytes, !blanks && NeedsSwap(byteRange.Type, byteRange.BigEndian),
        (*target.Slots)[segment.Component], destination.Data);
  });
}

void RequestReader::PlaceStoredChunk(
    const Segment& segment, const ReadTarget& target, std::byte* stored) const
{
  const ChunkedArray& array = this->ArrayOf(segment);
  const Chunk& chunk = this->Table.Chunks[segment.Begin];
  try {
    CheckChunkedArray(array);
    if (BlanksUndefined(target)) {
      const LargeChunkTurn turn(array, this->Executor);
      this->PlaceBlanked(array, chunk, segment, target, stored);
    } else if (const std::byte* straight = this->InflateDirect(array, chunk, segment, target, stored)) {
      this->SumChunk(segment, straight);
    } else {
      const LargeChunkTurn turn(array, this->Executor);
      const std::byte* const decoded = this->Decoded(array, chunk, segment, stored);
      this->SumChunk(segment, decoded);
      this->PlaceValues(array, chunk, segment, target, decoded);
    }
  } catch (const Error& error) {
    throw FileError(this->Table.Files[array.File],
        fmt::format("a valid chunk of data at offset {}", chunk.Offset), error.what(), "The file is damaged");
  }
}

/// Sets the contribution of the segment's chunk to the checksum of its task. values: the entire chunk as
/// stored, but without filters; null if the chunk was never written.
void RequestReader::SumChunk(const Segment& segment, const std::byte* values) const
{
  if (values && this->Sums && this->Sums->Wants(segment)) {
    this->Sums->Set(&segment - this->FirstSegment,
        ChecksumOfChunk(this->ArrayOf(segment), this->Table.Chunks[segment.Begin], values));
  }
}

/// Returns the bytes of a chunk without filters, possibly in `stored`, or null if the chunk was never
/// written.
const std::byte* RequestReader::Decoded(
    const ChunkedArray& array, const Chunk& chunk, const Segment& segment, const std::byte* stored) const
{
  const std::size_t bytes = BytesOf(array, chunk);
  return bytes > 0 ? this->Executor.Decoder().Undo(array.Filters, chunk.SkippedFilters, SizeOf(array.Type),
                         stored, segment.Bytes, bytes)
                   : nullptr;
}

void RequestReader::PlaceValues(const ChunkedArray& array, const Chunk& chunk, const Segment& segment,
    const ReadTarget& target, const std::byte* values) const
{
  target.ForEach([&](const Destination& destination) {
    PlaceChunk(destination.Place, array, chunk, values, (*target.Slots)[segment.Component], destination.Data);
  });
}

/// Places the values of a chunk, with undefined values replaced by NaN.
void RequestReader::PlaceBlanked(ChunkedArray array, const Chunk& chunk, const Segment& segment,
    const ReadTarget& target, std::byte* stored) const
{
  const std::byte* const decoded = this->Decoded(array, chunk, segment, stored);
  this->SumChunk(segment, decoded);
  const std::size_t bytes = BytesOf(array, chunk);
  std::vector<std::byte> copy;  // the memory of the decoder must not be modified
  if (decoded && decoded != stored) {
    copy.assign(decoded, decoded + bytes);
    stored = copy.data();
  }
  BlankStored(target, array.Type, array.BigEndian, stored, bytes);
  array.BigEndian = !HostIsLittleEndian();
  this->PlaceValues(array, chunk, segment, target, decoded ? stored : nullptr);
}

/// Decompresses a chunk directly to its place in the output if possible. Returns the address of the values,
/// or null.
std::byte* RequestReader::InflateDirect(const ChunkedArray& array, const Chunk& chunk, const Segment& segment,
    const ReadTarget& target, const std::byte* stored) const
{
  if (chunk.Bytes == 0 || !target.More.empty()) {
    return nullptr;
  }
  std::byte* const place = DirectChunkAddress(target.One.Place, array, chunk, target.One.Data);
  const bool done = place && this->Executor.Decoder().InflateTo(array.Filters, chunk.SkippedFilters, stored,
                                 segment.Bytes, place, ChunkBytes(array));
  return done ? place : nullptr;
}

/// Calls visit(first tuple, count) for each row of output tuples that get values.
template <typename Visit>
void ForEachRow(const Window& window, Visit visit)
{
  for (std::int64_t k = window.First[2]; k <= window.Last[2]; ++k) {
    for (std::int64_t j = window.First[1]; j <= window.Last[1]; ++j) {
      const std::int64_t first = window.First[0] / window.Tuple;
      visit((k * window.Output[1] + j) * (window.Output[0] / window.OutputTuple) + first,
          (window.Last[0] + 1) / window.Tuple - first);
    }
  }
}

/// Sets one component to `value` wherever the window has values.
template <typename Value>
void FillComponent(const Destination& destination, int component, Value value)
{
  const int components = destination.Place.OutputComponents * destination.Place.OutputTuple;
  ForEachRow(destination.Place, [&](std::int64_t tuple, std::int64_t count) {
    Value* next = static_cast<Value*>(destination.Data) + tuple * components + component;
    for (std::int64_t i = 0; i < count; ++i, next += components) {
      *next = value;
    }
  });
}

void FillComponentOf(const Destination& destination, int component, float value)
{
  VisitType(destination.Type,
      [&](auto element) { FillComponent(destination, component, static_cast<decltype(element)>(value)); });
}

/// Returns the output components that get stored components.
std::vector<int> ComponentsStored(const ReadTarget& target, const Window& place)
{
  std::vector<int> components;
  for (const int slot : *target.Slots) {
    for (int c = 0; c < place.Tuple; ++c) {
      components.push_back(slot + place.OutputComponent(c));
    }
  }
  return components;
}

/// Sets the output components that get no stored component to 0.
void ZeroSurplus(const ReadTarget& target, const Destination& destination)
{
  const Window& place = destination.Place;
  const std::vector<int> stored = ComponentsStored(target, place);
  const int all = place.OutputComponents * place.OutputTuple;
  for (int c = 0; c < all && static_cast<int>(stored.size()) < all; ++c) {
    if (std::find(stored.begin(), stored.end(), c) == stored.end()) {
      FillComponentOf(destination, c, 0);
    }
  }
}

template <typename T>
std::vector<T> ReadAll(TaskReader& reader, const ByteRange& byteRange)
{
  std::vector<T> values(byteRange.Bytes / sizeof(T));
  std::vector<iovec>& buffers = reader.Buffers();
  buffers.push_back({values.data(), values.size() * sizeof(T)});
  reader.Read(byteRange.File, byteRange.Offset, buffers);
  if (NeedsSwap(byteRange.Type, byteRange.BigEndian)) {
    SwapByteOrder(values.data(), values.size(), sizeof(T));
  }
  return values;
}

/// Reads the byte ranges of a sparse location: the list of materials and, if a cell is mixed, mix_mat,
/// next_mat and vol_fracs.
void ReadSparse(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  const ByteRange* byteRanges = table.ByteRanges.data() + location.First;
  const auto materials = ReadAll<std::int32_t>(reader, byteRanges[0]);
  std::vector<std::int32_t> mixMaterial, mixNext;
  std::vector<float> mixFraction;
  if (location.Count == 4) {
    mixMaterial = ReadAll<std::int32_t>(reader, byteRanges[1]);
    mixNext = ReadAll<std::int32_t>(reader, byteRanges[2]);
    mixFraction = ReadAll<float>(reader, byteRanges[3]);
  }
  std::vector<float> fractions(target.One.Place.StoredTuples());
  if (!DecodeSparseFractions(materials.data(), materials.size(), mixMaterial.data(), mixNext.data(),
          mixFraction.data(), mixMaterial.size(), location.Material, fractions.size(), fractions.data())) {
    throw FileError(table.Files[byteRanges[0].File],
        fmt::format("a valid list of materials at offset {}", byteRanges[0].Offset),
        "an entry that points outside the mix arrays, or a cycle of entries", "The file is damaged");
  }
  target.ForEach([&](const Destination& destination) {
    PlaceRun(destination.Place, fractions.data(), 0, fractions.size(), sizeof(float), false,
        (*target.Slots)[0], destination.Data);
  });
}

}  // namespace

void ReadSegments(TaskReader& reader, const LocationTable& table, const ReadPlan& plan,
    const StorageRequest& request, const TargetFunction& targetOf, StoredSums* sums)
{
  RequestReader(reader, table, plan, request, targetOf, sums).Run();
}

void FinishTask(const ReadTarget& target)
{
  target.ForEach([&](const Destination& destination) {
    ZeroSurplus(target, destination);
    ExtendEdges(destination.Place, SizeOf(destination.Type), destination.Data);
  });
}

void ReadWhole(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  if (location.Kind == Encoding::SparseMaterials) {
    ReadSparse(reader, table, location, target);
  } else {
    assert(location.Kind == Encoding::Constant);
    target.ForEach([&](const Destination& destination) {
      for (const int component : ComponentsStored(target, destination.Place)) {
        FillComponentOf(destination, component, location.Value);
      }
    });
  }
  FinishTask(target);
}

ComponentRange WantedBytes(const ReadTarget& target)
{
  std::int64_t first = target.One.Place.Begin[2];
  std::int64_t end = target.One.Place.End[2];
  target.ForEach([&](const Destination& destination) {
    first = std::min(first, destination.Place.Begin[2]);
    end = std::max(end, destination.Place.End[2]);
  });
  const Dims& stored = target.One.Place.Stored;
  const std::uint64_t plane = stored[0] * stored[1] * SizeOf(target.One.Type);
  return {first * plane, end * plane};
}

ElementType TypeOf(const LocationTable& table, const Location& location)
{
  switch (location.Kind) {
    case Encoding::Raw:
      return table.ByteRanges[location.First].Type;
    case Encoding::Chunked:
      return table.ChunkedArrays[location.First].Type;
    case Encoding::Library:
      return table.LibraryArrays[location.First].Type;
    case Encoding::SparseMaterials:
    case Encoding::Constant:
    case Encoding::Absent:
    case Encoding::Missing:
      break;
  }
  return ElementType::Float32;
}

}  // namespace patchio
