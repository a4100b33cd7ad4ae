#include "Filters/CellSet.h"

#include "Base/Bytes.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cstring>

namespace patchio::filters {

namespace {

constexpr int NotKnown = -2;

/// Facts about a rank's blocks, which the ranks exchange.
struct Summary
{
  std::string UnsupportedReason;
  bool Uniform = false, Rectilinear = false;
  int FlatAxis = NotKnown;  ///< NotKnown: the rank has no blocks; -1: none is flat
  std::vector<CellArray> Arrays, GridArrays;
};

std::string ToText(const Summary& summary)
{
  ByteWriter to;
  to.Put(std::tie(summary.UnsupportedReason, summary.Uniform, summary.Rectilinear, summary.FlatAxis));
  for (const auto* arrays : {&summary.Arrays, &summary.GridArrays}) {
    to.Put<std::uint64_t>(arrays->size());
    for (const CellArray& array : *arrays) {
      to.Put(std::tie(array.Name, array.Type, array.Components, array.Bytes));
    }
  }
  return TextOfValues(to.Take());
}

Summary FromText(const std::string& text)
{
  Summary summary;
  ByteReader from(text);
  from.Get(std::tie(summary.UnsupportedReason, summary.Uniform, summary.Rectilinear, summary.FlatAxis));
  for (auto* arrays : {&summary.Arrays, &summary.GridArrays}) {
    arrays->resize(from.Get<std::uint64_t>());
    for (CellArray& array : *arrays) {
      from.Get(std::tie(array.Name, array.Type, array.Components, array.Bytes));
    }
  }
  return summary;
}

vtkDataArray* FindArray(const Block& block, const char* name, bool ofPoints)
{
  vtkDataSet* const grid = block.Grid;
  vtkDataArray* const array =
      ofPoints ? grid->GetPointData()->GetArray(name) : grid->GetCellData()->GetArray(name);
  const vtkIdType tuples = ofPoints ? grid->GetNumberOfPoints() : grid->GetNumberOfCells();
  return array && array->GetNumberOfTuples() == tuples && array->GetDataType() != VTK_BIT ? array : nullptr;
}

CellArray Describe(vtkDataArray* array)
{
  const int components = array->GetNumberOfComponents();
  return {array->GetName(), array->GetDataType(), components, components * array->GetDataTypeSize()};
}

/// Returns the arrays of a block; the one with the name `first` comes first.
std::vector<CellArray> ArraysOf(const Block& block, const std::string& first, bool ofPoints)
{
  std::vector<CellArray> arrays;
  vtkFieldData* const data =
      ofPoints ? static_cast<vtkFieldData*>(block.Grid->GetPointData()) : block.Grid->GetCellData();
  for (int a = 0; a < data->GetNumberOfArrays(); ++a) {
    const char* const name = data->GetArrayName(a);
    if (name && std::strcmp(name, vtkDataSetAttributes::GhostArrayName()) != 0 &&
        FindArray(block, name, ofPoints)) {
      arrays.insert(
          name == first ? arrays.begin() : arrays.end(), Describe(FindArray(block, name, ofPoints)));
    }
  }
  return arrays;
}

/// Removes the arrays that the block lacks.
void KeepArraysOf(const Block& block, bool ofPoints, std::vector<CellArray>& arrays)
{
  const auto isMissing = [&](const CellArray& array) {
    vtkDataArray* const same = FindArray(block, array.Name.c_str(), ofPoints);
    return !same || !(Describe(same) == array);
  };
  arrays.erase(std::remove_if(arrays.begin(), arrays.end(), isMissing), arrays.end());
}

/// Removes the arrays that are not in `others`.
void KeepCommon(std::vector<CellArray>& arrays, const std::vector<CellArray>& others)
{
  const auto isCommon = [&](const CellArray& array) {
    return std::find(others.begin(), others.end(), array) != others.end();
  };
  arrays.erase(std::remove_if(arrays.begin(), arrays.end(), [&](const CellArray& a) { return !isCommon(a); }),
      arrays.end());
}

void MergeFlatAxis(int axis, Summary& summary)
{
  if (summary.FlatAxis != NotKnown && axis != NotKnown && axis != summary.FlatAxis) {
    summary.UnsupportedReason = "2-D blocks in different planes";
  }
  summary.FlatAxis = summary.FlatAxis == NotKnown ? axis : summary.FlatAxis;
}

Summary Summarize(const Blocks& blocks, const std::string& array, bool ofPoints)
{
  Summary summary;
  summary.UnsupportedReason = blocks.UnsupportedReason;
  bool first = true;
  for (const Block& block : blocks.List) {
    if (!FindArray(block, array.c_str(), ofPoints)) {
      continue;
    }
    summary.Uniform = summary.Uniform || block.Form == BlockForm::Uniform;
    summary.Rectilinear = summary.Rectilinear || block.Form == BlockForm::Rectilinear;
    const auto flat = std::count(block.Points.begin(), block.Points.end(), 1);
    if (block.Form == BlockForm::Curvilinear || flat > (ofPoints ? 0 : 1)) {
      summary.UnsupportedReason = "curvilinear blocks, 2-D blocks with point arrays, or lines";
      return summary;
    }
    const auto thin = std::find(block.Points.begin(), block.Points.end(), 1);
    MergeFlatAxis(flat ? static_cast<int>(thin - block.Points.begin()) : -1, summary);
    if (first) {
      summary.Arrays = ArraysOf(block, array, ofPoints);
      summary.GridArrays = ofPoints ? ArraysOf(block, "", false) : std::vector<CellArray>();
    } else {
      KeepArraysOf(block, ofPoints, summary.Arrays);
      KeepArraysOf(block, false, summary.GridArrays);
    }
    first = false;
    if (summary.Arrays.empty() || summary.Arrays[0].Name != array || summary.Arrays[0].Components != 1) {
      summary.UnsupportedReason = "an array that differs between blocks or has several components";
      return summary;
    }
  }
  return summary;
}

/// Collective: returns what the summaries of all ranks have in common. A rank without blocks sets no limits.
Summary Agree(const Summary& local, const std::string& array, Communicator& ranks)
{
  Summary common;
  bool first = true;
  for (const std::string& text : ranks.AllGather(ToText(local))) {
    const Summary summary = FromText(text);
    common.UnsupportedReason =
        common.UnsupportedReason.empty() ? summary.UnsupportedReason : common.UnsupportedReason;
    common.Uniform = common.Uniform || summary.Uniform;
    common.Rectilinear = common.Rectilinear || summary.Rectilinear;
    MergeFlatAxis(summary.FlatAxis, common);
    if (!summary.Uniform && !summary.Rectilinear) {
      continue;
    }
    if (first) {
      common.Arrays = summary.Arrays;
      common.GridArrays = summary.GridArrays;
    } else {
      KeepCommon(common.Arrays, summary.Arrays);
      KeepCommon(common.GridArrays, summary.GridArrays);
    }
    first = false;
  }
  if (common.Uniform && common.Rectilinear) {
    common.UnsupportedReason = "both uniform and rectilinear blocks";
  } else if (common.UnsupportedReason.empty() && (common.Arrays.empty() || common.Arrays[0].Name != array)) {
    common.UnsupportedReason = "a missing array";
  }
  return common;
}

void AddBlock(const Block& block, CellSet& set)
{
  CellBlock& cells = set.Blocks.emplace_back();
  cells.OfPoints = set.OfPoints;
  cells.FlatAxis = set.FlatAxis;
  cells.CellVolume = block.Form == BlockForm::Uniform ? 1 : 0;
  for (int axis = 0; axis < 3; ++axis) {
    cells.Nodes[axis] = block.PositionsOf(axis);
    cells.Cells[axis] = set.OfPoints ? block.Points[axis] : block.Cells(axis);
    cells.CellVolume *= axis == set.FlatAxis ? 1 : block.Spacing[axis];
  }
  cells.Flags = block.Flags;
  const auto pointers = [&](const std::vector<CellArray>& arrays, bool ofPoints) {
    std::vector<const char*> values;
    for (const CellArray& array : arrays) {
      values.push_back(
          static_cast<const char*>(FindArray(block, array.Name.c_str(), ofPoints)->GetVoidPointer(0)));
    }
    return values;
  };
  set.Values.push_back(pointers(set.Arrays, set.OfPoints));
  set.GridValues.push_back(pointers(set.GridArrays, false));
  set.SetLastBlockValues();
}

void SetNodes(CellSet& set, Communicator& ranks)
{
  for (int axis = 0; axis < 3; ++axis) {
    set.Nodes[axis] = CellLattice::Nodes(set.Blocks, axis);
    if (ranks.Size() > 1) {
      set.Nodes[axis] = GatherValues(ranks, set.Nodes[axis]);
    }
  }
}

}  // namespace

void CellSet::SetLastBlockValues()
{
  if (this->Arrays.empty() || !this->HasNumbers) {
    return;
  }
  CellBlock& block = this->Blocks.back();
  const char* const values = this->Values.back()[0];
  if (this->Arrays[0].Type == VTK_FLOAT) {
    block.Floats = reinterpret_cast<const float*>(values);
  } else if (this->Arrays[0].Type == VTK_DOUBLE) {
    block.Doubles = reinterpret_cast<const double*>(values);
  } else {
    std::vector<double>& numbers = this->Numbers.emplace_back(block.Size());
    switch (this->Arrays[0].Type) {
      vtkTemplateMacro(std::copy_n(reinterpret_cast<const VTK_TT*>(values), numbers.size(), numbers.begin()));
    }
    block.Doubles = numbers.data();
  }
}

CellSet MakeCellSet(const std::vector<const Block*>& blocks, Communicator& ranks)
{
  CellSet set;
  for (const Block* block : blocks) {
    AddBlock(*block, set);
  }
  SetNodes(set, ranks);
  return set;
}

CellSet MakeCellSet(const std::vector<const Block*>& blocks, bool ofPoints,
    const std::vector<std::string>& arrays, Communicator& ranks)
{
  Summary local;
  for (const Block* block : blocks) {
    if (local.Uniform) {
      KeepArraysOf(*block, ofPoints, local.Arrays);
    } else {
      local.Arrays = ArraysOf(*block, "", ofPoints);
    }
    local.Uniform = true;
  }
  CellSet set;
  set.OfPoints = ofPoints;
  set.HasNumbers = false;
  set.Arrays = Agree(local, "", ranks).Arrays;
  const auto isUnwanted = [&](const CellArray& array) {
    return std::find(arrays.begin(), arrays.end(), array.Name) == arrays.end();
  };
  set.Arrays.erase(std::remove_if(set.Arrays.begin(), set.Arrays.end(), isUnwanted), set.Arrays.end());
  for (const Block* block : blocks) {
    AddBlock(*block, set);
  }
  return set;
}

std::string FindUnsupportedReason(
    const filters::Blocks& blocks, const std::string& array, bool ofPoints, Communicator& ranks)
{
  return Agree(Summarize(blocks, array, ofPoints), array, ranks).UnsupportedReason;
}

CellSet MakeCellSet(
    const filters::Blocks& blocks, const std::string& array, bool ofPoints, Communicator& ranks)
{
  CellSet set;
  const Summary common = Agree(Summarize(blocks, array, ofPoints), array, ranks);
  set.UnsupportedReason = common.UnsupportedReason;
  set.OfPoints = ofPoints;
  set.FlatAxis = common.FlatAxis;
  set.Arrays = common.Arrays;
  set.GridArrays = common.GridArrays;
  if (!set.UnsupportedReason.empty()) {
    return set;
  }
  for (const Block& block : blocks.List) {
    if (FindArray(block, array.c_str(), ofPoints)) {
      AddBlock(block, set);
    }
  }
  SetNodes(set, ranks);
  return set;
}

}  // namespace patchio::filters

