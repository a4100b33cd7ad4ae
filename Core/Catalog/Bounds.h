// The region of space that the patches of a time step cover, according to its catalog.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <limits>
#include <optional>

namespace patchio {

/// An axis-aligned box in space, including its faces. The default, with Lower above Upper, is empty.
struct Bounds
{
  static constexpr double Infinity = std::numeric_limits<double>::infinity();
  Double3 Lower{Infinity, Infinity, Infinity};
  Double3 Upper{-Infinity, -Infinity, -Infinity};

  void Add(const Bounds& other);
};

/// Returns the position of a node of a level along an axis below Catalog::Dimension, in the units of the
/// data. On rectilinear grids, a node beyond the ends of the axis has the position of the nearest end.
/// Catalog::KnowsPositions() must be true.
double PositionOfNode(const Catalog& catalog, int level, int axis, std::int64_t node);

/// Returns the bounds of the patches of a level without ghost layers; for a level of points, the
/// bounds of Catalog::Lattice. The bounds along axes from Catalog::Dimension on are 0. Returns nothing if the
/// level has no patches or its positions are stored in a variable (curvilinear grids, meshes).
std::optional<Bounds> BoundsOfLevel(const Catalog& catalog, int level);
/// Returns the bounds of all levels together, or nothing if no level has bounds.
std::optional<Bounds> BoundsOf(const Catalog& catalog);

}  // namespace patchio
