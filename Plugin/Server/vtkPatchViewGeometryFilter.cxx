#include "vtkPatchViewGeometryFilter.h"

#include "Base/Communicator.h"
#include "Filters/BlockFilter.h"
#include "Filters/Blocks.h"
#include "Filters/VisibleSurface.h"
#include "vtkPatchSettings.h"

#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkDataSet.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <map>
#include <vector>

using namespace patchio::filters;

vtkStandardNewMacro(vtkPatchViewGeometryFilter);

namespace {

using Surfaces = std::map<unsigned int, vtkSmartPointer<vtkPolyData>>;

/// Returns the surfaces of `blocks`, with their field data, by the flat index of the block. `outerOnly`: see
/// vtkPatchViewGeometryFilter::SetOuterFacesOnly(). Collective: every rank of `ranks` calls it.
Surfaces MakeSurfaces(const std::vector<const Block*>& blocks, bool outerOnly, patchio::Communicator& ranks)
{
  const auto made = SurfacesOfBlocks(blocks, outerOnly ? Faces::Outer : Faces::OfEachBlock, ranks);
  Surfaces surfaces;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    made[b]->GetFieldData()->PassData(blocks[b]->Grid->GetFieldData());
    surfaces[blocks[b]->FlatIndex] = made[b];
  }
  return surfaces;
}

/// Returns a copy of `input` with the surfaces in place of their blocks.
vtkSmartPointer<vtkDataObjectTree> CopyWithSurfaces(vtkDataObjectTree* input, const Surfaces& surfaces)
{
  auto tree = vtkSmartPointer<vtkDataObjectTree>::Take(input->NewInstance());
  tree->CopyStructure(input);
  tree->GetFieldData()->PassData(input->GetFieldData());
  const auto leaf = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(input->NewTreeIterator());
  for (leaf->InitTraversal(); !leaf->IsDoneWithTraversal(); leaf->GoToNextItem()) {
    const auto surface = surfaces.find(leaf->GetCurrentFlatIndex());
    tree->SetDataSet(leaf, surface != surfaces.end() ? surface->second.Get() : leaf->GetCurrentDataObject());
  }
  return tree;
}

}  // namespace

int vtkPatchViewGeometryFilter::RequestDataObjectTree(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkDataObjectTree* const input = vtkDataObjectTree::GetData(inputs[0], 0);
  if (this->UseOutline || !input || !vtkPatchSettings::GetFastExtraction()) {
    return this->Superclass::RequestDataObjectTree(request, inputs, outputs);
  }
  const auto ranks = patchio::GlobalCommunicator();
  const Blocks blocks = MakeBlocks(input, *ranks);
  const std::vector<const Block*> solid = SolidBlocks(blocks);
  // ParaView is fast on a single box whose cells are all visible.
  const bool isBox = solid.size() < 2 && (solid.empty() || !solid[0]->Flags);
  if (!patchio::AllOf(*ranks, blocks.UnsupportedClass.empty()) || patchio::AllOf(*ranks, isBox)) {
    return this->Superclass::RequestDataObjectTree(request, inputs, outputs);
  }
  vtkNew<vtkInformationVector> replaced;
  replaced->Copy(inputs[0], 0);
  vtkNew<vtkInformation> info;
  info->Copy(inputs[0]->GetInformationObject(0));
  const Surfaces surfaces = MakeSurfaces(solid, this->OuterFacesOnly, *ranks);
  info->Set(vtkDataObject::DATA_OBJECT(), CopyWithSurfaces(input, surfaces));
  replaced->SetInformationObject(0, info);
  vtkInformationVector* const ports[] = {replaced};
  // The surfaces and the filter that ParaView uses for other grids already number the cells and points.
  // ParaView would number the cells and points of the surfaces again.
  const int cells = this->PassThroughCellIds, points = this->PassThroughPointIds;
  this->PassThroughCellIds = this->PassThroughPointIds = 0;
  const int done =
      this->Superclass::RequestDataObjectTree(request, const_cast<vtkInformationVector**>(ports), outputs);
  this->PassThroughCellIds = cells;
  this->PassThroughPointIds = points;
  return done;
}
