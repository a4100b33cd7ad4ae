// Datatypes in object headers and attributes: section IV.A.2.d of the specification.
#pragma once

#include "Hdf5/FileBytes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace patchio::hdf5 {

/// Parses little-endian numbers and texts one after another. All methods throw Corrupt if the bytes end too
/// early.
class Cursor
{
public:
  Cursor(const std::byte* bytes, std::size_t count) : At(bytes), Rest(count) {}

  template <typename T>
  T Take()
  {
    return Load<T>(this->Skip(sizeof(T)));
  }
  /// Parses a number of 1 to 8 bytes.
  std::uint64_t TakeBytes(std::size_t count) { return LoadBytes(this->Skip(count), count); }
  const std::byte* Skip(std::uint64_t count)
  {
    Require(count <= this->Rest, "a description that ends early");
    const std::byte* const here = this->At;
    this->At += count;
    this->Rest -= static_cast<std::size_t>(count);
    return here;
  }
  Cursor Part(std::uint64_t count) { return {this->Skip(count), static_cast<std::size_t>(count)}; }
  /// Parses a text with a 0 at its end, padded to a multiple of `unit` bytes.
  std::string TakeText(std::size_t unit);
  std::size_t Left() const { return this->Rest; }

private:
  const std::byte* At;
  std::size_t Rest;
};

/// Classes of types, with their numbers in files.
enum class TypeClass : std::uint8_t
{
  Integer = 0,
  Float,
  Time,
  Text,  ///< text with a fixed number of characters
  Bits,
  Opaque,
  Compound,
  Reference,
  Enumeration,
  List,  ///< list of variable length, in a global heap
  Array,
  Complex
};
constexpr TypeClass LastTypeClass = TypeClass::Complex;

struct TypeMember;

/// The type of the elements of a data set or an attribute.
struct Datatype
{
  TypeClass Class = TypeClass::Opaque;
  bool IsPlain = false;  ///< Integer: all bits are used; Float: IEEE 754 with 4 or 8 bytes
  bool BigEndian = false;
  bool Signed = false;      ///< for Integer
  bool IsText = false;      ///< for List: a list of characters
  std::uint32_t Bytes = 0;  ///< size of an element; never 0
  /// Compound: the members, all inside an element. Array: a single member, the type of the array's elements.
  std::vector<TypeMember> Members;
};

/// A member of a compound type, or the element type of an array type.
struct TypeMember
{
  std::string Name;
  std::uint32_t Offset = 0;
  Datatype Type;
};

/// Parses a datatype message. Throws Corrupt if parts of the type contradict each other, and Unsupported for
/// unknown versions.
Datatype TakeDatatype(Cursor& message);

/// Returns a * b. Throws Corrupt if the product exceeds 2^60, more than any file contains.
std::uint64_t Product(std::uint64_t a, std::uint64_t b);

}  // namespace patchio::hdf5
