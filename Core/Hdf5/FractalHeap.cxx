#include "Hdf5/FractalHeap.h"

#include <algorithm>

namespace patchio::hdf5 {
namespace {

constexpr std::uint64_t LargestBlock = std::uint64_t(1) << 24;
constexpr std::uint64_t LargestObject = 64 * 1024;
constexpr unsigned MostRows = 64;

/// Bytes of what comes before the blocks' addresses in tables, and before objects in blocks, without the
/// checksum: signature, version, address of the header, place in the heap.
std::uint64_t HeadBytes(const FractalHeap& heap)
{
  return 4 + 1 + 8 + heap.OffsetBytes;
}

std::uint64_t BytesInRow(const FractalHeap& heap, unsigned row)
{
  return row == 0 ? heap.FirstBytes : heap.FirstBytes << (row - 1);
}

void RequireOfHeap(bool holds)
{
  if (!holds) {
    throw Corrupt("a damaged fractal heap");
  }
}

}  // namespace

FractalHeap FractalHeapReader::Open(std::uint64_t address)
{
  std::byte head[146];
  this->Source.Read(address, head, 22);
  RequireOfHeap(Begins(head, "FRHP") && head[4] == std::byte{0});
  if (Load<std::uint16_t>(head + 7) != 0) {
    throw Unsupported("heap with filters");
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
  RequireOfHeap(IsPowerOfTwo(heap.Width) && IsPowerOfTwo(heap.FirstBytes) && IsPowerOfTwo(heap.MostBytes) &&
                heap.FirstBytes <= heap.MostBytes && heap.MostBytes <= LargestBlock && offsetBits > 0 &&
                offsetBits <= 64 && heap.RootRows <= MostRows && heap.MostObjectBytes <= LargestObject);
  heap.OffsetBytes = (offsetBits + 7) / 8;
  // The length of an object is stored in as many bytes as the larger of what may be one needs, at most.
  heap.LengthBytes = std::min(
      (Log2(heap.MostBytes) + 7) / 8, Log2(std::max<std::uint64_t>(heap.MostObjectBytes, 1)) / 8 + 1);
  RequireOfHeap(heap.IdBytes >= 1 + heap.OffsetBytes + heap.LengthBytes);
  return heap;
}

const std::vector<std::byte>& FractalHeapReader::Read(const FractalHeap& heap, const std::byte* id)
{
  constexpr unsigned versionAndType = 0xf0;
  if ((Load<std::uint8_t>(id) & versionAndType) != 0) {
    throw Unsupported("large or small object in a heap");
  }
  const std::uint64_t offset = LoadBytes(id + 1, heap.OffsetBytes);
  const std::uint64_t length = LoadBytes(id + 1 + heap.OffsetBytes, heap.LengthBytes);
  const Block block = this->Find(heap, offset);
  const std::uint64_t begin = HeadBytes(heap) + (heap.HasChecksums ? ChecksumBytes : 0);
  RequireOfHeap(length <= heap.MostObjectBytes && block.Inside >= begin && block.Inside <= block.Bytes &&
                length <= block.Bytes - block.Inside);
  this->CheckBlock(heap, block);
  this->Object.resize(length);
  this->Source.Read(block.Address + block.Inside, this->Object.data(), length);
  return this->Object;
}

FractalHeapReader::Block FractalHeapReader::Find(const FractalHeap& heap, std::uint64_t offset)
{
  if (heap.RootRows == 0) {
    return {heap.Root, heap.FirstBytes, offset};
  }
  const unsigned blockRows = Log2(heap.MostBytes) - Log2(heap.FirstBytes) + 2;  // with objects, in tables
  const std::uint64_t firstRow = heap.FirstBytes * heap.Width;
  std::uint64_t table = heap.Root;
  for (unsigned rows = heap.RootRows;;) {
    const unsigned row = offset < firstRow ? 0 : Log2(offset) - Log2(firstRow) + 1;
    RequireOfHeap(row < rows);  // so that tables within tables have fewer and fewer rows
    this->CheckTable(heap, table, rows);
    const std::uint64_t bytes = BytesInRow(heap, row);
    const std::uint64_t inRow = offset - (row == 0 ? 0 : firstRow << (row - 1));
    std::byte child[8];
    this->Source.Read(table + HeadBytes(heap) + 8 * (row * heap.Width + inRow / bytes), child, sizeof(child));
    const Block block{Load<std::uint64_t>(child), bytes, inRow % bytes};
    if (row < blockRows) {
      return block;
    }
    table = block.Address;
    offset = block.Inside;
    RequireOfHeap(bytes >= firstRow);
    rows = Log2(bytes) - Log2(firstRow) + 1;
  }
}

void FractalHeapReader::CheckTable(const FractalHeap& heap, std::uint64_t address, unsigned rows)
{
  if (this->Checked.count(address) > 0) {
    return;
  }
  const std::uint64_t bytes = HeadBytes(heap) + 8 * rows * heap.Width + ChecksumBytes;
  RequireOfHeap(bytes <= LargestBlock);
  this->Bytes.resize(bytes);
  this->Source.ReadChecked(address, this->Bytes.data(), bytes);
  RequireOfHeap(Begins(this->Bytes.data(), "FHIB"));
  this->Checked.insert(address);
}

void FractalHeapReader::CheckBlock(const FractalHeap& heap, const Block& block)
{
  if (this->Checked.count(block.Address) > 0) {
    return;
  }
  this->Bytes.resize(block.Bytes);
  this->Source.Read(block.Address, this->Bytes.data(), block.Bytes);
  RequireOfHeap(Begins(this->Bytes.data(), "FHDB"));
  if (heap.HasChecksums && this->Source.ComparesChecksums()) {
    // The checksum lies before the objects, and is of the block with zeros in its place.
    std::byte* const place = this->Bytes.data() + HeadBytes(heap);
    const auto checksum = Load<std::uint32_t>(place);
    std::fill_n(place, ChecksumBytes, std::byte{0});
    RequireOfHeap(Lookup3(this->Bytes.data(), block.Bytes) == checksum);
  }
  this->Checked.insert(block.Address);
}

}  // namespace patchio::hdf5
