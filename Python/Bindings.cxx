// The compiled part of the Python package, patchio._core. __init__.py documents the package for users.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Catalog/Catalog.h"
#include "Catalog/CheckCatalog.h"
#include "Catalog/Nesting.h"
#include "DataSet.h"
#include "Formats/Container/StepLayout.h"
#include "Plan/Interest.h"
#include "Write/ContainerWriter.h"
#include "Write/StepWriter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

/// Returns a name or a message as str. Bytes that are not UTF-8 become escapes such as \xff, so that Python
/// can print all texts, and texts that differ in such bytes stay different.
inline pybind11::str TextOf(const std::string& text)
{
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

inline pybind11::list TextsOf(const std::vector<std::string>& texts)
{
  pybind11::list list;
  for (const std::string& text : texts) {
    list.append(TextOf(text));
  }
  return list;
}

/// Returns a path as os.fsdecode() does, so that Python can open the file.
inline pybind11::str PathTextOf(const std::string& path)
{
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

}  // namespace patchio

namespace py = pybind11;

namespace patchio {

namespace {

/// A step from _write.py: its description, and pointers to its arrays. The arrays must stay in memory until
/// the step is written.
struct StepFromPython
{
  container::StepToWrite Step;
  std::vector<container::PatchValues> Values;
};

/// Adds levels and patches to a catalog. `levels` and `boxes`: see StepFromArrays().
void AddPatches(const py::list& levels, const py::list& boxes, Catalog& catalog)
{
  std::size_t next = 0;
  for (const py::handle& entry : levels) {
    Level& level = catalog.Levels.emplace_back();
    std::tie(level.Ratio, level.Spacing, level.PatchCount) = entry.cast<std::tuple<Int3, Double3, int>>();
    level.FirstPatch = static_cast<int>(next);
    for (int number = 0; number < level.PatchCount; ++number, ++next) {
      Patch& patch = catalog.Patches.emplace_back();
      std::tie(patch.Cells.Lower, patch.Cells.Upper) = boxes[next].cast<std::tuple<Int3, Int3>>();
      patch.Level = static_cast<int>(catalog.Levels.size()) - 1;
      patch.Number = number;
    }
  }
}

/// Throws ValueError if two patches of a level share a cell.
void CheckOverlaps(const Catalog& catalog)
{
  if (const auto overlap = FindOverlap(catalog)) {
    const Patch &one = catalog.Patches[overlap->first], &two = catalog.Patches[overlap->second];
    throw py::value_error(fmt::format(
        "patches {} and {} overlap on level {}: cells ({}) to ({}) and ({}) to ({})", overlap->first,
        overlap->second, one.Level, fmt::join(one.Cells.Lower, ", "), fmt::join(one.Cells.Upper, ", "),
        fmt::join(two.Cells.Lower, ", "), fmt::join(two.Cells.Upper, ", ")));
  }
}

/// Makes a step. `step`: number of the step. `levels`: (ratio, spacing, number of patches). `boxes`: (lower,
/// upper), one per patch. `variables`: (name, at nodes, components, type). `arrays`: (patch, variable,
/// contiguous buffer of the array's bytes). _write.py has checked the types of all arguments. Throws
/// ValueError for wrong values.
StepFromPython StepFromArrays(std::int64_t step, double time, int dimension, const Double3& origin,
    const py::list& levels, const py::list& boxes, const py::list& variables, const py::list& arrays)
{
  StepFromPython result;
  Catalog& catalog = result.Step.Data;
  catalog.Step = step;
  catalog.Time = time;
  catalog.Dimension = dimension;
  catalog.Origin = origin;
  AddPatches(levels, boxes, catalog);
  for (const py::handle& entry : variables) {
    const auto [name, nodes, components, type] =
        entry.cast<std::tuple<std::string, bool, int, std::string>>();
    Variable& variable = catalog.Variables.emplace_back();
    variable.Name = name;
    variable.Center = nodes ? Centering::Node : Centering::Cell;
    variable.Components = components;
    result.Step.Types.push_back(ValueNamed(type, LastElementType).value());
  }
  catalog.ResetPresence();
  for (const py::handle& entry : arrays) {
    const auto [patch, variable, buffer] = entry.cast<std::tuple<int, int, py::buffer>>();
    catalog.SetPresence(variable, patch, Presence::Stored);
    const py::buffer_info info = buffer.request();
    const std::uint64_t bytes =
        container::ValuesOf(catalog, variable, patch) * SizeOf(result.Step.Types[variable]);
    if (static_cast<std::uint64_t>(info.size * info.itemsize) != bytes) {
      throw py::value_error("an array does not have the shape of its patch");
    }
    result.Values.push_back({patch, variable, info.ptr});
  }
  try {
    CheckCatalog(catalog);
  } catch (const Error& error) {  // the text begins with a word that Python users do not know
    const std::string text = error.what();
    const std::size_t rest = text.find(" has ");
    throw py::value_error("the step has " + (rest == std::string::npos ? text : text.substr(rest + 5)));
  }
  CheckOverlaps(catalog);
  return result;
}

/// Adds `step` to the container `path`. `overwrite`: replaces an existing container. Throws Error if the step
/// cannot be written.
void WriteStep(const std::string& path, bool overwrite, const StepFromPython& step,
    container::CompressionChoice compression, int threads)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  container::ContainerWriter writer(*alone, path, {overwrite, 0});
  container::StepToWrite toWrite = step.Step;
  toWrite.Compression = container::ChooseCompression(*alone, toWrite, compression, step.Values);
  const std::unique_ptr<container::StepWriter> writing = writer.Begin(std::move(toWrite));
  writing->Write(step.Values, threads);
  writer.Commit(*writing);
}

/// The memory of one array. Python's buffers keep this object alive. The destructor returns the memory to the
/// pool.
struct ArrayMemory
{
  Buffer Values;
  std::size_t Bytes = 0;
};

/// Returns `dims`, the numbers of values per axis, as a shape for numpy: the slowest axis first, and the
/// components as the last axis if there are several. Lists of points and meshes have one axis.
py::tuple ShapeOf(const Catalog& catalog, int level, const std::array<std::int64_t, 3>& dims, int components)
{
  const bool list = catalog.IsMesh() || catalog.RoleOf(level) == LevelRole::Points;
  const int axes = list ? 1 : catalog.Dimension;
  py::tuple shape(axes + (components > 1 ? 1 : 0));
  for (int axis = 0; axis < axes; ++axis) {
    shape[axis] = dims[axes - 1 - axis];
  }
  if (components > 1) {
    shape[axes] = components;
  }
  return shape;
}

/// Returns the number of values per axis of an array of this variable on the block. If the block is a patch,
/// the array has `ghosts` layers; other blocks have no ghost layers.
std::array<std::int64_t, 3> DimsOf(
    const Catalog& catalog, const Block& block, const Variable& variable, const Int3& ghosts)
{
  if (block.Parts.size() == 1) {
    const OwnedBox& part = block.Parts[0];
    if (part.Cells == catalog.Patches[part.Owner].Cells) {
      return catalog.ArrayDims(part.Owner, variable, ghosts);
    }
  }
  const bool cells = variable.Center == Centering::Cell;
  const Box values = cells ? block.Cells : catalog.NodesOf(block.Level, block.Cells);
  return {values.Width(0), values.Width(1), values.Width(2)};
}

/// Moves the values of `loaded` to Python without a copy. Returns a list of (block, ArrayMemory, name of the
/// type, shape) for each variable. Leaves out arrays that were not read.
py::list MoveValues(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded)
{
  py::list variables;
  for (std::size_t v = 0; v < options.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[options.Variables[v]];
    const Int3 ghosts = options.Ghosts ? variable.Ghosts : Int3{0, 0, 0};
    py::list arrays;
    for (std::size_t b = 0; b < options.Blocks.size(); ++b) {
      LoadedArray& array = loaded.At(b, v);
      if (array.Status == ArrayStatus::Read) {
        const std::size_t bytes = array.Tuples * array.Components * SizeOf(array.Type);
        const Block& block = options.Blocks[b];
        arrays.append(py::make_tuple(b, ArrayMemory{std::move(array.Values), bytes}, NameOf(array.Type),
            ShapeOf(catalog, block.Level, DimsOf(catalog, block, variable, ghosts), array.Components)));
      }
    }
    variables.append(arrays);
  }
  return variables;
}

py::dict ReportAsDict(const IoReport& report)
{
  py::dict fields;
  fields["threads"] = report.ThreadsMax;
  fields["patches"] = report.Patches;
  fields["tasks"] = report.Tasks;
  fields["requests"] = report.Requests;
  fields["bytes"] = report.Bytes;
  fields["arena_width"] = report.ArenaWidth;
  fields["peak_in_flight"] = report.PeakInFlight;
  fields["open_seconds"] = report.OpenSeconds;
  fields["locate_seconds"] = report.LocateSeconds;
  fields["read_seconds"] = report.ReadSeconds;
  fields["megabytes_per_second"] = report.MegabytesPerSecond();
  fields["metadata"] = TextOf(report.Metadata);
  fields["notes"] = TextsOf(report.Notes);
  return fields;
}

py::list LevelsOf(const Catalog& catalog)
{
  py::list levels;
  for (const Level& level : catalog.Levels) {
    levels.append(py::make_tuple(level.FirstPatch, level.PatchCount, py::tuple(py::cast(level.Ratio)),
        py::tuple(py::cast(level.Spacing))));
  }
  return levels;
}

/// Returns 9 numbers of 32 bits per patch: level, number, writer, lower, upper. The result is a bytes object,
/// because there may be a million patches.
py::bytes PatchRows(const Catalog& catalog)
{
  std::vector<std::int32_t> rows;
  rows.reserve(catalog.Patches.size() * 9);
  for (const Patch& patch : catalog.Patches) {
    rows.insert(rows.end(), {patch.Level, patch.Number, patch.Writer});
    rows.insert(rows.end(), patch.Cells.Lower.begin(), patch.Cells.Lower.end());
    rows.insert(rows.end(), patch.Cells.Upper.begin(), patch.Cells.Upper.end());
  }
  return PackValues(rows);
}

/// Returns one byte per variable and patch, variable by variable; 0: the patch lacks the variable.
py::bytes PresenceOf(const Catalog& catalog)
{
  std::string presence;
  presence.reserve(catalog.Variables.size() * catalog.Patches.size());
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      presence += static_cast<char>(catalog.PresenceOf(v, p));
    }
  }
  return presence;
}

