// The list of the chunks of a data set, read from any of the six types of index in HDF5 files.
#include "Hdf5/Structure.h"

#include "Hdf5/FileBytes.h"
#include "Hdf5/Trees.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace patchio::hdf5 {
namespace {

/// A block or page of an array in the file, kept in memory. Read() reads the file only if `address` or
/// `bytes` differ from the preceding call.
class CachedBlock
{
public:
  explicit CachedBlock(FileBytes& bytes) : Source(bytes) {}
  /// Returns the block of `bytes` bytes at `address`, valid until the next call. The last 4 bytes of the
  /// block are its checksum. `signature`: first 4 bytes of the block; null if the block has no signature.
  const std::byte* Read(std::uint64_t address, std::uint64_t bytes, const char* signature);

private:
  FileBytes& Source;
  std::uint64_t Address = NoAddress;
  std::vector<std::byte> Bytes;
};

/// A chunk index of type ChunkIndex::FixedArray. Not thread-safe. All methods throw Corrupt for damaged
/// files, and Error if the storage fails.
class FixedArray
{
public:
  /// Reads the header of the array at `address`. `filtered`: true if the chunks have filters; then elements
  /// also have sizes and filter masks.
  FixedArray(FileBytes& bytes, std::uint64_t address, bool filtered);
  std::size_t ElementBytes() const { return this->BytesOfElement; }
  /// Returns the element with the index `index`, valid until the next call, or null if the file does not have
  /// the block or page of the element.
  const std::byte* At(std::uint64_t index);

private:
  std::size_t BytesOfElement = 0;
  std::uint64_t Elements = 0, PageElements = 0;
  std::uint64_t Address = NoAddress;  ///< address of the block
  CachedBlock Block, Page;
};

/// A chunk index of type ChunkIndex::ExtensibleArray. Not thread-safe. All methods throw Corrupt for damaged
/// files, and Error if the storage fails.
class ExtensibleArray
{
public:
  /// Reads the header of the array at `address`. `filtered`: true if the chunks have filters; then elements
  /// also have sizes and filter masks.
  ExtensibleArray(FileBytes& bytes, std::uint64_t address, bool filtered);
  std::size_t ElementBytes() const { return this->BytesOfElement; }
  /// Returns the element with the index `index`, valid until the next call, or null if the element was
  /// never set, or if the file does not have the block or page of the element.
  const std::byte* At(std::uint64_t index);

private:
  /// A super block: a group of data blocks of equal size. Each super block has twice as many elements as the
  /// super block before.
  struct SuperBlock
  {
    std::uint64_t Blocks = 0;         ///< number of data blocks
    std::uint64_t BlockElements = 0;  ///< elements of each data block
    std::uint64_t BlocksBefore = 0;   ///< number of data blocks of all super blocks before
  };
  SuperBlock MakeSuperBlock(unsigned number) const;
  const std::byte* ElementInSuperBlock(
      std::uint64_t address, const SuperBlock& superBlock, std::uint64_t block, std::uint64_t element);
  const std::byte* ElementInBlock(std::uint64_t address, const SuperBlock& superBlock, std::uint64_t element);
  const std::byte* ElementInPage(std::uint64_t address, std::uint64_t element);
  std::uint64_t BlockHeadBytes() const;

