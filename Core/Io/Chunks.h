// Placement of the values of a chunk in the output. The functions only access memory.
#pragma once

#include "Catalog/Location.h"
#include "Io/Decode.h"

#include <cstddef>

namespace patchio {

/// Throws Error if the members of `array` contradict each other or exceed what HDF5 can store. The message is
/// a phrase for the parameter `found` of FileError(). The other functions of this file require a checked
/// array, and throw Error if the array has no chunk with the given number.
void CheckChunkedArray(const ChunkedArray& array);

/// Returns the number of bytes of a complete chunk, at most 4 GiB. Chunks at the edge of the array are
/// usually stored with this size, too; see UsedChunkBytes().
std::size_t ChunkBytes(const ChunkedArray& array);

/// Returns the address in `output` to which the chunk's values can be copied unchanged. Returns null unless
/// the output needs all values of the chunk, they are contiguous in the output, and they have this machine's
/// byte order.
std::byte* DirectChunkAddress(
    const ArrayMapping& mapping, const ChunkedArray& array, const Chunk& chunk, void* output);

/// Returns the number of bytes from the chunk's first value to its last value inside the array. For a chunk
/// that exceeds the array, this number is less than ChunkBytes(), and a chunk without filters may be stored
/// with this size.
std::size_t UsedChunkBytes(const ChunkedArray& array, std::uint64_t number);

/// Returns whether a value of chunk `number` may go to the output. The test ignores the indices along axis 0,
/// so the result is also true for some chunks that the output does not need.
bool ReachesOutput(const ArrayMapping& mapping, const ChunkedArray& array, std::uint64_t number);

/// Returns the contribution of a chunk to the CRC-32 of the array's `Count` values as stored; see
/// Crc32Contribution(). `values`: see PlaceChunk(). The chunk must have been written.
std::uint32_t ChecksumOfChunk(const ChunkedArray& array, const Chunk& chunk, const std::byte* values);

/// Copies the needed values of a chunk to their places in the output, like PlaceRun(). The mapping's stored
/// values are the `Count` values from index `First` of the entire array.
///
/// `values`: at least UsedChunkBytes() bytes, in the stored byte order, at any address. `slot`: component
/// number in the output. If the chunk was never written, ignores `values` and writes the first SizeOf(Type)
/// bytes of ChunkedArray::Fill for each value.
void PlaceChunk(const ArrayMapping& mapping, const ChunkedArray& array, const Chunk& chunk,
    const std::byte* values, int slot, void* output);

}  // namespace patchio
