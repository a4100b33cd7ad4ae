#include "Formats/SAMRAI/SamraiWriter.h"

#include "Catalog/Nesting.h"
#include "Support/Error.h"
#include "Support/Hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>

namespace patchio::samrai {
namespace {

using hdf5::Handle;

// ---- records as SAMRAI lays them out in memory, and so in the file ----

struct MinMax
{
  double Min = 0.0;
  double Max = 0.0;
  int MaterialFlag = 2;  // "mixed": what SAMRAI gives to ordinary variables
  int SpeciesFlag = 2;
  char Defined = 1;
  char Padding[7] = {};  // named, so that no chance bytes reach the file
};

struct PatchMapEntry
{
  int Cluster = 0;
  int Processor = 0;
  int Level = 0;
  int Patch = 0;
};

struct PatchExtent
{
  int Lower[3], Upper[3];
  double LowerCorner[3], UpperCorner[3];
};

struct PointerEntry
{
  int Offset, Count;
};

// ---- small HDF5 vocabulary ----

/// SAMRAI's codes in the attribute `Type` of what its database class writes.
enum class TypeCode : signed char
{
  Double = 5,
  Float = 6,
  Int = 7,
  String = 8
};

bool Reproducible()
{
  return std::getenv("SOURCE_DATE_EPOCH") != nullptr;
}

/// A new HDF5 file whose calls fail with the file's name.
class OutputFile
{
public:
  explicit OutputFile(const std::string& path) : Path(path), Creation(H5Pcreate(H5P_DATASET_CREATE))
  {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    // Without a sieve buffer values are written, and fail, when we ask for it and not in some destructor.
    H5Pset_sieve_buf_size(access, 0);
    errno = 0;
    this->File = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
    this->Check(this->File, "a file that can be created");
    H5Pset_obj_track_times(this->Creation, !Reproducible());
  }

  Handle MakeGroup(hid_t parent, const std::string& name) const
  {
    errno = 0;
    Handle group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    this->Check(group, "room for group " + name);
    return group;
  }
  Handle MakeGroup(const std::string& name) const { return this->MakeGroup(this->File, name); }

  /// The family without the attribute: native byte order.
  void WriteNative(hid_t group, const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
      const void* values) const
  {
    this->WriteDataset(group, name, type, type, shape, values);
  }

  void Write(hid_t group, const std::string& name, const std::vector<int>& values) const
  {
    this->WriteTagged(
        group, name, H5T_STD_I32BE, H5T_NATIVE_INT, TypeCode::Int, values.size(), values.data());
  }
  void Write(hid_t group, const std::string& name, const std::vector<float>& values) const
  {
    this->WriteTagged(
        group, name, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, TypeCode::Float, values.size(), values.data());
  }
  void Write(hid_t group, const std::string& name, const std::vector<double>& values) const
  {
    this->WriteTagged(
        group, name, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, TypeCode::Double, values.size(), values.data());
  }
  void Write(hid_t group, const std::string& name, int value) const
  {
    this->Write(group, name, std::vector<int>{value});
  }
  void Write(hid_t group, const std::string& name, const std::vector<std::string>& texts) const
  {
    std::size_t width = 1;
    for (const std::string& text : texts) {
      width = std::max(width, text.size() + 1);
    }
    std::vector<char> bytes(width * texts.size(), '\0');
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::copy(texts[i].begin(), texts[i].end(), bytes.begin() + i * width);
    }
    const Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, width);
    this->WriteTagged(group, name, type, type, TypeCode::String, texts.size(), bytes.data());
  }

  /// Must be called last: a full disk often shows only when the file's caches are written.
  void Finish() const
  {
    errno = 0;
    this->Check(H5Fflush(this->File, H5F_SCOPE_GLOBAL), "room for the file");
  }

private:
  /// The family with the attribute: big endian.
  void WriteTagged(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType, TypeCode code,
      std::size_t count, const void* values) const
  {
    const Handle dataset = this->WriteDataset(group, name, fileType, memoryType, {count}, values);
    const Handle space(H5Screate(H5S_SCALAR));
    const Handle attribute(H5Acreate2(dataset, "Type", H5T_STD_I8BE, space, H5P_DEFAULT, H5P_DEFAULT));
    this->Check(H5Awrite(attribute, H5T_NATIVE_SCHAR, &code), "room for the type of " + name);
  }

