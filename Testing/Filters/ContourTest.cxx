// Compares contours of several levels with analytic surfaces, and counts their edges.
#include "Filters/CellLattice.h"
#include "Filters/Contour.h"
#include "Filters/ContourOutput.h"

#include <gtest/gtest.h>
#include <vtkMarchingCubesTriangleCases.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace patchio::filters::testing {
namespace {

using Double3 = std::array<double, 3>;
using Field = std::function<double(double, double, double)>;

/// Boxes of cells of one level, in the index space of this level.
struct SampleLevel
{
  Int3 Ratio{1, 1, 1};  ///< refinement ratio to the level before
  std::vector<Box> Boxes;
};

/// Blocks of all levels, with the memory that CellBlock points to.
class SampleBlocks
{
public:
  /// Makes the blocks. The cells of level 0 have the width 1 / cells. Coarse cells that finer boxes meet are
  /// hidden.
  SampleBlocks(int cells, const std::vector<SampleLevel>& levels, const Field& field)
      : Levels(levels), Width(1.0 / cells)
  {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      for (const Box& box : levels[l].Boxes) {
        this->Add(static_cast<int>(l), box, field);
      }
    }
  }

  std::vector<CellBlock> List;
  std::deque<std::vector<double>> Numbers;
  std::deque<std::vector<unsigned char>> Flags;

private:
  double WidthOf(int level, int axis) const
  {
    double width = this->Width;
    for (int l = 0; l <= level; ++l) {
      width /= this->Levels[l].Ratio[axis];
    }
    return width;
  }

  bool IsCovered(int level, const Int3& cell) const
  {
    Box cells{cell, cell};
    for (std::size_t l = level + 1; l < this->Levels.size(); ++l) {
      cells = Refine(cells, this->Levels[l].Ratio);
      for (const Box& box : this->Levels[l].Boxes) {
        if (!Intersect(cells, box).Empty()) {
          return true;
        }
      }
    }
    return false;
  }

  void Add(int level, const Box& box, const Field& field)
  {
    CellBlock block;
    block.CellVolume = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const double width = this->WidthOf(level, axis);
      block.Cells[axis] = static_cast<int>(box.Width(axis));
      block.CellVolume *= width;
      std::vector<double>& nodes = this->Numbers.emplace_back();
      for (int i = box.Lower[axis]; i <= box.Upper[axis] + 1; ++i) {
        nodes.push_back(i * width);
      }
      block.Nodes[axis] = nodes.data();
    }
    std::vector<double>& values = this->Numbers.emplace_back();
    std::vector<unsigned char>& flags = this->Flags.emplace_back();
    const auto center = [&block](int axis, int i) {
      return 0.5 * (block.Nodes[axis][i] + block.Nodes[axis][i + 1]);
    };
    for (int k = 0; k < block.Cells[2]; ++k) {
      for (int j = 0; j < block.Cells[1]; ++j) {
        for (int i = 0; i < block.Cells[0]; ++i) {
          values.push_back(field(center(0, i), center(1, j), center(2, k)));
          const Int3 cell{box.Lower[0] + i, box.Lower[1] + j, box.Lower[2] + k};
          flags.push_back(this->IsCovered(level, cell) ? 8 : 0);
        }
      }
    }
    block.Doubles = values.data();
    block.Flags = flags.data();
    this->List.push_back(block);
  }

  std::vector<SampleLevel> Levels;
  double Width;
};

/// Cuts a box into parts of this many cells along each axis, or fewer at its end.
std::vector<Box> Cut(const Box& whole, int cells)
{
  std::vector<Box> parts;
  for (int k = whole.Lower[2]; k <= whole.Upper[2]; k += cells) {
    for (int j = whole.Lower[1]; j <= whole.Upper[1]; j += cells) {
      for (int i = whole.Lower[0]; i <= whole.Upper[0]; i += cells) {
        parts.push_back(Intersect(whole, {{i, j, k}, {i + cells - 1, j + cells - 1, k + cells - 1}}));
      }
    }
  }
  return parts;
}

/// Returns the greatest distance of a contour's points from the true surface. A function that is linear along
/// the line between two cell centres differs from the true one by an eighth of the second derivative times
/// the square of their distance. Centres of neighbours lie at most one width of the wider cell apart along
/// one axis, and half of it along each of the others.
double Tolerance(double width, double secondDerivative, double leastSlope)
{
  return 1.5 * width * width * secondDerivative / 8 / leastSlope;
}

