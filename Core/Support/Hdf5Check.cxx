#include "Support/Hdf5Check.h"

#include "Support/Hdf5Signature.h"
#include "Support/Hdf5Trial.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace patchio::hdf5 {
namespace {

constexpr std::size_t WindowBytes = 16384;
constexpr std::size_t MostWindows = 1024;
constexpr std::uint64_t LargestBlock = std::uint64_t(1) << 24;  ///< of an object header
constexpr std::size_t MostBlocks = 4096;                        ///< of an object header

enum MessageType : unsigned
{
  Nil = 0x00,
  Space = 0x01,
  LinkInfo = 0x02,
  Type = 0x03,
  OldFill = 0x04,
  Fill = 0x05,
  Link = 0x06,
  ExternalFiles = 0x07,
  LayoutOfValues = 0x08,
  GroupInfo = 0x0a,
  Filters = 0x0b,
  Attribute = 0x0c,
  Comment = 0x0d,
  OldTime = 0x0e,
  Continuation = 0x10,
  SymbolTable = 0x11,
  NewTime = 0x12,
  AttributeInfo = 0x15,
  References = 0x16
};

bool Begins(const std::vector<std::byte>& bytes, const char* signature)
{
  return std::memcmp(bytes.data(), signature, 4) == 0;
}

Cursor At(const std::vector<std::byte>& bytes, std::size_t from = 0)
{
  return {bytes.data() + from, bytes.size() - from};
}

}  // namespace

StructureCheck::StructureCheck(const std::string& path) : File(path), FileBytes(this->File.Size())
{
  const char* const wish = std::getenv("PATCHIO_HDF5");
  this->Strict = wish && std::string(wish) == "strict";
  this->Enabled = !(wish && std::string(wish) == "trust");
  if (this->Enabled) {
    this->FindSuperblock();
  }
}

/// Where there is none the library says that the file is no HDF5 file.
void StructureCheck::FindSuperblock()
{
  for (std::uint64_t place = 0; place + 96 <= this->FileBytes; place = place == 0 ? 512 : 2 * place) {
    const std::vector<std::byte> begin = this->Bytes(place, Hdf5Signature.size());
    if (std::memcmp(begin.data(), Hdf5Signature.data(), begin.size()) == 0) {
      this->Base = place;
      this->TakeSuperblock();
      return;
    }
  }
  this->Enabled = false;
}

void StructureCheck::TakeSuperblock()
{
  const std::vector<std::byte> block =
      this->Bytes(0, std::min<std::uint64_t>(this->FileBytes - this->Base, 112));
  Cursor cursor = At(block, Hdf5Signature.size());
  const unsigned version = cursor.Take<std::uint8_t>();
  if (version >= 2) {
    this->MeetUnknown("a new-style superblock");
    this->Enabled = false;
    return;
  }
  cursor.Skip(4);
  const unsigned offsetBytes = cursor.Take<std::uint8_t>(), lengthBytes = cursor.Take<std::uint8_t>();
  RequireOfFile(offsetBytes == 8 && lengthBytes == 8, "addresses that are not 8 bytes long");
  cursor.Skip(1);
  this->SymbolsK = cursor.Take<std::uint16_t>();
  this->GroupK = cursor.Take<std::uint16_t>();
  cursor.Skip(4);
  if (version == 1) {
    this->ChunkK = cursor.Take<std::uint16_t>();
    cursor.Skip(2);
  }
  RequireOfFile(this->SymbolsK > 0 && this->GroupK > 0 && this->ChunkK > 0, "trees without space");
  cursor.Skip(16);
  const std::uint64_t end = cursor.Take<std::uint64_t>(), driver = cursor.Take<std::uint64_t>();
  RequireOfFile(driver == NoAddress, "a superblock for several files");
  if (end > this->FileBytes) {
    this->Enabled = false;  // the library says that it was cut off, before it reads on
    return;
  }
  cursor.Skip(8);
  const std::uint64_t root = cursor.Take<std::uint64_t>();
  const std::uint32_t cached = cursor.Take<std::uint32_t>();
  cursor.Skip(4);
  this->Object(root);
  if (cached == 1) {
    const Header& header = this->Known(root);
    const std::uint64_t tree = cursor.Take<std::uint64_t>(), heap = cursor.Take<std::uint64_t>();
    const bool same = header.Tree == tree && header.Heap == heap;
    RequireOfFile(same || header.Tree == NoAddress, "two root groups");
  }
}