  Handle WriteDataset(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
      const std::vector<hsize_t>& shape, const void* values) const
  {
    errno = 0;
    const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    Handle dataset(
        H5Dcreate2(group, name.c_str(), fileType, space, H5P_DEFAULT, this->Creation, H5P_DEFAULT));
    this->Check(dataset, "room for data set " + name);
    this->Check(H5Dwrite(dataset, memoryType, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
        "room for the values of " + name);
    return dataset;
  }

  void Check(hid_t result, const std::string& expected) const
  {
    if (result < 0) {
      const std::string found = errno ? SystemMessage(errno) : hdf5::LastMessage();
      // HDF5 crashes at the end of the program if it cannot close what it has open; this gives it the room.
      std::error_code ignored;
      std::filesystem::resize_file(this->Path, 0, ignored);
      throw FileError(this->Path, expected, found, "Check the free space and the permissions there");
    }
  }

  hdf5::QuietScope Quiet;  // first member: lives longer than the file it silences
  std::string Path;
  Handle Creation;
  Handle File;
};

Handle MakeMinMaxType()
{
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(MinMax)));
  H5Tinsert(type, "data_is_defined", HOFFSET(MinMax, Defined), H5T_NATIVE_CHAR);
  H5Tinsert(type, "material_composition_flag", HOFFSET(MinMax, MaterialFlag), H5T_NATIVE_INT);
  H5Tinsert(type, "species_composition_flag", HOFFSET(MinMax, SpeciesFlag), H5T_NATIVE_INT);
  H5Tinsert(type, "min", HOFFSET(MinMax, Min), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "max", HOFFSET(MinMax, Max), H5T_NATIVE_DOUBLE);
  return type;
}

Handle MakePatchMapType()
{
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(PatchMapEntry)));
  H5Tinsert(type, "processor_number", HOFFSET(PatchMapEntry, Processor), H5T_NATIVE_INT);
  H5Tinsert(type, "file_cluster_number", HOFFSET(PatchMapEntry, Cluster), H5T_NATIVE_INT);
  H5Tinsert(type, "level_number", HOFFSET(PatchMapEntry, Level), H5T_NATIVE_INT);
  H5Tinsert(type, "patch_number", HOFFSET(PatchMapEntry, Patch), H5T_NATIVE_INT);
  return type;
}

Handle MakeExtentType()
{
  const hsize_t three = 3;
  const Handle ints(H5Tarray_create2(H5T_NATIVE_INT, 1, &three));
  const Handle doubles(H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three));
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(PatchExtent)));
  H5Tinsert(type, "lower", HOFFSET(PatchExtent, Lower), ints);
  H5Tinsert(type, "upper", HOFFSET(PatchExtent, Upper), ints);
  H5Tinsert(type, "xlo", HOFFSET(PatchExtent, LowerCorner), doubles);
  H5Tinsert(type, "xup", HOFFSET(PatchExtent, UpperCorner), doubles);
  return type;
}

Handle MakePointerType(const char* countName)
{
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(PointerEntry)));
  H5Tinsert(type, "offset", HOFFSET(PointerEntry, Offset), H5T_NATIVE_INT);
  H5Tinsert(type, countName, HOFFSET(PointerEntry, Count), H5T_NATIVE_INT);
  return type;
}

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

// ---- names and checks ----

std::string ComponentName(const Variable& variable, int component)
{
  return variable.Components == 1 ? variable.Name : fmt::format("{}.{:02}", variable.Name, component);
}

std::string DumpName(std::int64_t step)
{
  return fmt::format("visit_dump.{:05}", step);
}

std::string TimeOfDump()
{
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = epoch ? static_cast<std::time_t>(std::atoll(epoch)) : std::time(nullptr);
  const std::tm* calendar = epoch ? std::gmtime(&now) : std::localtime(&now);
  char text[80] = "";
  std::strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Z %Y", calendar);
  return text;
}

void CheckVariables(const Catalog& catalog)
{
  const int dimension = catalog.Dimension;
  for (const Variable& variable : catalog.Variables) {
    if (variable.Name.empty() || variable.Name.find('/') != std::string::npos) {
      throw Error(fmt::format(
          "'{}' cannot name a variable: use a name that is not empty and has no '/'.", variable.Name));
    }
    const int components = variable.Components;
    if (components != 1 && components != dimension && components != dimension * dimension) {
      throw Error(fmt::format("Variable '{}' has {} components; SAMRAI dumps in {}-D hold 1, {} or {}.",
          variable.Name, components, dimension, dimension, dimension * dimension));
    }
    if (variable.Ghosts != Int3{0, 0, 0}) {
      throw Error(fmt::format("Variable '{}' has ghost layers; this writer takes none.", variable.Name));
    }
  }
}

