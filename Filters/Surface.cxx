#include "Filters/Surface.h"

#include <vtkBox.h>
#include <vtkCylinder.h>
#include <vtkLinearTransform.h>
#include <vtkMatrix4x4.h>
#include <vtkPlane.h>
#include <vtkSphere.h>

#include <algorithm>
#include <cmath>

namespace patchio::filters {

Position MiddleOf(const std::array<double, 6>& bounds)
{
  Position middle;
  for (int axis = 0; axis < 3; ++axis) {
    middle[axis] = bounds[2 * axis] + 0.5 * (bounds[2 * axis + 1] - bounds[2 * axis]);
  }
  return middle;
}

bool Surface::SetPlane(vtkImplicitFunction* function, double value)
{
  auto* const plane = vtkPlane::SafeDownCast(function);
  if (!plane || plane->GetTransform()) {
    return false;
  }
  const double* const normal = plane->GetNormal();
  const double* const origin = plane->GetOrigin();
  const double length = std::hypot(normal[0], normal[1], normal[2]);
  Position at{origin[0], origin[1], origin[2]};
  // ParaView's planes have an additional offset, which only EvaluateFunction() takes into account.
  this->Value = value - plane->EvaluateFunction(at.data()) / length;
  for (int axis = 0; axis < 3; ++axis) {
    this->PlaneNormal[axis] = normal[axis] / length;
    this->Value += this->PlaneNormal[axis] * origin[axis];
  }
  return length > 0 && std::isfinite(length);
}

/// Copies the matrix of the function's transform, because VTK's transforms lock a mutex for each point.
/// Returns false if the transform is not linear.
bool Surface::SetTransform()
{
  vtkAbstractTransform* const any = this->Function->GetTransform();
  if (!any) {
    return true;
  }
  auto* const linear = vtkLinearTransform::SafeDownCast(any);
  if (!linear) {
    return false;
  }
  const vtkMatrix4x4* const matrix = linear->GetMatrix();
  double squares = 0;
  for (int column = 0; column < 4; ++column) {
    for (int row = 0; row < 3; ++row) {
      this->Columns[column][row] = matrix->GetElement(row, column);
      squares += column < 3 ? this->Columns[column][row] * this->Columns[column][row] : 0;
    }
  }
  this->Transformed = true;
  this->Stretch = std::sqrt(squares);
  return true;
}

std::optional<Surface> Surface::FromFunction(vtkImplicitFunction* function, double value)
{
  Surface surface;
  surface.Function = function;
  surface.Value = value;
  bool known = function && std::isfinite(value);
  if (known && !surface.SetPlane(function, value)) {
    auto* const sphere = vtkSphere::SafeDownCast(function);
    auto* const cylinder = vtkCylinder::SafeDownCast(function);
    surface.Type = sphere || cylinder ? Shape::Round : Shape::Box;
    surface.Radius = sphere ? sphere->GetRadius() : cylinder ? cylinder->GetRadius() : 0;
    known = (sphere || cylinder || vtkBox::SafeDownCast(function)) && surface.SetTransform();
  }
  return known && std::isfinite(surface.Value) ? std::optional<Surface>(surface) : std::nullopt;
}

int Surface::AlignedAxis() const
{
  for (int axis = 0; axis < 3; ++axis) {
    if (this->IsPlane() && std::abs(this->PlaneNormal[axis]) == 1 && this->PlaneNormal[(axis + 1) % 3] == 0 &&
        this->PlaneNormal[(axis + 2) % 3] == 0) {
      return axis;
    }
  }
  return -1;
}

double Surface::ValueAt(Position position) const
{
  if (this->IsPlane()) {
    return ((this->PlaneNormal[2] * position[2] - this->Value) + this->PlaneNormal[1] * position[1]) +
           this->PlaneNormal[0] * position[0];
  }
  if (this->Transformed) {
    Position image = this->Columns[3];
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        image[row] += this->Columns[column][row] * position[column];
      }
    }
    position = image;
  }
  return this->Function->EvaluateFunction(position.data()) - this->Value;
}

bool Surface::MayMeet(const std::array<double, 6>& bounds) const
{
  const double value = this->ValueAt(MiddleOf(bounds));
  const double distance =
      0.5 * std::hypot(bounds[1] - bounds[0], bounds[3] - bounds[2], bounds[5] - bounds[4]);
  const double reach = 1.000001 * distance * this->Stretch;
  if (this->Type != Shape::Round) {
    return !(std::abs(value) > reach);
  }
  // The function is the square of a distance, so the distances are compared.
  const double square = this->Radius * this->Radius;
  const double here = std::sqrt(std::max(value + this->Value + square, 0.0));
  const double onSurface = std::sqrt(std::max(this->Value + square, 0.0));
  return !(std::abs(here - onSurface) > reach);
}

PlaneField::PlaneField(const Block& block, const Surface& plane)
{
  for (int axis = 0; axis < 3; ++axis) {
    const double* const positions = block.PositionsOf(axis);
    for (int i = 0; i < block.Points[axis]; ++i) {
      this->Along[axis].push_back(plane.Normal()[axis] * positions[i] - (axis == 2 ? plane.Offset() : 0.0));
    }
  }
}

// Rounding preserves the order of sums, so the least and the greatest values lie at the ends of each axis.

bool PlaneField::Meets(int begin, int end) const
{
  const auto ends = [](double a, double b) { return std::minmax({a, b}); };
  const auto z =
      ends(this->Along[2][begin], this->Along[2][std::min<std::size_t>(end, this->Along[2].size() - 1)]);
  const auto y = ends(this->Along[1].front(), this->Along[1].back());
  const auto x = ends(this->Along[0].front(), this->Along[0].back());
  return (z.first + y.first) + x.first < 0 && (z.second + y.second) + x.second >= 0;
}

std::pair<int, int> PlaneField::CellsOfRow(int j, int k) const
{
  const int j2 = std::min<int>(j + 1, static_cast<int>(this->Along[1].size()) - 1);
  const int k2 = std::min<int>(k + 1, static_cast<int>(this->Along[2].size()) - 1);
  const auto [least, greatest] =
      std::minmax({this->RowBase(j, k), this->RowBase(j2, k), this->RowBase(j, k2), this->RowBase(j2, k2)});
  const std::vector<double>& x = this->Along[0];
  const int cells = std::max<int>(static_cast<int>(x.size()) - 1, 1);
  const auto [left, right] = std::minmax({x.front(), x.back()});
  if (!(least + left < 0 && greatest + right >= 0)) {
    return {0, 0};
  }
  if (x.front() == x.back()) {
    return {0, cells};
  }
  // If x rises, the cut lies between the first point with greatest + x >= 0 and the first point with least +
  // x >= 0. If x falls, the cut lies between the first point with least + x < 0 and the first point with
  // greatest + x < 0.
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
        this->Values.push_back(surface.ValueAt(block.PositionAt({i, j, k})));
      }
    }
  }
}

}  // namespace patchio::filters
