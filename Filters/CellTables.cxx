#include "Filters/CellTables.h"

#include <algorithm>
#include <map>

namespace patchio::filters {

namespace {

bool HasCorner(unsigned corners, int corner)
{
  return (corners >> corner) & 1u;
}

/// Returns the axis of the edge between two corners.
int AxisBetween(int a, int b)
{
  const int difference = a ^ b;
  return difference == 1 ? 0 : difference == 2 ? 1 : 2;
}

/// Returns the crossing with the edge between a positive corner and another corner.
CellPoint CrossingBetween(int positive, int other)
{
  return {positive, AxisBetween(positive, other)};
}

/// Returns the rings of all faces of a cell with three axes, counter-clockwise as seen from inside.
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

/// Returns the lines in which the surface cuts a face. Each line goes from the edge after a run of positive
/// corners to the edge before the run.
std::vector<std::pair<CellPoint, CellPoint>> CutFace(unsigned positive, const Ring& ring)
{
  std::vector<std::pair<CellPoint, CellPoint>> cuts;
  for (const auto& [first, last] : PositiveRuns(positive, ring)) {
    cuts.push_back({CrossingBetween(ring[last % 4], ring[(last + 1) % 4]),
        CrossingBetween(ring[first % 4], ring[(first + 3) % 4])});
  }
  return cuts;
}

/// Returns the surface through a cell with three axes: the lines on all faces, joined to closed polygons.
CellCase CutSolid(unsigned positive)
{
  const auto numberOf = [](const CellPoint& point) { return 3 * point.Corner + point.Axis; };
  std::map<int, CellPoint> next;
  std::vector<CellPoint> starts;
  for (Ring ring : InnerRings()) {
    std::reverse(ring.begin() + 1, ring.end());  // as seen from outside
    for (const auto& [from, to] : CutFace(positive, ring)) {
      next[numberOf(from)] = to;
      starts.push_back(from);
    }
  }
  CellCase polygons;
  for (const CellPoint& start : starts) {
    CellPolygon polygon;
    CellPoint point = start;
    for (auto at = next.find(numberOf(point)); at != next.end(); at = next.find(numberOf(point))) {
      polygon.push_back(point);
      point = at->second;
      next.erase(at);
    }
    if (!polygon.empty()) {
      polygons.push_back(polygon);
    }
  }
  return polygons;
}

/// Returns the surface through a cell, see MarchingTables().
CellCase CutCell(int axes, unsigned positive)
{
  if (axes == 3) {
    return CutSolid(positive);
  }
  CellCase cells;
  if (axes == 2) {
    for (const auto& [from, to] : CutFace(positive, {0, 1, 3, 2})) {
      cells.push_back({from, to});
    }
  } else if (axes == 1 && HasCorner(positive, 0) != HasCorner(positive, 1)) {
    cells.push_back({{HasCorner(positive, 0) ? 0 : 1, 0}});
  }
  return cells;
}

/// Returns the kept part of a face as triangles and quadrilaterals with the orientation of the ring. `kept`:
/// bit set of kept corners.
std::vector<CellPolygon> SplitFace(unsigned kept, const Ring& ring)
{
  const auto at = [&ring](int index) { return ring[(index + 4) % 4]; };
  std::vector<CellPolygon> polygons;
  for (const auto& [first, last] : PositiveRuns(kept, ring)) {
    const CellPoint before = CrossingBetween(at(first), at(first - 1)),
                    after = CrossingBetween(at(last), at(last + 1));
    if (last == first) {
      polygons.push_back({before, {at(first)}, after});
    } else if (last == first + 1) {
      polygons.push_back({before, {at(first)}, {at(last)}, after});
    } else {
      const CellPoint middle{at(first + 1)};
      polygons.push_back({middle, {at(last)}, after});
      polygons.push_back({middle, after, before});
      polygons.push_back({middle, before, {at(first)}});
    }
  }
  if (HasCorner(kept, ring[0]) && HasCorner(kept, ring[1]) && HasCorner(kept, ring[2]) &&
      HasCorner(kept, ring[3])) {
    polygons.push_back({{ring[0]}, {ring[1]}, {ring[2]}, {ring[3]}});
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
        found |= HasCorner(found, c) ? kept & (1u << (c ^ 1 << axis)) : 0u;
      }
    }
  }
  return found;
}

/// Returns the body with the only corner `corner`: the tetrahedron between this corner and the crossings with
/// the three edges at the corner.
CellPolygon Tetrahedron(unsigned kept, int corner)
{
  CellPolygon corners = MarchingTables(3)[kept][0];
  corners.push_back({corner});
  return corners;
}

