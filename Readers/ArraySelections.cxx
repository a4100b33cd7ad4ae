#include "ArraySelections.h"

#include "PatchAssembler.h"

#include <algorithm>

namespace patchio {
namespace {

/// Takes names out of a list that the step does not have.
void DropStrangers(vtkDataArraySelection* arrays, const Catalog& catalog, Centering centering)
{
  for (int i = arrays->GetNumberOfArrays() - 1; i >= 0; --i) {
    const int variable = catalog.FindVariable(arrays->GetArrayName(i));
    if (variable < 0 || catalog.Variables[variable].Center != centering) {
      arrays->RemoveArrayByIndex(i);
    }
  }
}

}  // namespace

void ArraySelections::Offer(const Catalog& catalog)
{
  this->Offering = true;
  if (this->NewFiles) {
    DropStrangers(this->CellArrays, catalog, Centering::Cell);
    DropStrangers(this->PointArrays, catalog, Centering::Node);
    this->NewFiles = false;
  }
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    if (static_cast<int>(v) != catalog.CoordinatesVariable && !variable.Positions) {
      (variable.Center == Centering::Cell ? this->CellArrays : this->PointArrays)
          ->AddArray(variable.Name.c_str());
    }
  }
  this->Offering = false;
}

bool ArraySelections::Selected(const Variable& variable) const
{
  vtkDataArraySelection* arrays = variable.Center == Centering::Cell ? this->CellArrays : this->PointArrays;
  // What is not offered yet will be on.
  return !arrays->ArrayExists(variable.Name.c_str()) || arrays->ArrayIsEnabled(variable.Name.c_str());
}

Int3 ArraySelections::GhostsOf(const Catalog& catalog) const
{
  if (catalog.Grid == GridKind::Curvilinear) {
    return catalog.Variables[catalog.CoordinatesVariable].Ghosts;
  }
  Int3 ghosts{0, 0, 0};
  for (const Variable& variable : catalog.Variables) {
    for (int axis = 0; axis < 3 && this->Selected(variable); ++axis) {
      ghosts[axis] = std::max(ghosts[axis], variable.Ghosts[axis]);
    }
  }
  return ghosts;
}

std::vector<VariableRequest> ArraySelections::RequestsFor(const Catalog& catalog, const Int3& ghosts) const
{
  std::vector<VariableRequest> requests;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    if (v == catalog.CoordinatesVariable || catalog.Variables[v].Positions ||
        this->Selected(catalog.Variables[v])) {
      requests.push_back(RequestForVtk(catalog, v, ghosts));
    }
  }
  return requests;
}

}  // namespace patchio
