// Writes one time step of a container from the values of all ranks.
#pragma once

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Formats/Container/StepRecord.h"
#include "Write/ChunkEncoder.h"
#include "Write/Shuffle.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchio::container {

/// A table of a file, for which the layout reserves space.
struct PlannedTable
{
  std::string Name;
  ElementType Type = ElementType::Float64;
  std::uint64_t Values = 0;  ///< number of values
};

/// The contents of one of a step's files.
struct StepFilePlan
{
  const Catalog* Data = nullptr;
  const std::vector<ElementType>* Types = nullptr;  ///< type of each variable
  const std::vector<int>* Rows = nullptr;           ///< see RowsOf()
  int Files = 1;                                    ///< number of files of the step
  std::vector<DataSet> DataSets;                    ///< data sets of the file
  std::vector<PlannedTable> Tables;
};

/// The size of a compressed chunk.
struct ChunkSize
{
  std::uint64_t Bytes = 0;
  std::uint32_t SkippedFilters = 0;  ///< filters that were not applied; see Chunk::SkippedFilters
};

/// A file of a step during the write of the step. HDF5 does not recognize the file before WriteSignature(),
/// so that readers cannot mistake unwritten space for values. Methods throw Error. Several threads may use
/// different files at the same time.
class StepFile
{
public:
  /// Makes the layout of the file in memory, with HDF5. If no data set is compressed, the other methods do
  /// not use HDF5.
  StepFile(const std::string& path, const StepFilePlan& plan);
  ~StepFile();
  /// Makes the file with space for all values that are not compressed. The file must not exist.
  void Create();
  bool IsCreated() const { return this->File != nullptr; }

  /// Returns the offsets in the file of the plan's data sets and then of the plan's tables. The offsets of
  /// compressed data sets are 0.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }

  /// Makes space for the chunks of all compressed data sets. `chunks`: sizes of the chunks, data set by data
  /// set in the order of the plan. Returns the offsets of the chunks, or an empty list if the file has no
  /// compressed data set.
  std::vector<std::uint64_t> ReserveChunks(const std::vector<ChunkSize>& chunks);
  /// Writes everything except values, tables and the signature. Call only WriteSignature() afterwards.
  void WriteDescription();
  /// Flushes the file, writes the signature of HDF5, which makes the file readable, and flushes the file
  /// again.
  void WriteSignature() const;

private:
  class Description;
  void StoreImage();

  const std::string Path;
  std::unique_ptr<Description> Described;  ///< null after the layout is complete
  const std::vector<std::uint64_t> Begins;
  std::vector<std::byte> Image;  ///< bytes of the description
  /// Ranges of values within Image; see hdf5::FileImage.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ValueRanges;
  std::uint64_t Size = 0;  ///< size of the file
  std::unique_ptr<PlainFile> File;
};

/// The contents of a step; the same on all ranks.
struct StepToWrite
{
  /// Levels, patches, variables without ghosts, and the presence of each variable on each patch
  /// (Presence::Stored: the patch has values). Patch::Writer is the rank that writes the patch.
  Catalog Data;
  std::vector<ElementType> Types;  ///< type of each variable
  /// Filter of each variable: None, Deflate or Zstd. Empty: no variable is compressed or, for a Target, all
  /// variables have Channel::Compression.
  std::vector<FilterType> Compression;
};

/// The values of a variable on a patch in memory: Catalog::StoredTuples() tuples, axis 0 fastest. The
/// components of a tuple are adjacent.
struct PatchValues
{
  int Patch = 0;
  int Variable = 0;
  const void* Values = nullptr;
};

/// The values of several patches of a rank, and the owner of the memory of the values.
struct HeldValues
{
  std::vector<PatchValues> Arrays;
  std::shared_ptr<const void> Holder{};  ///< owner of the memory
  /// Returns the values of further patches, and may release the values in Arrays. Null: no further patches.
  std::function<HeldValues()> Next{};
};

/// The checksum and the minimum and maximum of the values of a variable on a patch.
struct WrittenValues
{
  std::uint64_t Index = 0;  ///< variable x number of patches + patch
  std::uint32_t Checksum = 0;
  ValueRange Range = ValueRange::EmptyRange();
};

/// The values of a variable on a patch, and the byte range of the values in the file.
struct ValuesAtOffset
{
  std::uint64_t Offset = 0;
  std::uint64_t Bytes = 0;
  const PatchValues* Source = nullptr;
};

/// The two types of names of a step's files: `step.000010.hdf` (Usual) and `step.000010.new.hdf` (New). A
/// step that replaces a step with usual names is written with new names.
enum class FileNames
{
  Usual,
  New
};
/// Returns the file name `name` as a name of the type `names`.
std::string RenamedFile(const std::string& name, FileNames names);

