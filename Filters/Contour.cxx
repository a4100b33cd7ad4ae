#include "Filters/Contour.h"

#include "Filters/CellTables.h"
#include "Filters/Stitch.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <vtkMarchingCubesTriangleCases.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace patchio::filters {

namespace {

/// The corners of each edge of a hexahedron, in VTK's order.
constexpr int Edges[12][2] = {
    {0, 1}, {1, 2}, {3, 2}, {0, 3}, {4, 5}, {5, 6}, {7, 6}, {4, 7}, {0, 4}, {1, 5}, {3, 7}, {2, 6}};

/// The edges of a hexahedron in VTK's order: the steps along x, y and z to the first corner of the edge, and
/// the axis of the edge.
constexpr int LatticeEdges[12][4] = {{0, 0, 0, 0}, {1, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0},
    {1, 0, 1, 1}, {0, 1, 1, 0}, {0, 0, 1, 1}, {0, 0, 0, 2}, {1, 0, 0, 2}, {0, 1, 0, 2}, {1, 1, 0, 2}};

/// Returns whether the corners of an edge have different signs. `signs`: bit set of the corners above the
/// contour value.
bool Crosses(int signs, int edge)
{
  return ((signs >> Edges[edge][0]) & 1) != ((signs >> Edges[edge][1]) & 1);
}

/// Returns the smallest number of the type T that is at least `limit`.
template <typename T>
T SmallestNotBelow(double limit)
{
  const T rounded = static_cast<T>(limit);
  return static_cast<double>(rounded) < limit ? std::nextafter(rounded, std::numeric_limits<T>::infinity())
                                              : rounded;
}

}  // namespace

ContourSlab::ContourSlab(const CellLattice& lattice, const Slab& slab, double contourValue)
    : Lattice(lattice), Layers(slab), Block(lattice[slab.Block]), ContourValue(contourValue), Rim(lattice)
{
}

ContourPart ContourSlab::MakePart()
{
  this->ComputeStates();
  const std::size_t columns = this->Block.Cells[0] + 2;
  this->AllStates.resize(columns);
  this->AnyStates.resize(columns);
  for (int k = this->Layers.Begin; k < this->Layers.End; ++k) {
    for (int j = 0; j <= this->Block.Cells[1]; ++j) {
      this->ContourRow(j, k);
    }
  }
  std::sort(this->Result.Shared.begin(), this->Result.Shared.end());
  return std::move(this->Result);
}

/// Sets States from the cells of this block and, unless cells stand for points, of the blocks around the slab
/// that are not finer.
void ContourSlab::ComputeStates()
{
  const std::size_t layer = (this->Block.Cells[0] + std::size_t(2)) * (this->Block.Cells[1] + std::size_t(2));
  this->States.assign(layer * (this->Layers.End - this->Layers.Begin + 1), 0);
  this->Block.Floats ? this->ComputeBlockStates(this->Block.Floats)
                     : this->ComputeBlockStates(this->Block.Doubles);
  if (this->Block.IsPointData) {
    return;
  }
  Box around = this->Lattice.CubesOf(this->Layers.Block);
  const std::vector<int>& layers = this->Lattice.AxisOf(this->Layers.Block, 2).NodeIndices;
  around.Lower[2] = layers[this->Layers.Begin];
  around.Upper[2] = layers[this->Layers.End - 1] - 1;
  for (const int other : this->Lattice.Intersecting(Grow(around, {1, 1, 1}))) {
    // Corners of finer cells belong to the finer block.
    if (other != this->Layers.Block && !this->Lattice.IsFiner(other, this->Layers.Block)) {
      this->AddStatesOf(other);
    }
  }
}

