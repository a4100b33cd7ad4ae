// The patches of the levels: their cells, their owner ranks, their arrays, and copies between arrays.
#pragma once

#include "Catalog/Box.h"

#include <mpi.h>

#include <map>
#include <set>
#include <vector>

namespace patchio::linadv {

/// Compares two tiles, as indices along the axes, by their order on Morton's space-filling curve. Neighbours
/// on the curve are close in space.
struct MortonOrder
{
  bool operator()(const Int3& a, const Int3& b) const;
};

/// The tiles of a level that are patches.
using TileSet = std::set<Int3, MortonOrder>;

/// The cells of all levels. In 2-D, the third axis has one cell, one tile and no ghosts, so that the same
/// code works for 2-D and 3-D.
///
/// The index space of a level begins at 0 in the lower corner of the domain. The domain is cut into tiles of
/// `Patch` cells; the last tile along an axis may be smaller.
struct Geometry
{
  int Dimension = 3;
  Int3 Cells{1, 1, 1};  ///< cells of the domain on level 0
  Int3 Patch{1, 1, 1};  ///< cells of a tile, the same on all levels
  Int3 Ratio{1, 1, 1};  ///< refinement ratio between neighbouring levels
  Double3 Origin{0, 0, 0};
  Double3 Spacing{1, 1, 1};  ///< cell size on level 0
  bool Periodic = false;

  /// Returns `layers` along the axes of the problem, 0 along the other axes.
  Int3 Layers(int layers) const { return {layers, layers, this->Dimension == 3 ? layers : 0}; }
  Box Domain(int level) const;
  Double3 SpacingOf(int level) const;
  Box TileCells(int level, const Int3& tile) const;

  /// Calls visit(tile, shift) for each tile that shares cells with `box`. With periodic boundaries, the box
  /// may extend beyond the domain by a few cells; `shift` moves cells of the tile into the box.
  template <typename Visit>
  void ForTiles(int level, const Box& box, Visit visit) const;
};

/// Calls visit(cell) for each cell of the box, axis 0 fastest.
template <typename Visit>
void ForCells(const Box& box, Visit visit)
{
  for (int k = box.Lower[2]; k <= box.Upper[2]; ++k) {
    for (int j = box.Lower[1]; j <= box.Upper[1]; ++j) {
      for (int i = box.Lower[0]; i <= box.Upper[0]; ++i) {
        visit(Int3{i, j, k});
      }
    }
  }
}

template <typename Visit>
void Geometry::ForTiles(int level, const Box& box, Visit visit) const
{
  const Box domain = this->Domain(level);
  Int3 images{0, 0, 0};  // copies of the domain on both sides of each axis
  for (int axis = 0; axis < this->Dimension; ++axis) {
    const bool outside = box.Lower[axis] < domain.Lower[axis] || box.Upper[axis] > domain.Upper[axis];
    images[axis] = this->Periodic && outside ? 1 : 0;
  }
  ForCells(Grow({{0, 0, 0}, {0, 0, 0}}, images), [&](const Int3& image) {
    Int3 shift, back;
    for (int axis = 0; axis < 3; ++axis) {
      shift[axis] = image[axis] * static_cast<int>(domain.Width(axis));
      back[axis] = -shift[axis];
    }
    const Box part = Intersect(Shift(box, back), domain);
    if (!part.Empty()) {
      ForCells(Coarsen(part, this->Patch), [&](const Int3& tile) { visit(tile, shift); });
    }
  });
}

/// A box of cells, which may be empty, and the rank that has the values of the cells.
struct OwnedBox
{
  Box Cells;
  int Owner = 0;
};

/// One value for each cell of a box, axis 0 fastest.
struct Array
{
  Array() = default;
  explicit Array(const Box& cells) : Cells(cells), Values(cells.CellCount()) {}

  std::size_t Offset(const Int3& cell) const { return IndexIn(this->Cells, cell); }
  double& At(const Int3& cell) { return this->Values[this->Offset(cell)]; }
  double At(const Int3& cell) const { return this->Values[this->Offset(cell)]; }

  Box Cells;
  std::vector<double> Values;
};

/// An array for each patch of a level. The arrays of the patches of other ranks have no values.
using Field = std::vector<Array>;

/// Calls visit(patch, array) for each array of this rank's patches.
template <typename AnyField, typename Visit>
void ForEachLocalPatch(AnyField& field, Visit visit)
{
  for (std::size_t p = 0; p < field.size(); ++p) {
    if (!field[p].Values.empty()) {
      visit(p, field[p]);
    }
  }
}

/// The patches of one level, known on all ranks. Patches are numbered along Morton's curve, so that the
/// numbers are independent of the number of ranks. Each rank owns a consecutive range of patches with about
/// the same number of cells, so that regridding changes few owners.
class Grid
{
public:
  Grid(const Geometry& geometry, int level, const TileSet& tiles, int rankCount);

  const Geometry& Space() const { return this->SpaceGeometry; }
  int Level() const { return this->LevelNumber; }
  const std::vector<OwnedBox>& Patches() const { return this->PatchList; }
  std::int64_t Cells() const;

  /// Calls visit(patch, region, shift) for each patch that shares cells with `box`. `region`: the shared part
  /// of the box. The cells of the patch are region - shift (periodic boundaries).
  template <typename Visit>
  void ForOverlaps(const Box& box, Visit visit) const;

  /// Returns whether the patches contain all cells of `box`. Ignores cells outside a domain that is not
  /// periodic.
  bool Covers(const Box& box) const;

private:
  Geometry SpaceGeometry;
  int LevelNumber;
  std::vector<OwnedBox> PatchList;
  std::map<Int3, int, MortonOrder> PatchOfTile;
};

template <typename Visit>
void Grid::ForOverlaps(const Box& box, Visit visit) const
{
  this->SpaceGeometry.ForTiles(this->LevelNumber, box, [&](const Int3& tile, const Int3& shift) {
    const auto found = this->PatchOfTile.find(tile);
    if (found != this->PatchOfTile.end()) {
      visit(found->second, Intersect(Shift(this->PatchList[found->second].Cells, shift), box), shift);
    }
  });
}

/// Copies values between the arrays of a grid's patches and arrays on other boxes. Each rank has the arrays
/// of the patches and boxes that the rank owns. The sender and the receiver of a message need no negotiation,
/// because both derive the same list of copies from the patches, which all ranks know.
class CopyPlan
{
public:
  enum Direction
  {
    FromGrid,
    ToGrid
  };

  CopyPlan() = default;
  /// Plans copies of all cells that the patches of `grid` and `boxes` share. `rank`: this rank. `direction`:
  /// whether the patches are the sources or the targets. Copies into one array must not overlap.
  CopyPlan(const Grid& grid, const std::vector<OwnedBox>& boxes, int rank, Direction direction = FromGrid);

  /// Copies the values from `source` to `target`. Collective: every rank of `comm` calls it.
  void Run(MPI_Comm comm, const Field& source, Field& target) const;

private:
  /// A copy of cells from the array `From` to the array `To`. With periodic boundaries, the indices of the
  /// cells in the two arrays may differ.
  struct Copy
  {
    int From, To;
    Box Source, Target;
  };
  using Copies = std::vector<Copy>;

  Copies Local;
  std::map<int, Copies> Sends;     ///< by receiving rank
  std::map<int, Copies> Receives;  ///< by sending rank
};

}  // namespace patchio::linadv
