#include "Support/Hdf5Messages.h"

#include "Support/Hdf5.h"

#include <algorithm>

namespace patchio::hdf5 {
namespace {

constexpr unsigned MostAxes = 32;
constexpr int MostNested = 16;  ///< types in types
/// The most bytes of an element, and of a chunk, which the library takes into memory as one.
constexpr std::uint64_t MostElementBytes = std::uint64_t(1) << 28;

DataType TakeTypeWithin(Cursor& message, int nested);

void RequireBits(std::uint64_t first, std::uint64_t count, std::uint64_t bytes)
{
  RequireOfFile(first + count <= 8 * bytes, "a number with bits outside its bytes");
}

void TakeInteger(Cursor& message, std::uint64_t bytes)
{
  const unsigned first = message.Take<std::uint16_t>(), precision = message.Take<std::uint16_t>();
  RequireOfFile(precision > 0, "a number without bits");
  RequireBits(first, precision, bytes);
}

void TakeFloat(Cursor& message, std::uint64_t bytes, std::uint32_t bits)
{
  const unsigned first = message.Take<std::uint16_t>(), precision = message.Take<std::uint16_t>();
  RequireBits(first, precision, bytes);
  RequireBits(bits >> 8 & 0xff, 1, bytes);  // the sign
  for (int part = 0; part < 2; ++part) {    // exponent and mantissa
    const unsigned begin = message.Take<std::uint8_t>(), count = message.Take<std::uint8_t>();
    RequireBits(begin, count, bytes);
  }
  message.Skip(4);
}

/// The axes of an array: `count` numbers of 4 bytes.
std::uint64_t TakeAxes(Cursor& message, unsigned count)
{
  std::uint64_t product = 1;
  for (unsigned axis = 0; axis < count; ++axis) {
    product = Product(product, message.Take<std::uint32_t>());
  }
  return product;
}

void TakeMembers(Cursor& message, unsigned version, unsigned count, DataType& type, int nested)
{
  RequireOfFile(count > 0, "a record without members");
  std::size_t offsetBytes = 4;
  if (version >= 3) {
    for (offsetBytes = 1; offsetBytes < 4 && type.Bytes >> 8 * offsetBytes > 0; ++offsetBytes) {
    }
  }
  for (unsigned m = 0; m < count; ++m) {
    message.SkipText(version >= 3 ? 1 : 8);
    std::uint64_t offset = 0, times = 1;
    for (std::size_t byte = 0; byte < offsetBytes; ++byte) {
      offset |= std::uint64_t(message.Take<std::uint8_t>()) << 8 * byte;
    }
    if (version == 1) {
      const unsigned axes = message.Take<std::uint8_t>();
      RequireOfFile(axes <= 4, "a member of a record with too many axes");
      message.Skip(11);
      times = TakeAxes(message, axes);
      message.Skip(4 * (4 - axes));
    }
    const DataType member = TakeTypeWithin(message, nested + 1);
    const std::uint64_t bytes = Product(member.Bytes, times);
    RequireOfFile(offset <= type.Bytes && bytes <= type.Bytes - offset, "a record with members outside it");
    type.HasReferences = type.HasReferences || member.HasReferences;
  }
}

void TakeArray(Cursor& message, unsigned version, DataType& type, int nested)
{
  const unsigned rank = message.Take<std::uint8_t>();
  RequireOfFile(rank > 0 && rank <= MostAxes, "an array type with an impossible number of axes");
  message.Skip(version < 3 ? 3 : 0);
  const std::uint64_t count = TakeAxes(message, rank);
  message.Skip(version < 3 ? 4 * std::uint64_t(rank) : 0);
  const DataType base = TakeTypeWithin(message, nested + 1);
  RequireOfFile(count > 0 && Product(base.Bytes, count) == type.Bytes, "an array type with a wrong size");
  type.HasReferences = base.HasReferences;
}

void TakeEnumeration(Cursor& message, unsigned version, unsigned count, DataType& type, int nested)
{
  const DataType base = TakeTypeWithin(message, nested + 1);
  RequireOfFile(
      base.Class == IntegerClass && base.Bytes == type.Bytes, "an enumeration that is not of integers");
  for (unsigned name = 0; name < count; ++name) {
    message.SkipText(version >= 3 ? 1 : 8);
  }
  message.Skip(count * base.Bytes);
}

DataType TakeTypeWithin(Cursor& message, int nested)
{
  RequireOfFile(nested < MostNested, "types nested too deeply");
  const unsigned first = message.Take<std::uint8_t>(), version = first >> 4;
  const std::uint32_t low = message.Take<std::uint8_t>(), middle = message.Take<std::uint8_t>();
  message.Skip(1);
  const std::uint32_t bits = low | middle << 8;
  DataType type;
  type.Class = first & 15;
  type.Bytes = message.Take<std::uint32_t>();
  RequireOfFile(version >= 1 && version <= 3, "a type with an unknown version");
  RequireOfFile(type.Bytes > 0 && type.Bytes <= MostElementBytes, "elements with an impossible size");
  switch (type.Class) {
    case IntegerClass:
    case BitsClass:
      TakeInteger(message, type.Bytes);
      break;
    case FloatClass:
      TakeFloat(message, type.Bytes, bits);
      break;
    case TimeClass:
      message.Skip(2);
      break;
    case TextClass:
      break;
    case OpaqueClass:
      message.Skip(low);
      break;
    case ReferenceClass:
      RequireOfFile(type.Bytes == 8 || type.Bytes == 12, "a reference with a wrong size");
      break;
    case CompoundClass:
      TakeMembers(message, version, bits, type, nested);
      break;
    case EnumerationClass:
      TakeEnumeration(message, version, bits, type, nested);
      break;
    case ListClass:
      RequireOfFile(type.Bytes == 16, "a list with a wrong size");
      type.PartBytes = TakeTypeWithin(message, nested + 1).Bytes;
      type.HasReferences = true;
      break;
    case ArrayClass:
      TakeArray(message, version, type, nested);
      break;
    default:
      throw Unsound("a type with an unknown class");
  }
  return type;
}

}  // namespace

const std::byte* Cursor::Skip(std::uint64_t count)
{
  RequireOfFile(count <= this->Rest, "a description that ends early");
  const std::byte* const here = this->At;
  this->At += count;
  this->Rest -= static_cast<std::size_t>(count);
  return here;
}

void Cursor::SkipText(std::size_t unit)
{
  const std::byte* const end = std::find(this->At, this->At + this->Rest, std::byte(0));
  const auto bytes = static_cast<std::size_t>(end - this->At) + 1;
  this->Skip((bytes + unit - 1) / unit * unit);
}

std::uint64_t Product(std::uint64_t a, std::uint64_t b)
{
  RequireOfFile(b == 0 || a <= (std::uint64_t(1) << 60) / b, "more values than a file can have");
  return a * b;
}

DataSpace TakeSpace(Cursor& message)
{
  const unsigned version = message.Take<std::uint8_t>();
  DataSpace space;
  space.Rank = message.Take<std::uint8_t>();
  const unsigned flags = message.Take<std::uint8_t>();
  const unsigned kind = message.Take<std::uint8_t>();  // of version 2: scalar, simple, null
  RequireOfFile(version == 1 || version == 2, "a shape with an unknown version");
  RequireOfFile(space.Rank <= MostAxes && flags <= 1, "an impossible shape");
  RequireOfFile(version == 1 || (kind <= 2 && (kind == 1 || space.Rank == 0)), "an impossible shape");
  message.Skip(version == 1 ? 4 : 0);
  for (unsigned axis = 0; axis < space.Rank; ++axis) {
    space.Values = Product(space.Values, message.Take<std::uint64_t>());
  }
  message.Skip(flags & 1 ? 8 * std::uint64_t(space.Rank) : 0);
  if (version == 2 && kind == 2) {
    space.Values = 0;
  }
  return space;
}

DataType TakeType(Cursor& message)
{
  return TakeTypeWithin(message, 0);
}

namespace {

void TakeChunks(Cursor& message, DataLayout& layout)
{
  RequireOfFile(layout.Rank >= 2 && layout.Rank <= MostAxes + 1, "chunks with an impossible number of axes");
  layout.Bytes = 1;
  for (unsigned axis = 0; axis < layout.Rank; ++axis) {
    layout.ElementBytes = message.Take<std::uint32_t>();  // the last one
    layout.Bytes = Product(layout.Bytes, layout.ElementBytes);
  }
  RequireOfFile(layout.Bytes > 0 && layout.Bytes <= MostElementBytes, "chunks with an impossible size");
}

/// Versions 1 and 2.
DataLayout TakeOldLayout(Cursor& message)
{
  DataLayout layout;
  layout.Rank = message.Take<std::uint8_t>();
  const unsigned kind = message.Take<std::uint8_t>();
  message.Skip(5);
  RequireOfFile(kind <= 2 && layout.Rank <= MostAxes + 1, "an impossible data layout");
  layout.Kind = kind == 0 ? Layout::Compact : kind == 1 ? Layout::Contiguous : Layout::Chunked;
  if (layout.Kind != Layout::Compact) {
    layout.Address = message.Take<std::uint64_t>();
  }
  if (layout.Kind == Layout::Chunked) {
    TakeChunks(message, layout);
    return layout;
  }
  layout.Bytes = TakeAxes(message, layout.Rank);
  if (layout.Kind == Layout::Compact) {
    layout.Bytes = message.Take<std::uint32_t>();
    message.Skip(layout.Bytes);
  }
  return layout;
}

}  // namespace

DataLayout TakeLayout(Cursor& message)
{
  const unsigned version = message.Take<std::uint8_t>();
  if (version == 1 || version == 2) {
    return TakeOldLayout(message);
  }
  const unsigned kind = message.Take<std::uint8_t>();
  if (version == 4 && kind == 3) {
    throw Unsound(VirtualDataset);
  }
  RequireOfFile(version == 3 && kind <= 2, "an unknown data layout");
  DataLayout layout;
  if (kind == 0) {
    layout.Kind = Layout::Compact;
    layout.Bytes = message.Take<std::uint16_t>();
    message.Skip(layout.Bytes);
  } else if (kind == 1) {
    layout.Kind = Layout::Contiguous;
    layout.Address = message.Take<std::uint64_t>();
    layout.Bytes = message.Take<std::uint64_t>();
  } else {
    layout.Kind = Layout::Chunked;
    layout.Rank = message.Take<std::uint8_t>();
    layout.Address = message.Take<std::uint64_t>();
    TakeChunks(message, layout);
  }
  return layout;
}

std::uint64_t TakeOldFill(Cursor& message)
{
  const std::uint32_t bytes = message.Take<std::uint32_t>();
  message.Skip(bytes);
  return bytes;
}

std::uint64_t TakeFill(Cursor& message)
{
  const unsigned version = message.Take<std::uint8_t>();
  RequireOfFile(version >= 1 && version <= 3, "a fill value with an unknown version");
  bool defined = false;
  if (version == 3) {
    constexpr unsigned definedFlag = 0x20;
    defined = message.Take<std::uint8_t>() & definedFlag;
  } else {
    message.Skip(2);
    defined = message.Take<std::uint8_t>() != 0 || version == 1;
  }
  const std::uint32_t bytes = defined ? message.Take<std::uint32_t>() : 0;
  if (bytes == ~std::uint32_t(0)) {  // undefined, in version 1 and 2
    return 0;
  }
  message.Skip(bytes);
  return bytes;
}

std::vector<unsigned> TakeFilters(Cursor& message)
{
  constexpr unsigned mostFilters = 32, firstNamed = 256;
  const unsigned version = message.Take<std::uint8_t>();
  RequireOfFile(version == 1 || version == 2, "filters with an unknown version");
  std::vector<unsigned> filters(message.Take<std::uint8_t>());
  RequireOfFile(filters.size() <= mostFilters, "too many filters");
  message.Skip(version == 1 ? 6 : 0);
  for (unsigned& filter : filters) {
    filter = message.Take<std::uint16_t>();
    const unsigned nameBytes = version == 1 || filter >= firstNamed ? message.Take<std::uint16_t>() : 0;
    message.Skip(2);
    const unsigned parameters = message.Take<std::uint16_t>();
    RequireOfFile(version == 2 || nameBytes % 8 == 0, "a filter name with a wrong length");
    if (nameBytes > 0) {
      Cursor name = message.Part(nameBytes);
      name.SkipText(1);
    }
    message.Skip(4 * std::uint64_t(parameters + (version == 1 ? parameters % 2 : 0)));
  }
  return filters;
}

std::uint64_t TakeLink(Cursor& message)
{
  RequireOfFile(message.Take<std::uint8_t>() == 1, "a link with an unknown version");
  const unsigned flags = message.Take<std::uint8_t>();
  RequireOfFile(flags < 0x20, "a link of an unknown type");
  const unsigned kind = flags & 0x08 ? message.Take<std::uint8_t>() : 0;
  message.Skip(flags & 0x04 ? 8 : 0);
  message.Skip(flags & 0x10 ? 1 : 0);
  std::uint64_t length = 0;
  for (unsigned byte = 0; byte < 1u << (flags & 3); ++byte) {
    length |= std::uint64_t(message.Take<std::uint8_t>()) << 8 * byte;
  }
  RequireOfFile(length > 0, "a link without a name");
  message.Skip(length);
  if (kind == 0) {
    return message.Take<std::uint64_t>();
  }
  message.Skip(message.Take<std::uint16_t>());
  return NoAddress;
}

}  // namespace patchio::hdf5
