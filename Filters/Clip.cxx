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

/// Absolute values up to this fraction of the greatest absolute value at the corners of the blocks count as
/// 0. Otherwise, rounding errors would make a plane cut cells whose faces lie on the plane.
constexpr double RelativeTolerance = 1e-13;

using Bounds = std::array<double, 6>;

/// Returns the greatest absolute value of Surface::ValueAt() that counts as 0 in these blocks.
double ZeroTolerance(const Blocks& blocks, const Surface& surface)
{
  double greatest = 0;
  for (const Block& block : blocks.List) {
    for (int c = 0; c < 8; ++c) {
      const Bounds& ends = block.Bounds;
      greatest = std::max(
          greatest, std::abs(surface.ValueAt({ends[c & 1], ends[2 + (c >> 1 & 1)], ends[4 + (c >> 2)]})));
    }
  }
  return RelativeTolerance * greatest;
}

/// Returns the bounds of the box of a part. For curvilinear blocks, returns the bounds of the whole block.
Bounds BoundsOf(const BlockPart& part)
{
  Bounds bounds = part.SourceBlock->Bounds;
  for (int axis = 0; axis < 3 && part.SourceBlock->Form != BlockForm::Curvilinear; ++axis) {
    const double* const first = part.SourceBlock->PositionsOf(axis) + part.Begin[axis];
    bounds[2 * axis] = first[0];
    bounds[2 * axis + 1] = first[part.Points[axis] - 1];
  }
  return bounds;
}

/// Clips one part.
class PartClipper
{
public:
  PartClipper(const ClipRequest& request, double tiny, BlockPart& part)
      : Request(request), Tiny(tiny), Output(part), Cases(ClipTables(part.Shape.Axes))
  {
  }

  void Run()
  {
    const Bounds bounds = BoundsOf(this->Output);
    if (this->Request.Boundary.MayMeet(bounds)) {
      this->SampleValues();
      this->Output.ForEachCell(true, [this](const Int3& cell) { this->ClipCell(cell); });
    } else if (this->ValueOf(MiddleOf(bounds)) > 0) {
      this->Output.ForEachCell(true, [this](const Int3& cell) { this->Output.AddCell(cell); });
    }
  }

private:
  /// Returns the value of the surface at a position, with the sign that is positive on the kept side; 0 for
  /// absolute values up to Tiny.
  double ValueOf(const Position& position) const
  {
    const double value = this->Request.Boundary.ValueAt(position);
    return std::abs(value) <= this->Tiny ? 0 : this->Request.Below ? -value : value;
  }

  /// Sets Values to the values at all points of the part's box.
  void SampleValues()
  {
    const Int3& begin = this->Output.Begin;
    this->Values.reserve(this->Output.BoxPointCount);
    for (int k = 0; k < this->Output.Points[2]; ++k) {
      for (int j = 0; j < this->Output.Points[1]; ++j) {
        for (int i = 0; i < this->Output.Points[0]; ++i) {
          this->Values.push_back(this->ValueOf(
              this->Output.SourceBlock->PositionAt({begin[0] + i, begin[1] + j, begin[2] + k})));
        }
      }
    }
  }

  /// Adds the kept part of a cell. Omits cells with values that are not finite, and cells without a positive
  /// value.
  void ClipCell(const Int3& cell)
  {
    const int count = this->Output.Shape.CornerCount();
    const int first = this->Output.PointNumber(cell);
    unsigned kept = 0;
    double greatest = 0;
    for (int c = 0; c < count; ++c) {
      this->Points[c] = first + this->Output.StepTo(c);
      this->CornerValues[c] = this->Values[this->Points[c]];
      if (!std::isfinite(this->CornerValues[c])) {
        return;
      }
      kept |= this->CornerValues[c] >= 0 ? 1u << c : 0u;
      greatest = std::max(greatest, this->CornerValues[c]);
    }
    if (greatest == 0) {
      return;
    }
    if (this->Request.WholeCells || kept == (1u << count) - 1) {
      this->Output.AddCell(cell);
      return;
    }
    for (const KeptBody& body : this->Cases[kept]) {
      this->AddBody(cell, body);
    }
  }

