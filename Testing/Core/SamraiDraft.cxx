#include "SamraiDraft.h"

#include "TestTools.h"

#include <cstdio>
#include <set>

namespace patchio::testing {
namespace {

std::string Numbered(const char* pattern, int number)
{
  char text[64];
  std::snprintf(text, sizeof(text), pattern, number);
  return text;
}

std::string ComponentOf(const Variable& variable, int component)
{
  return variable.Components == 1 ? variable.StoredName : variable.StoredName + Numbered(".%02d", component);
}

/// Appends three numbers, the third 0 in two dimensions.
template <typename T, typename Values>
void AppendRow(std::vector<T>& rows, const Values& values, int dimension)
{
  rows.insert(rows.end(), {T(values[0]), T(values[1]), dimension == 3 ? T(values[2]) : T(0)});
}

void DraftRun(const Catalog& catalog, Hdf5Draft& draft)
{
  draft["/BASIC_INFO/VDR_version_number"] = Floats({2});
  draft["/BASIC_INFO/grid_type"] = Texts({catalog.Grid == GridKind::Uniform ? "CARTESIAN" : "DEFORMED"});
  draft["/BASIC_INFO/time"] = Doubles({catalog.Time});
  draft["/BASIC_INFO/time_step_number"] = Ints({static_cast<int>(catalog.Step)});
  draft["/BASIC_INFO/number_dimensions_of_problem"] = Ints({catalog.Dimension});
}

void DraftLevels(const Catalog& catalog, Hdf5Draft& draft)
{
  std::vector<int> counts, ratios;
  std::vector<double> spacing, corner;
  for (const Level& level : catalog.Levels) {
    AppendRow(ratios, counts.empty() ? Int3{-1, -1, -1} : level.Ratio, catalog.Dimension);
    AppendRow(spacing, level.Spacing, catalog.Dimension);
    counts.push_back(level.PatchCount);
  }
  // XLO is the domain's corner: the lowest index of level 0.
  Int3 first = catalog.Patches[0].Cells.Lower;
  for (int p = 0; p < catalog.Levels[0].PatchCount; ++p) {
    for (int axis = 0; axis < 3; ++axis) {
      first[axis] = std::min(first[axis], catalog.Patches[p].Cells.Lower[axis]);
    }
  }
  Double3 lowest;
  for (int axis = 0; axis < 3; ++axis) {
    lowest[axis] = catalog.Origin[axis] + catalog.Levels[0].Spacing[axis] * first[axis];
  }
  AppendRow(corner, lowest, catalog.Dimension);
  draft["/BASIC_INFO/number_levels"] = Ints({static_cast<int>(counts.size())});
  draft["/BASIC_INFO/number_patches_at_level"] = Ints(counts);
  draft["/BASIC_INFO/number_global_patches"] = Ints({static_cast<int>(catalog.Patches.size())});
  draft["/BASIC_INFO/ratios_to_coarser_levels"] = NativeInts(ratios);
  draft["/BASIC_INFO/dx"] = NativeDoubles(spacing);
  draft["/BASIC_INFO/XLO"] = Doubles(corner);
}

void DraftPatches(const Catalog& catalog, Hdf5Draft& draft)
{
  std::vector<PatchMapDraft> map;
  std::vector<PatchExtentsDraft> extents;
  for (const Patch& patch : catalog.Patches) {
    map.push_back({patch.File, patch.Writer, patch.Level, patch.Number});
    extents.push_back({patch.Cells.Lower, patch.Cells.Upper, {-9, -9, -9}, {-9, -9, -9}});
  }
  draft["/extents/patch_map"] = Records(map);
  draft["/extents/patch_extents"] = Records(extents);
}

void DraftVariables(const Catalog& catalog, Hdf5Draft& draft)
{
  std::vector<std::string> names;
  std::vector<int> cellCentred, components, ghosts;
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    names.push_back(variable.Name);
    cellCentred.push_back(variable.Center == Centering::Cell);
    components.push_back(variable.Components);
    AppendRow(ghosts, variable.Ghosts, catalog.Dimension);
    std::vector<MinMaxDraft> ranges(catalog.Patches.size());
    for (std::size_t p = 0; p < ranges.size(); ++p) {
      ranges[p].Defined = catalog.PresenceOf(v, p) == Presence::Stored;
      ranges[p].Min = ranges[p].Max = static_cast<double>(p);
    }
    for (int c = 0; c < variable.Components; ++c) {
      draft["/extents/" + ComponentOf(variable, c) + "-Extents"] = Records(ranges);
    }
  }
  draft["/BASIC_INFO/number_visit_variables"] = Ints({static_cast<int>(names.size())});
  draft["/BASIC_INFO/var_names"] = Texts(names);
  draft["/BASIC_INFO/var_cell_centered"] = Ints(cellCentred);
  draft["/BASIC_INFO/var_number_components"] = Ints(components);
  draft["/BASIC_INFO/var_number_ghosts"] = NativeInts(ghosts);
}

void DraftChildren(const Catalog& catalog, Hdf5Draft& draft)
{
  draft["/BASIC_INFO/child_array_length"] = Ints({static_cast<int>(catalog.Children.size())});
  if (catalog.Children.empty()) {
    return;
  }
  std::vector<PointerDraft> pointers;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    const int count = catalog.ChildBegin[p + 1] - catalog.ChildBegin[p];
    pointers.push_back({count > 0 ? catalog.ChildBegin[p] : -1, count});
  }
  draft["/BASIC_INFO/child_array"] = Ints(catalog.Children);
  draft["/BASIC_INFO/child_pointer_array"] = Records(pointers);
}

}  // namespace

