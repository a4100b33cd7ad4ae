// What every HDF5 file begins with, for those who look without the HDF5 library.
#pragma once

#include <string_view>

namespace patchio {

constexpr std::string_view Hdf5Signature{"\x89HDF\r\n\x1a\n", 8};

}  // namespace patchio
