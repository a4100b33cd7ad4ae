// Which part of space a time step fills, as far as its catalog says.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <limits>
#include <optional>

namespace patchio {

/// A box in space, its faces included. An empty one has Lower above Upper.
struct Bounds
{
  static constexpr double Everywhere = std::numeric_limits<double>::infinity();
  Double3 Lower{Everywhere, Everywhere, Everywhere};
  Double3 Upper{-Everywhere, -Everywhere, -Everywhere};

  void Add(const Bounds& other);
};

/// Where a node of a level lies along an axis below Catalog::Dimension, in the units of the data. Along
/// rectilinear axes, nodes beyond the ends lie at the ends. Not for curvilinear grids.
double PositionOfNode(const Catalog& catalog, int level, int axis, std::int64_t node);

/// Bounds of the patches of a level without ghost layers; for a list of points, those of its lattice.
/// Axes from Catalog::Dimension on are 0. None where the positions are in a variable (curvilinear grids) or
/// there are no patches.
std::optional<Bounds> BoundsOfLevel(const Catalog& catalog, int level);
/// The bounds of all levels together.
std::optional<Bounds> BoundsOf(const Catalog& catalog);

}  // namespace patchio
