#include "Catalog/IrregularLocations.h"

#include <algorithm>
#include <string>

namespace patchio {

// Records have no padding, whose bytes would be anything, and no type that has invalid values.

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

/// Where values lie and what they are, as all kinds of entries have it.
struct OddStorage
{
  std::uint32_t File = 0;
  std::uint8_t Type = 0;
  std::uint8_t BigEndian = 0;
  std::uint16_t Rank = 0;  ///< of chunked arrays
};
static_assert(sizeof(OddStorage) == 8);

struct IrregularExtent
{
  std::uint64_t Offset = 0;
  std::uint64_t Bytes = 0;
  OddStorage Storage;
};
static_assert(sizeof(IrregularExtent) == 24);

struct IrregularChunkedArray
{
  OddStorage Storage;
  std::array<std::uint16_t, ChunkedArray::MaximumFilters> Filters{};
  std::array<std::uint64_t, ChunkedArray::MaximumRank> Dims{};
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  std::uint64_t StepValues = 0;
  std::uint64_t Fill = 0;
  std::uint64_t FirstChunk = 0;
  std::uint64_t ChunkCount = 0;
};
static_assert(sizeof(IrregularChunkedArray) == 128);

struct IrregularLibraryArray
{
  OddStorage Storage;
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  std::uint64_t StepValues = 0;
  std::uint64_t Letters = 0;  ///< where its name begins; its reason follows
  std::uint32_t NameLength = 0;
  std::uint32_t ReasonLength = 0;
};
static_assert(sizeof(IrregularLibraryArray) == 48);

static_assert(sizeof(Chunk) == 24);

namespace {

constexpr Requirement Require = RequireOfIndex;

/// What the irregular entries begin with: how many there are of each. Then they follow, each kind for itself.
struct IrregularHead
{
  std::uint64_t Entries = 0;
  std::uint64_t Extents = 0;
  std::uint64_t ChunkedArrays = 0;
  std::uint64_t Chunks = 0;
  std::uint64_t LibraryArrays = 0;
  std::uint64_t Letters = 0;
};

// ---- writing ----

IrregularExtent Pack(const Extent& extent, const std::vector<std::uint32_t>& numbers)
{
  return {extent.Offset, extent.Bytes,
      {numbers[extent.File], static_cast<std::uint8_t>(extent.Type), extent.BigEndian, 0}};
}

IrregularChunkedArray Pack(const ChunkedArray& array, const std::vector<std::uint32_t>& numbers)
{
  IrregularChunkedArray packed;
  packed.Storage = {numbers[array.File], static_cast<std::uint8_t>(array.Type), array.BigEndian, array.Rank};
  for (std::size_t i = 0; i < packed.Filters.size(); ++i) {
    packed.Filters[i] = static_cast<std::uint16_t>(array.Filters[i]);
  }
  packed.Dims = array.Dims;
  packed.ChunkDims = array.ChunkDims;
  packed.First = array.First;
  packed.Count = array.Count;
  packed.StepValues = array.StepValues;
  packed.Fill = array.Fill;
  packed.FirstChunk = array.FirstChunk;
  packed.ChunkCount = array.ChunkCount;
  return packed;
}

/// Appends the array's name and reason to `letters`.
IrregularLibraryArray Pack(
    const LibraryArray& array, const std::vector<std::uint32_t>& numbers, std::string& letters)
{
  IrregularLibraryArray packed;
  packed.Storage = {numbers[array.File], static_cast<std::uint8_t>(array.Type), 0, 0};
  packed.First = array.First;
  packed.Count = array.Count;
  packed.StepValues = array.StepValues;
  packed.Letters = letters.size();
  packed.NameLength = static_cast<std::uint32_t>(array.Dataset.size());
  packed.ReasonLength = static_cast<std::uint32_t>(array.Reason.size());
  letters += array.Dataset + array.Reason;
  return packed;
}

// ---- checks of the form ----

void CheckStorage(const OddStorage& storage, std::uint64_t files)
{
  Require(storage.File < files, "a file number beyond its files");
  Require(storage.Type <= static_cast<std::uint8_t>(LastElementType), "an unknown type");
  Require(storage.BigEndian <= 1, "a flag that is neither 0 nor 1");
}

/// All materials of a patch may have the same lists.
bool RepeatsExtents(const IrregularEntry& entry, const IrregularEntry* before)
{
  constexpr auto sparse = static_cast<std::uint64_t>(Encoding::SparseMaterials);
  return before && entry.Kind == sparse && before->Kind == sparse && entry.First == before->First &&
         entry.Count == before->Count;
}

// ---- checks against the catalog ----

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

/// Values from the first that is wanted at the first step to the last at the last step.
std::uint64_t ValuesOfSteps(std::uint64_t count, std::uint64_t stepValues, int steps)
{
  const std::uint64_t way = Product(stepValues, static_cast<std::uint64_t>(steps - 1));
  Require(count <= (std::uint64_t(1) << 62), "an array of impossible size");
  return way + count;
}

void CheckChunked(const LocationTable& table, const ChunkedArray& array, std::uint64_t tuples, int steps,
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
  const std::uint64_t held = ValuesOfSteps(array.Count, array.StepValues, steps);
  Require(array.Count == tuples && held <= values && array.First <= values - held,
      "another number of values than its array");
  Require(
      array.ChunkCount <= table.Chunks.size() && array.FirstChunk <= table.Chunks.size() - array.ChunkCount,
      "a chunk beyond its chunks");
  // Values that no chunk holds would stay what the memory held before.
  Require(array.Count < values || array.ChunkCount == chunks, "a chunk too few");
  Require(array.ChunkCount > 0, "no chunk");
  if (array.StepValues > 0) {
    ChunkedArray all = array;
    all.Count = held;
    const ChunkRange range = ChunksHolding(all);
    const std::uint64_t first = table.Chunks[array.FirstChunk].Number;
    Require(first == range.Begin && array.ChunkCount == range.End - range.Begin, "a chunk too few");
  }
  for (std::size_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
    Require(table.Chunks[c].Number < chunks, "a chunk outside its array");
    const std::uint64_t step =
        c == array.FirstChunk ? 1 : table.Chunks[c].Number - table.Chunks[c - 1].Number;
    // Of steps, chunks are found by their numbers.
    Require(step > 0 && step <= chunks && (step == 1 || array.StepValues == 0), "a chunk twice");
    if (table.Chunks[c].Bytes > 0) {
      CheckInside(table.Chunks[c].Offset, table.Chunks[c].Bytes, array.File, fileBytes);
    }
  }
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
      CheckChunked(table, table.ChunkedArrays[i], tuples, catalog.StepsInFile, fileBytes);
    } else {
      const LibraryArray& array = table.LibraryArrays[i];
      Require(array.Type == table.LibraryArrays[location.First].Type, "components of different types");
      Require(array.Count == tuples && array.First <= (std::uint64_t(1) << 62),
          "another number of values than its array");
      ValuesOfSteps(array.Count, array.StepValues, catalog.StepsInFile);
    }
  }
}

}  // namespace

