// The compiled part of the Python package: patchio._core. __init__.py documents it for users.
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
#include <mutex>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

/// Returns a name or a message as str. Bytes that are not UTF-8 become escapes such as \xff, so that texts
/// can be printed and stay different.
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

/// A step from _write.py: its description, and pointers to its arrays, which must stay in memory until the
/// step is written.
struct StepFromPython
{
  container::StepToWrite Step;
  std::vector<container::PatchValues> Values;
};

ElementType TypeNamed(const std::string& name)
{
  if (const std::optional<ElementType> type = ValueNamed(name, LastElementType)) {
    return *type;
  }
  throw py::type_error("containers do not support the type " + name);
}

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

/// Makes a step. `levels`: (ratio, spacing, number of patches). `boxes`: (lower, upper), one per patch.
/// `variables`: (name, at nodes, components, type). `arrays`: (patch, variable, contiguous buffer of the
/// array's bytes). Throws TypeError and ValueError.
StepFromPython StepOfArrays(std::int64_t step, double time, int dimension, const Double3& origin,
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
    result.Step.Types.push_back(TypeNamed(type));
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
  } catch (const Error& error) {  // the text begins with a term that Python users do not know
    const std::string text = error.what();
    const std::size_t rest = text.find(" has ");
    throw py::value_error("the step has " + (rest == std::string::npos ? text : text.substr(rest + 5)));
  }
  CheckOverlaps(catalog);
  return result;
}

/// Returns the choice that `compress` names. Throws ValueError.
container::CompressionChoice CompressionNamed(const std::string& name)
{
  if (const auto choice = ValueNamed(name, container::LastCompressionChoice)) {
    return *choice;
  }
  throw py::value_error("compress must be 'off', 'deflate', 'zstd' or 'auto', not '" + name + "'");
}

/// Adds the step to the container. Throws Error.
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

/// Memory of one array. Python's buffers keep this object alive. Its destructor returns the memory to the
/// pool.
struct Memory
{
  Buffer Values;
  std::size_t Bytes = 0;
};

/// Returns `dims`, the numbers of values per axis, as a shape for numpy, the slowest axis first. Lists of
/// points and meshes have one axis.
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

/// Returns the number of values per axis of an array of this variable on the block, with `ghosts` layers.
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

