// One level's patches, known on all ranks, and arrays on them, each on its owner only.
#pragma once

#include "Catalog/Box.h"
#include "LinAdv/Geometry.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace patchio::linadv {

/// Cells with the rank that holds their values. The box may be empty.
struct OwnedBox
{
  Box Cells;
  int Owner = 0;
};

/// One value for each cell of a box, axis 0 fastest.
struct Array
{
  Array() = default;
  explicit Array(const Box& cells) : Cells(cells), Values(cells.Cells()) {}

  std::size_t Offset(int i, int j, int k) const { return IndexIn(this->Cells, {i, j, k}); }
  double& At(int i, int j, int k) { return this->Values[this->Offset(i, j, k)]; }
  double At(int i, int j, int k) const { return this->Values[this->Offset(i, j, k)]; }

  Box Cells;
  std::vector<double> Values;
};

/// An array for each patch; those of other ranks' patches have no values.
using Field = std::vector<Array>;

/// The patches of one level. Numbered along a space-filling curve; the ranks own consecutive ranges with
/// about equally many cells, so that numbers do not depend on the number of ranks and owners hardly move.
class Grid
{
public:
  /// `tiles`: Morton keys, ascending, without repetition.
  Grid(const Geometry& geometry, int level, const std::vector<std::uint64_t>& tiles, int ranks);

  const Geometry& Space() const { return this->Geometry_; }
  int Level() const { return this->LevelNumber; }
  const std::vector<OwnedBox>& Patches() const { return this->PatchList; }
  std::int64_t Cells() const;

  /// Visits every patch that shares cells with `box`: visit(patch, region, shift). `region` is the shared
  /// part where the box sees it; the patch's own cells are region - shift (periodic boundaries).
  template <typename Visit>
  void ForOverlaps(const Box& box, Visit visit) const;

  /// True when the level's patches have all cells of `box`, except those outside a non-periodic domain.
  bool Covers(const Box& box) const;

private:
  Geometry Geometry_;
  int LevelNumber;
  std::vector<OwnedBox> PatchList;
  std::unordered_map<std::uint64_t, int> PatchOfTile;
};

template <typename Visit>
void Grid::ForOverlaps(const Box& box, Visit visit) const
{
  this->Geometry_.ForTiles(this->LevelNumber, box, [&](const Int3& tile, const Int3& shift) {
    const auto found = this->PatchOfTile.find(MortonKey(tile));
    if (found != this->PatchOfTile.end()) {
      visit(found->second, Intersect(Shift(this->PatchList[found->second].Cells, shift), box), shift);
    }
  });
}

/// Visits all cells, axis 0 fastest: visit(i, j, k).
template <typename Visit>
void ForCells(const Box& box, Visit visit)
{
  for (int k = box.Lower[2]; k <= box.Upper[2]; ++k) {
    for (int j = box.Lower[1]; j <= box.Upper[1]; ++j) {
      for (int i = box.Lower[0]; i <= box.Upper[0]; ++i) {
        visit(i, j, k);
      }
    }
  }
}

/// Copies values to all cells of `to`. `from` has all of these cells.
void CopyCells(const Array& from, Array& to);

}  // namespace patchio::linadv
