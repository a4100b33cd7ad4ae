// Bounds-checked access to the bytes of an HDF5 file, parsing of numbers, checksums, and the errors of all
// code that parses HDF5 files.
#pragma once

#include "Base/Error.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace patchio::hdf5 {

/// The signature with which each superblock begins.
constexpr std::string_view Signature{"\x89HDF\r\n\x1a\n", 8};

/// Returns the offset, in bytes, at which to look for a superblock after `offset`. The first offset is 0. A
/// user block before the superblock has 512, 1024, 2048 ... bytes.
constexpr std::uint64_t NextSuperblockOffset(std::uint64_t offset)
{
  return offset == 0 ? 512 : 2 * offset;
}

/// The error for a file that is damaged, forged, unfinished or not HDF5. what() is a phrase, for example "a
/// damaged B-tree".
class Corrupt : public Error
{
public:
  using Error::Error;
};

/// The error for a file that ends within the first 48 bytes of its superblock, or is shorter than the
/// superblock states. what() is a phrase, for example "truncated: 3000 of 42064 bytes".
class Truncated : public Corrupt
{
public:
  using Corrupt::Corrupt;
};

/// The error for a file without a superblock, which is of another format. what() is "no superblock".
class NoSuperblock : public Corrupt
{
public:
  using Corrupt::Corrupt;
};

/// The error for a valid file with a feature that PatchIO does not support. what() is a phrase, for example
/// "external link".
class Unsupported : public Error
{
public:
  using Error::Error;
};

/// The advice of FileError() for a file that is damaged or of another format.
constexpr const char* DamagedOrForeign = "The file is damaged or of another format";

/// Throws Corrupt with the text `fault` unless `condition` is true.
inline void Require(bool condition, const char* fault)
{
  if (!condition) {
    throw Corrupt(fault);
  }
}

/// Returns the little-endian number of type T at `bytes`. All numbers of HDF5's metadata are little-endian.
template <typename T>
T Load(const std::byte* bytes)
{
  static_assert(std::is_unsigned_v<T>);
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(bytes[i]) << (8 * i)));
  }
  return value;
}

/// Returns the little-endian number of `count` bytes (1 to 8) at `bytes`.
inline std::uint64_t LoadBytes(const std::byte* bytes, std::size_t count)
{
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

inline bool IsPowerOfTwo(std::uint64_t number)
{
  return number != 0 && (number & (number - 1)) == 0;
}

/// Returns the binary logarithm of `number`, rounded down. `number` must not be 0.
inline unsigned Log2(std::uint64_t number)
{
  return 63 - static_cast<unsigned>(__builtin_clzll(number));
}

/// The address by which HDF5 files mark objects that do not exist.
constexpr std::uint64_t NoAddress = ~std::uint64_t(0);
constexpr std::size_t ChecksumBytes = 4;

/// Returns whether the first 4 bytes at `bytes` equal `signature`.
inline bool Begins(const std::byte* bytes, const char* signature)
{
  return std::memcmp(bytes, signature, 4) == 0;
}

/// Returns the checksum of `count` bytes by the hash function that HDF5 uses for metadata: Bob Jenkins,
/// "lookup3.c", 2006; see section VII of The HDF Group's "HDF5 File Format Specification", version 3.0.
std::uint32_t Lookup3(const std::byte* bytes, std::size_t count);

/// A function that reads `bytes` bytes of a file from `offset` on into `into`. Throws Error if the storage
/// fails.
using ReadAt = std::function<void(std::uint64_t offset, void* into, std::size_t bytes)>;

/// Reads bytes of one file at a time through a small cache, so that one request to the storage serves several
/// calls of Read(). Files up to WholeFile bytes are read entirely. Not thread-safe.
class FileBytes
{
public:
  FileBytes();
  /// Switches to another file, which has `bytes` bytes and is read by `read`. Empties the cache, and sets the
  /// base address to 0. Throws Error if a small file cannot be read.
  void Attach(ReadAt read, std::uint64_t bytes);
  /// Sets the base address: the offset in the file to which all addresses are relative. The base address is
  /// not 0 in files with a user block.
  void SetBase(std::uint64_t base) { this->Base = base; }
  std::uint64_t BaseAddress() const { return this->Base; }
  /// Returns the address of the end of the file, relative to the base address.
  std::uint64_t EndAddress() const { return this->Bytes - this->Base; }

  /// Sets whether a wrong checksum is an error. A wrong checksum is an error by default, unless the
  /// environment variable PATCHIO_HDF5_CHECKSUMS is "ignore". Without the comparison, the intact rest of a
  /// damaged file can be read, and readers can be tested with forged files.
  void SetComparesChecksums(bool compares) { this->Compares = compares; }
  bool ComparesChecksums() const { return this->Compares; }

  /// Copies `bytes` bytes of the file, from `address` on, to `into`. Throws Corrupt if these bytes are not in
  /// the file, and Error if the storage fails.
  void Read(std::uint64_t address, std::byte* into, std::size_t bytes);
  /// Reads a structure like Read(), and compares its checksum: the last 4 of `bytes` bytes are the checksum
  /// of the bytes before. Also throws Corrupt if `bytes` is less than 4, or if the checksum is wrong and
  /// ComparesChecksums() is true.
  void ReadChecked(std::uint64_t address, std::byte* into, std::size_t bytes);

private:
  /// Greatest size, in bytes, of files that are read entirely.
  static constexpr std::size_t WholeFile = 256 * 1024;
  // The cache consists of blocks of the file. The size and number of blocks were measured with SAMRAI's files
  // in the page cache. The metadata of these files lies scattered between values: larger blocks cost more
  // time for copying than they save, and fewer blocks must be read repeatedly.
  static constexpr std::size_t BlockBytes = 4096;
  static constexpr std::size_t BlockCount = 256;
  static constexpr std::size_t LargeRead = 64 * 1024;  ///< size in bytes from which on reads bypass the cache
  static constexpr std::uint64_t NoBlock = ~std::uint64_t(0);

  const std::byte* Block(std::uint64_t number);

  ReadAt ReadFile;
  std::uint64_t Bytes = 0, Base = 0;
  bool Whole = false;
  bool Compares;
  std::size_t BufferBytes = 0;
  /// The entire file or the cached blocks; not initialized, so that unused parts take no memory.
  std::unique_ptr<std::byte[]> Buffer;
  /// For each block of the buffer: number of the file's block in it, or NoBlock.
  std::vector<std::uint64_t> Blocks;
};

}  // namespace patchio::hdf5
