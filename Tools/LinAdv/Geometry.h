// The domain, its cells on every level, and how levels are cut into tiles.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>

namespace patchio::linadv {

/// Ghost layers that the scheme needs along each axis of the problem.
constexpr int GhostWidth = 2;

/// Bits of the three indices mixed: sorting by it keeps neighbours together. Indices: 0 .. 2^21 - 1.
std::uint64_t MortonKey(const Int3& tile);
Int3 TileOfKey(std::uint64_t key);

/// The places of cells. In 2-D the third axis has one cell, one tile and no ghosts, so that other code need
/// not distinguish 2-D and 3-D.
///
/// Level l's index space starts at 0 in the domain's lower corner. It is cut into tiles of `Patch` cells,
/// the last along an axis may be smaller. Patches are tiles that exist.
struct Geometry
{
  int Dimension = 3;
  Int3 Cells{1, 1, 1};  ///< of the domain on level 0
  Int3 Patch{1, 1, 1};  ///< cells of a tile, any level
  Int3 Ratio{1, 1, 1};  ///< between neighbouring levels
  Double3 Origin{0, 0, 0};
  Double3 Spacing{1, 1, 1};  ///< cell size on level 0
  bool Periodic = false;

  /// `layers` along the axes of the problem, 0 along others.
  Int3 Layers(int layers) const;
  Box Domain(int level) const;
  Double3 SpacingOf(int level) const;
  Box TileCells(int level, const Int3& tile) const;

  /// Visits the tiles that share cells with `box`: visit(tile, shift). With periodic boundaries the box may
  /// reach out of the domain; `shift` moves cells of the tile to where the box sees them.
  template <typename Visit>
  void ForTiles(int level, const Box& box, Visit visit) const;

private:
  template <typename Visit>
  void ForTilesInside(const Box& domain, const Box& box, const Int3& shift, Visit visit) const;
};

template <typename Visit>
void Geometry::ForTilesInside(const Box& domain, const Box& box, const Int3& shift, Visit visit) const
{
  Int3 back;
  for (int axis = 0; axis < 3; ++axis) {
    back[axis] = -shift[axis];
  }
  const Box part = Intersect(Shift(box, back), domain);
  if (part.Empty()) {
    return;
  }
  const Box tiles = Coarsen(part, this->Patch);
  for (int k = tiles.Lower[2]; k <= tiles.Upper[2]; ++k) {
    for (int j = tiles.Lower[1]; j <= tiles.Upper[1]; ++j) {
      for (int i = tiles.Lower[0]; i <= tiles.Upper[0]; ++i) {
        visit(Int3{i, j, k}, shift);
      }
    }
  }
}

template <typename Visit>
void Geometry::ForTiles(int level, const Box& box, Visit visit) const
{
  const Box domain = this->Domain(level);
  // One copy of the domain on each side is enough: boxes reach out by a few cells only.
  Int3 images{0, 0, 0};
  for (int axis = 0; axis < this->Dimension; ++axis) {
    const bool outside = box.Lower[axis] < domain.Lower[axis] || box.Upper[axis] > domain.Upper[axis];
    images[axis] = this->Periodic && outside ? 1 : 0;
  }
  for (int k = -images[2]; k <= images[2]; ++k) {
    for (int j = -images[1]; j <= images[1]; ++j) {
      for (int i = -images[0]; i <= images[0]; ++i) {
        const Int3 shift{int(i * domain.Width(0)), int(j * domain.Width(1)), int(k * domain.Width(2))};
        this->ForTilesInside(domain, box, shift, visit);
      }
    }
  }
}

}  // namespace patchio::linadv
