// The size that an HDF5 file should have, as its superblock says, without the HDF5 library.
#pragma once

#include <string>

namespace patchio::hdf5 {

/// Throws Error ("truncated: 3000 of 42064 bytes") where a file ends before its superblock says, and when the
/// storage fails. Does nothing for files that are not HDF5, and where the superblock does not say. A user
/// block before the superblock counts, as it is part of the file.
void CheckComplete(const std::string& path);

}  // namespace patchio::hdf5
