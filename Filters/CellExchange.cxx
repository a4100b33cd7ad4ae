// Cells of other ranks.
#include "Base/Bytes.h"
#include "Filters/CellSet.h"

#include <algorithm>

namespace patchio::filters {
namespace {

/// The cells of a block that cubes belong to.
Box CellsAt(const CellLattice& lattice, int block, const Box& cubes)
{
  Box cells;
  for (int axis = 0; axis < 3; ++axis) {
    const CellLattice::Axis& shared = lattice.AxisOf(block, axis);
    cells.Lower[axis] = shared.CellAt[cubes.Lower[axis] - shared.Places[0]];
    cells.Upper[axis] = shared.CellAt[cubes.Upper[axis] - shared.Places[0]];
  }
  return cells;
}

/// Calls visit(number of the first cell, number of cells) for each row of a box of a block's cells.
template <typename Visit>
void ForEachRow(const CellBlock& block, const Box& cells, Visit visit)
{
  for (int k = cells.Lower[2]; k <= cells.Upper[2]; ++k) {
    for (int j = cells.Lower[1]; j <= cells.Upper[1]; ++j) {
      visit(cells.Lower[0] + j * block.Stride(1) + k * block.Stride(2), cells.Width(0));
    }
  }
}

/// The flags of the grid's cells between the points of a box; empty if all cells of the grid are visible.
std::vector<unsigned char> FlagsBetween(const CellBlock& block, const Box& points)
{
  std::vector<unsigned char> flags;
  Int3 cell;
  for (cell[2] = points.Lower[2]; block.Flags && cell[2] < points.Upper[2]; ++cell[2]) {
    for (cell[1] = points.Lower[1]; cell[1] < points.Upper[1]; ++cell[1]) {
      for (cell[0] = points.Lower[0]; cell[0] < points.Upper[0]; ++cell[0]) {
        flags.push_back(block.Flags[block.CellAfter(cell)]);
      }
    }
  }
  return flags;
}

void PutCells(const CellSet& set, int number, const Box& cells, ByteWriter& to)
{
  const CellBlock& block = set.Blocks[number];
  std::vector<unsigned char> flags;
  ForEachRow(block, cells, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t cell = first; cell < first + count; ++cell) {
      flags.push_back(block.IsVisible(cell) ? 0 : Block::HidingFlags);
    }
  });
  if (std::find(flags.begin(), flags.end(), 0) == flags.end()) {
    return;
  }
  to.Put(true);  // another block follows
  to.Put(block.CellVolume);
  for (int axis = 0; axis < 3; ++axis) {
    const double* const first = block.Nodes[axis] + cells.Lower[axis];
    const int nodes = cells.Width(axis) + block.NodeCount(axis) - block.Cells[axis];
    to.Put(std::vector<double>(first, first + nodes));
  }
  to.Put(flags);
  if (block.OfPoints) {
    to.Put(FlagsBetween(block, cells));
  }
  for (std::size_t a = 0; a < set.Arrays.size(); ++a) {
    const std::int64_t bytes = set.Arrays[a].Bytes;
    std::vector<char> values;
    ForEachRow(block, cells, [&](std::int64_t first, std::int64_t count) {
      const char* const begin = set.Values[number][a] + first * bytes;
      values.insert(values.end(), begin, begin + count * bytes);
    });
    to.Put(values);
  }
}

void TakeCells(ByteReader& from, CellSet& set)
{
  CellBlock& block = set.Blocks.emplace_back();
  block.Own = false;
  block.OfPoints = set.OfPoints;
  block.FlatAxis = set.FlatAxis;
  from.Get(block.CellVolume);
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double>& nodes = set.Numbers.emplace_back();
    from.Get(nodes);
    block.Nodes[axis] = nodes.data();
    block.Cells[axis] = static_cast<int>(nodes.size()) - (block.OfPoints || axis == block.FlatAxis ? 0 : 1);
  }
  std::vector<unsigned char>& flags = set.Flags.emplace_back();
  from.Get(flags);
  (block.OfPoints ? block.PointFlags : block.Flags) = flags.data();
  if (block.OfPoints) {
    std::vector<unsigned char>& between = set.Flags.emplace_back();
    from.Get(between);
    block.Flags = between.empty() ? nullptr : between.data();
  }
  std::vector<const char*>& values = set.Values.emplace_back();
  for (std::size_t a = 0; a < set.Arrays.size(); ++a) {
    std::vector<char>& bytes = set.Bytes.emplace_back();
    from.Get(bytes);
    values.push_back(bytes.data());
  }
  set.TakeNumbers();
}