void PutIrregularLocations(ShardWriter& out, const std::vector<std::uint64_t>& keys,
    const LocationTable& table, const std::vector<std::uint32_t>& numbers)
{
  std::vector<IrregularEntry> entries;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Location& location = table.Locations[i];
    entries.push_back({keys[i], location.First, location.Count, location.Value, location.Material,
        static_cast<std::uint64_t>(location.Kind)});
  }
  std::vector<IrregularExtent> extents;
  for (const Extent& extent : table.Extents) {
    extents.push_back(Pack(extent, numbers));
  }
  std::vector<IrregularChunkedArray> chunkedArrays;
  for (const ChunkedArray& array : table.ChunkedArrays) {
    chunkedArrays.push_back(Pack(array, numbers));
  }
  std::vector<IrregularLibraryArray> libraryArrays;
  std::string letters;
  for (const LibraryArray& array : table.LibraryArrays) {
    libraryArrays.push_back(Pack(array, numbers, letters));
  }
  const IrregularHead head{entries.size(), extents.size(), chunkedArrays.size(), table.Chunks.size(),
      libraryArrays.size(), letters.size()};
  out.Put(&head, 1);
  out.Put(entries.data(), entries.size());
  out.Put(extents.data(), extents.size());
  out.Put(chunkedArrays.data(), chunkedArrays.size());
  out.Put(table.Chunks.data(), table.Chunks.size());
  out.Put(libraryArrays.data(), libraryArrays.size());
  out.Put(letters.data(), letters.size());
}