/// Returns the wedge of a body with two corners: `corner` and the next corner along `axis`.
CellPolygon Wedge(int corner, int axis)
{
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  // The normal of the first triangle points away from the second triangle.
  const bool swapped = ((corner >> b & 1) != 0) == ((corner >> c & 1) != 0);
  CellPolygon corners;
  for (const int at : {corner, corner | 1 << axis}) {
    corners.push_back({at});
    corners.push_back({at, swapped ? c : b});
    corners.push_back({at, swapped ? b : c});
  }
  return corners;
}

/// Returns KeptBody::Simple of a body with the corners `corners`.
CellPolygon SimpleShape(unsigned kept, const std::vector<int>& corners)
{
  const int first = corners[0];
  if (corners.size() == 1) {
    return Tetrahedron(kept, first);
  }
  if (corners.size() == 2) {
    return Wedge(first, AxisBetween(first, corners[1]));
  }
  for (const Ring& ring : InnerRings()) {
    if (corners.size() == 4 &&
        std::all_of(ring.begin(), ring.end(), [=](int c) { return HasCorner(kept, c); })) {
      CellPolygon box;
      for (const int corner : ring) {
        box.push_back({corner});
      }
      const int across = 7 ^ ring[0] ^ ring[2];
      for (const int corner : ring) {
        box.push_back(CrossingBetween(corner, corner ^ across));
      }
      return box;
    }
  }
  return {};
}

/// Returns the body with the corners in the bit set `kept`.
KeptBody MakeBody(unsigned kept, int axes)
{
  KeptBody body;
  for (int c = 0; c < 1 << axes; ++c) {
    if (HasCorner(kept, c)) {
      body.Corners.push_back(c);
    }
  }
  if (axes == 1) {
    body.Faces.push_back({{body.Corners[0]}, {body.Corners[0], 0}});
  } else if (axes == 2) {
    body.Faces = SplitFace(kept, {0, 1, 3, 2});
  } else {
    for (const Ring& ring : InnerRings()) {
      const std::vector<CellPolygon> polygons = SplitFace(kept, ring);
      body.Faces.insert(body.Faces.end(), polygons.begin(), polygons.end());
    }
    const CellCase& cut = MarchingTables(3)[kept];
    body.Faces.insert(body.Faces.end(), cut.begin(), cut.end());
    body.Simple = SimpleShape(kept, body.Corners);
  }
  return body;
}

/// Returns the bodies of a cell with the kept corners in the bit set `kept`; no body if all corners are kept.
std::vector<KeptBody> MakeBodies(int axes, unsigned kept)
{
  std::vector<KeptBody> bodies;
  const unsigned all = (1u << (1 << axes)) - 1;
  for (unsigned rest = kept == all ? 0 : kept; rest;) {
    int first = 0;
    while (!HasCorner(rest, first)) {
      ++first;
    }
    const unsigned body = ConnectedWith(first, kept, axes);
    bodies.push_back(MakeBody(body, axes));
    rest &= ~body;
  }
  return bodies;
}

/// Tables of cells by the number of axes.
template <typename Case>
using Tables = std::array<std::vector<Case>, 4>;

/// Returns make(axes, corners) for all bit sets of corners of cells with `least` to 3 axes.
template <typename Case>
Tables<Case> MakeTables(int least, Case (*make)(int, unsigned))
{
  Tables<Case> tables;
  for (int axes = least; axes < 4; ++axes) {
    for (unsigned corners = 0; corners < 1u << (1 << axes); ++corners) {
      tables[axes].push_back(make(axes, corners));
    }
  }
  return tables;
}

}  // namespace

std::vector<std::pair<int, int>> PositiveRuns(unsigned positive, const Ring& ring)
{
  std::vector<std::pair<int, int>> runs;
  for (int first = 1; first <= 4; ++first) {
    if (!HasCorner(positive, ring[first % 4]) || HasCorner(positive, ring[first - 1])) {
      continue;
    }
    int last = first;
    while (HasCorner(positive, ring[(last + 1) % 4])) {
      ++last;
    }
    runs.push_back({first, last});
  }
  return runs;
}

const std::vector<CellCase>& MarchingTables(int axes)
{
  static const Tables<CellCase> cases = MakeTables(0, CutCell);
  return cases[static_cast<std::size_t>(axes)];
}

const std::vector<std::vector<KeptBody>>& ClipTables(int axes)
{
  static const Tables<std::vector<KeptBody>> cases = MakeTables(1, MakeBodies);
  return cases[static_cast<std::size_t>(axes)];
}

}  // namespace patchio::filters
