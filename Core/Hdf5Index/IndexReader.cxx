#include "Hdf5Index/IndexReader.h"

#include "Hdf5Index/DatasetMessages.h"
#include "Support/Hdf5Signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace patchio::hdf5index {
namespace {

constexpr std::uint64_t NoAddress = ~std::uint64_t(0);
constexpr std::size_t SymbolBytes = 40;
constexpr std::size_t TreeHeaderBytes = 24;
constexpr unsigned LargestK = 256;  ///< 4, 16 and 32 unless somebody asked for other nodes
constexpr int LargestLevel = 16;    ///< of a B-tree's node; half-full nodes of 32 reach 2^64 entries

bool Begins(const std::byte* bytes, const char* signature)
{
  return std::memcmp(bytes, signature, 4) == 0;
}

/// Head of a node of a B-tree.
struct TreeNode
{
  int Level;
  unsigned Children;
};

/// `above`: the level of the node that led here, -1 when it is the root.
TreeNode ReadTreeNode(Metadata& bytes, std::uint64_t address, unsigned type, int above, unsigned k)
{
  std::byte head[TreeHeaderBytes];
  bytes.Read(address, head, sizeof(head));
  const TreeNode node{Load<std::uint8_t>(head + 5), Load<std::uint16_t>(head + 6)};
  // As levels go down one by one, a path through the tree is finite.
  const bool levelFits = above < 0 ? node.Level <= LargestLevel : node.Level == above - 1;
  if (!Begins(head, "TREE") || Load<std::uint8_t>(head + 4) != type || !levelFits || node.Children > 2 * k) {
    throw Unfamiliar("a damaged B-tree");
  }
  return node;
}

}  // namespace

IndexReader::IndexReader() : Header(Bytes) {}

void IndexReader::Open(std::shared_ptr<Source::File> file, std::uint64_t bytes)
{
  this->Bytes.Attach(std::move(file), bytes);
  this->ReadSuperblock();
}

void IndexReader::ReadSuperblock()
{
  constexpr std::size_t fixed = 24;  // up to the addresses, but for what version 1 adds
  std::byte head[fixed];
  this->Bytes.Read(0, head, fixed);
  if (std::memcmp(head, Hdf5Signature.data(), Hdf5Signature.size()) != 0) {
    throw Unfamiliar("no HDF5 superblock at the beginning");
  }
  const unsigned version = Load<std::uint8_t>(head + 8);
  if (version > 1) {
    throw Unfamiliar(fmt::format("superblock version {}", version));
  }
  if (Load<std::uint8_t>(head + 13) != 8 || Load<std::uint8_t>(head + 14) != 8) {
    throw Unfamiliar("addresses that do not have 8 bytes");
  }
  this->SymbolsK = Load<std::uint16_t>(head + 16);
  this->GroupK = Load<std::uint16_t>(head + 18);
  this->ChunkK = 32;
  std::uint64_t place = fixed;
  if (version == 1) {
    std::byte more[4];
    this->Bytes.Read(place, more, sizeof(more));
    this->ChunkK = Load<std::uint16_t>(more);
    place += sizeof(more);
  }
  if (this->SymbolsK > LargestK || this->GroupK > LargestK || this->ChunkK > LargestK) {
    throw Unfamiliar("large group nodes");
  }
  std::byte addresses[48];  // base, free space, end, driver; then of the root's symbol: name, header
  this->Bytes.Read(place, addresses, sizeof(addresses));
  if (Load<std::uint64_t>(addresses) != 0 || Load<std::uint64_t>(addresses + 24) != NoAddress) {
    throw Unfamiliar("a file with a user block or in several parts");
  }
  if (Load<std::uint64_t>(addresses + 16) > this->Bytes.FileBytes()) {
    throw Unfamiliar("a truncated file");
  }
  this->RootHeader = Load<std::uint64_t>(addresses + 40);
  this->Node.resize(std::max(this->SymbolsK * 2 * SymbolBytes, std::size_t(this->GroupK) * 2 * 16 + 8));
}