/// Sets the states of the visible cells of this block. `values`: values of all cells of the block.
template <typename T>
void ContourSlab::ComputeBlockStates(const T* values)
{
  const T threshold = SmallestNotBelow<T>(this->ContourValue);
  const int width = this->Block.Cells[0];
  const int last = std::min(this->Layers.End, this->Block.Cells[2]);
  for (int k = std::max(this->Layers.Begin - 1, 0); k < last; ++k) {
    for (int j = 0; j < this->Block.Cells[1]; ++j) {
      const std::int64_t row = k * this->Block.Stride(2) + j * this->Block.Stride(1);
      const T* const from = values + row;
      unsigned char* const to = this->StatesOfRow(j, k) + 1;
      for (int i = 0; i < width; ++i) {
        const int above = from[i] >= threshold, below = from[i] < threshold;
        to[i] = static_cast<unsigned char>(above * (OwnCell | Above) | below * (OwnCell | Below));
      }
      if (this->Block.Flags && !this->Block.IsPointData) {
        const unsigned char* const flags = this->Block.Flags + row;
        for (int i = 0; i < width; ++i) {
          to[i] = (flags[i] & Block::HidingFlags) ? 0 : to[i];
        }
      }
    }
  }
}

/// Sets `cells` to the indices along an axis of the cells of the block `other`, one for each cell of this
/// slab and its margin that `other` covers. Returns the index, in this block, of the first covered cell; 0 if
/// `other` covers no cell.
int ContourSlab::FindCellsOf(int other, int axis, std::vector<int>& cells) const
{
  const std::vector<int>& nodeIndices = this->Lattice.AxisOf(this->Layers.Block, axis).NodeIndices;
  const CellLattice::Axis& there = this->Lattice.AxisOf(other, axis);
  const int end = axis == 2 ? this->Layers.End : this->Block.Cells[axis] + 1;
  cells.clear();
  int first = 0;
  for (int i = axis == 2 ? this->Layers.Begin - 1 : -1; i < end; ++i) {
    const int lower = i < 0 ? nodeIndices[0] - 1 : nodeIndices[i];
    const int upper = i < 0 ? nodeIndices[0] : i < this->Block.Cells[axis] ? nodeIndices[i + 1] : lower + 1;
    const int cube = std::max(lower, there.NodeIndices.front());
    if (cube < std::min(upper, there.NodeIndices.back())) {
      first = cells.empty() ? i : first;
      cells.push_back(there.CellOfCube[cube - there.NodeIndices.front()]);
    }
  }
  return first;
}

/// Adds the states of the visible cells of the block `other` where this block has no visible cell, and in the
/// margin.
void ContourSlab::AddStatesOf(int other)
{
  const CellBlock& block = this->Lattice[other];
  std::array<std::vector<int>, 3>& theirCells = this->CellsOfNeighbour;
  Int3 first;
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = this->FindCellsOf(other, axis, theirCells[axis]);
  }
  for (std::size_t k = 0; k < theirCells[2].size(); ++k) {
    for (std::size_t j = 0; j < theirCells[1].size(); ++j) {
      unsigned char* const row =
          this->StatesOfRow(first[1] + static_cast<int>(j), first[2] + static_cast<int>(k)) + first[0] + 1;
      const std::int64_t begin = theirCells[2][k] * block.Stride(2) + theirCells[1][j] * block.Stride(1);
      for (std::size_t i = 0; i < theirCells[0].size(); ++i) {
        const std::int64_t cell = begin + theirCells[0][i];
        if (!(row[i] & OwnCell) && block.IsVisible(cell)) {
          row[i] |= block.Value(cell) >= this->ContourValue ? Above : Below;
        }
      }
    }
  }
}

/// Returns the states of row `j` in layer `k` of this block. The first state is that of a cell of the margin.
/// The margin also has rows before and after the rows of the block, and a layer before the slab.
unsigned char* ContourSlab::StatesOfRow(int j, int k)
{
  const std::size_t row = std::size_t(k - this->Layers.Begin + 1) * (this->Block.Cells[1] + 2) + (j + 1);
  return this->States.data() + row * (this->Block.Cells[0] + 2);
}

