// Placement of the values of a chunk in the output. Pure functions on memory.
#pragma once

#include "Catalog/Location.h"
#include "Io/Decode.h"

#include <cstddef>

namespace patchio {

/// Throws Error if the members of `array` contradict each other or exceed what HDF5 can store. The message is
/// a phrase for FileError(). The other functions of this file require a checked array.
void CheckChunkedArray(const ChunkedArray& array);

/// Returns the number of bytes of a complete chunk, at most 4 GiB. Chunks at the edge are stored with this
/// size, too.
std::size_t ChunkBytes(const ChunkedArray& array);

/// Returns the address in `output` to which the chunk's values can be copied unchanged, or null if there is
/// none: all values must be needed, be contiguous in the output and have this machine's byte order.
std::byte* DirectChunkAddress(
    const Window& window, const ChunkedArray& array, const Chunk& chunk, void* output);

/// Returns the number of bytes from the chunk's first value to its last value inside the array. At the edges
/// it is less than ChunkBytes(); a chunk without filters may end there.
std::size_t UsedChunkBytes(const ChunkedArray& array, std::uint64_t number);

/// Returns false if no value of the chunk is in the window. May also return true for some chunks without such
/// a value.
bool ReachesWindow(const Window& window, const ChunkedArray& array, std::uint64_t number);

/// Returns the contribution of a chunk to the CRC-32 of the array's `Count` values as stored, see
/// PartOfCrc32(). values: as for PlaceChunk(); the chunk must have been written.
std::uint32_t ChecksumOfChunk(const ChunkedArray& array, const Chunk& chunk, const std::byte* values);

/// Copies the needed values of a chunk to their places in the output, like PlaceRun(). The window's stored
/// values are the `Count` values from index `First` of the entire array.
///
/// values: ChunkBytes() bytes as stored, at any address. If the chunk was never written, `values` is ignored
/// and the output gets the first SizeOf(Type) bytes of ChunkedArray::Fill. Throws Error if the array has no
/// chunk with that number.
void PlaceChunk(const Window& window, const ChunkedArray& array, const Chunk& chunk, const std::byte* values,
    int slot, void* output);

}  // namespace patchio
