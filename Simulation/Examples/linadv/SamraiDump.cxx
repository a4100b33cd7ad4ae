#include "SamraiDump.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Catalog/Nesting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

namespace patchio::draft {

// ---- HDF5 files ----

hid_t Checked(hid_t result)
{
  if (result < 0) {
    throw Error("An HDF5 function failed: " + hdf5::LastMessage());
  }
  return result;
}

hdf5::Handle IntermediateGroupLinks()
{
  hdf5::Handle links(Checked(H5Pcreate(H5P_LINK_CREATE)));
  H5Pset_create_intermediate_group(links, 1);
  return links;
}

hdf5::Handle WriteDataset(hid_t file, const std::string& path, hid_t fileType, hid_t memoryType,
    const std::vector<hsize_t>& shape, const void* values, const std::function<void(hid_t creation)>& choose)
{
  const hdf5::Handle links = IntermediateGroupLinks();
  const hdf5::Handle creation(Checked(H5Pcreate(H5P_DATASET_CREATE)));
  H5Pset_obj_track_times(creation, std::getenv("SOURCE_DATE_EPOCH") == nullptr);
  if (choose) {
    choose(creation);
  }
  const hdf5::Handle space(Checked(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)));
  hdf5::Handle dataset(
      Checked(H5Dcreate2(file, path.c_str(), fileType, space, links, creation, H5P_DEFAULT)));
  if (values) {
    Checked(H5Dwrite(dataset, memoryType, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
  return dataset;
}

namespace {

/// SAMRAI's codes of types.
enum TypeCode : signed char
{
  DoubleCode = 5,
  FloatCode = 6,
  IntCode = 7,
  StringCode = 8
};

void WriteTagged(hid_t file, const std::string& path, TypeCode code, hid_t fileType, hid_t memoryType,
    std::size_t count, const void* values)
{
  const hdf5::Handle dataset = WriteDataset(file, path, fileType, memoryType, {count}, values);
  const hdf5::Handle space(Checked(H5Screate(H5S_SCALAR)));
  const hdf5::Handle type(
      Checked(H5Acreate2(dataset, "Type", H5T_STD_I8BE, space, H5P_DEFAULT, H5P_DEFAULT)));
  Checked(H5Awrite(type, H5T_NATIVE_SCHAR, &code));
}

struct Member
{
  const char* Name;
  std::size_t Offset;
  hid_t Type;
  hsize_t Count = 1;
};

/// Writes a data set of records. `members`: the members of a record in the order of the file.
template <typename Record>
void WriteRecords(hid_t file, const std::string& path, const std::vector<Record>& values,
    const std::vector<Member>& members)
{
  const hdf5::Handle type(Checked(H5Tcreate(H5T_COMPOUND, sizeof(Record))));
  for (const Member& member : members) {
    const hdf5::Handle part(
        member.Count > 1 ? H5Tarray_create2(member.Type, 1, &member.Count) : H5Tcopy(member.Type));
    Checked(H5Tinsert(type, member.Name, member.Offset, part));
  }
  WriteDataset(file, path, type, type, {values.size()}, values.data());
}

}  // namespace

DraftDataset Ints(const std::vector<int>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteTagged(file, path, IntCode, H5T_STD_I32BE, H5T_NATIVE_INT, values.size(), values.data());
  };
}

DraftDataset Floats(const std::vector<float>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteTagged(file, path, FloatCode, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, values.size(), values.data());
  };
}

DraftDataset Doubles(const std::vector<double>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteTagged(file, path, DoubleCode, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, values.size(), values.data());
  };
}

DraftDataset Texts(const std::vector<std::string>& values)
{
  return [=](hid_t file, const std::string& path) {
    std::size_t width = 1;
    for (const std::string& text : values) {
      width = std::max(width, text.size() + 1);
    }
    std::vector<char> bytes(width * values.size(), '\0');
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::copy(values[i].begin(), values[i].end(), bytes.begin() + i * width);
    }
    const hdf5::Handle type(Checked(H5Tcopy(H5T_C_S1)));
    H5Tset_size(type, width);
    WriteTagged(file, path, StringCode, type, type, values.size(), bytes.data());
  };
}

