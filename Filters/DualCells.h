// The dual cells of the visible cells of several levels, around the corners of the cells.
#ifndef Filters_DualCells_h
#define Filters_DualCells_h

#include "Filters/CellLattice.h"

#include <array>
#include <cstdint>
#include <vector>

namespace patchio::filters {

/// A corner of a dual cell, which has the value of a cell. The corner lies at the centre of the cell. At the
/// border of the visible cells, the corner may instead lie at the projection of the centre onto a face, an
/// edge or a corner of the cell.
class DualCorner
{
public:
  /// The position of the corner along an axis of its cell.
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
  /// Returns the position of the corner along an axis of its cell.
  Side SideAlong(int axis) const { return static_cast<Side>((this->Id >> (2 * axis)) & 3); }
  /// Moves the corner from the centre to a side of its cell along an axis.
  void Project(int axis, Side side) { this->Id |= static_cast<std::uint64_t>(side) << (2 * axis); }
  bool IsProjected() const { return (this->Id & 63) != 0; }

  bool operator==(const DualCorner& other) const { return this->Id == other.Id; }
  bool operator<(const DualCorner& other) const { return this->Id < other.Id; }
  /// Returns a number that identifies the corner.
  std::uint64_t Number() const { return this->Id; }

private:
  /// From bit 40 on: block; from bit 6 on: cell; from bit 2 * axis on: side along each axis.
  std::uint64_t Id = 0;
};

/// Returns the position of a corner.
std::array<double, 3> PositionOf(const CellLattice& lattice, const DualCorner& corner);

/// The corners of a hexahedron in VTK's order. Several corners may be equal.
using DualCell = std::array<DualCorner, 8>;

/// Makes the dual cells of a grid of cells of several levels. The corners of dual cells are the centres of
/// cells, and each corner of a cell has a dual cell around it. A dual cell is a hexahedron between the cells
/// in the eight octants around the corner. If a cell of a coarser level fills several octants, the hexahedron
/// collapses to a wedge, a pyramid or another shape. Neighbouring dual cells share whole faces, so that
/// marching cubes on dual cells makes a surface without cracks between levels. The method follows S. Schaefer
/// and J. Warren, "Dual Marching Cubes" (2004). G. Weber et al., "Extraction of Crack-free Isosurfaces from
/// Adaptive Mesh Refinement Data" (2001), fill the gap between levels with such cells.
///
/// At the border of the visible cells, some octants are empty. For an empty octant, the dual cell has the
/// cell of a visible octant, projected onto the border. At edges and corners that point inwards, several
/// visible octants are candidates. There the dual cell consists of pyramids over the faces of the
/// neighbouring dual cells, with the corner of the cell as apex.
class DualCells
{
public:
  /// Returns whether DualCorner can number all cells: the lattice must have fewer than 2^24 blocks, with
  /// fewer than 2^34 cells each.
  static bool CanNumber(const CellLattice& lattice);

  /// Keeps a reference to `lattice`.
  explicit DualCells(const CellLattice& lattice) : Lattice(lattice) {}

  /// Returns the dual cells around a corner of a cell of `block`; the result is valid until the next call.
  /// `corner`: indices of the corner along the axes of the block. Returns an empty list if the corner belongs
  /// to another block, or if the values of all cells around the corner lie on the same side of
  /// `contourValue`. A corner belongs to the block of the finest visible cell around the corner; among
  /// equally fine cells, of the cell in the first octant. Dual cells of flat blocks are polygons with the
  /// first four corners. Not thread-safe.
  const std::vector<DualCell>& CellsAround(int block, const Int3& corner, double contourValue);

private:
  bool FindCells(int block, const Int3& corner, double contourValue);
  DualCorner ProjectedCorner(int octant, int axes) const;
  DualCell RegularCell() const;
  void AddPyramids();
  void AddFaces(int axis, int side, bool asPyramids);
  void AddFace(int side, const std::array<DualCorner, 4>& base, bool asPyramid);

  const CellLattice& Lattice;
  /// The visible cell in each octant. Bit `axis` of an octant's number is set on the upper side of the
  /// corner.
  std::array<CellRef, 8> Cells;
  int VisibleOctants = 0;  ///< bit set of the octants with a visible cell
  int OwnerOctant = 0;     ///< the octant of the cell whose block the corner belongs to
  int Hint = 0;            ///< see CellLattice::Find()
  std::vector<DualCell> Result;
};

}  // namespace patchio::filters

#endif
