#include "Formats/Container/StepLayout.h"

#include "Base/Bytes.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace patchio::container {
namespace {

/// Returns the interleaved bits of three numbers as two words of 48 bits, the higher word first.
std::pair<std::uint64_t, std::uint64_t> MortonKey(const std::array<std::uint32_t, 3>& index)
{
  std::array<std::uint64_t, 2> words{0, 0};
  for (int bit = 0; bit < 32; ++bit) {
    for (int axis = 0; axis < 3; ++axis) {
      const int to = 3 * bit + axis;
      words[to / 48] |= std::uint64_t(index[axis] >> bit & 1) << to % 48;
    }
  }
  return {words[1], words[0]};
}

std::pair<std::uint64_t, std::uint64_t> KeyOf(const Patch& patch)
{
  std::array<std::uint32_t, 3> index{};
  for (int axis = 0; axis < 3; ++axis) {
    index[axis] = static_cast<std::uint32_t>(patch.Cells.Lower[axis] + (std::int64_t(1) << 30));
  }
  return MortonKey(index);
}

/// Returns whether there are partitions, and all of them have points and have cells in the same lists.
bool ArePartitionsAlike(const Catalog& catalog)
{
  for (const MeshSize& mesh : catalog.Meshes) {
    for (int list = 0; list < MeshSize::MostLists; ++list) {
      if (mesh.Points == 0 || (mesh.Cells[list] == 0) != (catalog.Meshes[0].Cells[list] == 0)) {
        return false;
      }
    }
  }
  return !catalog.Meshes.empty();
}

bool IsOnAllPatches(const Catalog& catalog, int variable)
{
  for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
    if (catalog.PresenceOf(variable, p) != Presence::Stored) {
      return false;
    }
  }
  return true;
}

/// Returns the name of the data set for an array of a mesh.
std::string MeshLinkNameOf(const Catalog& catalog, const Variable& variable)
{
  const char* const name = variable.Role == MeshRole::Points         ? "/Points"
                           : variable.Role == MeshRole::Connectivity ? "/Connectivity"
                           : variable.Role == MeshRole::Offsets      ? "/Offsets"
                                                                     : "/Types";
  return variable.Role == MeshRole::Points ? name : GroupOfList(catalog, variable.CellList) + name;
}

/// Returns the names of the variables' data sets below the group of a level. The names are all different.
std::vector<std::string> LinkNamesOf(const Catalog& catalog)
{
  UniqueNames links;
  std::vector<std::string> names;
  for (const Variable& variable : catalog.Variables) {
    if (variable.Role != MeshRole::Values && variable.Role != MeshRole::Flags) {
      names.push_back(MeshLinkNameOf(catalog, variable));
      continue;
    }
    std::string name = variable.Name.empty() || variable.Name == "." ? "unnamed" : variable.Name;
    std::replace(name.begin(), name.end(), '/', '_');  // in HDF5, a slash would denote a group
    names.push_back(links.Add((variable.Center == Centering::Cell ? "/CellData/" : "/PointData/") + name));
  }
  return names;
}

std::uint64_t TuplesPerChunk(const Catalog& catalog, const DataSet& set)
{
  // Limits on the tuples of a chunk. Smaller chunks make long lists and compress badly; with larger ones, a
  // slice through large patches must decode too many values.
  constexpr std::uint64_t fewest = 1 << 10, most = 1 << 16;
  const std::uint64_t components = catalog.Variables[set.Variable].Components;
  std::uint64_t patches = 0, least = ~std::uint64_t(0), greatest = 0;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    const Patch& patch = catalog.Patches[p];
    const std::uint64_t values = ValuesOf(catalog, set.Variable, static_cast<int>(p));
    if (patch.Level == set.Level && patch.File == set.File && values > 0) {
      ++patches;
      least = std::min(least, values / components);
      greatest = std::max(greatest, values / components);
    }
  }
  const std::uint64_t all = set.Values / components;
  if (least != greatest) {
    return std::min(all, std::clamp(all / patches / 2, fewest, most));
  }
  if (least <= most) {
    return std::min(all, RoundUp(fewest, least));
  }
  std::uint64_t parts = (least + most - 1) / most;
  while (parts < 2 * (least / most) + 2 && least % parts != 0) {
    ++parts;
  }
  return least % parts == 0 ? least / parts : most;
}

}  // namespace

std::vector<int> RowsOf(const Catalog& catalog)
{
  struct Row
  {
    int Level, File;
    std::pair<std::uint64_t, std::uint64_t> Key;
    int Patch;
    bool operator<(const Row& o) const
    {
      return std::tie(Level, File, Key, Patch) < std::tie(o.Level, o.File, o.Key, o.Patch);
    }
  };
  std::vector<Row> rows;
  rows.reserve(catalog.Patches.size());
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    const Patch& patch = catalog.Patches[p];
    rows.push_back({patch.Level, patch.File, KeyOf(patch), static_cast<int>(p)});
  }
  std::sort(rows.begin(), rows.end());
  std::vector<int> patches;
  for (const Row& row : rows) {
    patches.push_back(row.Patch);
  }
  return patches;
}

