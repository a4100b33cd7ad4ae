#include "MetadataChannel/CheckLocation.h"

#include "Decode/Chunks.h"
#include "MetadataChannel/ShardBytes.h"
#include "Support/RunOnAllRanks.h"

#include <string>

namespace patchio {
namespace {

constexpr Requirement Require = RequireOfIndex;

/// a * b, or a failure where it is too large for anything.
std::uint64_t Product(std::uint64_t a, std::uint64_t b)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 62;
  Require(b == 0 || a <= most / b, "an array with an impossible size");
  return a * b;
}

void CheckInside(
    std::uint64_t offset, std::uint64_t bytes, int file, const std::vector<std::uint64_t>& fileBytes)
{
  Require(
      bytes <= fileBytes[file] && offset <= fileBytes[file] - bytes, "bytes behind the end of their file");
}

void CheckRaw(const LocationTable& table, const Location& location, int arrays, std::uint64_t values,
    const std::vector<std::uint64_t>& fileBytes)
{
  Require(location.Count == static_cast<std::uint32_t>(arrays), "a wrong number of arrays for its variable");
  const Extent* extents = table.Extents.data() + location.First;
  for (int c = 0; c < arrays; ++c) {
    Require(extents[c].Type == extents[0].Type, "arrays of different types");
    Require(
        extents[c].Bytes == values * SizeOf(extents[c].Type), "a byte range that does not match its array");
    CheckInside(extents[c].Offset, extents[c].Bytes, extents[c].File, fileBytes);
  }
}

void CheckSparse(const LocationTable& table, const Location& location, int arrays, std::uint64_t values,
    const std::vector<std::uint64_t>& fileBytes)
{
  Require(arrays == 1 && location.Material >= 0, "a material with an impossible shape");
  Require(location.Count == 1 || location.Count == 4, "a material with an impossible shape");
  const Extent* extents = table.Extents.data() + location.First;
  Require(extents[0].Bytes == 4 || extents[0].Bytes == values * 4, "a list of materials with a wrong size");
  for (std::uint32_t i = 0; i < location.Count; ++i) {
    Require(extents[i].Type == (i == 3 ? ElementType::Float32 : ElementType::Int32),
        "a material with a wrong type");
    Require(i == 0 || (extents[i].Bytes == extents[1].Bytes && extents[i].Bytes % 4 == 0),
        "mix arrays of different sizes");
    CheckInside(extents[i].Offset, extents[i].Bytes, extents[i].File, fileBytes);
  }
}

/// Values from the first that is wanted at the first step to the last at the last step.
std::uint64_t ValuesOfSteps(std::uint64_t count, std::uint64_t stepValues, int steps)
{
  const std::uint64_t way = Product(stepValues, static_cast<std::uint64_t>(steps - 1));
  Require(count <= (std::uint64_t(1) << 62), "an array with an impossible size");
  return way + count;
}

void CheckChunks(const LocationTable& table, const ChunkedArray& array, std::uint64_t chunks,
    const std::vector<std::uint64_t>& fileBytes)
{
  for (std::size_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
    const Chunk& chunk = table.Chunks[c];
    Require(chunk.Number < chunks, "a chunk outside its array");
    const std::uint64_t step = c == array.FirstChunk ? 1 : chunk.Number - table.Chunks[c - 1].Number;
    // The chunks of one of several time steps are found by their numbers.
    Require(step > 0 && step <= chunks && (step == 1 || array.StepValues == 0), "a duplicate chunk");
    if (chunk.Bytes > 0) {
      CheckInside(chunk.Offset, chunk.Bytes, array.File, fileBytes);
    }
  }
}

void CheckChunked(const LocationTable& table, const ChunkedArray& array, std::uint64_t wanted, int steps,
    const std::vector<std::uint64_t>& fileBytes)
{
  Require(array.Count == wanted, "a wrong number of values for its array");
  ChunkedArray all = array;
  all.Count = ValuesOfSteps(array.Count, array.StepValues, steps);
  const std::string fault = CatchError([&all] { CheckChunkedArray(all); });
  if (!fault.empty()) {
    Require.Fail(fault);
  }
  std::uint64_t values = 1, chunks = 1;
  for (int axis = 0; axis < array.Rank; ++axis) {
    values *= array.Dims[axis];
    chunks *= array.Dims[axis] / array.ChunkDims[axis] + (array.Dims[axis] % array.ChunkDims[axis] ? 1 : 0);
  }
  // Values that no chunk holds would stay what the memory held before.
  Require(array.Count < values || array.ChunkCount == chunks, "too few chunks");
  Require(array.ChunkCount > 0, "no chunk");
  if (array.StepValues > 0) {
    const ChunkRange range = ChunksHolding(all);
    const std::uint64_t first = table.Chunks[array.FirstChunk].Number;
    Require(first == range.Begin && array.ChunkCount == range.End - range.Begin, "too few chunks");
  }
  CheckChunks(table, array, chunks, fileBytes);
}

}  // namespace

void CheckLocation(const Catalog& catalog, const PatchVariable& request, const LocationTable& table,
    const Location& location, const std::vector<std::uint64_t>& fileBytes)
{
  const int arrays = catalog.Variables[request.Variable].StoredArrays();
  const auto values = static_cast<std::uint64_t>(catalog.StoredValues(request.Variable, request.Patch));
  switch (location.Kind) {
    case Encoding::Raw:
      return CheckRaw(table, location, arrays, values, fileBytes);
    case Encoding::SparseMaterials:
      return CheckSparse(table, location, arrays, values, fileBytes);
    case Encoding::Chunked:
    case Encoding::Library:
      break;
    default:
      return Require(location.Count == 0, "values for an array without values");
  }
  Require(location.Count == static_cast<std::uint32_t>(arrays), "a wrong number of arrays for its variable");
  for (std::uint32_t i = location.First; i < location.First + location.Count; ++i) {
    if (location.Kind == Encoding::Chunked) {
      Require(table.ChunkedArrays[i].Type == table.ChunkedArrays[location.First].Type,
          "arrays of different types");
      CheckChunked(table, table.ChunkedArrays[i], values, catalog.StepsInFile, fileBytes);
    } else {
      const LibraryArray& array = table.LibraryArrays[i];
      Require(array.Type == table.LibraryArrays[location.First].Type, "arrays of different types");
      Require(array.Count == values && array.First <= (std::uint64_t(1) << 62),
          "a wrong number of values for its array");
      ValuesOfSteps(array.Count, array.StepValues, catalog.StepsInFile);
    }
  }
}

}  // namespace patchio
