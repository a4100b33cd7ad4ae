#include "Store/IrregularLocations.h"

#include "Base/Communicator.h"
#include "Io/Chunks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <type_traits>

namespace patchio {
namespace {

/// Returns `a` * `b`. Throws Error if the product is too large for any file.
std::uint64_t CheckedProduct(std::uint64_t a, std::uint64_t b)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 62;
  RequireInIndex(b == 0 || a <= most / b, "an array with an impossible size");
  return a * b;
}

/// Throws Error unless `bytes` bytes from `offset` on lie inside file `file`. `fileBytes`: size of each file.
void CheckInside(
    std::uint64_t offset, std::uint64_t bytes, int file, const std::vector<std::uint64_t>& fileBytes)
{
  RequireInIndex(
      bytes <= fileBytes[file] && offset <= fileBytes[file] - bytes, "bytes after the end of their file");
}

/// Checks a location of the encoding Encoding::Raw. `arrays`: number of arrays of the variable; `values`:
/// number of values of each array. Throws Error.
void CheckRaw(const LocationTable& table, const Location& location, int arrays, std::uint64_t values,
    const std::vector<std::uint64_t>& fileBytes)
{
  RequireInIndex(
      location.Count == static_cast<std::uint32_t>(arrays), "a wrong number of arrays for a variable");
  const ByteRange* byteRanges = table.ByteRanges.data() + location.First;
  for (int c = 0; c < arrays; ++c) {
    RequireInIndex(byteRanges[c].Type == byteRanges[0].Type, "arrays of different types");
    RequireInIndex(byteRanges[c].Bytes == values * SizeOf(byteRanges[c].Type),
        "a byte range that does not match its array");
    CheckInside(byteRanges[c].Offset, byteRanges[c].Bytes, byteRanges[c].File, fileBytes);
  }
}

/// Checks a location of the encoding Encoding::SparseMaterials, like CheckRaw(). Throws Error.
void CheckSparse(const LocationTable& table, const Location& location, int arrays, std::uint64_t values,
    const std::vector<std::uint64_t>& fileBytes)
{
  RequireInIndex(arrays == 1 && location.Material >= 0,
      "sparse volume fractions of several components or without a material");
  RequireInIndex(location.Count == 1 || location.Count == 4,
      "sparse volume fractions with a wrong number of byte ranges");
  const ByteRange* byteRanges = table.ByteRanges.data() + location.First;
  RequireInIndex(
      byteRanges[0].Bytes == 4 || byteRanges[0].Bytes == values * 4, "a list of materials with a wrong size");
  for (std::uint32_t i = 0; i < location.Count; ++i) {
    RequireInIndex(byteRanges[i].Type == (i == 3 ? ElementType::Float32 : ElementType::Int32),
        "sparse volume fractions of a wrong type");
    RequireInIndex(i == 0 || (byteRanges[i].Bytes == byteRanges[1].Bytes && byteRanges[i].Bytes % 4 == 0),
        "mix arrays of different or impossible sizes");
    CheckInside(byteRanges[i].Offset, byteRanges[i].Bytes, byteRanges[i].File, fileBytes);
  }
}

/// Returns the number of values from the first value of an array in the first step to the last value of the
/// array in the last step. `count`: number of values in a step; `stepValues`: number of values from one step
/// to the next. Throws Error if the result is too large for any file.
std::uint64_t ValuesOfSteps(std::uint64_t count, std::uint64_t stepValues, int steps)
{
  const std::uint64_t distance = CheckedProduct(stepValues, static_cast<std::uint64_t>(steps - 1));
  RequireInIndex(count <= (std::uint64_t(1) << 62), "an array with an impossible size");
  return distance + count;
}

/// Checks the chunks of `array`. `chunks`: number of chunks of the entire array. Throws Error.
void CheckChunks(const LocationTable& table, const ChunkedArray& array, std::uint64_t chunks,
    const std::vector<std::uint64_t>& fileBytes)
{
  for (std::size_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
    const Chunk& chunk = table.Chunks[c];
    RequireInIndex(chunk.Number < chunks, "a chunk outside its array");
    const std::uint64_t step = c == array.FirstChunk ? 1 : chunk.Number - table.Chunks[c - 1].Number;
    // SelectStep() finds the chunks of a time step by the numbers of the chunks, so no chunk may be missing.
    RequireInIndex(step > 0 && step <= chunks && (step == 1 || array.StepStride == 0),
        "chunks out of order, or a missing chunk");
    if (chunk.Bytes > 0) {
      CheckInside(chunk.Offset, chunk.Bytes, array.File, fileBytes);
    }
  }
}

/// Checks a chunked array and its chunks. `expectedValues`: number of values in a step; `steps`: number of
/// steps. Throws Error.
void CheckChunked(const LocationTable& table, const ChunkedArray& array, std::uint64_t expectedValues,
    int steps, const std::vector<std::uint64_t>& fileBytes)
{
  RequireInIndex(array.Count == expectedValues, "an array with a wrong number of values");
  ChunkedArray all = array;
  all.Count = ValuesOfSteps(array.Count, array.StepStride, steps);
  const std::string fault = CatchError([&all] { CheckChunkedArray(all); });
  if (!fault.empty()) {
    RequireInIndex.Fail(fault);
  }
  std::uint64_t values = 1, chunks = 1;
  for (int axis = 0; axis < array.Rank; ++axis) {
    values *= array.Dims[axis];
    chunks *= array.Dims[axis] / array.ChunkDims[axis] + (array.Dims[axis] % array.ChunkDims[axis] ? 1 : 0);
  }
  // A read would leave values without a chunk unset.
  RequireInIndex(array.Count < values || array.ChunkCount == chunks, "a wrong number of chunks");
  RequireInIndex(array.ChunkCount > 0, "an array without chunks");
  if (array.StepStride > 0) {
    const ChunkRange range = ChunksHolding(all);
    const std::uint64_t first = table.Chunks[array.FirstChunk].Number;
    RequireInIndex(first == range.Begin && array.ChunkCount == range.End - range.Begin,
        "an array with other chunks than its steps need");
  }
  CheckChunks(table, array, chunks, fileBytes);
}

/// Throws Error unless all byte ranges and chunks of `location` lie inside the files, and the types and
/// numbers of its values fit the patch and variable of `request`. The records of `table` that `location`
/// refers to must exist. `fileBytes`: size of each file of `table`.
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
      return RequireInIndex(location.Count == 0, "byte ranges for an array that stores no values");
  }
  RequireInIndex(
      location.Count == static_cast<std::uint32_t>(arrays), "a wrong number of arrays for a variable");
  for (std::uint32_t i = location.First; i < location.First + location.Count; ++i) {
    if (location.Kind == Encoding::Chunked) {
      RequireInIndex(table.ChunkedArrays[i].Type == table.ChunkedArrays[location.First].Type,
          "arrays of different types");
      CheckChunked(table, table.ChunkedArrays[i], values, catalog.StepsInFile, fileBytes);
    } else {
      const LibraryArray& array = table.LibraryArrays[i];
      RequireInIndex(array.Type == table.LibraryArrays[location.First].Type, "arrays of different types");
      RequireInIndex(array.Count == values && array.First <= (std::uint64_t(1) << 62),
          "an array with a wrong number of values");
      ValuesOfSteps(array.Count, array.StepStride, catalog.StepsInFile);
    }
  }
}

}  // namespace

