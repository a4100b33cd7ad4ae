// Bytes of an HDF5 file within its bounds, numbers and checksums in them, and the errors of all that reads
// them.
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

/// The next place where a superblock may be: the file's beginning is the first one, and user blocks before
/// the superblock have 512, 1024, 2048 ... bytes.
constexpr std::uint64_t NextSuperblockPlace(std::uint64_t place)
{
  return place == 0 ? 512 : 2 * place;
}

/// A damaged or forged file. what() is a phrase: "a damaged B-tree".
class Corrupt : public Error
{
public:
  using Error::Error;
};

/// A file that ends before its superblock says. what(): "truncated: 3000 of 42064 bytes".
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

/// A sound file with something that PatchIO does not read. what() is a phrase: "external link".
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

/// A number as HDF5 stores its own: little endian.
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

/// A number of 1 to 8 bytes.
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

/// The exponent of the largest power of two that is not larger than a number above 0.
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

/// The checksum that HDF5 has of all its metadata. "HDF5 File Format Specification", version 3.0, section
/// VII, names the algorithm: lookup3 by Bob Jenkins.
std::uint32_t Lookup3(const std::byte* bytes, std::size_t count);

/// Reads `bytes` bytes of a file from `offset`. Throws Error when the storage fails.
using ReadAt = std::function<void(std::uint64_t offset, void* into, std::size_t bytes)>;

/// Reads pieces of a file through a small cache, so that one request to the storage serves several of them; a
/// small file is fetched whole. For one thread.
class FileBytes
{
public:
  FileBytes();
  /// Turns to another file. bytes: its size. Throws Error when a small file cannot be read.
  void Attach(ReadAt read, std::uint64_t bytes);
  /// From now on addresses count from there, as those of a file with a user block do.
  void SetBase(std::uint64_t base) { this->Base = base; }
  std::uint64_t BaseAddress() const { return this->Base; }
  /// Addresses below are in the file.
  std::uint64_t EndAddress() const { return this->Bytes - this->Base; }

  /// Sets whether structures with wrong checksums are refused; they are unless the environment variable
  /// PATCHIO_HDF5_CHECKSUMS is "ignore". Without the comparison, the rest of a damaged file can be read, and
  /// readers can be tested with forged files.
  void CompareChecksums(bool compare) { this->Compares = compare; }
  bool ComparesChecksums() const { return this->Compares; }

  /// Copies `bytes` bytes at `address`. Throws Corrupt when they do not lie in the file, Error when the
  /// storage fails.
  void Read(std::uint64_t address, std::byte* into, std::size_t bytes);
  /// The same for a structure whose last 4 bytes are the checksum of the others. Throws Corrupt where they
  /// are not, unless checksums are not compared.
  void ReadChecked(std::uint64_t address, std::byte* into, std::size_t bytes);

private:
  static constexpr std::size_t WholeFile = 256 * 1024;
  // Measured hot with SAMRAI's files, where metadata lies scattered between values: larger windows copy more
  // than they save, fewer of them fetch the same ones again.
  static constexpr std::size_t WindowBytes = 4096;
  static constexpr std::size_t WindowCount = 256;
  static constexpr std::size_t LargePiece = 64 * 1024;  ///< larger ones are not worth a copy
  static constexpr std::uint64_t NoWindow = ~std::uint64_t(0);

  const std::byte* Window(std::uint64_t number);

  ReadAt File;
  std::uint64_t Bytes = 0, Base = 0;
  bool Whole = false;
  bool Compares;
  std::size_t Room = 0;                 ///< bytes of the buffer
  std::unique_ptr<std::byte[]> Buffer;  ///< the file, or the windows; memory is taken where it is used
  std::vector<std::uint64_t> Windows;   ///< which window of the file each of the buffer's is
};

}  // namespace patchio::hdf5