DraftDataset NativeInts(const std::vector<int>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteDataset(file, path, H5T_NATIVE_INT, H5T_NATIVE_INT, {values.size() / 3, 3}, values.data());
  };
}

DraftDataset NativeDoubles(const std::vector<double>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteDataset(file, path, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {values.size() / 3, 3}, values.data());
  };
}

DraftDataset Records(const std::vector<PatchMapDraft>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteRecords(file, path, values,
        {{"processor_number", offsetof(PatchMapDraft, Processor), H5T_NATIVE_INT},
            {"file_cluster_number", offsetof(PatchMapDraft, Cluster), H5T_NATIVE_INT},
            {"level_number", offsetof(PatchMapDraft, Level), H5T_NATIVE_INT},
            {"patch_number", offsetof(PatchMapDraft, Patch), H5T_NATIVE_INT}});
  };
}

DraftDataset Records(const std::vector<PatchExtentsDraft>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteRecords(file, path, values,
        {{"lower", offsetof(PatchExtentsDraft, Lower), H5T_NATIVE_INT, 3},
            {"upper", offsetof(PatchExtentsDraft, Upper), H5T_NATIVE_INT, 3},
            {"xlo", offsetof(PatchExtentsDraft, LowerCorner), H5T_NATIVE_DOUBLE, 3},
            {"xup", offsetof(PatchExtentsDraft, UpperCorner), H5T_NATIVE_DOUBLE, 3}});
  };
}

DraftDataset Records(const std::vector<MinMaxDraft>& values)
{
  return [=](hid_t file, const std::string& path) {
    WriteRecords(file, path, values,
        {{"data_is_defined", offsetof(MinMaxDraft, Defined), H5T_NATIVE_CHAR},
            {"material_composition_flag", offsetof(MinMaxDraft, MaterialFlag), H5T_NATIVE_INT},
            {"species_composition_flag", offsetof(MinMaxDraft, SpeciesFlag), H5T_NATIVE_INT},
            {"min", offsetof(MinMaxDraft, Min), H5T_NATIVE_DOUBLE},
            {"max", offsetof(MinMaxDraft, Max), H5T_NATIVE_DOUBLE}});
  };
}

DraftDataset Records(const std::vector<PointerDraft>& values, const char* countName)
{
  return [=](hid_t file, const std::string& path) {
    WriteRecords(file, path, values,
        {{"offset", offsetof(PointerDraft, Offset), H5T_NATIVE_INT},
            {countName, offsetof(PointerDraft, Count), H5T_NATIVE_INT}});
  };
}

void WriteHdf5(const std::string& path, const Hdf5Draft& draft,
    const std::function<void(hid_t creation, hid_t access)>& choose)
{
  const hdf5::QuietScope quiet;
  const hdf5::Handle creation(Checked(H5Pcreate(H5P_FILE_CREATE)));
  const hdf5::Handle access(Checked(H5Pcreate(H5P_FILE_ACCESS)));
  H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);  // the default of HDF5 2 differs
  if (choose) {
    choose(creation, access);
  }
  const std::string fault = CatchError([&] {
    const hid_t file = Checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access));
    for (const auto& [name, write] : draft) {
      write(file, name);
    }
    Checked(H5Fclose(file));
  });
  if (!fault.empty()) {
    throw FileError(path, "a file that can be written", fault, "Check the free space and your permissions");
  }
}

// ---- summaries ----

