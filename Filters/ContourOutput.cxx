#include "Filters/ContourOutput.h"

#include "Filters/VtkVersions.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFloatArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkTypeInt64Array.h>
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace patchio::filters {

namespace {

/// Returns the cube of the lattice beyond the middle of a face of a cell. For point data, returns the cube of
/// the next point, as if the block continued. `side`: 0 for the lower face along `axis`, 1 for the upper
/// face.
Int3 CubeBeyond(const CellLattice& lattice, int block, const Int3& cell, int axis, int side)
{
  Int3 cube;
  for (int a = 0; a < 3; ++a) {
    const std::vector<int>& nodeIndices = lattice.AxisOf(block, a).NodeIndices;
    if (lattice.IsPointData()) {
      const int step =
          cell[a] > 0 ? nodeIndices[cell[a]] - nodeIndices[cell[a] - 1] : nodeIndices[1] - nodeIndices[0];
      cube[a] = nodeIndices[cell[a]] + (a != axis ? 0 : side ? step : -step);
      continue;
    }
    cube[a] = a == axis ? (side ? nodeIndices[cell[a] + 1] : nodeIndices[cell[a]] - 1)
                        : (nodeIndices[cell[a]] + nodeIndices[cell[a] + 1]) / 2;
  }
  return cube;
}

/// The sums of a least-squares fit of a gradient to the differences to neighbours in any direction.
struct GradientFit
{
  Eigen::Matrix3d Squares = Eigen::Matrix3d::Zero();
  Eigen::Vector3d Slopes = Eigen::Vector3d::Zero();
  bool Oblique = false;  ///< true if some neighbours may not lie on the axes through the cell

  /// Returns the gradient. May change Squares.
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
    // If all neighbours lie in one plane, this addition makes the matrix regular.
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
  GradientFit sums;
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
        const Eigen::Vector3d offset(there[0] - here[0], there[1] - here[1], there[2] - here[2]);
        if (!(offset.squaredNorm() > 0)) {
          continue;  // a point of a coarser block at the same position
        }
        sums.Squares += offset * offset.transpose() / offset.squaredNorm();
        sums.Slopes += offset * ((lattice[other.Block].Value(other.Cell) - value) / offset.squaredNorm());
        sums.Oblique = true;
      }
    }
  }
  return sums.Solve();
}

namespace {

/// Calls work(index) for all points of the contour, on all threads of TBB.
template <typename Work>
void ForEachPoint(const Contour& contour, Work work)
{
  using Range = tbb::blocked_range<std::size_t>;
  tbb::parallel_for(Range(0, contour.Points.size(), 1024), [&](const Range& range) {
    for (std::size_t p = range.begin(); p < range.end(); ++p) {
      work(p);
    }
  });
}

std::array<double, 3> InterpolateVector(
    const std::array<double, 3>& first, const std::array<double, 3>& second, double weight)
{
  return {first[0] + weight * (second[0] - first[0]), first[1] + weight * (second[1] - first[1]),
      first[2] + weight * (second[2] - first[2])};
}

/// Writes the positions of all points, three numbers each, to `to`.
template <typename T>
void FillPositions(const Contour& contour, const CellLattice& lattice, T* to)
{
  ForEachPoint(contour, [&](std::size_t p) {
    const CrossingPoint& point = contour.Points[p];
    const auto position =
        InterpolateVector(PositionOf(lattice, point.First), PositionOf(lattice, point.Second), point.Weight);
    std::copy(position.begin(), position.end(), to + 3 * p);
  });
}

void AddPoints(const Contour& contour, const CellLattice& lattice, bool inDouble, vtkPolyData* output)
{
  vtkNew<vtkPoints> points;
  points->SetDataType(inDouble ? VTK_DOUBLE : VTK_FLOAT);
  SetTuples(static_cast<vtkIdType>(contour.Points.size()), points->GetData());
  void* const to = points->GetVoidPointer(0);
  inDouble ? FillPositions(contour, lattice, static_cast<double*>(to))
           : FillPositions(contour, lattice, static_cast<float*>(to));
  output->SetPoints(points);
}

void AddTriangles(const Contour& contour, int size, vtkPolyData* output)
{
  const auto count = static_cast<vtkIdType>(contour.Triangles.size());
  vtkNew<vtkTypeInt64Array> corners, offsets;
  SetTuples(size * count, corners);
  SetTuples(count + 1, offsets);
  vtkTypeInt64* to = corners->GetPointer(0);
  for (const std::array<std::int64_t, 3>& triangle : contour.Triangles) {
    to = std::copy_n(triangle.begin(), size, to);
  }
  for (vtkIdType t = 0; t <= count; ++t) {
    offsets->SetValue(t, size * t);
  }
  vtkNew<vtkCellArray> triangles;
  triangles->SetData(offsets, corners);
  size == 3 ? output->SetPolys(triangles) : output->SetLines(triangles);
}

/// Writes the interpolated values of the array with the index `array` at all points to `to`.
template <typename T>
void Interpolate(const Contour& contour, const CellSet& cells, std::size_t array, T* to)
{
  const int components = cells.Arrays[array].Components;
  ForEachPoint(contour, [&](std::size_t p) {
    const CrossingPoint& point = contour.Points[p];
    const CellRef refs[2] = {point.First.Cell(), point.Second.Cell()};
    const T* const first =
        reinterpret_cast<const T*>(cells.Values[refs[0].Block][array]) + refs[0].Cell * components;
    const T* const second =
        reinterpret_cast<const T*>(cells.Values[refs[1].Block][array]) + refs[1].Cell * components;
    for (int c = 0; c < components; ++c) {
      const double from = static_cast<double>(first[c]);
      const double value = from + point.Weight * (static_cast<double>(second[c]) - from);
      to[p * components + c] = static_cast<T>(std::is_integral_v<T> ? std::round(value) : value);
    }
  });
}

/// Returns an array with the name, the type and the components of `like`, and with undefined values.
vtkSmartPointer<vtkDataArray> MakeArray(const CellArray& like, std::size_t tuples)
{
  auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(like.Type));
  array->SetName(like.Name.c_str());
  array->SetNumberOfComponents(like.Components);
  SetTuples(static_cast<vtkIdType>(tuples), array);
  return array;
}

