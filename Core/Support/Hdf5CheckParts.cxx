// What object headers lead to: types, attributes, heaps and trees.
#include "Support/Hdf5Check.h"

#include <algorithm>
#include <cstring>

namespace patchio::hdf5 {
namespace {

constexpr std::uint64_t LargestHeap = std::uint64_t(1) << 28;
constexpr int Deepest = 64;  ///< levels of a tree
constexpr std::size_t TreeHeadBytes = 24;

Cursor At(const std::vector<std::byte>& bytes)
{
  return {bytes.data(), bytes.size()};
}

void RequireSignature(Cursor& bytes, const char* signature)
{
  RequireOfFile(std::memcmp(bytes.Skip(4), signature, 4) == 0, "an address that leads to a wrong structure");
}

constexpr std::uint64_t Padded(std::uint64_t bytes)
{
  return (bytes + 7) / 8 * 8;
}

}  // namespace

DataType StructureCheck::TakeAnyType(Cursor& message, bool shared)
{
  if (!shared) {
    return TakeType(message);
  }
  const unsigned version = message.Take<std::uint8_t>(), kind = message.Take<std::uint8_t>();
  RequireOfFile(version == 2 || (version == 3 && kind == 2), "a shared type with an unknown version");
  const Header& header = this->Known(message.Take<std::uint64_t>());
  RequireOfFile(header.HasType, "a shared type that is not a type");
  return header.Type;
}

void StructureCheck::TakeAttribute(Cursor& message)
{
  const unsigned version = message.Take<std::uint8_t>(), flags = message.Take<std::uint8_t>();
  RequireOfFile(version >= 1 && version <= 3, "an attribute with an unknown version");
  RequireOfFile(version == 1 || (flags & ~1u) == 0, "an attribute with a shared shape");
  const std::uint64_t nameBytes = message.Take<std::uint16_t>(), typeBytes = message.Take<std::uint16_t>();
  const std::uint64_t spaceBytes = message.Take<std::uint16_t>();
  message.Skip(version == 3 ? 1 : 0);
  const auto part = [&](std::uint64_t bytes) { return message.Part(version == 1 ? Padded(bytes) : bytes); };
  Cursor name = part(nameBytes), typeMessage = part(typeBytes), spaceMessage = part(spaceBytes);
  Cursor named = name.Part(nameBytes);
  named.SkipText(1);
  RequireOfFile(named.Left() == 0, "an attribute whose name ends early");
  const DataType type = this->TakeAnyType(typeMessage, version > 1 && (flags & 1));
  const DataSpace space = TakeSpace(spaceMessage);
  Cursor values = message.Part(Product(space.Values, type.Bytes));
  if (type.Class == ListClass) {
    this->TakeLists(values, space.Values, type.PartBytes);
  }
}

/// Texts and lists of any length: the library takes their lengths from here and their bytes from the global
/// heap.
void StructureCheck::TakeLists(Cursor& values, std::uint64_t count, std::uint64_t partBytes)
{
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t parts = values.Take<std::uint32_t>(), address = values.Take<std::uint64_t>();
    const std::uint32_t number = values.Take<std::uint32_t>();
    if (address == 0 || address == NoAddress) {
      RequireOfFile(parts == 0, "a list without its values");
      continue;
    }
    const Objects& objects = this->GlobalHeap(address);
    const auto object = objects.find(number);
    RequireOfFile(
        object != objects.end() && object->second == Product(parts, partBytes), "a list with a wrong length");
  }
}

const StructureCheck::Objects& StructureCheck::GlobalHeap(std::uint64_t address)
{
  const auto [entry, isNew] = this->GlobalHeaps.try_emplace(address);
  if (!isNew) {
    return entry->second;
  }
  constexpr std::uint64_t headBytes = 16;
  const std::vector<std::byte> head = this->Bytes(address, headBytes);
  Cursor cursor = At(head);
  RequireSignature(cursor, "GCOL");
  RequireOfFile(cursor.Take<std::uint8_t>() == 1, "a heap with an unknown version");
  cursor.Skip(3);
  const std::uint64_t bytes = cursor.Take<std::uint64_t>();
  RequireOfFile(bytes >= 4096 && bytes <= LargestHeap, "a heap with an impossible size");
  const std::vector<std::byte> heap = this->Bytes(address, bytes);
  Cursor rest = At(heap);
  rest.Skip(headBytes);
  while (rest.Left() >= headBytes) {
    const std::size_t left = rest.Left();
    const unsigned number = rest.Take<std::uint16_t>();
    rest.Skip(6);
    const std::uint64_t size = rest.Take<std::uint64_t>();
    if (number == 0) {
      RequireOfFile(size == left, "a heap with a gap");  // what is free is the rest
      break;
    }
    RequireOfFile(size <= bytes, "an object larger than its heap");
    rest.Skip(Padded(size));
    RequireOfFile(entry->second.emplace(number, size).second, "a heap with two objects of the same number");
  }
  return entry->second;
}