const double Infinity = std::numeric_limits<double>::infinity();
const double NaN = std::numeric_limits<double>::quiet_NaN();

double Sphere(double x, double y, double z)
{
  return std::sqrt((x - 0.5) * (x - 0.5) + (y - 0.47) * (y - 0.47) + (z - 0.52) * (z - 0.52));
}

/// Returns a finer level in the middle of the domain, and another one in its corner.
std::vector<SampleLevel> ThreeLevels(int cells, const Int3& ratio, int part)
{
  const Box whole{{0, 0, 0}, {cells - 1, cells - 1, cells - 1}};
  const Box middle =
      Refine({{cells / 4, cells / 4, cells / 4}, {3 * cells / 4, 3 * cells / 4, 3 * cells / 4}}, ratio);
  Box corner = middle;
  for (int axis = 0; axis < 3; ++axis) {
    corner.Upper[axis] = (corner.Lower[axis] + corner.Upper[axis]) / 2;
    corner.Lower[axis] += 1;
  }
  return {
      {{1, 1, 1}, Cut(whole, part)}, {ratio, Cut(middle, part)}, {ratio, Cut(Refine(corner, ratio), part)}};
}

/// Returns levels with one layer of cells.
std::vector<SampleLevel> FlatLevels(int cells, Int3 ratio, int part)
{
  ratio[2] = 1;
  std::vector<SampleLevel> levels = ThreeLevels(cells, ratio, 1000);
  for (SampleLevel& level : levels) {
    Box box = level.Boxes[0];
    box.Lower[2] = box.Upper[2] = 0;
    level.Boxes = Cut(box, part);
  }
  return levels;
}

Double3 PositionOf(const CellLattice& lattice, const CrossingPoint& point)
{
  const Double3 a = filters::PositionOf(lattice, point.First), b = filters::PositionOf(lattice, point.Second);
  Double3 position;
  for (int axis = 0; axis < 3; ++axis) {
    position[axis] = a[axis] + point.Weight * (b[axis] - a[axis]);
  }
  return position;
}

/// Returns the positions of the corners of a triangle or, twice the second one, of a line.
std::array<Double3, 3> CornersOf(
    const CellLattice& lattice, const Contour& contour, const std::array<std::int64_t, 3>& triangle)
{
  return {PositionOf(lattice, contour.Points[triangle[0]]), PositionOf(lattice, contour.Points[triangle[1]]),
      PositionOf(lattice, contour.Points[triangle[2]])};
}

/// Returns the number of edges with an odd number of triangles, without those on the border of the visible
/// cells.
int OpenEdges(const Contour& contour)
{
  std::map<std::pair<std::int64_t, std::int64_t>, int> count;
  for (const auto& triangle : contour.Triangles) {
    for (int n = 0; n < 3; ++n) {
      ++count[std::minmax(triangle[n], triangle[(n + 1) % 3])];
    }
  }
  int open = 0;
  for (const auto& [edge, triangles] : count) {
    const auto onBorder = [&](std::int64_t point) {
      return contour.Points[point].First.IsProjected() && contour.Points[point].Second.IsProjected();
    };
    open += triangles % 2 == 1 && !(onBorder(edge.first) && onBorder(edge.second));
  }
  return open;
}

/// Returns the volume inside the contour. Triangles face lower values, as in VTK, so the volume is positive
/// if values increase outwards.
double Volume(const CellLattice& lattice, const Contour& contour)
{
  double volume = 0;
  for (const auto& triangle : contour.Triangles) {
    const auto [a, b, c] = CornersOf(lattice, contour, triangle);
    volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                  a[2] * (b[0] * c[1] - b[1] * c[0])) /
              6;
  }
  return -volume;
}

/// Returns the triangles by their rounded positions.
std::multiset<std::array<long, 9>> TrianglesOf(const CellLattice& lattice, const Contour& contour)
{
  std::multiset<std::array<long, 9>> all;
  for (const auto& triangle : contour.Triangles) {
    std::array<std::array<long, 3>, 3> corners;
    for (int n = 0; n < 3; ++n) {
      const Double3 position = PositionOf(lattice, contour.Points[triangle[n]]);
      for (int axis = 0; axis < 3; ++axis) {
        corners[n][axis] = std::lround(position[axis] * 1e10);
      }
    }
    std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
    std::array<long, 9> flat;
    for (int n = 0; n < 9; ++n) {
      flat[n] = corners[n / 3][n % 3];
    }
    all.insert(flat);
  }
  return all;
}

