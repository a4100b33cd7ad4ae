#include "Filters/Fields.h"

#include <vtkDataArray.h>

#include <algorithm>

namespace patchio::filters {

PlaneField::PlaneField(const Block& block, const Surface& plane)
{
  for (int axis = 0; axis < 3; ++axis) {
    const double* const positions = block.PositionsOf(axis);
    for (int i = 0; i < block.Points[axis]; ++i) {
      this->Along[axis].push_back(plane.Normal()[axis] * positions[i] - (axis == 2 ? plane.Offset() : 0.0));
    }
  }
}

// Rounding keeps the order of sums, so the least and the greatest values are found at the ends of each axis.

bool PlaneField::Meets(int begin, int end) const
{
  const auto ends = [](double a, double b) { return std::minmax({a, b}); };
  const auto z =
      ends(this->Along[2][begin], this->Along[2][std::min<std::size_t>(end, this->Along[2].size() - 1)]);
  const auto y = ends(this->Along[1].front(), this->Along[1].back());
  const auto x = ends(this->Along[0].front(), this->Along[0].back());
  return (z.first + y.first) + x.first < 0 && (z.second + y.second) + x.second >= 0;
}

std::pair<int, int> PlaneField::Row(int j, int k) const
{
  const int j2 = std::min<int>(j + 1, static_cast<int>(this->Along[1].size()) - 1);
  const int k2 = std::min<int>(k + 1, static_cast<int>(this->Along[2].size()) - 1);
  const auto [least, greatest] =
      std::minmax({this->Base(j, k), this->Base(j2, k), this->Base(j, k2), this->Base(j2, k2)});
  const std::vector<double>& x = this->Along[0];
  const int cells = std::max<int>(static_cast<int>(x.size()) - 1, 1);
  const auto [left, right] = std::minmax({x.front(), x.back()});
  if (!(least + left < 0 && greatest + right >= 0)) {
    return {0, 0};
  }
  if (x.front() == x.back()) {
    return {0, cells};
  }
  // The cut lies, if x rises, between the first point with greatest + x >= 0 and the first one with least + x
  // >= 0; if x falls, between the first ones with least + x < 0 and with greatest + x < 0.
  const bool rises = x.front() < x.back();
  const auto firstAbove = [&](double base) {
    return std::partition_point(x.begin(), x.end(), [=](double at) { return (base + at >= 0) != rises; }) -
           x.begin();
  };
  const auto begin = firstAbove(rises ? greatest : least);
  const auto end = firstAbove(rises ? least : greatest);
  return {std::max<int>(static_cast<int>(begin) - 1, 0), std::min<int>(static_cast<int>(end), cells)};
}

SampledField::SampledField(const Block& block, int begin, int end, const Surface& surface)
    : Points(block.Points), Cells(block.Cells(0)), Begin(begin)
{
  this->Values.reserve(static_cast<std::size_t>(this->Points[0]) * this->Points[1] * (end - begin + 1));
  for (int k = begin; k <= end; ++k) {
    for (int j = 0; j < this->Points[1]; ++j) {
      for (int i = 0; i < this->Points[0]; ++i) {
        this->Values.push_back(surface.At(PositionAt(block, i, j, k)));
      }
    }
  }
}

Position PositionAt(const Block& block, int i, int j, int k)
{
  if (block.Form != BlockForm::Curvilinear) {
    return {block.PositionsOf(0)[i], block.PositionsOf(1)[j], block.PositionsOf(2)[k]};
  }
  Position position;
  block.Corners->GetTuple(
      i + block.Points[0] * (j + static_cast<vtkIdType>(block.Points[1]) * k), position.data());
  return position;
}

}  // namespace patchio::filters
