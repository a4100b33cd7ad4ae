// Values that only the HDF5 library can decode. One thread only: the HDF5 that ParaView links is not
// thread-safe.
#pragma once

#include "Io/ReadTask.h"
#include "Support/Hdf5.h"

#include <memory>

namespace patchio {

/// The HDF5 library's type of values in memory.
hid_t NativeType(ElementType type);

/// Reads tasks one after another; the file read last stays open.
class LibraryReader
{
public:
  /// One task of encoding Library. FinishTask() is included. Throws Error when the library cannot read it.
  void Read(const LocationTable& table, const Location& location, const ReadTarget& target);

private:
  std::unique_ptr<hdf5::File> Current;
};

}  // namespace patchio
