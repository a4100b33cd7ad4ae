#include "Hdf5/Dataset.h"

#include <fmt/format.h>

#include <algorithm>

namespace patchio::hdf5 {

std::vector<std::uint64_t> DimsOf(const Dataset& dataset)
{
  std::vector<std::uint64_t> dims(
      dataset.Dims.begin(), dataset.Dims.begin() + std::min<int>(dataset.Rank, ChunkedArray::MaximumRank));
  dims.resize(dataset.Rank, 0);
  return dims;
}

namespace {

std::optional<ElementType> TypeOf(TypeClass typeClass, bool isSigned, std::uint32_t bytes)
{
  struct Known
  {
    TypeClass Class;
    bool Signed;
    std::uint32_t Bytes;
    ElementType Type;
  };
  constexpr Known types[] = {{TypeClass::Float, true, 4, ElementType::Float32},
      {TypeClass::Float, true, 8, ElementType::Float64}, {TypeClass::Integer, true, 1, ElementType::Int8},
      {TypeClass::Integer, true, 2, ElementType::Int16}, {TypeClass::Integer, true, 4, ElementType::Int32},
      {TypeClass::Integer, true, 8, ElementType::Int64}, {TypeClass::Integer, false, 1, ElementType::UInt8},
      {TypeClass::Integer, false, 2, ElementType::UInt16},
      {TypeClass::Integer, false, 4, ElementType::UInt32},
      {TypeClass::Integer, false, 8, ElementType::UInt64}};
  for (const Known& known : types) {
    if (known.Class == typeClass && known.Bytes == bytes &&
        (known.Signed == isSigned || typeClass == TypeClass::Float)) {
      return known.Type;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElementType> TypeOfValues(const Dataset& dataset)
{
  return TypeOf(dataset.Class, dataset.Signed, dataset.ElementBytes);
}

std::optional<ElementType> TypeOfNumber(const Datatype& type)
{
  return TypeOf(type.Class, type.Signed, type.Bytes);
}

std::string TypeText(const Dataset& dataset)
{
  const std::uint64_t bits = 8 * std::uint64_t(dataset.ElementBytes);
  switch (dataset.Class) {
    case TypeClass::Float:
      return fmt::format("float{}", bits);
    case TypeClass::Integer:
      return fmt::format("{}int{}", dataset.Signed ? "" : "u", bits);
    case TypeClass::Text:
      return "text";
    case TypeClass::List:
      return dataset.IsPlain ? "text" : "no numbers";
    case TypeClass::Enumeration:
      return "enumeration (booleans or names)";
    case TypeClass::Compound:
    case TypeClass::Complex:
      return "compound (complex numbers or records)";
    default:
      return "no numbers";
  }
}

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
  // HDF5's own filters, and the more common ones of The HDF Group's registry.
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

void CheckReadable(const Dataset& info, const std::string& name, const std::string& file)
{
  if (info.Layout == StorageLayout::Unsupported || info.Layout == StorageLayout::Virtual) {
    throw UnsupportedError(file, info.Reason, name);
  }
  if (info.Layout == StorageLayout::Nowhere) {
    throw FileError(file, fmt::format("values in '{}'", PlainText(name)), info.Reason,
        "The run may still be writing this file");
  }
}

}  // namespace patchio::hdf5
