#include "Extract/Clip.h"

#include "Extract/Fields.h"
#include "Extract/KeptCases.h"
#include "Extract/PointIds.h"

#include <vtkCellType.h>

#include <algorithm>
#include <cmath>

namespace patchio::extract {
namespace {

/// Values this near zero, in parts of the greatest one at the ends of the domain, are zero: faces that lie on
/// a plane but for rounding are not cut.
constexpr double NearZero = 1e-13;

using Bounds = std::array<double, 6>;

double TinyValue(const Blocks& blocks, const Surface& surface)
{
  double greatest = 0;
  for (const Block& block : blocks.List) {
    for (int c = 0; c < 8; ++c) {
      const Bounds& ends = block.Bounds;
      greatest =
          std::max(greatest, std::abs(surface.At({ends[c & 1], ends[2 + (c >> 1 & 1)], ends[4 + (c >> 2)]})));
    }
  }
  return NearZero * greatest;
}

Bounds BoundsOf(const SolidPart& part)
{
  Bounds bounds = part.From->Bounds;
  for (int axis = 0; axis < 3 && part.From->Form != BlockForm::Curvilinear; ++axis) {
    const double* const first = part.From->PositionsOf(axis) + part.Begin[axis];
    bounds[2 * axis] = first[0];
    bounds[2 * axis + 1] = first[part.Points[axis] - 1];
  }
  return bounds;
}

/// Cuts one part.
class PartClip
{
public:
  PartClip(const ClipRequest& request, double tiny, SolidPart& part)
      : Request(request), Tiny(tiny), Part(part), Cases(KeptCases(part.Shape.Axes))
  {
  }

  void Run()
  {
    const Bounds ends = BoundsOf(this->Part);
    Position middle;
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double half = 0.5 * (ends[2 * axis + 1] - ends[2 * axis]);
      middle[axis] = ends[2 * axis] + half;
      square += half * half;
    }
    if (this->Request.Of.IsWithin(middle, std::sqrt(square))) {
      this->Sample();
      this->Part.ForEachVisible([this](const Int3& cell) { this->Take(cell); });
    } else if (this->ValueOf(middle) > 0) {
      this->Part.ForEachVisible([this](const Int3& cell) { this->Part.KeepCell(cell); });
    }
  }

private:
  /// Positive where cells are kept.
  double ValueOf(const Position& position) const
  {
    const double value = this->Request.Of.At(position);
    return std::abs(value) <= this->Tiny ? 0 : this->Request.Below ? -value : value;
  }

  void Sample()
  {
    const Int3& begin = this->Part.Begin;
    this->Values.reserve(this->Part.PointCount());
    for (int k = 0; k < this->Part.Points[2]; ++k) {
      for (int j = 0; j < this->Part.Points[1]; ++j) {
        for (int i = 0; i < this->Part.Points[0]; ++i) {
          this->Values.push_back(
              this->ValueOf(PositionAt(*this->Part.From, begin[0] + i, begin[1] + j, begin[2] + k)));
        }
      }
    }
  }

  void Take(const Int3& cell)
  {
    const int count = this->Part.Shape.Count();
    unsigned kept = 0;
    double greatest = 0;
    for (int c = 0; c < count; ++c) {
      const Int3& step = this->Part.Shape.Corners[c];
      this->Points[c] = this->Part.PointNumber({cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]});
      this->At[c] = this->Values[this->Points[c]];
      if (!std::isfinite(this->At[c])) {
        return;
      }
      kept |= this->At[c] >= 0 ? 1u << c : 0u;
      greatest = std::max(greatest, this->At[c]);
    }
    if (greatest == 0) {
      return;
    }
    if (this->Request.WholeCells || kept == (1u << count) - 1) {
      this->Part.KeepCell(cell);
      return;
    }
    for (const KeptBody& body : this->Cases[kept]) {
      this->TakeBody(cell, body);
    }
  }

