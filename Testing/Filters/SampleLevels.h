// Made-up blocks of several levels for tests of contours.
#ifndef SampleLevels_h
#define SampleLevels_h

#include "Filters/CellLattice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace patchio::filters::testing {

using Field = std::function<double(double, double, double)>;

/// Boxes of cells of one level, in the index space of this level.
struct SampleLevel
{
  Int3 Ratio{1, 1, 1};  ///< refinement ratio to the level before
  std::vector<Box> Boxes;
};

/// Blocks of all levels, with the memory that CellBlock points to.
class SampleBlocks
{
public:
  /// Makes the blocks. The cells of level 0 have the width 1 / cells. Coarse cells that finer boxes meet are
  /// hidden.
  SampleBlocks(int cells, const std::vector<SampleLevel>& levels, const Field& field)
      : Levels(levels), Width(1.0 / cells)
  {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      for (const Box& box : levels[l].Boxes) {
        this->Add(static_cast<int>(l), box, field);
      }
    }
  }

  std::vector<CellBlock> List;
  std::deque<std::vector<double>> Numbers;
  std::deque<std::vector<unsigned char>> Flags;

private:
  double WidthOf(int level, int axis) const
  {
    double width = this->Width;
    for (int l = 0; l <= level; ++l) {
      width /= this->Levels[l].Ratio[axis];
    }
    return width;
  }

  bool IsCovered(int level, const Int3& cell) const
  {
    Box cells{cell, cell};
    for (std::size_t l = level + 1; l < this->Levels.size(); ++l) {
      cells = Refine(cells, this->Levels[l].Ratio);
      for (const Box& box : this->Levels[l].Boxes) {
        if (!Intersect(cells, box).Empty()) {
          return true;
        }
      }
    }
    return false;
  }

  void Add(int level, const Box& box, const Field& field)
  {
    CellBlock block;
    block.CellVolume = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double width = this->WidthOf(level, axis);
      block.Cells[axis] = static_cast<int>(box.Width(axis));
      block.CellVolume *= width;
      std::vector<double>& nodes = this->Numbers.emplace_back();
      for (int i = box.Lower[axis]; i <= box.Upper[axis] + 1; ++i) {
        nodes.push_back(i * width);
      }
      block.Nodes[axis] = nodes.data();
    }
    std::vector<double>& values = this->Numbers.emplace_back();
    std::vector<unsigned char>& flags = this->Flags.emplace_back();
    const auto center = [&block](int axis, int i) {
      return 0.5 * (block.Nodes[axis][i] + block.Nodes[axis][i + 1]);
    };
    for (int k = 0; k < block.Cells[2]; ++k) {
      for (int j = 0; j < block.Cells[1]; ++j) {
        for (int i = 0; i < block.Cells[0]; ++i) {
          values.push_back(field(center(0, i), center(1, j), center(2, k)));
          const Int3 cell{box.Lower[0] + i, box.Lower[1] + j, box.Lower[2] + k};
          flags.push_back(this->IsCovered(level, cell) ? 8 : 0);
        }
      }
    }
    block.Doubles = values.data();
    block.Flags = flags.data();
    this->List.push_back(block);
  }

  std::vector<SampleLevel> Levels;
  double Width;
};

/// Cuts a box into parts of this many cells along each axis, or fewer at its end.
inline std::vector<Box> Cut(const Box& whole, int cells)
{
  std::vector<Box> parts;
  for (int k = whole.Lower[2]; k <= whole.Upper[2]; k += cells) {
    for (int j = whole.Lower[1]; j <= whole.Upper[1]; j += cells) {
      for (int i = whole.Lower[0]; i <= whole.Upper[0]; i += cells) {
        parts.push_back(Intersect(whole, {{i, j, k}, {i + cells - 1, j + cells - 1, k + cells - 1}}));
      }
    }
  }
  return parts;
}

}  // namespace patchio::filters::testing

#endif
