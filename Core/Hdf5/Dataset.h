// The shape, type, storage layout and filters of data sets, as far as PatchIO needs them to read values.
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
  Contiguous,   ///< all values in one range of bytes, from Dataset::Offset on
  Chunked,      ///< values in chunks, with filters that FilterType lists
  Virtual,      ///< values in other data sets, see Structure::Mappings()
  Library,      ///< values that only the HDF5 library can decode; Reason tells why
  Unsupported,  ///< values that PatchIO cannot read; Reason tells why, for example "filter 32000 (lzf)"
  NotWritten    ///< no values in the file yet; Reason tells so
};

/// The types of index by which HDF5 finds the chunks of a data set.
enum class ChunkIndex : std::uint8_t
{
  Tree1,            ///< B-tree of version 1; the only type before HDF5 1.10
  Single,           ///< a single chunk, without index
  Implicit,         ///< all chunks one after another, without index
  FixedArray,       ///< array, for data sets with fixed maximum dimensions
  ExtensibleArray,  ///< growing array, for data sets with one unlimited axis
  Tree2             ///< B-tree of version 2, for data sets with several unlimited axes
};

/// The description of a data set: element type, shape, storage layout and filters.
struct Dataset
{
  /// The value of MaximumDims for an axis that can grow without limit.
  static constexpr std::uint64_t Unlimited = ~std::uint64_t(0);

  // The type of the elements, see Datatype.
  TypeClass Class = TypeClass::Opaque;
  bool IsPlain = false;  ///< also true for texts of variable length
  bool BigEndian = false;
  bool Signed = true;
  std::uint32_t ElementBytes = 0;

  StorageLayout Layout = StorageLayout::NotWritten;
  std::uint8_t Rank = 0;
  std::uint64_t Values = 0;  ///< number of values
  /// Numbers of values along the first axes, slowest first.
  std::array<std::uint64_t, ChunkedArray::MaximumRank> Dims{};
  std::uint64_t Offset = 0;  ///< Contiguous: offset of the values in the file

  // For Chunked (Fill also for Virtual); see ChunkedArray.
  std::array<FilterType, ChunkedArray::MaximumFilters> Filters{};
  /// Numbers of values of a chunk along each axis. All 0: the data set is not chunked, or its chunks have
  /// more than MaximumRank axes.
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};
  std::uint64_t Fill = 0;  ///< bytes of the value of unwritten chunks, and of gaps in a virtual data set
  // For Structure::ListChunks() only.
  ChunkIndex Index = ChunkIndex::Tree1;
  std::uint64_t ChunkAddress = 0;  ///< address of the index, or of the chunks if there is no index
  /// Limits to which Dims may grow, or Unlimited.
  std::array<std::uint64_t, ChunkedArray::MaximumRank> MaximumDims{};
  std::uint64_t SingleBytes = 0;           ///< Single with filters: size of the chunk
  std::uint32_t SingleSkippedFilters = 0;  ///< Single with filters: see Chunk::SkippedFilters
  // For Virtual only: location of the mappings in a global heap.
  std::uint64_t MappingHeap = 0;
  std::uint32_t MappingNumber = 0;

  std::string Reason;  ///< a phrase for messages, for example "filter 4 (szip)"
};

/// A member of a record in memory: `Count` numbers (Int8, Int32 or Float64) at byte `Offset` of the record.
struct RecordMember
{
  const char* Name;
  ElementType Type;
  int Count;
  std::size_t Offset;
};

/// Returns the number of values along each axis, slowest first. Axes after the first
/// ChunkedArray::MaximumRank axes get 0.
std::vector<std::uint64_t> DimsOf(const Dataset& dataset);

/// Returns the ElementType with the class, sign and size of the values of `dataset`, or nothing if there is
/// no such type.
std::optional<ElementType> ElementTypeOf(const Dataset& dataset);
/// Returns the ElementType with the class, sign and size of `type`, or nothing if there is no such type.
std::optional<ElementType> ElementTypeOf(const Datatype& type);

/// Returns the type of the values of `dataset` as a phrase for messages, for example "float16" or "text".
std::string TypeText(const Dataset& dataset);

/// Returns a ChunkedArray of all values of a chunked data set. `type`: type of the values; `file`: number of
/// the file in the LocationTable. The caller sets ChunkedArray::FirstChunk and ChunkCount.
ChunkedArray MakeChunkedArray(const Dataset& dataset, ElementType type, int file);

/// Returns the number of chunks of a chunked data set, written or not. The result is at most Dataset::Values.
std::uint64_t CountChunks(const Dataset& dataset);

/// Returns the size of a chunk of `dataset` without filters, in bytes.
std::uint64_t PlainChunkBytes(const Dataset& dataset);

/// Fills `chunks`, an array of CountChunks(dataset) entries, with chunks that were not written.
void ClearChunks(const Dataset& dataset, Chunk* chunks);

