#include "Formats/SAMRAI/SamraiWriter.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Catalog/Nesting.h"
#include "Formats/SAMRAI/SamraiClusterWriter.h"
#include "Formats/SAMRAI/SamraiDatabase.h"
#include "Formats/SAMRAI/SamraiNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace patchio::samrai {
namespace {

using hdf5::Handle;

// ---- which patches lie over which ----

/// Lists of global patch numbers, one list a patch, in SAMRAI's form: one array and a pointer a patch.
struct Relation
{
  explicit Relation(const std::vector<std::vector<int>>& lists)
  {
    for (const std::vector<int>& list : lists) {
      const int count = static_cast<int>(list.size());
      this->Pointers.push_back({count ? static_cast<int>(this->Numbers.size()) : -1, count});
      this->Numbers.insert(this->Numbers.end(), list.begin(), list.end());
    }
  }

  std::vector<int> Numbers;
  std::vector<PointerEntry> Pointers;
};

/// For every patch those of the next finer level that share a cell with it.
std::vector<std::vector<int>> FindChildren(const Catalog& catalog)
{
  const Nesting nesting(catalog, std::vector<bool>(catalog.Patches.size(), true));
  std::vector<std::vector<int>> children(catalog.Patches.size());
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    children[p] = nesting.ChildrenOf(static_cast<int>(p));
  }
  return children;
}

/// The other direction; parents come out ascending, as SAMRAI has them.
std::vector<std::vector<int>> FindParents(const std::vector<std::vector<int>>& children)
{
  std::vector<std::vector<int>> parents(children.size());
  for (std::size_t p = 0; p < children.size(); ++p) {
    for (int child : children[p]) {
      parents[child].push_back(static_cast<int>(p));
    }
  }
  return parents;
}

// ---- the file ----

std::string TimeOfDump()
{
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = epoch ? static_cast<std::time_t>(std::atoll(epoch)) : std::time(nullptr);
  const std::tm* calendar = epoch ? std::gmtime(&now) : std::localtime(&now);
  char text[80] = "";
  std::strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Z %Y", calendar);
  return text;
}

/// Rows of three, with a third of 0 in 2-D, as all of SAMRAI's "x3" arrays.
template <typename T>
void AppendRow(std::vector<T>& rows, const std::array<T, 3>& row, int dimension)
{
  rows.insert(rows.end(), {row[0], row[1], dimension == 3 ? row[2] : T(0)});
}

/// The lower corner of level 0, which is what XLO stands for. Catalog::Origin belongs to index 0 instead.
Double3 CornerOfDomain(const Catalog& catalog)
{
  const Level& coarsest = catalog.Levels[0];
  Double3 corner = catalog.Origin;
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    int first = catalog.Patches[coarsest.FirstPatch].Cells.Lower[axis];
    for (int p = coarsest.FirstPatch; p < coarsest.FirstPatch + coarsest.PatchCount; ++p) {
      first = std::min(first, catalog.Patches[p].Cells.Lower[axis]);
    }
    corner[axis] += coarsest.Spacing[axis] * first;
  }
  return corner;
}

class SummaryFile
{
public:
  SummaryFile(const std::string& directory, int ranks, const Catalog& catalog,
      const std::vector<ComponentRange>& ranges)
      : Ranks(ranks),
        Content(catalog),
        Ranges(ranges),
        File(directory + "/" + SummaryName),
        Corner(CornerOfDomain(catalog))
  {
  }

  void Write()
  {
    const Handle info = this->File.MakeGroup("BASIC_INFO");
    this->WriteRun(info);
    this->WriteLevels(info);
    this->WriteVariables(info);
    this->WriteRelations(info);
    const Handle extents = this->File.MakeGroup("extents");
    this->WritePatches(extents);
    this->WriteRanges(extents);
    this->File.Finish();
  }

private:
  void WriteRun(hid_t info) const
  {
    this->File.Write(info, "VDR_version_number", std::vector<float>{2.0f});
    this->File.Write(info, "grid_type", std::vector<std::string>{"CARTESIAN"});
    this->File.Write(info, "time", std::vector<double>{this->Content.Time});
    this->File.Write(info, "time_step_number", static_cast<int>(this->Content.Step));
    this->File.Write(info, "time_of_dump", std::vector<std::string>{TimeOfDump()});
    this->File.Write(info, "number_processors", this->Ranks);
    this->File.Write(info, "number_file_clusters", this->Ranks);
    this->File.Write(info, "number_dimensions_of_problem", this->Content.Dimension);
    this->File.Write(info, "patch_names_printf", std::vector<std::string>{"f%F R%P B%B L%02L P%05T"});
  }

