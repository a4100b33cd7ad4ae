// A contour as VTK's data.
#ifndef Filters_ContourOutput_h
#define Filters_ContourOutput_h

#include "Filters/CellSet.h"
#include "Filters/Contour.h"

#include <vector>

class vtkPolyData;

namespace patchio::filters {

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

#endif
