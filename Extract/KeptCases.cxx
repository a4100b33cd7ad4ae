#include "Extract/KeptCases.h"

#include "Extract/CellCases.h"

#include <algorithm>
#include <array>

namespace patchio::extract {
namespace {

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

/// What is kept of a face: triangles and quadrilaterals that turn as the ring does.
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

/// The rings of all faces, seen from inside.
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

/// The surface itself, whose polygons turn towards the kept side.
std::vector<KeptPolygon> CutPolygons(unsigned kept)
{
  std::vector<KeptPolygon> polygons;
  for (const std::vector<CellEdge>& polygon : CellCases(3)[kept]) {
    KeptPolygon& corners = polygons.emplace_back();
    for (const CellEdge& edge : polygon) {
      const int upper = edge.Corner | 1 << edge.Axis;
      corners.push_back({Has(kept, edge.Corner) ? edge.Corner : upper, edge.Axis});
    }
  }
  return polygons;
}

/// The kept corners that edges of the cell connect with one of them.
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

/// A tetrahedron at a kept corner, whose face opposite of it is cut.
KeptPolygon Tetrahedron(unsigned kept, int corner)
{
  KeptPolygon corners = CutPolygons(kept)[0];
  corners.push_back({corner});
  return corners;
}

/// A wedge along the edge between two kept corners.
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

}  // namespace

const std::vector<std::vector<KeptBody>>& KeptCases(int axes)
{
  static const std::array<std::vector<std::vector<KeptBody>>, 4> cases = MakeCases();
  return cases[static_cast<std::size_t>(axes)];
}

}  // namespace patchio::extract
