#include "Formats/VTKHDF/VtkhdfFormat.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Catalog/Box.h"
#include "Formats/Hdf5Locator.h"
#include "Formats/VTKHDF/VtkhdfAccess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace fs = std::filesystem;

namespace patchio::vtkhdf {
namespace {

/// The contents of Catalog::FormatData.
struct StepOffsets
{
  FileType Type = FileType::None;
  /// True: the file gets no index, so that each opening reports skipped arrays, and finds the steps that a
  /// program appends to a file with steps.
  bool HasNoIndex = false;
  /// The number of tuples in the data set before the first one of the level, for each step, level and
  /// variable. If patches change, there are entries only for the catalog's current step.
  std::vector<std::uint64_t> First;
};

/// Returns the index of an entry of StepOffsets::First, which has one row of entries per step.
std::size_t IndexOf(const Catalog& catalog, std::size_t row, int level, int variable)
{
  return (row * catalog.Levels.size() + static_cast<std::size_t>(level)) * catalog.Variables.size() +
         static_cast<std::size_t>(variable);
}

/// Returns the number of steps with entries in StepOffsets::First.
std::size_t StepRowCount(const Catalog& catalog)
{
  return catalog.PatchesChange ? 1 : static_cast<std::size_t>(catalog.StepsInFile);
}

std::vector<std::byte> Pack(const StepOffsets& offsets)
{
  ByteWriter out;
  out.Append(static_cast<std::uint8_t>(offsets.Type));
  out.Append(static_cast<std::uint8_t>(offsets.HasNoIndex));
  out.Append(offsets.First);
  return out.Release();
}

/// Decodes the catalog's FormatData. Throws Error if the catalog does not belong to a VTKHDF file.
StepOffsets StepOffsetsOf(const Catalog& catalog)
{
  StepOffsets offsets;
  ByteReader in(catalog.FormatData);
  offsets.Type = static_cast<FileType>(in.Get<std::uint8_t>());
  offsets.HasNoIndex = in.Get<std::uint8_t>() != 0;
  in.Get(offsets.First);
  if (offsets.First.size() != IndexOf(catalog, StepRowCount(catalog), 0, 0)) {
    throw Error("The description of the time step does not belong to a VTKHDF file.");
  }
  return offsets;
}

/// Returns the refinement ratio of a level to the next coarser one, from the cell sizes of both. Throws Error
/// unless the ratio is a whole number from 1 to 2^20.
int RatioOf(const FileDescription& file, int level, int axis)
{
  const double coarse = file.Levels[level - 1].Spacing[axis], fine = file.Levels[level].Spacing[axis];
  const double ratio = std::round(coarse / fine);
  if (!(ratio >= 1 && ratio <= 1 << 20 && std::abs(coarse / fine - ratio) < 1e-6 * ratio)) {
    throw FileError(file.Path, fmt::format("cells of level {} that divide those of the coarser level", level),
        fmt::format("{} and {} along axis {}", fine, coarse, axis), "The file is damaged");
  }
  return static_cast<int>(ratio);
}

void AddPartition(const FileDescription& file, const MeshSize& mesh, Catalog& catalog)
{
  constexpr std::int64_t most = 1 << 30;
  if (mesh.AllCells() > most) {
    throw FileError(file.Path, fmt::format("at most {} cells in a partition", most),
        fmt::format("{}", mesh.AllCells()), "Write the mesh in more partitions");
  }
  Patch& patch = catalog.Patches.emplace_back();
  patch.Cells.Lower = {0, 0, 0};
  patch.Cells.Upper = {static_cast<int>(std::max<std::int64_t>(mesh.AllCells(), 1)) - 1, 0, 0};
  patch.Number = catalog.Levels[0].PatchCount++;
  catalog.Meshes.push_back(mesh);
}

std::vector<Box> BoxesOf(const FileDescription& file, const LevelDescription& level)
{
  return file.Type == FileType::Image
             ? CutAcross(level.Boxes[0], SlowestAxis(level.Boxes[0]), level.PlanesPerCut)
             : level.Boxes;
}

void AddLevel(const FileDescription& file, int number, Catalog& catalog)
{
  const LevelDescription& from = file.Levels[number];
  Level& level = catalog.Levels.emplace_back();
  level.FirstPatch = static_cast<int>(catalog.Patches.size());
  level.Spacing = from.Spacing;
  level.FlatAxes = file.FlatAxes;
  for (int axis = 0; axis < file.Dimension && number > 0; ++axis) {
    level.Ratio[axis] = RatioOf(file, number, axis);
  }
  for (const MeshSize& mesh : from.Meshes) {
    AddPartition(file, mesh, catalog);
  }
  for (const Box& box : BoxesOf(file, from)) {
    Patch& patch = catalog.Patches.emplace_back();
    patch.Cells = box;
    patch.Level = number;
    patch.Number = level.PatchCount++;
  }
}

/// Returns the variable for an array, and adds the variable if necessary. Throws Error if another level has
/// an array of this name with another number of components.
int FindOrAddVariable(const LevelArray& array, const std::string& path, Catalog& catalog)
{
  const std::string& stored = array.StoredName;
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    if (catalog.Variables[v].StoredName == stored) {
      if (catalog.Variables[v].Components != array.Components) {
        throw FileError(path,
            fmt::format("the same number of components of '{}' on all levels", PlainText(stored)),
            fmt::format("{} and {}", catalog.Variables[v].Components, array.Components),
            "The file is damaged");
      }
      return static_cast<int>(v);
    }
  }
  catalog.Variables.push_back(static_cast<const Variable&>(array));
  return static_cast<int>(catalog.Variables.size()) - 1;
}

/// Returns whether the array is the same at all steps: neither the patches nor the array's position in the
/// data set change. Returns false for a file with one step.
bool IsTimeInvariant(const FileDescription& file, const LevelArray& array)
{
  return file.Times.size() > 1 && !file.PatchesChange &&
         std::all_of(array.First.begin(), array.First.end(),
             [&](std::uint64_t first) { return first == array.First[0]; });
}

/// Sets the presence of a variable on the patches of a level: absent if the variable has no values on the
/// patch, or if the variable has the offsets of a list without cells; otherwise stored.
void SetPresence(int variable, const Level& level, Catalog& catalog)
{
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    const Variable& info = catalog.Variables[variable];
    const bool empty = catalog.StoredTuples(variable, p) == 0 ||
                       (info.Role == MeshRole::Offsets && catalog.Meshes[p].Cells[info.CellList] == 0);
    catalog.SetPresence(variable, p, empty ? Presence::Absent : Presence::Stored);
  }
}

