#include "Hdf5Index/DatasetMessages.h"

#include "Support/ByteOrder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace patchio::hdf5index {
namespace {

/// The IEEE formats of 4 and 8 bytes, as the properties of a floating-point type tell them.
struct FloatFormat
{
  unsigned Bits, Sign, ExponentAt, ExponentBits, MantissaBits, Bias;
};
constexpr FloatFormat Ieee[] = {{32, 31, 23, 8, 23, 127}, {64, 63, 52, 11, 52, 1023}};

std::uint64_t Product(std::uint64_t a, std::uint64_t b)
{
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) {
    throw Unfamiliar("a size beyond 64 bits");
  }
  return a * b;
}

}  // namespace

void DatasetMessages::Take(const Message& message)
{
  if (message.Shared && message.Type != MessageType::Datatype) {
    throw Unfamiliar("a shared message");
  }
  // Where a header has a message twice, the first counts.
  switch (message.Type) {
    case MessageType::Dataspace:
      if (!this->HasSpace) {
        this->TakeSpace(message);
      }
      break;
    case MessageType::Datatype:
      if (!this->HasType) {
        this->TakeType(message);
      }
      break;
    case MessageType::Layout:
      if (!this->HasLayout) {
        this->TakeLayout(message);
      }
      break;
    case MessageType::Fill:
      this->TakeFill(message);
      break;
    case MessageType::OldFill:
      this->TakeOldFill(message);
      break;
    case MessageType::Filters:
      if (!this->HasFilters) {
        this->TakeFilters(message);
      }
      break;
    case MessageType::ExternalFiles:
      throw Unfamiliar("values in other files");
    default:
      break;
  }
}

void DatasetMessages::TakeSpace(const Message& message)
{
  const unsigned version = message.At<std::uint8_t>(0);
  this->Rank = message.At<std::uint8_t>(1);
  constexpr unsigned scalar = 0, simple = 1;
  const bool known =
      version == 1 || (version == 2 && message.At<std::uint8_t>(3) == (this->Rank == 0 ? scalar : simple));
  if (!known || this->Rank > MostDims) {
    throw Unfamiliar("a dataspace of another kind");
  }
  const std::size_t dims = version == 1 ? 8 : 4;
  const bool hasMost = (message.At<std::uint8_t>(2) & 1) != 0;
  std::uint64_t values = 1;
  for (unsigned d = 0; d < this->Rank; ++d) {
    const auto length = message.At<std::uint64_t>(dims + 8 * d);
    values = Product(values, length);
    if (d < ChunkedArray::MaximumRank) {
      this->Result.Dims[d] = length;
      this->Result.MostDims[d] =
          hasMost ? message.At<std::uint64_t>(dims + 8 * (std::size_t(this->Rank) + d)) : length;
    }
  }
  this->Result.Values = values;
  this->HasSpace = true;
}

void DatasetMessages::TakeType(const Message& message)
{
  const unsigned versionAndClass = message.At<std::uint8_t>(0);
  const unsigned version = versionAndClass >> 4;
  this->Result.ElementBytes = message.At<std::uint32_t>(4);
  if (version < 1 || version > 5) {
    throw Unfamiliar(fmt::format("a datatype of version {}", version));
  }
  switch (versionAndClass & 0xf) {
    case 0:
      this->TakeInteger(message);
      break;
    case 1:
      this->TakeFloat(message);
      break;
    default:
      throw Unfamiliar("elements that are not plain numbers");
  }
  this->HasType = true;
}

void DatasetMessages::TakeInteger(const Message& message)
{
  const std::uint64_t bits = std::uint64_t(this->Result.ElementBytes) * 8;
  if (bits == 0 || bits > 64 || message.At<std::uint16_t>(8) != 0 || message.At<std::uint16_t>(10) != bits) {
    throw Unfamiliar("integers with unusual bits");
  }
  this->Result.Class = NumberClass::Integer;
  this->Result.BigEndian = message.At<std::uint8_t>(1) & 1;
  this->Result.Signed = message.At<std::uint8_t>(1) & 8;
}

void DatasetMessages::TakeFloat(const Message& message)
{
  const unsigned flags = message.At<std::uint8_t>(1);
  const auto isThis = [&](const FloatFormat& format) {
    constexpr unsigned impliedBit = 2;
    return this->Result.ElementBytes * 8 == format.Bits && (flags & 0x40) == 0 &&
           ((flags >> 4) & 3) == impliedBit && message.At<std::uint8_t>(2) == format.Sign &&
           message.At<std::uint16_t>(8) == 0 && message.At<std::uint16_t>(10) == format.Bits &&
           message.At<std::uint8_t>(12) == format.ExponentAt &&
           message.At<std::uint8_t>(13) == format.ExponentBits && message.At<std::uint8_t>(14) == 0 &&
           message.At<std::uint8_t>(15) == format.MantissaBits &&
           message.At<std::uint32_t>(16) == format.Bias;
  };
  if (!std::any_of(std::begin(Ieee), std::end(Ieee), isThis)) {
    throw Unfamiliar("floating-point numbers in an unusual format");
  }
  this->Result.Class = NumberClass::Float;
  this->Result.BigEndian = flags & 1;
}

void DatasetMessages::TakeLayout(const Message& message)
{
  constexpr unsigned chunked = 2, virtualDataset = 3;
  const unsigned version = message.At<std::uint8_t>(0);
  if (version < 3 || version > 5) {  // 5 has chunks of more than 4 GiB, and else what 4 has
    throw Unfamiliar(fmt::format("a data layout of version {}", version));
  }
  const unsigned kind = message.At<std::uint8_t>(1);
  if (kind == virtualDataset) {
    throw Unfamiliar("a virtual data set");
  }
  if (kind != chunked) {
    this->TakePlainLayout(message, kind);
  } else {
    this->Result.Layout = StorageLayout::Chunked;
    version == 3 ? this->TakeChunks3(message) : this->TakeChunks4(message);
  }
  this->HasLayout = true;
}

