// What a read has brought, for numpy: by the buffer protocol, so that any version of numpy will do.
#pragma once

#include "DataSet.h"

#include <pybind11/pybind11.h>

namespace patchio {

/// Memory of one array. Python's buffers on it keep it alive; then it goes back to the pool.
struct Memory
{
  Buffer Values;
  std::size_t Bytes = 0;
};

/// Values per axis, slowest first, as many as the data set has dimensions; lists of points have one.
pybind11::tuple ShapeOf(
    const Catalog& catalog, int patch, Centering center, const Int3& ghosts, int components);

/// Variable by variable a list of (patch, Memory, name of the type, shape). No copies.
pybind11::list TakeValues(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded);

pybind11::dict ReportAsDict(const IoReport& report);

}  // namespace patchio
