#include "ArraySelections.h"

#include <set>
#include <string>

namespace patchio {
namespace {

/// Removes names from a list that the step does not have.
void DropStrangers(vtkDataArraySelection* arrays, const Catalog& catalog, Centering centering)
{
  for (int i = arrays->GetNumberOfArrays() - 1; i >= 0; --i) {
    const int variable = catalog.FindVariable(arrays->GetArrayName(i));
    if (variable < 0 || catalog.Variables[variable].Center != centering) {
      arrays->RemoveArrayByIndex(i);
    }
  }
}

std::set<std::string> NamesOff(vtkDataArraySelection* arrays)
{
  std::set<std::string> names;
  for (int i = 0; i < arrays->GetNumberOfArrays(); ++i) {
    if (!arrays->GetArraySetting(i)) {
      names.insert(arrays->GetArrayName(i));
    }
  }
  return names;
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
    if (!catalog.IsGeometry(static_cast<int>(v)) && variable.Role != MeshRole::Flags) {
      (variable.Center == Centering::Cell ? this->CellArrays : this->PointArrays)
          ->AddArray(variable.Name.c_str());
    }
  }
  this->Offering = false;
}

VariableChoice ArraySelections::Choice() const
{
  return {NamesOff(this->CellArrays), NamesOff(this->PointArrays)};
}

}  // namespace patchio
