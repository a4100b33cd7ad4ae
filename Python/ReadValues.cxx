#include "ReadValues.h"

#include "Texts.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace patchio {

py::tuple ShapeOf(const Catalog& catalog, int patch, const std::array<std::int64_t, 3>& dims, int components)
{
  const bool list = catalog.IsMesh() || catalog.RoleOf(catalog.Patches[patch].Level) == LevelRole::Points;
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

py::list TakeValues(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded)
{
  py::list variables;
  for (std::size_t v = 0; v < options.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[options.Variables[v]];
    const Int3 ghosts = options.Ghosts ? variable.Ghosts : Int3{0, 0, 0};
    py::list arrays;
    for (std::size_t p = 0; p < options.Patches.size(); ++p) {
      LoadedArray& array = loaded.At(p, v);
      if (array.Status == ArrayStatus::Read) {
        const std::size_t bytes = array.Tuples * array.Components * SizeOf(array.Type);
        const int patch = options.Patches[p];
        arrays.append(py::make_tuple(patch, Memory{std::move(array.Values), bytes}, NameOf(array.Type),
            ShapeOf(catalog, patch, catalog.ArrayDims(patch, variable, ghosts), array.Components)));
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

}  // namespace patchio