  std::size_t BytesOfElement = 0, OffsetBytes = 0;
  std::uint64_t FirstElements = 0;  ///< number of elements in the index block
  std::uint64_t LeastElements = 0;  ///< number of elements in the smallest data block
  std::uint64_t PageElements = 0;
  std::uint64_t ElementsSet = 0;  ///< number of elements up to the last element that was set
  unsigned SuperBlocks = 0, SuperBlocksInIndex = 0;
  std::uint64_t BlocksInIndex = 0;
  std::uint64_t Address = NoAddress;  ///< address of the index block
  CachedBlock IndexCache, SuperCache, BlockCache;
};

/// Size of the head of a block: signature, version, client, address of the header.
constexpr std::uint64_t HeadBytes = 14;

constexpr const char* DamagedArray = "a damaged array of chunks";

/// Returns whether bit `bit` of `bitmap` is 1. Bit 0 is the highest bit of the first byte.
bool IsSet(const std::byte* bitmap, std::uint64_t bit)
{
  return (std::to_integer<unsigned>(bitmap[bit / 8]) >> (7 - bit % 8) & 1) != 0;
}

/// Returns the number of bytes of a bitmap with `bits` bits.
std::uint64_t BitmapBytes(std::uint64_t bits)
{
  return (bits + 7) / 8;
}

/// Checks signature, version and client ID (1 if the chunks have filters) of the header of an array. Throws
/// Corrupt.
void CheckHead(const std::byte* head, const char* signature, bool filtered)
{
  Require(Begins(head, signature) && head[4] == std::byte{0} &&
              Load<std::uint8_t>(head + 5) == (filtered ? 1 : 0),
      DamagedArray);
}

const std::byte* CachedBlock::Read(std::uint64_t address, std::uint64_t bytes, const char* signature)
{
  if (this->Address != address || this->Bytes.size() != bytes) {
    this->Address = NoAddress;  // in case the read throws
    Require(bytes <= this->Source.EndAddress(), DamagedArray);
    this->Bytes.resize(bytes);
    this->Source.ReadChecked(address, this->Bytes.data(), bytes);
    Require(!signature || Begins(this->Bytes.data(), signature), DamagedArray);
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
  Require(
      pageBits < 32 && this->Elements <= std::uint64_t(1) << 48 && this->BytesOfElement > 0, DamagedArray);
  this->PageElements = std::uint64_t(1) << pageBits;
}

const std::byte* FixedArray::At(std::uint64_t index)
{
  Require(index < this->Elements, DamagedArray);
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
    : IndexCache(bytes), SuperCache(bytes), BlockCache(bytes)
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
  Require(this->BytesOfElement > 0 && elementBits <= 48 && pageBits < 32 &&
              IsPowerOfTwo(this->LeastElements) && IsPowerOfTwo(leastBlocks) &&
              elementBits >= Log2(this->LeastElements),
      DamagedArray);
  this->OffsetBytes = (elementBits + 7) / 8;
  this->PageElements = std::uint64_t(1) << pageBits;
  this->SuperBlocks = 1 + elementBits - Log2(this->LeastElements);
  this->SuperBlocksInIndex = 2 * Log2(leastBlocks);
  this->BlocksInIndex = 2 * std::uint64_t(leastBlocks - 1);
  Require(this->SuperBlocksInIndex <= this->SuperBlocks, DamagedArray);
}

ExtensibleArray::SuperBlock ExtensibleArray::MakeSuperBlock(unsigned number) const
{
  SuperBlock superBlock;
  superBlock.Blocks = std::uint64_t(1) << number / 2;
  superBlock.BlockElements = this->LeastElements << (number + 1) / 2;
  for (unsigned before = 0; before < number; ++before) {
    superBlock.BlocksBefore += std::uint64_t(1) << before / 2;
  }
  return superBlock;
}

const std::byte* ExtensibleArray::At(std::uint64_t index)
{
  if (this->Address == NoAddress || index >= this->ElementsSet) {
    return nullptr;
  }
  const std::uint64_t blocksOffset = HeadBytes + this->FirstElements * this->BytesOfElement;
  const std::uint64_t superBlocksOffset = blocksOffset + 8 * this->BlocksInIndex;
  const std::uint64_t bytes =
      superBlocksOffset + 8 * (this->SuperBlocks - this->SuperBlocksInIndex) + ChecksumBytes;
  const std::byte* const indexBlock = this->IndexCache.Read(this->Address, bytes, "EAIB");
  if (index < this->FirstElements) {
    return indexBlock + HeadBytes + index * this->BytesOfElement;
  }
  const std::uint64_t rest = index - this->FirstElements;
  const unsigned number = Log2(rest / this->LeastElements + 1);
  Require(number < this->SuperBlocks, DamagedArray);
  const SuperBlock superBlock = this->MakeSuperBlock(number);
  const std::uint64_t inSuper = rest - this->LeastElements * ((std::uint64_t(1) << number) - 1);
  const std::uint64_t block = inSuper / superBlock.BlockElements,
                      element = inSuper % superBlock.BlockElements;
  if (number >= this->SuperBlocksInIndex) {
    const std::byte* const entry =
        indexBlock + superBlocksOffset + std::size_t(8) * (number - this->SuperBlocksInIndex);
    return this->ElementInSuperBlock(Load<std::uint64_t>(entry), superBlock, block, element);
  }
  Require(
      superBlock.BlockElements <= this->PageElements && superBlock.BlocksBefore + block < this->BlocksInIndex,
      DamagedArray);
  const std::byte* const entry = indexBlock + blocksOffset + 8 * (superBlock.BlocksBefore + block);
  return this->ElementInBlock(Load<std::uint64_t>(entry), superBlock, element);
}

/// Returns the size of the head of data blocks and super blocks, in bytes. The head ends with the offset of
/// the block in the array.
std::uint64_t ExtensibleArray::BlockHeadBytes() const
{
  return HeadBytes + this->OffsetBytes;
}

const std::byte* ExtensibleArray::ElementInSuperBlock(
    std::uint64_t address, const SuperBlock& superBlock, std::uint64_t block, std::uint64_t element)
{
  if (address == NoAddress) {
    return nullptr;
  }
  const bool hasPages = superBlock.BlockElements > this->PageElements;
  const std::uint64_t pages = hasPages ? superBlock.BlockElements / this->PageElements : 0;
  const std::uint64_t bitmaps = superBlock.Blocks * BitmapBytes(pages);
  const std::uint64_t bytes = this->BlockHeadBytes() + bitmaps + 8 * superBlock.Blocks + ChecksumBytes;
  const std::byte* const begin = this->SuperCache.Read(address, bytes, "EASB") + this->BlockHeadBytes();
  const auto blockAddress = Load<std::uint64_t>(begin + bitmaps + 8 * block);
  if (!hasPages || blockAddress == NoAddress) {
    return this->ElementInBlock(blockAddress, superBlock, element);
  }
  const std::uint64_t page = element / this->PageElements;
  if (!IsSet(begin, block * pages + page)) {
    return nullptr;
  }
  const std::uint64_t pageBytes = this->PageElements * this->BytesOfElement + ChecksumBytes;
  return this->ElementInPage(
      blockAddress + this->BlockHeadBytes() + ChecksumBytes + page * pageBytes, element % this->PageElements);
}

const std::byte* ExtensibleArray::ElementInBlock(
    std::uint64_t address, const SuperBlock& superBlock, std::uint64_t element)
{
  if (address == NoAddress) {
    return nullptr;
  }
  const std::uint64_t bytes =
      this->BlockHeadBytes() + superBlock.BlockElements * this->BytesOfElement + ChecksumBytes;
  return this->BlockCache.Read(address, bytes, "EADB") + this->BlockHeadBytes() +
         element * this->BytesOfElement;
}

const std::byte* ExtensibleArray::ElementInPage(std::uint64_t address, std::uint64_t element)
{
  const std::uint64_t bytes = this->PageElements * this->BytesOfElement + ChecksumBytes;
  return this->BlockCache.Read(address, bytes, nullptr) + element * this->BytesOfElement;
}

using Indices = std::array<std::uint64_t, ChunkedArray::MaximumRank>;

bool HasFilters(const Dataset& dataset)
{
  return dataset.Filters[0] != FilterType::None;
}

/// The order in which FixedArray, ExtensibleArray and files without an index store the chunks of a data set:
/// row by row within the maximum dimensions of the data set, with the unlimited axis slowest.
class ElementOrder
{
public:
  explicit ElementOrder(const Dataset& dataset)
  {
    int unlimited = 0;
    for (int d = 0; d < dataset.Rank; ++d) {
      unlimited = dataset.MaximumDims[d] == Dataset::Unlimited ? d : unlimited;
    }
    std::array<int, ChunkedArray::MaximumRank> order{unlimited};
    for (int d = 0, next = 1; d < dataset.Rank; ++d) {
      if (d != unlimited) {
        order[next++] = d;
      }
    }
    this->Rank = dataset.Rank;
    std::uint64_t stride = 1;
    for (int axis = this->Rank - 1; axis >= 0; --axis) {
      const int d = order[axis];
      this->Strides[d] = stride;
      const std::uint64_t along = axis == 0 ? 1 : (dataset.MaximumDims[d] - 1) / dataset.ChunkDims[d] + 1;
      Require(dataset.MaximumDims[d] >= dataset.Dims[d] && stride <= MostElements / along,
          "impossible maximum dimensions");
      stride *= along;
    }
  }

  /// Returns the index of the element that belongs to a chunk. `chunk`: index of the chunk along each axis.
  std::uint64_t IndexOf(const Indices& chunk) const
  {
    std::uint64_t number = 0;
    for (int d = 0; d < this->Rank; ++d) {
      number += chunk[d] * this->Strides[d];
    }
    return number;
  }

private:
  static constexpr std::uint64_t MostElements = std::uint64_t(1) << 48;

  int Rank = 0;
  Indices Strides{};
};

}  // namespace

/// The chunks of a data set, in a grid. At first, all chunks count as never written; Add() enters written
/// chunks.
class ChunkGrid
{
public:
  ChunkGrid(const Dataset& dataset, const FileBytes& source, Chunk* chunks)
      : Rank(dataset.Rank),
        Count(CountChunks(dataset)),
        PlainBytes(HasFilters(dataset) ? 0 : PlainChunkBytes(dataset)),
        End(source.EndAddress()),
        Base(source.BaseAddress()),
        Chunks(chunks)
  {
    for (int d = 0; d < this->Rank; ++d) {
      this->ChunksPerAxis[d] = (dataset.Dims[d] - 1) / dataset.ChunkDims[d] + 1;
    }
  }

