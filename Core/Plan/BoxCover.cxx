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
struct Piece
{
  Int3 Lower{0, 0, 0}, Upper{0, 0, 0};
  int Owner = -1;  ///< -1: part of an unwanted box
};
using Pieces = std::vector<Piece>;

bool Wanted(const Piece& piece)
{
  return piece.Owner >= 0;
}

struct Cut
{
  int Axis = -1;  ///< -1: none
  int Plane = 0;
  double Merit = -1;
};

/// The change of the wanted cross-section area at a plane.
struct Section
{
  double Change = 0;
  bool Touched = false;  ///< pieces begin or end at the plane, even if the area does not change
};

class Coverer
{
public:
  Coverer(const std::vector<OwnedBox>& wanted, const std::vector<Box>& unwanted, const CoverOptions& options);

  std::vector<CoverBox> Run()
  {
    if (!this->All.empty()) {
      this->Solve(std::move(this->All), 0);
    }
    return std::move(this->Result);
  }

private:
  double Solve(Pieces pieces, int depth);
  double CostOf(const Piece& bounds, bool full) const;
  double Accept(const Pieces& pieces, const Piece& bounds, bool full);
  double AcceptEach(const Pieces& pieces);
  Piece BoundsOf(const Pieces& pieces) const;
  double VolumeOf(const Pieces& pieces) const;
  Cut FindCut(const Pieces& pieces, const Piece& bounds, bool halve);
  Cut FindCutAlong(int axis, const Pieces& pieces, const Piece& bounds, bool halve);
  void AddSections(const Pieces& pieces, const Piece& bounds);
  void FindSteps(int axis, const Pieces& pieces, const Piece& bounds);
  Pieces TakeSide(const Pieces& pieces, const Cut& cut, bool upper) const;

  double Width(const Piece& piece, int axis) const
  {
    return static_cast<double>(this->Planes[axis][piece.Upper[axis]]) - this->Planes[axis][piece.Lower[axis]];
  }
  double Cells(const Piece& piece) const
  {
    return this->Width(piece, 0) * this->Width(piece, 1) * this->Width(piece, 2);
  }
  Box BoxOf(const Piece& piece) const;
  Piece PieceOf(const Box& box, int owner) const;
  void NumberPlanes(int axis, std::vector<int> planes);
  int NumberOf(int axis, int plane) const;

  CoverOptions Options;
  std::array<std::vector<int>, 3> Planes;   ///< all lower bounds and all upper bounds + 1, ascending
  std::array<std::vector<int>, 3> Numbers;  ///< by plane, from the lowest on; empty if planes are sparse
  Pieces All;
  std::vector<std::pair<int, double>> Steps;     ///< scratch, see FindSteps()
  std::array<std::vector<Section>, 3> Sections;  ///< scratch: one per plane from the lower bound on, or empty
  std::vector<CoverBox> Result;
  // Budgets that bound time and memory for damaged or malicious files.
  std::int64_t Work;  ///< number of pieces that may still be visited
  std::int64_t Cuts;  ///< number of pieces that cuts may still add
};

Coverer::Coverer(
    const std::vector<OwnedBox>& wanted, const std::vector<Box>& unwanted, const CoverOptions& options)
    : Options(options),
      Work(500 * static_cast<std::int64_t>(wanted.size() + unwanted.size()) + 1000000),
      Cuts(8 * static_cast<std::int64_t>(wanted.size() + unwanted.size()) + 100000)
{
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<int> planes;
    planes.reserve(2 * (wanted.size() + unwanted.size()));
    const auto add = [&](const Box& box) {
      planes.push_back(box.Lower[axis]);
      planes.push_back(box.Upper[axis] + 1);
    };
    std::for_each(wanted.begin(), wanted.end(), [&](const OwnedBox& box) { add(box.Cells); });
    std::for_each(unwanted.begin(), unwanted.end(), add);
    this->NumberPlanes(axis, std::move(planes));
  }
  this->All.reserve(wanted.size() + unwanted.size());
  for (const OwnedBox& box : wanted) {
    assert(box.Owner >= 0 && !box.Cells.Empty());
    this->All.push_back(this->PieceOf(box.Cells, box.Owner));
  }
  for (const Box& box : unwanted) {
    this->All.push_back(this->PieceOf(box, -1));
  }
}

/// Sets Planes of an axis, and Numbers if that takes little memory.
void Coverer::NumberPlanes(int axis, std::vector<int> planes)
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

int Coverer::NumberOf(int axis, int plane) const
{
  const std::vector<int>& planes = this->Planes[axis];
  if (!this->Numbers[axis].empty()) {
    return this->Numbers[axis][std::int64_t(plane) - planes[0]];
  }
  return static_cast<int>(std::lower_bound(planes.begin(), planes.end(), plane) - planes.begin());
}

