#include "Extract/CellGradient.h"

#include <Eigen/Dense>

#include <cmath>

namespace patchio::extract {
namespace {

/// The lattice cube beyond the middle of a face.
Int3 CubeBeyond(const CellLattice& lattice, int block, const Int3& cell, int axis, int side)
{
  Int3 cube;
  for (int a = 0; a < 3; ++a) {
    const std::vector<int>& places = lattice.AxisOf(block, a).Places;
    cube[a] = a == axis ? (side ? places[cell[a] + 1] : places[cell[a]] - 1)
                        : (places[cell[a]] + places[cell[a] + 1]) / 2;
  }
  return cube;
}

}  // namespace

std::array<double, 3> GradientAt(const CellLattice& lattice, const CellRef& cell, int& hint)
{
  const CellBlock& block = lattice[cell.Block];
  const Int3 index = lattice.IndexOf(cell);
  const std::array<double, 3> center = lattice.Center(cell);
  const double value = block.Value(cell.Cell);
  Eigen::Matrix3d squares = Eigen::Matrix3d::Zero();
  Eigen::Vector3d slopes = Eigen::Vector3d::Zero();
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<double>& centers = lattice.AxisOf(cell.Block, axis).Centers;
    for (const int side : {0, 1}) {
      const int next = index[axis] + (side ? 1 : -1);
      const std::int64_t beside = cell.Cell + (side ? 1 : -1) * block.Stride(axis);
      if (next >= 0 && next < block.Cells[axis] && block.IsVisible(beside)) {
        squares(axis, axis) += 1;
        slopes[axis] += (block.Value(beside) - value) / (centers[next] - centers[index[axis]]);
        continue;
      }
      const CellRef other = lattice.Find(CubeBeyond(lattice, cell.Block, index, axis, side), hint);
      if (other) {
        const std::array<double, 3> there = lattice.Center(other);
        const Eigen::Vector3d way(there[0] - center[0], there[1] - center[1], there[2] - center[2]);
        squares += way * way.transpose() / way.squaredNorm();
        slopes += way * ((lattice[other.Block].Value(other.Cell) - value) / way.squaredNorm());
      }
    }
  }
  // So that there is a solution also if all neighbours lie in one plane.
  squares.diagonal().array() += 1e-12;
  const Eigen::Vector3d gradient = squares.ldlt().solve(slopes);
  return {gradient[0], gradient[1], gradient[2]};
}

}  // namespace patchio::extract
