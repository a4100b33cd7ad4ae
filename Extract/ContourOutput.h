// A contour as VTK's data.
#ifndef Extract_ContourOutput_h
#define Extract_ContourOutput_h

#include "Extract/CellSet.h"
#include "Extract/Contour.h"

#include <vector>

class vtkPolyData;

namespace patchio::extract {

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

}  // namespace patchio::extract

#endif