  void WriteLevels(hid_t info) const
  {
    const int dimension = this->Content.Dimension;
    std::vector<int> patches, ratios;
    std::vector<double> spacings, corner;
    for (const Level& level : this->Content.Levels) {
      AppendRow(ratios, patches.empty() ? Int3{-1, -1, -1} : level.Ratio, dimension);
      AppendRow(spacings, level.Spacing, dimension);
      patches.push_back(level.PatchCount);
    }
    AppendRow(corner, this->Corner, dimension);
    const hsize_t levels = this->Content.Levels.size();
    this->File.Write(info, "number_levels", static_cast<int>(levels));
    this->File.Write(info, "number_patches_at_level", patches);
    this->File.Write(info, "number_global_patches", static_cast<int>(this->Content.Patches.size()));
    this->File.Write(info, "XLO", corner);
    this->File.WriteNative(info, "ratios_to_coarser_levels", H5T_NATIVE_INT, {levels, 3}, ratios.data());
    this->File.WriteNative(info, "dx", H5T_NATIVE_DOUBLE, {levels, 3}, spacings.data());
  }

  void WriteVariables(hid_t info) const
  {
    const hsize_t count = this->Content.Variables.size();
    this->File.Write(info, "number_visit_variables", static_cast<int>(count));
    if (count == 0) {
      return;
    }
    std::vector<std::string> names;
    std::vector<int> cellCentered, components;
    for (const Variable& variable : this->Content.Variables) {
      names.push_back(variable.Name);
      cellCentered.push_back(variable.Center == Centering::Cell);
      components.push_back(variable.Components);
    }
    const std::vector<int> ghosts(3 * count, 0);
    this->File.Write(info, "var_names", names);
    this->File.Write(info, "var_cell_centered", cellCentered);
    this->File.Write(info, "var_number_components", components);
    this->File.Write(info, "scaling", std::vector<double>(count, 1.0));
    this->File.Write(info, "material_state_variable", std::vector<int>(count, 0));
    this->File.WriteNative(info, "var_number_ghosts", H5T_NATIVE_INT, {count, 3}, ghosts.data());
  }

  void WriteRelations(hid_t info) const
  {
    const std::vector<std::vector<int>> children = FindChildren(this->Content);
    this->WriteRelation(info, "child",
        hdf5::MakeRecordType(MembersOfPointer("number_children"), sizeof(PointerEntry)), Relation(children));
    this->WriteRelation(info, "parent",
        hdf5::MakeRecordType(MembersOfPointer("number_parents"), sizeof(PointerEntry)),
        Relation(FindParents(children)));
  }

  void WriteRelation(hid_t info, const std::string& word, hid_t type, const Relation& relation) const
  {
    this->File.Write(info, word + "_array_length", static_cast<int>(relation.Numbers.size()));
    if (!relation.Numbers.empty()) {
      this->File.Write(info, word + "_array", relation.Numbers);
      this->File.WriteNative(
          info, word + "_pointer_array", type, {relation.Pointers.size()}, relation.Pointers.data());
    }
  }

  PatchExtent ExtentOf(const Patch& patch) const
  {
    const Double3& spacing = this->Content.Levels[patch.Level].Spacing;
    PatchExtent extent{};
    for (int axis = 0; axis < this->Content.Dimension; ++axis) {
      extent.Lower[axis] = patch.Cells.Lower[axis];
      extent.Upper[axis] = patch.Cells.Upper[axis];
      // As SAMRAI has them: shifted where the domain does not begin at index 0.
      extent.LowerCorner[axis] = this->Corner[axis] + spacing[axis] * patch.Cells.Lower[axis];
      extent.UpperCorner[axis] = this->Corner[axis] + spacing[axis] * (patch.Cells.Upper[axis] + 1);
    }
    return extent;
  }

