#include "Hdf5Index/Dataset.h"

#include <fmt/format.h>

namespace patchio::hdf5index {

ChunkedArray ArrayOf(const Dataset& dataset, ElementType type, int file)
{
  ChunkedArray array;
  array.File = file;
  array.Type = type;
  array.BigEndian = dataset.BigEndian;
  array.Rank = dataset.Rank;
  array.Filters = dataset.Filters;
  array.Dims = dataset.Dims;
  array.ChunkDims = dataset.ChunkDims;
  array.Count = dataset.Values;
  array.Fill = dataset.Fill;
  return array;
}

std::uint64_t ChunksOf(const Dataset& dataset)
{
  std::uint64_t chunks = 1;
  for (int d = 0; d < dataset.Rank; ++d) {
    const std::uint64_t along = dataset.ChunkDims[d];
    chunks *= dataset.Dims[d] / along + (dataset.Dims[d] % along != 0);
  }
  return chunks;
}

std::uint64_t PlainChunkBytes(const Dataset& dataset)
{
  std::uint64_t bytes = dataset.ElementBytes;
  for (int d = 0; d < dataset.Rank; ++d) {
    bytes *= dataset.ChunkDims[d];
  }
  return bytes;
}

void ClearChunks(const Dataset& dataset, Chunk* chunks)
{
  const std::uint64_t count = ChunksOf(dataset);
  for (std::uint64_t i = 0; i < count; ++i) {
    chunks[i] = Chunk{0, i, 0, 0};
  }
}

bool AddChunk(
    const Dataset& dataset, std::uint64_t fileBytes, const std::uint64_t* begin, Chunk written, Chunk* chunks)
{
  written.Number = 0;
  for (int d = 0; d < dataset.Rank; ++d) {
    const std::uint64_t along = dataset.ChunkDims[d];
    if (begin[d] % along != 0 || begin[d] >= dataset.Dims[d]) {
      return false;
    }
    written.Number = written.Number * ((dataset.Dims[d] - 1) / along + 1) + begin[d] / along;
  }
  const bool filtered = dataset.Filters[0] != FilterKind::None;
  if (chunks[written.Number].Bytes != 0 || written.Bytes == 0 || written.Offset > fileBytes ||
      written.Bytes > fileBytes - written.Offset ||
      (!filtered && written.Bytes != PlainChunkBytes(dataset))) {
    return false;
  }
  chunks[written.Number] = written;
  return true;
}

FilterKind KindOfFilter(int filter, std::uint64_t shuffledBytes, std::uint64_t elementBytes)
{
  switch (filter) {
    case 1:
      return FilterKind::Deflate;
    case 2:
      return shuffledBytes == elementBytes ? FilterKind::Shuffle : FilterKind::None;
    case 3:
      return FilterKind::Fletcher32;
    case 32015:
      return FilterKind::Zstd;
    default:
      return FilterKind::None;
  }
}

std::string FilterName(int filter)
{
  struct Known
  {
    int Number;
    const char* Name;
  };
  // Those of HDF5 itself, and the more common ones of The HDF Group's registry.
  constexpr Known names[] = {{2, "shuffle of other sizes"}, {4, "szip"}, {5, "nbit"}, {6, "scaleoffset"},
      {307, "bzip2"}, {32000, "lzf"}, {32001, "blosc"}, {32004, "lz4"}, {32008, "bitshuffle"}, {32013, "zfp"},
      {32017, "sz"}, {32026, "blosc2"}};
  for (const Known& known : names) {
    if (known.Number == filter) {
      return fmt::format("filter {} ({})", filter, known.Name);
    }
  }
  return fmt::format("filter {}", filter);
}

Error UnsupportedError(
    const std::string& file, const std::string& what, const std::string& dataset, const std::string& advice)
{
  return Error(fmt::format("{}: not supported: {} in '{}'.{}", file, what, PlainText(dataset),
      advice.empty() ? std::string() : " " + advice + "."));
}

}  // namespace patchio::hdf5index