FileProfile ProfileOf(const Catalog& catalog, int files)
{
  if (catalog.IsMesh()) {
    return files == 1 && ArePartitionsAlike(catalog) ? FileProfile::Mesh : FileProfile::Custom;
  }
  bool refined = catalog.Grid == GridType::Uniform && files == 1 && !catalog.Patches.empty();
  for (const Level& level : catalog.Levels) {
    refined = refined && level.Role == LevelRole::Refinement && level.PatchCount > 0 && level.FlatAxes == 0;
  }
  if (!refined) {
    return FileProfile::Custom;
  }
  const bool nodesOnly = std::all_of(catalog.Variables.begin(), catalog.Variables.end(),
      [](const Variable& variable) { return variable.Center == Centering::Node; });
  return catalog.Patches.size() == 1 && nodesOnly ? FileProfile::Image : FileProfile::Amr;
}

std::string GroupOfLevel(FileProfile profile, int level)
{
  return profile == FileProfile::Image || profile == FileProfile::Mesh ? "VTKHDF"
         : profile == FileProfile::Amr                                 ? fmt::format("VTKHDF/Level{}", level)
                                       : fmt::format("PatchIO/Level{}", level);
}

std::string GroupOfList(const Catalog& catalog, int list)
{
  constexpr std::array<const char*, MeshSize::MostLists> names{"/Vertices", "/Lines", "/Polygons", "/Strips"};
  return catalog.Grid == GridType::Polygonal ? names[list] : "";
}

std::vector<DataSet> DataSetsOf(const Catalog& catalog, int files)
{
  const FileProfile profile = ProfileOf(catalog, files);
  std::map<std::array<int, 3>, std::uint64_t> values;  // by level, variable and file
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      const Patch& patch = catalog.Patches[p];
      values[{patch.Level, v, patch.File}] += ValuesOf(catalog, v, p);
    }
  }
  std::vector<bool> forAll;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    forAll.push_back(IsOnAllPatches(catalog, v));
  }
  std::vector<DataSet> sets;
  const std::vector<std::string> names = LinkNamesOf(catalog);
  for (const auto& [where, count] : values) {
    if (count > 0) {
      DataSet& set = sets.emplace_back();
      std::tie(set.Level, set.Variable, set.File) = std::tie(where[0], where[1], where[2]);
      set.Name =
          GroupOfLevel(forAll[set.Variable] ? profile : FileProfile::Custom, set.Level) + names[set.Variable];
      set.Values = count;
    }
  }
  return sets;
}

std::vector<std::uint64_t> ShapeOf(const Catalog& catalog, int files, const DataSet& set)
{
  const Variable& variable = catalog.Variables[set.Variable];
  std::vector<std::uint64_t> shape{set.Values / variable.Components};
  if (ProfileOf(catalog, files) == FileProfile::Image) {
    const auto dims = catalog.ArrayDims(0, variable.Center, {0, 0, 0});
    shape.assign(dims.rbegin(), dims.rend());
  }
  if (variable.Components > 1) {
    shape.push_back(variable.Components);
  }
  return shape;
}

std::vector<std::uint64_t> ChunkShapeOf(const Catalog& catalog, int files, const DataSet& set)
{
  std::vector<std::uint64_t> shape = ShapeOf(catalog, files, set);
  const std::size_t axes = shape.size() - (catalog.Variables[set.Variable].Components > 1 ? 1 : 0);
  std::size_t axis = 0;
  while (axis + 1 < axes && shape[axis] == 1) {
    ++axis;
  }
  std::uint64_t row = 1;
  for (std::size_t a = axis + 1; a < axes; ++a) {
    row *= shape[a];
  }
  shape[axis] = std::clamp<std::uint64_t>(TuplesPerChunk(catalog, set) / row, 1, shape[axis]);
  return shape;
}

std::uint64_t ChunkCountOf(const Catalog& catalog, int files, const DataSet& set)
{
  const std::vector<std::uint64_t> shape = ShapeOf(catalog, files, set),
                                   chunk = ChunkShapeOf(catalog, files, set);
  std::uint64_t chunks = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    chunks *= (shape[axis] + chunk[axis] - 1) / chunk[axis];
  }
  return chunks;
}

std::vector<std::uint64_t> ValuesBefore(const Catalog& catalog, const std::vector<int>& rows, int variable)
{
  std::vector<std::uint64_t> before(rows.size());
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Patch& patch = catalog.Patches[rows[row]];
    if (row > 0) {
      const Patch& last = catalog.Patches[rows[row - 1]];
      sum = last.Level == patch.Level && last.File == patch.File ? sum : 0;
    }
    before[rows[row]] = sum;
    sum += ValuesOf(catalog, variable, rows[row]);
  }
  return before;
}

std::string tables::Positions(int axis)
{
  return fmt::format("positions{}", axis);
}

std::string tables::Labels(int axis)
{
  return fmt::format("labels{}", axis);
}

}  // namespace patchio::container
