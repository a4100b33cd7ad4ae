// Arrays of chunks as HDF5 1.10 and later keep them: the fixed array of data sets with a largest extent, and
// the extensible array of those with one unlimited axis. Sections III.F and III.E of the specification.
#pragma once

#include "Hdf5/FileBytes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::hdf5 {

/// A piece of the file at hand: a block or a page with elements.
class ArrayPiece
{
public:
  explicit ArrayPiece(FileBytes& bytes) : Source(bytes) {}
  /// Reads it unless it is at hand; its last 4 bytes are its checksum. signature: null: it has none.
  const std::byte* Read(std::uint64_t address, std::uint64_t bytes, const char* signature);

private:
  FileBytes& Source;
  std::uint64_t Address = NoAddress;
  std::vector<std::byte> Bytes;
};

/// For one thread. All methods throw Corrupt, and Error when the storage fails.
class FixedArray
{
public:
  /// filtered: the elements are those of chunks with filters.
  FixedArray(FileBytes& bytes, std::uint64_t address, bool filtered);
  std::size_t ElementBytes() const { return this->BytesOfElement; }
  /// The element of that number, until the next call; null where it was never written.
  const std::byte* At(std::uint64_t index);

private:
  std::size_t BytesOfElement = 0;
  std::uint64_t Elements = 0, PageElements = 0;
  std::uint64_t Address = NoAddress;  ///< of the block
  ArrayPiece Block, Page;
};

/// For one thread. All methods throw Corrupt, and Error when the storage fails.
class ExtensibleArray
{
public:
  /// filtered: the elements are those of chunks with filters.
  ExtensibleArray(FileBytes& bytes, std::uint64_t address, bool filtered);
  std::size_t ElementBytes() const { return this->BytesOfElement; }
  /// The element of that number, until the next call; null where it was never written.
  const std::byte* At(std::uint64_t index);

private:
  /// Data blocks of the same size; each super block has twice as many elements as the one before.
  struct SuperBlock
  {
    std::uint64_t Blocks = 0, BlockElements = 0;
    std::uint64_t BlocksBefore = 0;
  };
  SuperBlock SuperBlockOf(unsigned number) const;
  const std::byte* AtInSuperBlock(
      std::uint64_t address, const SuperBlock& super, std::uint64_t block, std::uint64_t element);
  const std::byte* AtInBlock(std::uint64_t address, const SuperBlock& super, std::uint64_t element);
  const std::byte* AtInPage(std::uint64_t address, std::uint64_t element);
  std::uint64_t BlockHeadBytes() const;

  std::size_t BytesOfElement = 0, OffsetBytes = 0;
  std::uint64_t FirstElements = 0;  ///< in the index block
  std::uint64_t LeastElements = 0;  ///< of a data block
  std::uint64_t PageElements = 0, ElementsSet = 0;
  unsigned SuperBlocks = 0, SuperBlocksInIndex = 0;
  std::uint64_t BlocksInIndex = 0;
  std::uint64_t Address = NoAddress;  ///< of the index block
  ArrayPiece Index, Super, Block;
};

}  // namespace patchio::hdf5
