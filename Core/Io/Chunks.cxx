#include "Io/Chunks.h"

#include "Base/Bytes.h"
#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <vector>

namespace patchio {
namespace {

using Indices = std::array<std::uint64_t, ChunkedArray::MaximumRank>;

/// A chunk as a box of indices of the array. The constructor merges the last axes if they are contiguous.
struct ChunkBox
{
  int Rank;
  Indices Dims, ChunkDims;
  Indices Strides;       ///< distance of neighbours along an axis, in values of the array
  Indices ChunkStrides;  ///< distance of neighbours along an axis, in values of the chunk
  Indices Begin, End;    ///< indices into the array, clipped to its bounds

  ChunkBox(const ChunkedArray& array, std::uint64_t number);

private:
  void MergeFullAxes();
  void Locate(std::uint64_t number);
};

ChunkBox::ChunkBox(const ChunkedArray& array, std::uint64_t number)
    : Rank(array.Rank), Dims(array.Dims), ChunkDims(array.ChunkDims)
{
  this->MergeFullAxes();
  this->Locate(number);
  std::uint64_t stride = 1, chunkStride = 1;
  for (int axis = this->Rank - 1; axis >= 0; --axis) {
    this->Strides[axis] = stride;
    this->ChunkStrides[axis] = chunkStride;
    stride *= this->Dims[axis];
    chunkStride *= this->ChunkDims[axis];
  }
}

/// Merges the last axes along which the chunk is as wide as the array, because the chunk's rows are
/// contiguous in the array.
void ChunkBox::MergeFullAxes()
{
  while (this->Rank > 1 && this->ChunkDims[this->Rank - 1] == this->Dims[this->Rank - 1]) {
    --this->Rank;
    this->Dims[this->Rank - 1] *= this->Dims[this->Rank];
    this->ChunkDims[this->Rank - 1] *= this->ChunkDims[this->Rank];
  }
}

void ChunkBox::Locate(std::uint64_t number)
{
  std::uint64_t rest = number;
  for (int axis = this->Rank - 1; axis >= 0; --axis) {
    const std::uint64_t dim = this->Dims[axis], chunkDim = this->ChunkDims[axis];
    const std::uint64_t chunks = dim / chunkDim + (dim % chunkDim > 0 ? 1 : 0);
    if (chunks == 0) {
      throw Error(fmt::format("chunk {} of an array without values", number));
    }
    this->Begin[axis] = rest % chunks * chunkDim;
    this->End[axis] = this->Begin[axis] + std::min(chunkDim, dim - this->Begin[axis]);
    rest /= chunks;
  }
  if (rest > 0) {
    throw Error(fmt::format("chunk {}, although the array has fewer chunks", number));
  }
}

/// Calls visit(position in the array, position in the chunk, count) for each run of contiguous values of the
/// chunk in first .. end - 1 of the flattened array. Values outside this range take no time.
template <typename Visit>
class ChunkRunVisitor
{
public:
  ChunkRunVisitor(const ChunkBox& box, std::uint64_t first, std::uint64_t end, const Visit& visit)
      : Box(box), First(first), End(end), Visitor(visit)
  {
  }

