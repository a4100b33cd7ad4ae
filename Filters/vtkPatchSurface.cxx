#include "vtkPatchSurface.h"

#include "Base/Communicator.h"
#include "Filters/BlockFilter.h"
#include "Filters/Blocks.h"
#include "Filters/VisibleSurface.h"
#include "vtkPatchSettings.h"

#include <vtkCompositeDataSet.h>
#include <vtkDataObject.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkVersionMacros.h>

vtkStandardNewMacro(vtkPatchSurface);

int vtkPatchSurface::FillInputPortInformation(int port, vtkInformation* info)
{
  const int filled = this->Superclass::FillInputPortInformation(port, info);
  if (port == 0) {  // otherwise, VTK would pass one block after another
    info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  }
  return filled;
}

int vtkPatchSurface::FillOutputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkDataObject");
  return 1;
}

int vtkPatchSurface::ProcessRequest(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  if (!request->Has(vtkDemandDrivenPipeline::REQUEST_DATA_OBJECT())) {
    return patchio::RunAndReportErrors(this, vtkDataObject::GetData(outputs),
        [&] { return this->Superclass::ProcessRequest(request, inputs, outputs); });
  }
  patchio::SetOutput(vtkDataObject::GetData(inputs[0]), "vtkPolyData", outputs->GetInformationObject(0));
  return 1;
}

int vtkPatchSurface::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  auto* const tree = vtkCompositeDataSet::GetData(inputs[0]);
  if (!tree) {
    return this->Superclass::RequestData(request, inputs, outputs);
  }
  vtkDataObject* const output = vtkDataObject::GetData(outputs);
  if (vtkPatchSettings::GetFastExtraction() && this->MakeSurface(tree, output)) {
    return 1;
  }
  vtkNew<vtkPatchGeometryFilter> blockFilter;
  blockFilter->SetPieceInvariant(this->GetPieceInvariant());
  blockFilter->SetNonlinearSubdivisionLevel(this->GetNonlinearSubdivisionLevel());
  blockFilter->SetFastMode(this->GetFastMode());
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 2, 0)  // earlier versions do not have the property
  blockFilter->SetRemoveGhostInterfaces(this->GetRemoveGhostInterfaces());
#endif
  return patchio::RunOnCopy(blockFilter, tree, output);
}

/// Fills `output` with the outer surface of all blocks. Returns false on all ranks if a block is not
/// supported. Collective: every rank of the global controller calls it.
bool vtkPatchSurface::MakeSurface(vtkDataObject* input, vtkDataObject* output)
{
  using namespace patchio::filters;
  const auto ranks = patchio::GlobalCommunicator();
  const Blocks blocks = MakeBlocks(input, *ranks);
  const bool isSupported =
      blocks.UnsupportedClass.empty() && SolidBlocks(blocks).size() == blocks.List.size();
  if (!patchio::AllOf(*ranks, isSupported)) {
    return false;
  }
  patchio::SetChildren(blocks.ChildNames, OuterSurface(blocks, *ranks), output);
  return true;
}
