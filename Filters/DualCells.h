// The dual cells of leaf cells of several levels: one around each corner of a cell.
#ifndef Filters_DualCells_h
#define Filters_DualCells_h

#include "Filters/CellLattice.h"

#include <array>
#include <cstdint>
#include <vector>

namespace patchio::filters {

/// A corner of a dual cell, with the value of a cell. The corner lies at the centre of the cell, or at the
/// projection of the centre onto a face, an edge or a corner of the cell on the border of all visible cells.
class DualCorner
{
public:
  enum class Side : unsigned
  {
    Center = 0,
    Low = 1,
    High = 2
  };

  DualCorner() = default;
  explicit DualCorner(const CellRef& cell)
      : Id((static_cast<std::uint64_t>(cell.Block) << 40) | (static_cast<std::uint64_t>(cell.Cell) << 6))
  {
  }

  CellRef Cell() const
  {
    return {static_cast<int>(this->Id >> 40), static_cast<std::int64_t>((this->Id >> 6) & 0x3ffffffff)};
  }
  /// Returns where the corner lies along an axis of its cell.
  Side SideAlong(int axis) const { return static_cast<Side>((this->Id >> (2 * axis)) & 3); }
  void Project(int axis, Side side) { this->Id |= static_cast<std::uint64_t>(side) << (2 * axis); }
  bool IsProjected() const { return (this->Id & 63) != 0; }

  bool operator==(const DualCorner& other) const { return this->Id == other.Id; }
  bool operator!=(const DualCorner& other) const { return this->Id != other.Id; }
  bool operator<(const DualCorner& other) const { return this->Id < other.Id; }
  std::uint64_t Number() const { return this->Id; }

private:
  std::uint64_t Id = 0;
};

std::array<double, 3> PositionOf(const CellLattice& lattice, const DualCorner& corner);

/// The corners of a hexahedron in VTK's order. Several of them may be equal.
using DualCell = std::array<DualCorner, 8>;

/// A grid of cells of several levels has a dual: its corners are the centres of the cells, and there is one
/// dual cell around each corner of a cell. Eight cells meet there, or fewer where a cell of a coarser level
/// fills several of the eight octants: the hexahedron then collapses to a wedge, a pyramid or another shape.
/// Neighbours share their faces whole, so that marching cubes on dual cells gives a surface without cracks
/// between levels. Contours of such duals are due to S. Schaefer and J. Warren, "Dual Marching Cubes" (2004);
/// G. Weber et al., "Extraction of Crack-free Isosurfaces from Adaptive Mesh Refinement Data" (2001), fill
/// the gap between levels with such cells.
///
/// At the border of the visible cells, octants are empty. The dual cell then takes, for an empty octant, the
/// cell of a visible octant, projected onto the border. Where several visible octants are candidates, at
/// edges and corners that point inwards, the dual cell consists of pyramids with the cell's corner as apex,
/// above the faces that its neighbours have.
class DualCells
{
public:
  /// Returns whether DualCorner can number all cells: there must be fewer than 2^24 blocks, with fewer than
  /// 2^34 cells each.
  static bool CanNumber(const CellLattice& lattice);

  explicit DualCells(const CellLattice& lattice) : Lattice(lattice) {}

  /// Returns the dual cells around a corner of a cell of `block`; valid until the next call. There are none
  /// if the corner belongs to another block, or if the values of all cells around it lie on the same side of
  /// `level`. A corner belongs to the block of the finest cell around the corner. If several cells are
  /// equally fine, the first octant decides. Dual cells of flat blocks are polygons: the first four corners.
  /// Not thread-safe.
  const std::vector<DualCell>& Around(int block, const Int3& corner, double level);

private:
  bool FindCells(int block, const Int3& corner, double level);
  DualCorner Projected(int octant, int axes) const;
  DualCell Regular() const;
  void AddPyramids();
  void AddFaces(int axis, int side, bool asPyramids);
  void AddFace(int side, const std::array<DualCorner, 4>& base, bool asPyramid);

  const CellLattice& Lattice;
  /// The visible cell in each octant. Bit `axis` of an octant's number is set on the upper side.
  std::array<CellRef, 8> Cells;
  int Visible = 0;  ///< bit set of the octants with a cell
  int Owner = 0;    ///< the octant whose block the corner belongs to
  int Hint = 0;
  std::vector<DualCell> Found;
};

}  // namespace patchio::filters

#endif