  /// Adds a chunk that was written. `indices`: index of the chunk along each axis; `address` and `bytes`:
  /// location of the chunk in the file; `skippedFilters`: see Chunk::SkippedFilters. Throws Corrupt if the
  /// chunk is outside the array or the file, was added before, or has a wrong size.
  void Add(
      const Indices& indices, std::uint64_t address, std::uint64_t bytes, std::uint32_t skippedFilters) const
  {
    std::uint64_t number = 0;
    for (int d = 0; d < this->Rank; ++d) {
      Require(indices[d] < this->ChunksPerAxis[d], "a chunk outside its array");
      number = number * this->ChunksPerAxis[d] + indices[d];
    }
    this->Add(number, address, bytes, skippedFilters);
  }

  /// Adds a chunk like Add(indices, ...). `number`: number of the chunk in the grid, counted with the last
  /// axis fastest.
  void Add(
      std::uint64_t number, std::uint64_t address, std::uint64_t bytes, std::uint32_t skippedFilters) const
  {
    const bool isInFile = address <= this->End && bytes <= this->End - address && bytes > 0;
    const bool fits = bytes <= std::numeric_limits<std::uint32_t>::max() &&
                      (this->PlainBytes == 0 || bytes == this->PlainBytes);
    Require(isInFile && fits && number < this->Count && this->Chunks[number].Bytes == 0,
        "a chunk that is outside the file or does not match its array");
    this->Chunks[number] = {this->Base + address, number, static_cast<std::uint32_t>(bytes), skippedFilters};
  }

