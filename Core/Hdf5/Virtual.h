// Virtual data sets: section III.F of the specification, "Global Heap Block for Virtual Datasets".
#pragma once

#include "Hdf5/Dataset.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// A part of an array: the entire array, or a block.
struct Selection
{
  bool IsAll = true;
  std::vector<std::uint64_t> Begin, Count;  ///< per axis, slowest first
};

/// A mapping of values of another data set to values of a virtual data set.
struct VirtualMapping
{
  std::string File;     ///< relative to the folder of the virtual data set's file; ".": the same file
  std::string Dataset;  ///< name of the data set in that file
  Selection There, Here;
};

/// Parses the mappings from their object in a global heap. Throws Corrupt. Throws Unsupported for selections
/// that are not blocks, and for names that contain numbers (printf-style).
std::vector<VirtualMapping> ParseMappings(const std::vector<std::byte>& bytes);

/// Consecutive values of an array whose last axis varies fastest.
struct ValueRun
{
  std::uint64_t First = 0, Count = 0;
};

/// Returns the values of a selection as one run, or nothing if they are not consecutive. Throws Corrupt if
/// the selection does not fit the array.
std::optional<ValueRun> RunOf(const Selection& selection, const Dataset& dataset);

}  // namespace patchio::hdf5
