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

/// Returns the ElementType with this class, sign and size in bytes, or nothing if there is no such
/// ElementType.
std::optional<ElementType> ElementTypeOf(TypeClass typeClass, bool isSigned, std::uint32_t bytes)
{
  struct KnownType
  {
    TypeClass Class;
    bool Signed;
    std::uint32_t Bytes;
    ElementType Type;
  };
  constexpr KnownType types[] = {{TypeClass::Float, true, 4, ElementType::Float32},
      {TypeClass::Float, true, 8, ElementType::Float64}, {TypeClass::Integer, true, 1, ElementType::Int8},
      {TypeClass::Integer, true, 2, ElementType::Int16}, {TypeClass::Integer, true, 4, ElementType::Int32},
      {TypeClass::Integer, true, 8, ElementType::Int64}, {TypeClass::Integer, false, 1, ElementType::UInt8},
      {TypeClass::Integer, false, 2, ElementType::UInt16},
      {TypeClass::Integer, false, 4, ElementType::UInt32},
      {TypeClass::Integer, false, 8, ElementType::UInt64}};
  for (const KnownType& known : types) {
    if (known.Class == typeClass && known.Bytes == bytes &&
        (known.Signed == isSigned || typeClass == TypeClass::Float)) {
      return known.Type;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ElementType> ElementTypeOf(const Dataset& dataset)
{
  return ElementTypeOf(dataset.Class, dataset.Signed, dataset.ElementBytes);
}

std::optional<ElementType> ElementTypeOf(const Datatype& type)
{
  return ElementTypeOf(type.Class, type.Signed, type.Bytes);
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
    case TypeClass::VariableLength:
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

ChunkedArray MakeChunkedArray(const Dataset& dataset, ElementType type, int file)
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

std::uint64_t CountChunks(const Dataset& dataset)
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
  const std::uint64_t count = CountChunks(dataset);
  for (std::uint64_t i = 0; i < count; ++i) {
    chunks[i] = Chunk{0, i, 0, 0};
  }
}

FilterType FilterFromNumber(int filter, std::uint64_t shuffledBytes, std::uint64_t elementBytes)
{
  switch (filter) {
    case 1:
      return FilterType::Deflate;
    case 2:
      return shuffledBytes == elementBytes ? FilterType::Shuffle : FilterType::None;
    case 3:
      return FilterType::Fletcher32;
    case 32015:
      return FilterType::Zstd;
    default:
      return FilterType::None;
  }
}

std::string FilterName(int filter)
{
  struct KnownFilter
  {
    int Number;
    const char* Name;
  };
  // The filters of HDF5, and the most common filters in The HDF Group's registry.
  constexpr KnownFilter names[] = {{2, "shuffle of other sizes"}, {4, "szip"}, {5, "nbit"},
      {6, "scaleoffset"}, {307, "bzip2"}, {32000, "lzf"}, {32001, "blosc"}, {32004, "lz4"},
      {32008, "bitshuffle"}, {32013, "zfp"}, {32017, "sz"}, {32026, "blosc2"}};
  for (const KnownFilter& known : names) {
    if (known.Number == filter) {
      return fmt::format("filter {} ({})", filter, known.Name);
    }
  }
  return fmt::format("filter {}", filter);
}

Error UnsupportedError(
    const std::string& file, const std::string& feature, const std::string& object, const std::string& advice)
{
  return Error(fmt::format("{}: not supported: {} in '{}'.{}", file, feature, PlainText(object),
      advice.empty() ? std::string() : " " + advice + "."));
}

void CheckReadable(const Dataset& info, const std::string& name, const std::string& file)
{
  if (info.Layout == StorageLayout::Unsupported || info.Layout == StorageLayout::Virtual) {
    throw UnsupportedError(file, info.Reason, name);
  }
  if (info.Layout == StorageLayout::NotWritten) {
    throw FileError(file, fmt::format("values in '{}'", PlainText(name)), info.Reason,
        "The run may still be writing this file");
  }
}

void SetLibraryLayout(Dataset& dataset, const std::string& reason)
{
  dataset.Layout = LibraryIsAllowed() ? StorageLayout::Library : StorageLayout::Unsupported;
  dataset.Reason = reason;
}

Dataspace ParseDataspace(Cursor& message)
{
  constexpr unsigned scalar = 0, simple = 1, null = 2, hasMaximum = 1;
  const unsigned version = message.Read<std::uint8_t>();
  Dataspace space;
  space.Rank = message.Read<std::uint8_t>();
  const unsigned flags = message.Read<std::uint8_t>();
  unsigned type = message.Read<std::uint8_t>();  // in version 1 a reserved byte
  if (version == 1) {
    type = space.Rank == 0 ? scalar : simple;
    message.Skip(4);
  }
  if (version < 1 || version > 2) {
    throw Unsupported(fmt::format("dataspace of version {}", version));
  }
  Require(
      space.Rank <= MostAxes && type <= null && (type == simple || space.Rank == 0), "an impossible shape");
  for (unsigned d = 0; d < space.Rank; ++d) {
    space.Dims[d] = space.MaximumDims[d] = message.Read<std::uint64_t>();
    space.Values = CheckedProduct(space.Values, space.Dims[d]);
  }
  for (unsigned d = 0; d < space.Rank && (flags & hasMaximum) != 0; ++d) {
    space.MaximumDims[d] = message.Read<std::uint64_t>();
  }
  space.Values = type == null ? 0 : space.Values;
  return space;
}

void DatasetMessages::Add(const Message& message)
{
  // If a header contains a dataspace, datatype, layout or filter message twice, the first message counts.
  switch (message.Type) {
    case MessageType::Dataspace:
      this->RequireUnshared(message);
      if (!this->HasSpace) {
        this->ParseSpace(message);
      }
      break;
    case MessageType::Datatype:
      this->RequireUnshared(message);
      if (!this->HasType) {
        this->ParseType(message);
      }
      break;
    case MessageType::Layout:
      this->RequireUnshared(message);
      if (!this->HasLayout) {
        this->ParseLayout(message);
      }
      break;
    case MessageType::Fill:
      this->RequireUnshared(message);
      this->ParseFill(message);
      break;
    case MessageType::OldFill:
      this->RequireUnshared(message);
      this->ParseOldFill(message);
      break;
    case MessageType::Filters:
      this->RequireUnshared(message);
      if (!this->HasFilters) {
        this->ParseFilters(message);
      }
      break;
    case MessageType::ExternalFiles:
      this->HasExternalFiles = true;
      break;
    default:
      break;
  }
}

/// Throws Unsupported if the header has only a reference to the message, which is in another object.
void DatasetMessages::RequireUnshared(const Message& message)
{
  if (message.Shared) {
    throw Unsupported("shared message");
  }
}

void DatasetMessages::ParseSpace(const Message& message)
{
  Cursor cursor(message.Data, message.Bytes);
  const Dataspace space = ParseDataspace(cursor);
  const unsigned kept = std::min<unsigned>(space.Rank, ChunkedArray::MaximumRank);
  std::copy_n(space.Dims.begin(), kept, this->Result.Dims.begin());
  std::copy_n(space.MaximumDims.begin(), kept, this->Result.MaximumDims.begin());
  this->Result.Rank = static_cast<std::uint8_t>(space.Rank);
  this->Result.Values = space.Values;
  this->HasSpace = true;
}

void DatasetMessages::ParseType(const Message& message)
{
  Cursor cursor(message.Data, message.Bytes);
  const Datatype type = ParseDatatype(cursor);
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
    return this->ParseOldLayout(message);
  }
  const unsigned layoutClass = message.At<std::uint8_t>(1);
  if (version > 3 && layoutClass == virtualDataset) {
    this->Result.Layout = StorageLayout::Virtual;
    this->Result.Reason = "virtual data set";
    this->Result.MappingHeap = message.At<std::uint64_t>(2);
    this->Result.MappingNumber = message.At<std::uint32_t>(10);
    return;
  }
  if (layoutClass != chunked) {
    this->ParsePlainLayout(message, layoutClass);
  } else {
    this->Result.Layout = StorageLayout::Chunked;
    version == 3 ? this->ParseChunks3(message, 2, 3) : this->ParseChunks4(message);
  }
}

/// Parses a data layout of version 1 or 2: number of axes, layout class, address (unless the values follow in
/// the message), lengths of the axes.
void DatasetMessages::ParseOldLayout(const Message& message)
{
  constexpr unsigned compact = 0, contiguous = 1, chunked = 2;
  const unsigned axes = message.At<std::uint8_t>(1), layoutClass = message.At<std::uint8_t>(2);
  constexpr std::size_t head = 8;
  if (layoutClass == chunked) {
    this->Result.Layout = StorageLayout::Chunked;
    return this->ParseChunks3(message, 1, head);
  }
  Require(layoutClass == compact || layoutClass == contiguous, "an unknown data layout");
  this->Result.Layout = StorageLayout::Contiguous;
  if (layoutClass == contiguous) {
    this->Result.Offset = message.At<std::uint64_t>(head);
    this->ContiguousBytes = NoAddress;  // not stated; the data set determines the size
    return;
  }
  const std::size_t offset = head + 4 * std::size_t(axes);
  this->ContiguousBytes = message.At<std::uint32_t>(offset);
  message.RequireBytes(offset + 4, this->ContiguousBytes);
  this->Result.Offset = message.Address + offset + 4;
}

/// Parses a layout without chunks: the values lie in the message itself (compact) or in one range of the file
/// (contiguous). `layoutClass`: class that the message states.
void DatasetMessages::ParsePlainLayout(const Message& message, unsigned layoutClass)
{
  constexpr unsigned compact = 0, contiguous = 1;
  this->Result.Layout = StorageLayout::Contiguous;
  if (layoutClass == compact) {
    this->ContiguousBytes = message.At<std::uint16_t>(2);
    message.RequireBytes(4, this->ContiguousBytes);
    this->Result.Offset = message.Address + 4;
  } else if (layoutClass == contiguous) {
    this->Result.Offset = message.At<std::uint64_t>(2);
    this->ContiguousBytes = message.At<std::uint64_t>(10);
  } else {
    throw Unsupported(fmt::format("data layout of class {}", layoutClass));
  }
}

/// Sets ChunkRank. `axes`: number of axes, plus 1 for the bytes of an element. Returns false if there are
/// more axes than PatchIO decodes. Throws Corrupt for an impossible number.
bool DatasetMessages::SetChunkRank(unsigned axes)
{
  Require(axes >= 2 && axes <= MostAxes + 1, "chunks with an impossible number of axes");
  this->ChunkRank = axes - 1;
  return this->ChunkRank <= ChunkedArray::MaximumRank;
}

/// Parses the chunks of a layout of version 1 to 3: the number of axes at byte `rankOffset` of the message,
/// and, from byte `offset` on, the address of the tree and the lengths of the axes.
void DatasetMessages::ParseChunks3(const Message& message, std::size_t rankOffset, std::size_t offset)
{
  this->Result.ChunkAddress = message.At<std::uint64_t>(offset);
  if (this->SetChunkRank(message.At<std::uint8_t>(rankOffset))) {
    for (unsigned d = 0; d < this->ChunkRank; ++d) {
      this->Result.ChunkDims[d] = message.At<std::uint32_t>(offset + 8 + 4 * d);
    }
  }
  this->ChunkElementBytes = message.At<std::uint32_t>(offset + 8 + 4 * std::size_t(this->ChunkRank));
}

/// Parses the chunks of a layout of version 4 or 5: flags, number of axes (plus 1 for the element), size of a
/// length, lengths, type of the index, parameters of the index, and address of the index.
void DatasetMessages::ParseChunks4(const Message& message)
{
  constexpr unsigned skipsPartial = 1, singleHasFilters = 2;
  // Both arrays have an entry for each number of an index type, from 1 on. The parameters are skipped,
  // because the header of the index repeats the parameters.
  constexpr ChunkIndex types[] = {ChunkIndex::Single, ChunkIndex::Implicit, ChunkIndex::FixedArray,
      ChunkIndex::ExtensibleArray, ChunkIndex::Tree2};
  constexpr std::size_t parameterBytes[] = {0, 0, 1, 5, 6};
  const unsigned flags = message.At<std::uint8_t>(2);
  const std::size_t lengthBytes = message.At<std::uint8_t>(4);
  this->SkipsPartial = (flags & skipsPartial) != 0;
  Require(lengthBytes >= 1 && lengthBytes <= 8, "chunks with lengths of an impossible size");
  if (!this->SetChunkRank(message.At<std::uint8_t>(3))) {
    this->ChunkElementBytes = this->Result.ElementBytes;
    return;
  }
  std::size_t offset = 5;
  message.RequireBytes(offset, lengthBytes * (this->ChunkRank + 1));
  for (unsigned d = 0; d < this->ChunkRank; ++d, offset += lengthBytes) {
    this->Result.ChunkDims[d] = LoadBytes(message.Data + offset, lengthBytes);
  }
  this->ChunkElementBytes = LoadBytes(message.Data + offset, lengthBytes);
  offset += lengthBytes;
  const unsigned type = message.At<std::uint8_t>(offset++);
  if (type < 1 || type > std::size(types)) {
    throw Unsupported(fmt::format("chunk index of type {}", type));
  }
  this->Result.Index = types[type - 1];
  if (this->Result.Index == ChunkIndex::Single && (flags & singleHasFilters) != 0) {
    this->Result.SingleBytes = message.At<std::uint64_t>(offset);
    this->Result.SingleSkippedFilters = message.At<std::uint32_t>(offset + 8);
    offset += 12;
  }
  this->Result.ChunkAddress = message.At<std::uint64_t>(offset + parameterBytes[type - 1]);
}

void DatasetMessages::ParseFill(const Message& message)
{
  const unsigned version = message.At<std::uint8_t>(0);
  this->HasFill = true;  // ParseOldFill() then ignores its message
  this->FillBytes = 0;
  if (version == 1 || version == 2) {
    if (version == 1 || message.At<std::uint8_t>(3) != 0) {
      this->SetFill(message, 8, message.At<std::uint32_t>(4));
    }
  } else if (version == 3) {
    constexpr unsigned defined = 0x20;
    if (message.At<std::uint8_t>(1) & defined) {
      this->SetFill(message, 6, message.At<std::uint32_t>(2));
    }
  } else {
    throw Unsupported(fmt::format("fill value of version {}", version));
  }
}

void DatasetMessages::ParseOldFill(const Message& message)
{
  if (!this->HasFill) {
    this->SetFill(message, 4, message.At<std::uint32_t>(0));
  }
}

/// Stores the fill value, `bytes` bytes from byte `offset` of the message on. A size of 0 or ~0 means that
/// there is no fill value.
void DatasetMessages::SetFill(const Message& message, std::size_t offset, std::uint64_t bytes)
{
  constexpr std::uint32_t undefined = ~std::uint32_t(0);
  if (bytes == 0 || bytes == undefined) {
    this->FillBytes = 0;
    return;
  }
  message.RequireBytes(offset, bytes);
  std::memcpy(this->StoredFill.data(), message.Data + offset, std::min(bytes, this->StoredFill.size()));
  this->FillBytes = bytes;
}

void DatasetMessages::ParseFilters(const Message& message)
{
  const unsigned version = message.At<std::uint8_t>(0);
  const unsigned count = message.At<std::uint8_t>(1);
  if (version < 1 || version > 2) {
    throw Unsupported(fmt::format("filters of version {}", version));
  }
  Require(count <= this->FilterIds.size(), "too many filters");
  // In version 2, filters with lower numbers have no name and no length of a name.
  constexpr unsigned firstNamed = 256;
  std::size_t offset = version == 1 ? 8 : 2;
  for (unsigned f = 0; f < count; ++f) {
    const unsigned id = message.At<std::uint16_t>(offset);
    const bool hasName = version == 1 || id >= firstNamed;
    const std::size_t nameBytes = hasName ? message.At<std::uint16_t>(offset + 2) : 0;
    offset += hasName ? 6 : 4;
    const unsigned parameters = message.At<std::uint16_t>(offset);
    offset += 2 + (version == 1 ? RoundUp(nameBytes, 8) : nameBytes);
    this->FilterIds[f] = static_cast<int>(id);
    this->FilterParameters[f] = parameters == 0 ? 0 : message.At<std::uint32_t>(offset);
    offset += 4 * std::size_t(parameters + (version == 1 ? parameters % 2 : 0));
    message.RequireBytes(0, offset);
  }
  this->FilterCount = count;
  this->HasFilters = true;
}

const Dataset& DatasetMessages::Finish()
{
  Dataset& result = this->Result;
  Require(this->HasSpace && this->HasType && this->HasLayout, "an object that is not a data set");
  if (this->HasExternalFiles) {
    result.Layout = StorageLayout::Unsupported;
    result.Reason = "values in external files";
    result.ChunkDims = {};  // not compared with the number of axes
  } else if (result.Layout == StorageLayout::Virtual) {
    this->FinishFill();
    return result;
  } else if (result.Layout == StorageLayout::Chunked) {
    this->FinishChunked();
  } else if (result.Values == 0) {
    result.Offset = 0;  // HDF5 stores no address
  } else if (result.Offset == NoAddress) {
    result.Layout = StorageLayout::NotWritten;
    result.Reason = "no values written yet";
  } else {
    Require(this->ContiguousBytes >= CheckedProduct(result.Values, result.ElementBytes),
        "fewer values than stated");
  }
  const bool isNumber = result.Class == TypeClass::Float || result.Class == TypeClass::Integer;
  const bool isDecoded =
      result.Layout == StorageLayout::Contiguous || result.Layout == StorageLayout::Chunked;
  if (isDecoded && isNumber && !result.IsPlain) {
    SetLibraryLayout(result, "numbers in an unusual format");
  }
  return result;
}

void DatasetMessages::FinishChunked()
{
  Dataset& result = this->Result;
  Require(this->ChunkRank == result.Rank, "chunks that do not match their array");
  if (this->ChunkRank > ChunkedArray::MaximumRank) {
    return SetLibraryLayout(result, fmt::format("chunks of {} axes", this->ChunkRank));
  }
  Require(this->ChunkElementBytes == result.ElementBytes, "chunks that do not match their array");
  std::uint64_t chunkBytes = result.ElementBytes;
  for (unsigned d = 0; d < this->ChunkRank; ++d) {
    chunkBytes = CheckedProduct(chunkBytes, result.ChunkDims[d]);
  }
  Require(chunkBytes > 0, "chunks without a size");
  this->FinishFill();
  if (chunkBytes > std::numeric_limits<std::uint32_t>::max()) {
    SetLibraryLayout(result, "chunks of more than 4 GiB");
  } else if (this->FilterCount > 0 && this->SkipsPartial) {
    SetLibraryLayout(result, "filters that skip partial chunks");
  }
  this->FinishFilters();
}

void DatasetMessages::FinishFilters()
{
  Dataset& result = this->Result;
  for (unsigned f = 0; f < this->FilterCount; ++f) {
    const FilterType kind =
        FilterFromNumber(this->FilterIds[f], this->FilterParameters[f], result.ElementBytes);
    if (kind == FilterType::None) {
      SetLibraryLayout(result, FilterName(this->FilterIds[f]));
      if (!LibraryHasFilter(this->FilterIds[f])) {
        result.Layout = StorageLayout::Unsupported;
        return;
      }
    } else if (f < result.Filters.size()) {
      result.Filters[f] = kind;
    }
  }
  if (this->FilterCount > result.Filters.size()) {
    SetLibraryLayout(result, fmt::format("{} filters", this->FilterCount));
  }
}

void DatasetMessages::FinishFill()
{
  Dataset& result = this->Result;
  if (this->FillBytes == 0 || this->FillBytes > this->StoredFill.size()) {
    return;  // no fill value, or one that is too large for a number
  }
  Require(this->FillBytes == result.ElementBytes, "a fill value of another size");
  if (result.BigEndian == HostIsLittleEndian()) {
    std::reverse(this->StoredFill.begin(), this->StoredFill.begin() + this->FillBytes);
  }
  std::memcpy(&result.Fill, this->StoredFill.data(), this->FillBytes);
}

}  // namespace patchio::hdf5