  void TakeBody(const Int3& cell, const KeptBody& body)
  {
    const auto lower = [this](int a, int b) { return this->At[a] < this->At[b]; };
    const int highest = *std::max_element(body.Corners.begin(), body.Corners.end(), lower);
    const int lowest = *std::min_element(body.Corners.begin(), body.Corners.end(), lower);
    if (this->At[highest] == 0) {
      return;  // the surface only touches it
    }
    if (!body.Simple.empty() && this->At[lowest] > 0) {
      const std::vector<KeptCorner>& simple = body.Simple;
      this->TakeCorners(simple);
      this->Part.KeepPiece(cell,
          simple.size() == 4   ? VTK_TETRA
          : simple.size() == 6 ? VTK_WEDGE
                               : VTK_HEXAHEDRON,
          this->Corners.data(), static_cast<int>(simple.size()));
      return;
    }
    const int inside = this->Part.Shape.Axes == 3 ? this->PointInside(highest) : -1;
    for (const KeptPolygon& face : body.Faces) {
      this->TakeCorners(face);
      this->AddAbove(cell, inside);
    }
  }

  /// The points of these corners, but for those that are the same as the one before.
  void TakeCorners(const std::vector<KeptCorner>& corners)
  {
    this->Corners.clear();
    for (const KeptCorner& corner : corners) {
      const int point = this->PointOf(corner);
      if (this->Corners.empty() || this->Corners.back() != point) {
        this->Corners.push_back(point);
      }
    }
    while (this->Corners.size() > 1 && this->Corners.back() == this->Corners.front()) {
      this->Corners.pop_back();
    }
  }

  /// A tetrahedron or pyramid above a polygon, or some; of flat cells the polygon, of lines the line.
  void AddAbove(const Int3& cell, int inside)
  {
    const int count = static_cast<int>(this->Corners.size());
    if (count < (this->Part.Shape.Axes == 1 ? 2 : 3)) {
      return;
    }
    if (inside < 0) {
      this->Part.KeepPiece(cell,
          count == 2   ? VTK_LINE
          : count == 3 ? VTK_TRIANGLE
                       : VTK_QUAD,
          this->Corners.data(), count);
    } else if (count <= 4) {
      this->Corners.push_back(inside);
      this->Part.KeepPiece(cell, count == 3 ? VTK_TETRA : VTK_PYRAMID, this->Corners.data(), count + 1);
    } else {
      for (int c = 2; c < count; ++c) {
        const int corners[4] = {this->Corners[0], this->Corners[c - 1], this->Corners[c], inside};
        this->Part.KeepPiece(cell, VTK_TETRA, corners, 4);
      }
    }
  }

  /// On the way from a corner to the opposite one, before the surface.
  int PointInside(int corner)
  {
    const int opposite = 7 ^ corner;
    const double here = this->At[corner], there = this->At[opposite];
    const double t = there < 0 ? 0.5 * here / (here - there) : 0.5;
    return this->Part.MakePoint(this->Points[corner], this->Points[opposite], t, -1);
  }

  int PointOf(const KeptCorner& corner)
  {
    if (corner.Axis < 0 || this->At[corner.Corner] == 0) {
      return this->Points[corner.Corner];
    }
    const int first = corner.Corner & ~(1 << corner.Axis), second = corner.Corner | 1 << corner.Axis;
    const int axis = this->Part.Shape.AxisOf[corner.Axis];
    int& id = this->Ids[3LL * this->Points[first] + axis];
    if (id < 0) {
      const double t = this->At[first] / (this->At[first] - this->At[second]);
      id = this->Part.MakePoint(this->Points[first], this->Points[second], t, axis);
    }
    return id;
  }

  const ClipRequest& Request;
  const double Tiny;
  SolidPart& Part;
  const std::vector<std::vector<KeptBody>>& Cases;
  std::vector<double> Values;
  PointIds Ids;
  std::array<int, 8> Points{};  ///< of the cell
  std::array<double, 8> At{};   ///< values there
  std::vector<int> Corners;
};

}  // namespace

std::vector<SolidPart> Clip(const Blocks& blocks, const ClipRequest& request, const GoesOn& goesOn)
{
  const double tiny = TinyValue(blocks, request.Of);
  return MakeSolidParts(
      blocks, [&](SolidPart& part) { PartClip(request, tiny, part).Run(); }, goesOn);
}

}  // namespace patchio::extract
