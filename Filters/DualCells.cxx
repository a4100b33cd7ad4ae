#include "Filters/DualCells.h"

#include <algorithm>
#include <bitset>

namespace patchio::filters {
namespace {

/// The octant of each corner of a hexahedron, in VTK's order of corners.
constexpr std::array<int, 8> OctantOfCorner{0, 1, 3, 2, 4, 5, 7, 6};

/// Returns the bit set of the axes along which all octants in the bit set `visible` lie on one side.
/// `octants`: number of octants; 8, or 4 for quadrants.
int AxesWithOneSide(int visible, int octants)
{
  int lower = 0, upper = 0;
  for (int o = 0; o < octants; ++o) {
    if (visible & (1 << o)) {
      upper |= o;
      lower |= ~o & (octants - 1);
    }
  }
  return (octants - 1) & ~(lower & upper);
}

int CountBits(int bits)
{
  return static_cast<int>(std::bitset<8>(bits).count());
}

/// Returns whether the octants in the bit set `visible` fill a box: all octants, a half, a quarter or a
/// single octant. `octants`: see AxesWithOneSide().
bool IsBox(int visible, int octants)
{
  return CountBits(visible) << CountBits(AxesWithOneSide(visible, octants)) == octants;
}

/// Returns the lowest octant in a bit set that is not empty.
int FirstOctant(int visible)
{
  int first = 0;
  while (!(visible & (1 << first))) {
    ++first;
  }
  return first;
}

}  // namespace

std::array<double, 3> PositionOf(const CellLattice& lattice, const DualCorner& corner)
{
  const CellRef cell = corner.Cell();
  const Int3 index = lattice.IndexOf(cell);
  std::array<double, 3> position;
  for (int axis = 0; axis < 3; ++axis) {
    const CellLattice::Axis& nodes = lattice.AxisOf(cell.Block, axis);
    const DualCorner::Side side = corner.SideAlong(axis);
    position[axis] =
        side == DualCorner::Side::Center
            ? nodes.Centers[index[axis]]
            : lattice.NodePosition(axis, nodes.NodeIndices[index[axis] + (side == DualCorner::Side::High)]);
  }
  return position;
}

bool DualCells::CanNumber(const CellLattice& lattice)
{
  if (lattice.Blocks().size() >= std::size_t(1) << 24) {
    return false;
  }
  for (const CellBlock& block : lattice.Blocks()) {
    if (block.CellCount() >= std::int64_t(1) << 34) {
      return false;
    }
  }
  return true;
}

const std::vector<DualCell>& DualCells::CellsAround(int block, const Int3& corner, double contourValue)
{
  this->Result.clear();
  if (!this->FindCells(block, corner, contourValue)) {
    return this->Result;
  }
  if (this->Lattice.FlatAxis() >= 0) {
    this->AddFaces(this->Lattice.FlatAxis(), 1, false);
  } else if (IsBox(this->VisibleOctants, 8)) {
    this->Result.push_back(this->RegularCell());
  } else {
    this->AddPyramids();
  }
  return this->Result;
}

/// Sets the visible cells around a corner. Returns false if the corner belongs to another block, or if the
/// values of all cells lie on the same side of `contourValue`.
bool DualCells::FindCells(int block, const Int3& corner, double contourValue)
{
  const CellBlock& own = this->Lattice[block];
  this->VisibleOctants = 0;
  int signs = 0;
  bool first = true;
  const int flat = this->Lattice.FlatAxis();
  for (int o = 0; o < 8; ++o) {
    if (flat >= 0 && !(o >> flat & 1)) {
      continue;  // another plane
    }
    std::int64_t cell = 0;
    bool inside = true;
    Int3 cube;
    for (int axis = 0; axis < 3; ++axis) {
      const int below = (o >> axis & 1) ? 0 : 1;
      const int index = corner[axis] - below;
      inside = inside && index >= 0 && index < own.Cells[axis];
      cell += index * own.Stride(axis);
      cube[axis] = this->Lattice.AxisOf(block, axis).NodeIndices[corner[axis]] - below;
    }
    CellRef& found = this->Cells[o];
    found = inside && own.IsVisible(cell) ? CellRef{block, cell} : this->Lattice.Find(cube, this->Hint);
    if (!found) {
      continue;
    }
    if (first || this->Lattice.IsFiner(found.Block, this->Cells[this->OwnerOctant].Block)) {
      this->OwnerOctant = o;
    }
    first = false;
    this->VisibleOctants |= 1 << o;
    signs |= this->Lattice[found.Block].Value(found.Cell) >= contourValue ? 1 : 2;
  }
  return signs == 3 && this->Cells[this->OwnerOctant].Block == block;
}

/// Returns the corner for the cell of an octant, projected along the axes in the bit set `axes` to the sides
/// of the cell at the common corner of the octants.
DualCorner DualCells::ProjectedCorner(int octant, int axes) const
{
  DualCorner corner(this->Cells[octant]);
  for (int axis = 0; axis < 3; ++axis) {
    if (axes & (1 << axis)) {
      corner.Project(axis, (octant >> axis & 1) ? DualCorner::Side::Low : DualCorner::Side::High);
    }
  }
  return corner;
}

/// Returns the dual cell if the visible octants fill a box. Each empty octant gets the cell across the border
/// from the octant.
DualCell DualCells::RegularCell() const
{
  const int axes = AxesWithOneSide(this->VisibleOctants, 8);
  const int inside = FirstOctant(this->VisibleOctants) & axes;
  DualCell cell;
  for (int c = 0; c < 8; ++c) {
    const int octant = OctantOfCorner[c];
    const int source = (octant & ~axes) | inside;
    cell[c] = this->ProjectedCorner(source, octant ^ source);
  }
  return cell;
}

void DualCells::AddPyramids()
{
  for (int axis = 0; axis < 3; ++axis) {
    for (const int side : {0, 1}) {
      this->AddFaces(axis, side, true);
    }
  }
}

/// Adds the polygons of the face between this dual cell and the next dual cell along `axis` or, if
/// `asPyramids`, pyramids over these polygons. `side`: 0 for the face at the lower side, 1 at the upper side.
/// The face depends only on the four cells around the edge between the two corners, so that both dual cells
/// have the same polygons.
void DualCells::AddFaces(int axis, int side, bool asPyramids)
{
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  // The quadrants, counter-clockwise.
  constexpr std::array<int, 4> around{0, 1, 3, 2};
  const auto octantOf = [=](int quadrant) {
    return (side << axis) | ((quadrant & 1) << b) | ((quadrant >> 1) << c);
  };
  int visible = 0;
  for (int q = 0; q < 4; ++q) {
    visible |= (this->VisibleOctants >> octantOf(q) & 1) << q;
  }
  if (!visible) {
    return;
  }
  if (IsBox(visible, 4)) {
    const int axes = AxesWithOneSide(visible, 4);
    std::array<DualCorner, 4> base;
    for (int n = 0; n < 4; ++n) {
      const int source = octantOf((around[n] & ~axes) | (FirstOctant(visible) & axes));
      base[n] = this->ProjectedCorner(source, octantOf(around[n]) ^ source);
    }
    this->AddFace(side, base, asPyramids);
    return;
  }
  int finest = octantOf(FirstOctant(visible));
  for (int q = 0; q < 4; ++q) {
    if ((visible & (1 << q)) &&
        this->Lattice.IsFiner(this->Cells[octantOf(q)].Block, this->Cells[finest].Block)) {
      finest = octantOf(q);
    }
  }
  const DualCorner edge = this->ProjectedCorner(finest, (1 << b) | (1 << c));
  for (int n = 0; n < 4; ++n) {
    const int from = octantOf(around[n]), to = octantOf(around[(n + 1) % 4]);
    const bool hasFrom = this->VisibleOctants >> from & 1, hasTo = this->VisibleOctants >> to & 1;
    if (hasFrom || hasTo) {
      const DualCorner first =
          hasFrom ? this->ProjectedCorner(from, 0) : this->ProjectedCorner(to, from ^ to);
      const DualCorner second = hasTo ? this->ProjectedCorner(to, 0) : this->ProjectedCorner(from, from ^ to);
      this->AddFace(side, {edge, first, second, second}, asPyramids);
    }
  }
}

/// Adds a polygon or, if `asPyramid`, the pyramid over the polygon. `base`: corners of the polygon. `side`:
/// see AddFaces().
void DualCells::AddFace(int side, const std::array<DualCorner, 4>& base, bool asPyramid)
{
  DualCell& cell = this->Result.emplace_back();
  if (!asPyramid) {
    std::copy(base.begin(), base.end(), cell.begin());
    return;
  }
  const DualCorner apex = this->ProjectedCorner(this->OwnerOctant, 7);
  for (int n = 0; n < 4; ++n) {
    cell[n] = side ? apex : base[n];
    cell[n + 4] = side ? base[n] : apex;
  }
}

}  // namespace patchio::filters
