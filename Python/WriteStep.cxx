#include "WriteStep.h"

#include "Catalog/BoxBins.h"
#include "Catalog/CheckCatalog.h"
#include "Container/StepLayout.h"
#include "Support/Error.h"
#include "Support/NamedValue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

#include <tuple>

namespace py = pybind11;

namespace patchio {
namespace {

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

/// Throws ValueError where two patches of a level share a cell.
void CheckOverlaps(const Catalog& catalog)
{
  for (const Level& level : catalog.Levels) {
    std::vector<Box> boxes;
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      boxes.push_back(catalog.Patches[p].Cells);
    }
    const BoxBins bins(boxes);
    for (int i = 0; i < level.PatchCount; ++i) {
      bins.ForEachMeeting(boxes[i], [&](int other) -> bool {
        if (other != i) {
          throw py::value_error(
              fmt::format("patches {} and {} overlap on level {}: cells ({}) to ({}) and ({}) to ({})",
                  level.FirstPatch + i, level.FirstPatch + other, catalog.Patches[level.FirstPatch + i].Level,
                  fmt::join(boxes[i].Lower, ", "), fmt::join(boxes[i].Upper, ", "),
                  fmt::join(boxes[other].Lower, ", "), fmt::join(boxes[other].Upper, ", ")));
        }
        return true;
      });
    }
  }
}

}  // namespace

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
      throw py::value_error("an array with a wrong shape for its patch");
    }
    result.Values.push_back({patch, variable, info.ptr});
  }
  try {
    CheckCatalog(catalog);
  } catch (const Error& error) {  // begins with a word of our own
    const std::string text = error.what();
    const std::size_t rest = text.find(" has ");
    throw py::value_error("the step has " + (rest == std::string::npos ? text : text.substr(rest + 5)));
  }
  CheckOverlaps(catalog);
  return result;
}

container::CompressionChoice CompressionNamed(const std::string& name)
{
  if (const auto choice = ValueNamed(name, container::LastCompressionChoice)) {
    return *choice;
  }
  throw py::value_error("compress must be 'off', 'deflate', 'zstd' or 'auto', not '" + name + "'");
}

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

}  // namespace patchio
