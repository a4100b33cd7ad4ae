#include "Plan/BoxCover.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace patchio {
namespace {

/// A box in units of planes: its bounds are indices into Coverer::Planes. The upper bound is exclusive.
struct PlaneBox
{
  Int3 Lower{0, 0, 0}, Upper{0, 0, 0};
  int Owner = -1;  ///< -1: a skippable box
};
using PlaneBoxes = std::vector<PlaneBox>;

bool HasOwner(const PlaneBox& planeBox)
{
  return planeBox.Owner >= 0;
}

struct Cut
{
  int Axis = -1;  ///< -1: none
  int Plane = 0;
  double Merit = -1;
};

/// The change of the area of the cross-section at a plane. Skippable cells do not count.
struct Section
{
  double Change = 0;
  bool Touched = false;  ///< boxes begin or end at the plane, even if the area does not change
};

class Coverer
{
public:
  Coverer(const std::vector<OwnedBox>& boxes, const std::vector<Box>& skippable, const CoverOptions& options);

  std::vector<CoverBox> Run()
  {
    if (!this->Input.empty()) {
      this->Solve(std::move(this->Input), 0);
    }
    return std::move(this->Result);
  }

private:
  double Solve(PlaneBoxes planeBoxes, int depth);
  double CostOf(const PlaneBox& bounds, bool full) const;
  double AppendBox(const PlaneBoxes& planeBoxes, const PlaneBox& bounds, bool full);
  double AppendEach(const PlaneBoxes& planeBoxes);
  PlaneBox BoundsOf(const PlaneBoxes& planeBoxes) const;
  double VolumeOf(const PlaneBoxes& planeBoxes) const;
  Cut FindCut(const PlaneBoxes& planeBoxes, const PlaneBox& bounds, bool halve);
  Cut FindCutAlong(int axis, const PlaneBoxes& planeBoxes, const PlaneBox& bounds, bool halve);
  void ComputeSections(const PlaneBoxes& planeBoxes, const PlaneBox& bounds);
  void ComputeSteps(int axis, const PlaneBoxes& planeBoxes, const PlaneBox& bounds);
  PlaneBoxes ClipToSide(const PlaneBoxes& planeBoxes, const Cut& cut, bool upper) const;

  double Width(const PlaneBox& planeBox, int axis) const
  {
    return static_cast<double>(this->Planes[axis][planeBox.Upper[axis]]) -
           this->Planes[axis][planeBox.Lower[axis]];
  }
  double CellCount(const PlaneBox& planeBox) const
  {
    return this->Width(planeBox, 0) * this->Width(planeBox, 1) * this->Width(planeBox, 2);
  }
  Box BoxOf(const PlaneBox& planeBox) const;
  PlaneBox PlaneBoxOf(const Box& box, int owner) const;
  void IndexPlanes(int axis, std::vector<int> planes);
  int IndexOfPlane(int axis, int plane) const;

  CoverOptions Options;
  std::array<std::vector<int>, 3> Planes;  ///< all lower bounds and all upper bounds + 1, ascending
  /// Per axis: Numbers[p - Planes[0]] is the index of plane p in Planes. Empty if this takes much memory.
  std::array<std::vector<int>, 3> Numbers;
  PlaneBoxes Input;
  std::vector<std::pair<int, double>> Steps;     ///< scratch, see ComputeSteps()
  std::array<std::vector<Section>, 3> Sections;  ///< scratch: one per plane from the lower bound on, or empty
  std::vector<CoverBox> Result;
  // Budgets that bound time and memory for damaged or malicious files.
  std::int64_t RemainingVisits;  ///< number of boxes that may still be visited
  std::int64_t RemainingCuts;    ///< number of boxes that cuts may still add
};

Coverer::Coverer(
    const std::vector<OwnedBox>& boxes, const std::vector<Box>& skippable, const CoverOptions& options)
    : Options(options),
      RemainingVisits(500 * static_cast<std::int64_t>(boxes.size() + skippable.size()) + 1000000),
      RemainingCuts(8 * static_cast<std::int64_t>(boxes.size() + skippable.size()) + 100000)
{
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<int> planes;
    planes.reserve(2 * (boxes.size() + skippable.size()));
    const auto add = [&](const Box& box) {
      planes.push_back(box.Lower[axis]);
      planes.push_back(box.Upper[axis] + 1);
    };
    std::for_each(boxes.begin(), boxes.end(), [&](const OwnedBox& box) { add(box.Cells); });
    std::for_each(skippable.begin(), skippable.end(), add);
    this->IndexPlanes(axis, std::move(planes));
  }
  this->Input.reserve(boxes.size() + skippable.size());
  for (const OwnedBox& box : boxes) {
    assert(box.Owner >= 0 && !box.Cells.Empty());
    this->Input.push_back(this->PlaneBoxOf(box.Cells, box.Owner));
  }
  for (const Box& box : skippable) {
    this->Input.push_back(this->PlaneBoxOf(box, -1));
  }
}

