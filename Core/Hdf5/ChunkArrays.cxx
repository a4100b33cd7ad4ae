#include "Hdf5/ChunkArrays.h"

#include <algorithm>

namespace patchio::hdf5 {
namespace {

constexpr std::uint64_t HeadBytes = 14;  ///< of blocks: signature, version, client, address of the header

void RequireOfArray(bool holds)
{
  if (!holds) {
    throw Corrupt("a damaged array of chunks");
  }
}

/// Bits of a bitmap, the first one the highest of the first byte.
bool IsSet(const std::byte* bitmap, std::uint64_t bit)
{
  return (std::to_integer<unsigned>(bitmap[bit / 8]) >> (7 - bit % 8) & 1) != 0;
}

/// Bytes of as many bits.
std::uint64_t BitmapBytes(std::uint64_t bits)
{
  return (bits + 7) / 8;
}

void CheckHead(const std::byte* head, const char* signature, bool filtered)
{
  RequireOfArray(Begins(head, signature) && head[4] == std::byte{0} &&
                 Load<std::uint8_t>(head + 5) == (filtered ? 1 : 0));
}

}  // namespace

const std::byte* ArrayPiece::Read(std::uint64_t address, std::uint64_t bytes, const char* signature)
{
  if (this->Address != address || this->Bytes.size() != bytes) {
    this->Address = NoAddress;  // in case of an exception
    RequireOfArray(bytes <= this->Source.EndAddress());
    this->Bytes.resize(bytes);
    this->Source.ReadChecked(address, this->Bytes.data(), bytes);
    RequireOfArray(!signature || Begins(this->Bytes.data(), signature));
    this->Address = address;
  }
  return this->Bytes.data();
}

FixedArray::FixedArray(FileBytes& bytes, std::uint64_t address, bool filtered) : Block(bytes), Page(bytes)
{
  std::byte head[28];
  bytes.ReadChecked(address, head, sizeof(head));
  CheckHead(head, "FAHD", filtered);
  this->BytesOfElement = Load<std::uint8_t>(head + 6);
  const unsigned pageBits = Load<std::uint8_t>(head + 7);
  this->Elements = Load<std::uint64_t>(head + 8);
  this->Address = Load<std::uint64_t>(head + 16);
  RequireOfArray(pageBits < 32 && this->Elements <= std::uint64_t(1) << 48 && this->BytesOfElement > 0);
  this->PageElements = std::uint64_t(1) << pageBits;
}

const std::byte* FixedArray::At(std::uint64_t index)
{
  RequireOfArray(index < this->Elements);
  if (this->Address == NoAddress) {
    return nullptr;
  }
  if (this->Elements <= this->PageElements) {
    const std::uint64_t bytes = HeadBytes + this->Elements * this->BytesOfElement + ChecksumBytes;
    return this->Block.Read(this->Address, bytes, "FADB") + HeadBytes + index * this->BytesOfElement;
  }
  const std::uint64_t pages = (this->Elements - 1) / this->PageElements + 1;
  const std::uint64_t page = index / this->PageElements;
  const std::uint64_t blockBytes = HeadBytes + BitmapBytes(pages) + ChecksumBytes;
  if (!IsSet(this->Block.Read(this->Address, blockBytes, "FADB") + HeadBytes, page)) {
    return nullptr;
  }
  const std::uint64_t before = page * (this->PageElements * this->BytesOfElement + ChecksumBytes);
  const std::uint64_t elements = std::min(this->PageElements, this->Elements - page * this->PageElements);
  return this->Page.Read(
             this->Address + blockBytes + before, elements * this->BytesOfElement + ChecksumBytes, nullptr) +
         index % this->PageElements * this->BytesOfElement;
}

ExtensibleArray::ExtensibleArray(FileBytes& bytes, std::uint64_t address, bool filtered)
    : Index(bytes), Super(bytes), Block(bytes)
{
  std::byte head[72];
  bytes.ReadChecked(address, head, sizeof(head));
  CheckHead(head, "EAHD", filtered);
  this->BytesOfElement = Load<std::uint8_t>(head + 6);
  const unsigned elementBits = Load<std::uint8_t>(head + 7), pageBits = Load<std::uint8_t>(head + 11);
  this->FirstElements = Load<std::uint8_t>(head + 8);
  this->LeastElements = Load<std::uint8_t>(head + 9);
  const unsigned leastBlocks = Load<std::uint8_t>(head + 10);
  this->ElementsSet = Load<std::uint64_t>(head + 44);
  this->Address = Load<std::uint64_t>(head + 60);
  RequireOfArray(this->BytesOfElement > 0 && elementBits <= 48 && pageBits < 32 &&
                 IsPowerOfTwo(this->LeastElements) && IsPowerOfTwo(leastBlocks) &&
                 elementBits >= Log2(this->LeastElements));
  this->OffsetBytes = (elementBits + 7) / 8;
  this->PageElements = std::uint64_t(1) << pageBits;
  this->SuperBlocks = 1 + elementBits - Log2(this->LeastElements);
  this->SuperBlocksInIndex = 2 * Log2(leastBlocks);
  this->BlocksInIndex = 2 * std::uint64_t(leastBlocks - 1);
  RequireOfArray(this->SuperBlocksInIndex <= this->SuperBlocks);
}

ExtensibleArray::SuperBlock ExtensibleArray::SuperBlockOf(unsigned number) const
{
  SuperBlock super;
  super.Blocks = std::uint64_t(1) << number / 2;
  super.BlockElements = this->LeastElements << (number + 1) / 2;
  for (unsigned before = 0; before < number; ++before) {
    super.BlocksBefore += std::uint64_t(1) << before / 2;
  }
  return super;
}

const std::byte* ExtensibleArray::At(std::uint64_t index)
{
  if (this->Address == NoAddress || index >= this->ElementsSet) {
    return nullptr;
  }
  const std::uint64_t blocks = HeadBytes + this->FirstElements * this->BytesOfElement;
  const std::uint64_t supers = blocks + 8 * this->BlocksInIndex;
  const std::uint64_t bytes = supers + 8 * (this->SuperBlocks - this->SuperBlocksInIndex) + ChecksumBytes;
  const std::byte* const indexBlock = this->Index.Read(this->Address, bytes, "EAIB");
  if (index < this->FirstElements) {
    return indexBlock + HeadBytes + index * this->BytesOfElement;
  }
  const std::uint64_t rest = index - this->FirstElements;
  const unsigned number = Log2(rest / this->LeastElements + 1);
  RequireOfArray(number < this->SuperBlocks);
  const SuperBlock super = this->SuperBlockOf(number);
  const std::uint64_t inSuper = rest - this->LeastElements * ((std::uint64_t(1) << number) - 1);
  const std::uint64_t block = inSuper / super.BlockElements, element = inSuper % super.BlockElements;
  if (number >= this->SuperBlocksInIndex) {
    const std::byte* const place = indexBlock + supers + std::size_t(8) * (number - this->SuperBlocksInIndex);
    return this->AtInSuperBlock(Load<std::uint64_t>(place), super, block, element);
  }
  RequireOfArray(
      super.BlockElements <= this->PageElements && super.BlocksBefore + block < this->BlocksInIndex);
  const std::byte* const place = indexBlock + blocks + 8 * (super.BlocksBefore + block);
  return this->AtInBlock(Load<std::uint64_t>(place), super, element);
}

/// Bytes of the head of data blocks and super blocks, which ends with their place in the array.
std::uint64_t ExtensibleArray::BlockHeadBytes() const
{
  return HeadBytes + this->OffsetBytes;
}

const std::byte* ExtensibleArray::AtInSuperBlock(
    std::uint64_t address, const SuperBlock& super, std::uint64_t block, std::uint64_t element)
{
  if (address == NoAddress) {
    return nullptr;
  }
  const bool hasPages = super.BlockElements > this->PageElements;
  const std::uint64_t pages = hasPages ? super.BlockElements / this->PageElements : 0;
  const std::uint64_t bitmaps = super.Blocks * BitmapBytes(pages);
  const std::uint64_t bytes = this->BlockHeadBytes() + bitmaps + 8 * super.Blocks + ChecksumBytes;
  const std::byte* const begin = this->Super.Read(address, bytes, "EASB") + this->BlockHeadBytes();
  const auto blockAddress = Load<std::uint64_t>(begin + bitmaps + 8 * block);
  if (!hasPages || blockAddress == NoAddress) {
    return this->AtInBlock(blockAddress, super, element);
  }
  const std::uint64_t page = element / this->PageElements;
  if (!IsSet(begin, block * pages + page)) {
    return nullptr;
  }
  const std::uint64_t pageBytes = this->PageElements * this->BytesOfElement + ChecksumBytes;
  return this->AtInPage(
      blockAddress + this->BlockHeadBytes() + ChecksumBytes + page * pageBytes, element % this->PageElements);
}

const std::byte* ExtensibleArray::AtInBlock(
    std::uint64_t address, const SuperBlock& super, std::uint64_t element)
{
  if (address == NoAddress) {
    return nullptr;
  }
  const std::uint64_t bytes =
      this->BlockHeadBytes() + super.BlockElements * this->BytesOfElement + ChecksumBytes;
  return this->Block.Read(address, bytes, "EADB") + this->BlockHeadBytes() + element * this->BytesOfElement;
}

const std::byte* ExtensibleArray::AtInPage(std::uint64_t address, std::uint64_t element)
{
  const std::uint64_t bytes = this->PageElements * this->BytesOfElement + ChecksumBytes;
  return this->Block.Read(address, bytes, nullptr) + element * this->BytesOfElement;
}

}  // namespace patchio::hdf5