Catalog SmallCatalog()
{
  Catalog catalog;
  catalog.Dimension = 2;
  catalog.Time = 0.25;
  catalog.Step = 7;
  catalog.Origin = {10, -1, 0};
  AddLevel(catalog, {{{0, 0, 0}, {3, 2, 0}}, {{4, 0, 0}, {6, 2, 0}}});
  AddLevel(catalog, {{{2, 2, 0}, {5, 5, 0}}}, {2, 2, 1});
  catalog.Levels[0].Spacing = {0.5, 0.25, 1};
  catalog.Levels[1].Spacing = {0.25, 0.125, 1};
  catalog.Patches[1].Writer = 1;
  catalog.Patches[1].File = catalog.Patches[2].File = 1;
  catalog.Patches[2].Writer = 2;  // two processors in one cluster file
  catalog.Variables.push_back({"density", Centering::Cell, 1, {0, 0, 0}, "density", -1});
  catalog.Variables.push_back({"velocity", Centering::Node, 2, {0, 0, 0}, "velocity", -1});
  catalog.Variables.push_back({"pressure", Centering::Cell, 1, {1, 0, 0}, "pressure", -1});
  catalog.Variables.push_back({"fine only", Centering::Cell, 1, {0, 0, 0}, "fine only", -1});
  catalog.ResetPresence();
  for (int v = 0; v < 4; ++v) {
    for (int p = 0; p < 3; ++p) {
      catalog.SetPresence(v, p, v < 3 || p == 2 ? Presence::Stored : Presence::Absent);
    }
  }
  catalog.ChildBegin = {0, 1, 1, 1};
  catalog.Children = {2};
  return catalog;
}

float DraftValue(int patch, int variable, int component, std::int64_t index)
{
  return float(((patch * 10 + variable) * 10 + component) * 1000 + index);
}

std::vector<float> DraftValues(const Catalog& catalog, int patch, int variable, int component)
{
  std::vector<float> values(catalog.StoredTuples(variable, patch));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = DraftValue(patch, variable, component, i);
  }
  return values;
}

Hdf5Draft DraftSummary(const Catalog& catalog)
{
  Hdf5Draft draft;
  DraftRun(catalog, draft);
  DraftLevels(catalog, draft);
  DraftPatches(catalog, draft);
  DraftVariables(catalog, draft);
  DraftChildren(catalog, draft);
  return draft;
}

Hdf5Draft DraftCluster(const Catalog& catalog, int file)
{
  Hdf5Draft draft;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
      if (catalog.Patches[p].File != file || catalog.PresenceOf(v, p) != Presence::Stored) {
        continue;
      }
      for (int c = 0; c < catalog.Variables[v].Components; ++c) {
        draft[PatchGroup(catalog.Patches[p]) + ComponentOf(catalog.Variables[v], c)] =
            Floats(DraftValues(catalog, p, v, c));
      }
    }
  }
  return draft;
}

std::string PatchGroup(const Patch& patch)
{
  return Numbered("/processor.%05d/", patch.Writer) + Numbered("level.%05d/", patch.Level) +
         Numbered("patch.%05d/", patch.Number);
}

std::string WriteDump(const std::string& folder, const Catalog& catalog)
{
  const std::string dump = folder + "/" + Numbered("visit_dump.%05d", static_cast<int>(catalog.Step));
  std::filesystem::create_directories(dump);
  const std::string summary = dump + "/summary.samrai";
  WriteHdf5(summary, DraftSummary(catalog));
  std::set<int> files;
  for (const Patch& patch : catalog.Patches) {
    files.insert(patch.File);
  }
  for (const int file : files) {
    WriteHdf5(ClusterPath(summary, file), DraftCluster(catalog, file));
  }
  return summary;
}

std::string ClusterPath(const std::string& summary, int file)
{
  return std::filesystem::path(summary).parent_path().string() +
         Numbered("/processor_cluster.%05d.samrai", file);
}

}  // namespace patchio::testing