namespace {

std::string ComponentOf(const Variable& variable, int component)
{
  return variable.StoredName + (variable.Components == 1 ? "" : fmt::format(".{:02}", component));
}

/// Appends three numbers. The third number is 0 in 2-D.
template <typename T>
void AppendRow(std::vector<T>& rows, const std::array<T, 3>& row, int dimension)
{
  rows.insert(rows.end(), {row[0], row[1], dimension == 3 ? row[2] : T(0)});
}

std::string TimeOfDump()
{
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = epoch ? static_cast<std::time_t>(std::atoll(epoch)) : std::time(nullptr);
  char text[80] = "";
  std::strftime(
      text, sizeof(text), "%a %b %d %H:%M:%S %Z %Y", epoch ? std::gmtime(&now) : std::localtime(&now));
  return text;
}

void DraftRun(const Catalog& catalog, int rankCount, Hdf5Draft& draft)
{
  const std::string info = "/BASIC_INFO/";
  draft[info + "VDR_version_number"] = Floats({2});
  draft[info + "grid_type"] = Texts({catalog.Grid == GridType::Uniform ? "CARTESIAN" : "DEFORMED"});
  draft[info + "time"] = Doubles({catalog.Time});
  draft[info + "time_step_number"] = Ints({static_cast<int>(catalog.Step)});
  draft[info + "time_of_dump"] = Texts({TimeOfDump()});
  draft[info + "number_processors"] = Ints({rankCount});
  draft[info + "number_file_clusters"] = Ints({rankCount});
  draft[info + "number_dimensions_of_problem"] = Ints({catalog.Dimension});
  draft[info + "patch_names_printf"] = Texts({"f%F R%P B%B L%02L P%05T"});
}

/// Returns the lower corner of level 0, which SAMRAI stores as XLO. Catalog::Origin is the position of index
/// 0.
Double3 CornerOfDomain(const Catalog& catalog)
{
  Double3 corner = catalog.Origin;
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    int first = catalog.Patches[0].Cells.Lower[axis];
    for (int p = 0; p < catalog.Levels[0].PatchCount; ++p) {
      first = std::min(first, catalog.Patches[p].Cells.Lower[axis]);
    }
    corner[axis] += catalog.Levels[0].Spacing[axis] * first;
  }
  return corner;
}

void DraftLevels(const Catalog& catalog, Hdf5Draft& draft)
{
  const std::string info = "/BASIC_INFO/";
  std::vector<int> counts, ratios;
  std::vector<double> spacings, corner;
  for (const Level& level : catalog.Levels) {
    AppendRow(ratios, counts.empty() ? Int3{-1, -1, -1} : level.Ratio, catalog.Dimension);
    AppendRow(spacings, level.Spacing, catalog.Dimension);
    counts.push_back(level.PatchCount);
  }
  AppendRow(corner, CornerOfDomain(catalog), catalog.Dimension);
  draft[info + "number_levels"] = Ints({static_cast<int>(counts.size())});
  draft[info + "number_patches_at_level"] = Ints(counts);
  draft[info + "number_global_patches"] = Ints({static_cast<int>(catalog.Patches.size())});
  draft[info + "ratios_to_coarser_levels"] = NativeInts(ratios);
  draft[info + "dx"] = NativeDoubles(spacings);
  draft[info + "XLO"] = Doubles(corner);
}

void DraftPatches(const Catalog& catalog, Hdf5Draft& draft)
{
  const Double3 corner = CornerOfDomain(catalog);
  std::vector<PatchMapDraft> map;
  std::vector<PatchExtentsDraft> extents;
  for (const Patch& patch : catalog.Patches) {
    map.push_back({patch.File, patch.Writer, patch.Level, patch.Number});
    PatchExtentsDraft& extent = extents.emplace_back();
    for (int axis = 0; axis < catalog.Dimension; ++axis) {
      const double spacing = catalog.Levels[patch.Level].Spacing[axis];
      extent.Lower[axis] = patch.Cells.Lower[axis];
      extent.Upper[axis] = patch.Cells.Upper[axis];
      // In SAMRAI's files, these corners are shifted if the first index of the domain is not 0.
      extent.LowerCorner[axis] = corner[axis] + spacing * patch.Cells.Lower[axis];
      extent.UpperCorner[axis] = corner[axis] + spacing * (patch.Cells.Upper[axis] + 1);
    }
  }
  draft["/extents/patch_map"] = Records(map);
  draft["/extents/patch_extents"] = Records(extents);
  // SAMRAI sets these numbers only when SAMRAI writes ghost layers; 0 does not mean "interior".
  draft["/extents/bdry_type"] = [count = 6 * map.size()](hid_t file, const std::string& path) {
    WriteDataset(file, path, H5T_NATIVE_INT, H5T_NATIVE_INT, {count}, std::vector<int>(count, 0).data());
  };
}

