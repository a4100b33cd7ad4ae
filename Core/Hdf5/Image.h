// An HDF5 file in memory without its values: the caller writes the values itself and gets their offsets.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace patchio::hdf5 {

/// The contents of a file except the values that the caller writes itself.
struct FileImage
{
  std::vector<std::byte> Bytes;  ///< from the beginning of the file on
  std::uint64_t Size = 0;        ///< size of the file, including the space for the values
  bool DropValues = false;       ///< true: the library allocates space for values, but discards them
  std::uint64_t Dropped = 0;     ///< offset of the values discarded last
  /// Space for values, which may lie anywhere: begin and end of each range, in any order.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> Rooms;
};

/// Sets the file driver of the property list `access`, so that the library creates files in `image`, which
/// must outlive the files. Returns false if HDF5 refuses.
bool SetImageDriver(FileImage& image, hid_t access);

}  // namespace patchio::hdf5
