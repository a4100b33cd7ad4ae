#include "Formats/CutBox.h"

#include <algorithm>

namespace patchio {

int SlowestAxis(const Box& cells)
{
  return cells.Width(2) > 1 ? 2 : cells.Width(1) > 1 ? 1 : 0;
}

std::vector<Box> CutAcross(const Box& cells, int axis, std::int64_t grain)
{
  constexpr std::int64_t wantedCells = 2 << 20;
  constexpr std::int64_t mostSlices = 4096;
  const std::int64_t planes = cells.Width(axis);
  const std::int64_t ofPlane = std::max<std::int64_t>(cells.CellCount() / planes, 1);
  std::int64_t thick = std::max(wantedCells / ofPlane, (planes - 1) / mostSlices + 1);
  thick = (std::max<std::int64_t>(thick, 1) + grain - 1) / grain * grain;
  std::vector<Box> boxes;
  for (std::int64_t first = 0; first < planes; first += thick) {
    Box& box = boxes.emplace_back(cells);
    box.Lower[axis] = cells.Lower[axis] + static_cast<int>(first);
    box.Upper[axis] = cells.Lower[axis] + static_cast<int>(std::min(first + thick, planes)) - 1;
  }
  return boxes;
}

}  // namespace patchio
