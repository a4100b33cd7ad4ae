#include "LinAdv/Grid.h"

#include <algorithm>

namespace patchio::linadv {
namespace {

std::int64_t Total(const std::vector<OwnedBox>& patches)
{
  std::int64_t cells = 0;
  for (const OwnedBox& patch : patches) {
    cells += patch.Cells.Cells();
  }
  return cells;
}

/// A patch goes to the rank in whose share of all cells its middle lies.
void AssignOwners(std::vector<OwnedBox>& patches, int ranks)
{
  const std::int64_t total = Total(patches);
  std::int64_t before = 0;
  for (OwnedBox& patch : patches) {
    const std::int64_t middle = 2 * before + patch.Cells.Cells();
    patch.Owner = static_cast<int>(std::min<std::int64_t>(ranks - 1, middle * ranks / (2 * total)));
    before += patch.Cells.Cells();
  }
}

}  // namespace

Grid::Grid(const Geometry& geometry, int level, const std::vector<std::uint64_t>& tiles, int ranks)
    : Geometry_(geometry), LevelNumber(level)
{
  this->PatchList.reserve(tiles.size());
  this->PatchOfTile.reserve(tiles.size());
  for (std::uint64_t key : tiles) {
    this->PatchOfTile[key] = static_cast<int>(this->PatchList.size());
    this->PatchList.push_back({geometry.TileCells(level, TileOfKey(key)), 0});
  }
  AssignOwners(this->PatchList, ranks);
}

std::int64_t Grid::Cells() const
{
  return Total(this->PatchList);
}

void CopyCells(const Array& from, Array& to)
{
  std::size_t next = 0;
  ForCells(to.Cells, [&](int i, int j, int k) { to.Values[next++] = from.At(i, j, k); });
}

bool Grid::Covers(const Box& box) const
{
  const Box wanted =
      this->Geometry_.Periodic ? box : Intersect(box, this->Geometry_.Domain(this->LevelNumber));
  std::int64_t found = 0;
  this->ForOverlaps(wanted, [&](int, const Box& region, const Int3&) { found += region.Cells(); });
  return found == wanted.Cells();
}

}  // namespace patchio::linadv