py::list VariablesOf(const Catalog& catalog)
{
  py::list variables;
  for (const Variable& variable : catalog.Variables) {
    variables.append(
        py::make_tuple(TextOf(variable.Name), variable.Center == Centering::Cell ? "cell" : "node",
            variable.Components, variable.Ghosts, variable.TimeInvariant, TextOf(variable.LongName)));
  }
  return variables;
}

/// Returns (index of the first node, positions, labels) of each axis of a rectilinear grid. The labels are
/// the positions if the axis has no labels. Returns an empty list for other grids.
py::list AxesOf(const Catalog& catalog)
{
  py::list axes;
  if (catalog.Grid == GridType::Rectilinear) {
    for (const Axis& axis : catalog.Axes) {
      axes.append(
          py::make_tuple(axis.First, axis.Positions, axis.Labels.empty() ? axis.Positions : axis.Labels));
    }
  }
  return axes;
}

/// Returns the fields of a catalog by name. The class Step in _step.py documents most fields. For
/// "level_nodes", "level_positions" and "lattice", see NodesBeyondCells(), PositionsVariable() and Lattice in
/// Catalog.h; "level_positions" is -1 for levels without points.
py::dict CatalogAsDict(const Catalog& catalog)
{
  py::list names, roles, nodes, positions;
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    names.append(TextOf(catalog.NameOfLevel(level)));
    roles.append(NameOf(catalog.RoleOf(level)));
    positions.append(catalog.RoleOf(level) == LevelRole::Points ? catalog.PositionsVariable(level) : -1);
    nodes.append(py::make_tuple(catalog.NodesBeyondCells(level, 0), catalog.NodesBeyondCells(level, 1),
        catalog.NodesBeyondCells(level, 2)));
  }
  py::dict fields;
  fields["dimension"] = catalog.Dimension;
  fields["grid"] = NameOf(catalog.Grid);
  fields["geographic"] = catalog.Geographic;
  fields["patches_change"] = catalog.PatchesChange;
  fields["origin"] = catalog.Origin;
  fields["axes"] = AxesOf(catalog);
  fields["levels"] = LevelsOf(catalog);
  fields["level_names"] = names;
  fields["level_roles"] = roles;
  fields["level_nodes"] = nodes;
  fields["level_positions"] = positions;
  fields["patches"] = PatchRows(catalog);
  fields["variables"] = VariablesOf(catalog);
  fields["presence"] = PresenceOf(catalog);
  fields["coordinates"] =
      catalog.IsMesh() ? catalog.FindMeshArray(MeshRole::Points) : catalog.CoordinatesVariable;
  py::list mesh;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()) && catalog.IsMesh(); ++v) {
    if (catalog.IsGeometry(v)) {
      mesh.append(v);
    }
  }
  fields["mesh"] = mesh;
  fields["lattice"] = py::make_tuple(catalog.Lattice.Lower, catalog.Lattice.Upper);
  return fields;
}

