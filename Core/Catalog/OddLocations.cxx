#include "Catalog/OddLocations.h"

#include "Support/Error.h"

#include <algorithm>

namespace patchio {
namespace {

[[noreturn]] void Fail(const char* what)
{
  throw Error(std::string("The index has ") + what + ".");
}

void Require(bool holds, const char* otherwise)
{
  if (!holds) {
    Fail(otherwise);
  }
}

/// An enumeration whose last value is known.
template <typename Enum>
Enum GetEnum(ByteReader& in, Enum last)
{
  const auto value = in.Get<std::uint8_t>();
  Require(value <= static_cast<std::uint8_t>(last), "an unknown kind or type");
  return static_cast<Enum>(value);
}

bool GetFlag(ByteReader& in)
{
  const auto value = in.Get<std::uint8_t>();
  Require(value <= 1, "a flag that is neither 0 nor 1");
  return value == 1;
}

int GetFile(ByteReader& in, std::uint64_t files)
{
  const auto file = in.Get<std::uint32_t>();
  Require(file < files, "a file number beyond its files");
  return static_cast<int>(file);
}

void PutExtent(ByteWriter& out, const Extent& extent, const std::vector<std::uint32_t>& numbers)
{
  out.Put(extent.Offset);
  out.Put(extent.Bytes);
  out.Put(numbers[extent.File]);
  out.Put(extent.Type);
  out.Put<std::uint8_t>(extent.BigEndian);
}

Extent GetExtent(ByteReader& in, std::uint64_t files)
{
  Extent extent;
  in.Get(extent.Offset);
  in.Get(extent.Bytes);
  extent.File = GetFile(in, files);
  extent.Type = GetEnum(in, ElementType::UInt8);
  extent.BigEndian = GetFlag(in);
  return extent;
}

void PutChunked(ByteWriter& out, const ChunkedArray& array, const std::vector<std::uint32_t>& numbers)
{
  out.Put(numbers[array.File]);
  out.Put(array.Type);
  out.Put<std::uint8_t>(array.BigEndian);
  out.Put(array.Rank);
  out.Put(array.Filters);
  out.Put(array.Dims);
  out.Put(array.ChunkDims);
  out.Put(array.First);
  out.Put(array.Count);
  out.Put(array.Fill);
  out.Put<std::uint64_t>(array.FirstChunk);
  out.Put<std::uint64_t>(array.ChunkCount);
}

ChunkedArray GetChunked(ByteReader& in, std::uint64_t files)
{
  ChunkedArray array;
  array.File = GetFile(in, files);
  array.Type = GetEnum(in, ElementType::UInt8);
  array.BigEndian = GetFlag(in);
  in.Get(array.Rank);
  Require(array.Rank >= 1 && array.Rank <= ChunkedArray::MaximumRank, "an array of impossible rank");
  for (FilterKind& filter : array.Filters) {
    filter = GetEnum(in, FilterKind::Fletcher32);
  }
  in.Get(array.Dims);
  in.Get(array.ChunkDims);
  in.Get(array.First);
  in.Get(array.Count);
  in.Get(array.Fill);
  array.FirstChunk = in.Get<std::uint64_t>();
  array.ChunkCount = in.Get<std::uint64_t>();
  return array;
}

void PutLibrary(ByteWriter& out, const LibraryArray& array, const std::vector<std::uint32_t>& numbers)
{
  out.Put(numbers[array.File]);
  out.Put(array.Type);
  out.Put(array.Dataset);
  out.Put(array.First);
  out.Put(array.Count);
  out.Put(array.Reason);
}

LibraryArray GetLibrary(ByteReader& in, std::uint64_t files)
{
  LibraryArray array;
  array.File = GetFile(in, files);
  array.Type = GetEnum(in, ElementType::UInt8);
  in.Get(array.Dataset);
  in.Get(array.First);
  in.Get(array.Count);
  in.Get(array.Reason);
  return array;
}

/// Number of entries of the table that a location's First counts in.
std::size_t EntriesOf(const LocationTable& table, Encoding kind)
{
  switch (kind) {
    case Encoding::Raw:
    case Encoding::SparseMaterials:
      return table.Extents.size();
    case Encoding::Chunked:
      return table.ChunkedArrays.size();
    case Encoding::Library:
      return table.LibraryArrays.size();
    default:
      return 0xffffffffu;  // no entries: First and Count mean nothing
  }
}

Location GetLocation(ByteReader& in, const LocationTable& table)
{
  Location location;
  location.Kind = GetEnum(in, Encoding::Library);
  in.Get(location.First);
  in.Get(location.Count);
  in.Get(location.Value);
  in.Get(location.Material);
  const std::size_t entries = EntriesOf(table, location.Kind);
  Require(location.Kind != Encoding::Missing, "an array that was not found");
  // Sums of the two must not wrap either.
  const std::size_t end = std::size_t(location.First) + location.Count;
  Require(end <= entries && end <= 0xffffffffu, "a location beyond its entries");
  return location;
}

template <typename Values, typename Put>
void PutAll(ByteWriter& out, const Values& values, Put put)
{
  out.Put<std::uint64_t>(values.size());
  for (const auto& value : values) {
    put(value);
  }
}

/// Each entry takes at least a byte, so reading ends with the bytes, and nothing is allocated ahead of them.
template <typename Get>
void GetAll(ByteReader& in, Get get)
{
  const auto count = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    get();
  }
}

// ---- checks ----

/// a * b, or a failure where it is too large for anything.
std::uint64_t Product(std::uint64_t a, std::uint64_t b)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 62;
  Require(b == 0 || a <= most / b, "an array of impossible size");
  return a * b;
}

