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

/// A box whose bounds are numbers of planes, see Coverer::Planes; the upper one is beyond its last cell.
struct Piece
{
  Int3 Lower{0, 0, 0}, Upper{0, 0, 0};
  int Owner = -1;  ///< -1: of an unwanted box
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

  CoverOptions Options;
  std::array<std::vector<int>, 3> Planes;  ///< all lower bounds and all upper bounds + 1, ascending
  Pieces All;
  std::vector<std::pair<int, double>> Steps;  ///< scratch, see FindSteps()
  std::vector<double> Section;                ///< scratch
  std::vector<CoverBox> Result;
  // What is left to spend; hostile boxes would take more than there is time and memory for.
  std::int64_t Work;  ///< visits of pieces
  std::int64_t Cuts;  ///< pieces that cutting may add
};

Coverer::Coverer(
    const std::vector<OwnedBox>& wanted, const std::vector<Box>& unwanted, const CoverOptions& options)
    : Options(options),
      Work(500 * static_cast<std::int64_t>(wanted.size() + unwanted.size()) + 1000000),
      Cuts(8 * static_cast<std::int64_t>(wanted.size() + unwanted.size()) + 100000)
{
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<int>& planes = this->Planes[axis];
    const auto add = [&](const Box& box) {
      planes.push_back(box.Lower[axis]);
      planes.push_back(box.Upper[axis] + 1);
    };
    std::for_each(wanted.begin(), wanted.end(), [&](const OwnedBox& box) { add(box.Cells); });
    std::for_each(unwanted.begin(), unwanted.end(), add);
    std::sort(planes.begin(), planes.end());
    planes.erase(std::unique(planes.begin(), planes.end()), planes.end());
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

/// Adds the best cover of the pieces to the result; returns its cost.
double Coverer::Solve(Pieces pieces, int depth)
{
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
  // Two boxes cost at least 2.
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
    pieces = Pieces();  // memory, when there are many levels of them
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
  for (const Piece& piece : pieces) {
    if (Wanted(piece)) {
      box.Parts.push_back({this->BoxOf(piece), piece.Owner});
    }
  }
  this->Result.push_back(std::move(box));
  return this->CostOf(bounds, full);
}

/// Each wanted piece by itself.
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

/// Wanted cells.
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
  for (int axis = 0; axis < 3; ++axis) {
    const Cut cut = this->FindCutAlong(axis, pieces, bounds, halve);
    if (cut.Merit > best.Merit) {
      best = cut;
    }
  }
  return best;
}

/// The best plane across an axis. A hole beats a change of the cross-section, and that beats the middle.
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

/// The planes at which pieces begin or end, ascending, the first at the lower bound, and by how much the
/// wanted area of the cross-section changes there.
void Coverer::FindSteps(int axis, const Pieces& pieces, const Piece& bounds)
{
  const int first = bounds.Lower[axis];
  const int slabs = bounds.Upper[axis] - first;
  this->Steps.clear();
  const auto forEach = [&](auto visit) {
    for (const Piece& piece : pieces) {
      const double area = this->Width(piece, (axis + 1) % 3) * this->Width(piece, (axis + 2) % 3);
      visit(piece.Lower[axis], Wanted(piece) ? area : -area);
      visit(piece.Upper[axis], Wanted(piece) ? -area : area);
    }
  };
  if (static_cast<std::size_t>(slabs) <= 4 * pieces.size()) {
    constexpr double untouched = std::numeric_limits<double>::infinity();
    this->Section.assign(slabs + 1, untouched);
    forEach([&](int plane, double change) {
      double& section = this->Section[plane - first];
      section = section == untouched ? change : section + change;
    });
    for (int i = 0; i <= slabs; ++i) {
      if (this->Section[i] != untouched) {
        this->Steps.emplace_back(first + i, this->Section[i]);
      }
    }
    return;
  }
  // Few pieces that cross many planes of others.
  forEach([&](int plane, double change) { this->Steps.emplace_back(plane, change); });
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

/// The pieces on one side of the cut, clipped to it.
Pieces Coverer::TakeSide(const Pieces& pieces, const Cut& cut, bool upper) const
{
  Pieces side;
  for (const Piece& piece : pieces) {
    const bool there = upper ? piece.Upper[cut.Axis] > cut.Plane : piece.Lower[cut.Axis] < cut.Plane;
    if (there) {
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
    const std::vector<int>& planes = this->Planes[axis];
    const auto number = [&](int plane) {
      return static_cast<int>(std::lower_bound(planes.begin(), planes.end(), plane) - planes.begin());
    };
    piece.Lower[axis] = number(box.Lower[axis]);
    piece.Upper[axis] = number(box.Upper[axis] + 1);
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