void StructureCheck::MeetUnknown(const char* what)
{
  if (this->Strict) {
    throw Unsound(std::string(what) + ", which PATCHIO_HDF5=strict rejects");
  }
  if (!this->Unknown) {
    TryFile(this->File.Path());
    this->Unknown = true;
  }
}

void StructureCheck::RequireInside(std::uint64_t address, std::uint64_t count) const
{
  const std::uint64_t bytes = this->FileBytes - this->Base;
  RequireOfFile(address <= bytes && count <= bytes - address, "an address outside the file");
}

std::vector<std::byte> StructureCheck::Bytes(std::uint64_t address, std::uint64_t count)
{
  this->RequireInside(address, count);
  std::vector<std::byte> bytes(count);
  std::uint64_t from = this->Base + address;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t number = from / WindowBytes, inside = from % WindowBytes;
    if (this->Windows.size() >= MostWindows && this->Windows.count(number) == 0) {
      this->Windows.clear();
    }
    std::unique_ptr<std::byte[]>& window = this->Windows[number];
    const std::uint64_t begin = number * WindowBytes;
    if (!window) {
      auto filled = std::make_unique<std::byte[]>(WindowBytes);
      this->File.Read(begin, filled.get(), std::min<std::uint64_t>(WindowBytes, this->FileBytes - begin));
      window = std::move(filled);
    }
    const std::uint64_t part = std::min(count - done, WindowBytes - inside);
    std::memcpy(bytes.data() + done, window.get() + inside, part);
    done += part;
    from += part;
  }
  return bytes;
}

void StructureCheck::Object(std::uint64_t address)
{
  if (!this->Enabled) {
    return;
  }
  this->Known(address);
}

StructureCheck::Header& StructureCheck::Known(std::uint64_t address)
{
  const auto [entry, isNew] = this->Headers.try_emplace(address);
  Header& header = entry->second;  // stays where it is
  if (isNew) {
    try {
      this->ReadHeader(address, header);
    } catch (...) {
      this->Headers.erase(address);
      throw;
    }
  }
  return header;
}

void StructureCheck::ReadHeader(std::uint64_t address, Header& header)
{
  const std::vector<std::byte> prefix = this->Bytes(address, 16);
  if (Begins(prefix, "OHDR")) {
    this->MeetUnknown("a new-style object header");
    return;
  }
  Cursor cursor = At(prefix);
  RequireOfFile(cursor.Take<std::uint8_t>() == 1, "an object header with an unknown version");
  cursor.Skip(1);
  const unsigned messages = cursor.Take<std::uint16_t>();
  cursor.Skip(4);
  const std::uint32_t bytes = cursor.Take<std::uint32_t>();
  RequireOfFile(messages > 0 ? bytes >= 8 : bytes == 0, "an object header with a wrong size");
  Blocks blocks{{address + 16, bytes}};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto [place, size] = blocks[b];
    RequireOfFile(size <= LargestBlock && blocks.size() <= MostBlocks, "an object header that is too large");
    this->TakeBlock(this->Bytes(place, size), header, blocks);
  }
  this->CheckParts(header);
  if (header.Tree != NoAddress) {
    this->Group(header.Tree, header.Heap);
  }
}

void StructureCheck::TakeBlock(const std::vector<std::byte>& block, Header& header, Blocks& blocks)
{
  constexpr unsigned sharedFlag = 2;
  Cursor rest = At(block);
  while (rest.Left() > 0) {
    const unsigned type = rest.Take<std::uint16_t>();
    const std::size_t bytes = rest.Take<std::uint16_t>();
    const bool shared = rest.Take<std::uint8_t>() & sharedFlag;
    rest.Skip(3);
    RequireOfFile(bytes % 8 == 0, "a message with a wrong size");
    Cursor message = rest.Part(bytes);
    if (type != Continuation) {
      this->TakeMessage(type, shared, message, header);
      continue;
    }
    const std::uint64_t place = message.Take<std::uint64_t>(), size = message.Take<std::uint64_t>();
    const bool known = std::any_of(
        blocks.begin(), blocks.end(), [place = place](const auto& other) { return other.first == place; });
    RequireOfFile(!shared && !known && size >= 8, "an object header that continues outside the file");
    blocks.emplace_back(place, size);
  }
}