/// The intersection of a case's triangles with a face of the hexahedron must depend only on the signs at this
/// face.
TEST(Contour, TableIsTheSameOnBothSidesOfAFace)
{
  const int edges[12][2] = {
      {0, 1}, {1, 2}, {3, 2}, {0, 3}, {4, 5}, {5, 6}, {7, 6}, {4, 7}, {0, 4}, {1, 5}, {3, 7}, {2, 6}};
  // The segments for each combination of signs of a face, seen along an axis in the positive direction.
  using Segments = std::set<std::set<std::pair<int, int>>>;
  std::array<std::map<int, Segments>, 3> known;
  const int octants[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  for (int signs = 0; signs < 256; ++signs) {
    for (int axis = 0; axis < 3; ++axis) {
      for (int side = 0; side < 2; ++side) {
        int face = 0;
        for (int c = 0; c < 8; ++c) {
          if ((octants[c] >> axis & 1) == side && (signs >> c & 1)) {
            face |= 1 << (octants[c] & ~(1 << axis));
          }
        }
        std::map<std::set<std::pair<int, int>>, int> count;
        const auto isOnFace = [&](int e) {
          return (octants[edges[e][0]] >> axis & 1) == side && (octants[edges[e][1]] >> axis & 1) == side;
        };
        const auto name = [&](int e) {
          return std::pair<int, int>(
              std::minmax({octants[edges[e][0]] & ~(1 << axis), octants[edges[e][1]] & ~(1 << axis)}));
        };
        for (const int* e = vtkMarchingCubesTriangleCases::GetCases()[signs].edges; *e >= 0; e += 3) {
          for (int n = 0; n < 3; ++n) {
            const int a = e[n], b = e[(n + 1) % 3];
            EXPECT_NE(signs >> edges[a][0] & 1, signs >> edges[a][1] & 1);
            if (isOnFace(a) && isOnFace(b)) {
              ++count[{name(a), name(b)}];
            }
          }
        }
        Segments segments;
        for (const auto& [segment, triangles] : count) {
          if (triangles % 2) {
            segments.insert(segment);
          }
        }
        const auto [found, isNew] = known[axis].emplace(face, segments);
        EXPECT_EQ(found->second, segments) << signs << " " << axis << " " << side;
      }
    }
  }
}

class ContourOfLevels : public ::testing::TestWithParam<Int3>
{
};
INSTANTIATE_TEST_SUITE_P(
    Ratios, ContourOfLevels, ::testing::Values(Int3{2, 2, 2}, Int3{3, 3, 3}, Int3{4, 2, 3}, Int3{1, 2, 4}));

TEST_P(ContourOfLevels, DoesNotDependOnBlocks)
{
  const auto triangles = [&](int part) {
    const SampleBlocks blocks(12, ThreeLevels(12, GetParam(), part), Sphere);
    const CellLattice lattice(blocks.List);
    return TrianglesOf(lattice, MakeContour(lattice, {0.3, 0.5}));
  };
  const auto whole = triangles(1000);
  EXPECT_EQ(whole, triangles(4));
  EXPECT_EQ(whole, triangles(7));
  EXPECT_EQ(whole, triangles(1));
}

TEST_P(ContourOfLevels, AnyValuesAndHiddenCellsGiveNoOpenEdge)
{
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 8; ++repeat) {
    std::uniform_real_distribution<double> value(0, 1);
    const double hidden = repeat < 3 ? 0 : value(random);
    const SampleBlocks blocks(8, ThreeLevels(8, GetParam(), 3 + repeat % 6),
        [&](double, double, double) { return value(random) < hidden ? NaN : value(random); });
    const CellLattice lattice(blocks.List);
    EXPECT_EQ(OpenEdges(MakeContour(lattice, {0.1, 0.5, 0.8})), 0) << hidden;
  }
}

struct Truth
{
  const char* Name;
  Field Value;
  double Level;
  /// Bounds in the unit cube near the surface.
  double SecondDerivative, LeastSlope;
  double Volume;  ///< inside a closed surface; 0: not closed
};