// The bytes of records in memory are stored, so records must not have padding, whose bytes are undefined.
static_assert(std::has_unique_object_representations_v<ByteRange> && sizeof(ByteRange) == 24);
static_assert(std::has_unique_object_representations_v<ChunkedArray> && sizeof(ChunkedArray) == 144);
static_assert(std::has_unique_object_representations_v<Chunk> && sizeof(Chunk) == 24);

/// A Location with a key, as stored.
struct IrregularEntry
{
  std::uint64_t Key = 0;
  std::uint32_t First = 0;
  std::uint32_t Count = 0;
  float Value = 0;
  std::int32_t Material = 0;
  std::uint64_t Kind = 0;
};
static_assert(sizeof(IrregularEntry) == 32);

/// A LibraryArray, as stored. The shared list of characters holds the name and the reason.
struct IrregularLibraryArray
{
  std::int32_t File = 0;
  ElementType Type = ElementType::Float32;
  std::array<std::uint8_t, 3> Unused{};
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  std::uint64_t StepStride = 0;
  /// Position of the array's name in the list of characters; the reason follows the name.
  std::uint64_t FirstCharacter = 0;
  std::uint32_t NameLength = 0;
  std::uint32_t ReasonLength = 0;
};
static_assert(std::has_unique_object_representations_v<IrregularLibraryArray>);

