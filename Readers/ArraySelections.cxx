#include "ArraySelections.h"

#include "Base/Error.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace patchio {
namespace {

bool HasVariable(const Catalog& catalog, const std::string& name, Centering centering)
{
  const int variable = catalog.FindVariable(name);
  return variable >= 0 && catalog.Variables[variable].Center == centering;
}

/// Returns whether the lists show a variable.
bool IsSelectable(const Catalog& catalog, int variable)
{
  return !catalog.IsGeometry(variable) && catalog.Variables[variable].Role != MeshRole::Flags;
}

std::set<std::string> DisabledArrays(vtkDataArraySelection* arrays)
{
  std::set<std::string> names;
  for (int i = 0; i < arrays->GetNumberOfArrays(); ++i) {
    if (!arrays->GetArraySetting(i)) {
      names.insert(arrays->GetArrayName(i));
    }
  }
  return names;
}

/// Returns the message that a step lacks the array `name`, with the names of the step's arrays, or that
/// `name` is in the wrong list.
std::string MissingArrayMessage(const Catalog& catalog, const std::string& name, Centering centering)
{
  const bool ofCells = centering == Centering::Cell;
  const char *const type = ofCells ? "cell" : "point", *const otherType = ofCells ? "point" : "cell";
  if (HasVariable(catalog, name, ofCells ? Centering::Node : Centering::Cell)) {
    return fmt::format("'{0}' is a {1} array. Select it in {2}ArrayStatus, not in {3}ArrayStatus.",
        PlainText(name), otherType, ofCells ? "Point" : "Cell", ofCells ? "Cell" : "Point");
  }
  std::vector<std::string> names;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    if (IsSelectable(catalog, v) && catalog.Variables[v].Center == centering) {
      names.push_back(catalog.Variables[v].Name);
    }
  }
  return fmt::format(
      "Step {2} has no {0} array '{1}'. The {0} arrays are: {3}. If no other step has this array, correct "
      "{4}ArrayStatus.",
      type, PlainText(name), catalog.Step, NameList(SortedBySimilarity(std::move(names), name)),
      ofCells ? "Cell" : "Point");
}

}  // namespace

/// Removes from a list the arrays that the step lacks. Adds the selected arrays among them to RemovedArrays,
/// which MissingArraysMessage() reports.
void ArraySelections::RemoveMissingArrays(const Catalog& catalog, Centering centering)
{
  vtkDataArraySelection* const arrays = this->SelectionOf(centering);
  for (int i = arrays->GetNumberOfArrays() - 1; i >= 0; --i) {
    const std::string name = arrays->GetArrayName(i);
    if (!HasVariable(catalog, name, centering)) {
      if (arrays->GetArraySetting(i)) {
        this->RemovedArrays.insert({centering, name});
      }
      arrays->RemoveArrayByIndex(i);
    }
  }
}

std::string ArraySelections::MissingArraysMessage(const Catalog& catalog)
{
  std::set<CenteredName> chosen = std::move(this->RemovedArrays);
  this->RemovedArrays.clear();
  for (const Centering centering : {Centering::Cell, Centering::Node}) {
    vtkDataArraySelection* const arrays = this->SelectionOf(centering);
    for (int i = 0; i < arrays->GetNumberOfArrays(); ++i) {
      if (arrays->GetArraySetting(i)) {
        chosen.insert({centering, arrays->GetArrayName(i)});
      }
    }
  }
  std::string text;
  for (const CenteredName& array : chosen) {
    if (this->KnownArrays.insert(array).second) {
      AppendText(text, MissingArrayMessage(catalog, array.second, array.first));
    }
  }
  return text;
}

void ArraySelections::AddArrays(const Catalog& catalog)
{
  this->AddingArrays = true;
  if (this->NewFiles) {
    this->RemoveMissingArrays(catalog, Centering::Cell);
    this->RemoveMissingArrays(catalog, Centering::Node);
    this->NewFiles = false;
  }
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    if (IsSelectable(catalog, static_cast<int>(v))) {
      this->SelectionOf(variable.Center)->AddArray(variable.Name.c_str());
      this->KnownArrays.insert({variable.Center, variable.Name});
    }
  }
  this->AddingArrays = false;
}

VariableChoice ArraySelections::Choice() const
{
  return {DisabledArrays(this->CellArrays), DisabledArrays(this->PointArrays)};
}

}  // namespace patchio