/// Calls `work` and returns its result. Releases the interpreter's lock during the call, so that other Python
/// threads run, but makes only one call at a time, because HDF5 is not thread-safe.
template <typename Work>
auto RunExclusively(Work work)
{
  static std::mutex lock;
  const py::gil_scoped_release release;
  const std::lock_guard<std::mutex> guard(lock);
  return work();
}

/// A check for Ctrl-C during a read.
class InterruptCheck
{
public:
  /// Returns whether a signal has raised an exception. Asks the interpreter at most every 0.05 s, because
  /// each question needs the interpreter's lock.
  bool Poll()
  {
    constexpr double secondsBetween = 0.05;
    if (!this->Seen && this->SinceLastPoll.Seconds() >= secondsBetween) {
      const py::gil_scoped_acquire acquire;
      this->Seen = PyErr_CheckSignals() != 0;
      this->SinceLastPoll = Stopwatch();
    }
    return this->Seen;
  }
  /// Throws the signal's exception if Poll() has returned true.
  void ThrowIfSeen() const
  {
    if (this->Seen) {
      throw py::error_already_set();
    }
  }

private:
  Stopwatch SinceLastPoll;
  bool Seen = false;
};

std::shared_ptr<DataSet> Open(
    const std::vector<std::string>& paths, const std::string& metadata, bool listedOnly)
{
  const std::map<std::string, IndexMode> modes{
      {"on", IndexMode::On}, {"read", IndexMode::ReadOnly}, {"off", IndexMode::Off}};
  const IndexMode mode = modes.at(metadata);
  return RunExclusively([&] { return std::make_shared<DataSet>(paths, mode, listedOnly); });
}