/// Returns functions with a bound of their second derivative in any direction. For the distance from a point,
/// it is at most 1 / radius; the interpolated points are up to one coarse width away from the sphere.
std::vector<Truth> Truths()
{
  return {{"plane", [](double x, double y, double z) { return x + 0.7 * y - 0.3 * z; }, 0.61, 0, 1, 0},
      {"sphere", Sphere, 0.37, 1 / 0.25, 1, 4.0 / 3 * M_PI * std::pow(0.37, 3)},
      {"saddle",
          [](double x, double y, double z) { return (x - 0.5) * (x - 0.5) - (y - 0.5) * (y - 0.5) + z; }, 0.5,
          2, 1, 0}};
}

TEST_P(ContourOfLevels, PointsLieOnTheTruth)
{
  constexpr int cells = 16;
  for (const Truth& truth : Truths()) {
    const SampleBlocks blocks(cells, ThreeLevels(cells, GetParam(), 5), truth.Value);
    const CellLattice lattice(blocks.List);
    EXPECT_EQ(lattice.Error(), "");
    const Contour contour = MakeContour(lattice, {truth.Level});
    int inside = 0;
    for (const CrossingPoint& point : contour.Points) {
      if (point.First.IsProjected() || point.Second.IsProjected()) {
        continue;  // at the border of the domain, values are those of the cells there
      }
      ++inside;
      // The widest cell beside the point decides.
      double width = 0;
      for (const DualCorner& corner : {point.First, point.Second}) {
        const CellBlock& block = lattice[corner.Cell().Block];
        for (int axis = 0; axis < 3; ++axis) {
          width = std::max(width, block.Nodes[axis][1] - block.Nodes[axis][0]);
        }
      }
      const Double3 position = PositionOf(lattice, point);
      const double error = std::abs(truth.Value(position[0], position[1], position[2]) - truth.Level);
      ASSERT_LE(error / truth.LeastSlope, 1e-12 + Tolerance(width, truth.SecondDerivative, truth.LeastSlope))
          << truth.Name;
    }
    EXPECT_GT(inside, 100) << truth.Name;
    EXPECT_EQ(OpenEdges(contour), 0) << truth.Name;
    EXPECT_TRUE(truth.Volume == 0 || std::abs(Volume(lattice, contour) - truth.Volume) < 0.01) << truth.Name;
  }
}

TEST(Contour, VolumeConvergesWithTheSquareOfTheWidth)
{
  const double truth = 4.0 / 3 * M_PI * std::pow(0.37, 3);
  double before = 0;
  for (const int cells : {8, 16, 32}) {
    const SampleBlocks blocks(cells, ThreeLevels(cells, {2, 2, 2}, 8), Sphere);
    const CellLattice lattice(blocks.List);
    const double error = std::abs(Volume(lattice, MakeContour(lattice, {0.37})) - truth);
    if (before > 0) {
      EXPECT_LT(error, before / 3);
    }
    before = error;
  }
  // Points lie within width^2 / 8r of the sphere. The middle of a triangle with sides of sqrt(2) width is
  // twice that distance deeper.
  EXPECT_LT(before / truth, 3 * 3 / (8 * 0.37 * 0.37 * 32 * 32));
}

TEST(Contour, ReachesTheBorderOfTheDomain)
{
  const SampleBlocks blocks(8, ThreeLevels(8, {2, 2, 2}, 3), [](double x, double, double) { return x; });
  const CellLattice lattice(blocks.List);
  const Contour contour = MakeContour(lattice, {0.4});
  double area = 0;
  for (const auto& triangle : contour.Triangles) {
    const auto [a, b, c] = CornersOf(lattice, contour, triangle);
    EXPECT_NEAR(a[0], 0.4, 1e-12);
    area += ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1])) / 2;
  }
  EXPECT_NEAR(std::abs(area), 1, 1e-12);
}

TEST_P(ContourOfLevels, CircleOfFlatBlocksIsClosed)
{
  const double radius = 0.37, place = 0.3;
  std::map<int, std::multiset<std::array<long, 9>>> found;
  for (const int part : {3, 100}) {
    SampleBlocks blocks(
        16, FlatLevels(16, GetParam(), part), [](double x, double y, double) { return Sphere(x, y, 0.52); });
    for (CellBlock& block : blocks.List) {
      block.FlatAxis = 2;
      block.Nodes[2] = &place;
      block.CellVolume /= 1.0 / 16;
    }
    const CellLattice lattice(blocks.List);
    const Contour contour = MakeContour(lattice, {radius});
    EXPECT_GT(contour.Triangles.size(), 50u);
    std::map<std::int64_t, int> ends;
    double length = 0;
    for (const auto& line : contour.Triangles) {
      EXPECT_EQ(line[1], line[2]);
      const auto [a, b, same] = CornersOf(lattice, contour, line);
      EXPECT_EQ(a[2], place);
      EXPECT_NEAR(Sphere(a[0], a[1], 0.52), radius, Tolerance(1.0 / 16, 1 / radius, 1));
      length += std::hypot(a[0] - b[0], a[1] - b[1]);
      ++ends[line[0]];
      ++ends[line[1]];
    }
    EXPECT_NEAR(length, 2 * M_PI * radius, 0.01);
    EXPECT_TRUE(std::all_of(ends.begin(), ends.end(), [](const auto& end) { return end.second == 2; }));
    found[part] = TrianglesOf(lattice, contour);
  }
  EXPECT_EQ(found[3], found[100]);
}