template <typename T>
IrregularLocations::List<T> IrregularLocations::Take(ShardReader& in, std::uint64_t count)
{
  return {in.Take<T>(count), count};
}

IrregularLocations::IrregularLocations(ShardReader& in, std::uint64_t files, std::uint64_t keys)
{
  const IrregularHead head = *in.Take<IrregularHead>(1);
  this->Entries = Take<IrregularEntry>(in, head.Entries);
  this->Extents = Take<IrregularExtent>(in, head.Extents);
  this->ChunkedArrays = Take<IrregularChunkedArray>(in, head.ChunkedArrays);
  this->Chunks = Take<Chunk>(in, head.Chunks);
  this->LibraryArrays = Take<IrregularLibraryArray>(in, head.LibraryArrays);
  this->Letters = Take<char>(in, head.Letters);
  this->CheckEntries(keys);
  this->CheckExtents(files);
  this->CheckChunkedArrays(files);
  this->CheckLibraryArrays(files);
}

/// Each location takes the entries that follow those of the ones before, so that none is taken twice.
void IrregularLocations::CheckEntries(std::uint64_t keys) const
{
  std::uint64_t extents = 0, chunkedArrays = 0, libraryArrays = 0, none = 0;
  const IrregularEntry* before = nullptr;
  for (std::uint64_t i = 0; i < this->Entries.Count; ++i) {
    const IrregularEntry& entry = this->Entries[i];
    Require(entry.Key < keys && (!before || before->Key < entry.Key), "irregular entries out of order");
    Require(entry.Kind <= static_cast<std::uint64_t>(Encoding::Library), "an unknown kind");
    const auto kind = static_cast<Encoding>(entry.Kind);
    Require(kind != Encoding::Missing, "an array that was not found");
    Require(kind != Encoding::SparseMaterials || entry.Count <= 4, "a material of an impossible form");
    std::uint64_t& taken = kind == Encoding::Raw || kind == Encoding::SparseMaterials ? extents
                           : kind == Encoding::Chunked                                ? chunkedArrays
                           : kind == Encoding::Library                                ? libraryArrays
                                                                                      : none;
    if (!RepeatsExtents(entry, before)) {
      Require(&taken == &none || entry.First == taken, "a location beyond its entries");
      taken += entry.Count;
    }
    before = &entry;
  }
  Require(none == 0, "values of an array without any");
  Require(extents == this->Extents.Count && chunkedArrays == this->ChunkedArrays.Count &&
              libraryArrays == this->LibraryArrays.Count,
      "a location beyond its entries");
}

void IrregularLocations::CheckExtents(std::uint64_t files) const
{
  for (std::uint64_t i = 0; i < this->Extents.Count; ++i) {
    CheckStorage(this->Extents[i].Storage, files);
  }
}

void IrregularLocations::CheckChunkedArrays(std::uint64_t files) const
{
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < this->ChunkedArrays.Count; ++i) {
    const IrregularChunkedArray& array = this->ChunkedArrays[i];
    CheckStorage(array.Storage, files);
    Require(array.Storage.Rank >= 1 && array.Storage.Rank <= ChunkedArray::MaximumRank,
        "an array of impossible rank");
    for (const std::uint16_t filter : array.Filters) {
      Require(filter <= static_cast<std::uint16_t>(FilterKind::Fletcher32), "an unknown filter");
    }
    Require(array.FirstChunk == taken && array.ChunkCount <= this->Chunks.Count - taken,
        "a chunk beyond its chunks");
    taken += array.ChunkCount;
  }
  Require(taken == this->Chunks.Count, "a chunk of no array");
}

void IrregularLocations::CheckLibraryArrays(std::uint64_t files) const
{
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < this->LibraryArrays.Count; ++i) {
    const IrregularLibraryArray& array = this->LibraryArrays[i];
    CheckStorage(array.Storage, files);
    const std::uint64_t letters = std::uint64_t(array.NameLength) + array.ReasonLength;
    Require(array.Letters == taken && letters <= this->Letters.Count - taken, "a name that ends too early");
    taken += letters;
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
      begin, end, key, [](const IrregularEntry& entry, std::uint64_t wanted) { return entry.Key < wanted; });
  return found != end && found->Key == key ? static_cast<std::uint64_t>(found - begin) : this->Size();
}