void CheckLevels(const Catalog& catalog, int ranks)
{
  int next = 0;
  for (const Level& level : catalog.Levels) {
    if (level.FirstPatch != next || level.PatchCount < 1) {
      throw Error("Every level of a SAMRAI dump needs a patch; leave empty levels out.");
    }
    next += level.PatchCount;
  }
  if (next == 0 || next != static_cast<int>(catalog.Patches.size())) {
    throw Error(fmt::format("The levels have {} patches, the dump {}.", next, catalog.Patches.size()));
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
    throw Error(fmt::format("A SAMRAI dump is 2-D or 3-D, not {}-D.", catalog.Dimension));
  }
  if (catalog.Grid != GridKind::Uniform) {
    throw Error("This writer takes uniform grids only.");
  }
  if (catalog.Step < 0 || catalog.Step > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("A SAMRAI dump cannot have the step number {}.", catalog.Step));
  }
  CheckLevels(catalog, ranks);
  CheckVariables(catalog);
}

// ---- cluster files ----

struct NumberedMinMax
{
  int Patch;      // global patch number
  int Component;  // number among the components of all variables
  MinMax Range;
};

MinMax RangeOf(const std::vector<double>& values)
{
  MinMax range;
  range.Min = *std::min_element(values.begin(), values.end());
  range.Max = *std::max_element(values.begin(), values.end());
  return range;
}

/// Writes this rank's values and notes their ranges.
class ClusterFile
{
public:
  ClusterFile(const std::string& directory, int rank, const Catalog& catalog, const PatchValues& values)
      : Rank(rank),
        Content(catalog),
        Values(values),
        File(fmt::format("{}/processor_cluster.{:05}.samrai", directory, rank))
  {
  }

  std::vector<NumberedMinMax> Write()
  {
    const Handle processor = this->File.MakeGroup(fmt::format("processor.{:05}", this->Rank));
    for (std::size_t l = 0; l < this->Content.Levels.size(); ++l) {
      const Handle group = this->File.MakeGroup(processor, fmt::format("level.{:05}", l));
      const Level& level = this->Content.Levels[l];
      for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
        if (this->Content.Patches[p].Writer == this->Rank) {
          this->WritePatch(group, p);
        }
      }
    }
    this->File.Finish();
    return std::move(this->Ranges);
  }

private:
  void WritePatch(hid_t level, int patch)
  {
    const std::string name = fmt::format("patch.{:05}", this->Content.Patches[patch].Number);
    const Handle group = this->File.MakeGroup(level, name);
    int number = 0;
    for (std::size_t v = 0; v < this->Content.Variables.size(); ++v) {
      const Variable& variable = this->Content.Variables[v];
      this->Wide.resize(this->Content.StoredTuples(static_cast<int>(v), patch));
      for (int component = 0; component < variable.Components; ++component) {
        this->Values(patch, static_cast<int>(v), component, this->Wide);
        this->Narrow.assign(this->Wide.begin(), this->Wide.end());
        this->File.Write(group, ComponentName(variable, component), this->Narrow);
        this->Ranges.push_back({patch, number++, RangeOf(this->Wide)});
      }
    }
  }

  int Rank;
  const Catalog& Content;
  const PatchValues& Values;
  OutputFile File;
  std::vector<double> Wide;
  std::vector<float> Narrow;
  std::vector<NumberedMinMax> Ranges;
};

// ---- the summary ----

/// Rows of three, with a third of 0 in 2-D, as all of SAMRAI's "x3" arrays.
template <typename T>
void AppendRow(std::vector<T>& rows, const std::array<T, 3>& row, int dimension)
{
  rows.insert(rows.end(), {row[0], row[1], dimension == 3 ? row[2] : T(0)});
}

class SummaryFile
{
public:
  SummaryFile(const std::string& directory, int ranks, const Catalog& catalog,
      const std::vector<NumberedMinMax>& ranges)
      : Ranks(ranks), Content(catalog), Ranges(ranges), File(directory + "/summary.samrai")
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
    std::vector<double> spacings, origin;
    for (const Level& level : this->Content.Levels) {
      AppendRow(ratios, patches.empty() ? Int3{-1, -1, -1} : level.Ratio, dimension);
      AppendRow(spacings, level.Spacing, dimension);
      patches.push_back(level.PatchCount);
    }
    AppendRow(origin, this->Content.Origin, dimension);
    const hsize_t levels = this->Content.Levels.size();
    this->File.Write(info, "number_levels", static_cast<int>(levels));
    this->File.Write(info, "number_patches_at_level", patches);
    this->File.Write(info, "number_global_patches", static_cast<int>(this->Content.Patches.size()));
    this->File.Write(info, "XLO", origin);
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
    this->WriteRelation(info, "child", MakePointerType("number_children"), Relation(children));
    this->WriteRelation(info, "parent", MakePointerType("number_parents"), Relation(FindParents(children)));
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
    const Double3& origin = this->Content.Origin;
    PatchExtent extent{};
    for (int axis = 0; axis < this->Content.Dimension; ++axis) {
      extent.Lower[axis] = patch.Cells.Lower[axis];
      extent.Upper[axis] = patch.Cells.Upper[axis];
      extent.LowerCorner[axis] = origin[axis] + spacing[axis] * patch.Cells.Lower[axis];
      extent.UpperCorner[axis] = origin[axis] + spacing[axis] * (patch.Cells.Upper[axis] + 1);
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
    this->File.WriteNative(group, "patch_map", MakePatchMapType(), {map.size()}, map.data());
    this->File.WriteNative(group, "patch_extents", MakeExtentType(), {extents.size()}, extents.data());
    this->File.WriteNative(group, "bdry_type", H5T_NATIVE_INT, {boundary.size()}, boundary.data());
  }