/// Sets Planes of an axis, and Numbers if that takes little memory.
void Coverer::IndexPlanes(int axis, std::vector<int> planes)
{
  if (planes.empty()) {
    return;
  }
  const auto [lowest, highest] = std::minmax_element(planes.begin(), planes.end());
  const std::int64_t first = *lowest;
  const std::int64_t length = *highest - first + 1;
  if (length > static_cast<std::int64_t>(4 * planes.size())) {
    std::sort(planes.begin(), planes.end());
    planes.erase(std::unique(planes.begin(), planes.end()), planes.end());
    this->Planes[axis] = std::move(planes);
    return;
  }
  std::vector<int>& numbers = this->Numbers[axis];
  numbers.assign(length, -1);
  for (const int plane : planes) {
    numbers[plane - first] = 0;
  }
  for (std::int64_t i = 0; i < length; ++i) {
    if (numbers[i] == 0) {
      numbers[i] = static_cast<int>(this->Planes[axis].size());
      this->Planes[axis].push_back(static_cast<int>(first + i));
    }
  }
}

int Coverer::IndexOfPlane(int axis, int plane) const
{
  const std::vector<int>& planes = this->Planes[axis];
  if (!this->Numbers[axis].empty()) {
    return this->Numbers[axis][std::int64_t(plane) - planes[0]];
  }
  return static_cast<int>(std::lower_bound(planes.begin(), planes.end(), plane) - planes.begin());
}

/// Appends a cover of the boxes to the result: recursive cuts, or each box alone once the limits on the
/// search are reached. Returns the cost of the cover.
double Coverer::Solve(PlaneBoxes planeBoxes, int depth)
{
  if (planeBoxes.size() == 1 && HasOwner(planeBoxes[0])) {
    return this->AppendBox(planeBoxes, planeBoxes[0], true);
  }
  const double volume = this->VolumeOf(planeBoxes);
  if (volume <= 0) {
    return 0;
  }
  if (this->RemainingVisits <= 0 || this->RemainingCuts <= 0) {
    return this->AppendEach(planeBoxes);
  }
  this->RemainingVisits -= static_cast<std::int64_t>(planeBoxes.size()) + 1;
  const PlaneBox bounds = this->BoundsOf(planeBoxes);
  const double cells = this->CellCount(bounds);
  const bool full = volume >= cells;
  const bool allowed = cells <= static_cast<double>(this->Options.MostCells);
  const double whole = this->CostOf(bounds, full);
  // Two boxes cost at least 2, so a single box that costs at most 2 cannot be improved.
  const bool small = allowed && whole <= 2;
  const Cut cut = small ? Cut() : this->FindCut(planeBoxes, bounds, full || depth >= 48);
  if (cut.Axis < 0) {
    return this->AppendBox(planeBoxes, bounds, full);
  }
  const std::size_t before = this->Result.size();
  PlaneBoxes lower = this->ClipToSide(planeBoxes, cut, false);
  PlaneBoxes upper = this->ClipToSide(planeBoxes, cut, true);
  this->RemainingCuts -= static_cast<std::int64_t>(lower.size() + upper.size() - planeBoxes.size());
  const bool mayBeWhole = allowed && std::isfinite(whole);
  if (!mayBeWhole) {
    planeBoxes = PlaneBoxes();  // frees the memory of each level of a deep recursion
  }
  double parts = this->Solve(std::move(lower), depth + 1);
  parts += this->Solve(std::move(upper), depth + 1);
  if (mayBeWhole && whole <= parts) {
    this->Result.resize(before);
    return this->AppendBox(planeBoxes, bounds, full);
  }
  return parts;
}

double Coverer::CostOf(const PlaneBox& bounds, bool full) const
{
  if (full) {
    return 1;
  }
  return this->Options.BoxCostInCells > 0
             ? 1 + this->CellCount(bounds) / static_cast<double>(this->Options.BoxCostInCells)
             : std::numeric_limits<double>::infinity();
}