  void WritePatches(hid_t group) const
  {
    std::vector<PatchMapEntry> map;
    std::vector<PatchExtent> extents;
    for (const Patch& patch : this->Content.Patches) {
      map.push_back({patch.Writer, patch.Writer, patch.Level, patch.Number});
      extents.push_back(this->ExtentOf(patch));
    }
    // SAMRAI fills these only when it writes ghost layers; 0 does not mean "interior".
    const std::vector<int> boundary(6 * map.size(), 0);
    this->File.WriteNative(group, "patch_map",
        hdf5::MakeRecordType(MembersOfPatchMap(), sizeof(PatchMapEntry)), {map.size()}, map.data());
    this->File.WriteNative(group, "patch_extents",
        hdf5::MakeRecordType(MembersOfExtent(Members::All), sizeof(PatchExtent)), {extents.size()},
        extents.data());
    this->File.WriteNative(group, "bdry_type", H5T_NATIVE_INT, {boundary.size()}, boundary.data());
  }

  void WriteRanges(hid_t group) const
  {
    const std::size_t patches = this->Content.Patches.size();
    std::vector<std::string> names;
    for (const Variable& variable : this->Content.Variables) {
      for (int component = 0; component < variable.Components; ++component) {
        names.push_back(ComponentName(variable.Name, variable.Components, component));
      }
    }
    MinMax ordinary;
    ordinary.Defined = 1;
    ordinary.MaterialFlag = ordinary.SpeciesFlag = 2;
    std::vector<std::vector<MinMax>> table(names.size(), std::vector<MinMax>(patches, ordinary));
    for (const ComponentRange& range : this->Ranges) {
      table[range.Component][range.Patch].Min = range.Min;
      table[range.Component][range.Patch].Max = range.Max;
    }
    const Handle type = hdf5::MakeRecordType(MembersOfMinMax(Members::All), sizeof(MinMax));
    for (std::size_t i = 0; i < names.size(); ++i) {
      this->File.WriteNative(group, names[i] + "-Extents", type, {patches}, table[i].data());
    }
  }

  int Ranks;
  const Catalog& Content;
  const std::vector<ComponentRange>& Ranges;
  DatabaseFile File;
  const Double3 Corner;
};

/// Writes summary.samrai into the dump's directory. `ranges` are those of all ranks; `ranks` is their number.
/// The catalog must have a level 0 with a patch.
void WriteSummary(const std::string& directory, int ranks, const Catalog& catalog,
    const std::vector<ComponentRange>& ranges)
{
  SummaryFile(directory, ranks, catalog, ranges).Write();
}

// ---- whether a catalog can be a dump ----

void CheckVariables(const Catalog& catalog)
{
  const int dimension = catalog.Dimension;
  for (const Variable& variable : catalog.Variables) {
    if (variable.Name.empty() || variable.Name.find('/') != std::string::npos) {
      throw Error(
          fmt::format("The variable name '{}' is invalid. Use a name that is not empty and contains no '/'.",
              variable.Name));
    }
    const int components = variable.Components;
    if (components != 1 && components != dimension && components != dimension * dimension) {
      throw Error(
          fmt::format("Variable '{}' has {} components, but SAMRAI dumps in {}-D support 1, {} or {}.",
              variable.Name, components, dimension, dimension, dimension * dimension));
    }
    if (variable.Ghosts != Int3{0, 0, 0}) {
      throw Error(
          fmt::format("Variable '{}' has ghost layers, which this writer does not support.", variable.Name));
    }
  }
}

void CheckLevels(const Catalog& catalog, int ranks)
{
  int next = 0;
  for (const Level& level : catalog.Levels) {
    if (level.FirstPatch != next || level.PatchCount < 1) {
      throw Error("Omit empty levels: every level of a SAMRAI dump needs a patch.");
    }
    next += level.PatchCount;
  }
  if (next == 0 || next != static_cast<int>(catalog.Patches.size())) {
    throw Error(
        fmt::format("The levels have {} patches, but the dump has {}.", next, catalog.Patches.size()));
  }
  for (const Patch& patch : catalog.Patches) {
    if (patch.Cells.Empty() || patch.Writer < 0 || patch.Writer >= ranks) {
      throw Error(fmt::format("Patch {} of level {} is empty or belongs to rank {} of {}.", patch.Number,
          patch.Level, patch.Writer, ranks));
    }
  }
}

