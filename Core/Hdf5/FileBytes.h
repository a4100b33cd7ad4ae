// Bounds-checked access to the bytes of an HDF5 file, parsing of numbers, checksums, and the errors of all
// code that parses such files.
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

/// The first bytes of a superblock.
constexpr std::string_view Signature{"\x89HDF\r\n\x1a\n", 8};

/// Returns the next offset at which a superblock may be. The first is 0; user blocks before the superblock
/// have 512, 1024, 2048 ... bytes.
constexpr std::uint64_t NextSuperblockOffset(std::uint64_t offset)
{
  return offset == 0 ? 512 : 2 * offset;
}

/// A damaged or forged file. what() is a phrase: "a damaged B-tree".
class Corrupt : public Error
{
public:
  using Error::Error;
};

/// A file that is shorter than its superblock states. what(): "truncated: 3000 of 42064 bytes".
class Truncated : public Corrupt
{
public:
  using Corrupt::Corrupt;
};

/// A file of another format. what(): "no superblock".
class NoSuperblock : public Corrupt
{
public:
  using Corrupt::Corrupt;
};

/// A valid file with a feature that PatchIO does not read. what() is a phrase: "external link".
class Unsupported : public Error
{
public:
  using Error::Error;
};

constexpr const char* DamagedOrForeign = "The file is damaged or of another format";

inline void Require(bool holds, const char* otherwise)
{
  if (!holds) {
    throw Corrupt(otherwise);
  }
}

/// Loads a little-endian number, as HDF5 stores its own numbers.
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

/// Loads a little-endian number of 1 to 8 bytes.
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

/// Returns the exponent of the largest power of two that is at most `number`, which is above 0.
inline unsigned Log2(std::uint64_t number)
{
  unsigned exponent = 0;
  while (number >>= 1) {
    ++exponent;
  }
  return exponent;
}

constexpr std::uint64_t NoAddress = ~std::uint64_t(0);
constexpr std::size_t ChecksumBytes = 4;

inline bool Begins(const std::byte* bytes, const char* signature)
{
  return std::memcmp(bytes, signature, 4) == 0;
}

/// Returns the checksum of HDF5's metadata: lookup3 by Bob Jenkins, named in section VII of the "HDF5 File
/// Format Specification", version 3.0.
std::uint32_t Lookup3(const std::byte* bytes, std::size_t count);

/// Reads `bytes` bytes of a file from `offset` on. Throws Error if the storage fails.
using ReadAt = std::function<void(std::uint64_t offset, void* into, std::size_t bytes)>;

/// Reads pieces of a file through a small cache, so that one request to the storage serves several pieces.
/// Small files are read entirely. Not thread-safe.
class FileBytes
{
public:
  FileBytes();
  /// Switches to another file of `bytes` bytes, and empties the cache. Throws Error if a small file cannot be
  /// read.
  void Attach(ReadAt read, std::uint64_t bytes);
  /// Sets the offset to which addresses are relative. The offset is not 0 in files with a user block.
  void SetBase(std::uint64_t base) { this->Base = base; }
  std::uint64_t BaseAddress() const { return this->Base; }
  /// Returns the first address after the end of the file.
  std::uint64_t EndAddress() const { return this->Bytes - this->Base; }

  /// Sets whether a wrong checksum is an error. By default it is, unless the environment variable
  /// PATCHIO_HDF5_CHECKSUMS is "ignore". Without the comparison, the intact rest of a damaged file can be
  /// read, and readers can be tested with forged files.
  void CompareChecksums(bool compare) { this->Compares = compare; }
  bool ComparesChecksums() const { return this->Compares; }

  /// Copies `bytes` bytes from `address` on. Throws Corrupt if they are not in the file, and Error if the
  /// storage fails.
  void Read(std::uint64_t address, std::byte* into, std::size_t bytes);
  /// Reads a structure whose last 4 bytes are the checksum of the others. Throws like Read(), and Corrupt if
  /// the checksum is wrong and checksums are compared.
  void ReadChecked(std::uint64_t address, std::byte* into, std::size_t bytes);

private:
  static constexpr std::size_t WholeFile = 256 * 1024;
  // Measured with SAMRAI's files (in the page cache), in which metadata lies scattered between values: larger
  // windows cost more copying than they save, and fewer windows are read repeatedly.
  static constexpr std::size_t WindowBytes = 4096;
  static constexpr std::size_t WindowCount = 256;
  static constexpr std::size_t LargePiece = 64 * 1024;  ///< pieces from this size on are read without a copy
  static constexpr std::uint64_t NoWindow = ~std::uint64_t(0);

  const std::byte* Window(std::uint64_t number);

  ReadAt File;
  std::uint64_t Bytes = 0, Base = 0;
  bool Whole = false;
  bool Compares;
  std::size_t Room = 0;                 ///< size of the buffer in bytes
  std::unique_ptr<std::byte[]> Buffer;  ///< the file, or the windows; pages are allocated when used
  std::vector<std::uint64_t> Windows;   ///< number of the file's window in each window of the buffer
};

}  // namespace patchio::hdf5
