#include "Read/PointCells.h"

#include "Base/Error.h"

#include <algorithm>

namespace patchio {
namespace {

/// Returns a number of an array of integers.
std::int64_t NumberAt(const LoadedArray& numbers, std::size_t i)
{
  return VisitType(numbers.Type, [&](auto type) {
    return static_cast<std::int64_t>(static_cast<const decltype(type)*>(numbers.Values.get())[i]);
  });
}

}  // namespace

PointCells::PointCells(const Catalog& catalog, const LoadedArray& numbers, const std::string& name)
    : Data(catalog)
{
  if (numbers.Type == ElementType::Float32 || numbers.Type == ElementType::Float64) {
    throw FileError(
        catalog.Path, "integers in the " + name, std::string("numbers of type ") + NameOf(numbers.Type));
  }
  const std::int64_t cells = catalog.Lattice.CellCount();
  this->Numbers.reserve(static_cast<std::size_t>(numbers.Tuples));
  for (std::int64_t i = 0; i < numbers.Tuples; ++i) {
    const std::int64_t number = NumberAt(numbers, static_cast<std::size_t>(i));
    if (number < 1 || number > cells) {
      throw FileError(catalog.Path, "grid points 1 to " + std::to_string(cells) + " in the " + name,
          "point " + std::to_string(number), "The list of points is damaged or belongs to another run");
    }
    this->Numbers.push_back(number - 1);
  }
}

Int3 PointCells::CellOf(std::size_t point) const
{
  const Box& lattice = this->Data.Lattice;
  const std::int64_t width = lattice.Width(0), area = width * lattice.Width(1);
  const std::int64_t number = this->Numbers[point];
  return {lattice.Lower[0] + static_cast<int>(number % width),
      lattice.Lower[1] + static_cast<int>(number % area / width),
      lattice.Lower[2] + static_cast<int>(number / area)};
}

Double3 PointCells::PositionOf(std::size_t point, int level) const
{
  const Int3 cell = this->CellOf(point);
  Double3 position;
  for (int axis = 0; axis < 3; ++axis) {
    const double centre = axis < this->Data.Dimension ? cell[axis] + 0.5 : 0.0;
    position[axis] = this->Data.Origin[axis] + centre * this->Data.Levels[level].Spacing[axis];
  }
  return position;
}

Box PointCells::Bounds() const
{
  Box bounds{this->Data.Lattice.Upper, this->Data.Lattice.Lower};
  for (std::size_t p = 0; p < this->Count(); ++p) {
    const Int3 cell = this->CellOf(p);
    for (int axis = 0; axis < 3; ++axis) {
      bounds.Lower[axis] = std::min(bounds.Lower[axis], cell[axis]);
      bounds.Upper[axis] = std::max(bounds.Upper[axis], cell[axis]);
    }
  }
  return bounds;
}

}  // namespace patchio
