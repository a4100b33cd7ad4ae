// What has to be known of a data set to read its values without the HDF5 library, whoever found it out.
#pragma once

#include "Catalog/Extent.h"
#include "Support/Error.h"

#include <array>
#include <cstdint>
#include <string>

namespace patchio::hdf5index {

/// The class of a data set's elements.
enum class NumberClass : std::uint8_t
{
  Float,    ///< IEEE 754, unless only the library can decode it
  Integer,  ///< all bits used, unless only the library can decode it
  Other     ///< no number
};

enum class StorageLayout : std::uint8_t
{
  Contiguous,   ///< all values at Offset
  Chunked,      ///< in chunks that may be compressed with what FilterKind names
  Library,      ///< in this file, but only the library can decode them; Reason says why
  Unsupported,  ///< in this file, but nothing here can decode them: "filter 32000 (lzf)" is the Reason
  Nowhere       ///< nowhere in this file; Reason says why
};

/// The kinds of lists that HDF5 keeps of the chunks of a data set.
enum class ChunkIndex : std::uint8_t
{
  Tree1,            ///< a B-tree of version 1, as all have without HDF5 1.10's bounds
  Single,           ///< one chunk, and no list
  Implicit,         ///< all chunks one after another
  FixedArray,       ///< data sets with a largest extent
  ExtensibleArray,  ///< data sets with one unlimited axis
  Tree2             ///< a B-tree of version 2: more unlimited axes
};

struct Dataset
{
  static constexpr std::uint64_t Unlimited = ~std::uint64_t(0);

  NumberClass Class = NumberClass::Other;
  StorageLayout Layout = StorageLayout::Nowhere;
  bool BigEndian = false;
  bool Signed = true;  ///< integers
  std::uint32_t ElementBytes = 0;
  std::uint64_t Values = 0;
  std::uint64_t Offset = 0;  ///< Contiguous: in the file

  // Chunked only; see ChunkedArray.
  std::uint8_t Rank = 0;
  std::array<FilterKind, ChunkedArray::MaximumFilters> Filters{};
  std::array<std::uint64_t, ChunkedArray::MaximumRank> Dims{};
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};
  std::uint64_t Fill = 0;
  // For IndexReader::ListChunks only.
  ChunkIndex Index = ChunkIndex::Tree1;
  std::uint64_t ChunkAddress = 0;  ///< of the list, or of the chunks where there is none
  std::array<std::uint64_t, ChunkedArray::MaximumRank> MostDims{};  ///< that Dims may become, or Unlimited
  std::uint64_t SingleBytes = 0;                                    ///< Single, with filters: of the chunk
  std::uint32_t SingleSkipped = 0;                                  ///< Single: Chunk::SkippedFilters

  std::string Reason;  ///< Library: "filter 4 (szip)"; Nowhere: "none written yet"
};

/// All values of a chunked data set as such an array; FirstChunk and ChunkCount are left to the caller.
ChunkedArray ArrayOf(const Dataset& dataset, ElementType type, int file);

/// Number of chunks of a chunked data set, written or not. A grid has no more chunks than values.
std::uint64_t ChunksOf(const Dataset& dataset);

/// Bytes of a chunk without filters.
std::uint64_t PlainChunkBytes(const Dataset& dataset);

/// Fills ChunksOf(dataset) chunks as if none had been written.
void ClearChunks(const Dataset& dataset, Chunk* chunks);

/// Adds a written chunk to a list that ClearChunks() began: the one whose first value has the indices
/// `begin`, one per axis, in the data set. False when it does not fit the array or the file of so many bytes,
/// or is there already.
bool AddChunk(const Dataset& dataset, std::uint64_t fileBytes, const std::uint64_t* begin, Chunk written,
    Chunk* chunks);

/// More chunks than this do not fit into the lists of a sound file of so many bytes, unless most were never
/// written: each takes 32 bytes there.
constexpr std::uint64_t MostChunks(std::uint64_t fileBytes)
{
  return 4096 + fileBytes / 16;
}

/// Returns the filter with that number of HDF5; None when PatchIO does not undo it. `elementBytes`: of the
/// data set; `shuffledBytes`: the first parameter of the filter, which only Shuffle uses.
FilterKind KindOfFilter(int filter, std::uint64_t shuffledBytes, std::uint64_t elementBytes);

/// "filter 4 (szip)"
std::string FilterName(int filter);

/// An error about a sound data set that cannot be read: "FILE: not supported: WHAT in 'DATASET'." `advice` is
/// a sentence without a full stop.
Error UnsupportedError(const std::string& file, const std::string& what, const std::string& dataset,
    const std::string& advice = {});

}  // namespace patchio::hdf5index