TEST(Contour, IsGivenUpBetweenBlocks)
{
  const SampleBlocks blocks(16, ThreeLevels(16, {2, 2, 2}, 3), Sphere);
  const CellLattice lattice(blocks.List);
  int asked = 0;
  const Contour contour =
      MakeContour(lattice, {0.3, 0.35, 0.4}, [&asked](double part) { return ++asked < 2 && part == 0; });
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(contour.Triangles.empty());
  EXPECT_EQ(contour.PointsBefore.size(), 4u);
}

TEST(Contour, OddInputGivesNoCrash)
{
  const auto triangles = [](const Field& field) {
    const SampleBlocks blocks(8, ThreeLevels(8, {2, 2, 2}, 3), field);
    const CellLattice lattice(blocks.List);
    const Contour contour = MakeContour(lattice, {0.5});
    for (const CrossingPoint& point : contour.Points) {
      const Double3 position = PositionOf(lattice, point);
      EXPECT_TRUE(std::isfinite(position[0]) && std::isfinite(position[1]) && std::isfinite(position[2]));
    }
    EXPECT_EQ(OpenEdges(contour), 0);
    return contour.Triangles.size();
  };
  EXPECT_EQ(triangles([](double, double, double) { return NaN; }), 0u);
  EXPECT_EQ(triangles([](double, double, double) { return Infinity; }), 0u);
  EXPECT_EQ(triangles([](double, double, double) { return 0.5; }), 0u);
  EXPECT_GT(triangles([](double x, double, double) { return x < 0.4 ? -Infinity : Infinity; }), 0u);
  EXPECT_GT(triangles([](double x, double y, double) { return x < 0.4 ? (y < 0.6 ? 0 : NaN) : 1; }), 0u);
  const CellLattice none({});
  EXPECT_TRUE(MakeContour(none, {0.5}).Triangles.empty());
  EXPECT_TRUE(MakeContour(none, {}).Triangles.empty());
}

/// The same blocks, with values of points.
class SamplePoints
{
public:
  SamplePoints(const SampleBlocks& blocks, const Field& field) : List(blocks.List)
  {
    for (CellBlock& block : this->List) {
      std::vector<double>& values = this->Values.emplace_back();
      for (int axis = 0; axis < 3; ++axis) {
        ++block.Cells[axis];
      }
      for (int k = 0; k < block.Cells[2]; ++k) {
        for (int j = 0; j < block.Cells[1]; ++j) {
          for (int i = 0; i < block.Cells[0]; ++i) {
            values.push_back(field(block.Nodes[0][i], block.Nodes[1][j], block.Nodes[2][k]));
          }
        }
      }
      block.IsPointData = true;
      block.Doubles = values.data();
    }
  }

  std::vector<CellBlock> List;
  std::deque<std::vector<double>> Values;
};

