#include "Filters/MarchingTables.h"

#include <map>
#include <utility>

namespace patchio::filters {

namespace {

bool Has(unsigned corners, int corner)
{
  return (corners >> corner) & 1u;
}

CellEdge EdgeBetween(int a, int b)
{
  const int difference = a ^ b;
  return {a & b, difference == 1 ? 0 : difference == 2 ? 1 : 2};
}

int NumberOf(const CellEdge& edge)
{
  return 3 * edge.Corner + edge.Axis;
}

using Ring = std::array<int, 4>;  // corners of a face, in turn

/// Returns the cuts of one face. Each cut goes from the edge where the ring leaves a run of positive corners
/// to the edge where the ring entered that run.
std::vector<std::pair<CellEdge, CellEdge>> CutFace(unsigned positive, const Ring& ring)
{
  std::vector<std::pair<CellEdge, CellEdge>> cuts;
  for (int c = 0; c < 4; ++c) {
    if (Has(positive, ring[c]) || !Has(positive, ring[(c + 1) % 4])) {
      continue;
    }
    int last = c + 1;
    while (Has(positive, ring[(last + 1) % 4])) {
      ++last;
    }
    cuts.push_back(
        {EdgeBetween(ring[last % 4], ring[(last + 1) % 4]), EdgeBetween(ring[c], ring[(c + 1) % 4])});
  }
  return cuts;
}

/// Joins the cuts of all faces to closed polygons.
CellCase CutSolid(unsigned positive)
{
  std::map<int, CellEdge> next;
  std::vector<CellEdge> starts;
  for (int axis = 0; axis < 3; ++axis) {
    const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, top = 1 << axis;
    // Seen from outside, both rings turn the same way.
    for (const Ring& ring : {Ring{top, top | u, top | u | v, top | v}, Ring{0, v, u | v, u}}) {
      for (const auto& [from, to] : CutFace(positive, ring)) {
        next[NumberOf(from)] = to;
        starts.push_back(from);
      }
    }
  }
  CellCase polygons;
  for (const CellEdge& start : starts) {
    std::vector<CellEdge> polygon;
    CellEdge edge = start;
    for (auto at = next.find(NumberOf(edge)); at != next.end(); at = next.find(NumberOf(edge))) {
      polygon.push_back(edge);
      edge = at->second;
      next.erase(at);
    }
    if (!polygon.empty()) {
      polygons.push_back(polygon);
    }
  }
  return polygons;
}

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
  } else if (axes == 1 && Has(positive, 0) != Has(positive, 1)) {
    cells.push_back({EdgeBetween(0, 1)});
  }
  return cells;
}

std::array<std::vector<CellCase>, 4> MakeCases()
{
  std::array<std::vector<CellCase>, 4> cases;
  for (int axes = 0; axes < 4; ++axes) {
    for (unsigned positive = 0; positive < 1u << (1 << axes); ++positive) {
      cases[axes].push_back(CutCell(axes, positive));
    }
  }
  return cases;
}

}  // namespace

const std::vector<CellCase>& MarchingTables(int axes)
{
  static const std::array<std::vector<CellCase>, 4> cases = MakeCases();
  return cases[static_cast<std::size_t>(axes)];
}

}  // namespace patchio::filters
