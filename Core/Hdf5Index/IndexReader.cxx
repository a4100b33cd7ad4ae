#include "Hdf5Index/IndexReader.h"

#include "Hdf5Index/DatasetMessages.h"
#include "Hdf5Index/Lookup3.h"
#include "Hdf5Index/Tree1.h"
#include "Support/Hdf5Signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>

namespace patchio::hdf5index {
namespace {

constexpr std::size_t SymbolBytes = 40;
constexpr unsigned LargestK = 256;  ///< 4, 16 and 32 unless somebody asked for other nodes

/// A link of a group of the new style.
struct Link
{
  std::string_view Name;
  unsigned Kind = 0;                  ///< 0: hard, 1: soft; others lead out of the file
  std::uint64_t Address = NoAddress;  ///< of a hard link: of the object's header
};

/// Section IV.A.2.g: version, flags, what they say that there is, name, and for hard links the address.
Link TakeLink(const Message& message)
{
  constexpr unsigned hasOrder = 4, hasKind = 8, hasCharacters = 0x10, known = 0x1f;
  const unsigned version = message.At<std::uint8_t>(0), flags = message.At<std::uint8_t>(1);
  if (version != 1 || (flags & ~known) != 0 || message.Shared) {
    throw Unfamiliar("a link of another version");
  }
  std::size_t place = 2;
  const unsigned kind = (flags & hasKind) != 0 ? message.At<std::uint8_t>(place++) : 0;
  place += (flags & hasOrder) != 0 ? 8 : 0;
  place += (flags & hasCharacters) != 0 ? 1 : 0;
  const std::size_t lengthBytes = std::size_t(1) << (flags & 3);
  message.Need(place, lengthBytes);
  const std::uint64_t length = LoadBytes(message.Data + place, lengthBytes);
  place += lengthBytes;
  message.Need(place, length);
  Link link;
  link.Name = {reinterpret_cast<const char*>(message.Data + place), static_cast<std::size_t>(length)};
  link.Kind = kind;
  if (kind == 0) {
    link.Address = message.At<std::uint64_t>(place + length);
  }
  return link;
}

/// The object of a link with the wanted name.
std::uint64_t ObjectOf(const Link& link)
{
  if (link.Kind != 0) {
    throw Unfamiliar(link.Kind == 1 ? "a soft link" : "a link to another file");
  }
  return link.Address;
}

}  // namespace

IndexReader::IndexReader()
    : Header(Bytes), GroupHeader(Bytes), SharedHeader(Bytes), Heaps(Bytes), Trees(Bytes), Lists(Bytes)
{
}

void IndexReader::Open(std::shared_ptr<Source::File> file, std::uint64_t bytes)
{
  this->Bytes.Attach(std::move(file), bytes);
  for (ObjectHeader* const header : {&this->Header, &this->GroupHeader, &this->SharedHeader}) {
    header->Forget();
  }
  this->Heaps.Forget();
  this->FindSuperblock();
  if (this->SymbolsK > LargestK || this->GroupK > LargestK || this->ChunkK > LargestK) {
    throw Unfamiliar("large group nodes");
  }
  this->Node.resize(std::max(this->SymbolsK * 2 * SymbolBytes, std::size_t(this->GroupK) * 2 * 16 + 8));
}

/// Looks at the beginning, and behind a user block of 512, 1024, 2048 ... bytes.
void IndexReader::FindSuperblock()
{
  const std::uint64_t fileBytes = this->Bytes.EndAddress();
  for (std::uint64_t base = 0; base + 12 <= fileBytes; base = base == 0 ? 512 : 2 * base) {
    std::byte head[9];
    this->Bytes.Read(base, head, sizeof(head));
    if (std::memcmp(head, Hdf5Signature.data(), Hdf5Signature.size()) == 0) {
      const unsigned version = Load<std::uint8_t>(head + 8);
      if (version > 3) {
        throw Unfamiliar(fmt::format("superblock version {}", version));
      }
      this->SymbolsK = 4;
      this->GroupK = 16;
      this->ChunkK = 32;
      return version <= 1 ? this->ReadSuperblock1(base) : this->ReadSuperblock2(base);
    }
  }
  throw Unfamiliar("no HDF5 superblock");
}

namespace {

/// Throws Unfamiliar for the end of a truncated file. base, end: as the superblock says; place: where it
/// lies.
void CheckEnd(const Metadata& bytes, std::uint64_t base, std::uint64_t place, std::uint64_t end)
{
  // A user block that was put before the file later moves all of it, and its base does not say so.
  if (base > place || end > bytes.EndAddress() || place - base > bytes.EndAddress() - end) {
    throw Unfamiliar("a truncated file");
  }
}

}  // namespace

/// Versions 0 and 1.
void IndexReader::ReadSuperblock1(std::uint64_t base)
{
  constexpr std::size_t fixed = 24;  // up to the addresses, but for what version 1 adds
  std::byte head[fixed];
  this->Bytes.Read(base, head, fixed);
  if (Load<std::uint8_t>(head + 13) != 8 || Load<std::uint8_t>(head + 14) != 8) {
    throw Unfamiliar("addresses that do not have 8 bytes");
  }
  this->SymbolsK = Load<std::uint16_t>(head + 16);
  this->GroupK = Load<std::uint16_t>(head + 18);
  std::uint64_t place = base + fixed;
  if (Load<std::uint8_t>(head + 8) == 1) {
    std::byte more[4];
    this->Bytes.Read(place, more, sizeof(more));
    this->ChunkK = Load<std::uint16_t>(more);
    place += sizeof(more);
  }
  std::byte addresses[48];  // base, free space, end, driver; then of the root's symbol: name, header
  this->Bytes.Read(place, addresses, sizeof(addresses));
  if (Load<std::uint64_t>(addresses + 24) != NoAddress) {
    throw Unfamiliar("a file in several parts");
  }
  CheckEnd(this->Bytes, Load<std::uint64_t>(addresses), base, Load<std::uint64_t>(addresses + 16));
  this->RootHeader = Load<std::uint64_t>(addresses + 40);
  this->Bytes.SetBase(base);
}

/// Versions 2 and 3: section II.A.
void IndexReader::ReadSuperblock2(std::uint64_t base)
{
  std::byte head[48];
  this->Bytes.ReadChecked(base, head, sizeof(head));
  if (Load<std::uint8_t>(head + 9) != 8 || Load<std::uint8_t>(head + 10) != 8) {
    throw Unfamiliar("addresses that do not have 8 bytes");
  }
  if (Load<std::uint8_t>(head + 11) != 0) {
    throw Unfamiliar("a file that is still open for writing");
  }
  CheckEnd(this->Bytes, Load<std::uint64_t>(head + 12), base, Load<std::uint64_t>(head + 28));
  this->RootHeader = Load<std::uint64_t>(head + 36);
  this->Bytes.SetBase(base);
  const auto extension = Load<std::uint64_t>(head + 20);
  if (extension != NoAddress) {
    this->ReadExtension(extension);
  }
}

/// Sizes of the nodes of trees of version 1.
void IndexReader::ReadExtension(std::uint64_t header)
{
  constexpr unsigned driver = 0x14;
  this->Header.Open(header);
  Message message;
  while (this->Header.Next(message)) {
    if (static_cast<unsigned>(message.Type) == driver) {
      throw Unfamiliar("a file in several parts");
    }
    if (message.Type == MessageType::TreeSizes) {
      this->ChunkK = message.At<std::uint16_t>(1);
      this->GroupK = message.At<std::uint16_t>(3);
      this->SymbolsK = message.At<std::uint16_t>(5);
    }
  }
}

Group IndexReader::OpenGroup(std::uint64_t header)
{
  this->GroupHeader.Open(header);
  Message message;
  while (this->GroupHeader.Next(message)) {
    if (message.Type == MessageType::LinkInfo) {
      return this->OpenNewGroup(header, message);
    }
    if (message.Type == MessageType::SymbolTable) {
      return this->OpenSymbols(message);
    }
  }
  throw Unfamiliar("an object that is not a group");
}

Group IndexReader::OpenSymbols(const Message& message)
{
  Group group;
  group.Tree = message.At<std::uint64_t>(0);
  std::byte heap[32];
  this->Bytes.Read(message.At<std::uint64_t>(8), heap, sizeof(heap));
  group.NameBytes = Load<std::uint64_t>(heap + 8);
  group.Names = Load<std::uint64_t>(heap + 24);
  const std::uint64_t end = this->Bytes.EndAddress();
  if (!Begins(heap, "HEAP") || heap[4] != std::byte{0} || group.Names > end ||
      group.NameBytes > end - group.Names) {
    throw Unfamiliar("a damaged heap of names");
  }
  return group;
}

/// Version, flags, the highest creation order where links have one, addresses of the heap and of the tree.
Group IndexReader::OpenNewGroup(std::uint64_t header, const Message& message)
{
  constexpr unsigned hasOrders = 1, hashes = 5;  // the type of the tree
  if (message.At<std::uint8_t>(0) != 0 || message.Shared) {
    throw Unfamiliar("a group of another version");
  }
  const std::size_t place = (message.At<std::uint8_t>(1) & hasOrders) != 0 ? 10 : 2;
  const auto heap = message.At<std::uint64_t>(place), tree = message.At<std::uint64_t>(place + 8);
  Group group;
  group.Members = heap == NoAddress ? Group::Style::Compact : Group::Style::Dense;
  group.Header = header;
  if (group.Members == Group::Style::Dense) {
    group.Links = this->Heaps.Open(heap);
    group.Hashes = this->Trees.Open(tree, hashes);
    if (group.Hashes.RecordBytes != 4 + group.Links.IdBytes) {
      throw Unfamiliar("a group whose tree and heap do not match");
    }
  }
  return group;
}

std::optional<std::uint64_t> IndexReader::Find(const Group& group, const std::string& name)
{
  switch (group.Members) {
    case Group::Style::Symbols:
      return this->FindSymbol(group, name);
    case Group::Style::Compact:
      return this->FindCompact(group, name);
    case Group::Style::Dense:
      break;
  }
  return this->FindDense(group, name);
}

std::optional<std::uint64_t> IndexReader::FindCompact(const Group& group, const std::string& name)
{
  this->GroupHeader.Open(group.Header);
  Message message;
  while (this->GroupHeader.Next(message)) {
    if (message.Type == MessageType::Link) {
      const Link link = TakeLink(message);
      if (link.Name == name) {
        return ObjectOf(link);
      }
    }
  }
  return {};
}

/// Records have the hash of a name, and the name of the link in the heap.
std::optional<std::uint64_t> IndexReader::FindDense(const Group& group, const std::string& name)
{
  const std::uint32_t hash = Lookup3(reinterpret_cast<const std::byte*>(name.data()), name.size());
  std::optional<std::uint64_t> found;
  const auto order = [hash](const std::byte* record) {
    const auto its = Load<std::uint32_t>(record);
    return its < hash ? -1 : its > hash ? 1 : 0;
  };
  this->Trees.Walk(group.Hashes, order, [&](const std::byte* record) {
    const std::vector<std::byte>& bytes = this->Heaps.Read(group.Links, record + 4);
    Message message;
    message.Data = bytes.data();
    message.Bytes = bytes.size();
    const Link link = TakeLink(message);
    if (link.Name == name) {
      found = ObjectOf(link);
    }
    return found.has_value();
  });
  return found;
}

/// Order of `wanted` and the name at that place of the heap, as of strcmp.
int IndexReader::Compare(const Group& group, std::uint64_t name, const std::string& wanted)
{
  if (name >= group.NameBytes) {
    throw Unfamiliar("a name outside its heap");
  }
  // With the 0 at the end, two different texts differ somewhere in the bytes of either.
  const std::size_t full = wanted.size() + 1;
  const std::size_t bytes = std::min<std::uint64_t>(full, group.NameBytes - name);
  if (this->Name.size() < full) {
    this->Name.resize(full);
  }
  this->Bytes.Read(group.Names + name, this->Name.data(), bytes);
  const int order = std::memcmp(wanted.c_str(), this->Name.data(), bytes);
  if (order == 0 && bytes < full) {
    throw Unfamiliar("a name without an end");
  }
  return order;
}

/// The symbol table node that has the name if any has.
std::optional<std::uint64_t> IndexReader::FindSymbolNode(const Group& group, const std::string& name)
{
  std::uint64_t address = group.Tree;
  for (int above = -1;;) {
    const Tree1Node node = ReadTree1Node(this->Bytes, address, 0, above, this->GroupK);
    // Key, child, key, child, ..., key: child i has the names after key i, up to and with key i + 1.
    this->Bytes.Read(address + Tree1Node::HeadBytes, this->Node.data(), node.Children * 16 + 8);
    unsigned begin = 0, end = node.Children;
    while (begin < end) {
      const unsigned middle = (begin + end) / 2;
      const auto key = Load<std::uint64_t>(this->Node.data() + (middle + 1) * 16);
      if (this->Compare(group, key, name) > 0) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    if (begin == node.Children) {
      return {};
    }
    address = Load<std::uint64_t>(this->Node.data() + begin * 16 + 8);
    if (node.Level == 0) {
      return address;
    }
    above = node.Level;
  }
}

std::optional<std::uint64_t> IndexReader::FindSymbol(const Group& group, const std::string& name)
{
  const std::optional<std::uint64_t> node = this->FindSymbolNode(group, name);
  if (!node) {
    return {};
  }
  std::byte head[8];
  this->Bytes.Read(*node, head, sizeof(head));
  const unsigned symbols = Load<std::uint16_t>(head + 6);
  if (!Begins(head, "SNOD") || head[4] != std::byte{1} || symbols > 2 * this->SymbolsK) {
    throw Unfamiliar("a damaged symbol table");
  }
  this->Bytes.Read(*node + sizeof(head), this->Node.data(), symbols * SymbolBytes);
  unsigned begin = 0, end = symbols;
  while (begin < end) {
    const unsigned middle = (begin + end) / 2;
    const std::byte* symbol = this->Node.data() + middle * SymbolBytes;
    const int order = this->Compare(group, Load<std::uint64_t>(symbol), name);
    if (order == 0) {
      constexpr unsigned softLink = 2;
      if (Load<std::uint32_t>(symbol + 16) == softLink) {
        throw Unfamiliar("a soft link");
      }
      return Load<std::uint64_t>(symbol + 8);
    }
    (order > 0 ? begin : end) = order > 0 ? middle + 1 : middle;
  }
  return {};
}

/// Version, kind, and the address of the object whose type it is.
void IndexReader::TakeSharedType(const Message& message, DatasetMessages& messages)
{
  const unsigned version = message.At<std::uint8_t>(0);
  constexpr unsigned inHeader = 2;
  const bool known =
      version == 1 || version == 2 || (version == 3 && message.At<std::uint8_t>(1) == inHeader);
  if (!known) {
    throw Unfamiliar("a shared message");
  }
  this->SharedHeader.Open(message.At<std::uint64_t>(version == 1 ? 8 : 2));
  Message other;
  while (this->SharedHeader.Next(other)) {
    if (other.Type == MessageType::Datatype) {
      if (other.Shared) {
        break;
      }
      return messages.Take(other);
    }
  }
  throw Unfamiliar("a shared type that is not a type");
}

Dataset IndexReader::Describe(std::uint64_t header)
{
  this->Header.Open(header);
  DatasetMessages messages;
  Message message;
  while (!messages.Complete() && this->Header.Next(message)) {
    if (message.Type == MessageType::Datatype && message.Shared) {
      this->TakeSharedType(message, messages);
    } else {
      messages.Take(message);
    }
  }
  Dataset dataset = messages.Finish();
  const std::uint64_t end = this->Bytes.EndAddress();
  if (dataset.Layout == StorageLayout::Contiguous) {
    if (dataset.Offset > end || dataset.Values > (end - dataset.Offset) / dataset.ElementBytes) {
      throw Unfamiliar("values outside the file");
    }
    dataset.Offset += this->Bytes.BaseAddress();
  }
  return dataset;
}

void IndexReader::ListChunks(const Dataset& dataset, Chunk* chunks)
{
  this->Lists.List(dataset, this->ChunkK, chunks);
}

}  // namespace patchio::hdf5index
