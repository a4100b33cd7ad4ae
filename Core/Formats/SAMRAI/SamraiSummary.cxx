// The summary of one dump: time and step, the whole catalog, the least and greatest values on patches.
#include "Base/Error.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Hdf5/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace patchio::samrai {
namespace {

using hdf5::RecordMember;

/// The range of one component on one patch, and its presence there.
struct MinMax
{
  double Min = 0.0;
  double Max = 0.0;
  int MaterialFlag = 0;  ///< 0: absent; 1: fills the patch; 2: mixed, also for ordinary variables
  int SpeciesFlag = 0;
  char Defined = 0;
};

/// Members of MinMax that state whether a patch has the variable. The other members may be missing or wrong
/// in files.
const std::vector<RecordMember> PresenceMembers{
    {"data_is_defined", ElementType::Int8, 1, offsetof(MinMax, Defined)},
    {"material_composition_flag", ElementType::Int32, 1, offsetof(MinMax, MaterialFlag)},
    {"species_composition_flag", ElementType::Int32, 1, offsetof(MinMax, SpeciesFlag)}};

/// Members of MinMax that state the range.
const std::vector<RecordMember> RangeMembers{
    {"data_is_defined", ElementType::Int8, 1, offsetof(MinMax, Defined)},
    {"min", ElementType::Float64, 1, offsetof(MinMax, Min)},
    {"max", ElementType::Float64, 1, offsetof(MinMax, Max)}};

/// The location of one patch: cluster file, writing processor, level, and number in the level.
struct PatchMapEntry
{
  int Cluster = 0;
  int Processor = 0;
  int Level = 0;
  int Patch = 0;
};

const std::vector<RecordMember> PatchMapMembers{
    {"processor_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Processor)},
    {"file_cluster_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Cluster)},
    {"level_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Level)},
    {"patch_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Patch)}};

/// The cells of one patch. The positions of the corners in the file may be missing or wrong, and are not
/// read.
struct PatchExtent
{
  int Lower[3] = {}, Upper[3] = {};
};

const std::vector<RecordMember> ExtentMembers{{"lower", ElementType::Int32, 3, offsetof(PatchExtent, Lower)},
    {"upper", ElementType::Int32, 3, offsetof(PatchExtent, Upper)}};

/// The children of one patch: a range of an array of global patch numbers.
struct ChildPointer
{
  int Offset = -1;  ///< -1 if the patch has no children
  int Count = 0;
};

const std::vector<RecordMember> ChildMembers{
    {"offset", ElementType::Int32, 1, offsetof(ChildPointer, Offset)},
    {"number_children", ElementType::Int32, 1, offsetof(ChildPointer, Count)}};

/// Reads the record of each patch. Throws Error when the data set and `records` differ in length.
template <typename Record>
void ReadRecords(const hdf5::File& file, const std::string& dataset, const std::vector<RecordMember>& members,
    std::vector<Record>& records)
{
  file.Records(dataset, records.size(), members, sizeof(Record), records.data());
}

const std::string Basic = "/BASIC_INFO/";
const std::string ExtentsGroup = "/extents/";

constexpr int LargestIndex = 1 << 30;
constexpr int LargestRatio = 1 << 10;
constexpr double MostCellsOfPatch = 1e14;  ///< limit on the cells of one patch with MostGhosts ghost layers

/// Throws Error when the file is not a summary, but another file of a dump or a file of another program.
void CheckIsSummary(const hdf5::File& file)
{
  if (!file.Has("/BASIC_INFO")) {
    throw FileError(file.Path(), "a summary with the group BASIC_INFO", "none",
        "Open dumps.visit or summary.samrai; processor_cluster files contain only values");
  }
}

/// Reads time and step. Throws Error when the file is not a summary, or lacks the time or the step.
void ReadTimeAndStep(const hdf5::File& file, double& time, std::int64_t& step)
{
  CheckIsSummary(file);
  time = file.Double(Basic + "time");
  step = file.Int(Basic + "time_step_number");
}

/// Reads the parts of a summary. Each part depends on the parts that were read before.
class SummaryReader
{
public:
  explicit SummaryReader(const std::string& path) : File(path) { this->Data.Path = path; }

  Catalog Read()
  {
    this->ReadHead();
    this->ReadLevels();
    this->ReadPatches();
    this->ReadGeometry();
    this->ReadVariables();
    this->ReadMaterials();
    this->ReadPresence();
    this->ReadChildren();
    return std::move(this->Data);
  }

private:
  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const
  {
    throw FileError(this->Data.Path, expected, found, "The summary is damaged or was not written by SAMRAI");
  }

  /// Returns the value of `name` as a count. Throws Error unless the file is large enough for that many items
  /// of `bytesEach` bytes.
  int Count(const std::string& name, int bytesEach) const
  {
    const int count = this->File.Int(Basic + name);
    const std::uint64_t bytes = this->File.SizeOfFile();
    if (count < 0 || std::uint64_t(count) * bytesEach > bytes) {
      this->Fail(fmt::format("a {} from 0 to {}", name, bytes / bytesEach), fmt::format("{}", count));
    }
    return count;
  }

  void ReadHead();
  void ReadLevels();
  void ReadPatches();
  void ReadGeometry();
  void ReadVariables();
  void ReadMaterials();
  void AddDenseMaterial(const std::string& material, const Int3& ghosts);
  void AddSparseMaterials(const std::vector<std::string>& materials, const Int3& ghosts);
  std::string UniqueName(const std::string& stem) const;
  Presence PresenceIn(const MinMax& record, std::size_t variable) const;
  void ReadPresence();
  Int3 GhostLayers(const int* stored, const std::string& phrase) const;
  void ReadChildren();
  void CheckChild(int patch, int child) const;
  void CheckPatch(const Patch& patch, int number) const;

  hdf5::File File;
  Catalog Data;
  std::vector<std::vector<std::string>> PresenceDatasets;  ///< data sets of each variable, one per component
  std::size_t OrdinaryVariables = 0;
};

void SummaryReader::ReadHead()
{
  ReadTimeAndStep(this->File, this->Data.Time, this->Data.Step);
  const double version = this->File.Double(Basic + "VDR_version_number");
  if (version != 2.0 && version != 3.0) {
    throw FileError(this->Data.Path, "VDR version 2 or 3", fmt::format("version {}", version),
        "PatchIO does not support this version. Convert the dump, or ask for support");
  }
  this->Data.Dimension = this->File.Int(Basic + "number_dimensions_of_problem");
  if (this->Data.Dimension != 2 && this->Data.Dimension != 3) {
    this->Fail("2 or 3 dimensions", fmt::format("{}", this->Data.Dimension));
  }
  const std::string grid = this->File.String(Basic + "grid_type");
  if (grid == "CARTESIAN" || grid == "RECTILINEAR") {
    this->Data.Grid = GridType::Uniform;
  } else if (grid == "DEFORMED" || grid == "ALE") {
    this->Data.Grid = GridType::Curvilinear;
  } else {
    this->Fail("grid_type CARTESIAN, RECTILINEAR, DEFORMED or ALE", fmt::format("'{}'", grid));
  }
}

void SummaryReader::ReadLevels()
{
  const int levels = this->Count("number_levels", 4);
  if (levels < 1) {
    this->Fail("at least one level", fmt::format("{}", levels));
  }
  const std::vector<int> counts = this->File.Ints(Basic + "number_patches_at_level", levels);
  const std::vector<int> ratios = this->File.Ints(Basic + "ratios_to_coarser_levels", 3 * levels);
  // Each patch has at least its map and its extents in the file.
  const int patches = this->Count("number_global_patches", 16 + 72);
  std::int64_t first = 0;
  std::array<std::int64_t, 3> fineness{1, 1, 1};  ///< refinement of level l relative to level 0, per axis
  for (int l = 0; l < levels; ++l) {
    Level& level = this->Data.Levels.emplace_back();
    if (counts[l] < 0 || first + counts[l] > patches) {
      this->Fail(fmt::format("{} patches on all levels together", patches),
          fmt::format("{} on level {} after {} on coarser ones", counts[l], l, first));
    }
    level.FirstPatch = static_cast<int>(first);
    level.PatchCount = counts[l];
    first += counts[l];
    for (int axis = 0; l > 0 && axis < this->Data.Dimension; ++axis) {
      level.Ratio[axis] = ratios[3 * l + axis];
      if (level.Ratio[axis] < 1 || level.Ratio[axis] > LargestRatio) {
        this->Fail(fmt::format("a refinement ratio of 1 to {} on level {}", LargestRatio, l),
            fmt::format("{}", level.Ratio[axis]));
      }
      fineness[axis] *= level.Ratio[axis];
      if (fineness[axis] > LargestIndex) {
        this->Fail(fmt::format("refinement ratios of at most {} from level 0 to level {}", LargestIndex, l),
            fmt::format("{} on axis {}", fineness[axis], axis));
      }
    }
  }
  if (first != patches) {
    this->Fail(fmt::format("{} patches on all levels together", patches), fmt::format("{}", first));
  }
  this->Data.Patches.resize(patches);
}

void SummaryReader::ReadPatches()
{
  std::vector<Patch>& patches = this->Data.Patches;
  std::vector<PatchMapEntry> map(patches.size());
  std::vector<PatchExtent> extents(patches.size());
  ReadRecords(this->File, ExtentsGroup + "patch_map", PatchMapMembers, map);
  ReadRecords(this->File, ExtentsGroup + "patch_extents", ExtentMembers, extents);
  for (std::size_t l = 0; l < this->Data.Levels.size(); ++l) {
    const Level& level = this->Data.Levels[l];
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      Patch& patch = patches[p];
      if (map[p].Level != static_cast<int>(l)) {
        this->Fail(
            fmt::format("patch {} on level {} in patch_map", p, l), fmt::format("level {}", map[p].Level));
      }
      patch.Level = map[p].Level;
      patch.Number = map[p].Patch;
      patch.Writer = map[p].Processor;
      patch.File = map[p].Cluster;
      for (int axis = 0; axis < 3; ++axis) {
        const bool used = axis < this->Data.Dimension;
        patch.Cells.Lower[axis] = used ? extents[p].Lower[axis] : 0;
        patch.Cells.Upper[axis] = used ? extents[p].Upper[axis] : 0;
      }
      this->CheckPatch(patch, p);
    }
  }
}

void SummaryReader::CheckPatch(const Patch& patch, int number) const
{
  if (patch.Number < 0 || patch.Writer < 0 || patch.File < 0) {
    this->Fail(fmt::format("non-negative numbers for patch {} in patch_map", number),
        fmt::format("patch {}, processor {}, file {}", patch.Number, patch.Writer, patch.File));
  }
  double cells = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const int lower = patch.Cells.Lower[axis];
    const int upper = patch.Cells.Upper[axis];
    if (lower > upper || lower < -LargestIndex || upper > LargestIndex) {
      this->Fail(fmt::format("a box of cells for patch {} in patch_extents, with indices up to {}", number,
                     LargestIndex),
          fmt::format("indices {} to {} on axis {}", lower, upper, axis));
    }
    cells *= double(patch.Cells.Width(axis)) + 1 + 2 * MostGhosts;
  }
  if (cells > MostCellsOfPatch) {
    this->Fail(fmt::format("a box of cells for patch {} in patch_extents, with at most {:.0e} cells", number,
                   MostCellsOfPatch),
        fmt::format("{:.0e} cells", cells));
  }
}

void SummaryReader::ReadGeometry()
{
  if (this->Data.Grid == GridType::Curvilinear) {
    return;
  }
  const int levels = static_cast<int>(this->Data.Levels.size());
  const std::vector<double> spacing = this->File.Doubles(Basic + "dx", 3 * levels);
  const std::vector<double> corner = this->File.Doubles(Basic + "XLO", 3);
  for (int axis = 0; axis < this->Data.Dimension; ++axis) {
    for (int l = 0; l < levels; ++l) {
      const double dx = spacing[3 * l + axis];
      if (!(dx > 0) || !std::isfinite(dx)) {
        this->Fail(fmt::format("a positive cell size on level {}", l), fmt::format("{}", dx));
      }
      this->Data.Levels[l].Spacing[axis] = dx;
    }
    // XLO is the corner of the domain, whose first index may differ from 0. The positions xlo of patches are
    // not used, because they are wrong unless the first index is 0.
    int first = LargestIndex;
    for (int p = 0; p < this->Data.Levels[0].PatchCount; ++p) {
      first = std::min(first, this->Data.Patches[p].Cells.Lower[axis]);
    }
    this->Data.Origin[axis] =
        corner[axis] - (this->Data.Levels[0].PatchCount > 0 ? spacing[axis] * first : 0.0);
    if (!std::isfinite(this->Data.Origin[axis])) {
      this->Fail("a finite corner of the domain in XLO", fmt::format("{}", corner[axis]));
    }
  }
}

/// Returns the numbers of ghost layers. `phrase`: phrase for messages, such as "of materials". Throws Error
/// for numbers out of range.
Int3 SummaryReader::GhostLayers(const int* stored, const std::string& phrase) const
{
  Int3 ghosts{0, 0, 0};
  for (int axis = 0; axis < this->Data.Dimension; ++axis) {
    ghosts[axis] = stored[axis];
    if (ghosts[axis] < 0 || ghosts[axis] > MostGhosts) {
      this->Fail(fmt::format("0 to {} ghost layers {}", MostGhosts, phrase), fmt::format("{}", ghosts[axis]));
    }
  }
  return ghosts;
}

void SummaryReader::ReadVariables()
{
  const int count = this->Count("number_visit_variables", 4);
  if (count > 0) {
    const std::vector<std::string> names = this->File.Strings(Basic + "var_names", count);
    const std::vector<int> cellCentred = this->File.Ints(Basic + "var_cell_centered", count);
    const std::vector<int> components = this->File.Ints(Basic + "var_number_components", count);
    const bool haveGhosts = this->File.Has(Basic + "var_number_ghosts");
    const std::vector<int> ghosts =
        haveGhosts ? this->File.Ints(Basic + "var_number_ghosts", 3 * count) : std::vector<int>(3 * count, 0);
    for (int v = 0; v < count; ++v) {
      Variable& variable = this->Data.Variables.emplace_back();
      variable.Name = variable.StoredName = names[v];
      variable.Center = cellCentred[v] ? Centering::Cell : Centering::Node;
      variable.Components = components[v];
      if (names[v].empty() || components[v] < 1 ||
          std::uint64_t(components[v]) * 32 > this->File.SizeOfFile()) {
        this->Fail("a name and at least one component, but no more than fit in the file, for each variable",
            fmt::format("'{}' with {} components", names[v], components[v]));
      }
      variable.Ghosts = this->GhostLayers(&ghosts[3 * v], fmt::format("for '{}'", names[v]));
      std::vector<std::string>& datasets = this->PresenceDatasets.emplace_back();
      for (int c = 0; c < components[v]; ++c) {
        datasets.push_back(ExtentsGroup + ComponentName(names[v], components[v], c) + "-Extents");
      }
    }
  }
  this->OrdinaryVariables = this->Data.Variables.size();
  if (this->Data.Grid == GridType::Curvilinear) {
    const int coords = this->Data.FindVariable("Coords");
    if (coords < 0 || this->Data.Variables[coords].Center != Centering::Node ||
        this->Data.Variables[coords].Components != this->Data.Dimension) {
      this->Fail("a node-centred variable 'Coords' with one component per dimension for the deformed grid",
          coords < 0 ? "none" : "a variable with another centring or number of components");
    }
    this->Data.CoordinatesVariable = coords;
  }
}

/// Returns `stem` if no variable has that name, otherwise `stem` with a suffix.
std::string SummaryReader::UniqueName(const std::string& stem) const
{
  std::string name = stem;
  // The first number to try is rarely in use, so that many materials with the same name do not take quadratic
  // time.
  for (std::size_t number = this->Data.Variables.size(); this->Data.FindVariable(name) >= 0; ++number) {
    name = name == stem ? stem + " (material)" : fmt::format("{} (material {})", stem, number);
  }
  return name;
}

void SummaryReader::ReadMaterials()
{
  if (!this->File.Has("/materials/material_names")) {
    return;
  }
  const std::vector<std::string> materials = this->File.Strings("/materials/material_names", -1);
  const std::vector<int> stored = this->File.Ints("/materials/material_number_ghosts", 3);
  const Int3 ghosts = this->GhostLayers(stored.data(), "of materials");
  if (this->File.Has(ExtentsGroup + "materials/sparse_material_list")) {
    this->AddSparseMaterials(materials, ghosts);
    return;
  }
  for (const std::string& material : materials) {
    this->AddDenseMaterial(material, ghosts);
  }
}

void SummaryReader::AddSparseMaterials(const std::vector<std::string>& materials, const Int3& ghosts)
{
  for (std::size_t m = 0; m < materials.size(); ++m) {
    Variable variable;
    variable.Name = this->UniqueName(materials[m] + " fraction");
    variable.StoredName = "materials";
    variable.Ghosts = ghosts;
    variable.Material = static_cast<int>(m);
    this->Data.Variables.push_back(variable);
    this->PresenceDatasets.push_back({ExtentsGroup + "materials/sparse_material_list"});
  }
}

void SummaryReader::AddDenseMaterial(const std::string& material, const Int3& ghosts)
{
  const std::string group = ExtentsGroup + "materials/" + material;
  const std::string fractions = group + "/" + material + "-Fractions";
  if (!this->File.Has(fractions)) {
    return;
  }
  Variable variable;
  variable.Name = this->UniqueName(material + " fraction");
  variable.StoredName = "materials/" + material + "/" + material + "-fractions";
  variable.Ghosts = ghosts;
  this->Data.Variables.push_back(variable);
  this->PresenceDatasets.push_back({fractions});

  for (const std::string& species : this->File.Names(group + "/species")) {
    variable.Name = this->UniqueName(species + " in " + material);
    variable.StoredName = "materials/" + material + "/species/" + species;
    this->Data.Variables.push_back(variable);
    this->PresenceDatasets.push_back({group + "/species/" + species});
  }
}

/// Returns the presence of a variable on a patch, from one of its records.
Presence SummaryReader::PresenceIn(const MinMax& record, std::size_t variable) const
{
  const Variable& info = this->Data.Variables[variable];
  if (variable < this->OrdinaryVariables || info.Material >= 0) {
    return record.Defined ? Presence::Stored : Presence::Absent;
  }
  // If a patch contains all or nothing of a dense material, only the flag is recorded.
  const bool species = info.StoredName.find("/species/") != std::string::npos;
  const int flag = species ? record.SpeciesFlag : record.MaterialFlag;
  return flag == 0 ? Presence::Zero : flag == 1 ? Presence::One : Presence::Stored;
}

void SummaryReader::ReadPresence()
{
  this->Data.ResetPresence();
  std::vector<MinMax> records(this->Data.Patches.size());
  for (std::size_t v = 0; v < this->Data.Variables.size(); ++v) {
    for (const std::string& dataset : this->PresenceDatasets[v]) {
      ReadRecords(this->File, dataset, PresenceMembers, records);
      for (std::size_t p = 0; p < records.size(); ++p) {
        const Presence presence = this->PresenceIn(records[p], v);
        if (presence != Presence::Absent) {
          this->Data.SetPresence(static_cast<int>(v), static_cast<int>(p), presence);
        }
      }
    }
  }
}

void SummaryReader::ReadChildren()
{
  if (!this->File.Has(Basic + "child_array_length")) {
    return;
  }
  const int length = this->Count("child_array_length", 4);
  if (length == 0) {
    return;
  }
  const std::vector<int> table = this->File.Ints(Basic + "child_array", length);
  std::vector<ChildPointer> pointers(this->Data.Patches.size());
  ReadRecords(this->File, Basic + "child_pointer_array", ChildMembers, pointers);

  this->Data.ChildBegin.push_back(0);
  for (std::size_t p = 0; p < pointers.size(); ++p) {
    const int count = std::max(pointers[p].Count, 0);
    const int offset = count > 0 ? pointers[p].Offset : 0;
    // The lists of patches do not overlap, so they are not longer than the table in total.
    if (offset < 0 || offset > length - count ||
        this->Data.Children.size() + count > static_cast<std::size_t>(length)) {
      this->Fail(fmt::format("children of patch {} inside child_array", p),
          fmt::format("{} from {}", count, offset));
    }
    for (int c = offset; c < offset + count; ++c) {
      this->CheckChild(static_cast<int>(p), table[c]);
      this->Data.Children.push_back(table[c]);
    }
    this->Data.ChildBegin.push_back(static_cast<int>(this->Data.Children.size()));
  }
}

void SummaryReader::CheckChild(int patch, int child) const
{
  const std::vector<Patch>& patches = this->Data.Patches;
  if (child < 0 || child >= static_cast<int>(patches.size()) ||
      patches[child].Level != patches[patch].Level + 1) {
    this->Fail(
        fmt::format("children of patch {} on the next finer level", patch), fmt::format("patch {}", child));
  }
}

}  // namespace

TimeStep ReadSummaryHead(const std::string& path)
{
  TimeStep head;
  head.Path = path;
  ReadTimeAndStep(hdf5::File(path), head.Time, head.Step);
  return head;
}

Catalog SamraiFormat::ReadCatalog(const std::string& path) const
{
  return SummaryReader(path).Read();
}

/// Returns the ranges of ordinary scalars only. The ranges are widened, because SAMRAI computes them before
/// rounding doubles to floats.
std::vector<ValueRange> SamraiFormat::RangesOf(const Catalog& catalog, int variable) const
{
  const Variable& wanted = catalog.Variables[variable];
  const hdf5::File file(catalog.Path);
  const std::string dataset = ExtentsGroup + wanted.StoredName + "-Extents";
  if (wanted.Components != 1 || wanted.Material >= 0 || !file.Has(dataset)) {
    return {};
  }
  std::vector<MinMax> records(catalog.Patches.size());
  ReadRecords(file, dataset, RangeMembers, records);
  std::vector<ValueRange> ranges;
  for (const MinMax& record : records) {
    ranges.push_back(record.Defined ? RangeOfFloats(record.Min, record.Max) : ValueRange::EmptyRange());
  }
  return ranges;
}

}  // namespace patchio::samrai
