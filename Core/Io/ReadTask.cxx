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

std::vector<iovec>& TaskReader::ClearedBuffers()
{
  this->Addresses.clear();
  return this->Addresses;
}

std::function<TaskReader&()> MakeTaskReaders(Source& source, ReadMeter& meter)
{
  const auto readers = std::make_shared<tbb::enumerable_thread_specific<TaskReader>>(
      [&source, &meter] { return TaskReader(source, meter); });
  return [readers]() -> TaskReader& { return readers->local(); };
}

namespace {

/// Returns the amount that the plan reads of each task: the number of bytes of its segments, or, for chunked
/// tasks, the number of chunks.
std::vector<std::uint64_t> AmountsInPlan(const LocationTable& table, const ReadPlan& plan)
{
  std::vector<std::uint64_t> read(table.Locations.size(), 0);
  for (const Segment& segment : plan.Segments) {
    read[segment.Task] += table.Locations[segment.Task].Kind == Encoding::Chunked ? 1 : segment.Bytes;
  }
  return read;
}

/// Returns the amount that a read of all values of a task needs, in the units of AmountsInPlan().
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
  this->SegmentSums.resize(plan.Segments.size());
  this->TaskSums = std::vector<Task>(table.Locations.size());
  const std::vector<std::uint64_t> read = AmountsInPlan(table, plan);
  for (std::size_t task = 0; task < this->TaskSums.size(); ++task) {
    const Location& location = table.Locations[task];
    this->TaskSums[task].Expected = table.Checksums[task];
    this->TaskSums[task].Known = (location.Kind == Encoding::Raw || location.Kind == Encoding::Chunked) &&
                                 location.Count == 1 && read[task] == CompleteAmount(table, location);
  }
}

namespace {

bool NeedsSwap(ElementType type, bool bigEndian)
{
  return SizeOf(type) > 1 && bigEndian == HostIsLittleEndian();
}

bool ReplacesUndefined(const ReadTarget& target)
{
  return target.Info && target.Info->HasUndefined();
}

/// Converts stored values to this machine's byte order and replaces undefined values by NaN. Sets
/// Destination::HasUndefined if a value is NaN afterwards, or if `bytes` is 0 (values that were never
/// written).
void ConvertStored(
    const ReadTarget& target, ElementType type, bool bigEndian, std::byte* values, std::uint64_t bytes)
{
  const auto count = static_cast<std::int64_t>(bytes / SizeOf(type));
  if (count > 0 && NeedsSwap(type, bigEndian)) {
    SwapByteOrder(values, count, SizeOf(type));
  }
  if (count == 0 ||
      ReplaceUndefined(values, count, type, target.Info->UndefinedFrom, target.Info->UndefinedTo)) {
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
class LargeChunkLock
{
public:
  LargeChunkLock(const ChunkedArray& array, TaskReader& reader) : Reader(reader)
  {
    if (array.Filters != decltype(array.Filters){} && ChunkBytes(array) > Large) {
      this->Lock = std::unique_lock<std::mutex>(LargeChunkMutex);
    }
  }
  ~LargeChunkLock()
  {
    if (this->Lock) {
      this->Reader.Decoder().Trim(Large);
    }
  }

private:
  static constexpr std::size_t Large = 64 << 20;
  static std::mutex LargeChunkMutex;

  TaskReader& Reader;
  std::unique_lock<std::mutex> Lock;
};

std::mutex LargeChunkLock::LargeChunkMutex;

/// Carries out one request, from reading its bytes to placing its values.
class RequestReader
{
public:
  RequestReader(TaskReader& reader, const LocationTable& table, const ReadPlan& plan,
      const StorageRequest& request, const TargetFunction& targetOf, StoredSums* sums)
      : Reader(reader),
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
      if (std::byte* direct = this->DirectAddress(*segment, target)) {
        this->PlaceByteRange(*segment, target, direct);
        continue;
      }
      if (this->EncodingOf(*segment) == Encoding::Raw) {
        this->PlaceByteRange(*segment, target, stored);
      } else {
        this->PlaceStoredChunk(*segment, target, stored);
      }
      stored += segment->Bytes;
    }
  }

private:
  const ReadTarget& TargetOf(const Segment& segment) const { return this->Targets[&segment - this->Begin]; }
  Encoding EncodingOf(const Segment& segment) const { return this->Table.Locations[segment.Task].Kind; }
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
    const bool direct = this->EncodingOf(segment) == Encoding::Raw &&
                        (segment.Bytes >= small || this->Request.SegmentCount == 1) &&
                        target.Additional.empty() && target.Main.Mapping.OutputComponents == 1 &&
                        target.Main.Mapping.IsContiguous(first);
    return direct
               ? static_cast<std::byte*>(target.Main.Data) + first * SizeOf(target.Main.Type) + segment.Begin
               : nullptr;
  }