/// Returns a list of (block, Memory, name of the type, shape) for each variable. Moves the values without a
/// copy.
py::list TakeValues(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded)
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
        arrays.append(py::make_tuple(b, Memory{std::move(array.Values), bytes}, NameOf(array.Type),
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
py::bytes PatchesOf(const Catalog& catalog)
{
  std::vector<std::int32_t> rows;
  rows.reserve(catalog.Patches.size() * 9);
  for (const Patch& patch : catalog.Patches) {
    rows.insert(rows.end(), {patch.Level, patch.Number, patch.Writer});
    rows.insert(rows.end(), patch.Cells.Lower.begin(), patch.Cells.Lower.end());
    rows.insert(rows.end(), patch.Cells.Upper.begin(), patch.Cells.Upper.end());
  }
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(std::int32_t)};
}

/// Returns one byte per variable and patch; 0: the patch lacks the variable.
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

/// Returns the index of the first node, the positions and the labels of each axis; empty for grids without
/// axes.
py::list AxesOf(const Catalog& catalog)
{
  py::list axes;
  if (catalog.Grid == GridKind::Rectilinear) {
    for (const Axis& axis : catalog.Axes) {
      axes.append(
          py::make_tuple(axis.First, axis.Positions, axis.Labels.empty() ? axis.Positions : axis.Labels));
    }
  }
  return axes;
}

/// Returns the fields of a catalog by name. The class Step in _step.py documents the fields, and makes arrays
/// of them.
py::dict CatalogAsDict(const Catalog& catalog)
{
  py::list names, roles, flat, positions;
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    names.append(TextOf(catalog.NameOfLevel(level)));
    roles.append(NameOf(catalog.RoleOf(level)));
    positions.append(catalog.RoleOf(level) == LevelRole::Points ? catalog.PositionsOf(level) : -1);
    flat.append(py::make_tuple(
        catalog.Levels[level].IsFlat(0), catalog.Levels[level].IsFlat(1), catalog.Levels[level].IsFlat(2)));
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
  fields["level_flat"] = flat;
  fields["level_positions"] = positions;
  fields["patches"] = PatchesOf(catalog);
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

/// Calls `work` without the interpreter's lock, so that other Python threads run, but makes only one such
/// call at a time, because HDF5 is not thread-safe.
template <typename Work>
auto Alone(Work work)
{
  static std::mutex lock;
  const py::gil_scoped_release release;
  const std::lock_guard<std::mutex> guard(lock);
  return work();
}

/// A check for Ctrl-C during a read. The check needs the interpreter, so it is made only occasionally.
class Interrupt
{
public:
  bool Wanted()
  {
    constexpr double secondsBetween = 0.05;
    if (!this->Seen && this->SinceLook.Seconds() >= secondsBetween) {
      const py::gil_scoped_acquire acquire;
      this->Seen = PyErr_CheckSignals() != 0;
      this->SinceLook = Stopwatch();
    }
    return this->Seen;
  }
  /// Throws the exception of the signal, if Wanted() has seen a signal.
  void Check() const
  {
    if (this->Seen) {
      throw py::error_already_set();
    }
  }

private:
  Stopwatch SinceLook;
  bool Seen = false;
};

IndexMode ModeOf(const std::string& name)
{
  if (name == "on") {
    return IndexMode::On;
  }
  if (name == "read") {
    return IndexMode::ReadOnly;
  }
  if (name == "off") {
    return IndexMode::Off;
  }
  throw py::value_error("metadata must be 'on', 'read' or 'off', not '" + name + "'");
}

std::shared_ptr<DataSet> Open(
    const std::vector<std::string>& paths, const std::string& metadata, bool listedOnly)
{
  const IndexMode mode = ModeOf(metadata);
  return Alone([&] { return std::make_shared<DataSet>(paths, mode, listedOnly); });
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
  if (step >= data.Steps().Steps.size()) {
    throw py::index_error("step index out of range");
  }
  return Alone([&] { return data.Open(step); });
}

py::list FaultsOf(const Catalog& catalog, const LoadResult& loaded)
{
  py::list faults;
  for (const LoadFault& fault : loaded.Faults) {
    faults.append(
        py::make_tuple(fault.Patch, TextOf(catalog.Variables[fault.Variable].Name), TextOf(fault.Message)));
  }
  return faults;
}

BlockForm FormOf(const std::string& name)
{
  if (name == "patches") {
    return BlockForm::Patches;
  }
  if (name == "merged") {
    return BlockForm::Merged;
  }
  if (name == "fewest") {
    return BlockForm::Fewest;
  }
  if (name == "filled") {
    return BlockForm::Filled;
  }
  throw py::value_error("blocks must be 'patches', 'merged', 'fewest' or 'filled', not '" + name + "'");
}

std::shared_ptr<BlockPlan> PlanBlocks(const Step& step, const std::vector<int>& patches,
    const std::vector<bool>& levels, const std::vector<int>& variables, const std::string& form)
{
  const BlockForm wanted = FormOf(form);
  return Alone(
      [&] { return std::make_shared<BlockPlan>(step.PlanBlocks(patches, levels, variables, wanted)); });
}

std::shared_ptr<BlockPlan> PlanBox(
    const Step& step, const std::vector<int>& patches, const Int3& lower, const Int3& upper)
{
  return Alone([&] { return std::make_shared<BlockPlan>(step.PlanBox(patches, {lower, upper})); });
}

/// Returns 9 numbers of 32 bits per block: level, lowest patch, number of parts, lower, upper.
py::bytes RowsOf(const BlockPlan& plan)
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
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(std::int32_t)};
}

/// Returns BlockPlan::Flags() as bytes.
py::bytes FlagsOf(const BlockPlan& plan, std::size_t block)
{
  if (block >= plan.Blocks().size()) {
    throw py::index_error("block index out of range");
  }
  const std::vector<std::uint8_t> flags = plan.Flags(block);
  return {reinterpret_cast<const char*>(flags.data()), flags.size()};
}

/// Reads values of blocks. how: variables, ghosts, threads, whether to stop at the first fault, verify.
/// Returns the result of TakeValues(), the faults, the report as a dict, and the report as text.
py::tuple Read(Step& step, std::vector<Block> blocks, const py::args& how)
{
  const auto [variables, ghosts, threads, stopAtFault, verify] =
      how.cast<std::tuple<std::vector<int>, bool, int, bool, bool>>();
  const ReadOptions options{std::move(blocks), variables, ghosts, threads, stopAtFault, verify};
  Interrupt interrupt;
  LoadResult loaded =
      Alone([&] { return step.Read(options, [&](const ReadProgress&) { return !interrupt.Wanted(); }); });
  interrupt.Check();
  return py::make_tuple(TakeValues(step.Data(), options, loaded), FaultsOf(step.Data(), loaded),
      ReportAsDict(loaded.Report), TextOf(loaded.Report.Text()));
}

