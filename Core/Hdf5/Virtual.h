// Virtual data sets: section III.F of the specification, "Global Heap Block for Virtual Datasets".
#pragma once

#include "Hdf5/Dataset.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// A part of an array: all of it, or a block.
struct Selection
{
  bool IsAll = true;
  std::vector<std::uint64_t> Begin, Count;  ///< by axis, slowest first
};

/// Values that a virtual data set takes from another one.
struct VirtualMapping
{
  std::string File;     ///< relative to the folder of the file; ".": the same file
  std::string Dataset;  ///< in that file
  Selection There, Here;
};

/// Takes the mappings from the bytes of their object in a global heap. Throws Corrupt, and Unsupported for
/// selections that are no blocks, and for names with numbers in them.
std::vector<VirtualMapping> TakeMappings(const std::vector<std::byte>& bytes);

/// Values that follow each other in an array whose last axis varies fastest.
struct ValueRun
{
  std::uint64_t First = 0, Count = 0;
};

/// Returns the values of a selection as one run; none where they are not one. Throws Corrupt for a selection
/// that does not fit the array.
std::optional<ValueRun> RunOf(const Selection& selection, const Dataset& dataset);

}  // namespace patchio::hdf5