namespace {

/// The beginning of the irregular locations, as stored: the number of records of each type. The records
/// follow, type by type.
struct IrregularHead
{
  std::uint64_t Entries = 0;
  std::uint64_t ByteRanges = 0;
  std::uint64_t ChunkedArrays = 0;
  std::uint64_t Chunks = 0;
  std::uint64_t LibraryArrays = 0;
  std::uint64_t Characters = 0;
};

/// Returns the record of `array`, and appends its name and reason to `characters`.
IrregularLibraryArray Pack(const LibraryArray& array, std::string& characters)
{
  IrregularLibraryArray packed;
  packed.File = array.File;
  packed.Type = array.Type;
  packed.First = array.First;
  packed.Count = array.Count;
  packed.StepStride = array.StepStride;
  packed.FirstCharacter = characters.size();
  packed.NameLength = static_cast<std::uint32_t>(array.Dataset.size());
  packed.ReasonLength = static_cast<std::uint32_t>(array.Reason.size());
  characters += array.Dataset + array.Reason;
  return packed;
}

/// Checks the file number and the element type of a record. `files`: number of files. Throws Error.
template <typename Record>
void CheckFileAndType(const Record& record, std::uint64_t files)
{
  RequireInIndex(
      record.File >= 0 && static_cast<std::uint64_t>(record.File) < files, "an invalid file number");
  RequireInIndex(record.Type <= LastElementType, "an unknown type");
}

/// Throws Error unless the byte of `flag` is 0 or 1. Reading a bool with any other byte is undefined, so this
/// function must check every flag from a file first.
void CheckFlag(const bool& flag)
{
  std::uint8_t byte = 0;
  std::memcpy(&byte, &flag, 1);
  RequireInIndex(byte <= 1, "a flag that is neither 0 nor 1");
}

/// Returns whether `entry` and the preceding entry `before` are sparse materials with the same byte ranges,
/// which the materials of a patch may share. `before`: null for the first entry.
bool RepeatsByteRanges(const IrregularEntry& entry, const IrregularEntry* before)
{
  constexpr auto sparse = static_cast<std::uint64_t>(Encoding::SparseMaterials);
  return before && entry.Kind == sparse && before->Kind == sparse && entry.First == before->First &&
         entry.Count == before->Count;
}

}  // namespace

void AppendIrregularLocations(ShardWriter& out, const std::vector<std::uint64_t>& keys, LocationTable table,
    const std::vector<std::uint32_t>& numbers)
{
  const auto renumber = [&numbers](auto& entries) {
    for (auto& entry : entries) {
      entry.File = static_cast<int>(numbers[entry.File]);
    }
  };
  renumber(table.ByteRanges);
  renumber(table.ChunkedArrays);
  renumber(table.LibraryArrays);
  std::vector<IrregularEntry> entries;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Location& location = table.Locations[i];
    entries.push_back({keys[i], location.First, location.Count, location.Value, location.Material,
        static_cast<std::uint64_t>(location.Kind)});
  }
  std::vector<IrregularLibraryArray> libraryArrays;
  std::string characters;
  for (const LibraryArray& array : table.LibraryArrays) {
    libraryArrays.push_back(Pack(array, characters));
  }
  const IrregularHead head{entries.size(), table.ByteRanges.size(), table.ChunkedArrays.size(),
      table.Chunks.size(), libraryArrays.size(), characters.size()};
  out.Append(&head, 1);
  out.Append(entries.data(), entries.size());
  out.Append(table.ByteRanges.data(), table.ByteRanges.size());
  out.Append(table.ChunkedArrays.data(), table.ChunkedArrays.size());
  out.Append(table.Chunks.data(), table.Chunks.size());
  out.Append(libraryArrays.data(), libraryArrays.size());
  out.Append(characters.data(), characters.size());
}

