// The cells and positions of the points of a list.
#pragma once

#include "Catalog/Catalog.h"
#include "Read/LoadRequest.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// The cells of the catalog's lattice in which the points of a block lie.
class PointCells
{
public:
  /// Converts `numbers`, the values of a variable with Variable::Positions: cell numbers counted from 1.
  /// `name`: name of the variable for messages. Throws Error if the numbers are not integers, or a number
  /// is outside the lattice. Keeps a reference to `catalog`.
  PointCells(const Catalog& catalog, const LoadedArray& numbers, const std::string& name);

  std::size_t Count() const { return this->Numbers.size(); }
  /// Returns the cell of a point, as indices of the lattice.
  Int3 CellOf(std::size_t point) const;
  /// Returns the centre of the point's cell, with the spacing of `level`.
  Double3 PositionOf(std::size_t point, int level) const;
  /// Returns the smallest box of the lattice that contains all points.
  Box Bounds() const;

private:
  const Catalog& Data;
  std::vector<std::int64_t> Numbers;  ///< cell number of each point, from 0, axis 0 fastest
};

}  // namespace patchio
