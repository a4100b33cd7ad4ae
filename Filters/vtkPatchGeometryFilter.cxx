#include "vtkPatchGeometryFilter.h"

#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkSmartPointer.h>
#include <vtkStructuredGrid.h>
#include <vtkVersionMacros.h>

namespace {

constexpr int UpperEnds[3] = {1, 3, 5};

/// Returns a shallow copy of `input` whose extent ends at 0 along each axis; null if `input` is not a `Grid`.
template <typename Grid>
vtkSmartPointer<Grid> CopyEndingAtZero(vtkDataSet* input)
{
  Grid* const grid = Grid::SafeDownCast(input);
  if (!grid) {
    return nullptr;
  }
  auto copy = vtkSmartPointer<Grid>::Take(grid->NewInstance());
  copy->ShallowCopy(grid);
  int extent[6];
  grid->GetExtent(extent);
  for (const int end : UpperEnds) {
    extent[end - 1] -= extent[end];
    extent[end] = 0;
  }
  copy->SetExtent(extent);
  return copy;
}

/// Returns a shallow copy of a structured grid at the same position, whose extent ends at 0 along each axis;
/// null for other grids.
vtkSmartPointer<vtkDataSet> CopyStructuredEndingAtZero(vtkDataSet* input)
{
  if (const vtkSmartPointer<vtkImageData> image = CopyEndingAtZero<vtkImageData>(input)) {
    const int* const extent = vtkImageData::SafeDownCast(input)->GetExtent();
    double origin[3];
    image->TransformIndexToPhysicalPoint(extent[1], extent[3], extent[5], origin);
    image->SetOrigin(origin);
    return image;
  }
  if (const vtkSmartPointer<vtkRectilinearGrid> grid = CopyEndingAtZero<vtkRectilinearGrid>(input)) {
    return grid;
  }
  return CopyEndingAtZero<vtkStructuredGrid>(input);
}

}  // namespace

vtkStandardNewMacro(vtkPatchGeometryFilter);

int vtkPatchGeometryFilter::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataSet* const input = vtkDataSet::GetData(inputs[0]);
  const bool hides = input && (input->HasAnyBlankCells() || input->HasAnyGhostCells());
  const vtkSmartPointer<vtkDataSet> grid = hides ? CopyStructuredEndingAtZero(input) : nullptr;
  if (!grid || grid->GetNumberOfCells() == 0) {
    return this->Superclass::RequestData(request, inputs, outputs);
  }
  vtkPolyData* const output = vtkPolyData::GetData(outputs);
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 2, 0)  // VTK 9.1 has no RemoveGhostInterfaces
  return this->StructuredExecute(grid, output, inputs[0]->GetInformationObject(0), nullptr);
#else
  const bool withoutGhosts = this->RemoveGhostInterfaces;
  this->RemoveGhostInterfaces = false;
  // VTK uses the whole extent only if all cells are visible.
  int whole[6] = {0, -1, 0, -1, 0, -1};
  const int done = this->StructuredExecute(grid, output, whole, vtkPolyData::GetData(inputs[1]));
  this->RemoveGhostInterfaces = withoutGhosts;
  if (withoutGhosts) {
    output->RemoveGhostCells();
  }
  return done;
#endif
}