  void VisitRuns(int axis = 0, std::uint64_t position = 0, std::uint64_t inChunk = 0) const
  {
    if (position >= this->End || axis >= ChunkedArray::MaximumRank) {
      return;
    }
    // Only the indices before .. after - 1 along this axis contain values in First .. End - 1.
    const std::uint64_t stride = this->Box.Strides[axis];
    const std::uint64_t before = this->First > position ? (this->First - position) / stride : 0;
    const std::uint64_t after = (this->End - 1 - position) / stride + 1;
    const std::uint64_t begin = std::max(this->Box.Begin[axis], before);
    const std::uint64_t end = std::min(this->Box.End[axis], after);
    if (begin >= end) {
      return;
    }
    inChunk += (begin - this->Box.Begin[axis]) * this->Box.ChunkStrides[axis];
    if (axis == this->Box.Rank - 1) {
      this->Visitor(position + begin, inChunk, end - begin);
      return;
    }
    for (std::uint64_t i = begin; i < end; ++i, inChunk += this->Box.ChunkStrides[axis]) {
      this->VisitRuns(axis + 1, position + i * stride, inChunk);
    }
  }

private:
  const ChunkBox& Box;
  std::uint64_t First, End;
  const Visit& Visitor;
};

/// Returns `count` copies of the fill value, but at most 1024. A call of RunPlacer::Place() then fills many
/// values.
std::vector<std::byte> RepeatedFillValue(const ChunkedArray& array, std::uint64_t count)
{
  constexpr std::uint64_t most = 1024;
  const std::size_t elementBytes = SizeOf(array.Type);
  std::vector<std::byte> values(std::min(count, most) * elementBytes);
  for (std::size_t at = 0; at < values.size(); at += elementBytes) {
    std::memcpy(&values[at], &array.Fill, elementBytes);
  }
  return values;
}

void PlaceFill(const RunPlacer& placer, const std::vector<std::byte>& fill, std::size_t elementBytes,
    std::int64_t first, std::int64_t count)
{
  const auto most = static_cast<std::int64_t>(fill.size() / elementBytes);
  for (const std::int64_t end = first + count; first < end; first += most) {
    placer.Place(fill.data(), first, std::min(most, end - first));
  }
}

/// Multiplies `a` by `b` and returns true if the product is at most `limit`. Otherwise leaves `a` unchanged
/// and returns false.
bool MultiplyWithin(std::uint64_t& a, std::uint64_t b, std::uint64_t limit)
{
  if (b > 0 && a > limit / b) {
    return false;
  }
  a *= b;
  return true;
}

}  // namespace

void CheckChunkedArray(const ChunkedArray& array)
{
  if (array.Rank < 1 || array.Rank > ChunkedArray::MaximumRank) {
    throw Error(fmt::format("a chunked array of {} dimensions", array.Rank));
  }
  std::uint64_t values = 1, chunkBytes = SizeOf(array.Type);
  for (int axis = 0; axis < array.Rank; ++axis) {
    if (array.ChunkDims[axis] == 0) {
      throw Error("chunks without values");
    }
    if (!MultiplyWithin(chunkBytes, array.ChunkDims[axis], std::uint64_t(1) << 32)) {
      throw Error("chunks of more than 4 GiB");
    }
    if (!MultiplyWithin(values, array.Dims[axis], std::numeric_limits<std::int64_t>::max())) {
      throw Error("an array of more than 2^63 values");
    }
  }
  if (array.First > values || array.Count > values - array.First) {
    throw Error(fmt::format("an array of {} values, too short to read {} values from index {} on", values,
        array.Count, array.First));
  }
}

std::size_t ChunkBytes(const ChunkedArray& array)
{
  std::size_t bytes = SizeOf(array.Type);
  for (int axis = 0; axis < array.Rank; ++axis) {
    bytes *= array.ChunkDims[axis];
  }
  return bytes;
}

std::byte* DirectChunkAddress(
    const ArrayMapping& mapping, const ChunkedArray& array, const Chunk& chunk, void* output)
{
  std::int64_t first = 0;
  if (mapping.OutputComponents != 1 || array.BigEndian == HostIsLittleEndian() ||
      !mapping.IsContiguous(first)) {
    return nullptr;
  }
  // The chunk must be complete and contiguous in the array: after its first axis of more than one index, the
  // chunk must be as wide as the array.
  const ChunkBox box(array, chunk.Number);
  int axis = 0;
  while (axis < box.Rank && box.End[axis] - box.Begin[axis] == 1 && box.ChunkDims[axis] == 1) {
    ++axis;
  }
  std::uint64_t position = 0, values = 1;
  for (int a = 0; a < box.Rank; ++a) {
    position += box.Begin[a] * box.Strides[a];
    values *= box.ChunkDims[a];
    const bool whole = box.End[a] - box.Begin[a] == box.ChunkDims[a];
    if (!whole || (a > axis && box.ChunkDims[a] != box.Dims[a])) {
      return nullptr;
    }
  }
  if (position < array.First || values > array.Count || position - array.First > array.Count - values) {
    return nullptr;
  }
  const std::uint64_t tuple = static_cast<std::uint64_t>(first) + (position - array.First);
  return static_cast<std::byte*>(output) + tuple * SizeOf(array.Type);
}

std::size_t UsedChunkBytes(const ChunkedArray& array, std::uint64_t number)
{
  const ChunkBox box(array, number);
  std::uint64_t last = 0;
  for (int axis = 0; axis < std::min<int>(box.Rank, ChunkedArray::MaximumRank); ++axis) {
    last += (box.End[axis] - box.Begin[axis] - 1) * box.ChunkStrides[axis];
  }
  return (last + 1) * SizeOf(array.Type);
}

bool ReachesOutput(const ArrayMapping& mapping, const ChunkedArray& array, std::uint64_t number)
{
  const ChunkBox box(array, number);
  bool reaches = false;
  const auto check = [&](std::uint64_t position, std::uint64_t, std::uint64_t count) {
    const auto first = static_cast<std::int64_t>(position - array.First) / mapping.Stored[0];
    const auto last = static_cast<std::int64_t>(position - array.First + count - 1) / mapping.Stored[0];
    const std::int64_t firstPlane = first / mapping.Stored[1];
    const std::int64_t lastPlane = last / mapping.Stored[1];
    const bool rows = firstPlane != lastPlane || (first % mapping.Stored[1] < mapping.End[1] &&
                                                     last % mapping.Stored[1] >= mapping.Begin[1]);
    reaches = reaches || (rows && firstPlane < mapping.End[2] && lastPlane >= mapping.Begin[2]);
  };
  ChunkRunVisitor(box, array.First, array.First + array.Count, check).VisitRuns();
  return reaches;
}

std::uint32_t ChecksumOfChunk(const ChunkedArray& array, const Chunk& chunk, const std::byte* values)
{
  const std::size_t elementBytes = SizeOf(array.Type);
  std::uint32_t sum = 0;
  const auto add = [&](std::uint64_t position, std::uint64_t inChunk, std::uint64_t count) {
    const std::uint64_t after = array.First + array.Count - position - count;
    sum ^= Crc32Contribution(
        Crc32(0, values + inChunk * elementBytes, count * elementBytes), after * elementBytes);
  };
  if (array.Count > 0) {
    const ChunkBox box(array, chunk.Number);
    ChunkRunVisitor(box, array.First, array.First + array.Count, add).VisitRuns();
  }
  return sum;
}

void PlaceChunk(const ArrayMapping& mapping, const ChunkedArray& array, const Chunk& chunk,
    const std::byte* values, int slot, void* output)
{
  assert(array.Count == static_cast<std::uint64_t>(mapping.StoredTuples()));
  const ChunkBox box(array, chunk.Number);
  if (array.Count == 0) {
    return;
  }
  const std::size_t elementBytes = SizeOf(array.Type);
  const bool written = chunk.Bytes > 0;
  const bool swap = written && array.BigEndian == HostIsLittleEndian();
  const RunPlacer placer(mapping, elementBytes, swap, slot, output);
  const std::vector<std::byte> fill =
      written ? std::vector<std::byte>() : RepeatedFillValue(array, array.Count);
  const auto place = [&](std::uint64_t position, std::uint64_t inChunk, std::uint64_t count) {
    const auto first = static_cast<std::int64_t>(position - array.First);
    if (written) {
      placer.Place(values + inChunk * elementBytes, first, count);
    } else {
      PlaceFill(placer, fill, elementBytes, first, count);
    }
  };
  ChunkRunVisitor(box, array.First, array.First + array.Count, place).VisitRuns();
}

}  // namespace patchio
