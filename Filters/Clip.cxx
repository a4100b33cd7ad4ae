#include "Filters/Clip.h"

#include "Filters/CellTables.h"
#include "Filters/PointIds.h"

#include <vtkCellType.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace patchio::filters {
namespace {

/// Values below this fraction of the greatest value at the blocks' corners count as zero, so that rounding
/// errors do not make a plane cut cells whose faces lie on the plane.
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

Bounds BoundsOf(const Part& part)
{
  Bounds bounds = part.From->Bounds;
  for (int axis = 0; axis < 3 && part.From->Form != BlockForm::Curvilinear; ++axis) {
    const double* const first = part.From->PositionsOf(axis) + part.Begin[axis];
    bounds[2 * axis] = first[0];
    bounds[2 * axis + 1] = first[part.Points[axis] - 1];
  }
  return bounds;
}

/// Clips one part.
class PartClip
{
public:
  PartClip(const ClipRequest& request, double tiny, Part& part)
      : Request(request), Tiny(tiny), Made(part), Cases(ClipTables(part.Shape.Axes))
  {
  }

  void Run()
  {
    const Bounds bounds = BoundsOf(this->Made);
    if (this->Request.Boundary.MayMeet(bounds)) {
      this->Sample();
      this->Made.ForEachCell(true, [this](const Int3& cell) { this->Take(cell); });
    } else if (this->ValueOf(MiddleOf(bounds)) > 0) {
      this->Made.ForEachCell(true, [this](const Int3& cell) { this->Made.KeepCell(cell); });
    }
  }

private:
  /// Returns the function's value, with the sign that is positive on the kept side.
  double ValueOf(const Position& position) const
  {
    const double value = this->Request.Boundary.At(position);
    return std::abs(value) <= this->Tiny ? 0 : this->Request.Below ? -value : value;
  }

  void Sample()
  {
    const Int3& begin = this->Made.Begin;
    this->Values.reserve(this->Made.BoxPointCount);
    for (int k = 0; k < this->Made.Points[2]; ++k) {
      for (int j = 0; j < this->Made.Points[1]; ++j) {
        for (int i = 0; i < this->Made.Points[0]; ++i) {
          this->Values.push_back(
              this->ValueOf(this->Made.From->PositionAt({begin[0] + i, begin[1] + j, begin[2] + k})));
        }
      }
    }
  }

  void Take(const Int3& cell)
  {
    const int count = this->Made.Shape.Count();
    unsigned kept = 0;
    double greatest = 0;
    for (int c = 0; c < count; ++c) {
      const Int3& step = this->Made.Shape.Corners[c];
      this->Points[c] = this->Made.PointNumber({cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]});
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
      this->Made.KeepCell(cell);
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
      return;  // the surface only touches the body
    }
    if (!body.Simple.empty() && this->At[lowest] > 0) {
      const CellPolygon& simple = body.Simple;
      this->TakeCorners(simple);
      this->Made.KeepPiece(cell,
          simple.size() == 4   ? VTK_TETRA
          : simple.size() == 6 ? VTK_WEDGE
                               : VTK_HEXAHEDRON,
          this->Corners.data(), static_cast<int>(simple.size()));
      return;
    }
    const int inside = this->Made.Shape.Axes == 3 ? this->PointInside(highest) : -1;
    for (const CellPolygon& face : body.Faces) {
      this->TakeCorners(face);
      this->AddAbove(cell, inside);
    }
  }

  /// Sets Corners to the points of these corners, each run of equal points once.
  void TakeCorners(const CellPolygon& corners)
  {
    this->Corners.clear();
    for (const CellPoint& corner : corners) {
      const int point = this->PointOf(corner);
      if (this->Corners.empty() || this->Corners.back() != point) {
        this->Corners.push_back(point);
      }
    }
    while (this->Corners.size() > 1 && this->Corners.back() == this->Corners.front()) {
      this->Corners.pop_back();
    }
  }

  /// Keeps the solid between the polygon in Corners and the point `inside`: a tetrahedron, a pyramid or
  /// several tetrahedra. If `inside` is negative, keeps the polygon or line itself.
  void AddAbove(const Int3& cell, int inside)
  {
    const int count = static_cast<int>(this->Corners.size());
    if (count < (this->Made.Shape.Axes == 1 ? 2 : 3)) {
      return;
    }
    if (inside < 0) {
      this->Made.KeepPiece(cell,
          count == 2   ? VTK_LINE
          : count == 3 ? VTK_TRIANGLE
                       : VTK_QUAD,
          this->Corners.data(), count);
    } else if (count <= 4) {
      this->Corners.push_back(inside);
      this->Made.KeepPiece(cell, count == 3 ? VTK_TETRA : VTK_PYRAMID, this->Corners.data(), count + 1);
    } else {
      for (int c = 2; c < count; ++c) {
        const int corners[4] = {this->Corners[0], this->Corners[c - 1], this->Corners[c], inside};
        this->Made.KeepPiece(cell, VTK_TETRA, corners, 4);
      }
    }
  }

  /// Makes a point inside the body, on the diagonal from `corner` and before the surface.
  int PointInside(int corner)
  {
    const int opposite = 7 ^ corner;
    const double here = this->At[corner], there = this->At[opposite];
    const double t = there < 0 ? 0.5 * here / (here - there) : 0.5;
    return this->MakePoint(this->Points[corner], this->Points[opposite], t, false);
  }

  int PointOf(const CellPoint& corner)
  {
    if (corner.Axis < 0 || this->At[corner.Corner] == 0) {
      return this->Points[corner.Corner];
    }
    const int first = corner.Lower(), second = corner.Upper();
    const int axis = this->Made.Shape.AxisOf[corner.Axis];
    int& id = this->Ids[3LL * this->Points[first] + axis];
    if (id < 0) {
      const double t = this->At[first] / (this->At[first] - this->At[second]);
      id = this->MakePoint(this->Points[first], this->Points[second], t, true);
    }
    return id;
  }

  /// Makes a point between two points of the box.
  int MakePoint(int a, int b, double t, bool shared)
  {
    return this->Made.AddPoint({this->Made.PointOfBlock(a), this->Made.PointOfBlock(b), t}, shared);
  }

  const ClipRequest& Request;
  const double Tiny;
  Part& Made;
  const std::vector<std::vector<KeptBody>>& Cases;
  std::vector<double> Values;
  PointIds Ids;
  std::array<int, 8> Points{};  ///< numbers in the part of the cell's corners
  std::array<double, 8> At{};   ///< values at the cell's corners
  std::vector<int> Corners;
};

}  // namespace

std::vector<Part> Clip(const Blocks& blocks, const ClipRequest& request, const ProgressCallback& progress)
{
  const double tiny = TinyValue(blocks, request.Boundary);
  return TakeBoxes(
      blocks, [&](Part& part) { PartClip(request, tiny, part).Run(); }, progress);
}

}  // namespace patchio::filters