  void Fetch();
  void PlaceByteRange(const Segment& segment, const ReadTarget& target, std::byte* values) const;
  void PlaceStoredChunk(const Segment& segment, const ReadTarget& target, std::byte* stored) const;
  void SumChunk(const Segment& segment, const std::byte* values) const;
  std::byte* DecompressDirect(const ChunkedArray& array, const Chunk& chunk, const Segment& segment,
      const ReadTarget& target, const std::byte* stored) const;
  void PlaceConverted(ChunkedArray array, const Chunk& chunk, const Segment& segment,
      const ReadTarget& target, std::byte* stored) const;
  const std::byte* Decode(
      const ChunkedArray& array, const Chunk& chunk, const Segment& segment, const std::byte* stored) const;
  void PlaceValues(const ChunkedArray& array, const Chunk& chunk, const Segment& segment,
      const ReadTarget& target, const std::byte* values) const;

  TaskReader& Reader;
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
  std::byte* const scratch = this->Reader.Scratch(indirect + widestGap);
  std::byte* const waste = scratch + indirect;
  std::byte* next = scratch;
  std::vector<iovec>& buffers = this->Reader.ClearedBuffers();
  position = this->Request.Offset;
  for (const Segment* segment = this->Begin; segment != this->End; ++segment) {
    if (segment->Offset > position) {
      buffers.push_back({waste, segment->Offset - position});
    }
    std::byte* const direct = this->DirectAddress(*segment, this->TargetOf(*segment));
    buffers.push_back({direct ? direct : next, segment->Bytes});
    next += direct ? 0 : segment->Bytes;
    position = segment->Offset + segment->Bytes;
  }
  if (this->Request.Bytes > 0) {
    this->Reader.Read(this->Request.File, this->Request.Offset, buffers);
  }
  this->Stored = scratch;
}

