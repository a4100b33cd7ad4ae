#include "Formats/KWave/KwaveFormat.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Catalog/Box.h"
#include "Formats/Hdf5Locator.h"
#include "Formats/KWave/KwaveFile.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

namespace fs = std::filesystem;

namespace patchio::kwave {
namespace {

using hdf5::StorageLayout;

KwaveDescription Describe(const std::string& path)
{
  const std::string absolute = AbsolutePath(path);
  if (TypeOfFile(absolute) == FileType::Checkpoint) {
    throw FileError(absolute, "a k-Wave output or input file", "a checkpoint for restarts",
        "Open the output file of the run, which has all steps up to the checkpoint");
  }
  return ReadDescription(absolute);
}

void AddSet(const RegionSet& set, const KwaveDescription& description, Catalog& catalog)
{
  Level& level = catalog.Levels.emplace_back();
  const int number = static_cast<int>(catalog.Levels.size()) - 1;
  catalog.LevelNames.push_back(set.Name);
  level.FirstPatch = static_cast<int>(catalog.Patches.size());
  level.Role = set.Role;
  level.Spacing = description.Spacing;
  // PlanesPerCut refers to the domain's slowest axis; a cuboid that is flat along this axis is not cut.
  const int last = set.Role == LevelRole::Points ? 0 : description.Dims[2] > 1 ? 2 : 1;
  for (std::size_t p = 0; p < set.Regions.size(); ++p) {
    const bool cuts = SlowestAxis(set.Regions[p].Cells) == last;
    const std::vector<Box> boxes = cuts ? CutAcross(set.Regions[p].Cells, last, set.Regions[p].PlanesPerCut)
                                        : std::vector<Box>{set.Regions[p].Cells};
    for (const Box& box : boxes) {
      Patch& patch = catalog.Patches.emplace_back();
      patch.Cells = box;
      patch.Level = number;
      // The number of a separate box is that of its region.
      patch.Number = set.Role == LevelRole::Separate
                         ? static_cast<int>(p) + 1
                         : static_cast<int>(catalog.Patches.size()) - 1 - level.FirstPatch;
    }
  }
  level.PatchCount = static_cast<int>(catalog.Patches.size()) - level.FirstPatch;
}

void AddVariables(const KwaveDescription& description, Catalog& catalog)
{
  for (const RegionSet& set : description.Sets) {
    if (set.Role == LevelRole::Points) {
      Variable& positions = catalog.Variables.emplace_back();
      positions.Name = PositionsOf(set.Name);
      positions.StoredName = set.Positions;
      positions.TimeInvariant = true;
      positions.Positions = true;
    }
  }
  for (const Quantity& quantity : description.Quantities) {
    Variable& variable = catalog.Variables.emplace_back();
    variable.Name = quantity.Name;
    variable.StoredName = quantity.Name;
    variable.TimeInvariant = !quantity.TimeVarying;
  }
}

void SetPresence(const KwaveDescription& description, Catalog& catalog)
{
  catalog.ResetPresence();
  int variable = 0;
  const auto set = [&](int level, const std::vector<bool>& regions) {
    const Level& info = catalog.Levels[level];
    for (int p = info.FirstPatch; p < info.FirstPatch + info.PatchCount; ++p) {
      const int region = info.Role == LevelRole::Separate ? catalog.Patches[p].Number - 1 : 0;
      catalog.SetPresence(variable, p, regions[region] ? Presence::Stored : Presence::Absent);
    }
    ++variable;
  };
  for (std::size_t s = 0; s < description.Sets.size(); ++s) {
    if (description.Sets[s].Role == LevelRole::Points) {
      set(static_cast<int>(s), {true});
    }
  }
  for (const Quantity& quantity : description.Quantities) {
    set(quantity.Set, quantity.Regions);
  }
}

/// Returns the catalog of all steps; its current step is the first. Large regions are cut into several
/// patches, so that ranks can share them.
Catalog MakeCatalog(const KwaveDescription& description)
{
  Catalog catalog;
  catalog.Path = description.Path;
  catalog.Dimension = description.Dims[2] > 1 ? 3 : 2;
  catalog.Origin = description.Origin;
  if (catalog.Dimension == 2) {
    catalog.Origin[2] = 0;
  }
  catalog.Step = description.FirstStep;
  catalog.Time = description.TimeOf(description.FirstStep);
  catalog.StepsInFile = static_cast<int>(description.Steps);
  for (int axis = 0; axis < 3; ++axis) {
    catalog.Lattice.Lower[axis] = 0;
    catalog.Lattice.Upper[axis] = static_cast<int>(description.Dims[axis]) - 1;
  }
  for (const RegionSet& set : description.Sets) {
    AddSet(set, description, catalog);
  }
  AddVariables(description, catalog);
  SetPresence(description, catalog);
  return catalog;
}

class Locator : public Hdf5Locator
{
public:
  Locator(const Catalog& catalog, const LocateOptions& options);

private:
  Location LocateOne(const PatchVariable& request) override;
  void Check(LocatedDataset& found, const DatasetLocation& location, const PatchVariable& request) override;
  bool IsTimeVarying(int variable) const
  {
    return !this->Data.Variables[variable].TimeInvariant && this->Data.StepsInFile > 1;
  }

