#include "Catalog/Bounds.h"

#include <algorithm>

namespace patchio {
namespace {

Bounds BoundsOfCells(const Catalog& catalog, int level, const Box& cells)
{
  Bounds bounds{{0, 0, 0}, {0, 0, 0}};
  const Box nodes = catalog.NodesOf(level, cells);
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    bounds.Lower[axis] = PositionOfNode(catalog, level, axis, nodes.Lower[axis]);
    bounds.Upper[axis] = PositionOfNode(catalog, level, axis, nodes.Upper[axis]);
  }
  return bounds;
}

}  // namespace

void Bounds::Add(const Bounds& other)
{
  for (int axis = 0; axis < 3; ++axis) {
    this->Lower[axis] = std::min(this->Lower[axis], other.Lower[axis]);
    this->Upper[axis] = std::max(this->Upper[axis], other.Upper[axis]);
  }
}

double PositionOfNode(const Catalog& catalog, int level, int axis, std::int64_t node)
{
  if (catalog.Grid == GridType::Uniform) {
    return catalog.Origin[axis] + static_cast<double>(node) * catalog.Levels[level].Spacing[axis];
  }
  const Axis& along = catalog.Axes[axis];
  if (along.Positions.empty()) {
    return 0;  // CheckCatalog() rejects axes without positions
  }
  const std::int64_t last = static_cast<std::int64_t>(along.Positions.size()) - 1;
  return along.Positions[static_cast<std::size_t>(std::clamp<std::int64_t>(node - along.First, 0, last))];
}

std::optional<Bounds> BoundsOfLevel(const Catalog& catalog, int level)
{
  const Level& which = catalog.Levels[level];
  if (!catalog.KnowsPositions() || which.PatchCount == 0) {
    return std::nullopt;
  }
  if (which.Role == LevelRole::Points) {
    return BoundsOfCells(catalog, level, catalog.Lattice);
  }
  Bounds bounds;
  for (int p = which.FirstPatch; p < which.FirstPatch + which.PatchCount; ++p) {
    bounds.Add(BoundsOfCells(catalog, level, catalog.Patches[p].Cells));
  }
  return bounds;
}

std::optional<Bounds> BoundsOf(const Catalog& catalog)
{
  std::optional<Bounds> all;
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    if (const std::optional<Bounds> one = BoundsOfLevel(catalog, level)) {
      all = all.value_or(Bounds());
      all->Add(*one);
    }
  }
  return all;
}

}  // namespace patchio