void RequestReader::PlaceByteRange(const Segment& segment, const ReadTarget& target, std::byte* values) const
{
  const ByteRange& byteRange = this->ByteRangeOf(segment);
  const std::int64_t elementBytes = SizeOf(byteRange.Type);
  if (this->Sums && this->Sums->Includes(segment)) {
    const std::uint32_t sum = Crc32(0, values, segment.Bytes);
    this->Sums->Set(&segment - this->FirstSegment,
        Crc32Contribution(sum, byteRange.Bytes - segment.Begin - segment.Bytes));
  }
  const bool converted = ReplacesUndefined(target);
  if (converted) {
    ConvertStored(target, byteRange.Type, byteRange.BigEndian, values, segment.Bytes);
  }
  target.ForEach([&](const Destination& destination) {
    PlaceRun(destination.Mapping, values, segment.Begin / elementBytes, segment.Bytes / elementBytes,
        elementBytes, !converted && NeedsSwap(byteRange.Type, byteRange.BigEndian),
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
    if (ReplacesUndefined(target)) {
      const LargeChunkLock lock(array, this->Reader);
      this->PlaceConverted(array, chunk, segment, target, stored);
    } else if (const std::byte* direct = this->DecompressDirect(array, chunk, segment, target, stored)) {
      this->SumChunk(segment, direct);
    } else {
      const LargeChunkLock lock(array, this->Reader);
      const std::byte* const decoded = this->Decode(array, chunk, segment, stored);
      this->SumChunk(segment, decoded);
      this->PlaceValues(array, chunk, segment, target, decoded);
    }
  } catch (const Error& error) {
    throw FileError(this->Table.Files[array.File],
        fmt::format("a valid chunk of data at offset {}", chunk.Offset), error.what(), "The file is damaged");
  }
}

/// Sets the contribution of the segment's chunk to the checksum of its task. `values`: the entire chunk in
/// the stored byte order, after decoding; null if the chunk was never written.
void RequestReader::SumChunk(const Segment& segment, const std::byte* values) const
{
  if (values && this->Sums && this->Sums->Includes(segment)) {
    this->Sums->Set(&segment - this->FirstSegment,
        ChecksumOfChunk(this->ArrayOf(segment), this->Table.Chunks[segment.Begin], values));
  }
}

/// Reverses the filters of a chunk. Returns the bytes, possibly in `stored`, or null if the chunk was never
/// written.
const std::byte* RequestReader::Decode(
    const ChunkedArray& array, const Chunk& chunk, const Segment& segment, const std::byte* stored) const
{
  const std::size_t bytes = BytesOf(array, chunk);
  return bytes > 0 ? this->Reader.Decoder().Decode(array.Filters, chunk.SkippedFilters, SizeOf(array.Type),
                         stored, segment.Bytes, bytes)
                   : nullptr;
}

void RequestReader::PlaceValues(const ChunkedArray& array, const Chunk& chunk, const Segment& segment,
    const ReadTarget& target, const std::byte* values) const
{
  target.ForEach([&](const Destination& destination) {
    PlaceChunk(
        destination.Mapping, array, chunk, values, (*target.Slots)[segment.Component], destination.Data);
  });
}

/// Places the values of a chunk, with undefined stored values replaced by NaN.
void RequestReader::PlaceConverted(ChunkedArray array, const Chunk& chunk, const Segment& segment,
    const ReadTarget& target, std::byte* stored) const
{
  const std::byte* const decoded = this->Decode(array, chunk, segment, stored);
  this->SumChunk(segment, decoded);
  const std::size_t bytes = BytesOf(array, chunk);
  std::vector<std::byte> copy;  // the memory of the decoder must not be modified
  if (decoded && decoded != stored) {
    copy.assign(decoded, decoded + bytes);
    stored = copy.data();
  }
  ConvertStored(target, array.Type, array.BigEndian, stored, bytes);
  array.BigEndian = !HostIsLittleEndian();
  this->PlaceValues(array, chunk, segment, target, decoded ? stored : nullptr);
}

/// Decompresses a chunk directly to its place in the output if possible. Returns the address of the values,
/// or null if the values must be copied.
std::byte* RequestReader::DecompressDirect(const ChunkedArray& array, const Chunk& chunk,
    const Segment& segment, const ReadTarget& target, const std::byte* stored) const
{
  if (chunk.Bytes == 0 || !target.Additional.empty()) {
    return nullptr;
  }
  std::byte* const address = DirectChunkAddress(target.Main.Mapping, array, chunk, target.Main.Data);
  const bool done = address && this->Reader.Decoder().DecompressTo(array.Filters, chunk.SkippedFilters,
                                   stored, segment.Bytes, address, ChunkBytes(array));
  return done ? address : nullptr;
}

/// Calls visit(first tuple, count) for each row of output tuples that get values.
template <typename Visit>
void ForEachRow(const ArrayMapping& mapping, Visit visit)
{
  for (std::int64_t k = mapping.First[2]; k <= mapping.Last[2]; ++k) {
    for (std::int64_t j = mapping.First[1]; j <= mapping.Last[1]; ++j) {
      const std::int64_t first = mapping.First[0] / mapping.TupleWidth;
      visit((k * mapping.Output[1] + j) * (mapping.Output[0] / mapping.OutputTupleWidth) + first,
          (mapping.Last[0] + 1) / mapping.TupleWidth - first);
    }
  }
}

/// Sets one component to `value` in all output tuples that get values.
template <typename Value>
void FillComponentAs(const Destination& destination, int component, Value value)
{
  const int components = destination.Mapping.OutputComponents * destination.Mapping.OutputTupleWidth;
  ForEachRow(destination.Mapping, [&](std::int64_t tuple, std::int64_t count) {
    Value* next = static_cast<Value*>(destination.Data) + tuple * components + component;
    for (std::int64_t i = 0; i < count; ++i, next += components) {
      *next = value;
    }
  });
}

void FillComponent(const Destination& destination, int component, float value)
{
  VisitType(destination.Type,
      [&](auto element) { FillComponentAs(destination, component, static_cast<decltype(element)>(value)); });
}

/// Returns the output components that get stored components.
std::vector<int> StoredComponents(const ReadTarget& target, const ArrayMapping& mapping)
{
  std::vector<int> components;
  for (const int slot : *target.Slots) {
    for (int c = 0; c < mapping.TupleWidth; ++c) {
      components.push_back(slot + mapping.OutputComponent(c));
    }
  }
  return components;
}

/// Sets the output components that get no stored component to 0.
void ZeroSurplus(const ReadTarget& target, const Destination& destination)
{
  const ArrayMapping& mapping = destination.Mapping;
  const std::vector<int> stored = StoredComponents(target, mapping);
  const int all = mapping.OutputComponents * mapping.OutputTupleWidth;
  for (int c = 0; c < all && static_cast<int>(stored.size()) < all; ++c) {
    if (std::find(stored.begin(), stored.end(), c) == stored.end()) {
      FillComponent(destination, c, 0);
    }
  }
}

template <typename T>
std::vector<T> ReadByteRange(TaskReader& reader, const ByteRange& byteRange)
{
  std::vector<T> values(byteRange.Bytes / sizeof(T));
  std::vector<iovec>& buffers = reader.ClearedBuffers();
  buffers.push_back({values.data(), values.size() * sizeof(T)});
  reader.Read(byteRange.File, byteRange.Offset, buffers);
  if (NeedsSwap(byteRange.Type, byteRange.BigEndian)) {
    SwapByteOrder(values.data(), values.size(), sizeof(T));
  }
  return values;
}

/// Reads and places the fractions of a sparse location. The byte ranges hold the list of materials and, if a
/// cell is mixed, Silo's mix_mat, next_mat and vol_fracs.
void ReadSparse(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  const ByteRange* byteRanges = table.ByteRanges.data() + location.First;
  const auto materials = ReadByteRange<std::int32_t>(reader, byteRanges[0]);
  std::vector<std::int32_t> mixMaterial, mixNext;
  std::vector<float> mixFraction;
  if (location.Count == 4) {
    mixMaterial = ReadByteRange<std::int32_t>(reader, byteRanges[1]);
    mixNext = ReadByteRange<std::int32_t>(reader, byteRanges[2]);
    mixFraction = ReadByteRange<float>(reader, byteRanges[3]);
  }
  std::vector<float> fractions(target.Main.Mapping.StoredTuples());
  if (!DecodeSparseFractions(materials.data(), materials.size(), mixMaterial.data(), mixNext.data(),
          mixFraction.data(), mixMaterial.size(), location.Material, fractions.size(), fractions.data())) {
    throw FileError(table.Files[byteRanges[0].File],
        fmt::format("a valid list of materials at offset {}", byteRanges[0].Offset),
        "an entry that points outside the mix arrays, or a cycle of entries", "The file is damaged");
  }
  target.ForEach([&](const Destination& destination) {
    PlaceRun(destination.Mapping, fractions.data(), 0, fractions.size(), sizeof(float), false,
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
    ExtendEdges(destination.Mapping, SizeOf(destination.Type), destination.Data);
  });
}

void ReadWholeTask(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  if (location.Kind == Encoding::SparseMaterials) {
    ReadSparse(reader, table, location, target);
  } else {
    assert(location.Kind == Encoding::Constant);
    target.ForEach([&](const Destination& destination) {
      for (const int component : StoredComponents(target, destination.Mapping)) {
        FillComponent(destination, component, location.Value);
      }
    });
  }
  FinishTask(target);
}

ComponentRange NeededBytes(const ReadTarget& target)
{
  std::int64_t first = target.Main.Mapping.Begin[2];
  std::int64_t end = target.Main.Mapping.End[2];
  target.ForEach([&](const Destination& destination) {
    first = std::min(first, destination.Mapping.Begin[2]);
    end = std::max(end, destination.Mapping.End[2]);
  });
  const Dims& stored = target.Main.Mapping.Stored;
  const std::uint64_t plane = stored[0] * stored[1] * SizeOf(target.Main.Type);
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
