// The same knowledge of a data set as IndexReader gives, from the HDF5 library: for files that it does not
// know.
#pragma once

#include "Hdf5Index/Dataset.h"

#include <hdf5.h>

#include <string>

namespace patchio::hdf5index {

/// Describes an open data set. `Values` is 0 where its dataspace cannot be told. Layouts that PatchIO cannot
/// decode become Library; Nowhere has the reason "none written yet" or the like.
Dataset DescribeByLibrary(hid_t dataset);

/// The type of an open data set in words: "float16", "text".
std::string TypeText(hid_t dataset);

/// Fills ChunksOf(described) chunks of an open chunked data set. Throws Error with what HDF5 says when the
/// list is damaged, or a chunk does not lie in the file or has another size.
void ListChunksByLibrary(hid_t dataset, const Dataset& described, std::uint64_t fileBytes, Chunk* chunks);

/// The library needs time by the square of the number of chunks; longer lists than this take too long.
constexpr std::uint64_t MostChunksByLibrary = 2048;

}  // namespace patchio::hdf5index
