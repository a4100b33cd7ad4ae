// The compiled part of the Python package: patchio._core. __init__.py gives it names and explanations.
#include "CatalogFields.h"
#include "DataSet.h"
#include "Plan/Grids.h"
#include "ReadValues.h"
#include "Support/Error.h"
#include "Support/Stopwatch.h"
#include "Texts.h"
#include "WriteStep.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <mutex>
#include <new>

namespace py = pybind11;

namespace patchio {
namespace {

/// Other Python threads run meanwhile, but only one at a time calls this: HDF5 allows only one thread.
template <typename Work>
auto Alone(Work work)
{
  static std::mutex lock;
  const py::gil_scoped_release release;
  const std::lock_guard<std::mutex> guard(lock);
  return work();
}

/// Ends a read when the user presses Ctrl-C. Checks only now and then, because that needs the interpreter.
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
  /// Throws the exception that the signal has set.
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

ChannelMode ModeOf(const std::string& name)
{
  if (name == "on") {
    return ChannelMode::On;
  }
  if (name == "read") {
    return ChannelMode::ReadOnly;
  }
  if (name == "off") {
    return ChannelMode::Off;
  }
  throw py::value_error("metadata must be 'on', 'read' or 'off', not '" + name + "'");
}

std::shared_ptr<DataSet> Open(
    const std::vector<std::string>& paths, const std::string& metadata, bool listedOnly)
{
  const ChannelMode mode = ModeOf(metadata);
  return Alone([&] { return std::make_shared<DataSet>(paths, mode, listedOnly); });
}

/// (path, time, step, date) of each step.
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

/// TakeValues(); faults; the report as a dict, and as a text.
py::tuple Read(Step& step, const std::vector<int>& variables, const std::vector<int>& patches, bool ghosts,
    int threads, bool stopAtFault, bool verify)
{
  const ReadOptions options{patches, variables, ghosts, threads, stopAtFault, verify};
  Interrupt interrupt;
  LoadResult loaded =
      Alone([&] { return step.Read(options, [&](const ReadProgress&) { return !interrupt.Wanted(); }); });
  interrupt.Check();
  return py::make_tuple(TakeValues(step.Data(), options, loaded), FaultsOf(step.Data(), loaded),
      ReportAsDict(loaded.Report), TextOf(loaded.Report.Text()));
}

/// The name of a variable's type; None if no patch has the variable.
std::optional<std::string> TypeOfVariable(Step& step, int variable)
{
  const std::optional<ElementType> type = Alone([&] { return step.TypeOfVariable(variable); });
  return type ? std::optional<std::string>(NameOf(*type)) : std::nullopt;
}

/// The shape of the patch, and one byte for each cell: 1 if it is covered. No bytes: none is covered.
py::tuple CoveredCells(Step& step, int patch)
{
  const std::vector<std::uint8_t> flags = Alone([&] { return step.CoveredCells(patch); });
  return py::make_tuple(
      ShapeOf(step.Data(), patch, step.Data().ArrayDims(patch, Centering::Cell, {0, 0, 0}), 1),
      py::bytes(reinterpret_cast<const char*>(flags.data()), flags.size()));
}

/// The levels that ParaView's reader shows for these variables if the user names no grid.
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
  py::class_<Step, std::shared_ptr<Step>>(module, "Step")
      .def("catalog", [](const Step& step) { return CatalogAsDict(step.Data()); })
      .def_property_readonly("warning", [](const Step& step) { return TextOf(step.Warning()); })
      .def("read", &Read)
      .def("dtype", &TypeOfVariable)
      .def("covered", &CoveredCells)
      .def("levels_shown", &LevelsShown)
      .def("part", &Step::PatchesOfPart);
}
