#include "Hdf5/Trees.h"

#include <algorithm>
#include <limits>

namespace patchio::hdf5 {

namespace {

constexpr std::size_t NodeHeadBytes = 6;  ///< signature, version, type
constexpr std::uint32_t LargestNode = 64 * 1024;

/// Returns the number of bytes in which HDF5 stores a number of at most `most`.
unsigned BytesOfNumber(std::uint64_t most)
{
  return Log2(most | 1) / 8 + 1;
}

/// Returns the size of the reference of a node on level `level` to a child: address of the child, number of
/// its records, and, unless the child is a leaf, number of the records of the child and below.
unsigned ChildBytes(const Tree2& tree, unsigned level)
{
  return 8 + tree.CountBytes + tree.TotalBytes[level - 1];
}

/// Computes MostRecords, CountBytes and TotalBytes of `tree`: the greatest number of records of nodes, and
/// the sizes of stored numbers, which depend on these limits. Throws Corrupt if nodes are too small.
void ComputeLevels(Tree2& tree)
{
  const unsigned fixed = NodeHeadBytes + ChecksumBytes;
  tree.MostRecords[0] = (tree.NodeBytes - fixed) / tree.RecordBytes;
  tree.CountBytes = BytesOfNumber(tree.MostRecords[0]);
  std::uint64_t below = tree.MostRecords[0];
  for (unsigned level = 1; level <= tree.Depth; ++level) {
    const unsigned child = ChildBytes(tree, level);
    Require(tree.NodeBytes >= fixed + child, "a tree with nodes that are too small");
    const std::uint64_t records = (tree.NodeBytes - fixed - child) / (tree.RecordBytes + child);
    tree.MostRecords[level] = static_cast<unsigned>(records);
    const bool isHuge = below > std::numeric_limits<std::uint64_t>::max() / (records + 2);
    below = isHuge ? std::numeric_limits<std::uint64_t>::max() : (records + 1) * below + records;
    tree.TotalBytes[level] = BytesOfNumber(below);
  }
}

}  // namespace

Tree1Node ReadTree1Node(FileBytes& bytes, std::uint64_t address, unsigned type, int parentLevel, unsigned k)
{
  constexpr int largestLevel = 16;  // half-full nodes of 32 reach 2^64 entries
  std::byte head[Tree1Node::HeadBytes];
  bytes.Read(address, head, sizeof(head));
  const Tree1Node node{Load<std::uint8_t>(head + 5), Load<std::uint16_t>(head + 6)};
  // Levels decrease by one from a node to its children, so each path through the tree is finite.
  const bool levelFits = parentLevel < 0 ? node.Level <= largestLevel : node.Level == parentLevel - 1;
  Require(Begins(head, "TREE") && Load<std::uint8_t>(head + 4) == type && levelFits && node.Children <= 2 * k,
      "a damaged B-tree");
  return node;
}

Tree2 Tree2Reader::Open(std::uint64_t address, unsigned type)
{
  std::byte head[38];
  this->Source.ReadChecked(address, head, sizeof(head));
  Tree2 tree;
  tree.Type = Load<std::uint8_t>(head + 5);
  tree.NodeBytes = Load<std::uint32_t>(head + 6);
  tree.RecordBytes = Load<std::uint16_t>(head + 10);
  tree.Depth = Load<std::uint16_t>(head + 12);
  tree.Root = Load<std::uint64_t>(head + 16);
  tree.RootRecords = Load<std::uint16_t>(head + 24);
  const bool isTree = Begins(head, "BTHD") && head[4] == std::byte{0} && tree.Type == type;
  if (!isTree || tree.Depth > Tree2::MostLevels || tree.RecordBytes == 0 || tree.NodeBytes > LargestNode ||
      tree.NodeBytes < NodeHeadBytes + ChecksumBytes + tree.RecordBytes) {
    throw Corrupt("a tree of another type");
  }
  ComputeLevels(tree);
  return tree;
}

void Tree2Reader::Walk(const Tree2& tree, const RunVisitor& visit)
{
  if (tree.Root != NoAddress) {
    this->NodesLeft = this->Source.EndAddress() / tree.NodeBytes + 1;
    this->WalkAll(tree, tree.Root, tree.RootRecords, tree.Depth, visit);
  }
}

void Tree2Reader::WalkNamed(
    const Tree2& tree, const std::string& name, std::size_t hashOffset, const RecordVisitor& visit)
{
  const std::uint32_t hash = Lookup3(reinterpret_cast<const std::byte*>(name.data()), name.size());
  const auto order = [&](const std::byte* record) {
    const auto found = Load<std::uint32_t>(record + hashOffset);
    return found < hash ? -1 : found > hash ? 1 : 0;
  };
  if (tree.Root != NoAddress) {
    this->NodesLeft = this->Source.EndAddress() / tree.NodeBytes + 1;
    this->WalkNode(tree, tree.Root, tree.RootRecords, tree.Depth, order, visit);
  }
}

void Tree2Reader::ReadNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level)
{
  Require(records <= tree.MostRecords[level] && this->NodesLeft > 0, "a damaged tree");
  --this->NodesLeft;
  const std::size_t children = level == 0 ? 0 : (records + 1) * ChildBytes(tree, level);
  const std::size_t bytes = NodeHeadBytes + records * tree.RecordBytes + children + ChecksumBytes;
  std::vector<std::byte>& node = this->Nodes[level];
  node.resize(std::max(node.size(), bytes));
  this->Source.ReadChecked(address, node.data(), bytes);
  if (!Begins(node.data(), level == 0 ? "BTLF" : "BTIN") || node[4] != std::byte{0} ||
      Load<std::uint8_t>(node.data() + 5) != tree.Type) {
    throw Corrupt("a damaged tree");
  }
}

