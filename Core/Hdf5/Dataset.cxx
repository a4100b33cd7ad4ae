#include "Hdf5/Dataset.h"

#include "Base/Bytes.h"
#include "Hdf5/Library.h"
#include "Hdf5/LibraryFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

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
  // HDF5's own filters, and the most common ones in The HDF Group's registry.
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

namespace {

/// Leaves the decoding to the HDF5 library, or makes the data set Unsupported if the library must not be
/// used.
void BecomeLibrary(Dataset& dataset, const std::string& reason)
{
  dataset.Layout = LibraryIsAllowed() ? StorageLayout::Library : StorageLayout::Unsupported;
  dataset.Reason = reason;
}

}  // namespace

Dataspace TakeDataspace(Cursor& message)
{
  constexpr unsigned scalar = 0, simple = 1, null = 2, hasMost = 1;
  const unsigned version = message.Take<std::uint8_t>();
  Dataspace space;
  space.Rank = message.Take<std::uint8_t>();
  const unsigned flags = message.Take<std::uint8_t>();
  unsigned kind = message.Take<std::uint8_t>();  // in version 1 a reserved byte
  if (version == 1) {
    kind = space.Rank == 0 ? scalar : simple;
    message.Skip(4);
  }
  if (version < 1 || version > 2) {
    throw Unsupported(fmt::format("dataspace of version {}", version));
  }
  Require(space.Rank <= Dataspace::MostAxes && kind <= null && (kind == simple || space.Rank == 0),
      "an impossible shape");
  for (unsigned d = 0; d < space.Rank; ++d) {
    space.Dims[d] = space.MostDims[d] = message.Take<std::uint64_t>();
    space.Values = Product(space.Values, space.Dims[d]);
  }
  for (unsigned d = 0; d < space.Rank && (flags & hasMost) != 0; ++d) {
    space.MostDims[d] = message.Take<std::uint64_t>();
  }
  space.Values = kind == null ? 0 : space.Values;
  return space;
}

void DatasetMessages::Take(const Message& message)
{
  // If a header contains a message twice, the first one counts.
  switch (message.Type) {
    case MessageType::Dataspace:
      this->RequireOwn(message);
      if (!this->HasSpace) {
        this->TakeSpace(message);
      }
      break;
    case MessageType::Datatype:
      this->RequireOwn(message);
      if (!this->HasType) {
        this->TakeType(message);
      }
      break;
    case MessageType::Layout:
      this->RequireOwn(message);
      if (!this->HasLayout) {
        this->ParseLayout(message);
      }
      break;
    case MessageType::Fill:
      this->RequireOwn(message);
      this->TakeFill(message);
      break;
    case MessageType::OldFill:
      this->RequireOwn(message);
      this->TakeOldFill(message);
      break;
    case MessageType::Filters:
      this->RequireOwn(message);
      if (!this->HasFilters) {
        this->TakeFilters(message);
      }
      break;
    case MessageType::ExternalFiles:
      this->Elsewhere = ValuesElsewhere;
      break;
    default:
      break;
  }
}

void DatasetMessages::RequireOwn(const Message& message)
{
  if (message.Shared) {
    throw Unsupported("shared message");
  }
}

void DatasetMessages::TakeSpace(const Message& message)
{
  Cursor cursor(message.Data, message.Bytes);
  const Dataspace space = TakeDataspace(cursor);
  const unsigned kept = std::min<unsigned>(space.Rank, ChunkedArray::MaximumRank);
  std::copy_n(space.Dims.begin(), kept, this->Result.Dims.begin());
  std::copy_n(space.MostDims.begin(), kept, this->Result.MostDims.begin());
  this->Result.Rank = static_cast<std::uint8_t>(space.Rank);
  this->Result.Values = space.Values;
  this->HasSpace = true;
}

void DatasetMessages::TakeType(const Message& message)
{
  Cursor cursor(message.Data, message.Bytes);
  const Datatype type = TakeDatatype(cursor);
  Dataset& result = this->Result;
  result.Class = type.Class;
  result.IsPlain = type.IsPlain || type.IsText;
  result.BigEndian = type.BigEndian;
  result.Signed = type.Signed;
  result.ElementBytes = type.Bytes;
  this->HasType = true;
}

