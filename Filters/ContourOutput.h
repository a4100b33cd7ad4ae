// Gradients of data of several levels, and the conversion of contours to poly data.
#pragma once

#include "Filters/CellLattice.h"
#include "Filters/CellSet.h"
#include "Filters/Contour.h"

#include <array>
#include <vector>

class vtkPolyData;

namespace patchio::filters {

/// Returns the gradient at the centre of a cell: a least-squares fit to the slopes between the cell and one
/// visible cell beyond each face (differences of the values, divided by the distances of the centres). Among
/// uniform cells of one level, the fit equals central differences. At borders between levels, the fit is
/// exact for linear functions. Along an axis without a neighbour the gradient is 0. `hint`: see
/// CellLattice::Find().
std::array<double, 3> GradientAt(const CellLattice& lattice, const CellRef& cell, int& hint);

/// The contour values, and the arrays of the output.
struct ContourOptions
{
  std::vector<double> Values;  ///< the contour values
  bool Scalars = true;         ///< adds the contoured array to the points
  bool Normals = true;        ///< adds normals to the points; as in VTK, a normal points against the gradient
  bool Gradients = false;     ///< adds gradients to the points
  bool DoublePoints = false;  ///< stores positions in double precision
};

/// Fills `output` with the triangles or lines of the contour. Interpolates the arrays of `cells`, except the
/// contoured array (see ContourOptions::Scalars), to point data. For contours of point data, the cell arrays
/// of the grid become cell data.
void FillPolyData(const Contour& contour, const CellLattice& lattice, const CellSet& cells,
    const ContourOptions& options, vtkPolyData* output);

}  // namespace patchio::filters