/// Makes the triangles around row `j` of the cell corners in layer `k`. Corner i lies between the columns i
/// and i + 1 of the states.
void ContourSlab::ContourRow(int j, int k)
{
  const unsigned char* const a = this->StatesOfRow(j - 1, k - 1);
  const unsigned char* const b = this->StatesOfRow(j, k - 1);
  const unsigned char* const c = this->StatesOfRow(j - 1, k);
  const unsigned char* const d = this->StatesOfRow(j, k);
  const int corners = this->Block.Cells[0] + 1;
  unsigned char* const all = this->AllStates.data();
  unsigned char* const any = this->AnyStates.data();
  for (int i = 0; i <= corners; ++i) {
    all[i] = a[i] & b[i] & c[i] & d[i];
    any[i] = a[i] | b[i] | c[i] | d[i];
  }
  // From here on, any[i] is set if a surface may pass corner i, and all[i] is set if the eight cells around
  // corner i are visible cells of the block.
  unsigned char crossed = 0;
  for (int i = 0; i < corners; ++i) {
    const unsigned char either = any[i] | any[i + 1];
    any[i] = either == (Above | Below | OwnCell);
    all[i] = all[i] & all[i + 1] & OwnCell;
    crossed |= any[i];
  }
  if (!crossed) {
    return;
  }
  for (int i = 0; i < corners; ++i) {
    if (any[i] && this->Block.FlatAxis >= 0) {
      const Int3 corner{i, j, k};
      corner[this->Block.FlatAxis] == 0 ? this->ContourFlatCorner(corner) : void();
    } else if (any[i] && this->Block.IsPointData) {
      all[i] ? this->ContourPointCell({i, j, k}) : void();
    } else if (any[i]) {
      all[i] ? this->ContourInnerCorner({i, j, k}) : this->ContourRimCorner({i, j, k});
    }
  }
}

/// Makes the triangles around a corner between eight visible cells of the block.
void ContourSlab::ContourInnerCorner(const Int3& corner)
{
  const Int3 first{corner[0] - 1, corner[1] - 1, corner[2] - 1};
  int signs = 0;
  for (int z = 0; z < 2; ++z) {
    const unsigned char* const low = this->StatesOfRow(first[1], first[2] + z) + corner[0];
    const unsigned char* const high = this->StatesOfRow(corner[1], first[2] + z) + corner[0];
    signs |= ((low[0] & Above) | (low[1] & Above) << 1 | (high[1] & Above) << 2 | (high[0] & Above) << 3)
             << (4 * z);
  }
  std::array<int, 12> points;
  for (int e = 0; e < 12; ++e) {
    if (Crosses(signs, e)) {
      const int* const edge = LatticeEdges[e];
      points[e] = this->PointAlong({first[0] + edge[0], first[1] + edge[1], first[2] + edge[2]}, edge[3]);
    }
  }
  this->AddTriangles(signs, points);
}

/// Makes the triangles in the grid's cell before the point `corner` along each axis, if the cell is visible.
void ContourSlab::ContourPointCell(const Int3& corner)
{
  const std::int64_t cell = this->Block.CellWithFirstCorner({corner[0] - 1, corner[1] - 1, corner[2] - 1});
  if (!this->Block.Flags || !(this->Block.Flags[cell] & Block::HidingFlags)) {
    this->ContourInnerCorner(corner);
    this->Result.Cells.resize(this->Result.Triangles.size(), cell);
  }
}

/// Makes the triangles around a corner of any kind, by DualCells.
void ContourSlab::ContourRimCorner(const Int3& corner)
{
  for (const DualCell& cell : this->Rim.CellsAround(this->Layers.Block, corner, this->ContourValue)) {
    int signs = 0;
    for (int c = 0; c < 8; ++c) {
      const CellRef ref = cell[c].Cell();
      signs |= (this->Lattice[ref.Block].Value(ref.Cell) >= this->ContourValue) << c;
    }
    std::array<int, 12> points;
    for (int e = 0; e < 12; ++e) {
      if (Crosses(signs, e)) {
        points[e] = this->PointBetween(cell[Edges[e][0]], cell[Edges[e][1]]);
      }
    }
    this->AddTriangles(signs, points);
  }
}

