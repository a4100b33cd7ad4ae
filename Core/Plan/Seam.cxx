#include "Plan/Seam.h"

#include <algorithm>
#include <cmath>

namespace patchio {

bool GoesAround(const Catalog& catalog)
{
  constexpr double circle = 360;
  constexpr std::size_t fewest = 3;
  const Axis& columns = catalog.Axes[0];
  if (!catalog.Geographic || catalog.Grid != GridKind::Rectilinear || columns.Positions.size() < fewest) {
    return false;
  }
  const double width = columns.Positions.back() - columns.Positions.front();
  const double cell = width / static_cast<double>(columns.Positions.size() - 1);
  const int last = columns.First + static_cast<int>(columns.Positions.size()) - 1;
  return std::abs(width + cell - circle) < 0.5 * cell &&
         std::all_of(catalog.Variables.begin(), catalog.Variables.end(),
             [](const Variable& variable) { return variable.Center == Centering::Node; }) &&
         std::all_of(catalog.Patches.begin(), catalog.Patches.end(), [&](const Patch& patch) {
           return patch.Cells.Lower[0] == columns.First && patch.Cells.Upper[0] + 1 == last;
         });
}

void CloseSeam(const Catalog& catalog, std::vector<Block>& blocks)
{
  const Axis& columns = catalog.Axes[0];
  const int lastCell = columns.First + static_cast<int>(columns.Positions.size()) - 2;
  const auto close = [lastCell](Box& cells) { cells.Upper[0] += cells.Upper[0] == lastCell ? 1 : 0; };
  for (Block& block : blocks) {
    close(block.Cells);
    for (OwnedBox& part : block.Parts) {
      close(part.Cells);
    }
  }
}

}  // namespace patchio
