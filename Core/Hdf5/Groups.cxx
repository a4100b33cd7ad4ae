#include "Hdf5/Groups.h"

#include "Hdf5/Datatype.h"

#include <algorithm>
#include <cstring>

namespace patchio::hdf5 {
namespace {

constexpr std::size_t SymbolBytes = 40;
constexpr std::size_t SymbolsHeadBytes = 8;
/// Greatest accepted value of NodeSizes. Files have 4, 16 and 32 by default.
constexpr unsigned LargestK = 256;

/// A link with its name. The texts are valid as long as the parsed bytes.
struct NamedLink
{
  std::string_view Name;
  Link::LinkType Type = Link::LinkType::Hard;
  std::uint64_t Address = NoAddress;
  std::string_view Target;
};

/// Parses a link message of `count` bytes (section IV.A.2.g of the specification): version, flags, the
/// optional fields that the flags announce, name, and address or target. Throws Corrupt if the message ends
/// early, and Unsupported for unknown versions.
NamedLink ParseLink(const std::byte* bytes, std::size_t count)
{
  constexpr unsigned hasOrder = 4, hasType = 8, hasCharacters = 0x10, known = 0x1f, soft = 1;
  Cursor cursor(bytes, count);
  const unsigned version = cursor.Read<std::uint8_t>(), flags = cursor.Read<std::uint8_t>();
  if (version != 1 || (flags & ~known) != 0) {
    throw Unsupported("link of an unknown version");
  }
  const auto text = [&](std::uint64_t length) {
    const auto* const begin = reinterpret_cast<const char*>(cursor.Skip(length));
    return std::string_view(begin, static_cast<std::size_t>(length));
  };
  const unsigned type = (flags & hasType) != 0 ? cursor.Read<std::uint8_t>() : 0;
  cursor.Skip(((flags & hasOrder) != 0 ? 8 : 0) + ((flags & hasCharacters) != 0 ? 1 : 0));
  NamedLink link;
  link.Name = text(cursor.ReadNumber(std::size_t(1) << (flags & 3)));
  if (type == 0) {
    link.Address = cursor.Read<std::uint64_t>();
  } else if (type == soft) {
    link.Type = Link::LinkType::Soft;
    link.Target = text(cursor.Read<std::uint16_t>());
  } else {
    link.Type = Link::LinkType::External;
  }
  return link;
}

NamedLink ParseLink(const Message& message)
{
  if (message.Shared) {
    throw Unsupported("shared message");
  }
  return ParseLink(message.Data, message.Bytes);
}

/// Returns the link without the name, with a copy of the target.
Link ToLink(const NamedLink& link)
{
  return {link.Type, link.Address, std::string(link.Target)};
}

}  // namespace

void GroupReader::SetNodeSizes(const NodeSizes& sizes)
{
  Require(sizes.Symbols > 0 && sizes.Symbols <= LargestK && sizes.Group > 0 && sizes.Group <= LargestK &&
              sizes.Chunks > 0 && sizes.Chunks <= LargestK,
      "trees with nodes of an impossible size");
  this->Header.Reset();
  this->Heaps.Reset();
  this->Sizes = sizes;
  this->Node.resize(std::max(sizes.Symbols * 2 * SymbolBytes, std::size_t(sizes.Group) * 2 * 16 + 8));
}

std::optional<Group> GroupReader::Open(std::uint64_t header)
{
  this->Header.Open(header);
  Message message;
  while (this->Header.Next(message)) {
    if (message.Type == MessageType::LinkInfo) {
      return this->OpenNewGroup(header, message);
    }
    if (message.Type == MessageType::SymbolTable) {
      return this->OpenSymbols(header, message);
    }
  }
  return std::nullopt;
}

Group GroupReader::OpenSymbols(std::uint64_t header, const Message& message)
{
  Group group;
  group.Header = header;
  group.Tree = message.At<std::uint64_t>(0);
  std::byte heap[32];
  this->Bytes.Read(message.At<std::uint64_t>(8), heap, sizeof(heap));
  group.NameBytes = Load<std::uint64_t>(heap + 8);
  group.Names = Load<std::uint64_t>(heap + 24);
  const std::uint64_t end = this->Bytes.EndAddress();
  Require(Begins(heap, "HEAP") && heap[4] == std::byte{0} && group.Names <= end &&
              group.NameBytes <= end - group.Names,
      "a damaged heap of names");
  return group;
}

/// Parses a link info message: version, flags, highest creation order if links have creation orders,
/// addresses of the heap and of the tree. Returns the group. `header`: address of the group's header.
Group GroupReader::OpenNewGroup(std::uint64_t header, const Message& message)
{
  constexpr unsigned hasOrders = 1, hashes = 5;  // flag; type of the tree
  if (message.At<std::uint8_t>(0) != 0 || message.Shared) {
    throw Unsupported("group of an unknown version");
  }
  const std::size_t offset = (message.At<std::uint8_t>(1) & hasOrders) != 0 ? 10 : 2;
  const auto heap = message.At<std::uint64_t>(offset), tree = message.At<std::uint64_t>(offset + 8);
  Group group;
  group.Storage = heap == NoAddress ? Group::LinkStorage::Compact : Group::LinkStorage::Dense;
  group.Header = header;
  if (group.Storage == Group::LinkStorage::Dense) {
    group.Links = this->Heaps.Open(heap);
    group.Hashes = this->Trees.Open(tree, hashes);
    Require(group.Hashes.RecordBytes == 4 + group.Links.IdBytes, "a group whose tree and heap do not match");
  }
  return group;
}

std::optional<Link> GroupReader::Find(const Group& group, const std::string& name)
{
  switch (group.Storage) {
    case Group::LinkStorage::SymbolTable:
      return this->FindSymbol(group, name);
    case Group::LinkStorage::Compact:
      return this->FindCompact(group, name);
    case Group::LinkStorage::Dense:
      break;
  }
  return this->FindDense(group, name);
}

std::optional<Link> GroupReader::FindCompact(const Group& group, const std::string& name)
{
  this->Header.Open(group.Header);
  Message message;
  while (this->Header.Next(message)) {
    if (message.Type == MessageType::Link) {
      const NamedLink link = ParseLink(message);
      if (link.Name == name) {
        return ToLink(link);
      }
    }
  }
  return {};
}

/// Finds a link by the hash of its name. A record of the tree has the hash of a name, and the ID of the link
/// in the heap.
std::optional<Link> GroupReader::FindDense(const Group& group, const std::string& name)
{
  std::optional<Link> found;
  this->Trees.WalkNamed(group.Hashes, name, 0, [&](const std::byte* record) {
    const std::vector<std::byte>& bytes = this->Heaps.Read(group.Links, record + 4);
    const NamedLink link = ParseLink(bytes.data(), bytes.size());
    if (link.Name == name) {
      found = ToLink(link);
    }
    return found.has_value();
  });
  return found;
}

/// Compares `text` with the name at `nameOffset` in the group's heap of names. Returns a number below, equal
/// to or above 0, like strcmp(text, name). Throws Corrupt if the name begins or ends outside the heap.
int GroupReader::Compare(const Group& group, std::uint64_t nameOffset, const std::string& text)
{
  Require(nameOffset < group.NameBytes, "a name outside its heap");
  // Two different texts that end with a 0 differ within the length of the shorter text.
  const std::size_t full = text.size() + 1;
  const std::size_t bytes = std::min<std::uint64_t>(full, group.NameBytes - nameOffset);
  if (this->Name.size() < full) {
    this->Name.resize(full);
  }
  this->Bytes.Read(group.Names + nameOffset, this->Name.data(), bytes);
  const int order = std::memcmp(text.c_str(), this->Name.data(), bytes);
  Require(order != 0 || bytes == full, "a name without an end");
  return order;
}

/// Returns the address of the only symbol table node that may contain the link `name`, or nothing if there is
/// no such node.
std::optional<std::uint64_t> GroupReader::FindSymbolNode(const Group& group, const std::string& name)
{
  std::uint64_t address = group.Tree;
  for (int parentLevel = -1;;) {
    const Tree1Node node = ReadTree1Node(this->Bytes, address, 0, parentLevel, this->Sizes.Group);
    // A node consists of key, child, key, child, ..., key. Child i has the names after key i, up to key i + 1
    // inclusive.
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
    parentLevel = node.Level;
  }
}

/// Reads the symbols of a symbol table node into Node. `node`: address of the node. Returns the number of
/// symbols.
unsigned GroupReader::ReadSymbols(std::uint64_t node)
{
  std::byte head[SymbolsHeadBytes];
  this->Bytes.Read(node, head, sizeof(head));
  const unsigned symbols = Load<std::uint16_t>(head + 6);
  Require(Begins(head, "SNOD") && head[4] == std::byte{1} && symbols <= 2 * this->Sizes.Symbols,
      "a damaged symbol table");
  this->Bytes.Read(node + sizeof(head), this->Node.data(), symbols * SymbolBytes);
  return symbols;
}

/// Parses a symbol: offset of the name, address of the object's header, type of the scratch space, and the
/// scratch space, which for soft links has the offset of the target. Returns the link.
Link GroupReader::ParseSymbol(const Group& group, const std::byte* symbol)
{
  constexpr unsigned softLink = 2;
  const auto type = Load<std::uint32_t>(symbol + 16);
  Require(type <= softLink, "a link of an unknown type");
  if (type == softLink) {
    return {Link::LinkType::Soft, NoAddress, this->ReadName(group, Load<std::uint32_t>(symbol + 24))};
  }
  return {Link::LinkType::Hard, Load<std::uint64_t>(symbol + 8), {}};
}

std::optional<Link> GroupReader::FindSymbol(const Group& group, const std::string& name)
{
  const std::optional<std::uint64_t> node = this->FindSymbolNode(group, name);
  if (!node) {
    return {};
  }
  unsigned begin = 0, end = this->ReadSymbols(*node);
  while (begin < end) {
    const unsigned middle = (begin + end) / 2;
    const std::byte* symbol = this->Node.data() + middle * SymbolBytes;
    const int order = this->Compare(group, Load<std::uint64_t>(symbol), name);
    if (order == 0) {
      return this->ParseSymbol(group, symbol);
    }
    (order > 0 ? begin : end) = order > 0 ? middle + 1 : middle;
  }
  return {};
}

/// Reads the text at byte `offset` of the heap of names. Throws Corrupt if the text has no end or is too
/// long.
std::string GroupReader::ReadName(const Group& group, std::uint64_t offset)
{
  constexpr std::size_t step = 256;
  std::string text;
  char part[step];
  Require(offset <= group.NameBytes, "a name outside its heap");
  for (std::uint64_t left = group.NameBytes - offset; left > 0; left -= std::min<std::uint64_t>(left, step)) {
    const std::size_t bytes = std::min<std::uint64_t>(left, step);
    this->Bytes.Read(group.Names + group.NameBytes - left, reinterpret_cast<std::byte*>(part), bytes);
    const std::size_t length = strnlen(part, bytes);
    text.append(part, length);
    if (length < bytes) {
      return text;
    }
    Require(text.size() <= 64 * 1024, "a name that is too long");
  }
  throw Corrupt("a name without an end");
}

/// Appends `name` to `names`. Throws Corrupt if the names exceed the size of the file, because a damaged file
/// may list a name repeatedly.
void GroupReader::AppendName(std::string_view name, std::vector<std::string>& names)
{
  constexpr std::size_t least = 8;  // fewest bytes that a name takes in a file
  Require(name.size() + least <= this->ListBudget, "more names than the file can hold");
  this->ListBudget -= name.size() + least;
  names.emplace_back(name);
}

std::vector<std::string> GroupReader::Names(const Group& group)
{
  std::vector<std::string> names;
  this->ListBudget = this->Bytes.EndAddress();
  if (group.Storage == Group::LinkStorage::SymbolTable) {
    this->ListSymbols(group, group.Tree, -1, names);
  } else if (group.Storage == Group::LinkStorage::Compact) {
    this->Header.Open(group.Header);
    Message message;
    while (this->Header.Next(message)) {
      if (message.Type == MessageType::Link) {
        this->AppendName(ParseLink(message).Name, names);
      }
    }
  } else {
    this->Trees.Walk(group.Hashes, [&](const std::byte* record, unsigned count) {
      for (; count > 0; --count, record += group.Hashes.RecordBytes) {
        const std::vector<std::byte>& bytes = this->Heaps.Read(group.Links, record + 4);
        this->AppendName(ParseLink(bytes.data(), bytes.size()).Name, names);
      }
    });
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Appends the names of all links below a node of a B-tree to `names`. `address`: address of the node;
/// `parentLevel`: level of the parent node, or -1 for the root.
void GroupReader::ListSymbols(
    const Group& group, std::uint64_t address, int parentLevel, std::vector<std::string>& names)
{
  const Tree1Node node = ReadTree1Node(this->Bytes, address, 0, parentLevel, this->Sizes.Group);
  Require(this->ListBudget >= Tree1Node::HeadBytes, "a cyclic tree");
  this->ListBudget -= Tree1Node::HeadBytes;
  for (unsigned i = 0; i < node.Children; ++i) {
    std::byte child[8];
    this->Bytes.Read(address + Tree1Node::HeadBytes + 16 * std::uint64_t(i) + 8, child, sizeof(child));
    if (node.Level > 0) {
      this->ListSymbols(group, Load<std::uint64_t>(child), node.Level, names);
      continue;
    }
    const unsigned symbols = this->ReadSymbols(Load<std::uint64_t>(child));
    Require(this->ListBudget >= SymbolsHeadBytes, "a cyclic tree");
    this->ListBudget -= SymbolsHeadBytes;
    for (unsigned s = 0; s < symbols; ++s) {
      this->AppendName(
          this->ReadName(group, Load<std::uint64_t>(this->Node.data() + s * SymbolBytes)), names);
    }
  }
}

}  // namespace patchio::hdf5