void CheckInside(
    std::uint64_t offset, std::uint64_t bytes, int file, const std::vector<std::uint64_t>& fileBytes)
{
  Require(
      bytes <= fileBytes[file] && offset <= fileBytes[file] - bytes, "bytes beyond the end of their file");
}

void CheckRaw(const LocationTable& table, const Location& location, int components, std::uint64_t tuples,
    const std::vector<std::uint64_t>& fileBytes)
{
  Require(location.Count == static_cast<std::uint32_t>(components),
      "another number of components than its variable");
  const Extent* extents = table.Extents.data() + location.First;
  for (int c = 0; c < components; ++c) {
    Require(extents[c].Type == extents[0].Type, "components of different types");
    Require(extents[c].Bytes == tuples * SizeOf(extents[c].Type), "an extent of another size than its array");
    CheckInside(extents[c].Offset, extents[c].Bytes, extents[c].File, fileBytes);
  }
}

void CheckSparse(const LocationTable& table, const Location& location, int components, std::uint64_t tuples,
    const std::vector<std::uint64_t>& fileBytes)
{
  Require(components == 1 && location.Material >= 0, "a material of an impossible form");
  Require(location.Count == 1 || location.Count == 4, "a material of an impossible form");
  const Extent* extents = table.Extents.data() + location.First;
  Require(extents[0].Bytes == 4 || extents[0].Bytes == tuples * 4, "a list of materials of another size");
  for (std::uint32_t i = 0; i < location.Count; ++i) {
    Require(extents[i].Type == (i == 3 ? ElementType::Float32 : ElementType::Int32),
        "a material of another type");
    Require(i == 0 || (extents[i].Bytes == extents[1].Bytes && extents[i].Bytes % 4 == 0),
        "mix arrays of different sizes");
    CheckInside(extents[i].Offset, extents[i].Bytes, extents[i].File, fileBytes);
  }
}

void CheckChunked(const LocationTable& table, const ChunkedArray& array, std::uint64_t tuples,
    const std::vector<std::uint64_t>& fileBytes)
{
  std::uint64_t values = 1, chunks = 1, chunkValues = 1;
  for (int axis = 0; axis < array.Rank; ++axis) {
    Require(array.ChunkDims[axis] >= 1, "chunks without values");
    values = Product(values, array.Dims[axis]);
    chunkValues = Product(chunkValues, array.ChunkDims[axis]);
    chunks = Product(chunks,
        array.Dims[axis] / array.ChunkDims[axis] + (array.Dims[axis] % array.ChunkDims[axis] ? 1 : 0));
  }
  // HDF5's own limit.
  Require(Product(chunkValues, SizeOf(array.Type)) <= 0xffffffffu, "chunks of impossible size");
  Require(array.Count == tuples && array.Count <= values && array.First <= values - array.Count,
      "another number of values than its array");
  Require(
      array.ChunkCount <= table.Chunks.size() && array.FirstChunk <= table.Chunks.size() - array.ChunkCount,
      "a chunk beyond its chunks");
  // Values that no chunk holds would stay what the memory held before.
  Require(array.Count < values || array.ChunkCount == chunks, "a chunk too few");
  Require(array.ChunkCount > 0, "no chunk");
  for (std::size_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
    Require(table.Chunks[c].Number < chunks, "a chunk outside its array");
    Require(c == array.FirstChunk || table.Chunks[c].Number > table.Chunks[c - 1].Number, "a chunk twice");
    if (table.Chunks[c].Bytes > 0) {
      CheckInside(table.Chunks[c].Offset, table.Chunks[c].Bytes, array.File, fileBytes);
    }
  }
}

}  // namespace