/// Returns (path, time, step, date) of each step.
py::list HeadsOf(const Series& series)
{
  py::list heads;
  for (const TimeStep& step : series.Steps) {
    heads.append(py::make_tuple(PathTextOf(step.Path), step.Time, step.Step, TextOf(step.Date)));
  }
  return heads;
}

std::shared_ptr<Step> OpenStep(DataSet& data, std::size_t step)
{
  if (step >= data.Contents().Steps.size()) {
    throw py::index_error("the step index is out of range");
  }
  return RunExclusively([&] { return data.Open(step); });
}

/// Returns (patch, name of the variable, message) of each fault.
py::list FaultsOf(const Catalog& catalog, const LoadResult& loaded)
{
  py::list faults;
  for (const LoadFault& fault : loaded.Faults) {
    faults.append(
        py::make_tuple(fault.Patch, TextOf(catalog.Variables[fault.Variable].Name), TextOf(fault.Message)));
  }
  return faults;
}

std::shared_ptr<BlockPlan> PlanBlocks(const Step& step, const std::vector<int>& patches,
    const std::vector<bool>& levels, const std::vector<int>& variables, const std::string& form)
{
  const std::map<std::string, BlockForm> forms{{"patches", BlockForm::Patches}, {"merged", BlockForm::Merged},
      {"fewest", BlockForm::Fewest}, {"filled", BlockForm::Filled}};
  const BlockForm blockForm = forms.at(form);
  return RunExclusively(
      [&] { return std::make_shared<BlockPlan>(step.PlanBlocks(patches, levels, variables, blockForm)); });
}

