// The mappings of virtual data sets, see section III.F of the specification, "Global Heap Block for Virtual
// Datasets".
#pragma once

#include "Hdf5/Dataset.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// Selected values of an array.
struct Selection
{
  enum class SelectionType : std::uint8_t
  {
    None,
    All,
    Block
  };

  SelectionType Type = SelectionType::All;
  /// Block: first index and number of indices along each axis, slowest first.
  std::vector<std::uint64_t> Begin, Count;
};

/// A mapping of values of a source data set to values of a virtual data set.
struct VirtualMapping
{
  /// Path of the source's file, absolute or relative to the folder of the virtual data set's file; "." for
  /// the virtual data set's file itself.
  std::string File;
  std::string Dataset;  ///< name of the source in its file
  Selection Source;     ///< values of the source
  Selection Virtual;    ///< values of the virtual data set
};

/// Parses the mappings of a virtual data set. `bytes`: the object of a global heap that contains the
/// mappings. Throws Corrupt for damaged mappings, and Unsupported for unknown versions, for selections that
/// are not blocks of fixed size, for printf-style names, and for names of more than 256 MiB in total.
std::vector<VirtualMapping> ParseMappings(const std::vector<std::byte>& bytes);

/// A run of consecutive values of an array whose last axis varies fastest.
struct ValueRun
{
  std::uint64_t First = 0;  ///< index of the first value
  std::uint64_t Count = 0;
};

/// Returns the values of a selection of `dataset` as one run, or nothing if the values are not consecutive.
/// Throws Corrupt if the selection does not fit the data set, and Unsupported for blocks of too many axes.
std::optional<ValueRun> RunOf(const Selection& selection, const Dataset& dataset);

}  // namespace patchio::hdf5
