// The values of a read for numpy, by the buffer protocol, which every version of numpy knows.
#pragma once

#include "DataSet.h"

#include <pybind11/pybind11.h>

namespace patchio {

/// Memory of one array. Python's buffers keep it alive. Afterwards it goes back to the pool.
struct Memory
{
  Buffer Values;
  std::size_t Bytes = 0;
};

/// Catalog::ArrayDims() of the patch as numpy has them: the slowest first; lists of points, and meshes, have
/// one axis.
pybind11::tuple ShapeOf(
    const Catalog& catalog, int patch, const std::array<std::int64_t, 3>& dims, int components);

/// Variable by variable a list of (patch, Memory, name of the type, shape). No copies.
pybind11::list TakeValues(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded);

pybind11::dict ReportAsDict(const IoReport& report);

}  // namespace patchio
