// The HDF5 library tries in a child process what PatchIO does not know the structure of: where somebody has
// made a file that crashes the library, it is the child that dies.
#pragma once

#include <hdf5.h>

#include <functional>
#include <string>

namespace patchio::hdf5 {

/// Opens everything in the file as readers do: groups, data sets, attributes, lists of chunks, and small data
/// sets with their values. Throws Unsound where the child crashes, goes round in circles, or takes any amount
/// of memory (limits grow with the file's size), and Error where no child can be started. A file that has not
/// changed since is not tried again, if it was two seconds old. What the library merely refuses is no fault:
/// it will say so again. One thread only, as everything that uses the library.
void TryFile(const std::string& path);

/// The same for one reading of an open data set; costs nothing where TryFile() had its values, or where they
/// lie in the file as they are. `read` is done in the child, whose memory is a copy.
void TryValues(const std::string& path, hid_t dataset, const std::function<void()>& read);

}  // namespace patchio::hdf5