  void AddBody(const Int3& cell, const KeptBody& body)
  {
    const auto lower = [this](int a, int b) { return this->CornerValues[a] < this->CornerValues[b]; };
    const int highest = *std::max_element(body.Corners.begin(), body.Corners.end(), lower);
    const int lowest = *std::min_element(body.Corners.begin(), body.Corners.end(), lower);
    if (this->CornerValues[highest] == 0) {
      return;  // the surface only touches the body
    }
    if (!body.Simple.empty() && this->CornerValues[lowest] > 0) {
      const CellPolygon& simple = body.Simple;
      this->SetCorners(simple);
      this->Output.AddCutCell(cell,
          simple.size() == 4   ? VTK_TETRA
          : simple.size() == 6 ? VTK_WEDGE
                               : VTK_HEXAHEDRON,
          this->Corners.data(), static_cast<int>(simple.size()));
      return;
    }
    const int inside = this->Output.Shape.Axes == 3 ? this->PointInside(highest) : -1;
    for (const CellPolygon& face : body.Faces) {
      this->SetCorners(face);
      this->AddSolid(cell, inside);
    }
  }

  /// Sets Corners to the points of the polygon `corners`. Equal points that follow each other become one
  /// point.
  void SetCorners(const CellPolygon& corners)
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

  /// Adds the solid between the polygon in Corners and the point `inside`: a tetrahedron, a pyramid or
  /// several tetrahedra. If `inside` is negative, adds the polygon or line in Corners. Does nothing if
  /// Corners has too few points.
  void AddSolid(const Int3& cell, int inside)
  {
    const int count = static_cast<int>(this->Corners.size());
    if (count < (this->Output.Shape.Axes == 1 ? 2 : 3)) {
      return;
    }
    if (inside < 0) {
      this->Output.AddCutCell(cell,
          count == 2   ? VTK_LINE
          : count == 3 ? VTK_TRIANGLE
                       : VTK_QUAD,
          this->Corners.data(), count);
    } else if (count <= 4) {
      this->Corners.push_back(inside);
      this->Output.AddCutCell(cell, count == 3 ? VTK_TETRA : VTK_PYRAMID, this->Corners.data(), count + 1);
    } else {
      for (int c = 2; c < count; ++c) {
        const int corners[4] = {this->Corners[0], this->Corners[c - 1], this->Corners[c], inside};
        this->Output.AddCutCell(cell, VTK_TETRA, corners, 4);
      }
    }
  }

  /// Adds a point inside the body, on the cell's diagonal from `corner`, and returns the number of the point
  /// in the part.
  int PointInside(int corner)
  {
    const int opposite = 7 ^ corner;
    const double here = this->CornerValues[corner], there = this->CornerValues[opposite];
    const double t = there < 0 ? 0.5 * here / (here - there) : 0.5;
    return this->AddPoint(this->Points[corner], this->Points[opposite], t, false);
  }

  /// Returns the number, in the part, of a corner or crossing. Adds a point for a new crossing.
  int PointOf(const CellPoint& corner)
  {
    if (corner.Axis < 0 || this->CornerValues[corner.Corner] == 0) {
      return this->Points[corner.Corner];
    }
    const int first = corner.Lower(), second = corner.Upper();
    const int axis = this->Output.Shape.AxisOf[corner.Axis];
    int& id = this->Ids[3LL * this->Points[first] + axis];
    if (id < 0) {
      const double t = this->CornerValues[first] / (this->CornerValues[first] - this->CornerValues[second]);
      id = this->AddPoint(this->Points[first], this->Points[second], t, true);
    }
    return id;
  }

  /// Adds a point between the points `a` and `b` of the box, at the fraction `t` of the way from `a` to `b`.
  /// Returns the number of the point in the part. `shared`: see BlockPart::AddPoint().
  int AddPoint(int a, int b, double t, bool shared)
  {
    return this->Output.AddPoint({this->Output.PointOfBlock(a), this->Output.PointOfBlock(b), t}, shared);
  }

  const ClipRequest& Request;
  const double Tiny;
  BlockPart& Output;
  const std::vector<std::vector<KeptBody>>& Cases;
  std::vector<double> Values;  ///< by point of the box
  PointIds Ids;
  std::array<int, 8> Points{};           ///< numbers, in the part, of the corners of the current cell
  std::array<double, 8> CornerValues{};  ///< values at the corners of the current cell
  std::vector<int> Corners;
};

}  // namespace

std::vector<BlockPart> Clip(
    const Blocks& blocks, const ClipRequest& request, const ProgressCallback& progress)
{
  const double tiny = ZeroTolerance(blocks, request.Boundary);
  return ExtractFromBoxes(
      blocks, [&](BlockPart& part) { PartClipper(request, tiny, part).Run(); }, progress);
}

}  // namespace patchio::filters
