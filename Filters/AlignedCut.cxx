#include "Filters/AlignedCut.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace patchio::filters {
namespace {

/// Positions this near each other, in widths of a cell, are one: those of levels differ in their last bits.
constexpr double NearInCells = 1e-10;

bool IsNear(double a, double b, double width)
{
  return std::abs(a - b) <= NearInCells * width + 4 * std::numeric_limits<double>::epsilon() *
                                                      std::max(std::abs(a), std::abs(b));
}

}  // namespace

AlignedCut::AlignedCut(const Block& block, const AlignedPlane& plane)
    : Of(&block), Plane(plane), Inner(plane.Axis == 0 ? 1 : 0), Outer(plane.Axis == 2 ? 1 : 2)
{
  const int points = block.Points[plane.Axis];
  if (points == 1) {
    return;  // a flat block has no cells that a plane along it could cut
  }
  const double* const first = block.PositionsOf(plane.Axis);
  const double* const above = std::upper_bound(first, first + points, plane.Position);
  const int next = static_cast<int>(above - first);
  const double width = first[std::clamp(next, 1, points - 1)] - first[std::clamp(next, 1, points - 1) - 1];
  if (next > 0 && IsNear(first[next - 1], plane.Position, width)) {
    this->Face = next - 1;
  } else if (next < points && IsNear(first[next], plane.Position, width)) {
    this->Face = next;
  }
  if (this->Face >= 0) {
    this->Layer = this->Face < points - 1 ? this->Face : -1;
    this->LayerBelow = this->Face - 1;
  } else if (next > 0 && next < points) {
    this->Layer = next - 1;
  }
}

long long AlignedCut::CellAt(int layer, int inner, int outer) const
{
  Int3 at;
  at[this->Plane.Axis] = layer;
  at[this->Inner] = inner;
  at[this->Outer] = outer;
  return at[0] + this->Of->Cells(0) * (at[1] + static_cast<long long>(this->Of->Cells(1)) * at[2]);
}

long long AlignedCut::PointAt(int layer, int inner, int outer) const
{
  Int3 at;
  at[this->Plane.Axis] = layer;
  at[this->Inner] = inner;
  at[this->Outer] = outer;
  return at[0] + this->Of->Points[0] * (at[1] + static_cast<long long>(this->Of->Points[1]) * at[2]);
}

bool AlignedCut::FindBelow()
{
  if (this->LayerBelow < 0) {
    return false;
  }
  const int inner = this->Of->Cells(this->Inner);
  this->Below.assign(static_cast<std::size_t>(inner) * this->Rows(), 0);
  bool any = false;
  auto below = this->Below.begin();
  for (int o = 0; o < this->Rows(); ++o) {
    for (int i = 0; i < inner; ++i, ++below) {
      *below = this->Of->IsVisible(this->CellAt(this->LayerBelow, i, o)) &&
               (this->Layer < 0 || !this->Of->IsVisible(this->CellAt(this->Layer, i, o)));
      any = any || *below;
    }
  }
  if (!any) {
    this->Below.clear();
  }
  return any;
}

long long AlignedCut::ShownCell(int inner, const Row& row) const
{
  const long long above = row.Above + inner * row.Step;
  if (this->Layer >= 0 && this->Of->IsVisible(above)) {
    return above;
  }
  return row.IsBelowShown && row.IsBelowShown[inner] ? row.Below + inner * row.Step : -1;
}

namespace {

/// Makes the points of a plane, row by row.
class PlanePoints
{
public:
  PlanePoints(const AlignedCut& cut, int begin, int end, CutPart& part)
      : Cut(cut), Begin(begin), End(end), Part(part), Block(*cut.Of), Count(Block.Points[cut.Inner])
  {
    const double* const along = this->Block.PositionsOf(cut.Plane.Axis);
    this->From = cut.Face >= 0 ? cut.Face : cut.Layer;
    this->To = cut.Face >= 0 ? cut.Face : cut.Layer + 1;
    this->T = cut.Face >= 0
                  ? 0.0
                  : (cut.Plane.Position - along[this->From]) / (along[this->To] - along[this->From]);
    this->Near.assign(this->Count, -1);
    this->Far.assign(this->Count, -1);
  }

  void NextRow()
  {
    this->Near.swap(this->Far);
    std::fill(this->Far.begin(), this->Far.end(), -1);
  }

  int Get(int inner, int outer, bool far)
  {
    int& id = (far ? this->Far : this->Near)[inner];
    return id >= 0 ? id : id = this->Make(inner, outer + far);
  }

private:
  int Make(int inner, int outer)
  {
    std::array<double, 3> position;
    position[this->Cut.Plane.Axis] = this->Cut.Plane.Position;
    position[this->Cut.Inner] = this->Block.PositionsOf(this->Cut.Inner)[inner];
    position[this->Cut.Outer] = this->Block.PositionsOf(this->Cut.Outer)[outer];
    const int id = this->Part.AddPoint(
        {this->Cut.PointAt(this->From, inner, outer), this->Cut.PointAt(this->To, inner, outer), this->T},
        position);
    const long long key = inner + static_cast<long long>(this->Count) * outer;
    if (outer == this->Begin && outer > 0) {
      this->Part.Before.push_back({key, id});
    } else if (outer == this->End && outer < this->Cut.Rows()) {
      this->Part.After.push_back({key, id});
    }
    return id;
  }

  const AlignedCut& Cut;
  const int Begin, End;
  CutPart& Part;
  const patchio::filters::Block& Block;
  const int Count;
  int From, To;
  double T;
  std::vector<int> Near, Far;  ///< points of the row's two sides; -1: not made yet
};

}  // namespace

void AlignedCut::CutRows(int begin, int end, bool triangles, CutPart& part) const
{
  part.Reserve(static_cast<std::size_t>(end - begin) * this->Of->Cells(this->Inner), triangles);
  PlanePoints points(*this, begin, end, part);
  const bool wide = this->Of->Points[this->Inner] > 1;
  const bool high = this->Of->Points[this->Outer] > 1;
  // From inner to outer axis turns around x and z, but against y.
  const bool turns = (this->Plane.Axis == 1) == this->Plane.Reversed;
  const int width = this->Of->Cells(this->Inner);
  for (int outer = begin; outer < end; ++outer, points.NextRow()) {
    const Row row{this->CellAt(this->Layer, 0, outer), this->CellAt(this->LayerBelow, 0, outer),
        this->CellAt(0, 1, 0),
        this->Below.empty() ? nullptr : this->Below.data() + static_cast<std::size_t>(outer) * width};
    for (int inner = 0; inner < width; ++inner) {
      const long long cell = this->ShownCell(inner, row);
      if (cell < 0) {
        continue;
      }
      int corners[4];
      int count = 0;
      corners[count++] = points.Get(inner, outer, false);
      if (wide) {
        corners[count++] = points.Get(inner + 1, outer, false);
      }
      if (wide && high) {
        corners[count++] = points.Get(inner + 1, outer, true);
      }
      if (high) {
        corners[count++] = points.Get(inner, outer, true);
      }
      if (!turns) {
        std::reverse(corners, corners + count);
      }
      part.AddCell(corners, count, triangles, cell);
    }
  }
  std::sort(part.Before.begin(), part.Before.end());
  std::sort(part.After.begin(), part.After.end());
}

}  // namespace patchio::filters