/// Appends the best cover of the pieces to the result. Returns its cost.
double Coverer::Solve(Pieces pieces, int depth)
{
  if (pieces.size() == 1 && Wanted(pieces[0])) {
    return this->Accept(pieces, pieces[0], true);
  }
  const double volume = this->VolumeOf(pieces);
  if (volume <= 0) {
    return 0;
  }
  if (this->Work <= 0 || this->Cuts <= 0) {
    return this->AcceptEach(pieces);
  }
  this->Work -= static_cast<std::int64_t>(pieces.size()) + 1;
  const Piece bounds = this->BoundsOf(pieces);
  const double cells = this->Cells(bounds);
  const bool full = volume >= cells;
  const bool allowed = cells <= static_cast<double>(this->Options.MostCells);
  const double whole = this->CostOf(bounds, full);
  // Two boxes cost at least 2, so a single box for at most 2 cannot be improved.
  const bool small = allowed && whole <= 2;
  const Cut cut = small ? Cut() : this->FindCut(pieces, bounds, full || depth >= 48);
  if (cut.Axis < 0) {
    return this->Accept(pieces, bounds, full);
  }
  const std::size_t before = this->Result.size();
  Pieces lower = this->TakeSide(pieces, cut, false);
  Pieces upper = this->TakeSide(pieces, cut, true);
  this->Cuts -= static_cast<std::int64_t>(lower.size() + upper.size() - pieces.size());
  const bool mayBeWhole = allowed && std::isfinite(whole);
  if (!mayBeWhole) {
    pieces = Pieces();  // frees the memory of each level of a deep recursion
  }
  double parts = this->Solve(std::move(lower), depth + 1);
  parts += this->Solve(std::move(upper), depth + 1);
  if (mayBeWhole && whole <= parts) {
    this->Result.resize(before);
    return this->Accept(pieces, bounds, full);
  }
  return parts;
}

double Coverer::CostOf(const Piece& bounds, bool full) const
{
  if (full) {
    return 1;
  }
  return this->Options.CellsWorthABox > 0
             ? 1 + this->Cells(bounds) / static_cast<double>(this->Options.CellsWorthABox)
             : std::numeric_limits<double>::infinity();
}

double Coverer::Accept(const Pieces& pieces, const Piece& bounds, bool full)
{
  CoverBox box;
  box.Cells = this->BoxOf(bounds);
  box.Full = full;
  box.Parts.reserve(std::count_if(pieces.begin(), pieces.end(), Wanted));
  for (const Piece& piece : pieces) {
    if (Wanted(piece)) {
      box.Parts.push_back({this->BoxOf(piece), piece.Owner});
    }
  }
  this->Result.push_back(std::move(box));
  return this->CostOf(bounds, full);
}

/// Covers each wanted piece by its own box. Returns the cost.
double Coverer::AcceptEach(const Pieces& pieces)
{
  double cost = 0;
  for (const Piece& piece : pieces) {
    cost += Wanted(piece) ? this->Accept({piece}, piece, true) : 0;
  }
  return cost;
}

Piece Coverer::BoundsOf(const Pieces& pieces) const
{
  Piece bounds;
  bool first = true;
  for (const Piece& piece : pieces) {
    for (int axis = 0; axis < 3 && Wanted(piece); ++axis) {
      bounds.Lower[axis] = first ? piece.Lower[axis] : std::min(bounds.Lower[axis], piece.Lower[axis]);
      bounds.Upper[axis] = first ? piece.Upper[axis] : std::max(bounds.Upper[axis], piece.Upper[axis]);
    }
    first = first && !Wanted(piece);
  }
  return bounds;
}

/// Returns the number of wanted cells.
double Coverer::VolumeOf(const Pieces& pieces) const
{
  double volume = 0;
  for (const Piece& piece : pieces) {
    volume += Wanted(piece) ? this->Cells(piece) : -this->Cells(piece);
  }
  return volume;
}

Cut Coverer::FindCut(const Pieces& pieces, const Piece& bounds, bool halve)
{
  Cut best;
  this->AddSections(pieces, bounds);
  for (int axis = 0; axis < 3; ++axis) {
    const Cut cut = this->FindCutAlong(axis, pieces, bounds, halve);
    if (cut.Merit > best.Merit) {
      best = cut;
    }
  }
  return best;
}