void DatasetMessages::ParseLayout(const Message& message)
{
  constexpr unsigned chunked = 2, virtualDataset = 3;
  const unsigned version = message.At<std::uint8_t>(0);
  if (version < 1 || version > 5) {  // version 5 adds chunks of more than 4 GiB to version 4
    throw Unsupported(fmt::format("data layout of version {}", version));
  }
  this->HasLayout = true;
  if (version < 3) {
    return this->TakeOldLayout(message);
  }
  const unsigned kind = message.At<std::uint8_t>(1);
  if (version > 3 && kind == virtualDataset) {
    this->Result.Layout = StorageLayout::Virtual;
    this->Result.Reason = VirtualDataset;
    this->Result.MappingHeap = message.At<std::uint64_t>(2);
    this->Result.MappingNumber = message.At<std::uint32_t>(10);
    return;
  }
  if (kind != chunked) {
    this->TakePlainLayout(message, kind);
  } else {
    this->Result.Layout = StorageLayout::Chunked;
    version == 3 ? this->TakeChunks3(message, 2, 3) : this->TakeChunks4(message);
  }
}

/// Reads versions 1 and 2: number of axes, kind, address (unless the values follow in the message), lengths.
void DatasetMessages::TakeOldLayout(const Message& message)
{
  constexpr unsigned compact = 0, contiguous = 1, chunked = 2;
  const unsigned axes = message.At<std::uint8_t>(1), kind = message.At<std::uint8_t>(2);
  constexpr std::size_t head = 8;
  if (kind == chunked) {
    this->Result.Layout = StorageLayout::Chunked;
    return this->TakeChunks3(message, 1, head);
  }
  Require(kind == compact || kind == contiguous, "an unknown data layout");
  this->Result.Layout = StorageLayout::Contiguous;
  if (kind == contiguous) {
    this->Result.Offset = message.At<std::uint64_t>(head);
    this->ContiguousBytes = NoAddress;  // not stated; the data set determines the size
    return;
  }
  const std::size_t place = head + 4 * std::size_t(axes);
  this->ContiguousBytes = message.At<std::uint32_t>(place);
  message.Need(place + 4, this->ContiguousBytes);
  this->Result.Offset = message.Address + place + 4;
}

/// Reads the layout of contiguous values, which lie in the message itself (compact) or elsewhere in the file.
void DatasetMessages::TakePlainLayout(const Message& message, unsigned kind)
{
  constexpr unsigned compact = 0, contiguous = 1;
  this->Result.Layout = StorageLayout::Contiguous;
  if (kind == compact) {
    this->ContiguousBytes = message.At<std::uint16_t>(2);
    message.Need(4, this->ContiguousBytes);
    this->Result.Offset = message.Address + 4;
  } else if (kind == contiguous) {
    this->Result.Offset = message.At<std::uint64_t>(2);
    this->ContiguousBytes = message.At<std::uint64_t>(10);
  } else {
    throw Unsupported(fmt::format("data layout of class {}", kind));
  }
}

/// Sets ChunkRank. axes: number of axes, plus 1 for the bytes of an element. Returns false if there are more
/// axes than PatchIO decodes.
bool DatasetMessages::TakeChunkRank(unsigned axes)
{
  Require(axes >= 2 && axes <= Dataspace::MostAxes + 1, "chunks with an impossible number of axes");
  this->ChunkRank = axes - 1;
  return this->ChunkRank <= ChunkedArray::MaximumRank;
}

/// Reads versions 1 to 3: the number of axes at offset `rank`, and, from offset `place` on, the address of
/// the tree and the lengths of the axes.
void DatasetMessages::TakeChunks3(const Message& message, std::size_t rank, std::size_t place)
{
  this->Result.ChunkAddress = message.At<std::uint64_t>(place);
  if (this->TakeChunkRank(message.At<std::uint8_t>(rank))) {
    for (unsigned d = 0; d < this->ChunkRank; ++d) {
      this->ChunkDims[d] = message.At<std::uint32_t>(place + 8 + 4 * d);
    }
  }
  this->ChunkElementBytes = message.At<std::uint32_t>(place + 8 + 4 * std::size_t(this->ChunkRank));
}