TEST_P(ContourOfLevels, PointsOfVisibleCellsAreContoured)
{
  const Field plane = [](double x, double y, double z) { return x + 0.7 * y - 0.3 * z; };
  const SampleBlocks cells(8, ThreeLevels(8, GetParam(), 3), plane);
  const SamplePoints points(cells, plane);
  const CellLattice lattice(points.List);
  const Contour contour = MakeContour(lattice, {0.61});
  double area = 0;
  ASSERT_EQ(contour.Cells.size(), contour.Triangles.size());
  for (std::size_t t = 0; t < contour.Triangles.size(); ++t) {
    const std::array<Double3, 3> corners = CornersOf(lattice, contour, contour.Triangles[t]);
    for (const Double3& corner : corners) {
      EXPECT_NEAR(plane(corner[0], corner[1], corner[2]), 0.61, 1e-12);
    }
    area += std::abs((corners[1][0] - corners[0][0]) * (corners[2][1] - corners[0][1]) -
                     (corners[2][0] - corners[0][0]) * (corners[1][1] - corners[0][1])) /
            2;
    // The triangle must lie in its cell, which must be visible.
    const CellBlock& block = cells.List[contour.Cells[t].Block];
    const std::int64_t cell = contour.Cells[t].Cell;
    ASSERT_TRUE(block.IsVisible(cell));
    const Int3 index{
        int(cell % block.Cells[0]), int(cell / block.Cells[0] % block.Cells[1]), int(cell / block.Stride(2))};
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GE(corners[0][axis], block.Nodes[axis][index[axis]] - 1e-12);
      EXPECT_LE(corners[0][axis], block.Nodes[axis][index[axis] + 1] + 1e-12);
    }
  }
  // Seen from above, the plane z = (x + 0.7 y - 0.61) / 0.3 covers the part of the unit square where 0 <= z
  // <= 1, that is 0.61 <= x + 0.7 y <= 0.91: a parallelogram less the triangle beyond y = 1, where x < 0 ends
  // it at 0.61 / 0.7 and 1.
  const double wholeStrip = 0.3;  // for each y, x from 0.61 - 0.7 y to 0.91 - 0.7 y
  const double below = 0.7 / 2 * std::pow(1 - 0.61 / 0.7, 2);  // where x < 0
  EXPECT_NEAR(area, wholeStrip - below, 1e-9);
}

TEST_P(ContourOfLevels, GradientsOfLinearFunctionsAreExactWhereCellsAreVisible)
{
  const Field field = [](double x, double y, double z) { return 3 * x - 2 * y + 0.5 * z; };
  const SampleBlocks cells(8, ThreeLevels(8, GetParam(), 3), field);
  const SamplePoints points(cells, field);
  for (const std::vector<CellBlock>& list : {cells.List, points.List}) {
    const CellLattice lattice(list);
    int hint = 0;
    for (int b = 0; b < static_cast<int>(list.size()); ++b) {
      for (std::int64_t place = 0; place < list[b].CellCount(); ++place) {
        if (list[b].IsVisible(place)) {
          const Double3 gradient = GradientAt(lattice, {b, place}, hint);
          ASSERT_NEAR(gradient[0], 3, 1e-8);
          ASSERT_NEAR(gradient[1], -2, 1e-8);
          ASSERT_NEAR(gradient[2], 0.5, 1e-8);
        }
      }
    }
  }
}

TEST(Contour, RanksHaveTheSameLattice)
{
  // One rank has the coarse cells, another rank the fine cells, whose width is 1/2048 of the coarse one.
  const int ratio = 2048;
  const SampleBlocks blocks(4,
      {{{1, 1, 1}, {{{0, 0, 0}, {3, 3, 3}}}},
          {{ratio, ratio, ratio}, {{{ratio, ratio, ratio}, {ratio + 3, ratio + 3, ratio + 3}}}}},
      Sphere);
  std::array<LatticeNodes, 3> nodes;
  for (int axis = 0; axis < 3; ++axis) {
    nodes[axis] = CellLattice::Nodes(blocks.List, axis);
  }
  for (const CellBlock& block : blocks.List) {
    const CellLattice lattice({block}, nodes);
    EXPECT_EQ(lattice.NodeCount(0), 9);  // 5 coarse nodes, 5 fine nodes, one in common
  }
}

TEST(Contour, CellsThatDoNotFitAreNotUnderstood)
{
  // The finer level begins in the middle of a coarse cell, and its cells do not divide coarse ones.
  const SampleBlocks blocks(
      8, {{{1, 1, 1}, {{{0, 0, 0}, {7, 7, 7}}}}, {{3, 3, 3}, {{{4, 4, 4}, {9, 9, 9}}}}}, Sphere);
  EXPECT_EQ(CellLattice(blocks.List).Error(), "");
  std::vector<double> shifted(blocks.List[1].Nodes[0], blocks.List[1].Nodes[0] + blocks.List[1].Cells[0] + 1);
  for (double& node : shifted) {
    node += 0.01;
  }
  std::vector<CellBlock> list = blocks.List;
  list[1].Nodes[0] = shifted.data();
  EXPECT_NE(CellLattice(list).Error(), "");
}

}  // namespace
}  // namespace patchio::filters::testing
