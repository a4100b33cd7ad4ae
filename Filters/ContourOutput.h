// Gradients of data of several levels, and contours as VTK's poly data.
#pragma once

#include "Filters/CellLattice.h"
#include "Filters/CellSet.h"
#include "Filters/Contour.h"

#include <array>
#include <vector>

namespace patchio::filters {

/// Returns the gradient at the centre of a cell: a least-squares fit of the differences to one visible cell
/// beyond each face, over the true distances of the centres. The fit equals central differences where the
/// neighbours are of the same level, and is exact for linear functions at all borders of levels. Along an
/// axis without a neighbour the gradient is zero. hint: see CellLattice::Find().
std::array<double, 3> GradientAt(const CellLattice& lattice, const CellRef& cell, int& hint);

}  // namespace patchio::filters

class vtkPolyData;

namespace patchio::filters {

/// The contour values, and the arrays of the output's points.
struct ContourOptions
{
  std::vector<double> Levels;
  bool Scalars = true;  ///< adds the contoured array
  bool Normals = true;  ///< adds normals, which point against the gradient as in VTK
  bool Gradients = false;
  bool DoublePoints = false;
};

/// Fills `output` with the contour's triangles or lines. Interpolates all arrays of the cells to point data.
/// For contours of values at points, the grid's cell arrays become cell data.
void FillPolyData(const Contour& contour, const CellLattice& lattice, const CellSet& cells,
    const ContourOptions& options, vtkPolyData* output);

}  // namespace patchio::filters