/// Reads version 4: flags, number of axes (plus 1 for the element), size of a length, lengths, kind of index,
/// parameters of the index, and its address.
void DatasetMessages::TakeChunks4(const Message& message)
{
  constexpr unsigned skipsPartial = 1, singleHasFilters = 2;
  // Indexed by the number of the kind minus 1. The parameters are skipped, because the header of the index
  // repeats them.
  constexpr ChunkIndex kinds[] = {ChunkIndex::Single, ChunkIndex::Implicit, ChunkIndex::FixedArray,
      ChunkIndex::ExtensibleArray, ChunkIndex::Tree2};
  constexpr std::size_t bytesOfKinds[] = {0, 0, 1, 5, 6};
  const unsigned flags = message.At<std::uint8_t>(2);
  const std::size_t lengthBytes = message.At<std::uint8_t>(4);
  this->SkipsPartial = (flags & skipsPartial) != 0;
  Require(lengthBytes >= 1 && lengthBytes <= 8, "chunks without a size");
  if (!this->TakeChunkRank(message.At<std::uint8_t>(3))) {
    this->ChunkElementBytes = this->Result.ElementBytes;
    return;
  }
  std::size_t place = 5;
  message.Need(place, lengthBytes * (this->ChunkRank + 1));
  for (unsigned d = 0; d < this->ChunkRank; ++d, place += lengthBytes) {
    this->ChunkDims[d] = LoadBytes(message.Data + place, lengthBytes);
  }
  this->ChunkElementBytes = LoadBytes(message.Data + place, lengthBytes);
  place += lengthBytes;
  const unsigned kind = message.At<std::uint8_t>(place++);
  if (kind < 1 || kind > std::size(kinds)) {
    throw Unsupported(fmt::format("chunk index of type {}", kind));
  }
  this->Result.Index = kinds[kind - 1];
  if (this->Result.Index == ChunkIndex::Single && (flags & singleHasFilters) != 0) {
    this->Result.SingleBytes = message.At<std::uint64_t>(place);
    this->Result.SingleSkipped = message.At<std::uint32_t>(place + 8);
    place += 12;
  }
  this->Result.ChunkAddress = message.At<std::uint64_t>(place + bytesOfKinds[kind - 1]);
}

void DatasetMessages::TakeFill(const Message& message)
{
  const unsigned version = message.At<std::uint8_t>(0);
  this->HasFill = true;  // TakeOldFill() then ignores its message
  this->FillBytes = 0;
  if (version == 1 || version == 2) {
    if (version == 1 || message.At<std::uint8_t>(3) != 0) {
      this->KeepFill(message, 8, message.At<std::uint32_t>(4));
    }
  } else if (version == 3) {
    constexpr unsigned defined = 0x20;
    if (message.At<std::uint8_t>(1) & defined) {
      this->KeepFill(message, 6, message.At<std::uint32_t>(2));
    }
  } else {
    throw Unsupported(fmt::format("fill value of version {}", version));
  }
}

void DatasetMessages::TakeOldFill(const Message& message)
{
  if (!this->HasFill) {
    this->KeepFill(message, 4, message.At<std::uint32_t>(0));
  }
}

void DatasetMessages::KeepFill(const Message& message, std::size_t place, std::uint64_t bytes)
{
  constexpr std::uint32_t undefined = ~std::uint32_t(0);
  if (bytes == 0 || bytes == undefined) {
    this->FillBytes = 0;
    return;
  }
  message.Need(place, bytes);
  std::memcpy(this->FillStored.data(), message.Data + place, std::min(bytes, this->FillStored.size()));
  this->FillBytes = bytes;
}

void DatasetMessages::TakeFilters(const Message& message)
{
  const unsigned version = message.At<std::uint8_t>(0);
  const unsigned count = message.At<std::uint8_t>(1);
  if (version < 1 || version > 2) {
    throw Unsupported(fmt::format("filters of version {}", version));
  }
  Require(count <= this->FilterIds.size(), "too many filters");
  constexpr unsigned firstNamed = 256;  // filters below have neither name nor its length in version 2
  std::size_t place = version == 1 ? 8 : 2;
  for (unsigned f = 0; f < count; ++f) {
    const unsigned id = message.At<std::uint16_t>(place);
    const bool hasName = version == 1 || id >= firstNamed;
    const std::size_t nameBytes = hasName ? message.At<std::uint16_t>(place + 2) : 0;
    place += hasName ? 6 : 4;
    const unsigned parameters = message.At<std::uint16_t>(place);
    place += 2 + (version == 1 ? (nameBytes + 7) / 8 * 8 : nameBytes);
    this->FilterIds[f] = static_cast<int>(id);
    this->FilterParameters[f] = parameters == 0 ? 0 : message.At<std::uint32_t>(place);
    place += 4 * std::size_t(parameters + (version == 1 ? parameters % 2 : 0));
    message.Need(0, place);
  }
  this->FilterCount = count;
  this->HasFilters = true;
}

