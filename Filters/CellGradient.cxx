#include "Filters/CellGradient.h"

#include <Eigen/Dense>

#include <cmath>

namespace patchio::filters {
namespace {

/// The lattice cube beyond the middle of a face. Of points: that of the next point, if the block went on.
Int3 CubeBeyond(const CellLattice& lattice, int block, const Int3& cell, int axis, int side)
{
  Int3 cube;
  for (int a = 0; a < 3; ++a) {
    const std::vector<int>& places = lattice.AxisOf(block, a).Places;
    if (lattice.OfPoints()) {
      const int step = cell[a] > 0 ? places[cell[a]] - places[cell[a] - 1] : places[1] - places[0];
      cube[a] = places[cell[a]] + (a != axis ? 0 : side ? step : -step);
      continue;
    }
    cube[a] = a == axis ? (side ? places[cell[a] + 1] : places[cell[a]] - 1)
                        : (places[cell[a]] + places[cell[a] + 1]) / 2;
  }
  return cube;
}

/// Sums of squares of distances, and of slopes over them, where neighbours may lie in any direction.
struct LeastSquares
{
  Eigen::Matrix3d Squares = Eigen::Matrix3d::Zero();
  Eigen::Vector3d Slopes = Eigen::Vector3d::Zero();
  bool Oblique = false;  ///< some neighbour does not lie along an axis

  std::array<double, 3> Solve()
  {
    if (!this->Oblique) {
      std::array<double, 3> gradient;
      for (int axis = 0; axis < 3; ++axis) {
        const double squares = this->Squares(axis, axis);
        gradient[axis] = squares > 0 ? this->Slopes[axis] / squares : 0;
      }
      return gradient;
    }
    // So that there is a solution also if all neighbours lie in one plane.
    this->Squares.diagonal().array() += 1e-12;
    const Eigen::Vector3d gradient = this->Squares.ldlt().solve(this->Slopes);
    return {gradient[0], gradient[1], gradient[2]};
  }
};

}  // namespace

std::array<double, 3> GradientAt(const CellLattice& lattice, const CellRef& cell, int& hint)
{
  const CellBlock& block = lattice[cell.Block];
  const Int3 index = lattice.IndexOf(cell);
  const double value = block.Value(cell.Cell);
  LeastSquares sums;
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<double>& centers = lattice.AxisOf(cell.Block, axis).Centers;
    for (int side = 0; side < 2 && axis != lattice.FlatAxis(); ++side) {
      const int next = index[axis] + (side ? 1 : -1);
      const std::int64_t beside = cell.Cell + (side ? 1 : -1) * block.Stride(axis);
      if (next >= 0 && next < block.Cells[axis] && block.IsVisible(beside)) {
        sums.Squares(axis, axis) += 1;
        sums.Slopes[axis] += (block.Value(beside) - value) / (centers[next] - centers[index[axis]]);
        continue;
      }
      const CellRef other = lattice.Find(CubeBeyond(lattice, cell.Block, index, axis, side), hint);
      if (other) {
        const std::array<double, 3> there = lattice.Center(other), here = lattice.Center(cell);
        const Eigen::Vector3d way(there[0] - here[0], there[1] - here[1], there[2] - here[2]);
        if (!(way.squaredNorm() > 0)) {
          continue;  // the same point of a coarser block
        }
        sums.Squares += way * way.transpose() / way.squaredNorm();
        sums.Slopes += way * ((lattice[other.Block].Value(other.Cell) - value) / way.squaredNorm());
        sums.Oblique = true;
      }
    }
  }
  return sums.Solve();
}

}  // namespace patchio::filters
