// Datatypes in object headers and attributes, see section IV.A.2.d of the specification.
#pragma once

#include "Hdf5/FileBytes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// Greatest number of axes of a data set, an array type or a selection, by HDF5's specification.
constexpr unsigned MostAxes = 32;

/// Parses the little-endian numbers and texts of a block of bytes one after another. The bytes must outlive
/// the Cursor. All methods throw Corrupt if the bytes end too early.
class Cursor
{
public:
  Cursor(const std::byte* bytes, std::size_t count) : Position(bytes), Remaining(count) {}

  /// Parses an unsigned number of type T.
  template <typename T>
  T Read()
  {
    return Load<T>(this->Skip(sizeof(T)));
  }
  /// Parses a number of `count` bytes, 1 to 8.
  std::uint64_t ReadNumber(std::size_t count) { return LoadBytes(this->Skip(count), count); }
  /// Skips `count` bytes. Returns a pointer to the first skipped byte.
  const std::byte* Skip(std::uint64_t count)
  {
    Require(count <= this->Remaining, "a description that ends early");
    const std::byte* const begin = this->Position;
    this->Position += count;
    this->Remaining -= static_cast<std::size_t>(count);
    return begin;
  }
  /// Skips `count` bytes. Returns a Cursor for the skipped bytes.
  Cursor Section(std::uint64_t count) { return {this->Skip(count), static_cast<std::size_t>(count)}; }
  /// Parses a text that ends with a 0 and is padded to a multiple of `unit` bytes.
  std::string ReadText(std::size_t unit);
  std::size_t BytesLeft() const { return this->Remaining; }

private:
  const std::byte* Position;
  std::size_t Remaining;
};

/// The classes of HDF5 types. The values are the numbers in files.
enum class TypeClass : std::uint8_t
{
  Integer = 0,
  Float,
  Time,
  Text,  ///< text with a fixed number of characters
  Bitfield,
  Opaque,
  Compound,
  Reference,
  Enumeration,
  VariableLength,  ///< list of variable length, in a global heap
  Array,
  Complex
};
constexpr TypeClass LastTypeClass = TypeClass::Complex;

struct TypeMember;

/// The type of the elements of a data set or an attribute.
struct Datatype
{
  TypeClass Class = TypeClass::Opaque;
  /// For Integer and Bitfield: true if the number uses all bits of 1, 2, 4 or 8 bytes. For Float: true for
  /// IEEE 754 numbers of 4 or 8 bytes.
  bool IsPlain = false;
  bool BigEndian = false;
  bool Signed = false;      ///< for Integer
  bool IsText = false;      ///< for VariableLength: the list is a text
  std::uint32_t Bytes = 0;  ///< size of an element; never 0
  /// For Compound: the members, which lie inside the element. For Array: a single member, which has the type
  /// of the array's elements.
  std::vector<TypeMember> Members;
};

/// A member of a compound type, or the type of the elements of an array type.
struct TypeMember
{
  std::string Name;
  std::uint32_t Offset = 0;  ///< offset in the compound element, in bytes
  Datatype Type;
};

/// Parses a datatype message. Throws Corrupt if the message ends too early or contradicts itself, and
/// Unsupported for unknown versions and classes.
Datatype ParseDatatype(Cursor& message);

/// Returns a * b. Throws Corrupt if the product exceeds 2^60, more than any file contains.
std::uint64_t CheckedProduct(std::uint64_t a, std::uint64_t b);

}  // namespace patchio::hdf5