void StructureCheck::TakeExternalFiles(Cursor& message)
{
  RequireOfFile(message.Take<std::uint8_t>() == 1, "a list of external files with an unknown version");
  message.Skip(3);
  const unsigned room = message.Take<std::uint16_t>(), used = message.Take<std::uint16_t>();
  RequireOfFile(used <= room && used > 0, "an impossible list of external files");
  const std::uint64_t end = this->LocalHeap(message.Take<std::uint64_t>());
  for (unsigned file = 0; file < used; ++file) {
    RequireOfFile(message.Take<std::uint64_t>() < end, "a name outside its heap");
    message.Skip(16);
  }
}

void StructureCheck::TakeCheckedFilters(Cursor& message)
{
  constexpr unsigned lastKnown = 3;  // deflate, shuffle, checksums
  for (const unsigned filter : TakeFilters(message)) {
    if (filter > lastKnown) {
      this->MeetUnknown("a filter that only the HDF5 library supports");
    }
  }
}

std::uint64_t StructureCheck::LocalHeap(std::uint64_t address)
{
  const std::vector<std::byte> head = this->Bytes(address, 32);
  Cursor cursor = At(head);
  RequireSignature(cursor, "HEAP");
  RequireOfFile(cursor.Take<std::uint8_t>() == 0, "a heap with an unknown version");
  cursor.Skip(3);
  const std::uint64_t bytes = cursor.Take<std::uint64_t>(), free = cursor.Take<std::uint64_t>();
  const std::uint64_t data = cursor.Take<std::uint64_t>();
  RequireOfFile(bytes <= LargestHeap, "a heap with an impossible size");
  this->RequireInside(data, bytes);
  this->FreeList(data, bytes, free);
  return this->EndOfNames(data, bytes);
}

void StructureCheck::FreeList(std::uint64_t data, std::uint64_t bytes, std::uint64_t first)
{
  constexpr std::uint64_t none = 1, entryBytes = 16;
  std::uint64_t taken = 0;
  for (std::uint64_t place = first; place != none;) {
    RequireOfFile(bytes >= entryBytes && place <= bytes - entryBytes, "a heap with free space outside it");
    const std::vector<std::byte> entry = this->Bytes(data + place, entryBytes);
    Cursor cursor = At(entry);
    const std::uint64_t next = cursor.Take<std::uint64_t>(), size = cursor.Take<std::uint64_t>();
    RequireOfFile(size >= entryBytes && size <= bytes - place, "a heap with free space outside it");
    taken += size;
    RequireOfFile(
        taken <= bytes, "a heap with more free space than its size");  // also where the list is a ring
    place = next;
  }
}

/// All texts that begin before end there.
std::uint64_t StructureCheck::EndOfNames(std::uint64_t data, std::uint64_t bytes)
{
  constexpr std::uint64_t step = 256;
  for (std::uint64_t end = bytes; end > 0;) {
    const std::uint64_t begin = end > step ? end - step : 0;
    const std::vector<std::byte> part = this->Bytes(data + begin, end - begin);
    const auto last = std::find(part.rbegin(), part.rend(), std::byte(0));
    if (last != part.rend()) {
      return begin + static_cast<std::uint64_t>(part.rend() - last);
    }
    end = begin;
  }
  return 0;
}

StructureCheck::Node StructureCheck::TreeNode(
    std::uint64_t address, unsigned type, std::size_t keyBytes, unsigned k, int above)
{
  RequireOfFile(this->Nodes.insert(address).second, "a cyclic tree");
  const std::vector<std::byte> head = this->Bytes(address, TreeHeadBytes);
  Cursor cursor = At(head);
  RequireSignature(cursor, "TREE");
  RequireOfFile(cursor.Take<std::uint8_t>() == type, "a tree of a wrong type");
  Node node;
  node.Level = cursor.Take<std::uint8_t>();
  node.Children = cursor.Take<std::uint16_t>();
  RequireOfFile(
      above < 0 ? node.Level < Deepest : node.Level == above - 1, "a tree with levels out of order");
  RequireOfFile(node.Children <= 2 * k && (node.Children > 0 || above < 0),
      "a tree with an impossible number of branches");
  // The library takes all of the node, full or not.
  this->RequireInside(address, TreeHeadBytes + 2 * std::uint64_t(k) * (keyBytes + 8) + keyBytes);
  node.Entries = this->Bytes(address + TreeHeadBytes, node.Children * (keyBytes + 8) + keyBytes);
  return node;
}