/// A compressed data set. FirstChunk and FirstByte count the chunks and the bytes of all data sets before
/// this data set.
struct ChunkedSet
{
  FilterType Filter = FilterType::None;
  std::size_t ElementBytes = 0;
  std::uint64_t Bytes = 0;       ///< size of the data set
  std::uint64_t ChunkBytes = 0;  ///< size of a chunk before compression
  std::uint64_t FirstChunk = 0;
  std::uint64_t FirstByte = 0;

  std::uint64_t ChunkCount() const { return (this->Bytes + this->ChunkBytes - 1) / this->ChunkBytes; }
};

/// A range of consecutive values of a data set.
struct SetRange
{
  std::size_t Set = 0;      ///< index of the data set
  std::uint64_t Begin = 0;  ///< offset in the data set, in bytes
  std::uint64_t Bytes = 0;
  const std::byte* Values = nullptr;
};

/// Collects values into chunks, and compresses complete chunks. Not thread-safe.
class ChunkPacker
{
public:
  explicit ChunkPacker(std::vector<ChunkedSet> sets) : Sets(std::move(sets)) {}

  /// Adds the values of `ranges`, and compresses the chunks that are then complete, with `threads` threads.
  /// Throws Error.
  void Add(const std::vector<SetRange>& ranges, int threads);

  /// Moves into `to` the values of each incomplete chunk that another rank completes. `ownRank`: this rank.
  /// ownerOf(set, begin) returns the rank that completes the chunk at byte `begin` of the data set `set`.
  template <typename OwnerOf>
  void SendToOwners(output::FragmentExchange& to, int ownRank, const OwnerOf& ownerOf);
  /// Adds the values that this rank has received from other ranks, with `threads` threads. Throws Error.
  void AddReceived(const output::FragmentExchange& from, int threads);

  /// Returns the complete chunks by number.
  const std::map<std::uint64_t, EncodedChunk>& Chunks() const { return this->Complete; }

private:
  struct RangeOfChunk
  {
    std::uint64_t Begin, Bytes;  ///< offset in the chunk and size, in bytes
    const std::byte* Values;
  };
  struct OpenChunk
  {
    std::size_t Set = 0;
    std::uint64_t Used = 0;  ///< bytes of the chunk that belong to the data set
    std::vector<std::byte> Values;
    /// Offset in the chunk and size of each added range.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> Ranges;
    std::vector<RangeOfChunk> NewRanges;
    bool Done = false;
    EncodedChunk Encoded;
  };

  void Queue(const SetRange& range);
  void Encode(OpenChunk& chunk, ChunkEncoder& encoder) const;

  const std::vector<ChunkedSet> Sets;
  std::map<std::uint64_t, OpenChunk> Open;
  std::map<std::uint64_t, EncodedChunk> Complete;
};

template <typename OwnerOf>
void ChunkPacker::SendToOwners(output::FragmentExchange& to, int ownRank, const OwnerOf& ownerOf)
{
  for (auto chunk = this->Open.begin(); chunk != this->Open.end();) {
    const OpenChunk& open = chunk->second;
    const ChunkedSet& set = this->Sets[open.Set];
    const std::uint64_t first = (chunk->first - set.FirstChunk) * set.ChunkBytes;
    const int owner = ownerOf(open.Set, first);
    for (std::size_t i = 0; i < open.Ranges.size() && owner != ownRank; ++i) {
      const auto& [begin, bytes] = open.Ranges[i];
      to.Send(owner, set.FirstByte + first + begin, open.Values.data() + begin, bytes);
    }
    chunk = owner != ownRank ? this->Open.erase(chunk) : std::next(chunk);
  }
}

/// Writes one step of a container from the values of all ranks.
class StepWriter
{
public:
  /// Makes the layout of the step in memory, with HDF5. `folder`: folder of the container. `ranksPerFile`:
  /// number of consecutive ranks that write to the same file; 0: all ranks write to one file. Throws Error.
  /// Not collective, but all ranks must call it.
  StepWriter(Communicator& ranks, const std::string& folder, StepToWrite step, int ranksPerFile);
  /// Removes the files that still have temporary names, because Finish() has not returned.
  ~StepWriter() = default;
  StepWriter(const StepWriter&) = delete;
  StepWriter& operator=(const StepWriter&) = delete;

  const Catalog& Data() const { return this->Record.Data; }
  /// Sets the type of the file names in the record. Not collective.
  void SetFileNames(FileNames names);
  /// Returns the record of the step, which is complete on rank 0 after Finish().
  const StepRecord& GetRecord() const { return this->Record; }