/// Adds the variables of all arrays to the catalog. Returns StepOffsets::First for these variables.
std::vector<std::uint64_t> AddVariables(const FileDescription& file, Catalog& catalog)
{
  std::vector<std::vector<int>> ofLevels;
  for (const LevelDescription& level : file.Levels) {
    std::vector<int>& variables = ofLevels.emplace_back();
    for (const LevelArray& array : level.Arrays) {
      variables.push_back(FindOrAddVariable(array, file.Path, catalog));
    }
  }
  const std::size_t rows = StepRowCount(catalog);
  std::vector<std::uint64_t> firsts(IndexOf(catalog, rows, 0, 0), 0);
  catalog.ResetPresence();
  std::vector<bool> changes(catalog.Variables.size(), false);
  for (std::size_t l = 0; l < ofLevels.size(); ++l) {
    for (std::size_t a = 0; a < ofLevels[l].size(); ++a) {
      const int variable = ofLevels[l][a];
      const LevelArray& array = file.Levels[l].Arrays[a];
      SetPresence(variable, catalog.Levels[l], catalog);
      for (std::size_t row = 0; row < std::min(rows, array.First.size()); ++row) {
        firsts[IndexOf(catalog, row, static_cast<int>(l), variable)] = array.First[row];
      }
      changes[variable] = changes[variable] || !IsTimeInvariant(file, array);
    }
  }
  for (std::size_t v = 0; v < changes.size(); ++v) {
    catalog.Variables[v].TimeInvariant = !changes[v];
  }
  return firsts;
}

/// Returns the number at the end of the file's name, before the extension; 0 if the name has no such number.
std::int64_t NumberInName(const std::string& path)
{
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t end = name.find_last_of("0123456789", name.rfind('.'));
  if (end == std::string::npos || end + 1 != name.rfind('.')) {
    return 0;
  }
  const std::size_t before = name.find_last_not_of("0123456789", end);
  const std::string digits = name.substr(before == std::string::npos ? 0 : before + 1, end - before);
  return digits.size() < 18 ? std::stoll(digits) : 0;
}

TimeStep StepOf(const FileDescription& file, int number)
{
  TimeStep step;
  step.Path = file.Path;
  step.StepInFile = number;
  step.Step = file.Times.empty() ? NumberInName(file.Path) : number;
  step.Time = file.Times.empty() ? file.Time.value_or(0) : file.Times[static_cast<std::size_t>(number)];
  return step;
}

GridType GridOf(FileType type)
{
  return type == FileType::Unstructured ? GridType::Unstructured
         : type == FileType::Polygons   ? GridType::Polygonal
                                        : GridType::Uniform;
}

Catalog CatalogOf(const FileDescription& file)
{
  Catalog catalog;
  catalog.Path = file.Path;
  catalog.Grid = GridOf(file.Type);
  catalog.Dimension = file.Dimension;
  catalog.Origin = file.Origin;
  catalog.StepsInFile = std::max(static_cast<int>(file.Times.size()), 1);
  catalog.PatchesChange = file.PatchesChange;
  for (std::size_t level = 0; level < file.Levels.size(); ++level) {
    AddLevel(file, static_cast<int>(level), catalog);
  }
  const bool hasNoIndex = !file.SkipMessages.empty() || !file.Times.empty();
  catalog.FormatData = Pack({file.Type, hasNoIndex, AddVariables(file, catalog)});
  SetStep(catalog, StepOf(file, file.Step));
  return catalog;
}

