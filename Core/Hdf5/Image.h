// An HDF5 file in memory of which only the description is kept: somebody else writes the values, and needs to
// know where they go.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace patchio::hdf5 {

/// What lies in a file apart from values that somebody else writes.
struct FileImage
{
  std::vector<std::byte> Bytes;  ///< from its beginning
  std::uint64_t Size = 0;        ///< of the file, with room for the values
  bool DropValues = false;       ///< from now on values are not kept: the library only finds room for them
  std::uint64_t Dropped = 0;     ///< where the last ones would be
  /// Room for values, which may lie anywhere: begin and end of each, in any order.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> Rooms;
};

/// A file that is made with the property list will be in `image`, which must outlive it. False where HDF5
/// does not allow that.
bool KeepIn(FileImage& image, hid_t access);

}  // namespace patchio::hdf5