Extent IrregularLocations::ExtentAt(std::uint64_t index) const
{
  const IrregularExtent& packed = this->Extents[index];
  Extent extent;
  extent.Offset = packed.Offset;
  extent.Bytes = packed.Bytes;
  extent.File = static_cast<int>(packed.Storage.File);
  extent.Type = static_cast<ElementType>(packed.Storage.Type);
  extent.BigEndian = packed.Storage.BigEndian != 0;
  return extent;
}

ChunkedArray IrregularLocations::ChunkedArrayAt(std::uint64_t index) const
{
  const IrregularChunkedArray& packed = this->ChunkedArrays[index];
  ChunkedArray array;
  array.File = static_cast<int>(packed.Storage.File);
  array.Type = static_cast<ElementType>(packed.Storage.Type);
  array.BigEndian = packed.Storage.BigEndian != 0;
  array.Rank = static_cast<std::uint8_t>(packed.Storage.Rank);
  for (std::size_t i = 0; i < packed.Filters.size(); ++i) {
    array.Filters[i] = static_cast<FilterKind>(packed.Filters[i]);
  }
  array.Dims = packed.Dims;
  array.ChunkDims = packed.ChunkDims;
  array.First = packed.First;
  array.Count = packed.Count;
  array.StepValues = packed.StepValues;
  array.Fill = packed.Fill;
  array.FirstChunk = packed.FirstChunk;
  array.ChunkCount = packed.ChunkCount;
  return array;
}

LibraryArray IrregularLocations::LibraryArrayAt(std::uint64_t index) const
{
  const IrregularLibraryArray& packed = this->LibraryArrays[index];
  const char* const name = this->Letters.Begin + packed.Letters;
  LibraryArray array;
  array.File = static_cast<int>(packed.Storage.File);
  array.Type = static_cast<ElementType>(packed.Storage.Type);
  array.Dataset.assign(name, packed.NameLength);
  array.First = packed.First;
  array.Count = packed.Count;
  array.StepValues = packed.StepValues;
  array.Reason.assign(name + packed.NameLength, packed.ReasonLength);
  return array;
}

Location IrregularLocations::Append(std::uint64_t position, LocationTable& to,
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
    append(to.Extents, [this](std::uint64_t i) { return this->ExtentAt(i); });
  } else if (copy.Kind == Encoding::Library) {
    append(to.LibraryArrays, [this, step](std::uint64_t i) {
      LibraryArray array = this->LibraryArrayAt(i);
      array.First += step == AllSteps ? 0 : array.StepValues * static_cast<std::uint64_t>(step);
      return array;
    });
  } else if (copy.Kind == Encoding::Chunked) {
    append(to.ChunkedArrays, [this](std::uint64_t i) { return this->ChunkedArrayAt(i); });
    for (std::size_t i = copy.First; i < to.ChunkedArrays.size(); ++i) {
      ChunkedArray& array = to.ChunkedArrays[i];
      if (step != AllSteps) {
        TurnToStep(array, this->Chunks.Begin + array.FirstChunk, step);
      }
      const Chunk* const chunks = this->Chunks.Begin + array.FirstChunk;
      array.FirstChunk = to.Chunks.size();
      to.Chunks.insert(to.Chunks.end(), chunks, chunks + array.ChunkCount);
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

std::uint64_t IrregularLocations::StoredBytes() const
{
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < this->Entries.Count; ++i) {
    const IrregularEntry& entry = this->Entries[i];
    const auto kind = static_cast<Encoding>(entry.Kind);
    if (kind == Encoding::Raw || kind == Encoding::SparseMaterials) {
      for (std::uint64_t e = 0; e < entry.Count; ++e) {
        bytes += this->Extents[entry.First + e].Bytes;
      }
    }
  }
  // Each belongs to one location.
  for (std::uint64_t i = 0; i < this->Chunks.Count; ++i) {
    bytes += this->Chunks[i].Bytes;
  }
  return bytes;
}

}  // namespace patchio