/// Returns the best plane across an axis. A plane at a hole beats a change of the cross-section, which beats
/// the middle.
Cut Coverer::FindCutAlong(int axis, const Pieces& pieces, const Piece& bounds, bool halve)
{
  const int first = bounds.Lower[axis];
  const int slabs = bounds.Upper[axis] - first;
  Cut best;
  if (slabs < 2) {
    return best;
  }
  this->FindSteps(axis, pieces, bounds);
  const double area = this->Width(bounds, (axis + 1) % 3) * this->Width(bounds, (axis + 2) % 3);
  const double length = this->Width(bounds, axis);
  double below = this->Steps.empty() ? 0 : this->Steps[0].second;
  for (std::size_t i = 1; i < this->Steps.size(); ++i) {
    const auto [plane, step] = this->Steps[i];
    if (plane >= bounds.Upper[axis]) {
      break;
    }
    const double above = below + step;
    const double place =
        (static_cast<double>(this->Planes[axis][plane]) - this->Planes[axis][first]) / length;
    const double central = 1 - std::abs(2 * place - 1);
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

/// Fills Sections along each axis on which there are few planes for the number of pieces.
void Coverer::AddSections(const Pieces& pieces, const Piece& bounds)
{
  std::array<bool, 3> dense;
  for (int axis = 0; axis < 3; ++axis) {
    const auto planes = static_cast<std::size_t>(bounds.Upper[axis] - bounds.Lower[axis]) + 1;
    dense[axis] = planes <= 4 * pieces.size() + 16;
    this->Sections[axis].assign(dense[axis] ? planes : 0, Section());
  }
  for (const Piece& piece : pieces) {
    const Double3 width{this->Width(piece, 0), this->Width(piece, 1), this->Width(piece, 2)};
    const double sign = Wanted(piece) ? 1 : -1;
    const Double3 area{sign * width[1] * width[2], sign * width[2] * width[0], sign * width[0] * width[1]};
    for (int axis = 0; axis < 3; ++axis) {
      if (dense[axis]) {
        Section& lower = this->Sections[axis][piece.Lower[axis] - bounds.Lower[axis]];
        lower.Change += area[axis];
        lower.Touched = true;
        Section& upper = this->Sections[axis][piece.Upper[axis] - bounds.Lower[axis]];
        upper.Change -= area[axis];
        upper.Touched = true;
      }
    }
  }
}

/// Sets Steps to the planes at which pieces begin or end, ascending, with the change of the wanted
/// cross-section area at each. The first plane is the lower bound. Call AddSections() before.
void Coverer::FindSteps(int axis, const Pieces& pieces, const Piece& bounds)
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
  for (const Piece& piece : pieces) {
    const double area = this->Width(piece, (axis + 1) % 3) * this->Width(piece, (axis + 2) % 3);
    this->Steps.emplace_back(piece.Lower[axis], Wanted(piece) ? area : -area);
    this->Steps.emplace_back(piece.Upper[axis], Wanted(piece) ? -area : area);
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

/// Returns the pieces on one side of the cut, clipped to that side.
Pieces Coverer::TakeSide(const Pieces& pieces, const Cut& cut, bool upper) const
{
  const auto there = [&](const Piece& piece) {
    return upper ? piece.Upper[cut.Axis] > cut.Plane : piece.Lower[cut.Axis] < cut.Plane;
  };
  Pieces side;
  side.reserve(std::count_if(pieces.begin(), pieces.end(), there));
  for (const Piece& piece : pieces) {
    if (there(piece)) {
      side.push_back(piece);
      int& bound = upper ? side.back().Lower[cut.Axis] : side.back().Upper[cut.Axis];
      bound = upper ? std::max(bound, cut.Plane) : std::min(bound, cut.Plane);
    }
  }
  return side;
}

Box Coverer::BoxOf(const Piece& piece) const
{
  Box box;
  for (int axis = 0; axis < 3; ++axis) {
    box.Lower[axis] = this->Planes[axis][piece.Lower[axis]];
    box.Upper[axis] = this->Planes[axis][piece.Upper[axis]] - 1;
  }
  return box;
}

Piece Coverer::PieceOf(const Box& box, int owner) const
{
  Piece piece;
  piece.Owner = owner;
  for (int axis = 0; axis < 3; ++axis) {
    piece.Lower[axis] = this->NumberOf(axis, box.Lower[axis]);
    piece.Upper[axis] = this->NumberOf(axis, box.Upper[axis] + 1);
  }
  return piece;
}

}  // namespace

std::vector<CoverBox> CoverBoxes(
    const std::vector<OwnedBox>& wanted, const std::vector<Box>& unwanted, const CoverOptions& options)
{
  return Coverer(wanted, unwanted, options).Run();
}

}  // namespace patchio
