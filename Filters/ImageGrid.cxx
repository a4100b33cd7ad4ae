#include "Filters/ImageGrid.h"

#include "Catalog/Box.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace patchio::filters {
namespace {

/// Positions that are nearer than this part of a cell are one.
constexpr double Tolerance = 1e-6;

/// Blocks whose cells are equally wide.
struct Level
{
  std::array<double, 3> Width, Lower, Upper;

  double Volume() const { return this->Width[0] * this->Width[1] * this->Width[2]; }
  bool HasWidthOf(const Level& other) const
  {
    for (int axis = 0; axis < 3; ++axis) {
      if (std::abs(this->Width[axis] - other.Width[axis]) > 1e-4 * other.Width[axis]) {
        return false;
      }
    }
    return true;
  }
};

/// The box around the visible cells of a block; empty if there are none.
Box VisibleCells(const Block& block)
{
  const Int3 last{block.Cells(0) - 1, block.Cells(1) - 1, block.Cells(2) - 1};
  if (!block.Flags) {
    return {{0, 0, 0}, last};
  }
  const auto isVisible = [](unsigned char flag) { return !(flag & Block::HidingFlags); };
  Box seen{last, {-1, -1, -1}};
  const unsigned char* row = block.Flags;
  for (int k = 0; k <= last[2]; ++k) {
    for (int j = 0; j <= last[1]; ++j, row += last[0] + 1) {
      const unsigned char* const end = row + last[0] + 1;
      const unsigned char* const first = std::find_if(row, end, isVisible);
      if (first != end) {
        const auto behind =
            std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(first), isVisible);
        seen.Lower = {std::min<int>(seen.Lower[0], first - row), std::min(seen.Lower[1], j),
            std::min(seen.Lower[2], k)};
        seen.Upper = {std::max<int>(seen.Upper[0], behind.base() - row - 1), std::max(seen.Upper[1], j), k};
      }
    }
  }
  return seen;
}

void AddTo(std::vector<Level>& levels, const Level& more)
{
  const auto same =
      std::find_if(levels.begin(), levels.end(), [&](const Level& level) { return level.HasWidthOf(more); });
  if (same == levels.end()) {
    levels.push_back(more);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    same->Lower[axis] = std::min(same->Lower[axis], more.Lower[axis]);
    same->Upper[axis] = std::max(same->Upper[axis], more.Upper[axis]);
  }
}

/// Collective: all levels, the finest first. Rectilinear blocks count by the mean width of their cells.
std::vector<Level> LevelsOf(const std::vector<const Block*>& blocks, Communicator& ranks)
{
  std::vector<Level> mine, all;
  for (const Block* block : blocks) {
    const Box seen = VisibleCells(*block);
    if (seen.Empty()) {
      continue;
    }
    Level level;
    for (int axis = 0; axis < 3; ++axis) {
      level.Lower[axis] = block->PositionsOf(axis)[seen.Lower[axis]];
      level.Upper[axis] = block->PositionsOf(axis)[seen.Upper[axis] + 1];
      level.Width[axis] = block->Form == BlockForm::Uniform
                              ? block->Spacing[axis]
                              : (block->Bounds[2 * axis + 1] - block->Bounds[2 * axis]) / block->Cells(axis);
    }
    AddTo(mine, level);
  }
  for (const Level& level : GatherValues(ranks, mine)) {
    AddTo(all, level);
  }
  std::sort(all.begin(), all.end(), [](const Level& a, const Level& b) { return a.Volume() < b.Volume(); });
  return all;
}

/// Cells as wide as those of a level, or some times as wide, around all levels; the level's nodes are nodes
/// of the image.
ImageGrid GridOf(const Level& level, int times, const std::vector<Level>& all)
{
  ImageGrid grid;
  for (int axis = 0; axis < 3; ++axis) {
    double lower = level.Lower[axis], upper = level.Upper[axis];
    for (const Level& other : all) {
      lower = std::min(lower, other.Lower[axis]);
      upper = std::max(upper, other.Upper[axis]);
    }
    const double width = level.Width[axis] * times;
    grid.Spacing[axis] = width;
    grid.Origin[axis] =
        level.Lower[axis] - width * std::ceil((level.Lower[axis] - lower) / width - Tolerance);
    const double cells = std::ceil((upper - grid.Origin[axis]) / width - Tolerance);
    grid.Cells[axis] = static_cast<int>(std::clamp(cells, 1.0, 1e9));
  }
  return grid;
}

double Snapped(double position)
{
  const double whole = std::round(position);
  return std::abs(position - whole) < Tolerance ? whole : position;
}

}  // namespace

ImageGrid ChooseImageGrid(const std::vector<const Block*>& blocks, double mostCells, Communicator& ranks)
{
  const std::vector<Level> levels = LevelsOf(blocks, ranks);
  const auto fits = [&](const ImageGrid& grid) {
    return double(grid.Cells[0]) * grid.Cells[1] * grid.Cells[2] <= std::max(mostCells, 1.0);
  };
  for (const Level& level : levels) {
    const ImageGrid grid = GridOf(level, 1, levels);
    if (fits(grid)) {
      return grid;
    }
  }
  ImageGrid grid;
  for (int times = 2; !levels.empty() && (times == 2 || !fits(grid)); ++times) {
    grid = GridOf(levels.back(), times, levels);
  }
  return grid;
}

AxisOverlaps::AxisOverlaps(const double* nodes, int cells, const ImageAxis& image)
{
  for (int cell = 0; cell < cells; ++cell) {
    const double lower = Snapped((nodes[cell] - image.Origin) / image.Spacing);
    const double upper = Snapped((nodes[cell + 1] - image.Origin) / image.Spacing);
    if (upper <= image.First || lower >= image.Last + 1) {
      continue;
    }
    const int last = static_cast<int>(std::min<double>(image.Last, std::ceil(upper) - 1));
    for (int i = static_cast<int>(std::max<double>(image.First, std::floor(lower))); i <= last; ++i) {
      if (this->List.empty()) {
        this->First = i;
        this->Last = i - 1;
      }
      if (i > this->Last) {
        this->Begin.push_back(static_cast<int>(this->List.size()));
        this->Last = i;
      }
      this->List.push_back({cell, std::min(upper, i + 1.0) - std::max(lower, double(i))});
    }
  }
  this->Begin.push_back(static_cast<int>(this->List.size()));
}

AxisPlaces::AxisPlaces(const double* nodes, int points, const ImageAxis& image)
{
  const double near = Tolerance * std::min(image.Spacing, nodes[1] - nodes[0]);
  for (int i = image.First; i <= image.Last; ++i) {
    const double position = image.Origin + image.Spacing * i;
    if (position < nodes[0] - near || position > nodes[points - 1] + near) {
      continue;
    }
    const auto next = std::upper_bound(nodes + 1, nodes + points, position + near) - nodes;
    const int point = static_cast<int>(next) - 1;
    const double way = position - nodes[point];
    if (this->List.empty()) {
      this->First = i;
    }
    this->Last = i;
    this->List.push_back({point, way <= near ? 0 : way / (nodes[point + 1] - nodes[point])});
  }
}

}  // namespace patchio::filters
