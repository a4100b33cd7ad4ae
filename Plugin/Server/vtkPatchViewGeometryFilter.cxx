#include "vtkPatchViewGeometryFilter.h"

#include "Extract/Blocks.h"
#include "Extract/VisibleSurface.h"

#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <algorithm>
#include <map>

using namespace patchio::extract;

vtkStandardNewMacro(vtkPatchViewGeometryFilter);

namespace {

bool HasHiddenCells(const Block& block)
{
  return block.Flags && *std::min_element(block.Points.begin(), block.Points.end()) > 1;
}

/// The input with surfaces in place of some blocks.
vtkSmartPointer<vtkDataObjectTree> WithSurfaces(
    vtkDataObjectTree* input, const std::map<unsigned int, vtkSmartPointer<vtkPolyData>>& surfaces)
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
  const Blocks blocks = this->UseOutline || !input ? Blocks() : MakeBlocks(input);
  if (!blocks.NotUnderstood.empty() || std::none_of(blocks.List.begin(), blocks.List.end(), HasHiddenCells)) {
    return this->Superclass::RequestDataObjectTree(request, inputs, outputs);
  }
  std::map<unsigned int, vtkSmartPointer<vtkPolyData>> surfaces;
  for (const Block& block : blocks.List) {
    if (HasHiddenCells(block)) {
      const auto surface = VisibleSurface(block);
      surface->GetFieldData()->PassData(block.Grid->GetFieldData());
      surfaces[block.FlatIndex] = surface;
    }
  }
  vtkNew<vtkInformationVector> replaced;
  replaced->Copy(inputs[0], 0);
  vtkNew<vtkInformation> info;
  info->Copy(inputs[0]->GetInformationObject(0));
  info->Set(vtkDataObject::DATA_OBJECT(), WithSurfaces(input, surfaces));
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