std::shared_ptr<BlockPlan> PlanBox(
    const Step& step, const std::vector<int>& patches, const Int3& lower, const Int3& upper)
{
  return RunExclusively([&] { return std::make_shared<BlockPlan>(step.PlanBox(patches, {lower, upper})); });
}

/// Returns 9 numbers of 32 bits per block: level, lowest patch, number of parts, lower, upper.
py::bytes BlockRows(const BlockPlan& plan)
{
  std::vector<std::int32_t> rows;
  rows.reserve(plan.Blocks().size() * 9);
  for (const Block& block : plan.Blocks()) {
    int patch = block.Parts[0].Owner;
    for (const OwnedBox& part : block.Parts) {
      patch = std::min(patch, part.Owner);
    }
    rows.insert(rows.end(), {block.Level, patch, static_cast<std::int32_t>(block.Parts.size())});
    rows.insert(rows.end(), block.Cells.Lower.begin(), block.Cells.Lower.end());
    rows.insert(rows.end(), block.Cells.Upper.begin(), block.Cells.Upper.end());
  }
  return PackValues(rows);
}

/// Returns BlockPlan::Flags() as bytes. Throws IndexError if the block does not exist.
py::bytes FlagsOf(const BlockPlan& plan, std::size_t block)
{
  if (block >= plan.Blocks().size()) {
    throw py::index_error("the block index is out of range");
  }
  return PackValues(plan.Flags(block));
}

/// Reads values of blocks. `arguments`: the fields Variables, Ghosts, Threads, StopAtFault and Verify of
/// ReadOptions. Returns the result of MoveValues(), the faults, the report as a dict, and the report as text.
/// Throws Error, and KeyboardInterrupt after Ctrl-C.
py::tuple Read(Step& step, std::vector<Block> blocks, const py::args& arguments)
{
  const auto [variables, ghosts, threads, stopAtFault, verify] =
      arguments.cast<std::tuple<std::vector<int>, bool, int, bool, bool>>();
  const ReadOptions options{std::move(blocks), variables, ghosts, threads, stopAtFault, verify};
  InterruptCheck interrupt;
  LoadResult loaded = RunExclusively(
      [&] { return step.Read(options, [&](const ReadProgress&) { return !interrupt.Poll(); }); });
  interrupt.ThrowIfSeen();
  return py::make_tuple(MoveValues(step.Data(), options, loaded), FaultsOf(step.Data(), loaded),
      ReportAsDict(loaded.Report), TextOf(loaded.Report.Text()));
}

/// Returns the name of the type of a variable's values; None if no patch has the variable.
std::optional<std::string> TypeOfVariable(Step& step, int variable)
{
  const std::optional<ElementType> type = RunExclusively([&] { return step.TypeOfVariable(variable); });
  return type ? std::optional<std::string>(NameOf(*type)) : std::nullopt;
}

/// Returns numpy's name of a type with its byte order, such as ">f4".
std::string StoredTypeOf(ElementType type, bool bigEndian)
{
  const char kind = VisitType(type, [](auto value) {
    using Type = decltype(value);
    return std::is_floating_point_v<Type> ? 'f' : std::is_signed_v<Type> ? 'i' : 'u';
  });
  return fmt::format("{}{}{}", SizeOf(type) == 1 ? '|' : bigEndian ? '>' : '<', kind, SizeOf(type));
}

const char* NameOf(FilterType filter)
{
  constexpr std::array names{"none", "deflate", "shuffle", "fletcher32", "zstd"};
  static_assert(names.size() == static_cast<std::size_t>(LastFilterType) + 1);
  return names[static_cast<std::size_t>(filter)];
}

