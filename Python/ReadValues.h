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

/// The number of values along each axis, slowest first; lists of points have one axis.
pybind11::tuple ShapeOf(
    const Catalog& catalog, int patch, Centering center, const Int3& ghosts, int components);

/// Variable by variable a list of (patch, Memory, name of the type, shape). No copies.
pybind11::list TakeValues(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded);

pybind11::dict ReportAsDict(const IoReport& report);

}  // namespace patchio
