// Datatypes as object headers and attributes have them: section IV.A.2.d of the specification.
#pragma once

#include "Hdf5/FileBytes.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace patchio::hdf5 {

/// Little-endian numbers and texts, one after another. All methods throw Corrupt where the bytes end too
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
  /// A number of 1 to 8 bytes.
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
  /// A text that ends with a 0, which fills a multiple of `unit` bytes.
  std::string TakeText(std::size_t unit);
  std::size_t Left() const { return this->Rest; }

private:
  const std::byte* At;
  std::size_t Rest;
};

/// Classes of types, by their numbers in files.
enum class TypeClass : std::uint8_t
{
  Integer = 0,
  Float,
  Time,
  Text,  ///< of a fixed number of characters
  Bits,
  Opaque,
  Compound,
  Reference,
  Enumeration,
  List,  ///< of any length, in a global heap
  Array,
  Complex
};
constexpr TypeClass LastTypeClass = TypeClass::Complex;

struct TypeMember;

struct Datatype
{
  TypeClass Class = TypeClass::Opaque;
  bool IsPlain = false;  ///< Integer: all bits are used; Float: IEEE 754 of 4 or 8 bytes
  bool BigEndian = false;
  bool Signed = false;      ///< Integer
  bool IsText = false;      ///< List: of characters
  std::uint32_t Bytes = 0;  ///< of an element; never 0
  /// Compound: its members, all inside an element. Array: the type of one of the elements that fill it.
  std::vector<TypeMember> Members;
};

struct TypeMember
{
  std::string Name;
  std::uint32_t Offset = 0;
  Datatype Type;
};

/// Throws Corrupt where the parts of a type do not fit each other, and Unsupported for unknown versions.
Datatype TakeDatatype(Cursor& message);

/// a * b. Throws Corrupt where that is more than any file has.
std::uint64_t Product(std::uint64_t a, std::uint64_t b);

}  // namespace patchio::hdf5