void StructureCheck::Group(std::uint64_t tree, std::uint64_t heap)
{
  const std::uint64_t namesEnd = this->LocalHeap(heap);
  this->Nodes.clear();
  this->GroupNode(tree, -1, namesEnd);
}

void StructureCheck::GroupNode(std::uint64_t address, int above, std::uint64_t namesEnd)
{
  const Node node = this->TreeNode(address, 0, 8, this->GroupK, above);
  Cursor entries = At(node.Entries);
  for (unsigned i = 0; i <= node.Children; ++i) {
    RequireOfFile(node.Children == 0 || entries.Take<std::uint64_t>() < namesEnd, "a name outside its heap");
    if (i == node.Children) {
      break;
    }
    const std::uint64_t child = entries.Take<std::uint64_t>();
    if (node.Level > 0) {
      this->GroupNode(child, node.Level, namesEnd);
    } else {
      this->Symbols(child, namesEnd);
    }
  }
}

void StructureCheck::Symbols(std::uint64_t address, std::uint64_t namesEnd)
{
  constexpr std::uint64_t headBytes = 8, symbolBytes = 40;
  constexpr std::uint32_t softLink = 2;
  RequireOfFile(this->Nodes.insert(address).second, "a cyclic tree");
  this->RequireInside(address, headBytes + 2 * this->SymbolsK * symbolBytes);
  const std::vector<std::byte> head = this->Bytes(address, headBytes);
  Cursor cursor = At(head);
  RequireSignature(cursor, "SNOD");
  RequireOfFile(cursor.Take<std::uint8_t>() == 1, "names with an unknown version");
  cursor.Skip(1);
  const unsigned count = cursor.Take<std::uint16_t>();
  RequireOfFile(count <= 2 * this->SymbolsK, "more names than fit into their list");
  const std::vector<std::byte> symbols = this->Bytes(address + headBytes, count * symbolBytes);
  Cursor rest = At(symbols);
  for (unsigned i = 0; i < count; ++i) {
    Cursor symbol = rest.Part(symbolBytes);
    RequireOfFile(symbol.Take<std::uint64_t>() < namesEnd, "a name outside its heap");
    const std::uint64_t object = symbol.Take<std::uint64_t>();
    const std::uint32_t kind = symbol.Take<std::uint32_t>();
    symbol.Skip(4);
    RequireOfFile(kind <= softLink, "a link of an unknown type");
    if (kind == softLink) {
      RequireOfFile(symbol.Take<std::uint32_t>() < namesEnd, "a link outside its heap");
    } else {
      this->RequireInside(object, 0);
    }
  }
}

void StructureCheck::Chunks(std::uint64_t address)
{
  const auto found = this->Headers.find(address);
  if (found == this->Headers.end() || found->second.Values.Kind != Layout::Chunked) {
    return;
  }
  const DataLayout& layout = found->second.Values;
  if (layout.Address != NoAddress && this->ChunkTrees.count(layout.Address) == 0) {
    this->Nodes.clear();
    this->ChunkNode(layout.Address, -1, layout);
    this->ChunkTrees.insert(layout.Address);
  }
}

void StructureCheck::ChunkNode(std::uint64_t address, int above, const DataLayout& layout)
{
  const std::size_t keyBytes = 8 + 8 * std::size_t(layout.Rank);
  const Node node = this->TreeNode(address, 1, keyBytes, this->ChunkK, above);
  Cursor entries = At(node.Entries);
  for (unsigned i = 0; i < node.Children; ++i) {
    Cursor key = entries.Part(keyBytes);
    const std::uint32_t bytes = key.Take<std::uint32_t>();
    const std::uint64_t child = entries.Take<std::uint64_t>();
    if (node.Level > 0) {
      this->ChunkNode(child, node.Level, layout);
    } else {
      RequireOfFile(bytes <= LargestHeap, "a chunk with an impossible size");
      this->RequireInside(child, bytes);
    }
  }
}

}  // namespace patchio::hdf5