/// Returns (type, file, dims, dims of chunks, filters, first, count, bytes of the fill value, chunks) of a
/// chunked array, with the slowest axis first. `first` and `count`: the values of the patch, see
/// ChunkedArray. The element `chunks` is a bytes object with 4 numbers of 64 bits per chunk: number, offset,
/// bytes, skipped filters.
py::tuple ChunkedAsTuple(const LocationTable& table, const ChunkedArray& array)
{
  py::list dims, chunkDims, filters;
  for (int axis = 0; axis < array.Rank; ++axis) {
    dims.append(array.Dims[axis]);
    chunkDims.append(array.ChunkDims[axis]);
  }
  for (const FilterType filter : array.Filters) {
    if (filter != FilterType::None) {
      filters.append(NameOf(filter));
    }
  }
  std::vector<std::uint64_t> chunks;
  for (std::uint64_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
    const Chunk& chunk = table.Chunks[c];
    chunks.insert(chunks.end(), {chunk.Number, chunk.Offset, chunk.Bytes, chunk.SkippedFilters});
  }
  return py::make_tuple(StoredTypeOf(array.Type, array.BigEndian), array.File, dims, chunkDims, filters,
      array.First, array.Count, py::bytes(reinterpret_cast<const char*>(&array.Fill), SizeOf(array.Type)),
      py::bytes(PackValues(chunks)));
}

/// Returns the location of a variable on a patch: None if the patch lacks the variable; a float if all values
/// equal this number and the file does not store the values; a text with the reason if the stored bytes are
/// not the values; otherwise a list with an entry per stored array: (type, file, offset, bytes) or the result
/// of ChunkedAsTuple().
py::object LocationAsObject(const LocationTable& table, const Location& location)
{
  py::list arrays;
  for (std::uint32_t i = location.First; i < location.First + location.Count; ++i) {
    if (location.Kind == Encoding::Raw) {
      const ByteRange& range = table.ByteRanges[i];
      arrays.append(
          py::make_tuple(StoredTypeOf(range.Type, range.BigEndian), range.File, range.Offset, range.Bytes));
    } else if (location.Kind == Encoding::Chunked) {
      arrays.append(ChunkedAsTuple(table, table.ChunkedArrays[i]));
    }
  }
  switch (location.Kind) {
    case Encoding::Absent:
    case Encoding::Missing:  // LocationTable::Problems has the reason
      return py::none();
    case Encoding::Constant:
      return py::float_(location.Value);
    case Encoding::SparseMaterials:
      return py::str("the file stores volume fractions in sparse form");
    case Encoding::Library:
      return py::str(table.LibraryArrays[location.First].Reason);
    case Encoding::Raw:
    case Encoding::Chunked:
      break;
  }
  return arrays;
}

/// Returns the paths of files, the range of numbers that mean "undefined" (None if every number is a value),
/// whether components are interleaved in one stored array, and for each patch the result of
/// LocationAsObject(). Throws Error for values that cannot be located.
py::tuple Locate(Step& step, int variable, const std::vector<int>& patches)
{
  const LocationTable table = RunExclusively([&] { return step.Locate(variable, patches); });
  if (!table.Problems.empty()) {
    throw Error(table.Problems[0].Message);
  }
  py::list files, locations;
  for (const std::string& file : table.Files) {
    files.append(PathTextOf(file));
  }
  for (const Location& location : table.Locations) {
    locations.append(LocationAsObject(table, location));
  }
  const Variable& info = step.Data().Variables[variable];
  const py::object undefined =
      info.HasUndefined() ? py::object(py::make_tuple(info.UndefinedFrom, info.UndefinedTo)) : py::none();
  return py::make_tuple(files, undefined, info.Interleaved, locations);
}

