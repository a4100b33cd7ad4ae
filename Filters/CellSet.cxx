#include "Filters/CellSet.h"

#include "Base/Bytes.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>

#include <algorithm>
#include <cstring>

namespace patchio::filters {

namespace {

/// The common properties of some blocks, which the ranks exchange.
struct Summary
{
  std::string UnsupportedReason;
  bool Uniform = false, Rectilinear = false;  ///< both false: no blocks
  int FlatAxis = -1;                          ///< -1: no block is flat
  std::vector<CellArray> Arrays, GridArrays;
};

std::string ToText(const Summary& summary)
{
  ByteWriter to;
  to.Append(std::tie(summary.UnsupportedReason, summary.Uniform, summary.Rectilinear, summary.FlatAxis));
  for (const auto* arrays : {&summary.Arrays, &summary.GridArrays}) {
    to.Append<std::uint64_t>(arrays->size());
    for (const CellArray& array : *arrays) {
      to.Append(std::tie(array.Name, array.Type, array.Components, array.Bytes));
    }
  }
  return PackValues(to.Release());
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

/// Returns an array of the cells, or of the points, of a block; null if the block has no array of this name,
/// or if the array has the type VTK_BIT or a wrong number of tuples.
vtkDataArray* FindArray(const Block& block, const char* name, bool isPointData)
{
  vtkDataArray* const array = AttributesOf(block.Grid, isPointData)->GetArray(name);
  const vtkIdType tuples = isPointData ? block.Grid->GetNumberOfPoints() : block.Grid->GetNumberOfCells();
  return array && array->GetNumberOfTuples() == tuples && array->GetDataType() != VTK_BIT ? array : nullptr;
}

/// Returns the arrays of a block that FindArray() finds, except ghost flags. The array of the name `first`
/// comes first.
std::vector<CellArray> ArraysOf(const Block& block, const std::string& first, bool isPointData)
{
  std::vector<CellArray> arrays;
  vtkFieldData* const data = AttributesOf(block.Grid, isPointData);
  for (int a = 0; a < data->GetNumberOfArrays(); ++a) {
    const char* const name = data->GetArrayName(a);
    vtkDataArray* const array = name ? FindArray(block, name, isPointData) : nullptr;
    if (array && std::strcmp(name, vtkDataSetAttributes::GhostArrayName()) != 0) {
      const int components = array->GetNumberOfComponents();
      arrays.insert(name == first ? arrays.begin() : arrays.end(),
          {name, array->GetDataType(), components, components * array->GetDataTypeSize()});
    }
  }
  return arrays;
}

/// Removes from `arrays` the arrays that are not in `others`.
void IntersectArrays(std::vector<CellArray>& arrays, const std::vector<CellArray>& others)
{
  const auto isMissing = [&](const CellArray& array) {
    return std::find(others.begin(), others.end(), array) == others.end();
  };
  arrays.erase(std::remove_if(arrays.begin(), arrays.end(), isMissing), arrays.end());
}

/// Adds the properties of more blocks to `common`. Keeps the arrays that all blocks have. Sets
/// UnsupportedReason if `more` has a reason, or if the flat axes differ.
void Merge(const Summary& more, Summary& common)
{
  if (common.UnsupportedReason.empty()) {
    common.UnsupportedReason = more.UnsupportedReason;
  }
  if (!more.Uniform && !more.Rectilinear) {
    return;
  }
  if (!common.Uniform && !common.Rectilinear) {
    common.FlatAxis = more.FlatAxis;
    common.Arrays = more.Arrays;
    common.GridArrays = more.GridArrays;
  } else if (common.FlatAxis != more.FlatAxis) {
    common.UnsupportedReason = "2-D blocks in different planes, or together with 3-D blocks";
  }
  IntersectArrays(common.Arrays, more.Arrays);
  IntersectArrays(common.GridArrays, more.GridArrays);
  common.Uniform = common.Uniform || more.Uniform;
  common.Rectilinear = common.Rectilinear || more.Rectilinear;
}

/// Returns the summary of a block that has the array `array`.
Summary SummaryOf(const Block& block, const std::string& array, bool isPointData)
{
  Summary summary;
  const auto flat = std::count(block.Points.begin(), block.Points.end(), 1);
  if (block.Form == BlockForm::Curvilinear || flat > (isPointData ? 0 : 1)) {
    summary.UnsupportedReason = "curvilinear blocks, 2-D blocks with point arrays, or lines";
    return summary;
  }
  summary.Uniform = block.Form == BlockForm::Uniform;
  summary.Rectilinear = !summary.Uniform;
  const auto thin = std::find(block.Points.begin(), block.Points.end(), 1);
  summary.FlatAxis = flat ? static_cast<int>(thin - block.Points.begin()) : -1;
  summary.Arrays = ArraysOf(block, array, isPointData);
  summary.GridArrays = isPointData ? ArraysOf(block, "", false) : std::vector<CellArray>();
  if (summary.Arrays.empty() || summary.Arrays[0].Name != array || summary.Arrays[0].Components != 1) {
    summary.UnsupportedReason = "ghost flags, or an array with several components";
  }
  return summary;
}

/// Returns the summary of the blocks of this rank that have the array. Not collective.
Summary Summarize(const Blocks& blocks, const std::string& array, bool isPointData)
{
  Summary summary;
  summary.UnsupportedReason = blocks.UnsupportedClass;
  for (const Block& block : blocks.List) {
    if (summary.UnsupportedReason.empty() && FindArray(block, array.c_str(), isPointData)) {
      Merge(SummaryOf(block, array, isPointData), summary);
    }
  }
  return summary;
}

/// Merges the summaries of all ranks. Sets UnsupportedReason if a rank has a reason, if the blocks do not fit
/// together, or if `array` is not the first of the arrays that all blocks have. Collective: every rank of the
/// communicator calls it.
Summary MergeSummaries(const Summary& local, const std::string& array, Communicator& ranks)
{
  Summary common;
  for (const std::string& text : ranks.AllGather(ToText(local))) {
    Merge(FromText(text), common);
  }
  if (common.Uniform && common.Rectilinear) {
    common.UnsupportedReason = "both uniform and rectilinear blocks";
  } else if (common.UnsupportedReason.empty() && (common.Arrays.empty() || common.Arrays[0].Name != array)) {
    common.UnsupportedReason = "an array that is missing, or whose type differs between blocks";
  }
  return common;
}

void AddBlock(const Block& block, CellSet& set)
{
  CellBlock& cells = set.Blocks.emplace_back();
  cells.IsPointData = set.IsPointData;
  cells.FlatAxis = set.FlatAxis;
  cells.CellVolume = block.Form == BlockForm::Uniform ? 1 : 0;
  for (int axis = 0; axis < 3; ++axis) {
    cells.Nodes[axis] = block.PositionsOf(axis);
    cells.Cells[axis] = set.IsPointData ? block.Points[axis] : block.Cells(axis);
    cells.CellVolume *= axis == set.FlatAxis ? 1 : block.Spacing[axis];
  }
  cells.Flags = block.Flags;
  const auto pointers = [&](const std::vector<CellArray>& arrays, bool isPointData) {
    std::vector<const char*> values;
    for (const CellArray& array : arrays) {
      values.push_back(
          static_cast<const char*>(FindArray(block, array.Name.c_str(), isPointData)->GetVoidPointer(0)));
    }
    return values;
  };
  set.Values.push_back(pointers(set.Arrays, set.IsPointData));
  set.GridValues.push_back(pointers(set.GridArrays, false));
  set.SetLastBlockValues();
}

void SetNodes(CellSet& set, Communicator& ranks)
{
  for (int axis = 0; axis < 3; ++axis) {
    const LatticeNodes local = CellLattice::Nodes(set.Blocks, axis);
    set.Nodes[axis] = {GatherValues(ranks, local.Positions), ranks.Min({local.LeastWidth})[0]};
  }
}

}  // namespace

void CellSet::SetLastBlockValues()
{
  if (this->Arrays.empty() || !this->HasContourValues) {
    return;
  }
  CellBlock& block = this->Blocks.back();
  const char* const values = this->Values.back()[0];
  if (this->Arrays[0].Type == VTK_FLOAT) {
    block.Floats = reinterpret_cast<const float*>(values);
  } else if (this->Arrays[0].Type == VTK_DOUBLE) {
    block.Doubles = reinterpret_cast<const double*>(values);
  } else {
    std::vector<double>& numbers = this->Numbers.emplace_back(block.CellCount());
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

CellSet MakeCellSet(const std::vector<const Block*>& blocks, bool isPointData,
    const std::vector<std::string>& arrays, Communicator& ranks)
{
  Summary local;
  for (const Block* block : blocks) {
    Summary one;
    one.Uniform = true;
    one.Arrays = ArraysOf(*block, "", isPointData);
    Merge(one, local);
  }
  CellSet set;
  set.IsPointData = isPointData;
  set.HasContourValues = false;
  set.Arrays = MergeSummaries(local, "", ranks).Arrays;
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
    const filters::Blocks& blocks, const std::string& array, bool isPointData, Communicator& ranks)
{
  return MergeSummaries(Summarize(blocks, array, isPointData), array, ranks).UnsupportedReason;
}

CellSet MakeCellSet(
    const filters::Blocks& blocks, const std::string& array, bool isPointData, Communicator& ranks)
{
  CellSet set;
  const Summary common = MergeSummaries(Summarize(blocks, array, isPointData), array, ranks);
  set.UnsupportedReason = common.UnsupportedReason;
  set.IsPointData = isPointData;
  set.FlatAxis = common.FlatAxis;
  set.Arrays = common.Arrays;
  set.GridArrays = common.GridArrays;
  if (!set.UnsupportedReason.empty()) {
    return set;
  }
  for (const Block& block : blocks.List) {
    if (FindArray(block, array.c_str(), isPointData)) {
      AddBlock(block, set);
    }
  }
  SetNodes(set, ranks);
  return set;
}

namespace {

/// Returns the box of the cells of a block that cover `cubes`.
Box CellsAt(const CellLattice& lattice, int block, const Box& cubes)
{
  Box cells;
  for (int axis = 0; axis < 3; ++axis) {
    const CellLattice::Axis& shared = lattice.AxisOf(block, axis);
    cells.Lower[axis] = shared.CellOfCube[cubes.Lower[axis] - shared.NodeIndices[0]];
    cells.Upper[axis] = shared.CellOfCube[cubes.Upper[axis] - shared.NodeIndices[0]];
  }
  return cells;
}

/// Calls visit(first, count) for each row of the box `cells`: the number of the row's first cell in the
/// block, and the number of cells.
template <typename Visit>
void ForEachRow(const CellBlock& block, const Box& cells, Visit visit)
{
  for (int k = cells.Lower[2]; k <= cells.Upper[2]; ++k) {
    for (int j = cells.Lower[1]; j <= cells.Upper[1]; ++j) {
      visit(cells.Lower[0] + j * block.Stride(1) + k * block.Stride(2), cells.Width(0));
    }
  }
}

/// Returns the flags of the grid's cells between the points of the box `points`. Empty: the block has no
/// flags, or no cell lies between these points.
std::vector<unsigned char> FlagsBetween(const CellBlock& block, const Box& points)
{
  std::vector<unsigned char> flags;
  Int3 cell;
  for (cell[2] = points.Lower[2]; block.Flags && cell[2] < points.Upper[2]; ++cell[2]) {
    for (cell[1] = points.Lower[1]; cell[1] < points.Upper[1]; ++cell[1]) {
      for (cell[0] = points.Lower[0]; cell[0] < points.Upper[0]; ++cell[0]) {
        flags.push_back(block.Flags[block.CellWithFirstCorner(cell)]);
      }
    }
  }
  return flags;
}

/// Appends the cells in the box `cells` of the block with the index `number` to `to`, unless all these cells
/// are hidden. See ReadCells().
void WriteCells(const CellSet& set, int number, const Box& cells, ByteWriter& to)
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
  to.Append(true);  // another block follows
  to.Append(block.CellVolume);
  for (int axis = 0; axis < 3; ++axis) {
    const double* const first = block.Nodes[axis] + cells.Lower[axis];
    const int nodes = cells.Width(axis) + block.NodeCount(axis) - block.Cells[axis];
    to.Append(std::vector<double>(first, first + nodes));
  }
  to.Append(flags);
  if (block.IsPointData) {
    to.Append(FlagsBetween(block, cells));
  }
  for (std::size_t a = 0; a < set.Arrays.size(); ++a) {
    const std::int64_t bytes = set.Arrays[a].Bytes;
    std::vector<char> values;
    ForEachRow(block, cells, [&](std::int64_t first, std::int64_t count) {
      const char* const begin = set.Values[number][a] + first * bytes;
      values.insert(values.end(), begin, begin + count * bytes);
    });
    to.Append(values);
  }
}

/// Appends to `set` a block of the cells that WriteCells() has written. The caller has read the first value,
/// true.
void ReadCells(ByteReader& from, CellSet& set)
{
  CellBlock& block = set.Blocks.emplace_back();
  block.IsLocal = false;
  block.IsPointData = set.IsPointData;
  block.FlatAxis = set.FlatAxis;
  from.Get(block.CellVolume);
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double>& nodes = set.Numbers.emplace_back();
    from.Get(nodes);
    block.Nodes[axis] = nodes.data();
    block.Cells[axis] =
        static_cast<int>(nodes.size()) - (block.IsPointData || axis == block.FlatAxis ? 0 : 1);
  }
  std::vector<unsigned char>& flags = set.Flags.emplace_back();
  from.Get(flags);
  (block.IsPointData ? block.PointFlags : block.Flags) = flags.data();
  if (block.IsPointData) {
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

/// Returns disjoint boxes of the cells of a block that another rank needs; the whole block if
/// BoxBins::UniqueParts() returns nothing. `requested`: boxes of cubes that the other rank needs.
std::vector<Box> RequestedBoxes(const CellLattice& lattice, int block, const BoxBins& requested)
{
  std::vector<Box> boxes;
  for (const int request : requested.Intersecting(lattice.CubesOf(block))) {
    boxes.push_back(CellsAt(lattice, block, Intersect(requested[request], lattice.CubesOf(block))));
  }
  std::sort(
      boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.CellCount() > b.CellCount(); });
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

/// Returns by how many cubes along each axis a block must grow to meet all cells that touch the block and, if
/// `neighbours`, the cells that touch these cells. Collective: every rank of the communicator calls it.
Int3 GhostWidths(const CellLattice& lattice, bool neighbours, Communicator& ranks)
{
  std::vector<double> widest{0, 0, 0};
  for (std::size_t b = 0; neighbours && b < lattice.Blocks().size(); ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      const std::vector<int>& nodeIndices = lattice.AxisOf(static_cast<int>(b), axis).NodeIndices;
      for (std::size_t i = 1; i < nodeIndices.size(); ++i) {
        widest[axis] = std::max<double>(widest[axis], nodeIndices[i] - nodeIndices[i - 1]);
      }
    }
  }
  widest = ranks.Max(widest);
  return {static_cast<int>(widest[0]) + 1, static_cast<int>(widest[1]) + 1, static_cast<int>(widest[2]) + 1};
}

}  // namespace

void AddRemoteCells(
    CellSet& cells, const std::function<std::vector<Box>(int, int)>& boxesFor, Communicator& ranks)
{
  std::vector<std::string> texts(ranks.Size());
  for (int rank = 0; rank < ranks.Size(); ++rank) {
    if (rank == ranks.Rank()) {
      continue;
    }
    ByteWriter sent;
    for (std::size_t b = 0; b < cells.Blocks.size(); ++b) {
      for (const Box& box : boxesFor(rank, static_cast<int>(b))) {
        WriteCells(cells, static_cast<int>(b), box, sent);
      }
    }
    sent.Append(false);
    texts[rank] = PackValues(sent.Release());
  }
  for (const std::string& text : ranks.Exchange(texts)) {
    ByteReader received(text);
    while (!text.empty() && received.Get<bool>()) {
      ReadCells(received, cells);
    }
  }
}

void AddRemoteCells(CellSet& cells, bool neighbours, Communicator& ranks)
{
  if (ranks.Size() == 1) {
    return;
  }
  const CellLattice lattice(cells.Blocks, cells.Nodes);
  const Int3 reach = GhostWidths(lattice, neighbours, ranks);
  std::vector<Box> local;
  for (std::size_t b = 0; b < cells.Blocks.size(); ++b) {
    local.push_back(Grow(lattice.CubesOf(static_cast<int>(b)), reach));
  }
  const std::vector<std::string> boxes = ranks.AllGather(PackValues(local));
  std::vector<std::unique_ptr<BoxBins>> requested;
  for (const std::string& text : boxes) {
    requested.push_back(std::make_unique<BoxBins>(UnpackValues<Box>({text})));
  }
  AddRemoteCells(
      cells, [&](int rank, int block) { return RequestedBoxes(lattice, block, *requested[rank]); }, ranks);
}

}  // namespace patchio::filters