void PutLocations(ByteWriter& out, const LocationTable& table, const std::vector<std::uint32_t>& numbers)
{
  PutAll(out, table.Extents, [&](const Extent& extent) { PutExtent(out, extent, numbers); });
  PutAll(out, table.ChunkedArrays, [&](const ChunkedArray& array) { PutChunked(out, array, numbers); });
  out.Put(table.Chunks);
  PutAll(out, table.LibraryArrays, [&](const LibraryArray& array) { PutLibrary(out, array, numbers); });
  PutAll(out, table.Locations, [&](const Location& location) {
    out.Put(location.Kind);
    out.Put(location.First);
    out.Put(location.Count);
    out.Put(location.Value);
    out.Put(location.Material);
  });
}

LocationTable GetLocations(ByteReader& in, std::uint64_t files)
{
  LocationTable table;
  GetAll(in, [&] { table.Extents.push_back(GetExtent(in, files)); });
  GetAll(in, [&] { table.ChunkedArrays.push_back(GetChunked(in, files)); });
  in.Get(table.Chunks);
  GetAll(in, [&] { table.LibraryArrays.push_back(GetLibrary(in, files)); });
  GetAll(in, [&] { table.Locations.push_back(GetLocation(in, table)); });
  return table;
}

void CheckLocation(const Catalog& catalog, const PatchVariable& request, const LocationTable& table,
    const Location& location, const std::vector<std::uint64_t>& fileBytes)
{
  const int components = catalog.Variables[request.Variable].Components;
  const auto tuples = static_cast<std::uint64_t>(catalog.StoredTuples(request.Variable, request.Patch));
  switch (location.Kind) {
    case Encoding::Raw:
      return CheckRaw(table, location, components, tuples, fileBytes);
    case Encoding::SparseMaterials:
      return CheckSparse(table, location, components, tuples, fileBytes);
    case Encoding::Chunked:
    case Encoding::Library:
      break;
    default:
      return Require(location.Count == 0, "values of an array without any");
  }
  Require(location.Count == static_cast<std::uint32_t>(components),
      "another number of components than its variable");
  for (std::uint32_t i = location.First; i < location.First + location.Count; ++i) {
    if (location.Kind == Encoding::Chunked) {
      Require(table.ChunkedArrays[i].Type == table.ChunkedArrays[location.First].Type,
          "components of different types");
      CheckChunked(table, table.ChunkedArrays[i], tuples, fileBytes);
    } else {
      const LibraryArray& array = table.LibraryArrays[i];
      Require(array.Type == table.LibraryArrays[location.First].Type, "components of different types");
      Require(array.Count == tuples && array.First <= (std::uint64_t(1) << 62),
          "another number of values than its array");
    }
  }
}

Location AppendLocation(const LocationTable& from, const Location& location, LocationTable& to,
    const std::vector<std::uint32_t>& numbers)
{
  Location copy = location;
  const auto append = [&copy, &location](const auto& source, auto& target) {
    copy.First = static_cast<std::uint32_t>(target.size());
    target.insert(
        target.end(), source.begin() + location.First, source.begin() + location.First + location.Count);
  };
  const auto renumber = [&copy, &numbers](auto& target) {
    for (std::size_t i = copy.First; i < target.size(); ++i) {
      target[i].File = static_cast<int>(numbers[target[i].File]);
    }
  };
  if (location.Kind == Encoding::Raw || location.Kind == Encoding::SparseMaterials) {
    append(from.Extents, to.Extents);
    renumber(to.Extents);
  } else if (location.Kind == Encoding::Chunked) {
    append(from.ChunkedArrays, to.ChunkedArrays);
    renumber(to.ChunkedArrays);
    for (std::size_t i = copy.First; i < to.ChunkedArrays.size(); ++i) {
      ChunkedArray& array = to.ChunkedArrays[i];
      const auto begin = from.Chunks.begin() + static_cast<std::ptrdiff_t>(array.FirstChunk);
      array.FirstChunk = to.Chunks.size();
      to.Chunks.insert(to.Chunks.end(), begin, begin + static_cast<std::ptrdiff_t>(array.ChunkCount));
    }
  } else if (location.Kind == Encoding::Library) {
    append(from.LibraryArrays, to.LibraryArrays);
    renumber(to.LibraryArrays);
  }
  return copy;
}

std::uint64_t StoredBytes(const LocationTable& table, const Location& location)
{
  std::uint64_t bytes = 0;
  for (std::uint32_t i = location.First; i < location.First + location.Count; ++i) {
    if (location.Kind == Encoding::Raw || location.Kind == Encoding::SparseMaterials) {
      bytes += table.Extents[i].Bytes;
    } else if (location.Kind == Encoding::Chunked) {
      const ChunkedArray& array = table.ChunkedArrays[i];
      for (std::size_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
        bytes += table.Chunks[c].Bytes;
      }
    }
  }
  return bytes;
}

}  // namespace patchio