double Coverer::AppendBox(const PlaneBoxes& planeBoxes, const PlaneBox& bounds, bool full)
{
  CoverBox box;
  box.Cells = this->BoxOf(bounds);
  box.Full = full;
  box.Parts.reserve(std::count_if(planeBoxes.begin(), planeBoxes.end(), HasOwner));
  for (const PlaneBox& planeBox : planeBoxes) {
    if (HasOwner(planeBox)) {
      box.Parts.push_back({this->BoxOf(planeBox), planeBox.Owner});
    }
  }
  this->Result.push_back(std::move(box));
  return this->CostOf(bounds, full);
}

/// Covers each box that has an owner by one box. Returns the cost.
double Coverer::AppendEach(const PlaneBoxes& planeBoxes)
{
  double cost = 0;
  for (const PlaneBox& planeBox : planeBoxes) {
    cost += HasOwner(planeBox) ? this->AppendBox({planeBox}, planeBox, true) : 0;
  }
  return cost;
}

PlaneBox Coverer::BoundsOf(const PlaneBoxes& planeBoxes) const
{
  PlaneBox bounds;
  bool first = true;
  for (const PlaneBox& planeBox : planeBoxes) {
    for (int axis = 0; axis < 3 && HasOwner(planeBox); ++axis) {
      bounds.Lower[axis] = first ? planeBox.Lower[axis] : std::min(bounds.Lower[axis], planeBox.Lower[axis]);
      bounds.Upper[axis] = first ? planeBox.Upper[axis] : std::max(bounds.Upper[axis], planeBox.Upper[axis]);
    }
    first = first && !HasOwner(planeBox);
  }
  return bounds;
}

/// Returns the number of cells that are not skippable.
double Coverer::VolumeOf(const PlaneBoxes& planeBoxes) const
{
  double volume = 0;
  for (const PlaneBox& planeBox : planeBoxes) {
    volume += HasOwner(planeBox) ? this->CellCount(planeBox) : -this->CellCount(planeBox);
  }
  return volume;
}

Cut Coverer::FindCut(const PlaneBoxes& planeBoxes, const PlaneBox& bounds, bool halve)
{
  Cut best;
  this->ComputeSections(planeBoxes, bounds);
  for (int axis = 0; axis < 3; ++axis) {
    const Cut cut = this->FindCutAlong(axis, planeBoxes, bounds, halve);
    if (cut.Merit > best.Merit) {
      best = cut;
    }
  }
  return best;
}

/// Returns the best plane across an axis: at a hole, or else where the cross-section changes most, or else
/// near the middle. `halve`: true if only the distance from the middle counts.
Cut Coverer::FindCutAlong(int axis, const PlaneBoxes& planeBoxes, const PlaneBox& bounds, bool halve)
{
  const int first = bounds.Lower[axis];
  const int slabs = bounds.Upper[axis] - first;
  Cut best;
  if (slabs < 2) {
    return best;
  }
  this->ComputeSteps(axis, planeBoxes, bounds);
  const double area = this->Width(bounds, (axis + 1) % 3) * this->Width(bounds, (axis + 2) % 3);
  const double length = this->Width(bounds, axis);
  double below = this->Steps.empty() ? 0 : this->Steps[0].second;
  for (std::size_t i = 1; i < this->Steps.size(); ++i) {
    const auto [plane, step] = this->Steps[i];
    if (plane >= bounds.Upper[axis]) {
      break;
    }
    const double above = below + step;
    const double position =
        (static_cast<double>(this->Planes[axis][plane]) - this->Planes[axis][first]) / length;
    const double central = 1 - std::abs(2 * position - 1);
    const bool hole = below <= 0 || above <= 0;
    const double merit = halve  ? length * (1 + central)
                         : hole ? 2 + central
                                : std::abs(step) / area + 1e-3 * central;
    if (merit > best.Merit) {
      best = {axis, plane, merit};
    }
    below = above;
  }
  return best;
}