/// Returns child `number` of the current node of level `level`, which has `records` records. The records of
/// the child lie between the records `number` - 1 and `number` of the current node.
Tree2Reader::Child Tree2Reader::ChildOf(
    const Tree2& tree, unsigned records, unsigned level, unsigned number) const
{
  const std::byte* const child = this->Nodes[level].data() + NodeHeadBytes + records * tree.RecordBytes +
                                 number * ChildBytes(tree, level);
  return {Load<std::uint64_t>(child), static_cast<unsigned>(LoadBytes(child + 8, tree.CountBytes))};
}

void Tree2Reader::WalkAll(
    const Tree2& tree, std::uint64_t address, unsigned records, unsigned level, const RunVisitor& visit)
{
  this->ReadNode(tree, address, records, level);
  const std::byte* const first = this->Nodes[level].data() + NodeHeadBytes;
  if (level == 0) {
    visit(first, records);
    return;
  }
  for (unsigned i = 0; i <= records; ++i) {
    const Child child = this->ChildOf(tree, records, level, i);
    this->WalkAll(tree, child.Address, child.Records, level - 1, visit);
    if (i < records) {
      visit(first + i * tree.RecordBytes, 1);
    }
  }
}

bool Tree2Reader::WalkNode(const Tree2& tree, std::uint64_t address, unsigned records, unsigned level,
    const Order& order, const RecordVisitor& visit)
{
  this->ReadNode(tree, address, records, level);
  const std::byte* const first = this->Nodes[level].data() + NodeHeadBytes;
  unsigned begin = 0, end = records;
  while (begin < end) {
    const unsigned middle = (begin + end) / 2;
    const bool isBefore = order(first + middle * tree.RecordBytes) < 0;
    (isBefore ? begin : end) = isBefore ? middle + 1 : middle;
  }
  for (unsigned i = begin;; ++i) {
    if (level > 0) {
      const Child child = this->ChildOf(tree, records, level, i);
      if (this->WalkNode(tree, child.Address, child.Records, level - 1, order, visit)) {
        return true;
      }
    }
    const std::byte* const record = first + i * tree.RecordBytes;
    if (i == records || order(record) != 0) {
      return false;
    }
    if (visit(record)) {
      return true;
    }
  }
}

namespace {

constexpr std::uint64_t LargestHeapBlock = std::uint64_t(1) << 24;
constexpr std::uint64_t LargestObject = 64 * 1024;
constexpr unsigned MostRows = 64;

/// Returns the size of the head of tables and blocks in bytes, without the checksum: signature, version,
/// address of the header, offset in the heap.
std::uint64_t HeapHeaderBytes(const FractalHeap& heap)
{
  return 4 + 1 + 8 + heap.OffsetBytes;
}

/// Returns the size of each block in row `row` of a table, in bytes.
std::uint64_t BlockBytesInRow(const FractalHeap& heap, unsigned row)
{
  return row == 0 ? heap.FirstBytes : heap.FirstBytes << (row - 1);
}

constexpr const char* DamagedHeap = "a damaged fractal heap";

}  // namespace

FractalHeap FractalHeapReader::Open(std::uint64_t address)
{
  std::byte head[146];
  this->Source.Read(address, head, 22);
  Require(Begins(head, "FRHP") && head[4] == std::byte{0}, DamagedHeap);
  if (Load<std::uint16_t>(head + 7) != 0) {
    throw Unsupported("fractal heap with filters");
  }
  this->Source.ReadChecked(address, head, sizeof(head));
  FractalHeap heap;
  heap.IdBytes = Load<std::uint16_t>(head + 5);
  heap.HasChecksums = (Load<std::uint8_t>(head + 9) & 2) != 0;
  heap.MostObjectBytes = Load<std::uint32_t>(head + 10);
  heap.Width = Load<std::uint16_t>(head + 110);
  heap.FirstBytes = Load<std::uint64_t>(head + 112);
  heap.MostBytes = Load<std::uint64_t>(head + 120);
  const unsigned offsetBits = Load<std::uint16_t>(head + 128);
  heap.Root = Load<std::uint64_t>(head + 132);
  heap.RootRows = Load<std::uint16_t>(head + 140);
  Require(IsPowerOfTwo(heap.Width) && IsPowerOfTwo(heap.FirstBytes) && IsPowerOfTwo(heap.MostBytes) &&
              heap.FirstBytes <= heap.MostBytes && heap.MostBytes <= LargestHeapBlock && offsetBits > 0 &&
              offsetBits <= 64 && heap.RootRows <= MostRows && heap.MostObjectBytes <= LargestObject,
      DamagedHeap);
  heap.OffsetBytes = (offsetBits + 7) / 8;
  // The length of an object is stored in as few bytes as the smaller of the two limits needs.
  heap.LengthBytes = std::min(
      (Log2(heap.MostBytes) + 7) / 8, Log2(std::max<std::uint64_t>(heap.MostObjectBytes, 1)) / 8 + 1);
  Require(heap.IdBytes >= 1 + heap.OffsetBytes + heap.LengthBytes, DamagedHeap);
  return heap;
}

