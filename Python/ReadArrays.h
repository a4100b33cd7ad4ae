// Arrays of a read as numpy arrays that own their memory.
#pragma once

#include "DataSet.h"

#include <pybind11/numpy.h>

#include <cstdint>
#include <vector>

namespace patchio {

pybind11::dtype DtypeOf(ElementType type);

/// Values per axis, slowest first, as many as the data set has dimensions; lists of points have one.
std::vector<pybind11::ssize_t> ShapeOf(
    const Catalog& catalog, int patch, Centering center, const Int3& ghosts);

/// What a read has brought: variable by variable a dict of patch -> array. No copies; an array keeps its
/// memory alive, and gives it back to the pool.
pybind11::list TakeArrays(const Catalog& catalog, const ReadOptions& options, LoadResult& loaded);

pybind11::dict ReportAsDict(const IoReport& report);

}  // namespace patchio