/// Adds the contoured array. Sets the contour values themselves, because interpolation would add rounding
/// errors.
void AddScalars(const Contour& contour, const CellSet& cells, const std::vector<double>& contourValues,
    vtkPolyData* output)
{
  const vtkSmartPointer<vtkDataArray> scalars = MakeArray(cells.Arrays[0], contour.Points.size());
  for (std::size_t v = 0; v < contourValues.size(); ++v) {
    for (std::int64_t p = contour.PointsBefore[v]; p < contour.PointsBefore[v + 1]; ++p) {
      scalars->SetComponent(p, 0, contourValues[v]);
    }
  }
  output->GetPointData()->SetScalars(scalars);
}

void AddArrays(const Contour& contour, const CellSet& cells, vtkPolyData* output)
{
  for (std::size_t a = 1; a < cells.Arrays.size(); ++a) {
    const vtkSmartPointer<vtkDataArray> array = MakeArray(cells.Arrays[a], contour.Points.size());
    switch (array->GetDataType()) {
      vtkTemplateMacro(Interpolate(contour, cells, a, static_cast<VTK_TT*>(array->GetVoidPointer(0))));
    }
    output->GetPointData()->AddArray(array);
  }
}

/// Adds the arrays of the grid's cells as cell data, with the values of the cell that contains each triangle.
void AddGridArrays(const Contour& contour, const CellSet& cells, vtkPolyData* output)
{
  for (std::size_t a = 0; a < cells.GridArrays.size(); ++a) {
    const int bytes = cells.GridArrays[a].Bytes;
    const vtkSmartPointer<vtkDataArray> array = MakeArray(cells.GridArrays[a], contour.Cells.size());
    char* to = static_cast<char*>(array->GetVoidPointer(0));
    for (const CellRef& cell : contour.Cells) {
      to = std::copy_n(cells.GridValues[cell.Block][a] + cell.Cell * bytes, bytes, to);
    }
    output->GetCellData()->AddArray(array);
  }
}

void AddGradients(
    const Contour& contour, const CellLattice& lattice, const ContourOptions& options, vtkPolyData* output)
{
  vtkNew<vtkFloatArray> normals, gradients;
  const auto prepare = [&](vtkFloatArray* array, const char* name, bool enabled) {
    array->SetName(name);
    array->SetNumberOfComponents(3);
    SetTuples(enabled ? static_cast<vtkIdType>(contour.Points.size()) : 0, array);
  };
  prepare(normals, "Normals", options.Normals);
  prepare(gradients, "Gradients", options.Gradients);
  float* const normal = normals->GetPointer(0);
  float* const slope = gradients->GetPointer(0);
  ForEachPoint(contour, [&](std::size_t p) {
    const CrossingPoint& point = contour.Points[p];
    const CellRef first = point.First.Cell(), second = point.Second.Cell();
    int hint = first.Block;
    const auto gradient =
        InterpolateVector(GradientAt(lattice, first, hint), GradientAt(lattice, second, hint), point.Weight);
    const double length = std::hypot(gradient[0], gradient[1], gradient[2]);
    for (int axis = 0; axis < 3; ++axis) {
      if (options.Normals) {
        normal[3 * p + axis] = length > 0 ? static_cast<float>(-gradient[axis] / length) : 0.0F;
      }
      if (options.Gradients) {
        slope[3 * p + axis] = static_cast<float>(gradient[axis]);
      }
    }
  });
  if (options.Normals) {
    output->GetPointData()->SetNormals(normals);
  }
  if (options.Gradients) {
    output->GetPointData()->SetVectors(gradients);
  }
}

}  // namespace

void FillPolyData(const Contour& contour, const CellLattice& lattice, const CellSet& cells,
    const ContourOptions& options, vtkPolyData* output)
{
  AddPoints(contour, lattice, options.DoublePoints, output);
  AddTriangles(contour, lattice.FlatAxis() < 0 ? 3 : 2, output);
  if (options.Scalars) {
    AddScalars(contour, cells, options.Values, output);
  }
  AddArrays(contour, cells, output);
  AddGridArrays(contour, cells, output);
  if (options.Normals || options.Gradients) {
    AddGradients(contour, lattice, options, output);
  }
}

}  // namespace patchio::filters