const Dataset& DatasetMessages::Finish()
{
  Dataset& result = this->Result;
  Require(this->HasSpace && this->HasType && this->HasLayout, "an object that is not a data set");
  if (!this->Elsewhere.empty()) {
    result.Layout = StorageLayout::Unsupported;
    result.Reason = this->Elsewhere;
  } else if (result.Layout == StorageLayout::Virtual) {
    this->FinishFill();
    return result;
  } else if (result.Layout == StorageLayout::Chunked) {
    this->FinishChunked();
  } else if (result.Offset == NoAddress) {
    result.Layout = StorageLayout::Nowhere;
    result.Reason = "no values written yet";
  } else {
    Require(this->ContiguousBytes >= Product(result.Values, result.ElementBytes), "fewer values than stated");
  }
  const bool isNumber = result.Class == TypeClass::Float || result.Class == TypeClass::Integer;
  const bool isDecoded =
      result.Layout == StorageLayout::Contiguous || result.Layout == StorageLayout::Chunked;
  if (isDecoded && isNumber && !result.IsPlain) {
    BecomeLibrary(result, "numbers in an unusual format");
  }
  return result;
}

void DatasetMessages::FinishChunked()
{
  Dataset& result = this->Result;
  Require(this->ChunkRank == result.Rank, "chunks that do not match their array");
  if (this->ChunkRank > ChunkedArray::MaximumRank) {
    return BecomeLibrary(result, fmt::format("chunks of {} axes", this->ChunkRank));
  }
  Require(this->ChunkElementBytes == result.ElementBytes, "chunks that do not match their array");
  std::uint64_t chunkBytes = result.ElementBytes;
  for (unsigned d = 0; d < this->ChunkRank; ++d) {
    result.ChunkDims[d] = this->ChunkDims[d];
    chunkBytes = Product(chunkBytes, this->ChunkDims[d]);
  }
  Require(chunkBytes > 0, "chunks without a size");
  this->FinishFill();
  if (chunkBytes > std::numeric_limits<std::uint32_t>::max()) {
    BecomeLibrary(result, "chunks of more than 4 GiB");
  } else if (this->FilterCount > 0 && this->SkipsPartial) {
    BecomeLibrary(result, "filters that skip partial chunks");
  }
  this->FinishFilters();
}

void DatasetMessages::FinishFilters()
{
  Dataset& result = this->Result;
  for (unsigned f = 0; f < this->FilterCount; ++f) {
    const FilterKind kind = KindOfFilter(this->FilterIds[f], this->FilterParameters[f], result.ElementBytes);
    if (kind == FilterKind::None) {
      BecomeLibrary(result, FilterName(this->FilterIds[f]));
      if (!LibraryHasFilter(this->FilterIds[f])) {
        result.Layout = StorageLayout::Unsupported;
        return;
      }
    } else if (f < result.Filters.size()) {
      result.Filters[f] = kind;
    }
  }
  if (this->FilterCount > result.Filters.size()) {
    BecomeLibrary(result, fmt::format("{} filters", this->FilterCount));
  }
}

void DatasetMessages::FinishFill()
{
  Dataset& result = this->Result;
  if (this->FillBytes == 0 || this->FillBytes > this->FillStored.size()) {
    return;  // for example the fill value of a text
  }
  Require(this->FillBytes == result.ElementBytes, "a fill value of another size");
  if (result.BigEndian == HostIsLittleEndian()) {
    std::reverse(this->FillStored.begin(), this->FillStored.begin() + this->FillBytes);
  }
  std::memcpy(&result.Fill, this->FillStored.data(), this->FillBytes);
}

}  // namespace patchio::hdf5
