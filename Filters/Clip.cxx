#include "Filters/Clip.h"

#include "Filters/Fields.h"
#include "Filters/MarchingTables.h"
#include "Filters/PointIds.h"

#include <vtkCellType.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace patchio::filters {
namespace {

/// A corner of a kept body: a kept corner of the cell, or the point on the cell's edge from this corner along
/// an axis where the surface crosses the edge.
struct KeptCorner
{
  int Corner;
  int Axis = -1;  ///< -1: the corner itself
};

using KeptPolygon = std::vector<KeptCorner>;

/// A connected part of a cell that is kept. The triangles and quadrilaterals on a face of the cell follow
/// from the kept corners of that face alone, so that both cells at the face have the same.
struct KeptBody
{
  std::vector<int> Corners;  ///< the cell's corners that it has
  /// Faces whose normals point inwards; polygons of a flat cell, the line of a cell with one axis.
  std::vector<KeptPolygon> Faces;
  /// The body's corners in VTK's order if it is a tetrahedron, wedge or hexahedron; empty for other bodies.
  KeptPolygon Simple;
};

bool Has(unsigned corners, int corner)
{
  return (corners >> corner) & 1u;
}

KeptCorner Crossing(int kept, int other)
{
  const int difference = kept ^ other;
  return {kept, difference == 1 ? 0 : difference == 2 ? 1 : 2};
}

using Ring = std::array<int, 4>;  // corners of a face, in turn

/// Returns the kept part of a face as triangles and quadrilaterals that turn as the ring does.
std::vector<KeptPolygon> SplitFace(unsigned kept, const Ring& ring)
{
  const auto at = [&ring](int place) { return ring[(place + 4) % 4]; };
  std::vector<KeptPolygon> polygons;
  for (int first = 0; first < 4; ++first) {
    if (!Has(kept, at(first)) || Has(kept, at(first - 1))) {
      continue;
    }
    int last = first;
    while (Has(kept, at(last + 1))) {
      ++last;
    }
    const KeptCorner before = Crossing(at(first), at(first - 1)), after = Crossing(at(last), at(last + 1));
    if (last == first) {
      polygons.push_back({before, {at(first)}, after});
    } else if (last == first + 1) {
      polygons.push_back({before, {at(first)}, {at(last)}, after});
    } else {
      const KeptCorner middle{at(first + 1)};
      polygons.push_back({middle, {at(last)}, after});
      polygons.push_back({middle, after, before});
      polygons.push_back({middle, before, {at(first)}});
    }
  }
  if (Has(kept, ring[0]) && Has(kept, ring[1]) && Has(kept, ring[2]) && Has(kept, ring[3])) {
    polygons.push_back({{ring[0]}, {ring[1]}, {ring[2]}, {ring[3]}});
  }
  return polygons;
}

/// Returns the rings of all faces, counter-clockwise as seen from inside.
std::vector<Ring> InnerRings()
{
  std::vector<Ring> rings;
  for (int axis = 0; axis < 3; ++axis) {
    const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, top = 1 << axis;
    rings.push_back({top, top | v, top | u | v, top | u});
    rings.push_back({0, u, u | v, v});
  }
  return rings;
}

/// Returns the polygons of the surface itself, which turn towards the kept side.
std::vector<KeptPolygon> CutPolygons(unsigned kept)
{
  std::vector<KeptPolygon> polygons;
  for (const std::vector<CellEdge>& polygon : MarchingTables(3)[kept]) {
    KeptPolygon& corners = polygons.emplace_back();
    for (const CellEdge& edge : polygon) {
      const int upper = edge.Corner | 1 << edge.Axis;
      corners.push_back({Has(kept, edge.Corner) ? edge.Corner : upper, edge.Axis});
    }
  }
  return polygons;
}

/// Returns the kept corners that are connected with `corner` along edges between kept corners.
unsigned ConnectedWith(int corner, unsigned kept, int axes)
{
  unsigned found = 1u << corner;
  for (unsigned before = 0; before != found;) {
    before = found;
    for (int c = 0; c < 1 << axes; ++c) {
      for (int axis = 0; axis < axes; ++axis) {
        found |= Has(found, c) ? kept & (1u << (c ^ 1 << axis)) : 0u;
      }
    }
  }
  return found;
}

/// Returns the tetrahedron between the only kept corner and the points on its three edges.
KeptPolygon Tetrahedron(unsigned kept, int corner)
{
  KeptPolygon corners = CutPolygons(kept)[0];
  corners.push_back({corner});
  return corners;
}

/// Returns the wedge along the edge between two kept corners.
KeptPolygon Wedge(int corner, int axis)
{
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  // The normal of the first triangle points away from the second one.
  const bool swapped = ((corner >> b & 1) != 0) == ((corner >> c & 1) != 0);
  KeptPolygon corners;
  for (const int at : {corner, corner | 1 << axis}) {
    corners.push_back({at});
    corners.push_back({at, swapped ? c : b});
    corners.push_back({at, swapped ? b : c});
  }
  return corners;
}

KeptPolygon SimpleShape(unsigned kept, const std::vector<int>& corners)
{
  const int first = corners[0];
  if (corners.size() == 1) {
    return Tetrahedron(kept, first);
  }
  if (corners.size() == 2) {
    return Wedge(first, Crossing(first, corners[1]).Axis);
  }
  for (const Ring& ring : InnerRings()) {
    if (corners.size() == 4 && std::all_of(ring.begin(), ring.end(), [=](int c) { return Has(kept, c); })) {
      KeptPolygon box;
      for (const int corner : ring) {
        box.push_back({corner});
      }
      const int across = 7 ^ ring[0] ^ ring[2];
      for (const int corner : ring) {
        box.push_back(Crossing(corner, corner ^ across));
      }
      return box;
    }
  }
  return {};
}

KeptBody BodyOf(unsigned kept, int axes)
{
  KeptBody body;
  for (int c = 0; c < 1 << axes; ++c) {
    if (Has(kept, c)) {
      body.Corners.push_back(c);
    }
  }
  if (axes == 1) {
    body.Faces.push_back({{body.Corners[0]}, {body.Corners[0], 0}});
  } else if (axes == 2) {
    body.Faces = SplitFace(kept, {0, 1, 3, 2});
  } else {
    for (const Ring& ring : InnerRings()) {
      const std::vector<KeptPolygon> polygons = SplitFace(kept, ring);
      body.Faces.insert(body.Faces.end(), polygons.begin(), polygons.end());
    }
    const std::vector<KeptPolygon> cut = CutPolygons(kept);
    body.Faces.insert(body.Faces.end(), cut.begin(), cut.end());
    body.Simple = SimpleShape(kept, body.Corners);
  }
  return body;
}

std::array<std::vector<std::vector<KeptBody>>, 4> MakeCases()
{
  std::array<std::vector<std::vector<KeptBody>>, 4> cases;
  for (int axes = 1; axes < 4; ++axes) {
    const unsigned all = (1u << (1 << axes)) - 1;
    cases[axes].resize(all + 1);
    for (unsigned kept = 1; kept < all; ++kept) {
      for (unsigned rest = kept; rest;) {
        int first = 0;
        while (!Has(rest, first)) {
          ++first;
        }
        const unsigned body = ConnectedWith(first, kept, axes);
        cases[axes][kept].push_back(BodyOf(body, axes));
        rest &= ~body;
      }
    }
  }
  return cases;
}

/// Returns the bodies of cells with `axes` axes (1 to 3), indexed by the bit set of kept corners, which are
/// numbered as in CellShape. Kept corners that only a face's diagonal connects belong to different bodies.
const std::vector<std::vector<KeptBody>>& ClipTables(int axes)
{
  static const std::array<std::vector<std::vector<KeptBody>>, 4> cases = MakeCases();
  return cases[static_cast<std::size_t>(axes)];
}

/// Values below this fraction of the greatest value at the blocks' corners count as zero, so that a plane
/// does not cut cells whose faces lie on it but for rounding.
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

/// Clips one part.
class PartClip
{
public:
  PartClip(const ClipRequest& request, double tiny, SolidPart& part)
      : Request(request), Tiny(tiny), Part(part), Cases(ClipTables(part.Shape.Axes))
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
  /// Returns the function's value, with the sign that is positive on the kept side.
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
      return;  // the surface only touches the body
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

  /// Sets Corners to the points of these corners, each run of equal points once.
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

  /// Keeps the solid between the polygon in Corners and the point `inside`: a tetrahedron, a pyramid or
  /// several tetrahedra. If `inside` is negative, keeps the polygon or line itself.
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

  /// Makes a point inside the body, on the diagonal from `corner` and before the surface.
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
  std::array<int, 8> Points{};  ///< numbers in the part of the cell's corners
  std::array<double, 8> At{};   ///< values at the cell's corners
  std::vector<int> Corners;
};

}  // namespace

std::vector<SolidPart> Clip(const Blocks& blocks, const ClipRequest& request, const GoesOn& goesOn)
{
  const double tiny = TinyValue(blocks, request.Of);
  return MakeSolidParts(
      blocks, [&](SolidPart& part) { PartClip(request, tiny, part).Run(); }, goesOn);
}

}  // namespace patchio::filters
