// Data sets: shape, type, storage layout and filters, as far as reading their values requires.
#pragma once

#include "Catalog/Location.h"
#include "Hdf5/Datatype.h"
#include "Hdf5/ObjectHeader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// The storage layout of a data set, which determines whether PatchIO or the HDF5 library can read the
/// values.
enum class StorageLayout : std::uint8_t
{
  Contiguous,   ///< all values at Offset
  Chunked,      ///< in chunks, with filters that FilterKind lists
  Virtual,      ///< in other data sets, see Structure::Mappings(); Reason is VirtualDataset
  Library,      ///< in this file, but only the HDF5 library can decode the values; Reason tells why
  Unsupported,  ///< PatchIO cannot read the values; Reason tells why: "filter 32000 (lzf)"
  Nowhere       ///< not written yet; Reason tells so
};

/// The kinds of index that HDF5 keeps for the chunks of a data set.
enum class ChunkIndex : std::uint8_t
{
  Tree1,            ///< B-tree of version 1; the only kind before HDF5 1.10
  Single,           ///< a single chunk, without index
  Implicit,         ///< all chunks one after another, without index
  FixedArray,       ///< for data sets with fixed maximum dimensions
  ExtensibleArray,  ///< for data sets with one unlimited axis
  Tree2             ///< B-tree of version 2, for data sets with several unlimited axes
};

/// The description of a data set: element type, shape, storage layout and filters.
struct Dataset
{
  static constexpr std::uint64_t Unlimited = ~std::uint64_t(0);

  // The type of the elements, see Datatype.
  TypeClass Class = TypeClass::Opaque;
  bool IsPlain = false;  ///< also true for a List of characters
  bool BigEndian = false;
  bool Signed = true;
  std::uint32_t ElementBytes = 0;

  StorageLayout Layout = StorageLayout::Nowhere;
  std::uint8_t Rank = 0;
  std::uint64_t Values = 0;
  std::array<std::uint64_t, ChunkedArray::MaximumRank> Dims{};  ///< of the first axes, slowest first
  std::uint64_t Offset = 0;                                     ///< Contiguous: offset in the file

  // For Chunked only; see ChunkedArray.
  std::array<FilterKind, ChunkedArray::MaximumFilters> Filters{};
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};  ///< 0: not chunked
  std::uint64_t Fill = 0;
  // For Structure::ListChunks() only.
  ChunkIndex Index = ChunkIndex::Tree1;
  std::uint64_t ChunkAddress = 0;  ///< address of the index, or of the chunks if there is no index
  std::array<std::uint64_t, ChunkedArray::MaximumRank> MostDims{};  ///< greatest values of Dims, or Unlimited
  std::uint64_t SingleBytes = 0;    ///< Single with filters: size of the chunk
  std::uint32_t SingleSkipped = 0;  ///< Single with filters: see Chunk::SkippedFilters
  // For Virtual only: location of the mappings in a global heap.
  std::uint64_t MappingHeap = 0;
  std::uint32_t MappingNumber = 0;

  std::string Reason;  ///< Library: "filter 4 (szip)"; Nowhere: "no values written yet"
};

/// A member of a record in memory: `Count` numbers at `Offset`.
struct RecordMember
{
  const char* Name;
  ElementType Type;
  int Count;
  std::size_t Offset;
};

/// Reasons of Unsupported for data sets whose values are in other files or data sets.
constexpr const char* ValuesElsewhere = "values in external files";
constexpr const char* VirtualDataset = "virtual data set";
/// Reason why PatchIO does not follow a link.
constexpr const char* ExternalLink = "external link";

/// Returns the values per axis, slowest first; 0 for axes after the first ChunkedArray::MaximumRank ones.
std::vector<std::uint64_t> DimsOf(const Dataset& dataset);

/// Returns the ElementType that equals the type of the values, or nothing if there is no such type.
std::optional<ElementType> TypeOfValues(const Dataset& dataset);
std::optional<ElementType> TypeOfNumber(const Datatype& type);

/// Returns the name of the type for messages, such as "float16" or "text".
std::string TypeText(const Dataset& dataset);

/// Returns all values of a chunked data set as one ChunkedArray. The caller sets FirstChunk and ChunkCount.
ChunkedArray ArrayOf(const Dataset& dataset, ElementType type, int file);

/// Returns the number of chunks of a chunked data set, written or not. The result is at most the number of
/// values.
std::uint64_t ChunksOf(const Dataset& dataset);

/// Returns the size of a chunk without filters, in bytes.
std::uint64_t PlainChunkBytes(const Dataset& dataset);