/// Fills Sections along each axis on which there are few planes for the number of boxes.
void Coverer::ComputeSections(const PlaneBoxes& planeBoxes, const PlaneBox& bounds)
{
  std::array<bool, 3> dense;
  for (int axis = 0; axis < 3; ++axis) {
    const auto planes = static_cast<std::size_t>(bounds.Upper[axis] - bounds.Lower[axis]) + 1;
    dense[axis] = planes <= 4 * planeBoxes.size() + 16;
    this->Sections[axis].assign(dense[axis] ? planes : 0, Section());
  }
  for (const PlaneBox& planeBox : planeBoxes) {
    const Double3 width{this->Width(planeBox, 0), this->Width(planeBox, 1), this->Width(planeBox, 2)};
    const double sign = HasOwner(planeBox) ? 1 : -1;
    const Double3 area{sign * width[1] * width[2], sign * width[2] * width[0], sign * width[0] * width[1]};
    for (int axis = 0; axis < 3; ++axis) {
      if (dense[axis]) {
        Section& lower = this->Sections[axis][planeBox.Lower[axis] - bounds.Lower[axis]];
        lower.Change += area[axis];
        lower.Touched = true;
        Section& upper = this->Sections[axis][planeBox.Upper[axis] - bounds.Lower[axis]];
        upper.Change -= area[axis];
        upper.Touched = true;
      }
    }
  }
}

/// Sets Steps to the planes at which boxes begin or end, ascending, with the change of the area of the
/// cross-section at each plane. The first plane is the lower bound. Call ComputeSections() before.
void Coverer::ComputeSteps(int axis, const PlaneBoxes& planeBoxes, const PlaneBox& bounds)
{
  this->Steps.clear();
  const std::vector<Section>& sections = this->Sections[axis];
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].Touched) {
      this->Steps.emplace_back(bounds.Lower[axis] + static_cast<int>(i), sections[i].Change);
    }
  }
  if (!sections.empty()) {
    return;
  }
  for (const PlaneBox& planeBox : planeBoxes) {
    const double area = this->Width(planeBox, (axis + 1) % 3) * this->Width(planeBox, (axis + 2) % 3);
    this->Steps.emplace_back(planeBox.Lower[axis], HasOwner(planeBox) ? area : -area);
    this->Steps.emplace_back(planeBox.Upper[axis], HasOwner(planeBox) ? -area : area);
  }
  std::sort(this->Steps.begin(), this->Steps.end());
  std::size_t last = 0;
  for (std::size_t i = 1; i < this->Steps.size(); ++i) {
    if (this->Steps[i].first == this->Steps[last].first) {
      this->Steps[last].second += this->Steps[i].second;
    } else {
      this->Steps[++last] = this->Steps[i];
    }
  }
  this->Steps.resize(std::min(this->Steps.size(), last + 1));
}

/// Returns the boxes on one side of the cut, clipped to that side.
PlaneBoxes Coverer::ClipToSide(const PlaneBoxes& planeBoxes, const Cut& cut, bool upper) const
{
  const auto there = [&](const PlaneBox& planeBox) {
    return upper ? planeBox.Upper[cut.Axis] > cut.Plane : planeBox.Lower[cut.Axis] < cut.Plane;
  };
  PlaneBoxes side;
  side.reserve(std::count_if(planeBoxes.begin(), planeBoxes.end(), there));
  for (const PlaneBox& planeBox : planeBoxes) {
    if (there(planeBox)) {
      side.push_back(planeBox);
      int& bound = upper ? side.back().Lower[cut.Axis] : side.back().Upper[cut.Axis];
      bound = upper ? std::max(bound, cut.Plane) : std::min(bound, cut.Plane);
    }
  }
  return side;
}

Box Coverer::BoxOf(const PlaneBox& planeBox) const
{
  Box box;
  for (int axis = 0; axis < 3; ++axis) {
    box.Lower[axis] = this->Planes[axis][planeBox.Lower[axis]];
    box.Upper[axis] = this->Planes[axis][planeBox.Upper[axis]] - 1;
  }
  return box;
}

PlaneBox Coverer::PlaneBoxOf(const Box& box, int owner) const
{
  PlaneBox planeBox;
  planeBox.Owner = owner;
  for (int axis = 0; axis < 3; ++axis) {
    planeBox.Lower[axis] = this->IndexOfPlane(axis, box.Lower[axis]);
    planeBox.Upper[axis] = this->IndexOfPlane(axis, box.Upper[axis] + 1);
  }
  return planeBox;
}

}  // namespace

std::vector<CoverBox> CoverBoxes(
    const std::vector<OwnedBox>& boxes, const std::vector<Box>& skippable, const CoverOptions& options)
{
  return Coverer(boxes, skippable, options).Run();
}

}  // namespace patchio