/// Locates values in a VTKHDF file. A data set has the values of all boxes or partitions of a level one after
/// another, or the values of an image. The values of successive steps also follow each other.
class Locator : public Hdf5Locator
{
public:
  Locator(const Catalog& catalog, const LocateOptions& options)
      : Hdf5Locator(catalog, options), Offsets(StepOffsetsOf(catalog)), TuplesBefore(catalog.Variables.size())
  {
  }

private:
  Location LocateOne(const PatchVariable& request) override;
  const std::vector<std::uint64_t>& TuplesBeforePatches(int variable);
  std::uint64_t SharedTuples(int first, int patch) const;

  const StepOffsets Offsets;
  std::vector<std::vector<std::uint64_t>>
      TuplesBefore;  ///< by variable, filled when needed; see TuplesBeforePatches()
};

/// Returns, for each patch, the number of tuples before the patch, counted from the first tuple of the
/// patch's level in the data set.
const std::vector<std::uint64_t>& Locator::TuplesBeforePatches(int variable)
{
  std::vector<std::uint64_t>& before = this->TuplesBefore[static_cast<std::size_t>(variable)];
  if (!before.empty()) {
    return before;
  }
  const bool sharing =
      this->Offsets.Type == FileType::Image && this->Data.Variables[variable].Center == Centering::Node;
  for (const Level& level : this->Data.Levels) {
    std::uint64_t tuples = 0;
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      const std::uint64_t shared = sharing ? this->SharedTuples(level.FirstPatch, p) : 0;
      before.push_back(tuples - shared);
      tuples += static_cast<std::uint64_t>(this->Data.StoredTuples(variable, p)) - shared;
    }
  }
  return before;
}

/// Returns the number of tuples that a patch shares with the preceding patch: successive slices of an image
/// have a plane of nodes in common. `first`: first patch of the level.
std::uint64_t Locator::SharedTuples(int first, int patch) const
{
  const auto dims = this->Data.ArrayDims(patch, Centering::Node, {0, 0, 0});
  std::uint64_t shared = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (this->Data.Patches[patch].Cells.Lower[axis] != this->Data.Patches[first].Cells.Lower[axis]) {
      shared = static_cast<std::uint64_t>(dims[0] * dims[1] * dims[2] / dims[axis]);
    }
  }
  return shared;
}

Location Locator::LocateOne(const PatchVariable& request)
{
  const auto [patch, variable] = request;
  const Variable& info = this->Data.Variables[variable];
  const auto components = static_cast<std::uint64_t>(info.Components);
  const int level = this->Data.Patches[patch].Level;
  const std::size_t row = this->Data.PatchesChange ? 0 : static_cast<std::size_t>(this->Data.StepInFile);
  const std::uint64_t first = this->Offsets.First[IndexOf(this->Data, row, level, variable)] +
                              this->TuplesBeforePatches(variable)[static_cast<std::size_t>(patch)];
  const auto tuples = static_cast<std::uint64_t>(this->Data.StoredTuples(variable, patch));
  return this->LocateAt({this->Data.Path, GroupOfLevel(this->Offsets.Type, level) + "/" + info.StoredName,
                            {first * components, tuples * components}},
      request);
}

}  // namespace

bool VtkhdfFormat::Claims(const std::string& path) const
{
  return TypeNamed(NameOfType(path)) != FileType::None;
}

/// Returns whether the file has the name of a VTKHDF file but cannot be opened as an HDF5 file.
bool VtkhdfFormat::SeemsBroken(const std::string& path) const
{
  std::error_code ignored;
  return fs::path(path).extension() == ".vtkhdf" && fs::is_regular_file(path, ignored) &&
         !hdf5::CanOpen(path);
}

std::string VtkhdfFormat::UnsupportedContents(const std::string& path) const
{
  const std::string type = NameOfType(path);
  return type.empty() ? type : "VTKHDF file of type '" + PlainText(type) + "'";
}

Series VtkhdfFormat::OpenSeries(const std::string& path, const SeriesOptions& options) const
{
  Series series;
  const std::string absolute = AbsolutePath(path);
  const auto known = options.KnownHead ? options.KnownHead(absolute) : std::nullopt;
  if (known) {
    series.Steps.push_back(*known);
    return series;
  }
  const FileDescription file = ReadFileDescription(absolute);
  for (int step = 0; step < std::max(static_cast<int>(file.Times.size()), 1); ++step) {
    series.Steps.push_back(StepOf(file, step));
  }
  series.Warnings = file.SkipMessages;
  if (!file.Times.empty()) {
    series.Watched = {absolute};  // a program may append steps
  }
  return series;
}

Catalog VtkhdfFormat::ReadCatalog(const std::string& path) const
{
  return CatalogOf(ReadFileDescription(path));
}

Catalog VtkhdfFormat::ReadStep(const TimeStep& step) const
{
  return CatalogOf(ReadFileDescription(step.Path, step.StepInFile));
}

bool VtkhdfFormat::NeedsIndex(const Catalog& catalog) const
{
  return !StepOffsetsOf(catalog).HasNoIndex;
}

LocationTable VtkhdfFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, options).Run(requests);
}

}  // namespace patchio::vtkhdf
