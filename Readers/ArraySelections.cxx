#include "ArraySelections.h"

#include "Base/Error.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace patchio {
namespace {

bool Has(const Catalog& catalog, const std::string& name, Centering centering)
{
  const int variable = catalog.FindVariable(name);
  return variable >= 0 && catalog.Variables[variable].Center == centering;
}

bool IsOffered(const Catalog& catalog, int variable)
{
  return !catalog.IsGeometry(variable) && catalog.Variables[variable].Role != MeshRole::Flags;
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

/// Returns the message that a step lacks an array, with the arrays that it has instead.
std::string MissingText(const Catalog& catalog, const std::string& name, Centering centering)
{
  const bool ofCells = centering == Centering::Cell;
  const char *const kind = ofCells ? "cell" : "point", *const other = ofCells ? "point" : "cell";
  if (Has(catalog, name, ofCells ? Centering::Node : Centering::Cell)) {
    return fmt::format("'{0}' is a {1} array. Select it in {2}ArrayStatus, not in {3}ArrayStatus.",
        PlainText(name), other, ofCells ? "Point" : "Cell", ofCells ? "Cell" : "Point");
  }
  std::vector<std::string> names;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    if (IsOffered(catalog, v) && catalog.Variables[v].Center == centering) {
      names.push_back(catalog.Variables[v].Name);
    }
  }
  return fmt::format(
      "Step {2} has no {0} array '{1}'. The {0} arrays are: {3}. If no other step has this array, correct "
      "{4}ArrayStatus.",
      kind, PlainText(name), catalog.Step, NameList(ByLikeness(std::move(names), name)),
      ofCells ? "Cell" : "Point");
}

}  // namespace

/// Removes from a list the names that the step does not have. Selected names are kept in Dropped, to be
/// reported later.
void ArraySelections::RemoveUnknown(const Catalog& catalog, Centering centering)
{
  vtkDataArraySelection* const arrays = this->ListOf(centering);
  for (int i = arrays->GetNumberOfArrays() - 1; i >= 0; --i) {
    const std::string name = arrays->GetArrayName(i);
    if (!Has(catalog, name, centering)) {
      if (arrays->GetArraySetting(i)) {
        this->Dropped.insert({centering, name});
      }
      arrays->RemoveArrayByIndex(i);
    }
  }
}

std::string ArraySelections::MissingArraysMessage(const Catalog& catalog)
{
  std::set<Choosable> chosen = std::move(this->Dropped);
  this->Dropped.clear();
  for (const Centering centering : {Centering::Cell, Centering::Node}) {
    vtkDataArraySelection* const arrays = this->ListOf(centering);
    for (int i = 0; i < arrays->GetNumberOfArrays(); ++i) {
      if (arrays->GetArraySetting(i)) {
        chosen.insert({centering, arrays->GetArrayName(i)});
      }
    }
  }
  std::string text;
  for (const Choosable& array : chosen) {
    if (this->Known.insert(array).second) {
      text += (text.empty() ? "" : "\n") + MissingText(catalog, array.second, array.first);
    }
  }
  return text;
}

void ArraySelections::Offer(const Catalog& catalog)
{
  this->Offering = true;
  if (this->NewFiles) {
    this->RemoveUnknown(catalog, Centering::Cell);
    this->RemoveUnknown(catalog, Centering::Node);
    this->NewFiles = false;
  }
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    if (IsOffered(catalog, static_cast<int>(v))) {
      this->ListOf(variable.Center)->AddArray(variable.Name.c_str());
      this->Known.insert({variable.Center, variable.Name});
    }
  }
  this->Offering = false;
}

VariableChoice ArraySelections::Choice() const
{
  return {NamesOff(this->CellArrays), NamesOff(this->PointArrays)};
}

}  // namespace patchio
