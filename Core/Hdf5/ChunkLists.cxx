#include "Hdf5/ChunkLists.h"

#include "Hdf5/ChunkArrays.h"
#include "Hdf5/Trees.h"

#include <array>
#include <limits>

namespace patchio::hdf5 {
namespace {

using Indices = std::array<std::uint64_t, ChunkedArray::MaximumRank>;

bool HasFilters(const Dataset& dataset)
{
  return dataset.Filters[0] != FilterKind::None;
}

/// Calls `use` with each chunk's indices among the chunks, the last axis fastest.
template <typename Use>
void ForEachChunk(const Dataset& dataset, const Use& use)
{
  Indices at{};
  for (std::uint64_t left = ChunksOf(dataset); left > 0; --left) {
    use(at);
    for (int d = dataset.Rank - 1; d >= 0; --d) {
      if (++at[d] <= (dataset.Dims[d] - 1) / dataset.ChunkDims[d]) {
        break;
      }
      at[d] = 0;
    }
  }
}

/// The number of a chunk in an array of chunks: row after row of the largest extent that the data set may
/// have, its unlimited axis slowest.
class ChunkNumbers
{
public:
  explicit ChunkNumbers(const Dataset& dataset)
  {
    int unlimited = 0;
    for (int d = 0; d < dataset.Rank; ++d) {
      unlimited = dataset.MostDims[d] == Dataset::Unlimited ? d : unlimited;
    }
    this->Order[0] = unlimited;
    for (int d = 0, next = 1; d < dataset.Rank; ++d) {
      if (d != unlimited) {
        this->Order[next++] = d;
      }
    }
    this->Rank = dataset.Rank;
    std::uint64_t stride = 1;
    for (int axis = this->Rank - 1; axis >= 0; --axis) {
      const int d = this->Order[axis];
      this->Strides[d] = stride;
      const std::uint64_t along = axis == 0 ? 1 : (dataset.MostDims[d] - 1) / dataset.ChunkDims[d] + 1;
      if (dataset.MostDims[d] < dataset.Dims[d] || stride > Most / along) {
        throw Corrupt("more chunks than a file can have");
      }
      stride *= along;
    }
  }

  std::uint64_t Of(const Indices& chunk) const
  {
    std::uint64_t number = 0;
    for (int d = 0; d < this->Rank; ++d) {
      number += chunk[d] * this->Strides[d];
    }
    return number;
  }

private:
  static constexpr std::uint64_t Most = std::uint64_t(1) << 48;