void StructureCheck::TakeMessage(unsigned type, bool shared, Cursor& message, Header& header)
{
  RequireOfFile(!shared || type == Type, "a shared message that is not a type");
  switch (type) {
    case Nil:
      break;
    case Space:
      RequireOfFile(!header.HasSpace, "an object with two shapes");
      header.Space = TakeSpace(message);
      header.HasSpace = true;
      break;
    case Type:
      RequireOfFile(!header.HasType, "an object with two types");
      header.Type = this->TakeAnyType(message, shared);
      header.HasType = true;
      break;
    case OldFill:
    case Fill: {
      const std::uint64_t bytes = type == Fill ? TakeFill(message) : TakeOldFill(message);
      header.FillBytes = std::max(header.FillBytes, bytes);
      header.HasOddFill = header.HasOddFill || (bytes > 0 && bytes != header.FillBytes);
      break;
    }
    case ExternalFiles:
      this->TakeExternalFiles(message);
      break;
    case LayoutOfValues:
      RequireOfFile(header.Values.Kind == Layout::None, "an object with two layouts");
      header.Values = TakeLayout(message);
      break;
    case Filters:
      this->TakeCheckedFilters(message);
      break;
    case Attribute:
      this->TakeAttribute(message);
      break;
    default:
      this->TakeMessageOfGroup(type, message, header);
  }
}

/// Those of groups, and those of any object.
void StructureCheck::TakeMessageOfGroup(unsigned type, Cursor& message, Header& header)
{
  switch (type) {
    case LinkInfo: {
      RequireOfFile(message.Take<std::uint8_t>() == 0, "links with an unknown version");
      message.Skip(message.Take<std::uint8_t>() & 1 ? 8 : 0);
      if (message.Take<std::uint64_t>() != NoAddress) {
        this->MeetUnknown("a new-style group");
      }
      break;
    }
    case Link:
      TakeLink(message);
      break;
    case GroupInfo: {
      RequireOfFile(message.Take<std::uint8_t>() == 0, "a group with an unknown version");
      const unsigned flags = message.Take<std::uint8_t>();
      message.Skip((flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0));
      break;
    }
    case Comment:
      message.SkipText(1);
      break;
    case OldTime:
      message.Skip(16);
      break;
    case NewTime:
      message.Skip(8);
      break;
    case SymbolTable:
      RequireOfFile(header.Tree == NoAddress, "a group with two lists of members");
      header.Tree = message.Take<std::uint64_t>();
      header.Heap = message.Take<std::uint64_t>();
      RequireOfFile(header.Tree != NoAddress, "a group without a list of its members");
      break;
    case AttributeInfo:
      this->MeetUnknown("new-style attributes");
      break;
    case References:
      message.Skip(5);
      break;
    default:
      throw Unsound("a message of an unknown type");
  }
}

void StructureCheck::CheckParts(const Header& header) const
{
  const DataLayout& values = header.Values;
  const bool whole = header.HasSpace && header.HasType;
  RequireOfFile(values.Kind == Layout::None || whole, "values without a type or a shape");
  if (!whole) {
    return;
  }
  RequireOfFile(header.FillBytes == 0 || (header.FillBytes == header.Type.Bytes && !header.HasOddFill &&
                                             !header.Type.HasReferences),
      "a fill value with a wrong type");
  const std::uint64_t bytes = Product(header.Space.Values, header.Type.Bytes);
  if (values.Kind == Layout::Compact) {
    RequireOfFile(bytes <= values.Bytes, "fewer values than stated");
  } else if (values.Kind == Layout::Contiguous && values.Address != NoAddress) {
    RequireOfFile(bytes <= values.Bytes, "fewer values than stated");
    this->RequireInside(values.Address, bytes);
  } else if (values.Kind == Layout::Chunked) {
    RequireOfFile(values.Rank == header.Space.Rank + 1 && values.ElementBytes == header.Type.Bytes,
        "chunks with another shape or type than their values");
  }
}

}  // namespace patchio::hdf5