/// The cells of one block that one rank needs, each once.
std::vector<Box> CellsFor(const CellLattice& lattice, int block, const BoxBins& wanted)
{
  std::vector<Box> boxes;
  for (const int other : wanted.Meeting(lattice.CubesOf(block))) {
    boxes.push_back(CellsAt(lattice, block, Intersect(wanted[other], lattice.CubesOf(block))));
  }
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.Cells() > b.Cells(); });
  if (boxes.size() < 2) {
    return boxes;
  }
  const auto rests = BoxBins(boxes).WithoutThoseBefore();
  if (!rests) {
    return {CellsAt(lattice, block, lattice.CubesOf(block))};
  }
  std::vector<Box> disjoint;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const auto rest = rests->find(static_cast<int>(b));
    if (rest == rests->end()) {
      disjoint.push_back(boxes[b]);
    } else {
      disjoint.insert(disjoint.end(), rest->second.begin(), rest->second.end());
    }
  }
  return disjoint;
}

/// How far cells lie from a block at most if they touch it or, with `neighbours`, touch such a cell.
/// Collective.
Int3 Reach(const CellLattice& lattice, bool neighbours, Communicator& ranks)
{
  std::vector<int> widest{0, 0, 0};
  for (std::size_t b = 0; neighbours && b < lattice.Blocks().size(); ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      const std::vector<int>& places = lattice.AxisOf(static_cast<int>(b), axis).Places;
      for (std::size_t i = 1; i < places.size(); ++i) {
        widest[axis] = std::max(widest[axis], places[i] - places[i - 1]);
      }
    }
  }
  const std::vector<int> all = ranks.AllGather(widest);
  Int3 reach{1, 1, 1};
  for (std::size_t n = 0; n < all.size(); ++n) {
    reach[n % 3] = std::max(reach[n % 3], all[n] + 1);
  }
  return reach;
}

}  // namespace

void AddCellsOfOthers(
    CellSet& cells, const std::function<std::vector<Box>(int, int)>& give, Communicator& ranks)
{
  std::vector<std::string> texts(ranks.Size());
  for (int rank = 0; rank < ranks.Size(); ++rank) {
    if (rank == ranks.Rank()) {
      continue;
    }
    ByteWriter given;
    for (std::size_t b = 0; b < cells.Blocks.size(); ++b) {
      for (const Box& box : give(rank, static_cast<int>(b))) {
        PutCells(cells, static_cast<int>(b), box, given);
      }
    }
    given.Put(false);
    texts[rank] = TextOfValues(given.Take());
  }
  for (const std::string& text : ranks.Exchange(texts)) {
    ByteReader taken(reinterpret_cast<const std::byte*>(text.data()), text.size());
    while (!text.empty() && taken.Get<bool>()) {
      TakeCells(taken, cells);
    }
  }
}

void AddCellsOfOthers(CellSet& cells, bool neighbours, Communicator& ranks)
{
  if (ranks.Size() == 1) {
    return;
  }
  const CellLattice lattice(cells.Blocks, cells.Nodes);
  const Int3 reach = Reach(lattice, neighbours, ranks);
  std::vector<Box> mine;
  for (std::size_t b = 0; b < cells.Blocks.size(); ++b) {
    mine.push_back(Grown(lattice.CubesOf(static_cast<int>(b)), reach));
  }
  const std::vector<std::string> boxes = ranks.AllGather(TextOfValues(mine));
  std::vector<std::unique_ptr<BoxBins>> wanted;
  for (const std::string& text : boxes) {
    wanted.push_back(std::make_unique<BoxBins>(ValuesInTexts<Box>({text})));
  }
  AddCellsOfOthers(
      cells, [&](int rank, int block) { return CellsFor(lattice, block, *wanted[rank]); }, ranks);
}

}  // namespace patchio::filters