/// Returns the name of a variable's type; None if no patch has the variable.
std::optional<std::string> TypeOfVariable(Step& step, int variable)
{
  const std::optional<ElementType> type = Alone([&] { return step.TypeOfVariable(variable); });
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

const char* NameOf(FilterKind filter)
{
  constexpr std::array names{"none", "deflate", "shuffle", "fletcher32", "zstd"};
  static_assert(names.size() == static_cast<std::size_t>(LastFilterKind) + 1);
  return names[static_cast<std::size_t>(filter)];
}

/// Returns (type, file, dims, dims of chunks, filters, first, count, bytes of the fill value, chunks) of an
/// array in chunks, the slowest axis first. chunks: bytes with 4 numbers of 64 bits per chunk: number,
/// offset, bytes, skipped filters.
py::tuple ChunkedAsTuple(const LocationTable& table, const ChunkedArray& array)
{
  py::list dims, chunkDims, filters;
  for (int axis = 0; axis < array.Rank; ++axis) {
    dims.append(array.Dims[axis]);
    chunkDims.append(array.ChunkDims[axis]);
  }
  for (const FilterKind filter : array.Filters) {
    if (filter != FilterKind::None) {
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
      py::bytes(reinterpret_cast<const char*>(chunks.data()), chunks.size() * sizeof(std::uint64_t)));
}

/// Returns the location of a variable on a patch: None if the patch lacks the variable; a float if all values
/// are this number and not stored; a text with the reason if the stored bytes are not the values; otherwise a
/// list with an entry per stored array: (type, file, offset, bytes) or the result of ChunkedAsTuple().
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
      return py::str("volume fractions in sparse form");
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
  const LocationTable table = Alone([&] { return step.Locate(variable, patches); });
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

/// Returns the shape of the patch, and one byte per cell, 1 if the cell is covered; no bytes if no cell is
/// covered.
py::tuple CoveredCells(Step& step, int patch)
{
  const std::vector<std::uint8_t> flags = Alone([&] { return step.CoveredCells(patch); });
  return py::make_tuple(ShapeOf(step.Data(), step.Data().Patches[patch].Level,
                            step.Data().ArrayDims(patch, Centering::Cell, {0, 0, 0}), 1),
      py::bytes(reinterpret_cast<const char*>(flags.data()), flags.size()));
}

/// Returns the levels that ParaView's reader shows for these variables if the user names no grid.
std::vector<int> LevelsShown(const Step& step, const std::vector<int>& wanted)
{
  const int levels = static_cast<int>(step.Data().Levels.size());
  const std::vector<bool> leftOut = LevelsLeftOut(step.Data(), 0, levels - 1, wanted, AutomaticGrid);
  std::vector<int> shown;
  for (int level = 0; level < levels; ++level) {
    if (!leftOut[level]) {
      shown.push_back(level);
    }
  }
  return shown;
}

void Write(const std::string& path, bool overwrite, std::int64_t number, double time, int dimension,
    const Double3& origin, const py::list& levels, const py::list& boxes, const py::list& variables,
    const py::list& arrays, const std::string& compress, int threads)
{
  const container::CompressionChoice compression = CompressionNamed(compress);
  const StepFromPython step = StepOfArrays(number, time, dimension, origin, levels, boxes, variables, arrays);
  Alone([&] { WriteStep(path, overwrite, step, compression, threads); });
}

py::buffer_info BufferOf(Memory& memory)
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
  py::class_<Memory>(module, "Memory", py::buffer_protocol()).def_buffer(&BufferOf);
  py::class_<DataSet, std::shared_ptr<DataSet>>(module, "DataSet")
      .def(py::init(&Open))
      .def_property_readonly("heads", [](const DataSet& data) { return HeadsOf(data.Steps()); })
      .def_property_readonly("times", [](const DataSet& data) { return TimeValues(data.Steps()); })
      .def_property_readonly("warnings", [](const DataSet& data) { return TextsOf(data.Steps().Warnings); })
      .def_property_readonly("notes", [](const DataSet& data) { return TextsOf(NotesOf(data.Steps())); })
      .def("format", &DataSet::FormatName)
      .def("open", &OpenStep);
  py::class_<BlockPlan, std::shared_ptr<BlockPlan>>(module, "BlockPlan")
      .def_property_readonly("rows", &RowsOf)
      .def("flags", &FlagsOf);
  py::class_<Step, std::shared_ptr<Step>>(module, "Step")
      .def("catalog", [](const Step& step) { return CatalogAsDict(step.Data()); })
      .def_property_readonly("warning", [](const Step& step) { return TextOf(step.Warning()); })
      .def("plan", &PlanBlocks)
      .def("plan_box", &PlanBox)
      .def("read", [](Step& step, const std::vector<int>& patches,
                       const py::args& how) { return Read(step, step.BlocksOf(patches), how); })
      .def("read_blocks", [](Step& step, const BlockPlan& plan,
                              const py::args& how) { return Read(step, plan.Blocks(), how); })
      .def("dtype", &TypeOfVariable)
      .def("locate", &Locate)
      .def("covered", &CoveredCells)
      .def("levels_shown", &LevelsShown)
      .def("part", &Step::PatchesOfPart);
}