/// Values in one piece: in the message itself, or elsewhere in the file.
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
    throw Unfamiliar(fmt::format("data layout {}", kind));
  }
}

namespace {

/// Returns the number of axes of chunks. dims: counts the bytes of an element as one.
unsigned CheckedChunkRank(unsigned dims)
{
  if (dims < 2 || dims > ChunkedArray::MaximumRank + 1) {
    throw Unfamiliar(fmt::format("chunks of {} axes", dims == 0 ? 0 : dims - 1));
  }
  return dims - 1;
}

}  // namespace

void DatasetMessages::TakeChunks3(const Message& message)
{
  this->ChunkRank = CheckedChunkRank(message.At<std::uint8_t>(2));
  this->Result.ChunkAddress = message.At<std::uint64_t>(3);
  for (unsigned d = 0; d < this->ChunkRank; ++d) {
    this->ChunkDims[d] = message.At<std::uint32_t>(11 + 4 * d);
  }
  this->ChunkElementBytes = message.At<std::uint32_t>(11 + 4 * this->ChunkRank);
}

/// Flags, axes with the element, bytes of each length, lengths, kind of list, what is to be known of it, and
/// its address.
void DatasetMessages::TakeChunks4(const Message& message)
{
  constexpr unsigned skipsPartial = 1, singleHasFilters = 2;
  // By the numbers of the kinds, from 1: what is to be known of lists stands in their headers, too.
  constexpr ChunkIndex kinds[] = {ChunkIndex::Single, ChunkIndex::Implicit, ChunkIndex::FixedArray,
      ChunkIndex::ExtensibleArray, ChunkIndex::Tree2};
  constexpr std::size_t bytesOfKinds[] = {0, 0, 1, 5, 6};
  const unsigned flags = message.At<std::uint8_t>(2);
  this->ChunkRank = CheckedChunkRank(message.At<std::uint8_t>(3));
  const std::size_t lengthBytes = message.At<std::uint8_t>(4);
  if (lengthBytes < 1 || lengthBytes > 8 || (flags & skipsPartial) != 0) {
    throw Unfamiliar(
        (flags & skipsPartial) != 0 ? "filters that skip partial chunks" : "chunks without a size");
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
    throw Unfamiliar(fmt::format("a list of chunks of kind {}", kind));
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
  this->HasFill = true;  // and the old message does not count
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
    throw Unfamiliar(fmt::format("a fill value of version {}", version));
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
  if (bytes > this->FillStored.size()) {
    throw Unfamiliar("a fill value that is too large");
  }
  message.Need(place, bytes);
  std::memcpy(this->FillStored.data(), message.Data + place, bytes);
  this->FillBytes = bytes;
}

void DatasetMessages::TakeFilters(const Message& message)
{
  const unsigned version = message.At<std::uint8_t>(0);
  const unsigned count = message.At<std::uint8_t>(1);
  if (version < 1 || version > 2) {
    throw Unfamiliar(fmt::format("filters of version {}", version));
  }
  if (count > ChunkedArray::MaximumFilters) {
    throw Unfamiliar(fmt::format("{} filters", count));
  }
  constexpr unsigned firstNamed = 256;  // others have no name, and no length of it, in version 2
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
  if (!this->HasSpace || !this->HasType || !this->HasLayout) {
    throw Unfamiliar("an object that is not a data set");
  }
  if (this->Result.Layout == StorageLayout::Chunked) {
    this->FinishChunked();
  } else if (this->Result.Offset == NoAddress) {
    throw Unfamiliar("values that are not written yet");
  } else if (this->ContiguousBytes != Product(this->Result.Values, this->Result.ElementBytes)) {
    throw Unfamiliar("values of two different sizes");
  }
  return this->Result;
}

void DatasetMessages::FinishChunked()
{
  Dataset& result = this->Result;
  if (this->ChunkRank != this->Rank || this->ChunkElementBytes != result.ElementBytes) {
    throw Unfamiliar("chunks that do not match their array");
  }
  result.Rank = static_cast<std::uint8_t>(this->Rank);
  std::uint64_t chunkBytes = result.ElementBytes;
  for (unsigned d = 0; d < this->Rank; ++d) {
    result.ChunkDims[d] = this->ChunkDims[d];
    chunkBytes = Product(chunkBytes, this->ChunkDims[d]);
  }
  if (chunkBytes == 0 || chunkBytes > std::numeric_limits<std::uint32_t>::max()) {
    throw Unfamiliar("chunks without a size");
  }
  for (unsigned f = 0; f < this->FilterCount; ++f) {
    result.Filters[f] = KindOfFilter(this->FilterIds[f], this->FilterParameters[f], result.ElementBytes);
    if (result.Filters[f] == FilterKind::None) {
      throw Unfamiliar(FilterName(this->FilterIds[f]));
    }
  }
  if (this->FillBytes != 0) {
    if (this->FillBytes != result.ElementBytes) {
      throw Unfamiliar("a fill value of another size");
    }
    if (result.BigEndian == HostIsLittleEndian()) {
      std::reverse(this->FillStored.begin(), this->FillStored.begin() + this->FillBytes);
    }
    std::memcpy(&result.Fill, this->FillStored.data(), this->FillBytes);
  }
}

}  // namespace patchio::hdf5index