  int Rank = 0;
  std::array<int, ChunkedArray::MaximumRank> Order{};
  Indices Strides{};
};

}  // namespace

void ChunkLists::List(const Dataset& dataset, unsigned treeK, Chunk* chunks)
{
  ClearChunks(dataset, chunks);
  if (dataset.ChunkAddress == NoAddress || ChunksOf(dataset) == 0) {
    return;
  }
  switch (dataset.Index) {
    case ChunkIndex::Tree1:
      return this->ListTree1(dataset, treeK, dataset.ChunkAddress, -1, chunks);
    case ChunkIndex::Single:
      return this->ListSingle(dataset, chunks);
    case ChunkIndex::Implicit:
      return this->ListImplicit(dataset, chunks);
    case ChunkIndex::FixedArray:
      return this->ListArray(
          dataset, FixedArray(this->Source, dataset.ChunkAddress, HasFilters(dataset)), chunks);
    case ChunkIndex::ExtensibleArray:
      return this->ListArray(
          dataset, ExtensibleArray(this->Source, dataset.ChunkAddress, HasFilters(dataset)), chunks);
    case ChunkIndex::Tree2:
      return this->ListTree2(dataset, chunks);
  }
}

void ChunkLists::Add(const Dataset& dataset, const Indices& begin, std::uint64_t address, std::uint64_t bytes,
    std::uint32_t skippedFilters, Chunk* chunks)
{
  const std::uint64_t end = this->Source.EndAddress(), base = this->Source.BaseAddress();
  const bool fits = address <= end && bytes <= std::numeric_limits<std::uint32_t>::max();
  const Chunk written{address + base, 0, static_cast<std::uint32_t>(bytes), skippedFilters};
  if (!fits || !AddChunk(dataset, end + base, begin.data(), written, chunks)) {
    throw Corrupt("a chunk outside the file, or one that does not match its array");
  }
}

void ChunkLists::AddAt(const Dataset& dataset, const Indices& at, std::uint64_t address, std::uint64_t bytes,
    std::uint32_t skippedFilters, Chunk* chunks)
{
  Indices begin{};
  for (int d = 0; d < dataset.Rank; ++d) {
    begin[d] = at[d] * dataset.ChunkDims[d];
  }
  this->Add(dataset, begin, address, bytes, skippedFilters, chunks);
}

void ChunkLists::ListTree1(
    const Dataset& dataset, unsigned treeK, std::uint64_t address, int above, Chunk* chunks)
{
  const Tree1Node node = ReadTree1Node(this->Source, address, 1, above, treeK);
  // Each leaf adds a chunk that was not there yet, so there are no more steps than chunks times levels.
  if (node.Children == 0 && above >= 0) {
    throw Corrupt("a damaged B-tree");
  }
  const std::size_t keyBytes = 8 + 8 * std::size_t(dataset.Rank + 1);
  for (unsigned i = 0; i < node.Children; ++i) {
    std::array<std::byte, 16 + 8 * (ChunkedArray::MaximumRank + 1)> entry;  // key and address
    this->Source.Read(address + Tree1Node::HeadBytes + i * (keyBytes + 8), entry.data(), keyBytes + 8);
    const auto child = Load<std::uint64_t>(entry.data() + keyBytes);
    if (node.Level > 0) {
      this->ListTree1(dataset, treeK, child, node.Level, chunks);
      continue;
    }
    Indices begin{};
    for (int d = 0; d < dataset.Rank; ++d) {
      begin[d] = Load<std::uint64_t>(entry.data() + 8 + 8 * d);
    }
    this->Add(dataset, begin, child, Load<std::uint32_t>(entry.data()), Load<std::uint32_t>(entry.data() + 4),
        chunks);
  }
}

/// Records of types 10 and 11: the address, with filters the bytes and the filters left out, and the indices
/// among the chunks. Each adds a chunk that was not there yet.
void ChunkLists::ListTree2(const Dataset& dataset, Chunk* chunks)
{
  const bool filtered = HasFilters(dataset);
  const Tree2 tree = this->Trees.Open(dataset.ChunkAddress, filtered ? 11 : 10);
  const std::size_t indexBytes = 8 * std::size_t(dataset.Rank);
  const std::size_t sizeBytes = tree.RecordBytes - 8 - indexBytes - (filtered ? 4 : 0);
  if (tree.RecordBytes < 8 + indexBytes + (filtered ? 5 : 0) || sizeBytes > 8 ||
      (!filtered && sizeBytes > 0)) {
    throw Corrupt("a tree with other records");
  }
  const std::uint64_t plainBytes = PlainChunkBytes(dataset);
  this->Trees.Walk(
      tree, [](const std::byte*) { return 0; },
      [&](const std::byte* record) {
        const std::uint64_t bytes = filtered ? LoadBytes(record + 8, sizeBytes) : plainBytes;
        const std::uint32_t skipped = filtered ? Load<std::uint32_t>(record + 8 + sizeBytes) : 0;
        Indices at{};
        for (int d = 0; d < dataset.Rank; ++d) {
          at[d] = Load<std::uint64_t>(record + tree.RecordBytes - indexBytes + 8 * std::size_t(d));
          if (at[d] > dataset.Dims[d] / dataset.ChunkDims[d]) {
            throw Corrupt("a chunk outside its array");
          }
        }
        this->AddAt(dataset, at, Load<std::uint64_t>(record), bytes, skipped, chunks);
        return false;
      });
}

void ChunkLists::ListSingle(const Dataset& dataset, Chunk* chunks)
{
  const std::uint64_t bytes = HasFilters(dataset) ? dataset.SingleBytes : PlainChunkBytes(dataset);
  this->Add(dataset, {}, dataset.ChunkAddress, bytes, dataset.SingleSkipped, chunks);
}

void ChunkLists::ListImplicit(const Dataset& dataset, Chunk* chunks)
{
  const ChunkNumbers numbers(dataset);
  const std::uint64_t bytes = PlainChunkBytes(dataset), most = this->Source.EndAddress() / bytes;
  ForEachChunk(dataset, [&](const Indices& at) {
    const std::uint64_t number = numbers.Of(at);
    if (number > most) {
      throw Corrupt("a chunk outside the file");
    }
    this->AddAt(dataset, at, dataset.ChunkAddress + number * bytes, bytes, 0, chunks);
  });
}

/// Elements are the addresses of chunks, with filters followed by the bytes and the filters left out.
template <typename Array>
void ChunkLists::ListArray(const Dataset& dataset, Array array, Chunk* chunks)
{
  const std::size_t elementBytes = array.ElementBytes();
  const bool filtered = HasFilters(dataset);
  if (filtered ? elementBytes < 13 || elementBytes > 20 : elementBytes != 8) {
    throw Corrupt("an array of chunks with other elements");
  }
  const ChunkNumbers numbers(dataset);
  const std::uint64_t plainBytes = PlainChunkBytes(dataset);
  ForEachChunk(dataset, [&](const Indices& at) {
    const std::byte* const element = array.At(numbers.Of(at));
    const std::uint64_t address = element ? Load<std::uint64_t>(element) : NoAddress;
    if (address == NoAddress) {
      return;
    }
    const std::uint64_t bytes = filtered ? LoadBytes(element + 8, elementBytes - 12) : plainBytes;
    const std::uint32_t skipped = filtered ? Load<std::uint32_t>(element + elementBytes - 4) : 0;
    this->AddAt(dataset, at, address, bytes, skipped, chunks);
  });
}

}  // namespace patchio::hdf5
