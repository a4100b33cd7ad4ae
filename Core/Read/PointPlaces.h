// Where the points of a list lie.
#pragma once

#include "Catalog/Catalog.h"
#include "Read/LoadRequest.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// The places of a block's points in the lattice of the catalog.
class PointPlaces
{
public:
  /// numbers: the values of a Variable::Positions, which count from 1. name: for messages. Throws Error when
  /// a point is not in the lattice. Keeps a reference to `catalog`.
  PointPlaces(const Catalog& catalog, const LoadedArray& numbers, const std::string& name);

  std::size_t Count() const { return this->Numbers.size(); }
  Int3 CellOf(std::size_t point) const;
  /// The centre of that cell. `level` gives the spacing.
  Double3 PositionOf(std::size_t point, int level) const;
  /// The smallest box of the lattice that holds all points.
  Box Bounds() const;

private:
  const Catalog& Data;
  std::vector<std::int64_t> Numbers;  ///< from 0, axis 0 fastest
};

}  // namespace patchio
