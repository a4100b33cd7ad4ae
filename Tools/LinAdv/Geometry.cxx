#include "LinAdv/Geometry.h"

namespace patchio::linadv {

std::uint64_t MortonKey(const Int3& tile)
{
  std::uint64_t key = 0;
  for (int bit = 0; bit < 21; ++bit) {
    for (int axis = 0; axis < 3; ++axis) {
      key |= std::uint64_t((tile[axis] >> bit) & 1) << (3 * bit + axis);
    }
  }
  return key;
}

Int3 TileOfKey(std::uint64_t key)
{
  Int3 tile{0, 0, 0};
  for (int bit = 0; bit < 21; ++bit) {
    for (int axis = 0; axis < 3; ++axis) {
      tile[axis] |= int((key >> (3 * bit + axis)) & 1) << bit;
    }
  }
  return tile;
}

Int3 Geometry::Layers(int layers) const
{
  return {layers, layers, this->Dimension == 3 ? layers : 0};
}

Box Geometry::Domain(int level) const
{
  Box domain;
  for (int axis = 0; axis < 3; ++axis) {
    int cells = this->Cells[axis];
    for (int l = 0; l < level; ++l) {
      cells *= this->Ratio[axis];
    }
    domain.Upper[axis] = cells - 1;
  }
  return domain;
}

Double3 Geometry::SpacingOf(int level) const
{
  Double3 spacing = this->Spacing;
  for (int l = 0; l < level; ++l) {
    for (int axis = 0; axis < 3; ++axis) {
      spacing[axis] /= this->Ratio[axis];
    }
  }
  return spacing;
}

Box Geometry::TileCells(int level, const Int3& tile) const
{
  return Intersect(Refine({tile, tile}, this->Patch), this->Domain(level));
}

}  // namespace patchio::linadv
