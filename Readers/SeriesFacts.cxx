#include "SeriesFacts.h"

#include "Catalog/Catalog.h"
#include "Plan/Interest.h"
#include "Read/OpenedSeries.h"

#include <vtkLogger.h>
#include <vtkStringArray.h>

#include <algorithm>
#include <filesystem>

namespace patchio {

namespace {

/// Returns SeriesFacts::EquivalentFormat.
std::string EquivalentFormatOf(const std::string& formatName, const Catalog& catalog)
{
  if (formatName != "Container") {
    return formatName;
  }
  if (catalog.Grid == GridType::Rectilinear) {
    return "GrADS";
  }
  const bool points = std::any_of(catalog.Levels.begin(), catalog.Levels.end(),
      [](const Level& level) { return level.Role == LevelRole::Points; });
  return points || GridsOf(catalog).size() > 1 ? "k-Wave" : formatName;
}

}  // namespace

SeriesFacts::SeriesFacts() = default;
SeriesFacts::~SeriesFacts() = default;

void SeriesFacts::Reset()
{
  this->UpdatedFrom.clear();
  this->FormatName.clear();
  this->EquivalentFormat.clear();
  this->Levels[1] = 0;
}

void SeriesFacts::Update(const OpenedSeries& series, bool logsNotes)
{
  for (const std::string& note : series.Contents().Notes) {
    if (logsNotes && this->LoggedNotes.insert(note).second) {
      vtkVLog(vtkLogger::VERBOSITY_INFO, "PatchIO: " << note);
    }
  }
  if (this->UpdatedFrom == series.CurrentPath()) {
    return;
  }
  this->UpdatedFrom = series.CurrentPath();
  if (this->FormatName.empty()) {
    this->FormatName = FormatOf(series.Files().front()).Name();
  }
  const Catalog& catalog = series.Current();
  this->EquivalentFormat = EquivalentFormatOf(this->FormatName, catalog);
  this->Levels[1] = std::max(this->Levels[1], static_cast<int>(catalog.Levels.size()) - 1);
  const patchio::Bounds unit{{0, 0, 0}, {1, 1, 1}};
  const patchio::Bounds bounds = BoundsOf(catalog).value_or(unit);
  for (int axis = 0; axis < 3; ++axis) {
    const bool flat = bounds.Lower[axis] == bounds.Upper[axis];
    this->Bounds[2 * axis] = bounds.Lower[axis];
    this->Bounds[2 * axis + 1] = flat ? bounds.Lower[axis] + 1 : bounds.Upper[axis];
  }
  this->Grids->Reset();
  this->Grids->InsertNextValue(AutomaticGrid);
  const std::vector<LevelGrid> grids = GridsOf(catalog);
  this->ArraysOfGrids->Reset();
  for (std::size_t i = 0; i < grids.size() && grids.size() > 1; ++i) {
    this->Grids->InsertNextValue(grids[i].Name);
    for (const int variable : VariablesOn(grids[i], catalog)) {
      this->ArraysOfGrids->InsertNextValue(grids[i].Name);
      this->ArraysOfGrids->InsertNextValue(catalog.Variables[variable].Name);
    }
  }
  if (grids.size() > 1) {
    this->Grids->InsertNextValue(AllGrids);
  }
  this->Scalars->Reset();
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    if (variable.Components == 1 && !catalog.IsGeometry(static_cast<int>(v))) {
      this->Scalars->InsertNextValue(variable.Name);
    }
  }
}

std::string ShortName(const std::string& path)
{
  const std::filesystem::path whole(path);
  const std::string name = whole.filename().string();
  const std::string folder = whole.parent_path().filename().string();
  return name == "summary.samrai" || name == "Header" ? folder : name;
}

}  // namespace patchio