  void WriteRanges(hid_t group) const
  {
    const std::size_t patches = this->Content.Patches.size();
    std::vector<std::string> names;
    for (const Variable& variable : this->Content.Variables) {
      for (int component = 0; component < variable.Components; ++component) {
        names.push_back(ComponentName(variable, component));
      }
    }
    std::vector<std::vector<MinMax>> table(names.size(), std::vector<MinMax>(patches));
    for (const NumberedMinMax& entry : this->Ranges) {
      table[entry.Component][entry.Patch] = entry.Range;
    }
    const Handle type = MakeMinMaxType();
    for (std::size_t i = 0; i < names.size(); ++i) {
      this->File.WriteNative(group, names[i] + "-Extents", type, {patches}, table[i].data());
    }
  }

  int Ranks;
  const Catalog& Content;
  const std::vector<NumberedMinMax>& Ranges;
  OutputFile File;
};

// ---- agreement of the ranks ----

/// Runs `work`, which must not communicate, and then throws on all ranks if it failed on one.
template <typename Work>
void Together(Communicator& comm, Work work)
{
  std::string fault;
  try {
    work();
  } catch (const std::exception& error) {
    fault = error.what();
  }
  for (const std::string& text : comm.AllGather(fault)) {
    if (!text.empty()) {
      throw Error(text);
    }
  }
}

/// The ranges of all ranks on all ranks.
std::vector<NumberedMinMax> GatherRanges(Communicator& comm, const std::vector<NumberedMinMax>& mine)
{
  const std::string bytes(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(NumberedMinMax));
  std::vector<NumberedMinMax> all;
  for (const std::string& part : comm.AllGather(bytes)) {
    for (std::size_t at = 0; at < part.size(); at += sizeof(NumberedMinMax)) {
      std::memcpy(static_cast<void*>(&all.emplace_back()), part.data() + at, sizeof(NumberedMinMax));
    }
  }
  return all;
}

void MakeDirectory(const std::string& path)
{
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) {
    throw FileError(
        path, "a directory that can be created", fault.message(), "Choose a place where you may write");
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

/// Says so early, and spares HDF5 1.10 a full disk: it may crash at the end of a program that met one.
void CheckSpace(const Catalog& catalog, const std::string& directory)
{
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(directory, unknown);
  const std::uintmax_t needed = SmallestSize(catalog);
  if (!unknown && space.available < needed) {
    throw FileError(directory, fmt::format("room for a dump of {:.1f} MB", needed / 1e6),
        fmt::format("{:.1f} MB", space.available / 1e6), "Free some space or choose another place");
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

void SamraiWriter::Write(const Catalog& catalog, const PatchValues& values)
{
  const bool root = this->Comm.Rank() == 0;
  const std::string path = this->Directory + "/" + DumpName(catalog.Step);
  Together(this->Comm, [&] {
    CheckDump(catalog, this->Comm.Size());
    if (root) {
      MakeDirectory(path);
      RemoveOldFiles(path);
      CheckSpace(catalog, path);
    }
  });
  std::vector<NumberedMinMax> ranges;
  Together(this->Comm, [&] { ranges = ClusterFile(path, this->Comm.Rank(), catalog, values).Write(); });
  ranges = GatherRanges(this->Comm, ranges);
  // A dump is complete when dumps.visit names it, so the order is: clusters, summary, index.
  Together(this->Comm, [&] {
    if (root) {
      SummaryFile(path, this->Comm.Size(), catalog, ranges).Write();
      this->AppendToIndex(DumpName(catalog.Step));
    }
  });
  this->IndexStarted = true;
}

void SamraiWriter::AppendToIndex(const std::string& dumpName)
{
  const std::string path = this->Directory + "/dumps.visit";
  std::ofstream index(path, this->IndexStarted ? std::ios::app : std::ios::trunc);
  index << dumpName << "/summary.samrai\n" << std::flush;
  if (!index) {
    throw FileError(path, "a file that can be written", SystemMessage(errno),
        "Check the free space and the permissions there");
  }
}

}  // namespace patchio::samrai