Group IndexReader::OpenGroup(std::uint64_t header)
{
  this->Header.Open(header);
  Message message;
  while (this->Header.Next(message)) {
    if (message.Type == MessageType::LinkInfo || message.Type == MessageType::Link) {
      break;
    }
    if (message.Type != MessageType::SymbolTable) {
      continue;
    }
    Group group;
    group.Tree = message.At<std::uint64_t>(0);
    std::byte heap[32];
    this->Bytes.Read(message.At<std::uint64_t>(8), heap, sizeof(heap));
    group.NameBytes = Load<std::uint64_t>(heap + 8);
    group.Names = Load<std::uint64_t>(heap + 24);
    const std::uint64_t fileBytes = this->Bytes.FileBytes();
    if (!Begins(heap, "HEAP") || heap[4] != std::byte{0} || group.Names > fileBytes ||
        group.NameBytes > fileBytes - group.Names) {
      throw Unfamiliar("a damaged heap of names");
    }
    return group;
  }
  throw Unfamiliar("a group of the new style");
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
std::optional<std::uint64_t> IndexReader::FindSymbols(const Group& group, const std::string& name)
{
  std::uint64_t address = group.Tree;
  for (int above = -1;;) {
    const TreeNode node = ReadTreeNode(this->Bytes, address, 0, above, this->GroupK);
    // Key, child, key, child, ..., key: child i has the names after key i, up to and with key i + 1.
    this->Bytes.Read(address + TreeHeaderBytes, this->Node.data(), node.Children * 16 + 8);
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

std::optional<std::uint64_t> IndexReader::Find(const Group& group, const std::string& name)
{
  const std::optional<std::uint64_t> node = this->FindSymbols(group, name);
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

Dataset IndexReader::Describe(std::uint64_t header)
{
  this->Header.Open(header);
  DatasetMessages messages;
  Message message;
  while (!messages.Complete() && this->Header.Next(message)) {
    messages.Take(message);
  }
  const Dataset& dataset = messages.Finish();
  const std::uint64_t fileBytes = this->Bytes.FileBytes();
  if (dataset.Layout == StorageLayout::Contiguous &&
      (dataset.Offset > fileBytes || dataset.Values > (fileBytes - dataset.Offset) / dataset.ElementBytes)) {
    throw Unfamiliar("values outside the file");
  }
  return dataset;
}

void IndexReader::ListChunks(const Dataset& dataset, Chunk* chunks)
{
  assert(dataset.Layout == StorageLayout::Chunked);
  ClearChunks(dataset, chunks);
  if (dataset.ChunkTree != NoAddress && ChunksOf(dataset) > 0) {
    this->WalkChunks(dataset, dataset.ChunkTree, -1, chunks);
  }
}

void IndexReader::WalkChunks(const Dataset& dataset, std::uint64_t address, int above, Chunk* chunks)
{
  const TreeNode node = ReadTreeNode(this->Bytes, address, 1, above, this->ChunkK);
  // Each leaf adds a chunk that was not there yet, so there are no more steps than chunks times levels.
  if (node.Children == 0 && above >= 0) {
    throw Unfamiliar("a damaged B-tree");
  }
  const std::size_t keyBytes = 8 + 8 * std::size_t(dataset.Rank + 1);
  for (unsigned i = 0; i < node.Children; ++i) {
    std::array<std::byte, 16 + 8 * (ChunkedArray::MaximumRank + 1)> entry;  // key and address
    this->Bytes.Read(address + TreeHeaderBytes + i * (keyBytes + 8), entry.data(), keyBytes + 8);
    const auto child = Load<std::uint64_t>(entry.data() + keyBytes);
    if (node.Level > 0) {
      this->WalkChunks(dataset, child, node.Level, chunks);
      continue;
    }
    std::array<std::uint64_t, ChunkedArray::MaximumRank> begin{};
    for (int d = 0; d < dataset.Rank; ++d) {
      begin[d] = Load<std::uint64_t>(entry.data() + 8 + 8 * d);
    }
    const Chunk written{child, 0, Load<std::uint32_t>(entry.data()), Load<std::uint32_t>(entry.data() + 4)};
    if (!AddChunk(dataset, this->Bytes.FileBytes(), begin.data(), written, chunks)) {
      throw Unfamiliar("a chunk outside the file, or one that does not match its array");
    }
  }
}

}  // namespace patchio::hdf5index
