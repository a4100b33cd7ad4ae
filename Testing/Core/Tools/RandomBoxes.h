// Boxes like those of simulations, and more irregular ones, for tests that compare with a walk over all
// cells.
#pragma once

#include "Catalog/Box.h"
#include "NaivePlace.h"

#include <algorithm>
#include <vector>

namespace patchio::testing {

/// Calls visit(cell) for each cell of a box.
template <typename Visit>
void ForEachCell(const Box& box, Visit visit)
{
  for (int k = box.Lower[2]; k <= box.Upper[2]; ++k) {
    for (int j = box.Lower[1]; j <= box.Upper[1]; ++j) {
      for (int i = box.Lower[0]; i <= box.Upper[0]; ++i) {
        visit(Int3{i, j, k});
      }
    }
  }
}

inline bool Contains(const Box& box, const Int3& cell)
{
  return !Intersect(box, {cell, cell}).Empty();
}

inline bool Within(const Box& part, const Box& whole)
{
  return Intersect(part, whole) == part;
}

/// Cuts a box at random planes until `pieces` disjoint boxes fill it, or until the attempts are used up.
inline std::vector<Box> CutAtRandom(const Box& whole, int pieces, Dice& dice)
{
  std::vector<Box> boxes{whole};
  for (int attempt = 0; attempt < 20 * pieces && static_cast<int>(boxes.size()) < pieces; ++attempt) {
    const auto b = static_cast<std::size_t>(dice.Between(0, static_cast<std::int64_t>(boxes.size()) - 1));
    const auto axis = static_cast<int>(dice.Between(0, 2));
    if (boxes[b].Width(axis) > 1) {
      const auto plane = static_cast<int>(dice.Between(boxes[b].Lower[axis] + 1, boxes[b].Upper[axis]));
      boxes.push_back(boxes[b]);
      boxes[b].Upper[axis] = plane - 1;
      boxes.back().Lower[axis] = plane;
    }
  }
  return boxes;
}

/// Returns a box with random bounds within another.
inline Box PartAtRandom(const Box& whole, Dice& dice)
{
  Box part;
  for (int axis = 0; axis < 3; ++axis) {
    part.Lower[axis] = static_cast<int>(dice.Between(whole.Lower[axis], whole.Upper[axis]));
    part.Upper[axis] = static_cast<int>(dice.Between(part.Lower[axis], whole.Upper[axis]));
  }
  return part;
}

/// Returns boxes that begin in low .. high and have up to `widest` cells per axis; they overlap by chance.
inline std::vector<Box> BoxesAtRandom(int dimension, int count, int low, int high, int widest, Dice& dice)
{
  std::vector<Box> boxes(count, Box{{0, 0, 0}, {0, 0, 0}});
  for (Box& box : boxes) {
    for (int axis = 0; axis < dimension; ++axis) {
      box.Lower[axis] = static_cast<int>(dice.Between(low, high));
      box.Upper[axis] = box.Lower[axis] + static_cast<int>(dice.Between(0, widest - 1));
    }
  }
  return boxes;
}

/// Returns disjoint boxes in random order; about `holes` in 10 of them are left out.
inline std::vector<Box> DisjointBoxes(const Box& domain, int pieces, int holes, Dice& dice)
{
  std::vector<Box> boxes;
  for (const Box& box : CutAtRandom(domain, pieces, dice)) {
    if (dice.Between(0, 9) >= holes) {
      boxes.insert(boxes.begin() + dice.Between(0, static_cast<std::int64_t>(boxes.size())), box);
    }
  }
  return boxes;
}

/// Returns a domain of at most `longest` cells per axis, at a random place, in 2 or 3 dimensions.
inline Box DomainAtRandom(int longest, Dice& dice)
{
  Box domain;
  const int axes = dice.Between(0, 2) == 0 ? 2 : 3;
  for (int axis = 0; axis < 3; ++axis) {
    domain.Lower[axis] = axis < axes ? static_cast<int>(dice.Between(-40, 40)) : 0;
    domain.Upper[axis] =
        axis < axes ? domain.Lower[axis] + static_cast<int>(dice.Between(0, longest - 1)) : 0;
  }
  return domain;
}

}  // namespace patchio::testing