template <typename T>
IrregularLocations::List<T> IrregularLocations::ReadList(ShardReader& in, std::uint64_t count)
{
  return {in.Read<T>(count), count};
}

IrregularLocations::IrregularLocations(ShardReader& in, std::uint64_t files, std::uint64_t keys)
{
  const IrregularHead head = *in.Read<IrregularHead>(1);
  this->Entries = ReadList<IrregularEntry>(in, head.Entries);
  this->ByteRanges = ReadList<ByteRange>(in, head.ByteRanges);
  this->ChunkedArrays = ReadList<ChunkedArray>(in, head.ChunkedArrays);
  this->Chunks = ReadList<Chunk>(in, head.Chunks);
  this->LibraryArrays = ReadList<IrregularLibraryArray>(in, head.LibraryArrays);
  this->Characters = ReadList<char>(in, head.Characters);
  this->CheckEntries(keys);
  this->CheckByteRanges(files);
  this->CheckChunkedArrays(files);
  this->CheckLibraryArrays(files);
}

/// Throws Error unless the keys ascend and are less than `keys`, and the records of each location follow the
/// records of the preceding location. Afterwards, locations share no records, except for byte ranges (see
/// RepeatsByteRanges()).
void IrregularLocations::CheckEntries(std::uint64_t keys) const
{
  std::uint64_t byteRanges = 0, chunkedArrays = 0, libraryArrays = 0, none = 0;
  const IrregularEntry* before = nullptr;
  for (std::uint64_t i = 0; i < this->Entries.Count; ++i) {
    const IrregularEntry& entry = this->Entries[i];
    RequireInIndex(entry.Key < keys && (!before || before->Key < entry.Key),
        "entries with keys out of order or out of range");
    RequireInIndex(entry.Kind <= static_cast<std::uint64_t>(Encoding::Library), "an unknown encoding");
    const auto kind = static_cast<Encoding>(entry.Kind);
    RequireInIndex(kind != Encoding::Missing, "an entry for a missing array");
    RequireInIndex(kind != Encoding::SparseMaterials || entry.Count <= 4,
        "sparse volume fractions with a wrong number of byte ranges");
    std::uint64_t& taken = kind == Encoding::Raw || kind == Encoding::SparseMaterials ? byteRanges
                           : kind == Encoding::Chunked                                ? chunkedArrays
                           : kind == Encoding::Library                                ? libraryArrays
                                                                                      : none;
    if (!RepeatsByteRanges(entry, before)) {
      RequireInIndex(&taken == &none || entry.First == taken,
          "a location whose entries do not follow the entries of the location before");
      taken += entry.Count;
    }
    before = &entry;
  }
  RequireInIndex(none == 0, "byte ranges for an array that stores no values");
  RequireInIndex(byteRanges == this->ByteRanges.Count && chunkedArrays == this->ChunkedArrays.Count &&
                     libraryArrays == this->LibraryArrays.Count,
      "a wrong number of byte ranges or arrays");
}

void IrregularLocations::CheckByteRanges(std::uint64_t files) const
{
  for (std::uint64_t i = 0; i < this->ByteRanges.Count; ++i) {
    CheckFileAndType(this->ByteRanges[i], files);
    CheckFlag(this->ByteRanges[i].BigEndian);
  }
}

void IrregularLocations::CheckChunkedArrays(std::uint64_t files) const
{
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < this->ChunkedArrays.Count; ++i) {
    const ChunkedArray& array = this->ChunkedArrays[i];
    CheckFileAndType(array, files);
    CheckFlag(array.BigEndian);
    for (const FilterType filter : array.Filters) {
      RequireInIndex(filter <= LastFilterType, "an unknown filter");
    }
    RequireInIndex(array.FirstChunk == taken && array.ChunkCount <= this->Chunks.Count - taken,
        "an invalid chunk number");
    taken += array.ChunkCount;
  }
  RequireInIndex(taken == this->Chunks.Count, "a chunk without an array");
}

