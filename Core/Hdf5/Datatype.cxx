#include "Hdf5/Datatype.h"

#include <fmt/format.h>

#include <algorithm>

namespace patchio::hdf5 {
namespace {

constexpr int MostNested = 16;  ///< greatest depth of types within types
constexpr unsigned MostAxes = 32;

/// The properties of floating-point types with which HDF5 describes the IEEE formats of 4 and 8 bytes.
struct FloatFormat
{
  unsigned Bits, Sign, ExponentAt, ExponentBits, MantissaBits, Bias;
};
constexpr FloatFormat Ieee[] = {{32, 31, 23, 8, 23, 127}, {64, 63, 52, 11, 52, 1023}};

Datatype TakeTypeWithin(Cursor& message, int nested);

/// Parses the properties of an integer. Bit fields have the same properties.
void TakeInteger(Cursor& message, unsigned bits, Datatype& type)
{
  const unsigned first = message.Take<std::uint16_t>(), precision = message.Take<std::uint16_t>();
  const std::uint64_t all = std::uint64_t(type.Bytes) * 8;
  Require(precision > 0 && first + precision <= all, "a number with bits outside its bytes");
  type.BigEndian = (bits & 1) != 0;
  type.Signed = (bits & 8) != 0;
  type.IsPlain = first == 0 && precision == all && type.Bytes <= 8;
}

void TakeFloat(Cursor& message, unsigned bits, Datatype& type)
{
  constexpr unsigned vaxOrder = 0x40, impliedBit = 2;
  const unsigned first = message.Take<std::uint16_t>(), precision = message.Take<std::uint16_t>();
  const unsigned exponentAt = message.Take<std::uint8_t>(), exponentBits = message.Take<std::uint8_t>();
  const unsigned mantissaAt = message.Take<std::uint8_t>(), mantissaBits = message.Take<std::uint8_t>();
  const auto bias = message.Take<std::uint32_t>();
  const std::uint64_t all = std::uint64_t(type.Bytes) * 8;
  Require(first + precision <= all && exponentAt + exponentBits <= all && mantissaAt + mantissaBits <= all,
      "a number with bits outside its bytes");
  type.BigEndian = (bits & 1) != 0;
  type.IsPlain = std::any_of(std::begin(Ieee), std::end(Ieee), [&](const FloatFormat& format) {
    return all == format.Bits && (bits & vaxOrder) == 0 && (bits >> 4 & 3) == impliedBit &&
           (bits >> 8 & 0xff) == format.Sign && first == 0 && precision == format.Bits &&
           exponentAt == format.ExponentAt && exponentBits == format.ExponentBits && mantissaAt == 0 &&
           mantissaBits == format.MantissaBits && bias == format.Bias;
  });
}

/// Parses the lengths of `count` axes. Returns their product.
std::uint64_t TakeAxes(Cursor& message, unsigned count)
{
  std::uint64_t product = 1;
  for (unsigned axis = 0; axis < count; ++axis) {
    product = Product(product, message.Take<std::uint32_t>());
  }
  return product;
}

/// Parses a member of a record. In version 1, the axes of an array are in the member, not in its type.
void TakeMember(Cursor& message, unsigned version, std::size_t offsetBytes, Datatype& type, int nested)
{
  TypeMember member;
  member.Name = message.TakeText(version >= 3 ? 1 : 8);
  member.Offset = static_cast<std::uint32_t>(message.TakeBytes(offsetBytes));
  std::uint64_t times = 1;
  unsigned axes = 0;
  if (version == 1) {
    axes = message.Take<std::uint8_t>();
    Require(axes <= 4, "a member of a record with too many axes");
    message.Skip(11);
    times = TakeAxes(message, axes);
    message.Skip(4 * std::size_t(4 - axes));
  }
  member.Type = TakeTypeWithin(message, nested + 1);
  const std::uint64_t bytes = Product(member.Type.Bytes, times);
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

void TakeMembers(Cursor& message, unsigned version, unsigned count, Datatype& type, int nested)
{
  Require(count > 0, "a record without members");
  std::size_t offsetBytes = 4;
  if (version >= 3) {
    for (offsetBytes = 1; offsetBytes < 4 && type.Bytes >> 8 * offsetBytes > 0; ++offsetBytes) {
    }
  }
  for (unsigned m = 0; m < count; ++m) {
    TakeMember(message, version, offsetBytes, type, nested);
  }
}

void TakeArray(Cursor& message, unsigned version, Datatype& type, int nested)
{
  const unsigned rank = message.Take<std::uint8_t>();
  Require(rank > 0 && rank <= MostAxes, "an array type with an impossible number of axes");
  message.Skip(version < 3 ? 3 : 0);
  const std::uint64_t count = TakeAxes(message, rank);
  message.Skip(version < 3 ? 4 * std::size_t(rank) : 0);
  Datatype element = TakeTypeWithin(message, nested + 1);
  Require(count > 0 && Product(element.Bytes, count) == type.Bytes, "an array type with a wrong size");
  type.Members.push_back({{}, 0, std::move(element)});
}

void TakeEnumeration(Cursor& message, unsigned version, unsigned count, int nested)
{
  const Datatype base = TakeTypeWithin(message, nested + 1);
  for (unsigned name = 0; name < count; ++name) {
    message.TakeText(version >= 3 ? 1 : 8);
  }
  message.Skip(std::uint64_t(count) * base.Bytes);
}

/// Parses the properties after the first 8 bytes of a type.
void TakeProperties(Cursor& message, unsigned version, unsigned bits, Datatype& type, int nested)
{
  constexpr unsigned textList = 1;
  switch (type.Class) {
    case TypeClass::Integer:
    case TypeClass::Bits:
      return TakeInteger(message, bits, type);
    case TypeClass::Float:
      return TakeFloat(message, bits, type);
    case TypeClass::Time:
      message.Skip(2);
      return;
    case TypeClass::Opaque:
      message.Skip(bits & 0xff);
      return;
    case TypeClass::Compound:
      return TakeMembers(message, version, bits & 0xffff, type, nested);
    case TypeClass::Enumeration:
      return TakeEnumeration(message, version, bits & 0xffff, nested);
    case TypeClass::List:
      type.IsText = (bits & 0xf) == textList;
      TakeTypeWithin(message, nested + 1);
      return;
    case TypeClass::Array:
      return TakeArray(message, version, type, nested);
    case TypeClass::Complex:
      TakeTypeWithin(message, nested + 1);
      return;
    case TypeClass::Text:
    case TypeClass::Reference:
      return;
  }
}

Datatype TakeTypeWithin(Cursor& message, int nested)
{
  Require(nested < MostNested, "types nested too deeply");
  const unsigned first = message.Take<std::uint8_t>(), version = first >> 4;
  const auto bits = static_cast<unsigned>(message.TakeBytes(3));
  Datatype type;
  type.Class = static_cast<TypeClass>(first & 15);
  type.Bytes = message.Take<std::uint32_t>();
  if (version < 1 || version > 5 || type.Class > LastTypeClass) {
    throw Unsupported(fmt::format("datatype of version {} and class {}", version, first & 15));
  }
  Require(type.Bytes > 0, "elements without a size");
  TakeProperties(message, version, bits, type, nested);
  return type;
}

}  // namespace

std::string Cursor::TakeText(std::size_t unit)
{
  const std::byte* const end = std::find(this->At, this->At + this->Rest, std::byte(0));
  const auto bytes = static_cast<std::size_t>(end - this->At);
  const std::byte* const text = this->Skip((bytes + unit) / unit * unit);
  return {reinterpret_cast<const char*>(text), bytes};
}

std::uint64_t Product(std::uint64_t a, std::uint64_t b)
{
  Require(b == 0 || a <= (std::uint64_t(1) << 60) / b, "more values than a file can have");
  return a * b;
}

Datatype TakeDatatype(Cursor& message)
{
  return TakeTypeWithin(message, 0);
}

}  // namespace patchio::hdf5
