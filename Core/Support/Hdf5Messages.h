// The messages of an object header of HDF5, as far as the library relies on what they say.
#pragma once

#include "Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace patchio::hdf5 {

/// What a file has that no sound one has. what() is a phrase: "a tree that meets itself".
class Unsound : public Error
{
public:
  using Error::Error;
};

constexpr const char* DamagedOrForeign = "The file is damaged or of another format";

inline void RequireOfFile(bool holds, const char* otherwise)
{
  if (!holds) {
    throw Unsound(otherwise);
  }
}

constexpr std::uint64_t NoAddress = ~std::uint64_t(0);

/// Little-endian numbers and texts, one after another. Throws Unsound where they end too early.
class Cursor
{
public:
  Cursor(const std::byte* bytes, std::size_t count) : At(bytes), Rest(count) {}

  template <typename T>
  T Take()
  {
    static_assert(std::is_unsigned_v<T>);
    const std::byte* const bytes = this->Skip(sizeof(T));
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(bytes[i]) << (8 * i)));
    }
    return value;
  }
  const std::byte* Skip(std::uint64_t count);
  Cursor Part(std::uint64_t count) { return {this->Skip(count), static_cast<std::size_t>(count)}; }
  /// Passes over a text and its 0, filled up to a multiple of `unit`.
  void SkipText(std::size_t unit);
  std::size_t Left() const { return this->Rest; }

private:
  const std::byte* At;
  std::size_t Rest;
};

/// As headers have them.
enum TypeClass : unsigned
{
  IntegerClass = 0,
  FloatClass,
  TimeClass,
  TextClass,
  BitsClass,
  OpaqueClass,
  CompoundClass,
  ReferenceClass,
  EnumerationClass,
  ListClass,
  ArrayClass
};

struct DataSpace
{
  unsigned Rank = 0;
  std::uint64_t Values = 1;
};

struct DataType
{
  unsigned Class = 0;
  std::uint64_t Bytes = 0;
  std::uint64_t PartBytes = 0;  ///< of a list of any length: of each part
  bool HasReferences = false;   ///< has such lists, or is one: their values are in the global heap
};

enum class Layout
{
  None,
  Compact,
  Contiguous,
  Chunked
};

struct DataLayout
{
  Layout Kind = Layout::None;
  std::uint64_t Address = NoAddress;  ///< of the values, or of the tree of chunks
  std::uint64_t Bytes = 0;            ///< of the values, or of a chunk
  unsigned Rank = 0;                  ///< of chunks, the bytes of an element among the axes
  std::uint64_t ElementBytes = 0;     ///< as chunks have it
};

// Each takes a message and throws Unsound where its parts are no sound ones.
DataSpace TakeSpace(Cursor& message);
DataType TakeType(Cursor& message);
DataLayout TakeLayout(Cursor& message);
/// Bytes of the value; 0: there is none.
std::uint64_t TakeFill(Cursor& message);
std::uint64_t TakeOldFill(Cursor& message);
/// The numbers of the filters.
std::vector<unsigned> TakeFilters(Cursor& message);
/// Where an object of a link lies; NoAddress for links that lead elsewhere.
std::uint64_t TakeLink(Cursor& message);

/// Throws Unsound where a product is beyond what any file has.
std::uint64_t Product(std::uint64_t a, std::uint64_t b);

}  // namespace patchio::hdf5