void IrregularLocations::CheckLibraryArrays(std::uint64_t files) const
{
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < this->LibraryArrays.Count; ++i) {
    const IrregularLibraryArray& array = this->LibraryArrays[i];
    CheckFileAndType(array, files);
    const std::uint64_t characters = std::uint64_t(array.NameLength) + array.ReasonLength;
    RequireInIndex(array.FirstCharacter == taken && characters <= this->Characters.Count - taken,
        "a name that ends too early");
    taken += characters;
  }
}

std::uint64_t IrregularLocations::KeyOf(std::uint64_t position) const
{
  return this->Entries[position].Key;
}

std::uint64_t IrregularLocations::Find(std::uint64_t key) const
{
  const IrregularEntry* const begin = this->Entries.Begin;
  const IrregularEntry* const end = begin + this->Entries.Count;
  const IrregularEntry* const found = std::lower_bound(
      begin, end, key, [](const IrregularEntry& entry, std::uint64_t value) { return entry.Key < value; });
  return found != end && found->Key == key ? static_cast<std::uint64_t>(found - begin) : this->Size();
}

LibraryArray IrregularLocations::LibraryArrayAt(std::uint64_t index) const
{
  const IrregularLibraryArray& packed = this->LibraryArrays[index];
  const char* const name = this->Characters.Begin + packed.FirstCharacter;
  LibraryArray array;
  array.File = packed.File;
  array.Type = packed.Type;
  array.Dataset.assign(name, packed.NameLength);
  array.First = packed.First;
  array.Count = packed.Count;
  array.StepStride = packed.StepStride;
  array.Reason.assign(name + packed.NameLength, packed.ReasonLength);
  return array;
}

Location IrregularLocations::Append(std::uint64_t position, LocationTable& table,
    const std::function<std::uint32_t(std::uint32_t)>& numberOf, int step) const
{
  const IrregularEntry& entry = this->Entries[position];
  Location copy{static_cast<Encoding>(entry.Kind), entry.First, entry.Count, entry.Value, entry.Material};
  const auto append = [&](auto& target, auto entryAt) {
    copy.First = static_cast<std::uint32_t>(target.size());
    for (std::uint64_t i = 0; i < entry.Count; ++i) {
      target.push_back(entryAt(entry.First + i));
      target.back().File = static_cast<int>(numberOf(static_cast<std::uint32_t>(target.back().File)));
    }
  };
  if (copy.Kind == Encoding::Raw || copy.Kind == Encoding::SparseMaterials) {
    append(table.ByteRanges, [this](std::uint64_t i) { return this->ByteRanges[i]; });
  } else if (copy.Kind == Encoding::Library) {
    append(table.LibraryArrays, [this, step](std::uint64_t i) {
      LibraryArray array = this->LibraryArrayAt(i);
      array.First += step == AllSteps ? 0 : array.StepStride * static_cast<std::uint64_t>(step);
      return array;
    });
  } else if (copy.Kind == Encoding::Chunked) {
    append(table.ChunkedArrays, [this](std::uint64_t i) { return this->ChunkedArrays[i]; });
    for (std::size_t i = copy.First; i < table.ChunkedArrays.size(); ++i) {
      ChunkedArray& array = table.ChunkedArrays[i];
      if (step != AllSteps) {
        SelectStep(array, this->Chunks.Begin + array.FirstChunk, step);
      }
      const Chunk* const chunks = this->Chunks.Begin + array.FirstChunk;
      array.FirstChunk = table.Chunks.size();
      table.Chunks.insert(table.Chunks.end(), chunks, chunks + array.ChunkCount);
    }
  }
  return copy;
}

void IrregularLocations::Check(std::uint64_t position, const Catalog& catalog, const PatchVariable& request,
    const std::vector<std::uint64_t>& fileBytes) const
{
  LocationTable table;
  const Location location = this->Append(position, table, [](std::uint32_t file) { return file; });
  CheckLocation(catalog, request, table, location, fileBytes);
}

}  // namespace patchio