/// Returns the number of the patch's cells per axis as a shape for numpy, and the result of
/// Step::CoveredCells() as bytes.
py::tuple CoveredCells(Step& step, int patch)
{
  const std::vector<std::uint8_t> flags = RunExclusively([&] { return step.CoveredCells(patch); });
  return py::make_tuple(ShapeOf(step.Data(), step.Data().Patches[patch].Level,
                            step.Data().ArrayDims(patch, Centering::Cell, {0, 0, 0}), 1),
      py::bytes(PackValues(flags)));
}

/// Returns the levels that ParaView's reader shows by default for these variables (property Grids:
/// Automatic).
std::vector<int> LevelsShown(const Step& step, const std::vector<int>& variables)
{
  const int levels = static_cast<int>(step.Data().Levels.size());
  const std::vector<bool> leftOut = ExcludedLevels(step.Data(), 0, levels - 1, variables, AutomaticGrid);
  std::vector<int> shown;
  for (int level = 0; level < levels; ++level) {
    if (!leftOut[level]) {
      shown.push_back(level);
    }
  }
  return shown;
}

/// Writes a step, see StepFromArrays() and WriteStep(). `number`: number of the step. `compress`: name of a
/// CompressionChoice.
void Write(const std::string& path, bool overwrite, std::int64_t number, double time, int dimension,
    const Double3& origin, const py::list& levels, const py::list& boxes, const py::list& variables,
    const py::list& arrays, const std::string& compress, int threads)
{
  const auto compression = ValueNamed(compress, container::LastCompressionChoice).value();
  const StepFromPython step =
      StepFromArrays(number, time, dimension, origin, levels, boxes, variables, arrays);
  RunExclusively([&] { WriteStep(path, overwrite, step, compression, threads); });
}

py::buffer_info BufferOf(ArrayMemory& memory)
{
  return {memory.Values.get(), 1, "B", 1, {static_cast<py::ssize_t>(memory.Bytes)}, {1}};
}

}  // namespace

}  // namespace patchio

PYBIND11_MODULE(_core, module)
{
  using namespace patchio;
  module.doc() = "The compiled part of patchio.";
  module.attr("__version__") = PATCHIO_VERSION;
  static const py::handle error = py::exception<Error>(module, "Error", PyExc_RuntimeError).release();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& fault) {
      PyErr_SetObject(error.ptr(), TextOf(fault.what()).ptr());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, "Out of memory. Read or write less data at once.");
    }
  });
  module.def("write", &Write);
  py::class_<ArrayMemory>(module, "Memory", py::buffer_protocol()).def_buffer(&BufferOf);
  py::class_<DataSet, std::shared_ptr<DataSet>>(module, "DataSet")
      .def(py::init(&Open))
      .def_property_readonly("heads", [](const DataSet& data) { return HeadsOf(data.Contents()); })
      .def_property_readonly("times", [](const DataSet& data) { return TimeValues(data.Contents()); })
      .def_property_readonly(
          "warnings", [](const DataSet& data) { return TextsOf(data.Contents().Warnings); })
      .def_property_readonly("notes", [](const DataSet& data) { return TextsOf(NotesOf(data.Contents())); })
      .def("format", &DataSet::FormatName)
      .def("open", &OpenStep);
  py::class_<BlockPlan, std::shared_ptr<BlockPlan>>(module, "BlockPlan")
      .def_property_readonly("rows", &BlockRows)
      .def("flags", &FlagsOf);
  py::class_<Step, std::shared_ptr<Step>>(module, "Step")
      .def("catalog", [](const Step& step) { return CatalogAsDict(step.Data()); })
      .def_property_readonly("warning", [](const Step& step) { return TextOf(step.Warning()); })
      .def("plan", &PlanBlocks)
      .def("plan_box", &PlanBox)
      .def("read", [](Step& step, const std::vector<int>& patches,
                       const py::args& arguments) { return Read(step, step.BlocksOf(patches), arguments); })
      .def("read_blocks", [](Step& step, const BlockPlan& plan,
                              const py::args& arguments) { return Read(step, plan.Blocks(), arguments); })
      .def("dtype", &TypeOfVariable)
      .def("locate", &Locate)
      .def("covered", &CoveredCells)
      .def("levels_shown", &LevelsShown)
      .def("part", &Step::PatchesOfPart);
}
