// The checksum of HDF5's newer structures, and the hash of its link names: Bob Jenkins' lookup3.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchio::hdf5index {

/// "HDF5 File Format Specification", version 3.0, section VII, names it for all checksums of metadata.
std::uint32_t Lookup3(const std::byte* bytes, std::size_t count);

}  // namespace patchio::hdf5index