/// Fills `chunks`, which has ChunksOf(dataset) entries, as if no chunk was written.
void ClearChunks(const Dataset& dataset, Chunk* chunks);

/// Returns the greatest plausible number of chunks in a file of this size. A chunk takes 32 bytes in an
/// index, so a valid file has more chunks only if most of them were never written.
constexpr std::uint64_t MostChunks(std::uint64_t fileBytes)
{
  return 4096 + fileBytes / 16;
}

/// Reason why the library reads an array whose chunks are not listed.
constexpr const char* MoreChunksThanFit = "more chunks than the file can hold";

/// Returns the FilterKind of an HDF5 filter number, or None if PatchIO does not support the filter.
/// `elementBytes`: size of the data set's elements; `shuffledBytes`: first parameter of the filter, used for
/// Shuffle only.
FilterKind KindOfFilter(int filter, std::uint64_t shuffledBytes, std::uint64_t elementBytes);

/// Returns the number and the name of a filter for messages: "filter 4 (szip)".
std::string FilterName(int filter);

/// Makes an error about a valid data set that PatchIO cannot read: "FILE: not supported: WHAT in 'DATASET'."
/// `advice` is a sentence without a full stop, or empty.
Error UnsupportedError(const std::string& file, const std::string& what, const std::string& dataset,
    const std::string& advice = {});

/// Throws Error unless PatchIO can read the values of the data set now.
void CheckReadable(const Dataset& info, const std::string& name, const std::string& file);

/// Returns the result of `work`. Replaces Corrupt and Unsupported by errors with the names of the file and of
/// the object, which name() returns.
template <typename Name, typename Work>
auto NameErrors(const std::string& file, const Name& name, const Work& work)
{
  try {
    return work();
  } catch (const Corrupt& corrupt) {
    throw FileError(file, "a readable object '" + PlainText(name()) + "'",
        std::string("a damaged one (") + corrupt.what() + ")", DamagedOrForeign);
  } catch (const Unsupported& unsupported) {
    throw UnsupportedError(file, unsupported.what(), name());
  }
}

/// The shape of a data set or an attribute: section IV.A.2.b of the specification.
struct Dataspace
{
  static constexpr unsigned MostAxes = 32;

  unsigned Rank = 0;
  std::uint64_t Values = 1;
  /// The first Rank entries are set, slowest axis first; see Dataset::MostDims.
  std::array<std::uint64_t, MostAxes> Dims, MostDims;
};

/// Parses a dataspace message. Throws Corrupt, and Unsupported for unknown versions.
Dataspace TakeDataspace(Cursor& message);

/// Builds a Dataset from the messages of its object header. All methods throw Corrupt and Unsupported.
class DatasetMessages
{
public:
  void Take(const Message& message);
  /// Returns true if further messages cannot change the data set.
  bool Complete() const
  {
    return this->HasSpace && this->HasType && this->HasLayout && this->Elsewhere.empty() &&
           this->Result.Layout == StorageLayout::Contiguous && this->Result.Offset != NoAddress;
  }
  /// Returns the data set. Call it after all messages.
  const Dataset& Finish();

private:
  static void RequireOwn(const Message& message);
  void TakeSpace(const Message& message);
  void TakeType(const Message& message);
  void ParseLayout(const Message& message);
  void TakeOldLayout(const Message& message);
  void TakePlainLayout(const Message& message, unsigned kind);
  bool TakeChunkRank(unsigned axes);
  void TakeChunks3(const Message& message, std::size_t rank, std::size_t place);
  void TakeChunks4(const Message& message);
  void TakeFill(const Message& message);
  void TakeOldFill(const Message& message);
  void KeepFill(const Message& message, std::size_t place, std::uint64_t bytes);
  void TakeFilters(const Message& message);
  void FinishChunked();
  void FinishFilters();
  void FinishFill();

  static constexpr std::size_t MostFilters = 32;

  Dataset Result;
  bool HasSpace = false, HasType = false, HasLayout = false, HasFill = false, HasFilters = false;
  bool SkipsPartial = false;  ///< filters are not applied to partial chunks at the edges
  std::string Elsewhere;      ///< reason why the values are not in this file, or empty
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};
  unsigned ChunkRank = 0;
  std::uint64_t ChunkElementBytes = 0;
  std::uint64_t ContiguousBytes = 0;
  std::uint64_t FillBytes = 0;
  std::array<std::byte, 8> FillStored{};
  unsigned FilterCount = 0;
  // The first FilterCount entries are set.
  std::array<int, MostFilters> FilterIds;
  std::array<std::uint64_t, MostFilters> FilterParameters;
};

}  // namespace patchio::hdf5