  std::vector<std::uint64_t> FirstInRegion, RegionValues;  ///< per patch
};

/// Computes the position of each patch in its region. Patches that were cut from one region follow each other
/// in the data sets of the region.
Locator::Locator(const Catalog& catalog, const LocateOptions& options) : Hdf5Locator(catalog, options)
{
  std::map<std::pair<int, int>, std::uint64_t> regions;
  const auto valuesOf = [&](const Patch& patch) -> std::uint64_t& {
    const bool separate = catalog.RoleOf(patch.Level) == LevelRole::Separate;
    return regions[{patch.Level, separate ? patch.Number : 0}];
  };
  for (const Patch& patch : catalog.Patches) {
    std::uint64_t& values = valuesOf(patch);
    this->FirstInRegion.push_back(values);
    values += static_cast<std::uint64_t>(patch.Cells.CellCount());
  }
  for (const Patch& patch : catalog.Patches) {
    this->RegionValues.push_back(valuesOf(patch));
  }
}

/// Returns the location of a request's values at the catalog's step, or at all steps (LocateOptions).
Location Locator::LocateOne(const PatchVariable& request)
{
  const Patch& patch = this->Data.Patches[request.Patch];
  DatasetLocation location{this->Data.Path, this->Data.Variables[request.Variable].StoredName, {}};
  const std::size_t slash = location.Dataset.find('/');
  if (slash != std::string::npos) {
    location.Path = (fs::path(location.Path).parent_path() / location.Dataset.substr(0, slash)).string();
    location.Dataset = location.Dataset.substr(slash + 1);
  }
  if (this->Data.RoleOf(patch.Level) == LevelRole::Separate) {
    location.Dataset += "/" + std::to_string(patch.Number);
  }
  hdf5::DatasetRange& range = location.Range;
  range.First = this->FirstInRegion[request.Patch];
  range.Count = static_cast<std::uint64_t>(this->Data.StoredTuples(request.Variable, request.Patch));
  const std::uint64_t regionValues = this->RegionValues[request.Patch];
  if (this->IsTimeVarying(request.Variable) && this->Options.AllSteps) {
    range.StepStride = regionValues;
    range.Steps = this->Data.StepsInFile;
  } else if (this->IsTimeVarying(request.Variable)) {
    range.First += regionValues * static_cast<std::uint64_t>(this->Data.StepInFile);
  }
  return this->LocateAt(location, request);
}

/// Makes unsigned types signed. Throws Error unless the data set matches the catalog.
void Locator::Check(LocatedDataset& found, const DatasetLocation& location, const PatchVariable& request)
{
  const hdf5::Dataset& info = found.Info;
  if (SizeOf(found.Type) != 4 && SizeOf(found.Type) != 8) {
    throw FileError(location.Path, fmt::format("numbers of 4 or 8 bytes in '{}'", location.Dataset),
        "another type", "The file is not a k-Wave file");
  }
  // Signed numbers are large enough for all of k-Wave's counts.
  found.Type = found.Type == ElementType::UInt32   ? ElementType::Int32
               : found.Type == ElementType::UInt64 ? ElementType::Int64
                                                   : found.Type;
  const bool timeVarying = this->IsTimeVarying(request.Variable);
  if (timeVarying && info.Layout == StorageLayout::Virtual && found.Runs.size() > 1) {
    throw hdf5::UnsupportedError(
        location.Path, "virtual data set that takes steps from several data sets", location.Dataset);
  }
  const bool timeInvariant = this->Data.Variables[request.Variable].TimeInvariant;
  const std::uint64_t regionValues = this->RegionValues[request.Patch];
  const auto steps = static_cast<std::uint64_t>(timeInvariant ? 1 : this->Data.StepsInFile);
  const bool fits = timeInvariant ? info.Values == regionValues
                                  : info.Values % regionValues == 0 && info.Values / regionValues >= steps;
  if (!fits) {
    throw FileError(location.Path,
        fmt::format("{} x {} values in '{}'", steps, regionValues, location.Dataset),
        fmt::format("{}", info.Values), "The file has changed since it was opened, or is damaged");
  }
}

}  // namespace

bool KwaveFormat::Claims(const std::string& path) const
{
  return TypeOfFile(path) != FileType::None;
}

/// Returns whether the file has the name of a k-Wave file but cannot be opened as an HDF5 file.
bool KwaveFormat::SeemsBroken(const std::string& path) const
{
  const std::string ending = fs::path(path).extension().string();
  std::error_code ignored;
  return (ending == ".h5" || ending == ".hdf5") && fs::is_regular_file(path, ignored) && !hdf5::CanOpen(path);
}

Series KwaveFormat::OpenSeries(const std::string& path, const SeriesOptions&) const
{
  const KwaveDescription description = Describe(path);
  Series series;
  for (std::int64_t n = 0; n < description.Steps; ++n) {
    TimeStep& step = series.Steps.emplace_back();
    step.Path = description.Path;
    step.Step = description.FirstStep + n;
    step.Time = description.TimeOf(step.Step);
    step.StepInFile = static_cast<int>(n);
  }
  series.Warnings = description.Warnings;
  series.Notes = description.Notes;
  series.Watched = {description.Path};
  return series;
}

Catalog KwaveFormat::ReadCatalog(const std::string& path) const
{
  return MakeCatalog(Describe(path));
}

LocationTable KwaveFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, options).Run(requests);
}

}  // namespace patchio::kwave
