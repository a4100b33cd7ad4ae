#include "Catalog/Box.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace patchio {

BoxBins::BoxBins(std::vector<Box> boxes) : Boxes(std::move(boxes))
{
  if (this->Boxes.empty()) {
    this->Enclosing = {{0, 0, 0}, {0, 0, 0}};
    this->Begin.assign(2, 0);
    return;
  }
  this->ChooseSize();
  // A few huge boxes among many tiny ones would lie in nearly all bins. The loop ends when a single bin is
  // left, at the latest.
  const std::size_t most = 32 * this->Boxes.size() + 1024;
  while (this->BinCount() > most || this->CountMembers() > most) {
    this->SetSize({2 * this->BinSize[0], 2 * this->BinSize[1], 2 * this->BinSize[2]});
  }
  this->Fill();
}

/// Sets Enclosing, and the bin size to the mean size of a box, so that a box touches few bins and a bin holds
/// few boxes. The bins are larger if the boxes are far apart.
void BoxBins::ChooseSize()
{
  this->Enclosing = this->Boxes[0];
  Double3 mean{0, 0, 0};
  const auto boxes = static_cast<double>(this->Boxes.size());
  for (const Box& box : this->Boxes) {
    for (int axis = 0; axis < 3; ++axis) {
      this->Enclosing.Lower[axis] = std::min(this->Enclosing.Lower[axis], box.Lower[axis]);
      this->Enclosing.Upper[axis] = std::max(this->Enclosing.Upper[axis], box.Upper[axis]);
      mean[axis] += static_cast<double>(box.Width(axis));
    }
  }
  // The sum is divided once: boxes of equal size then get bins of exactly their size, and most lie in one
  // bin.
  for (double& width : mean) {
    width /= boxes;
  }
  // Boxes far apart would need many more bins than there are boxes.
  double total = 1;
  for (int axis = 0; axis < 3; ++axis) {
    total *= static_cast<double>(this->Enclosing.Width(axis)) / mean[axis];
  }
  const double coarsen = std::max(1.0, std::cbrt(total / (4.0 * boxes + 64)));
  std::array<std::int64_t, 3> size;
  for (int axis = 0; axis < 3; ++axis) {
    const double width = std::min(mean[axis] * coarsen, static_cast<double>(this->Enclosing.Width(axis)));
    size[axis] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(width)));
  }
  this->SetSize(size);
}

void BoxBins::SetSize(const std::array<std::int64_t, 3>& size)
{
  this->BinSize = size;
  for (int axis = 0; axis < 3; ++axis) {
    this->BinsPerAxis[axis] = static_cast<int>((this->Enclosing.Width(axis) + size[axis] - 1) / size[axis]);
  }
}

std::size_t BoxBins::CountMembers() const
{
  std::size_t count = 0;
  for (const Box& box : this->Boxes) {
    count += static_cast<std::size_t>(this->BinRange(box).CellCount());
  }
  return count;
}

/// Returns the range of bins that a box touches, as a box of bin indices.
Box BoxBins::BinRange(const Box& cells) const
{
  Box range;
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t lowest = this->Enclosing.Lower[axis];
    // For a box far away, the bin index may exceed the range of an int.
    const auto bin = [&](int index) {
      return static_cast<int>(
          std::min<std::int64_t>((index - lowest) / this->BinSize[axis], this->BinsPerAxis[axis]));
    };
    range.Lower[axis] = cells.Lower[axis] <= lowest ? 0 : bin(cells.Lower[axis]);
    range.Upper[axis] =
        cells.Upper[axis] < lowest ? -1 : std::min(bin(cells.Upper[axis]), this->BinsPerAxis[axis] - 1);
  }
  return range;
}

/// Fills Begin and Members by a counting sort of the pairs (bin, box).
void BoxBins::Fill()
{
  this->Begin.assign(this->BinCount() + 1, 0);
  for (const Box& box : this->Boxes) {
    this->ForEachBin(box, [&](std::size_t bin) {
      ++this->Begin[bin + 1];
      return true;
    });
  }
  std::partial_sum(this->Begin.begin(), this->Begin.end(), this->Begin.begin());
  this->Members.resize(this->Begin.back());
  std::vector<std::size_t> next(this->Begin.begin(), this->Begin.end() - 1);
  for (std::size_t b = 0; b < this->Boxes.size(); ++b) {
    this->ForEachBin(this->Boxes[b], [&](std::size_t bin) {
      this->Members[next[bin]++] = static_cast<int>(b);
      return true;
    });
  }
}

std::vector<int> BoxBins::Intersecting(const Box& cells) const
{
  std::vector<int> found;
  this->ForEachIntersecting(cells, [&](int index) {
    found.push_back(index);
    return true;
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::optional<std::map<int, std::vector<Box>>> BoxBins::UniqueParts() const
{
  std::map<int, std::vector<Box>> rests;
  const auto count = static_cast<std::int64_t>(this->Boxes.size());
  // In simulations, a box shares bins with some dozens of other boxes and is cut into a few pieces. The
  // limits bound the time for damaged or malicious files, whose boxes may all overlap.
  std::int64_t comparisons = 1000 * count + 1000000;
  std::int64_t pieces = 8 * count + 100000;
  std::vector<Box> open, left;
  for (int b = 0; b < count; ++b) {
    open.assign(1, this->Boxes[b]);
    bool met = false;
    this->ForEachBin(this->Boxes[b], [&](std::size_t bin) {
      for (std::size_t m = this->Begin[bin]; m < this->Begin[bin + 1] && this->Members[m] < b; ++m) {
        const Box& other = this->Boxes[this->Members[m]];
        --comparisons;
        if (open.empty() || comparisons < 0) {
          return false;
        }
        if (Intersect(this->Boxes[b], other).Empty()) {
          continue;
        }
        met = true;
        comparisons -= static_cast<std::int64_t>(open.size());
        left.clear();
        for (const Box& piece : open) {
          Subtract(piece, Intersect(piece, other), left);
        }
        open.swap(left);
      }
      return true;
    });
    pieces -= met ? static_cast<std::int64_t>(open.size()) : 0;
    if (comparisons < 0 || pieces < 0) {
      return std::nullopt;
    }
    if (met) {
      rests.emplace_hint(rests.end(), b, open);
    }
  }
  return rests;
}

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
