// A time step from numpy arrays into a container.
#pragma once

#include "Write/Compression.h"
#include "Write/ContainerWriter.h"

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

namespace patchio {

/// What _write.py gives: plain values, and the memory of arrays, which must stay until they are written.
struct StepFromPython
{
  container::StepToWrite Step;
  std::vector<container::PatchValues> Values;
};

/// levels: (ratio, spacing, number of patches); boxes: (lower, upper), a patch; variables: (name, at nodes,
/// components, type); arrays: (patch, variable, contiguous buffer of as many bytes as that has).
StepFromPython StepOfArrays(std::int64_t step, double time, int dimension, const Double3& origin,
    const pybind11::list& levels, const pybind11::list& boxes, const pybind11::list& variables,
    const pybind11::list& arrays);

/// What `compress` says; throws ValueError.
container::CompressionChoice CompressionNamed(const std::string& name);

/// Adds the step to the container. Throws Error.
void WriteStep(const std::string& path, bool overwrite, const StepFromPython& step,
    container::CompressionChoice compression, int threads);

}  // namespace patchio
