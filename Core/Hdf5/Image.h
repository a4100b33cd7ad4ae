// A file driver of the HDF5 library that creates files in memory, without the values: PatchIO writes the
// values to the storage.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace patchio::hdf5 {

/// The contents of a new file, except for the values that the caller writes to the storage.
struct FileImage
{
  std::vector<std::byte> Bytes;  ///< bytes from the beginning of the file on
  std::uint64_t Size = 0;        ///< size of the file, including the space for the values
  bool DiscardValues = false;    ///< true: the library allocates space for values, but discards the values
  std::uint64_t DiscardedOffset = 0;  ///< offset in the file of the values that were discarded last
  /// Ranges of the file for the values: begin and end of each range in bytes, in any order.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ValueRanges;
};

/// Sets the file driver of the file access property list `access`, so that the library creates files in
/// `image`. `image` must outlive the files. Returns whether the library accepts the driver.
bool SetImageDriver(FileImage& image, hid_t access);

}  // namespace patchio::hdf5
