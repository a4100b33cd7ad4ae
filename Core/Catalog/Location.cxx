#include "Catalog/Location.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace patchio {

namespace {

/// Appends `count` entries of `from`, from `first` on, to `to`. Returns the index of the first copy.
template <typename Entry>
std::uint32_t AppendEntries(
    const std::vector<Entry>& from, std::size_t first, std::size_t count, std::vector<Entry>& to)
{
  const std::size_t index = to.size();
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint32_t>(index);
}

/// Appends the entries of a location, and renumbers the files of the entries if `files` is not empty. Returns
/// the index of the first copy.
template <typename Entry>
std::uint32_t AppendRenumbered(const std::vector<Entry>& from, const Location& location,
    std::vector<Entry>& to, const std::vector<std::uint32_t>& files)
{
  const std::uint32_t index = AppendEntries(from, location.First, location.Count, to);
  for (std::size_t i = index; i < to.size() && !files.empty(); ++i) {
    to[i].File = static_cast<int>(files[to[i].File]);
  }
  return index;
}

}  // namespace

const char* NameOf(ElementType type)
{
  constexpr const char* names[] = {
      "int32", "float32", "float64", "int64", "uint8", "int16", "uint16", "int8", "uint32", "uint64"};
  static_assert(std::size(names) == static_cast<std::size_t>(LastElementType) + 1);
  return names[static_cast<std::size_t>(type)];
}

ChunkRange ChunksHolding(const ChunkedArray& array)
{
  if (array.Count == 0) {
    return {};
  }
  std::array<std::uint64_t, ChunkedArray::MaximumRank> strides{}, chunks{};
  std::uint64_t stride = 1, numbers = 1;
  for (int axis = array.Rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    chunks[axis] = numbers;
    stride *= array.Dims[axis];
    numbers *= (array.Dims[axis] - 1) / array.ChunkDims[axis] + 1;
  }
  ChunkRange range;
  std::uint64_t first = array.First, last = array.First + array.Count - 1;
  for (int axis = 0; axis < array.Rank; ++axis) {
    const std::uint64_t from = first / strides[axis], to = last / strides[axis];
    const std::uint64_t firstChunk = from / array.ChunkDims[axis], lastChunk = to / array.ChunkDims[axis];
    range.End = range.Begin + (lastChunk + 1) * chunks[axis];
    range.Begin += firstChunk * chunks[axis];
    if (from != to) {
      break;  // the range includes all chunks along the remaining axes
    }
    first %= strides[axis];
    last %= strides[axis];
  }
  return range;
}

void SelectStep(ChunkedArray& array, const Chunk* chunks, int step)
{
  if (array.StepStride == 0 || array.ChunkCount == 0) {
    return;
  }
  array.First += array.StepStride * static_cast<std::uint64_t>(step);
  array.StepStride = 0;
  const ChunkRange range = ChunksHolding(array);
  const std::uint64_t known = chunks->Number;
  const std::uint64_t begin = std::clamp(range.Begin, known, known + array.ChunkCount);
  const std::uint64_t end = std::clamp(range.End, begin, known + array.ChunkCount);
  array.FirstChunk += begin - known;
  array.ChunkCount = end - begin;
}

Location AppendLocation(const LocationTable& from, const Location& location, LocationTable& to,
    const std::vector<std::uint32_t>& files)
{
  Location copy = location;
  if (location.Kind == Encoding::Raw || location.Kind == Encoding::SparseMaterials) {
    copy.First = AppendRenumbered(from.ByteRanges, location, to.ByteRanges, files);
  } else if (location.Kind == Encoding::Library) {
    copy.First = AppendRenumbered(from.LibraryArrays, location, to.LibraryArrays, files);
  } else if (location.Kind == Encoding::Chunked) {
    copy.First = AppendRenumbered(from.ChunkedArrays, location, to.ChunkedArrays, files);
    for (std::size_t i = copy.First; i < to.ChunkedArrays.size(); ++i) {
      ChunkedArray& array = to.ChunkedArrays[i];
      const std::size_t first = array.FirstChunk;
      array.FirstChunk = to.Chunks.size();
      AppendEntries(from.Chunks, first, array.ChunkCount, to.Chunks);
    }
  }
  return copy;
}

}  // namespace patchio
