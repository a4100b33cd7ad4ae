// Made-up hierarchies of patches for tests of blocks.
#pragma once

#include "RandomBoxes.h"
#include "TestTools.h"

#include <vector>

namespace patchio::testing {

/// Returns one to three levels of disjoint patches with holes. Finer patches need not lie within coarser
/// ones, and their edges may lie anywhere in coarse cells. Variable 0 exists everywhere, variable 1 not on
/// all patches.
inline Catalog LevelsAtRandom(Dice& dice)
{
  Catalog catalog;
  Box domain = DomainAtRandom(10, dice);
  catalog.Dimension = domain.Upper[2] == domain.Lower[2] && domain.Lower[2] == 0 ? 2 : 3;
  const auto levels = static_cast<int>(dice.Between(1, 3));
  for (int level = 0; level < levels; ++level) {
    Int3 ratio{1, 1, 1};
    for (int axis = 0; axis < catalog.Dimension && level > 0; ++axis) {
      ratio[axis] = static_cast<int>(dice.Between(1, 4));
    }
    if (level > 0) {
      domain = PartAtRandom(Refine(PartAtRandom(domain, dice), ratio), dice);
    }
    for (int axis = 0; axis < 3; ++axis) {  // so that walks over all cells stay short
      domain.Upper[axis] = std::min(domain.Upper[axis], domain.Lower[axis] + 13);
    }
    std::vector<Box> boxes = DisjointBoxes(
        domain, static_cast<int>(dice.Between(1, 14)), static_cast<int>(dice.Between(0, 4)), dice);
    if (boxes.empty()) {
      boxes.push_back(domain);
    }
    AddLevel(catalog, boxes, ratio);
  }
  catalog.Variables.push_back({"everywhere", Centering::Cell, 1, {0, 0, 0}, "everywhere", -1});
  catalog.Variables.push_back({"somewhere", Centering::Cell, 1, {0, 0, 0}, "somewhere", -1});
  catalog.ResetPresence();
  const bool allAlike = dice.Between(0, 1) == 0;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    catalog.SetPresence(0, static_cast<int>(p), Presence::Stored);
    catalog.SetPresence(
        1, static_cast<int>(p), allAlike || dice.Between(0, 2) > 0 ? Presence::Stored : Presence::Absent);
  }
  return catalog;
}

inline std::vector<bool> ShownAtRandom(const Catalog& catalog, Dice& dice)
{
  const bool all = dice.Between(0, 1) == 0;
  std::vector<bool> shown;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    shown.push_back(all || dice.Between(0, 4) > 0);
  }
  return shown;
}

}  // namespace patchio::testing
