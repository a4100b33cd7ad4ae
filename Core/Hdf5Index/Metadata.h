// The bytes of a file's metadata, a window at a time.
#pragma once

#include "Io/Source.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace patchio::hdf5index {

/// The file holds something that the index reader does not know, or that does not fit together; the HDF5
/// library has to be asked. what() is a phrase: "superblock version 2".
class Unfamiliar : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

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

/// Reads pieces of a file through a small cache, so that one request to the storage serves several of them; a
/// small file is fetched whole. For one thread.
class Metadata
{
public:
  Metadata();
  /// Turns to a file of so many bytes. Throws Error when a small one cannot be read.
  void Attach(std::shared_ptr<Source::File> file, std::uint64_t bytes);
  /// From now on addresses count from there, as those of a file with a user block do.
  void SetBase(std::uint64_t base) { this->Base = base; }
  std::uint64_t BaseAddress() const { return this->Base; }
  /// Addresses below are in the file.
  std::uint64_t EndAddress() const { return this->Bytes - this->Base; }

  /// Sets whether structures with wrong checksums are refused; they are by default. Without the comparison,
  /// the rest of a damaged file can be read, and readers can be tested with forged files.
  void CompareChecksums(bool compare) { this->Compares = compare; }
  bool ComparesChecksums() const { return this->Compares; }

  /// Copies `bytes` bytes at `address`. Throws Unfamiliar when they do not lie in the file, Error when the
  /// storage fails.
  void Read(std::uint64_t address, std::byte* into, std::size_t bytes);
  /// The same for a structure whose last 4 bytes are the checksum of the others. Throws Unfamiliar where they
  /// are not, unless checksums are not compared.
  void ReadChecked(std::uint64_t address, std::byte* into, std::size_t bytes);

private:
  static constexpr std::size_t WholeFile = 256 * 1024;
  // Measured hot with SAMRAI's files, where metadata lies scattered between values: larger windows copy more
  // than they save, fewer of them fetch the same ones again.
  static constexpr std::size_t WindowBytes = 4096;
  static constexpr std::size_t WindowCount = 256;
  static constexpr std::uint64_t NoWindow = ~std::uint64_t(0);

  const std::byte* Window(std::uint64_t number);

  std::shared_ptr<Source::File> File;
  std::uint64_t Bytes = 0, Base = 0;
  bool Whole = false;
  bool Compares = true;
  std::unique_ptr<std::byte[]> Buffer;  ///< the file, or the windows; memory is taken where it is used
  std::vector<std::uint64_t> Windows;   ///< which window of the file each of the buffer's is
};

}  // namespace patchio::hdf5index
