#include "ReadArrays.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace patchio {
namespace {

py::array MakeArray(LoadedArray& array, std::vector<py::ssize_t> shape)
{
  if (array.Components > 1) {
    shape.push_back(array.Components);
  }
  void* const values = array.Values.release();
  const py::capsule owner(values, FreeSlice);
  return py::array(DtypeOf(array.Type), std::move(shape), values, owner);
}

}  // namespace

py::dtype DtypeOf(ElementType type)
{
  switch (type) {
    case ElementType::Int32:
      return py::dtype::of<std::int32_t>();
    case ElementType::Float32:
      return py::dtype::of<float>();
    case ElementType::Float64:
      return py::dtype::of<double>();
    case ElementType::Int64:
      return py::dtype::of<std::int64_t>();
    case ElementType::UInt8:
      return py::dtype::of<std::uint8_t>();
    case ElementType::Int16:
      return py::dtype::of<std::int16_t>();
    case ElementType::UInt16:
      break;
  }
  return py::dtype::of<std::uint16_t>();
}

std::vector<py::ssize_t> ShapeOf(const Catalog& catalog, int patch, Centering center, const Int3& ghosts)
{
  const auto dims = catalog.ArrayDims(patch, center, ghosts);
  const int axes = catalog.RoleOf(catalog.Patches[patch].Level) == LevelRole::Points ? 1 : catalog.Dimension;
  std::vector<py::ssize_t> shape;
  for (int axis = axes - 1; axis >= 0; --axis) {
    shape.push_back(dims[axis]);
  }
  return shape;
}

py::list TakeArrays(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded)
{
  py::list variables;
  for (std::size_t v = 0; v < options.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[options.Variables[v]];
    const Int3 ghosts = options.Ghosts ? variable.Ghosts : Int3{0, 0, 0};
    py::dict arrays;
    for (std::size_t p = 0; p < options.Patches.size(); ++p) {
      LoadedArray& array = loaded.At(p, v);
      if (array.Status == ArrayStatus::Read) {
        const int patch = options.Patches[p];
        arrays[py::int_(patch)] = MakeArray(array, ShapeOf(catalog, patch, variable.Center, ghosts));
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
  fields["peak_in_flight"] = report.PeakInFlight;
  fields["open_seconds"] = report.OpenSeconds;
  fields["locate_seconds"] = report.LocateSeconds;
  fields["read_seconds"] = report.ReadSeconds;
  fields["megabytes_per_second"] = report.MegabytesPerSecond();
  fields["metadata"] = report.Metadata;
  fields["notes"] = report.Notes;
  return fields;
}

}  // namespace patchio
