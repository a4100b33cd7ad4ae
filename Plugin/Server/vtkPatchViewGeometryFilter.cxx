#include "vtkPatchViewGeometryFilter.h"

#include "Extract/Blocks.h"
#include "Extract/CoveredFaces.h"
#include "Extract/VisibleSurface.h"
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

#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <vector>

using namespace patchio::extract;

vtkStandardNewMacro(vtkPatchViewGeometryFilter);

namespace {

/// What this filter makes the surfaces of; empty if ParaView is to do it.
std::vector<const Block*> BlocksToDraw(const Blocks& blocks)
{
  std::vector<const Block*> wanted;
  for (const Block& block : blocks.List) {
    if (block.Form != BlockForm::Curvilinear &&
        *std::min_element(block.Points.begin(), block.Points.end()) > 1) {
      wanted.push_back(&block);
    }
  }
  const bool isOneBox = wanted.size() == 1 && !wanted[0]->Flags;
  return blocks.NotUnderstood.empty() && !isOneBox ? wanted : std::vector<const Block*>();
}

using Surfaces = std::map<unsigned int, vtkSmartPointer<vtkPolyData>>;

/// By the blocks' places in the tree.
Surfaces MakeSurfaces(const std::vector<const Block*>& blocks, bool outerOnly)
{
  const CoveredFaces faces(blocks);
  std::vector<vtkSmartPointer<vtkPolyData>> made(blocks.size());
  tbb::parallel_for(std::size_t(0), blocks.size(), [&](std::size_t b) {
    const FaceTest covered = [&faces, b](const OuterFace& face) {
      return faces.IsCovered(static_cast<int>(b), face);
    };
    made[b] = VisibleSurface(*blocks[b], outerOnly && faces.Fits() ? covered : nullptr);
  });
  Surfaces surfaces;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    made[b]->GetFieldData()->PassData(blocks[b]->Grid->GetFieldData());
    surfaces[blocks[b]->FlatIndex] = made[b];
  }
  return surfaces;
}

/// The input with surfaces in place of some blocks.
vtkSmartPointer<vtkDataObjectTree> WithSurfaces(vtkDataObjectTree* input, const Surfaces& surfaces)
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
  const Blocks blocks =
      this->UseOutline || !input || !vtkPatchSettings::GetFastExtraction() ? Blocks() : MakeBlocks(input);
  const std::vector<const Block*> wanted = BlocksToDraw(blocks);
  if (wanted.empty()) {
    return this->Superclass::RequestDataObjectTree(request, inputs, outputs);
  }
  vtkNew<vtkInformationVector> replaced;
  replaced->Copy(inputs[0], 0);
  vtkNew<vtkInformation> info;
  info->Copy(inputs[0]->GetInformationObject(0));
  info->Set(vtkDataObject::DATA_OBJECT(), WithSurfaces(input, MakeSurfaces(wanted, this->OuterFacesOnly)));
  replaced->SetInformationObject(0, info);
  vtkInformationVector* const ports[] = {replaced};
  // Poly data would get numbers of their own; other grids get theirs from the filter inside.
  const int cells = this->PassThroughCellIds, points = this->PassThroughPointIds;
  this->PassThroughCellIds = this->PassThroughPointIds = 0;
  const int done =
      this->Superclass::RequestDataObjectTree(request, const_cast<vtkInformationVector**>(ports), outputs);
  this->PassThroughCellIds = cells;
  this->PassThroughPointIds = points;
  return done;
}