void CheckDump(const Catalog& catalog, int ranks)
{
  if (catalog.Dimension != 2 && catalog.Dimension != 3) {
    throw Error(fmt::format("A SAMRAI dump must be 2-D or 3-D, not {}-D.", catalog.Dimension));
  }
  if (catalog.Grid != GridKind::Uniform) {
    throw Error("This writer supports uniform grids only.");
  }
  if (catalog.Step < 0 || catalog.Step > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("The step number {} is invalid for a SAMRAI dump.", catalog.Step));
  }
  CheckLevels(catalog, ranks);
  CheckVariables(catalog);
}

// ---- the directory of a dump ----

void MakeDirectory(const std::string& path)
{
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) {
    throw SystemError(path, "a directory that can be created", fault.value(),
        "Choose a folder where you have write permission");
  }
}

/// Bytes that the dump takes on disk, a little less than it will be.
std::uintmax_t SmallestSize(const Catalog& catalog)
{
  constexpr std::uintmax_t perDataset = 400, perPatch = 900, perValue = sizeof(float);
  std::uintmax_t bytes = perPatch * catalog.Patches.size();
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      const std::uintmax_t values = catalog.StoredTuples(static_cast<int>(v), static_cast<int>(p));
      bytes += catalog.Variables[v].Components * (perDataset + perValue * values);
    }
  }
  return bytes;
}

/// Reports a full disk early: HDF5 1.10 may crash at the end of a program that met one.
void CheckSpace(const Catalog& catalog, const std::string& directory)
{
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(directory, unknown);
  const std::uintmax_t needed = SmallestSize(catalog);
  if (!unknown && space.available < needed) {
    throw FileError(directory, "room for a dump of " + ByteText(static_cast<double>(needed)),
        ByteText(static_cast<double>(space.available)), "Free some space or choose another folder");
  }
}

/// An older dump of the same step may have had more ranks: its files must not stay among the new ones.
void RemoveOldFiles(const std::string& directory)
{
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".samrai") {
      std::filesystem::remove(entry.path());
    }
  }
}

}  // namespace

SamraiWriter::SamraiWriter(Communicator& comm, std::string directory)
    : Comm(comm), Directory(std::move(directory))
{
}

bool SamraiWriter::MayHaveMade(const std::string& name)
{
  return name == IndexName || IsDumpName(name);
}

void SamraiWriter::Write(const Catalog& catalog, const PatchValues& values)
{
  const bool root = this->Comm.Rank() == 0;
  const std::string path = this->Directory + "/" + DumpName(catalog.Step);
  RunOnAllRanks(this->Comm, [&] {
    CheckDump(catalog, this->Comm.Size());
    if (root) {
      MakeDirectory(path);
      RemoveOldFiles(path);
      CheckSpace(catalog, path);
    }
  });
  std::vector<ComponentRange> ranges;
  RunOnAllRanks(this->Comm, [&] { ranges = WriteCluster(path, this->Comm.Rank(), catalog, values); });
  ranges = GatherValues(this->Comm, ranges);
  // A dump is complete when dumps.visit names it, so the order is: clusters, summary, index.
  RunOnAllRanks(this->Comm, [&] {
    if (root) {
      WriteSummary(path, this->Comm.Size(), catalog, ranges);
      this->AppendToIndex(DumpName(catalog.Step));
    }
  });
  this->IndexStarted = true;
}

void SamraiWriter::AppendToIndex(const std::string& dumpName)
{
  const std::string path = this->Directory + "/" + IndexName;
  std::ofstream index(path, this->IndexStarted ? std::ios::app : std::ios::trunc);
  index << dumpName << "/" << SummaryName << "\n" << std::flush;
  if (!index) {
    const int fault = errno;
    throw SystemError(path, "a file that can be written", fault, "Check the free space and your permissions");
  }
}

}  // namespace patchio::samrai