// Cells of other ranks.

namespace patchio::filters {

namespace {

/// Returns the cells of a block that cover these cubes.
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

/// Returns the flags of the grid's cells between the points of a box; empty if all cells of the grid are
/// visible.
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
  set.SetLastBlockValues();
}

/// Returns disjoint boxes of the cells of one block that one rank needs.
std::vector<Box> CellsFor(const CellLattice& lattice, int block, const BoxBins& wanted)
{
  std::vector<Box> boxes;
  for (const int other : wanted.Intersecting(lattice.CubesOf(block))) {
    boxes.push_back(CellsAt(lattice, block, Intersect(wanted[other], lattice.CubesOf(block))));
  }
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.Cells() > b.Cells(); });
  if (boxes.size() < 2) {
    return boxes;
  }
  const auto rests = BoxBins(boxes).UniqueParts();
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

/// Collective: returns by how many cubes along each axis a block must grow to meet all cells that touch it
/// and, with `neighbours`, the cells that touch those.
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
    ByteReader taken(text);
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
  std::vector<Box> local;
  for (std::size_t b = 0; b < cells.Blocks.size(); ++b) {
    local.push_back(Grown(lattice.CubesOf(static_cast<int>(b)), reach));
  }
  const std::vector<std::string> boxes = ranks.AllGather(TextOfValues(local));
  std::vector<std::unique_ptr<BoxBins>> wanted;
  for (const std::string& text : boxes) {
    wanted.push_back(std::make_unique<BoxBins>(ValuesInTexts<Box>({text})));
  }
  AddCellsOfOthers(
      cells, [&](int rank, int block) { return CellsFor(lattice, block, *wanted[rank]); }, ranks);
}

}  // namespace patchio::filters