  /// Makes the files. Call this method before Write(). `names`: type of the final file names; New if the
  /// files of a step that this step replaces have the usual names. Throws Error, the same on all ranks.
  /// Collective: every rank of the communicator calls it.
  void Create(FileNames names);
  /// Writes values of this rank's patches, with `threads` threads. Returns when the operating system has the
  /// values; compressed values stay in memory until Finish(). Write each variable on each patch once. If a
  /// write fails, Finish() throws Error, and further calls do nothing. Not collective.
  void Write(const std::vector<PatchValues>& values, int threads);
  /// Writes `values` and all values that HeldValues::Next returns, like Write().
  void Write(HeldValues values, int threads);

  /// Completes and flushes the files, and renames the files to the final names. Returns the encoded record
  /// for the log on rank 0, and an empty text on other ranks. Throws Error, the same on all ranks, if a write
  /// has failed or values are missing. Collective: every rank of the communicator calls it.
  std::string Finish();

private:
  std::vector<PlannedTable> PlannedTables() const;
  StepFilePlan PlanOfFile() const;
  void SetOffsets(const std::vector<std::uint64_t>& offsets);
  void MakePacker();
  bool IsPacked(const PatchValues& values) const { return this->Packed.count(this->SetOf(values)) > 0; }
  std::array<int, 2> SetOf(const PatchValues& values) const
  {
    return {this->Record.Data.Patches[values.Patch].Level, values.Variable};
  }
  void WriteAll(const std::vector<PatchValues>& values, int threads);
  void WritePlain(const std::vector<PatchValues>& values, int threads);
  void Pack(const std::vector<PatchValues>& values, int threads);
  void ExchangeParts();
  std::map<std::uint64_t, int> WritersOf(int level, int variable) const;
  void ReserveAndWriteChunks();
  void WriteChunks(const std::vector<std::uint64_t>& offsets) const;
  std::uint64_t OffsetOf(const PatchValues& values) const;
  std::uint64_t BytesOf(const PatchValues& values) const;
  void WriteRun(const ValuesAtOffset* values, std::size_t count, WrittenValues* written) const;
  std::vector<std::int64_t> SizesOfMeshes() const;
  void WriteTables(const std::vector<WrittenValues>& written);
  template <typename T>
  void WriteTable(const std::string& name, const std::vector<T>& values);
  void CheckComplete(const std::vector<std::uint8_t>& written) const;
  std::uint64_t IndexOf(int variable, int patch) const
  {
    return std::uint64_t(variable) * this->Record.Data.Patches.size() + patch;
  }
  std::string PartPath() const;
  bool LeadsFile() const { return this->Ranks.Rank() % this->RanksPerFile == 0; }
  int FileOfRank() const { return this->Ranks.Rank() / this->RanksPerFile; }

  Communicator& Ranks;
  const std::string Folder;
  const int RanksPerFile;
  StepRecord Record;  ///< offsets and checksums are set during the write
  std::vector<int> Rows;
  std::vector<std::vector<std::uint64_t>> ValueOffsets;  ///< by variable; see ValuesBefore()
  /// Offsets of the data sets in this rank's file, by level and variable.
  std::map<std::array<int, 2>, std::uint64_t> OffsetsOfSets;
  /// Indices in Packer of the compressed data sets, by level and variable.
  std::map<std::array<int, 2>, std::size_t> Packed;
  std::unique_ptr<ChunkPacker> Packer;
  std::uint64_t Chunks = 0;  ///< number of chunks in this rank's file
  int Threads = 1;
  std::vector<WrittenValues> Written;  ///< checksums and ranges of the values that this rank has written
  /// A file with a temporary name. The destructor removes the file if the file still has the temporary name.
  class PartFile
  {
  public:
    PartFile(const std::string& path, const StepFilePlan& plan) : Path(path), File(path, plan) {}
    ~PartFile();
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    const std::string Path;
    StepFile File;
  };
  std::unique_ptr<PartFile> Part;  ///< the file that this rank makes and completes; null on other ranks
  std::unique_ptr<PlainFile> File;
  std::string Fault;
};

/// The compression that a user may choose.
enum class CompressionChoice : std::uint8_t
{
  Off,
  Deflate,
  Zstd,
  Auto  ///< deflate for each variable if deflate makes a sample of its values more than a tenth smaller
};
constexpr CompressionChoice LastCompressionChoice = CompressionChoice::Auto;

/// Returns the name of a choice in options: "off", "deflate", "zstd" or "auto".
const char* NameOf(CompressionChoice choice);

/// Returns StepToWrite::Compression for the user's choice, the same on all ranks. `sample`: values of this
/// rank's patches, which Auto compresses as a trial. Collective: every rank of the communicator calls it.
std::vector<FilterType> ChooseCompression(Communicator& ranks, const StepToWrite& step,
    CompressionChoice choice, const std::vector<PatchValues>& sample);

}  // namespace patchio::container
