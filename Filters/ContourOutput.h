// Gradients of cell data of several levels.
#pragma once

#include "Filters/CellLattice.h"
#include "Filters/CellSet.h"
#include "Filters/Contour.h"

#include <array>
#include <vector>

namespace patchio::filters {

/// The gradient at the centre of a cell: the least squares through the differences to one visible cell beyond
/// each face, over the true distance of the centres. It is that of central differences where the neighbours
/// are of the same level, and exact for linear functions at all borders of levels. Along an axis without a
/// neighbour it is zero. `hint`: see CellLattice::Find().
std::array<double, 3> GradientAt(const CellLattice& lattice, const CellRef& cell, int& hint);

}  // namespace patchio::filters

class vtkPolyData;

namespace patchio::filters {

/// A contour as VTK's data.
struct ContourOptions
{
  std::vector<double> Levels;
  bool Scalars = true;  ///< the array that is contoured
  bool Normals = true;  ///< against the gradient, as VTK has them
  bool Gradients = false;
  bool DoublePoints = false;
};

/// Triangles with all arrays of the cells, interpolated, as point data.
void FillPolyData(const Contour& contour, const CellLattice& lattice, const CellSet& cells,
    const ContourOptions& options, vtkPolyData* output);

}  // namespace patchio::filters
