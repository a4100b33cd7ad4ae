#include "Hdf5/Datatype.h"

#include <fmt/format.h>

#include <algorithm>

namespace patchio::hdf5 {
namespace {

constexpr int MaximumDepth = 16;  ///< greatest number of nested types

/// The properties by which HDF5 describes a floating-point format. In bits: total size, position of the sign,
/// position and size of the exponent, size of the mantissa. As a number: bias of the exponent.
struct FloatFormat
{
  unsigned Bits, Sign, ExponentBegin, ExponentBits, MantissaBits, Bias;
};
/// The IEEE 754 formats of 4 and 8 bytes.
constexpr FloatFormat Ieee[] = {{32, 31, 23, 8, 23, 127}, {64, 63, 52, 11, 52, 1023}};

/// Parses a type that lies inside `depth` other types. Throws like ParseDatatype().
Datatype ParseNestedType(Cursor& message, int depth);

/// Parses the properties of an integer or a bit field. `bits`: bit field of the type's class.
void ParseInteger(Cursor& message, unsigned bits, Datatype& type)
{
  const unsigned first = message.Read<std::uint16_t>(), precision = message.Read<std::uint16_t>();
  const std::uint64_t all = std::uint64_t(type.Bytes) * 8;
  Require(precision > 0 && first + precision <= all, "a number with bits outside its bytes");
  type.BigEndian = (bits & 1) != 0;
  type.Signed = (bits & 8) != 0;
  type.IsPlain = first == 0 && precision == all && type.Bytes <= 8 && IsPowerOfTwo(type.Bytes);
}

void ParseFloat(Cursor& message, unsigned bits, Datatype& type)
{
  constexpr unsigned vaxOrder = 0x40, impliedBit = 2;
  const unsigned first = message.Read<std::uint16_t>(), precision = message.Read<std::uint16_t>();
  const unsigned exponentBegin = message.Read<std::uint8_t>(), exponentBits = message.Read<std::uint8_t>();
  const unsigned mantissaBegin = message.Read<std::uint8_t>(), mantissaBits = message.Read<std::uint8_t>();
  const auto bias = message.Read<std::uint32_t>();
  const std::uint64_t all = std::uint64_t(type.Bytes) * 8;
  Require(
      first + precision <= all && exponentBegin + exponentBits <= all && mantissaBegin + mantissaBits <= all,
      "a number with bits outside its bytes");
  type.BigEndian = (bits & 1) != 0;
  type.IsPlain = std::any_of(std::begin(Ieee), std::end(Ieee), [&](const FloatFormat& format) {
    return all == format.Bits && (bits & vaxOrder) == 0 && (bits >> 4 & 3) == impliedBit &&
           (bits >> 8 & 0xff) == format.Sign && first == 0 && precision == format.Bits &&
           exponentBegin == format.ExponentBegin && exponentBits == format.ExponentBits &&
           mantissaBegin == 0 && mantissaBits == format.MantissaBits && bias == format.Bias;
  });
}

/// Parses the lengths of `count` axes. Returns the product of the lengths.
std::uint64_t ParseAxes(Cursor& message, unsigned count)
{
  std::uint64_t product = 1;
  for (unsigned axis = 0; axis < count; ++axis) {
    product = CheckedProduct(product, message.Read<std::uint32_t>());
  }
  return product;
}

/// Parses a member of a compound type, and appends the member to type.Members. In version 1, the axes of an
/// array are in the member, not in the type of the member. `offsetBytes`: size of the stored offset of the
/// member; `depth`: number of types around `type`.
void ParseMember(Cursor& message, unsigned version, std::size_t offsetBytes, Datatype& type, int depth)
{
  TypeMember member;
  member.Name = message.ReadText(version >= 3 ? 1 : 8);
  member.Offset = static_cast<std::uint32_t>(message.ReadNumber(offsetBytes));
  std::uint64_t times = 1;
  unsigned axes = 0;
  if (version == 1) {
    axes = message.Read<std::uint8_t>();
    Require(axes <= 4, "a member of a record with too many axes");
    message.Skip(11);
    times = ParseAxes(message, axes);
    message.Skip(4 * std::size_t(4 - axes));
  }
  member.Type = ParseNestedType(message, depth + 1);
  const std::uint64_t bytes = CheckedProduct(member.Type.Bytes, times);
  Require(member.Offset <= type.Bytes && bytes > 0 && bytes <= type.Bytes - member.Offset,
      "a record with members outside the record");
  if (axes > 0) {
    Datatype array;
    array.Class = TypeClass::Array;
    array.Bytes = static_cast<std::uint32_t>(bytes);
    array.Members.push_back({{}, 0, std::move(member.Type)});
    member.Type = std::move(array);
  }
  type.Members.push_back(std::move(member));
}

void ParseMembers(Cursor& message, unsigned version, unsigned count, Datatype& type, int depth)
{
  Require(count > 0, "a record without members");
  std::size_t offsetBytes = 4;
  if (version >= 3) {
    for (offsetBytes = 1; offsetBytes < 4 && type.Bytes >> 8 * offsetBytes > 0; ++offsetBytes) {
    }
  }
  for (unsigned m = 0; m < count; ++m) {
    ParseMember(message, version, offsetBytes, type, depth);
  }
}

void ParseArray(Cursor& message, unsigned version, Datatype& type, int depth)
{
  const unsigned rank = message.Read<std::uint8_t>();
  Require(rank > 0 && rank <= MostAxes, "an array type with an impossible number of axes");
  message.Skip(version < 3 ? 3 : 0);
  const std::uint64_t count = ParseAxes(message, rank);
  message.Skip(version < 3 ? 4 * std::size_t(rank) : 0);
  Datatype element = ParseNestedType(message, depth + 1);
  Require(count > 0 && CheckedProduct(element.Bytes, count) == type.Bytes, "an array type with a wrong size");
  type.Members.push_back({{}, 0, std::move(element)});
}

void ParseEnumeration(Cursor& message, unsigned version, unsigned count, int depth)
{
  const Datatype base = ParseNestedType(message, depth + 1);
  for (unsigned name = 0; name < count; ++name) {
    message.ReadText(version >= 3 ? 1 : 8);
  }
  message.Skip(std::uint64_t(count) * base.Bytes);
}

/// Parses the properties that follow the first 8 bytes of a type, and stores them in `type`. `bits`: bit
/// field of the type's class.
void ParseProperties(Cursor& message, unsigned version, unsigned bits, Datatype& type, int depth)
{
  constexpr unsigned textList = 1;
  switch (type.Class) {
    case TypeClass::Integer:
    case TypeClass::Bitfield:
      return ParseInteger(message, bits, type);
    case TypeClass::Float:
      return ParseFloat(message, bits, type);
    case TypeClass::Time:
      message.Skip(2);
      return;
    case TypeClass::Opaque:
      message.Skip(bits & 0xff);
      return;
    case TypeClass::Compound:
      return ParseMembers(message, version, bits & 0xffff, type, depth);
    case TypeClass::Enumeration:
      return ParseEnumeration(message, version, bits & 0xffff, depth);
    case TypeClass::VariableLength:
      type.IsText = (bits & 0xf) == textList;
      ParseNestedType(message, depth + 1);
      return;
    case TypeClass::Array:
      return ParseArray(message, version, type, depth);
    case TypeClass::Complex:
      ParseNestedType(message, depth + 1);
      return;
    case TypeClass::Text:
    case TypeClass::Reference:
      return;
  }
}

Datatype ParseNestedType(Cursor& message, int depth)
{
  Require(depth < MaximumDepth, "types nested too deeply");
  const unsigned first = message.Read<std::uint8_t>(), version = first >> 4;
  const auto bits = static_cast<unsigned>(message.ReadNumber(3));
  Datatype type;
  type.Class = static_cast<TypeClass>(first & 15);
  type.Bytes = message.Read<std::uint32_t>();
  if (version < 1 || version > 5 || type.Class > LastTypeClass) {
    throw Unsupported(fmt::format("datatype of version {} and class {}", version, first & 15));
  }
  Require(type.Bytes > 0, "elements without a size");
  ParseProperties(message, version, bits, type, depth);
  return type;
}

}  // namespace

std::string Cursor::ReadText(std::size_t unit)
{
  const std::byte* const end = std::find(this->Position, this->Position + this->Remaining, std::byte(0));
  const auto bytes = static_cast<std::size_t>(end - this->Position);
  const std::byte* const text = this->Skip((bytes + unit) / unit * unit);
  return {reinterpret_cast<const char*>(text), bytes};
}

std::uint64_t CheckedProduct(std::uint64_t a, std::uint64_t b)
{
  Require(b == 0 || a <= (std::uint64_t(1) << 60) / b, "more values than a file can have");
  return a * b;
}

Datatype ParseDatatype(Cursor& message)
{
  return ParseNestedType(message, 0);
}

}  // namespace patchio::hdf5
