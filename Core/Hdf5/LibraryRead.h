// Values that only the HDF5 library can decode. One thread only.
#pragma once

#include "Hdf5/LibraryFile.h"
#include "Io/ReadTask.h"

#include <memory>

namespace patchio {

/// Reads tasks one after another; the file read last stays open.
class LibraryReader
{
public:
  /// One task of encoding Library. FinishTask() is included. Throws Error when the library cannot read it.
  void Read(const LocationTable& table, const Location& location, const ReadTarget& target);

private:
  std::unique_ptr<hdf5::LibraryFile> Current;
};

}  // namespace patchio