void DraftVariables(const Catalog& catalog, const std::vector<ComponentMinMax>& ranges, Hdf5Draft& draft)
{
  const std::string info = "/BASIC_INFO/";
  const std::size_t count = catalog.Variables.size();
  draft[info + "number_visit_variables"] = Ints({static_cast<int>(count)});
  if (count == 0) {
    return;
  }
  std::vector<std::string> names, components;
  std::vector<int> cellCentred, numbers, ghosts;
  std::vector<std::vector<MinMaxDraft>> records;
  for (std::size_t v = 0; v < count; ++v) {
    const Variable& variable = catalog.Variables[v];
    names.push_back(variable.Name);
    cellCentred.push_back(variable.Center == Centering::Cell);
    numbers.push_back(variable.Components);
    AppendRow(ghosts, variable.Ghosts, catalog.Dimension);
    std::vector<MinMaxDraft> ofPatches(catalog.Patches.size());
    for (std::size_t p = 0; p < ofPatches.size(); ++p) {
      ofPatches[p].Defined = catalog.PresenceOf(v, p) == Presence::Stored;
    }
    for (int c = 0; c < variable.Components; ++c) {
      components.push_back(ComponentOf(variable, c));
      records.push_back(ofPatches);
    }
  }
  for (const ComponentMinMax& range : ranges) {
    records[range.Component][range.Patch].Min = range.Min;
    records[range.Component][range.Patch].Max = range.Max;
  }
  for (std::size_t c = 0; c < components.size(); ++c) {
    draft["/extents/" + components[c] + "-Extents"] = Records(records[c]);
  }
  draft[info + "var_names"] = Texts(names);
  draft[info + "var_cell_centered"] = Ints(cellCentred);
  draft[info + "var_number_components"] = Ints(numbers);
  draft[info + "var_number_ghosts"] = NativeInts(ghosts);
  draft[info + "scaling"] = Doubles(std::vector<double>(count, 1.0));
  draft[info + "material_state_variable"] = Ints(std::vector<int>(count, 0));
}

/// Drafts a table of the children or the parents of all patches: the numbers in `lists` one after another,
/// and the range of each patch in the numbers. `word`: "child" or "parent".
void DraftRelation(const std::string& word, const char* countName, const std::vector<std::vector<int>>& lists,
    Hdf5Draft& draft)
{
  std::vector<int> numbers;
  std::vector<PointerDraft> pointers;
  for (const std::vector<int>& list : lists) {
    pointers.push_back({list.empty() ? -1 : static_cast<int>(numbers.size()), static_cast<int>(list.size())});
    numbers.insert(numbers.end(), list.begin(), list.end());
  }
  draft["/BASIC_INFO/" + word + "_array_length"] = Ints({static_cast<int>(numbers.size())});
  if (!numbers.empty()) {
    draft["/BASIC_INFO/" + word + "_array"] = Ints(numbers);
    draft["/BASIC_INFO/" + word + "_pointer_array"] = Records(pointers, countName);
  }
}

void DraftRelations(const Catalog& catalog, Hdf5Draft& draft)
{
  std::vector<std::vector<int>> children(catalog.Patches.size()), parents(children);
  for (std::size_t p = 0; p < catalog.Patches.size() && !catalog.Children.empty(); ++p) {
    for (int at = catalog.ChildBegin[p]; at < catalog.ChildBegin[p + 1]; ++at) {
      children[p].push_back(catalog.Children[at]);
      parents[catalog.Children[at]].push_back(static_cast<int>(p));
    }
  }
  DraftRelation("child", "number_children", children, draft);
  DraftRelation("parent", "number_parents", parents, draft);
}

}  // namespace

Hdf5Draft DraftSummary(const Catalog& catalog, int rankCount, const std::vector<ComponentMinMax>& ranges)
{
  Hdf5Draft draft;
  DraftRun(catalog, rankCount, draft);
  DraftLevels(catalog, draft);
  DraftPatches(catalog, draft);
  DraftVariables(catalog, ranges, draft);
  DraftRelations(catalog, draft);
  return draft;
}

// ---- cluster files and whole dumps ----

std::string PatchGroup(const Patch& patch)
{
  return fmt::format("/processor.{:05}/level.{:05}/patch.{:05}/", patch.Writer, patch.Level, patch.Number);
}

std::string ClusterPath(const std::string& summary, int file)
{
  return std::filesystem::path(summary).parent_path().string() +
         fmt::format("/processor_cluster.{:05}.samrai", file);
}

