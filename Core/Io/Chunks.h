// From the values of one chunk to their places in the output. Pure functions on memory.
#pragma once

#include "Catalog/Extent.h"
#include "Io/Decode.h"

#include <cstddef>

namespace patchio {

/// Throws Error when the numbers of `array` do not fit each other or what HDF5 can store; it says what is
/// wrong, as a phrase for FileError(). The other functions here are safe after it.
void CheckChunkedArray(const ChunkedArray& array);

/// Bytes of a chunk's values; chunks at the edge are stored in full size too. At most 4 GiB.
std::size_t ChunkBytes(const ChunkedArray& array);

/// The part of the output into which the values of a chunk can be copied as they are: all are wanted, lie one
/// after another there too, and need no swapping. Null where there is none.
std::byte* StraightPlace(const Window& window, const ChunkedArray& array, const Chunk& chunk, void* output);

/// Bytes of a chunk from its first value to its last one that lies in the array. Less than ChunkBytes() at
/// the edges; a chunk without filters may end there.
std::size_t UsedChunkBytes(const ChunkedArray& array, std::uint64_t number);

/// False where the window has no place for any value of a chunk; true may be said of others, too.
bool ReachesWindow(const Window& window, const ChunkedArray& array, std::uint64_t number);

/// The contribution of a chunk to the CRC-32 of the array's `Count` wanted values as stored, see
/// PartOfCrc32(). values: as for PlaceChunk(), of a chunk that was written.
std::uint32_t ChecksumOfChunk(const ChunkedArray& array, const Chunk& chunk, const std::byte* values);

/// Brings the wanted values of a chunk to their places in the output, as PlaceRun() does: the `Count` values
/// from `First` of the whole array are the window's stored values.
///
/// values: ChunkBytes() bytes as stored, any address; not looked at when the chunk was never written, where
/// the output gets ChunkedArray::Fill. Only the first SizeOf(Type) bytes of Fill, as it lies in memory,
/// count. Throws Error when the array has no chunk of that number.
void PlaceChunk(const Window& window, const ChunkedArray& array, const Chunk& chunk, const std::byte* values,
    int slot, void* output);

}  // namespace patchio
