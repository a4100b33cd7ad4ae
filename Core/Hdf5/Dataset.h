// Data sets as far as their values can be read by it.
#pragma once

#include "Catalog/Extent.h"
#include "Hdf5/Datatype.h"
#include "Hdf5/ObjectHeader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// Data sets as far as their values can be read by it.
enum class StorageLayout : std::uint8_t
{
  Contiguous,   ///< all values at Offset
  Chunked,      ///< in chunks that may be compressed with what FilterKind names
  Virtual,      ///< in other data sets, see Structure::Mappings(); the Reason is VirtualDataset
  Library,      ///< in this file, but only the library can decode them; Reason says why
  Unsupported,  ///< PatchIO does not read them: "filter 32000 (lzf)" is the Reason
  Nowhere       ///< not written yet, as the Reason says
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

  // See Datatype.
  TypeClass Class = TypeClass::Opaque;
  bool IsPlain = false;  ///< and List: of characters
  bool BigEndian = false;
  bool Signed = true;
  std::uint32_t ElementBytes = 0;

  StorageLayout Layout = StorageLayout::Nowhere;
  std::uint8_t Rank = 0;
  std::uint64_t Values = 0;
  std::array<std::uint64_t, ChunkedArray::MaximumRank> Dims{};  ///< of the first axes, slowest first
  std::uint64_t Offset = 0;                                     ///< Contiguous: in the file

  // Chunked only; see ChunkedArray.
  std::array<FilterKind, ChunkedArray::MaximumFilters> Filters{};
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};  ///< 0: not in chunks
  std::uint64_t Fill = 0;
  // For Structure::ListChunks() only.
  ChunkIndex Index = ChunkIndex::Tree1;
  std::uint64_t ChunkAddress = 0;  ///< of the list, or of the chunks where there is none
  std::array<std::uint64_t, ChunkedArray::MaximumRank> MostDims{};  ///< that Dims may become, or Unlimited
  std::uint64_t SingleBytes = 0;                                    ///< Single, with filters: of the chunk
  std::uint32_t SingleSkipped = 0;                                  ///< Single: Chunk::SkippedFilters
  // Virtual only: where its mappings are in global heaps.
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

/// Reasons of Unsupported for values that are in other files or data sets.
constexpr const char* ValuesElsewhere = "values in external files";
constexpr const char* VirtualDataset = "virtual data set";
/// The reason why a link is not followed.
constexpr const char* ExternalLink = "external link";

/// Values per axis, slowest first; those beyond the first ChunkedArray::MaximumRank axes are 0.
std::vector<std::uint64_t> DimsOf(const Dataset& dataset);

/// The type of the elements that PatchIO reads as they are stored; none where there is no such type.
std::optional<ElementType> TypeOfValues(const Dataset& dataset);
std::optional<ElementType> TypeOfNumber(const Datatype& type);

/// The type in words: "float16", "text".
std::string TypeText(const Dataset& dataset);

/// All values of a chunked data set as such an array; FirstChunk and ChunkCount are left to the caller.
ChunkedArray ArrayOf(const Dataset& dataset, ElementType type, int file);

/// Number of chunks of a chunked data set, written or not. A grid has no more chunks than values.
std::uint64_t ChunksOf(const Dataset& dataset);

/// Bytes of a chunk without filters.
std::uint64_t PlainChunkBytes(const Dataset& dataset);

/// Fills ChunksOf(dataset) chunks as if none had been written.
void ClearChunks(const Dataset& dataset, Chunk* chunks);

/// More chunks than this do not fit into the lists of a sound file of so many bytes, unless most were never
/// written: each takes 32 bytes there.
constexpr std::uint64_t MostChunks(std::uint64_t fileBytes)
{
  return 4096 + fileBytes / 16;
}

/// Why the library reads an array whose chunks are not listed.
constexpr const char* MoreChunksThanFit = "more chunks than the file can hold";

/// Returns the filter with that number of HDF5; None when PatchIO does not undo it. `elementBytes`: of the
/// data set; `shuffledBytes`: the first parameter of the filter, which only Shuffle uses.
FilterKind KindOfFilter(int filter, std::uint64_t shuffledBytes, std::uint64_t elementBytes);

/// "filter 4 (szip)"
std::string FilterName(int filter);

/// An error about a sound data set that cannot be read: "FILE: not supported: WHAT in 'DATASET'." `advice` is
/// a sentence without a full stop.
Error UnsupportedError(const std::string& file, const std::string& what, const std::string& dataset,
    const std::string& advice = {});

/// Throws Error unless PatchIO can read the values of a data set, now.
void CheckReadable(const Dataset& info, const std::string& name, const std::string& file);

/// Returns what `work` does; gives errors in the structure of a file the names of the file and of the object,
/// which `name` returns.
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

/// A shape: section IV.A.2.b of the specification.
struct Dataspace
{
  static constexpr unsigned MostAxes = 32;

  unsigned Rank = 0;
  std::uint64_t Values = 1;
  /// By axis, slowest first, as many as the rank says; see Dataset::MostDims.
  std::array<std::uint64_t, MostAxes> Dims, MostDims;
};

/// Throws Corrupt, and Unsupported for unknown versions.
Dataspace TakeDataspace(Cursor& message);

/// Takes a data set's messages one by one. All methods throw Corrupt and Unsupported.
class DatasetMessages
{
public:
  void Take(const Message& message);
  /// True when the others cannot change the data set any more.
  bool Complete() const
  {
    return this->HasSpace && this->HasType && this->HasLayout && this->Elsewhere.empty() &&
           this->Result.Layout == StorageLayout::Contiguous && this->Result.Offset != NoAddress;
  }
  /// The data set, after all messages.
  const Dataset& Finish();

private:
  static void RequireOwn(const Message& message);
  void TakeSpace(const Message& message);
  void TakeType(const Message& message);
  void TakeLayout(const Message& message);
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
  bool SkipsPartial = false;  ///< chunks at the edges have no filters
  std::string Elsewhere;      ///< why the values are not in this file; empty: they are
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};
  unsigned ChunkRank = 0;
  std::uint64_t ChunkElementBytes = 0;
  std::uint64_t ContiguousBytes = 0;
  std::uint64_t FillBytes = 0;
  std::array<std::byte, 8> FillStored{};
  unsigned FilterCount = 0;
  // As many as FilterCount says.
  std::array<int, MostFilters> FilterIds;
  std::array<std::uint64_t, MostFilters> FilterParameters;
};

}  // namespace patchio::hdf5
