#include "vtkPatchSlice.h"

#include "Filters/BlockFilter.h"
#include "Filters/Slice.h"

#include <vtkCutter.h>
#include <vtkObjectFactory.h>

#include <algorithm>
#include <optional>

using namespace patchio::filters;

vtkStandardNewMacro(vtkPatchSlice);

namespace {

/// Returns the surface for each value; an empty list if a surface is not supported or `values` is empty.
std::vector<Surface> SurfacesOf(vtkImplicitFunction* function, vtkContourValues* values)
{
  std::vector<Surface> surfaces;
  for (int i = 0; i < values->GetNumberOfContours(); ++i) {
    const std::optional<Surface> surface = Surface::FromFunction(function, values->GetValue(i));
    if (!surface) {
      return {};
    }
    surfaces.push_back(*surface);
  }
  return surfaces;
}

}  // namespace

vtkPatchSlice::vtkPatchSlice()
{
  this->Values->SetValue(0, 0.0);
}

void vtkPatchSlice::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "CutFunction: " << this->CutFunction.Get() << "\n"
     << indent << "GenerateTriangles: " << this->GenerateTriangles << "\n";
  this->Values->PrintSelf(os, indent);
}

vtkMTimeType vtkPatchSlice::GetMTime()
{
  const vtkMTimeType own = std::max(this->Superclass::GetMTime(), this->Values->GetMTime());
  return this->CutFunction ? std::max(own, this->CutFunction->GetMTime()) : own;
}

bool vtkPatchSlice::SupportsProperties()
{
  return !SurfacesOf(this->CutFunction, this->Values).empty();
}

bool vtkPatchSlice::FillOutput(const Blocks& blocks, patchio::Communicator& ranks, vtkDataObject* output)
{
  SliceRequest request;
  request.Surfaces = SurfacesOf(this->CutFunction, this->Values);
  request.Triangles = this->GenerateTriangles;
  request.Progress = [this](double fraction) { return this->ReportProgress(fraction); };
  patchio::SetChildren(blocks.ChildNames, Slice(blocks, request, ranks), output);
  return true;
}

vtkSmartPointer<vtkAlgorithm> vtkPatchSlice::MakeVtkFilter(vtkSmartPointer<vtkDataObject>&)
{
  auto cutter = vtkSmartPointer<vtkCutter>::New();
  cutter->SetCutFunction(this->CutFunction);
  cutter->SetNumberOfContours(this->GetNumberOfContours());
  for (int i = 0; i < this->GetNumberOfContours(); ++i) {
    cutter->SetValue(i, this->GetValue(i));
  }
  cutter->SetGenerateTriangles(this->GenerateTriangles);
  return cutter;
}