/// Makes the lines around a corner of a flat block by marching squares. The lines separate opposite corners
/// above the contour value.
void ContourSlab::ContourFlatCorner(const Int3& corner)
{
  for (const DualCell& polygon : this->Rim.CellsAround(this->Layers.Block, corner, this->ContourValue)) {
    unsigned above = 0;
    for (int c = 0; c < 4; ++c) {
      const CellRef ref = polygon[c].Cell();
      above |= this->Lattice[ref.Block].Value(ref.Cell) >= this->ContourValue ? 1u << c : 0u;
    }
    for (const auto& [first, last] : PositiveRuns(above, {0, 1, 2, 3})) {
      const int from = this->PointBetween(polygon[first - 1], polygon[first % 4]);
      const int to = this->PointBetween(polygon[last % 4], polygon[(last + 1) % 4]);
      if (from != to) {
        this->Result.Triangles.push_back({from, to, to});
      }
    }
  }
}

/// Adds the triangles of a case of marching cubes, except triangles with two equal points. `points`: number
/// of the point on each edge, in VTK's order.
void ContourSlab::AddTriangles(int signs, const std::array<int, 12>& points)
{
  static const vtkMarchingCubesTriangleCases* const cases = vtkMarchingCubesTriangleCases::GetCases();
  for (const int* edge = cases[signs].edges; *edge >= 0; edge += 3) {
    const std::array<int, 3> triangle{points[edge[0]], points[edge[1]], points[edge[2]]};
    if (triangle[0] != triangle[1] && triangle[1] != triangle[2] && triangle[2] != triangle[0]) {
      this->Result.Triangles.push_back(triangle);
    }
  }
}

/// Returns the number of the point between a cell of the block and the next cell along an axis. Adds the
/// point if the point is new.
int ContourSlab::PointAlong(const Int3& cell, int axis)
{
  EdgePoints& edges = this->EdgesOfLayers[axis == 2 ? 4 : 2 * axis + (cell[2] & 1)];
  const int width = this->Block.Cells[0];
  if (edges.Points.empty()) {
    edges.Points.resize(this->Block.Stride(2));
    edges.Stamps.assign(this->Block.Cells[1], -1);
  }
  int* const row = edges.Points.data() + std::size_t(cell[1]) * width;
  if (edges.Stamps[cell[1]] != cell[2]) {
    std::fill_n(row, width, -1);
    edges.Stamps[cell[1]] = cell[2];
  }
  int& point = row[cell[0]];
  if (point < 0) {
    const std::int64_t number = cell[0] + cell[1] * this->Block.Stride(1) + cell[2] * this->Block.Stride(2);
    point = this->AddPoint(DualCorner(CellRef{this->Layers.Block, number}),
        DualCorner(CellRef{this->Layers.Block, number + this->Block.Stride(axis)}),
        !this->IsPrivate(cell, axis));
  }
  return point;
}

/// Returns whether all four dual cells at the edge from a cell to the next cell along `axis` lie inside this
/// slab, between visible cells of the block, so that no other part has the point on the edge.
bool ContourSlab::IsPrivate(const Int3& cell, int axis)
{
  Int3 lower, upper;
  for (int a = 0; a < 3; ++a) {
    lower[a] = cell[a] - (a == axis ? 0 : 1);
    upper[a] = cell[a] + 1;
  }
  if (lower[2] < this->Layers.Begin - 1 || upper[2] >= this->Layers.End) {
    return false;
  }
  unsigned char all = OwnCell;
  for (int k = lower[2]; k <= upper[2]; ++k) {
    for (int j = lower[1]; j <= upper[1]; ++j) {
      const unsigned char* const row = this->StatesOfRow(j, k) + 1;
      for (int i = lower[0]; i <= upper[0]; ++i) {
        all &= row[i];
      }
    }
  }
  return all != 0;
}