  /// Calls visit(number, indices) for each chunk of the grid, in the order of the chunks' numbers.
  template <typename Visitor>
  void ForEach(const Visitor& visit) const
  {
    Indices indices{};
    for (std::uint64_t number = 0; number < this->Count; ++number) {
      visit(number, indices);
      for (int d = this->Rank - 1; d >= 0; --d) {
        if (++indices[d] < this->ChunksPerAxis[d]) {
          break;
        }
        indices[d] = 0;
      }
    }
  }

private:
  int Rank;
  Indices ChunksPerAxis{};
  std::uint64_t Count;
  std::uint64_t PlainBytes;  ///< size of a chunk if there are no filters; otherwise 0
  std::uint64_t End, Base;   ///< address of the end of the file; offset of address 0 in the file
  Chunk* Chunks;
};

void ChunkLists::List(const Dataset& dataset, unsigned treeK, Chunk* chunks)
{
  ClearChunks(dataset, chunks);
  if (dataset.ChunkAddress == NoAddress || CountChunks(dataset) == 0) {
    return;
  }
  const ChunkGrid grid(dataset, this->Source, chunks);
  switch (dataset.Index) {
    case ChunkIndex::Tree1:
      return this->ListTree1(dataset, treeK, dataset.ChunkAddress, -1, grid);
    case ChunkIndex::Single:
      return ListSingle(dataset, grid);
    case ChunkIndex::Implicit:
      return this->ListImplicit(dataset, grid);
    case ChunkIndex::FixedArray:
      return ListArray(dataset, FixedArray(this->Source, dataset.ChunkAddress, HasFilters(dataset)), grid);
    case ChunkIndex::ExtensibleArray:
      return ListArray(
          dataset, ExtensibleArray(this->Source, dataset.ChunkAddress, HasFilters(dataset)), grid);
    case ChunkIndex::Tree2:
      return this->ListTree2(dataset, grid);
  }
}

/// Lists the chunks below the node at `address` of a version 1 tree. `parentLevel`: level of the parent node,
/// or -1 for the root.
void ChunkLists::ListTree1(
    const Dataset& dataset, unsigned treeK, std::uint64_t address, int parentLevel, const ChunkGrid& grid)
{
  const Tree1Node node = ReadTree1Node(this->Source, address, 1, parentLevel, treeK);
  // Each leaf must add a new chunk, so that the number of nodes read is at most the number of chunks times
  // the number of levels.
  Require(node.Children > 0 || parentLevel < 0, "a damaged B-tree");
  const std::size_t keyBytes = 8 + 8 * std::size_t(dataset.Rank + 1);
  for (unsigned i = 0; i < node.Children; ++i) {
    std::array<std::byte, 16 + 8 * (ChunkedArray::MaximumRank + 1)> entry;  // key and address
    this->Source.Read(address + Tree1Node::HeadBytes + i * (keyBytes + 8), entry.data(), keyBytes + 8);
    const auto child = Load<std::uint64_t>(entry.data() + keyBytes);
    if (node.Level > 0) {
      this->ListTree1(dataset, treeK, child, node.Level, grid);
      continue;
    }
    Indices indices{};
    for (int d = 0; d < dataset.Rank; ++d) {
      const auto first = Load<std::uint64_t>(entry.data() + 8 + 8 * d);
      indices[d] = first / dataset.ChunkDims[d];
      Require(first % dataset.ChunkDims[d] == 0, "a chunk that does not match its array");
    }
    grid.Add(indices, child, Load<std::uint32_t>(entry.data()), Load<std::uint32_t>(entry.data() + 4));
  }
}

/// Lists the chunks of a version 2 tree. A record (type 10 or 11) consists of the address of a chunk, the
/// size and filter mask of the chunk if there are filters, and the index of the chunk along each axis. Each
/// record must add a new chunk.
void ChunkLists::ListTree2(const Dataset& dataset, const ChunkGrid& grid)
{
  const bool filtered = HasFilters(dataset);
  const Tree2 tree = this->Trees.Open(dataset.ChunkAddress, filtered ? 11 : 10);
  const std::size_t indexBytes = 8 * std::size_t(dataset.Rank);
  const std::size_t sizeBytes = tree.RecordBytes - 8 - indexBytes - (filtered ? 4 : 0);
  if (tree.RecordBytes < 8 + indexBytes + (filtered ? 5 : 0) || sizeBytes > 8 ||
      (!filtered && sizeBytes > 0)) {
    throw Corrupt("a tree with records of a wrong size");
  }
  const std::uint64_t plainBytes = PlainChunkBytes(dataset);
  this->Trees.Walk(tree, [&](const std::byte* record, unsigned count) {
    for (; count > 0; --count, record += tree.RecordBytes) {
      const std::uint64_t bytes = filtered ? LoadBytes(record + 8, sizeBytes) : plainBytes;
      const std::uint32_t skipped = filtered ? Load<std::uint32_t>(record + 8 + sizeBytes) : 0;
      Indices indices;
      for (int d = 0; d < dataset.Rank; ++d) {
        indices[d] = Load<std::uint64_t>(record + tree.RecordBytes - indexBytes + 8 * std::size_t(d));
      }
      grid.Add(indices, Load<std::uint64_t>(record), bytes, skipped);
    }
  });
}

void ChunkLists::ListSingle(const Dataset& dataset, const ChunkGrid& grid)
{
  const std::uint64_t bytes = HasFilters(dataset) ? dataset.SingleBytes : PlainChunkBytes(dataset);
  grid.Add(0, dataset.ChunkAddress, bytes, dataset.SingleSkippedFilters);
}

void ChunkLists::ListImplicit(const Dataset& dataset, const ChunkGrid& grid)
{
  const ElementOrder order(dataset);
  const std::uint64_t bytes = PlainChunkBytes(dataset), most = this->Source.EndAddress() / bytes;
  grid.ForEach([&](std::uint64_t number, const Indices& indices) {
    const std::uint64_t element = order.IndexOf(indices);
    Require(element <= most, "a chunk outside the file");
    grid.Add(number, dataset.ChunkAddress + element * bytes, bytes, 0);
  });
}

/// Lists the chunks of a FixedArray or an ExtensibleArray. An element is the address of a chunk, followed by
/// the size and filter mask of the chunk if there are filters.
template <typename Array>
void ChunkLists::ListArray(const Dataset& dataset, Array array, const ChunkGrid& grid)
{
  const std::size_t elementBytes = array.ElementBytes();
  const bool filtered = HasFilters(dataset);
  Require(filtered ? elementBytes >= 13 && elementBytes <= 20 : elementBytes == 8,
      "an array of chunks with elements of a wrong size");
  const ElementOrder order(dataset);
  const std::uint64_t plainBytes = PlainChunkBytes(dataset);
  grid.ForEach([&](std::uint64_t number, const Indices& indices) {
    const std::byte* const element = array.At(order.IndexOf(indices));
    const std::uint64_t address = element ? Load<std::uint64_t>(element) : NoAddress;
    if (address == NoAddress) {
      return;
    }
    const std::uint64_t bytes = filtered ? LoadBytes(element + 8, elementBytes - 12) : plainBytes;
    const std::uint32_t skipped = filtered ? Load<std::uint32_t>(element + elementBytes - 4) : 0;
    grid.Add(number, address, bytes, skipped);
  });
}

}  // namespace patchio::hdf5
