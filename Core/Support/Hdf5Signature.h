// The first bytes of every HDF5 file, for looking at files without the HDF5 library.
#pragma once

#include <string_view>

namespace patchio {

constexpr std::string_view Hdf5Signature{"\x89HDF\r\n\x1a\n", 8};

}  // namespace patchio
