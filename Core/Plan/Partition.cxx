#include "Plan/Partition.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace patchio {
namespace {

/// Spreads the lower 21 bits so that two zero bits follow each.
std::uint64_t SpreadBits(std::uint64_t value)
{
  std::uint64_t result = 0;
  for (int bit = 0; bit < 21; ++bit) {
    result |= (value >> bit & 1) << (3 * bit);
  }
  return result;
}

/// Centres in cells of level 0, so that all levels share one space.
std::vector<Double3> Centres(const Catalog& catalog, const std::vector<Block>& blocks)
{
  std::vector<Double3> scale(catalog.Levels.size(), Double3{1, 1, 1});
  for (std::size_t level = 1; level < scale.size(); ++level) {
    for (int axis = 0; axis < 3; ++axis) {
      scale[level][axis] = scale[level - 1][axis] / catalog.Levels[level].Ratio[axis];
    }
  }
  std::vector<Double3> centres;
  for (const Block& block : blocks) {
    Double3& centre = centres.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      centre[axis] =
          (0.5 * block.Cells.Lower[axis] + 0.5 * block.Cells.Upper[axis] + 0.5) * scale[block.Level][axis];
    }
  }
  return centres;
}

std::vector<std::uint64_t> MortonKeys(const std::vector<Double3>& centres)
{
  std::vector<std::uint64_t> keys(centres.size(), 0);
  // One scale for all axes keeps the curve compact in domains that are long in one direction.
  Double3 lower = centres.empty() ? Double3{} : centres[0];
  double length = 0;
  for (const Double3& c : centres) {
    for (int axis = 0; axis < 3; ++axis) {
      lower[axis] = std::min(lower[axis], c[axis]);
    }
  }
  for (const Double3& c : centres) {
    for (int axis = 0; axis < 3; ++axis) {
      length = std::max(length, c[axis] - lower[axis]);
    }
  }
  // Deep in a heap of levels lengths may vanish.
  const double factor = length > 1e-300 ? ((1 << 21) - 1) / length : 0;
  for (std::size_t i = 0; i < centres.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const auto cell = static_cast<std::uint64_t>((centres[i][axis] - lower[axis]) * factor);
      keys[i] |= SpreadBits(cell) << axis;
    }
  }
  return keys;
}

}  // namespace

std::vector<int> PartitionBlocks(const Catalog& catalog, const std::vector<Block>& blocks,
    const std::vector<std::int64_t>& weights, int parts)
{
  assert(blocks.size() == weights.size() && parts >= 1);
  const std::vector<std::uint64_t> keys = MortonKeys(Centres(catalog, blocks));
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  // A block weighs at least 1, so that blocks without data are spread too. The part is that of the
  // block's middle on the line of weights.
  const auto weightOf = [&](std::size_t i) {
    return static_cast<double>(std::max<std::int64_t>(weights[i], 1));
  };
  double total = 0;
  for (const std::size_t i : order) {
    total += weightOf(i);
  }
  std::vector<int> result(blocks.size(), 0);
  double before = 0;
  int previous = -1;
  int remaining = static_cast<int>(order.size());
  for (const std::size_t i : order) {
    const double middle = before + 0.5 * weightOf(i);
    const int wanted = std::min(parts - 1, static_cast<int>(middle * parts / total));
    // No part is left out while there are blocks for it, part 0 least of all: many of ParaView's filters ask
    // rank 0 which arrays there are.
    previous = std::min(std::max(wanted, parts - remaining), previous + 1);
    result[i] = previous;
    before += weightOf(i);
    --remaining;
  }
  return result;
}

std::vector<int> PartitionPatches(const Catalog& catalog, const std::vector<int>& patches,
    const std::vector<std::int64_t>& weights, int parts)
{
  return PartitionBlocks(catalog, BlocksOfPatches(catalog, patches), weights, parts);
}

}  // namespace patchio
