// The dual cells of leaf cells of several levels: one around each corner of a cell.
#ifndef Filters_DualCells_h
#define Filters_DualCells_h

#include "Filters/CellLattice.h"

#include <array>
#include <cstdint>
#include <vector>

namespace patchio::filters {

/// A corner of a dual cell: the centre of a cell, or the projection of it onto a face, an edge or a corner of
/// the cell that lies on the border of all visible cells. It has the value of the cell.
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
  /// Where along an axis of its cell the corner lies.
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

/// Corners of a hexahedron as VTK numbers them; several of them may be one.
using DualCell = std::array<DualCorner, 8>;

/// A grid of cells of several levels has a dual: its corners are the centres of the cells, and there is one
/// dual cell around each corner of a cell. Eight cells meet there, or fewer where a cell of a coarser level
/// fills several of the eight octants: the hexahedron then collapses to a wedge, a pyramid or another shape.
/// Neighbours share their faces whole, so that marching cubes on dual cells gives a surface without cracks
/// between levels. Contours of such duals are due to Schaefer and Warren (Dual Marching Cubes, 2004); Weber
/// et al. (2001) fill the gap between levels of adaptive meshes with such cells.
///
/// At the border of the visible cells, octants are empty. Their corners are then those of the visible
/// octants, projected onto the border. Where that is not unique, at edges and corners that point inwards, the
/// dual cell consists of pyramids with the cell's corner as apex, above the faces that its neighbours have.
class DualCells
{
public:
  /// The blocks are limited in number and size: 16 million blocks, 17 thousand million cells each.
  static bool CanNumber(const CellLattice& lattice);

  explicit DualCells(const CellLattice& lattice) : Lattice(lattice) {}

  /// Looks at the cells around a corner of a cell of `block`. Gives its dual cells if it belongs to this
  /// block, which it does to one of the blocks that have it: that of the finest cell around, of the first
  /// octant. Of flat blocks these are polygons, the first four corners of a cell. Gives none if the values of
  /// all cells around lie on the same side of `level`.
  const std::vector<DualCell>& Around(int block, const Int3& corner, double level);

private:
  bool FindCells(int block, const Int3& corner, double level);
  DualCorner Projected(int octant, int axes) const;
  DualCell Regular() const;
  void AddPyramids();
  void AddFaces(int axis, int side, bool asPyramids);
  void AddFace(int side, const std::array<DualCorner, 4>& base, bool asPyramid);

  const CellLattice& Lattice;
  std::array<CellRef, 8>
      Cells;        ///< the visible cell in each octant; bit `axis` of the number: the upper side
  int Visible = 0;  ///< the octants with a cell, as bits
  int Owner = 0;    ///< an octant
  int Hint = 0;
  std::vector<DualCell> Found;
};

}  // namespace patchio::filters

#endif