/// Returns the number of the point between two corners of a dual cell. Adds the point if the point is new.
int ContourSlab::PointBetween(DualCorner a, DualCorner b)
{
  if (!this->ComesFirst(a, b)) {
    std::swap(a, b);
  }
  const CellRef first = a.Cell(), second = b.Cell();
  if (first.Block == this->Layers.Block && second.Block == this->Layers.Block && !a.IsProjected() &&
      !b.IsProjected()) {
    const Int3 from = this->Lattice.IndexOf(first), to = this->Lattice.IndexOf(second);
    const Int3 step{to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    for (int axis = 0; axis < 3; ++axis) {
      Int3 next{0, 0, 0};
      next[axis] = 1;
      if (step == next) {
        return this->PointAlong(from, axis);
      }
    }
  }
  const auto [found, isNew] = this->RimPoints.emplace(std::make_pair(a.Number(), b.Number()), 0);
  if (isNew) {
    found->second = this->AddPoint(a, b, true);
  }
  return found->second;
}

/// Returns whether the corner `a` precedes the corner `b`: by the indices of their cells on the lattice, or
/// by their numbers if the indices are equal.
bool ContourSlab::ComesFirst(const DualCorner& a, const DualCorner& b) const
{
  const CellRef cells[2] = {a.Cell(), b.Cell()};
  const Int3 indices[2] = {this->Lattice.IndexOf(cells[0]), this->Lattice.IndexOf(cells[1])};
  for (int axis = 2; axis >= 0; --axis) {
    const int first = this->Lattice.AxisOf(cells[0].Block, axis).NodeIndices[indices[0][axis]];
    const int second = this->Lattice.AxisOf(cells[1].Block, axis).NodeIndices[indices[1][axis]];
    if (first != second) {
      return first < second;
    }
  }
  return a < b;
}

/// Adds the point between two corners at which the value is the contour value, and returns the number of the
/// point. `shared`: true if other parts may also have the point.
int ContourSlab::AddPoint(const DualCorner& first, const DualCorner& second, bool shared)
{
  const CellRef a = first.Cell(), b = second.Cell();
  const double from = this->Lattice[a.Block].Value(a.Cell);
  const double weight = (this->ContourValue - from) / (this->Lattice[b.Block].Value(b.Cell) - from);
  const int number = static_cast<int>(this->Result.Points.size());
  // If a value is infinite, the weight may be NaN.
  this->Result.Points.push_back({first, second, weight >= 0 && weight <= 1 ? weight : 0.5});
  if (shared) {
    this->Result.Shared.push_back(number);
  }
  return number;
}

namespace {

/// Approximate number of cells of a slab. Tasks for smaller slabs would cost more than they save.
constexpr std::int64_t CellsOfSlab = 1 << 16;

constexpr int BothSides = 3;

/// Returns the sides of the contour value on which the block has visible values (for point data: any values,
/// also hidden ones). Bit 0 is set for values not below the contour value, bit 1 for values below.
template <typename T>
int SidesOf(const CellBlock& block, const T* values, double contourValue)
{
  const int width = block.Cells[0];
  int sides = 0;
  for (std::int64_t row = 0; row < block.CellCount() && sides != BothSides; row += width) {
    int above = 0, below = 0;
    if (block.Flags && !block.IsPointData) {
      const unsigned char* const flags = block.Flags + row;
      for (int i = 0; i < width; ++i) {
        const int visible = (flags[i] & Block::HidingFlags) == 0;
        above |= visible & static_cast<int>(values[row + i] >= contourValue);
        below |= visible & static_cast<int>(values[row + i] < contourValue);
      }
    } else {
      for (int i = 0; i < width; ++i) {
        above |= static_cast<int>(values[row + i] >= contourValue);
        below |= static_cast<int>(values[row + i] < contourValue);
      }
    }
    sides |= above | below << 1;
  }
  return sides;
}

/// Returns the slabs that a contour may pass: the slabs of all blocks of this rank that have values on both
/// sides of the contour value, alone or, for cell data, together with the blocks that they touch.
std::vector<Slab> FindSlabs(const CellLattice& lattice, double contourValue)
{
  const int blocks = static_cast<int>(lattice.Blocks().size());
  std::vector<int> sides(blocks);
  tbb::parallel_for(0, blocks, [&](int b) {
    const CellBlock& block = lattice[b];
    sides[b] = block.Floats ? SidesOf(block, block.Floats, contourValue)
                            : SidesOf(block, block.Doubles, contourValue);
  });
  std::vector<Slab> slabs;
  for (int b = 0; b < blocks; ++b) {
    int around = sides[b];
    if (!lattice[b].IsLocal || around == 0) {
      continue;
    }
    if (around != BothSides && !lattice.IsPointData()) {
      for (const int other : lattice.Intersecting(Grow(lattice.CubesOf(b), {1, 1, 1}))) {
        around |= sides[other];
      }
    }
    const int layers = lattice[b].Cells[2] + 1;
    const int step = static_cast<int>(std::max<std::int64_t>(4, CellsOfSlab / lattice[b].Stride(2)));
    for (int k = 0; around == BothSides && k < layers; k += step) {
      // If only a few layers remain, this slab includes them.
      const int end = k + step + 4 > layers ? layers : k + step;
      slabs.push_back({b, k, end});
      k = end - step;
    }
  }
  return slabs;
}

/// Appends the parts of a contour to `whole`. Points that several parts have become one point. `slabs`: the
/// slab of each part.
void AppendParts(const std::vector<ContourPart>& parts, const std::vector<Slab>& slabs, Contour& whole)
{
  std::vector<PointsOfPart> points(parts.size());
  std::vector<std::vector<SharedPoint>> shared(parts.size());
  std::vector<std::size_t> begins{whole.Triangles.size()};
  for (std::size_t p = 0; p < parts.size(); ++p) {
    points[p].Ids.assign(parts[p].Points.size(), PointsOfPart::Unassigned);
    for (const int number : parts[p].Shared) {
      const CrossingPoint& point = parts[p].Points[number];
      shared[p].push_back({{point.First.Number(), point.Second.Number()}, static_cast<int>(p), number});
    }
    begins.push_back(begins.back() + parts[p].Triangles.size());
  }
  whole.Points.resize(Stitch(shared, static_cast<long long>(whole.Points.size()), points));
  whole.Triangles.resize(begins.back());
  const bool isPointData =
      std::any_of(parts.begin(), parts.end(), [](const ContourPart& part) { return !part.Cells.empty(); });
  whole.Cells.resize(isPointData ? begins.back() : whole.Cells.size());
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const std::vector<long long>& ids = points[p].Ids;
    for (std::size_t n = 0; n < ids.size(); ++n) {
      if (ids[n] >= points[p].First) {
        whole.Points[ids[n]] = parts[p].Points[n];
      }
    }
    auto* to = whole.Triangles.data() + begins[p];
    for (const std::array<int, 3>& triangle : parts[p].Triangles) {
      *to++ = {ids[triangle[0]], ids[triangle[1]], ids[triangle[2]]};
    }
    for (std::size_t t = 0; t < parts[p].Cells.size(); ++t) {
      whole.Cells[begins[p] + t] = {slabs[p].Block, parts[p].Cells[t]};
    }
  });
}

}  // namespace

Contour MakeContour(
    const CellLattice& lattice, const std::vector<double>& contourValues, const ProgressCallback& progress)
{
  Contour contour;
  bool continues = true;
  for (std::size_t v = 0; v < contourValues.size(); ++v) {
    contour.PointsBefore.push_back(static_cast<std::int64_t>(contour.Points.size()));
    const auto report = [&](double fraction) {
      return !progress ||
             progress((static_cast<double>(v) + fraction) / static_cast<double>(contourValues.size()));
    };
    continues = continues && report(0);
    const std::vector<Slab> slabs = continues ? FindSlabs(lattice, contourValues[v]) : std::vector<Slab>();
    std::vector<ContourPart> parts(slabs.size());
    continues = continues && ParallelFor(
                                 slabs.size(),
                                 [&](std::size_t s) {
                                   parts[s] = ContourSlab(lattice, slabs[s], contourValues[v]).MakePart();
                                 },
                                 report);
    if (continues) {
      AppendParts(parts, slabs, contour);
    }
  }
  contour.PointsBefore.push_back(static_cast<std::int64_t>(contour.Points.size()));
  return contour;
}

}  // namespace patchio::filters