Hdf5Draft DraftCluster(
    const Catalog& catalog, int file, const ValueSource& values, std::vector<ComponentMinMax>* ranges)
{
  Hdf5Draft draft;
  for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
    int number = 0;  // number among the components of all variables
    for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
      for (int c = 0; c < catalog.Variables[v].Components; ++c, ++number) {
        if (catalog.Patches[p].File != file || catalog.PresenceOf(v, p) != Presence::Stored) {
          continue;
        }
        const std::string path = PatchGroup(catalog.Patches[p]) + ComponentOf(catalog.Variables[v], c);
        const std::size_t count = catalog.StoredTuples(v, p);
        draft[path] = [=](hid_t out, const std::string& name) {
          std::vector<double> wide(count);
          values(p, v, c, wide);
          if (ranges) {
            const auto [min, max] = std::minmax_element(wide.begin(), wide.end());
            ranges->push_back({p, number, *min, *max});
          }
          const std::vector<float> narrow(wide.begin(), wide.end());
          WriteTagged(out, name, FloatCode, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, count, narrow.data());
        };
      }
    }
  }
  return draft;
}

namespace {

/// Fills the members of a catalog that simulations leave empty: files, stored names, presence, children.
void CompleteCatalog(Catalog& catalog)
{
  for (Patch& patch : catalog.Patches) {
    patch.File = patch.Writer;
  }
  for (Variable& variable : catalog.Variables) {
    variable.StoredName = variable.Name;
  }
  catalog.ResetPresence();
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      catalog.SetPresence(v, p, Presence::Stored);
    }
  }
  const Nesting nesting(catalog, std::vector<bool>(catalog.Patches.size(), true));
  catalog.ChildBegin = {0};
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    const std::vector<int> children = nesting.ChildrenOf(static_cast<int>(p));
    catalog.Children.insert(catalog.Children.end(), children.begin(), children.end());
    catalog.ChildBegin.push_back(static_cast<int>(catalog.Children.size()));
  }
}

/// Makes the folder of a dump. Removes the files of an earlier dump of the same step, which may have had more
/// ranks.
void PrepareFolder(const std::string& path)
{
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) {
    throw SystemError(path, "a folder that can be created", fault.value(),
        "Choose a folder where you have write permission");
  }
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".samrai") {
      std::filesystem::remove(entry.path());
    }
  }
}

/// Adds a line to a text file, unless the file already has that line. Throws Error.
void AddLineOnce(const std::string& path, const std::string& line)
{
  std::set<std::string> lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    lines.insert(text);
  }
  if (lines.count(line) == 0 && !(std::ofstream(path, std::ios::app) << line << "\n" << std::flush)) {
    throw SystemError(path, "a file that can be written", errno, "Check the free space and your permissions");
  }
}

}  // namespace

void WriteDump(Communicator& ranks, const std::string& directory, Catalog catalog, const ValueSource& values)
{
  const std::string dump = fmt::format("visit_dump.{:05}", catalog.Step);
  const std::string summary = directory + "/" + dump + "/summary.samrai";
  RunOnAllRanks(ranks, [&] {
    CompleteCatalog(catalog);
    if (ranks.Rank() == 0) {
      PrepareFolder(directory + "/" + dump);
    }
  });
  std::vector<ComponentMinMax> ranges;
  RunOnAllRanks(ranks, [&] {
    Hdf5Draft cluster = DraftCluster(catalog, ranks.Rank(), values, &ranges);
    for (std::size_t level = 0; level < catalog.Levels.size(); ++level) {
      // SAMRAI makes a group for each level, even if the rank has no patches on the level.
      cluster[fmt::format("/processor.{:05}/level.{:05}", ranks.Rank(), level)] =
          [](hid_t file, const std::string& path) {
            const hdf5::Handle links = IntermediateGroupLinks();
            Checked(H5Gclose(H5Gcreate2(file, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT)));
          };
    }
    WriteHdf5(ClusterPath(summary, ranks.Rank()), cluster);
  });
  ranges = GatherValues(ranks, ranges);
  // A dump is complete when dumps.visit names it, so the order is: clusters, summary, dumps.visit.
  RunOnRankZero(ranks, [&] {
    WriteHdf5(summary, DraftSummary(catalog, ranks.Size(), ranges));
    AddLineOnce(directory + "/dumps.visit", dump + "/summary.samrai");
  });
}

}  // namespace patchio::draft
