#include "Extract/CellCut.h"

#include "Extract/CellCases.h"
#include "Extract/CellShape.h"
#include "Extract/Fields.h"
#include "Extract/PointIds.h"

#include <algorithm>
#include <cmath>

namespace patchio::extract {
namespace {

/// A crossing this near a corner, in lengths of the edge, lies on the corner: no slivers by rounding.
constexpr double NearInEdges = 1e-12;

/// A point to be made: between two points of the block, or on one.
struct Crossing
{
  Int3 A, B;
  double T;
  long long Key;
};

template <typename Field>
class LayerCutter
{
public:
  LayerCutter(const Block& block, const Field& field, int begin, int end, bool triangles, CutPart& part)
      : From(block),
        Values(field),
        Begin(begin),
        End(end),
        Triangles(triangles),
        Part(part),
        Shape(block),
        Cases(CellCases(this->Shape.Axes))
  {
  }

  void Cut()
  {
    for (int k = this->Begin; k < this->End; ++k) {
      if (!this->Values.Meets(k, k + 1)) {
        continue;
      }
      for (int j = 0; j < this->From.Cells(1); ++j) {
        const auto [first, last] = this->Values.Row(j, k);
        const long long row = this->From.Cells(0) * (j + static_cast<long long>(this->From.Cells(1)) * k);
        for (int i = first; i < last; ++i) {
          if (this->From.IsVisible(row + i)) {
            this->CutCell({i, j, k}, row + i);
          }
        }
      }
    }
    std::sort(this->Part.Before.begin(), this->Part.Before.end());
    std::sort(this->Part.After.begin(), this->Part.After.end());
  }

private:
  Int3 CornerAt(const Int3& cell, int corner) const
  {
    const Int3& step = this->Shape.Corners[corner];
    return {cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]};
  }

  void CutCell(const Int3& cell, long long number)
  {
    double values[8];
    unsigned positive = 0;
    for (int c = 0; c < 1 << this->Shape.Axes; ++c) {
      const Int3 at = this->CornerAt(cell, c);
      values[c] = this->Values.At(at[0], at[1], at[2]);
      if (!std::isfinite(values[c])) {
        return;
      }
      positive |= values[c] >= 0 ? 1u << c : 0u;
    }
    for (const std::vector<CellEdge>& polygon : this->Cases[positive]) {
      this->AddPolygon(cell, polygon, values, number);
    }
  }

  void AddPolygon(
      const Int3& cell, const std::vector<CellEdge>& polygon, const double* values, long long number)
  {
    Crossing crossings[12];
    int count = 0;
    for (const CellEdge& edge : polygon) {
      const Crossing next = this->CrossingOf(cell, edge, values);
      if (count == 0 || next.Key != crossings[count - 1].Key) {
        crossings[count++] = next;
      }
    }
    while (count > 1 && crossings[count - 1].Key == crossings[0].Key) {
      --count;
    }
    if (count < this->Shape.Axes) {
      return;  // the surface only touches the cell
    }
    int points[12];
    std::transform(
        crossings, crossings + count, points, [this](const Crossing& at) { return this->PointAt(at); });
    this->Part.AddCell(points, count, this->Triangles, number);
  }

  long long NumberOf(const Int3& at) const
  {
    return at[0] + this->From.Points[0] * (at[1] + static_cast<long long>(this->From.Points[1]) * at[2]);
  }

  /// A point of the grid on the surface is one point, whichever edge it is found on.
  Crossing CrossingOf(const Int3& cell, const CellEdge& edge, const double* values) const
  {
    const int upper = edge.Corner | 1 << edge.Axis;
    const double a = values[edge.Corner], b = values[upper];
    const bool nearA = std::abs(a) <= NearInEdges * std::abs(b);
    if (nearA || std::abs(b) <= NearInEdges * std::abs(a)) {
      const Int3 at = this->CornerAt(cell, nearA ? edge.Corner : upper);
      return {at, at, 0.0, 4 * this->NumberOf(at) + 3};
    }
    const Int3 at = this->CornerAt(cell, edge.Corner);
    return {at, this->CornerAt(cell, upper), a / (a - b), 4 * this->NumberOf(at) + edge.Axis};
  }

  int PointAt(const Crossing& at)
  {
    int& id = this->Ids[at.Key];
    if (id >= 0) {
      return id;
    }
    Position position = PositionAt(this->From, at.A[0], at.A[1], at.A[2]);
    const Position other = PositionAt(this->From, at.B[0], at.B[1], at.B[2]);
    for (int c = 0; c < 3; ++c) {
      position[c] += at.T * (other[c] - position[c]);
    }
    id = this->Part.AddPoint({this->NumberOf(at.A), this->NumberOf(at.B), at.T}, position);
    const int layer = at.A[2] == at.B[2] ? at.A[2] : -1;
    if (layer == this->Begin && layer > 0) {
      this->Part.Before.push_back({at.Key, id});
    } else if (layer == this->End && layer < this->From.Cells(2)) {
      this->Part.After.push_back({at.Key, id});
    }
    return id;
  }

  const Block& From;
  const Field& Values;
  const int Begin, End;
  const bool Triangles;
  CutPart& Part;
  const CellShape Shape;
  const std::vector<CellCase>& Cases;
  PointIds Ids;
};

}  // namespace

namespace {

/// Memory for what a flat surface has of these layers, so that arrays seldom grow.
void ReserveFlat(const Block& block, int layers, bool triangles, CutPart& part)
{
  const auto x = static_cast<std::size_t>(block.Cells(0)), y = static_cast<std::size_t>(block.Cells(1));
  const auto z = static_cast<std::size_t>(layers);
  part.Reserve(std::max({x * y, x * z, y * z}), triangles);
}

}  // namespace

void CutLayers(const Block& block, const Surface& surface, int begin, int end, bool triangles, CutPart& part)
{
  if (surface.IsPlane() && block.Form != BlockForm::Curvilinear) {
    const PlaneField field(block, surface);
    if (field.Meets(begin, end)) {
      ReserveFlat(block, end - begin, triangles, part);
      LayerCutter<PlaneField>(block, field, begin, end, triangles, part).Cut();
    }
    return;
  }
  const SampledField field(block, begin, std::min(end, block.Points[2] - 1), surface);
  LayerCutter<SampledField>(block, field, begin, end, triangles, part).Cut();
}

}  // namespace patchio::extract