const std::vector<std::byte>& FractalHeapReader::Read(const FractalHeap& heap, const std::byte* id)
{
  constexpr unsigned versionAndType = 0xf0;
  if ((Load<std::uint8_t>(id) & versionAndType) != 0) {
    throw Unsupported("huge or tiny object in a fractal heap");
  }
  const std::uint64_t offset = LoadBytes(id + 1, heap.OffsetBytes);
  const std::uint64_t length = LoadBytes(id + 1 + heap.OffsetBytes, heap.LengthBytes);
  const Block block = this->FindBlock(heap, offset);
  const std::uint64_t begin = HeapHeaderBytes(heap) + (heap.HasChecksums ? ChecksumBytes : 0);
  Require(length <= heap.MostObjectBytes && block.Inside >= begin && block.Inside <= block.Bytes &&
              length <= block.Bytes - block.Inside,
      DamagedHeap);
  this->CheckBlock(heap, block);
  this->Object.resize(length);
  this->Source.Read(block.Address + block.Inside, this->Object.data(), length);
  return this->Object;
}

FractalHeapReader::Block FractalHeapReader::FindBlock(const FractalHeap& heap, std::uint64_t offset)
{
  if (heap.RootRows == 0) {
    return {heap.Root, heap.FirstBytes, offset};
  }
  // The blocks in the first rows contain objects, and the blocks in the other rows are tables.
  const unsigned blockRows = Log2(heap.MostBytes) - Log2(heap.FirstBytes) + 2;
  const std::uint64_t firstRow = heap.FirstBytes * heap.Width;
  std::uint64_t table = heap.Root;
  for (unsigned rows = heap.RootRows;;) {
    const unsigned row = offset < firstRow ? 0 : Log2(offset) - Log2(firstRow) + 1;
    Require(row < rows, DamagedHeap);  // a table inside a table has fewer rows, so the loop ends
    this->CheckTable(heap, table, rows);
    const std::uint64_t bytes = BlockBytesInRow(heap, row);
    const std::uint64_t inRow = offset - (row == 0 ? 0 : firstRow << (row - 1));
    std::byte child[8];
    this->Source.Read(
        table + HeapHeaderBytes(heap) + 8 * (row * heap.Width + inRow / bytes), child, sizeof(child));
    const Block block{Load<std::uint64_t>(child), bytes, inRow % bytes};
    if (row < blockRows) {
      return block;
    }
    table = block.Address;
    offset = block.Inside;
    Require(bytes >= firstRow, DamagedHeap);
    rows = Log2(bytes) - Log2(firstRow) + 1;
  }
}

/// Checks the signature and the checksum of a table of blocks unless the table was checked before. Throws
/// Corrupt if one is wrong.
void FractalHeapReader::CheckTable(const FractalHeap& heap, std::uint64_t address, unsigned rows)
{
  if (this->CheckedBlocks.count(address) > 0) {
    return;
  }
  const std::uint64_t bytes = HeapHeaderBytes(heap) + 8 * rows * heap.Width + ChecksumBytes;
  Require(bytes <= LargestHeapBlock, DamagedHeap);
  this->Bytes.resize(bytes);
  this->Source.ReadChecked(address, this->Bytes.data(), bytes);
  Require(Begins(this->Bytes.data(), "FHIB"), DamagedHeap);
  this->CheckedBlocks.insert(address);
}

/// Checks the signature and the checksum, if any, of a block unless the block was checked before. Throws
/// Corrupt if one is wrong.
void FractalHeapReader::CheckBlock(const FractalHeap& heap, const Block& block)
{
  if (this->CheckedBlocks.count(block.Address) > 0) {
    return;
  }
  this->Bytes.resize(block.Bytes);
  this->Source.Read(block.Address, this->Bytes.data(), block.Bytes);
  Require(Begins(this->Bytes.data(), "FHDB"), DamagedHeap);
  if (heap.HasChecksums && this->Source.ComparesChecksums()) {
    // The checksum lies before the objects. HDF5 computes the checksum of a block with zeros instead of the
    // checksum.
    std::byte* const stored = this->Bytes.data() + HeapHeaderBytes(heap);
    const auto checksum = Load<std::uint32_t>(stored);
    std::fill_n(stored, ChecksumBytes, std::byte{0});
    Require(Lookup3(this->Bytes.data(), block.Bytes) == checksum, DamagedHeap);
  }
  this->CheckedBlocks.insert(block.Address);
}

}  // namespace patchio::hdf5