/// Sets the layout of `dataset` to Library, or to Unsupported if the library must not be used. `reason`:
/// phrase for Dataset::Reason.
void SetLibraryLayout(Dataset& dataset, const std::string& reason);

/// Returns the greatest plausible number of chunks in a file of `fileBytes` bytes. Unless chunks are tiny, a
/// chunk and its entry in an index take at least 32 bytes, so a valid file has more chunks only if most
/// chunks were never written.
constexpr std::uint64_t MostChunks(std::uint64_t fileBytes)
{
  return 4096 + fileBytes / 16;
}

/// Value of Dataset::Reason for a data set that the library reads, because the data sets of its file have
/// more than MostChunks() chunks in total.
constexpr const char* MoreChunksThanFit = "more chunks than the file can hold";

/// Returns the FilterType of an HDF5 filter, or None if PatchIO does not support the filter. `filter`: number
/// of the filter in The HDF Group's registry; `shuffledBytes`: first parameter of the filter, used for
/// Shuffle only; `elementBytes`: size of the data set's elements.
FilterType FilterFromNumber(int filter, std::uint64_t shuffledBytes, std::uint64_t elementBytes);

/// Returns the number and, if known, the name of an HDF5 filter for messages, for example "filter 4 (szip)".
std::string FilterName(int filter);

/// Makes an error about a valid object that PatchIO cannot read: "FILE: not supported: FEATURE in 'OBJECT'.
/// ADVICE." `advice`: a sentence without a full stop, or empty.
Error UnsupportedError(const std::string& file, const std::string& feature, const std::string& object,
    const std::string& advice = {});

/// Throws Error if the data set is unsupported or virtual, or if its values were not written yet. `name`:
/// name of the data set; `file`: name of the file.
void CheckReadable(const Dataset& info, const std::string& name, const std::string& file);

/// Runs `work` and returns its result. Replaces Corrupt and Unsupported, thrown by `work`, by an Error that
/// contains the name of the file, `file`, and the name of the object, which name() returns.
template <typename Name, typename Work>
auto WithErrorNames(const std::string& file, const Name& name, const Work& work)
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

/// The shape of a data set or an attribute, see section IV.A.2.b of the specification.
struct Dataspace
{
  unsigned Rank = 0;
  std::uint64_t Values = 1;  ///< number of values
  /// The first Rank entries are set, slowest axis first; see Dataset::MaximumDims.
  std::array<std::uint64_t, MostAxes> Dims, MaximumDims;
};

/// Parses a dataspace message. Throws Corrupt for damaged messages, and Unsupported for unknown versions.
Dataspace ParseDataspace(Cursor& message);

/// Builds a Dataset from the messages of its object header. Call Add() for each message, then Finish(). All
/// methods throw Corrupt for damaged messages, and Unsupported for features that PatchIO does not support.
class DatasetMessages
{
public:
  /// Parses a message of the header. Ignores messages that do not describe data sets.
  void Add(const Message& message);
  /// Returns true if further messages cannot change the data set.
  bool IsComplete() const
  {
    return this->HasSpace && this->HasType && this->HasLayout && !this->HasExternalFiles &&
           this->Result.Layout == StorageLayout::Contiguous && this->Result.Offset != NoAddress;
  }
  /// Returns the data set, valid as long as this object. Call Finish() once, after Add() of all messages. May
  /// call LibraryHasFilter(). Throws Error like LibraryIsAllowed().
  const Dataset& Finish();

private:
  static void RequireUnshared(const Message& message);
  void ParseSpace(const Message& message);
  void ParseType(const Message& message);
  void ParseLayout(const Message& message);
  void ParseOldLayout(const Message& message);
  void ParsePlainLayout(const Message& message, unsigned layoutClass);
  bool SetChunkRank(unsigned axes);
  void ParseChunks3(const Message& message, std::size_t rankOffset, std::size_t offset);
  void ParseChunks4(const Message& message);
  void ParseFill(const Message& message);
  void ParseOldFill(const Message& message);
  void SetFill(const Message& message, std::size_t offset, std::uint64_t bytes);
  void ParseFilters(const Message& message);
  void FinishChunked();
  void FinishFilters();
  void FinishFill();

  static constexpr std::size_t MostFilters = 32;

  Dataset Result;
  bool HasSpace = false, HasType = false, HasLayout = false, HasFill = false, HasFilters = false;
  bool SkipsPartial = false;      ///< true: partial chunks at the edges have no filters
  bool HasExternalFiles = false;  ///< true: the values are in other files
  unsigned ChunkRank = 0;
  std::uint64_t ChunkElementBytes = 0;
  std::uint64_t ContiguousBytes = 0;
  std::uint64_t FillBytes = 0;
  std::array<std::byte, 8> StoredFill{};
  unsigned FilterCount = 0;
  // The first FilterCount entries are set.
  std::array<int, MostFilters> FilterIds;
  std::array<std::uint64_t, MostFilters> FilterParameters;
};

}  // namespace patchio::hdf5
