#include "LinAdv/Scheme.h"

#include <algorithm>
#include <cmath>

namespace patchio::linadv {
namespace {

/// Van Leer's limited slope from the differences to both neighbours.
double LimitedSlope(double left, double right)
{
  return left * right > 0.0 ? 2.0 * left * right / (left + right) : 0.0;
}

/// The smaller difference, 0 at extrema: safe where several axes' slopes are added.
double SmallerSlope(double left, double right)
{
  if (left * right <= 0.0) {
    return 0.0;
  }
  return std::abs(left) < std::abs(right) ? left : right;
}

double SlopeAt(const std::vector<double>& u, std::size_t i)
{
  return LimitedSlope(u[i] - u[i - 1], u[i + 1] - u[i]);
}

/// What flows through the face between cells i and i + 1 in one step, in units of a cell.
double Flux(const std::vector<double>& u, std::size_t i, double courant)
{
  return courant >= 0.0 ? courant * (u[i] + 0.5 * (1.0 - courant) * SlopeAt(u, i))
                        : courant * (u[i + 1] - 0.5 * (1.0 + courant) * SlopeAt(u, i + 1));
}

/// One line of cells with GhostWidth cells on both sides, `stride` apart in memory.
void AdvanceLine(double* first, std::size_t stride, double courant, std::vector<double>& line)
{
  for (std::size_t i = 0; i < line.size(); ++i) {
    line[i] = first[i * stride];
  }
  double inflow = Flux(line, GhostWidth - 1, courant);
  for (std::size_t i = GhostWidth; i + GhostWidth < line.size(); ++i) {
    const double outflow = Flux(line, i, courant);
    first[i * stride] = line[i] + inflow - outflow;
    inflow = outflow;
  }
}

void Sweep(Array& values, Box starts, int axis, double courant)
{
  std::size_t stride = 1;
  for (int a = 0; a < axis; ++a) {
    stride *= values.Cells.Width(a);
  }
  std::vector<double> line(values.Cells.Width(axis));
  starts.Lower[axis] = starts.Upper[axis] = values.Cells.Lower[axis];
  ForCells(starts, [&](int i, int j, int k) {
    AdvanceLine(values.Values.data() + values.Offset(i, j, k), stride, courant, line);
  });
}

}  // namespace

void Advance(Array& values, const Box& interior, const Double3& courant)
{
  // Later sweeps need the ghosts of their own axis advanced by the earlier ones, so the lines of a sweep
  // start from ghosts, too, along axes that are still to come.
  Box starts = values.Cells;
  for (int axis = 0; axis < 3; ++axis) {
    if (courant[axis] != 0.0) {
      Sweep(values, starts, axis, courant[axis]);
    }
    starts.Lower[axis] = interior.Lower[axis];
    starts.Upper[axis] = interior.Upper[axis];
  }
}

void FillOutside(Array& values, const Box& domain)
{
  const Box inside = Intersect(values.Cells, domain);
  if (inside == values.Cells) {
    return;
  }
  const auto clamp = [&](int index, int axis) {
    return std::clamp(index, inside.Lower[axis], inside.Upper[axis]);
  };
  ForCells(values.Cells,
      [&](int i, int j, int k) { values.At(i, j, k) = values.At(clamp(i, 0), clamp(j, 1), clamp(k, 2)); });
}

void Interpolate(const Array& coarse, const Int3& ratio, Array& fine)
{
  const std::size_t strides[3] = {
      1, std::size_t(coarse.Cells.Width(0)), std::size_t(coarse.Cells.Width(0) * coarse.Cells.Width(1))};
  ForCells(fine.Cells, [&](int i, int j, int k) {
    const Int3 cell{i, j, k};
    Int3 under;
    for (int axis = 0; axis < 3; ++axis) {
      under[axis] = FloorDivide(cell[axis], ratio[axis]);
    }
    const double* centre = coarse.Values.data() + coarse.Offset(under[0], under[1], under[2]);
    double value = *centre;
    for (int axis = 0; axis < 3; ++axis) {
      if (ratio[axis] > 1) {
        const double* left = centre - strides[axis];
        const double* right = centre + strides[axis];
        const double place = (cell[axis] - under[axis] * ratio[axis] + 0.5) / ratio[axis] - 0.5;
        value += place * SmallerSlope(*centre - *left, *right - *centre);
      }
    }
    fine.At(i, j, k) = value;
  });
}

Array Average(const Array& fine, const Int3& ratio)
{
  Array coarse(Coarsen(fine.Cells, ratio));
  const double weight = 1.0 / (double(ratio[0]) * ratio[1] * ratio[2]);
  ForCells(coarse.Cells, [&](int i, int j, int k) {
    double sum = 0.0;
    ForCells(Refine({{i, j, k}, {i, j, k}}, ratio), [&](int a, int b, int c) { sum += fine.At(a, b, c); });
    coarse.At(i, j, k) = sum * weight;
  });
  return coarse;
}

void NodeMeans(const Array& values, const Box& cells, int dimension, std::vector<double>& nodes)
{
  // Node n lies between the cells n - 1 and n.
  Box range = cells;
  Int3 back{0, 0, 0};
  for (int axis = 0; axis < dimension; ++axis) {
    range.Upper[axis] += 1;
    back[axis] = 1;
  }
  const double weight = dimension == 3 ? 0.125 : 0.25;
  std::size_t next = 0;
  ForCells(range, [&](int i, int j, int k) {
    double sum = 0.0;
    ForCells({{i - back[0], j - back[1], k - back[2]}, {i, j, k}},
        [&](int a, int b, int c) { sum += values.At(a, b, c); });
    nodes[next++] = sum * weight;
  });
}

double Jump(const Array& values, int dimension, int i, int j, int k)
{
  const double here = values.At(i, j, k);
  double jump = 0.0;
  for (int axis = 0; axis < dimension; ++axis) {
    Int3 left{i, j, k}, right{i, j, k};
    --left[axis];
    ++right[axis];
    jump = std::max(jump, std::abs(here - values.At(left[0], left[1], left[2])));
    jump = std::max(jump, std::abs(here - values.At(right[0], right[1], right[2])));
  }
  return jump;
}

}  // namespace patchio::linadv
