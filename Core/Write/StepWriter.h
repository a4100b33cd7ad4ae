// The writer of one time step of a container. The values come from all ranks.
#pragma once

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Formats/Container/StepRecord.h"
#include "Write/ChunkEncoder.h"
#include "Write/LineExchange.h"

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

/// Space for a table.
struct PlannedTable
{
  std::string Name;
  ElementType Type = ElementType::Float64;
  std::uint64_t Values = 0;
};

/// The contents of one of a step's files.
struct StepFilePlan
{
  const Catalog* Data = nullptr;
  const std::vector<ElementType>* Types = nullptr;  ///< type of each variable
  const std::vector<int>* Rows = nullptr;           ///< see RowsOf()
  int Files = 1;                                    ///< number of files of the step
  std::vector<DataSet> DataSets;                    ///< data sets in this file
  std::vector<PlannedTable> Tables;
};

/// The size of a compressed chunk.
struct ChunkSize
{
  std::uint64_t Bytes = 0;
  std::uint32_t SkippedFilters = 0;  ///< see Chunk
};

/// A file of a step during its write. HDF5 libraries do not recognize the file before WriteSignature(), so
/// that readers cannot mistake unwritten space for values. Methods throw Error. Several threads may call
/// methods that use HDF5, each for its own file.
class StepFile
{
public:
  /// Lays the file out in memory, with HDF5. If no data set is compressed, the other methods do not use HDF5.
  StepFile(const std::string& path, const StepFilePlan& plan);
  ~StepFile();
  /// Makes the file, which must not exist, with space for all values that are not compressed.
  void Create();
  bool IsCreated() const { return this->File != nullptr; }

  /// Offsets of the data sets and then the tables of the plan, in their order; 0 for compressed data sets.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }

  /// Makes space for the chunks of all compressed data sets, one set after another in the plan's order.
  /// Returns the offsets of the chunks. Does nothing if there are no such chunks.
  std::vector<std::uint64_t> ReserveChunks(const std::vector<ChunkSize>& chunks);
  /// Writes everything except values and tables, which may be written already. Only WriteSignature() may
  /// follow.
  void WriteDescription();
  /// Writes the signature of HDF5, which makes the file readable.
  void WriteSignature() const;

private:
  class Description;
  void TakeImage();

  const std::string Path;
  std::unique_ptr<Description> Described;  ///< null when the layout is final
  const std::vector<std::uint64_t> Begins;
  std::vector<std::byte> Image;                                ///< bytes of the description
  std::vector<std::pair<std::uint64_t, std::uint64_t>> Rooms;  ///< spaces for values; see hdf5::FileImage
  std::uint64_t Size = 0;                                      ///< size of the file
  std::unique_ptr<PlainFile> File;
};

/// The contents of a step; the same on all ranks.
struct StepToWrite
{
  /// Levels, patches, variables without ghosts, and the presence of each variable on each patch
  /// (Presence::Stored: it has values). Patch::Writer is the rank that writes the patch.
  Catalog Data;
  std::vector<ElementType> Types;  ///< type of each variable
  /// None, Deflate or Zstd for each variable; empty: no variable is compressed.
  std::vector<FilterKind> Compression;
};

/// Values of a variable on a patch in memory: Catalog::StoredTuples() tuples, axis 0 fastest. The components
/// of a tuple follow each other.
struct PatchValues
{
  int Patch = 0;
  int Variable = 0;
  const void* Values = nullptr;
};

/// Values of some of a rank's patches, and the owner of their memory.
struct HeldValues
{
  std::vector<PatchValues> Arrays;
  std::shared_ptr<const void> Holder{};
  /// Returns the values of further patches. Call this function when the values in Arrays are not needed any
  /// more. Null: there are no further patches.
  std::function<HeldValues()> Next{};
};

/// The checksum and the range of values that were written.
struct WrittenValues
{
  std::uint64_t Index = 0;  ///< variable x number of patches + patch
  std::uint32_t Checksum = 0;
  ValueRange Range = ValueRange::None();
};

/// Values and their byte range in the file.
struct ValuesAtOffset
{
  std::uint64_t Offset = 0;
  std::uint64_t Bytes = 0;
  const PatchValues* Which = nullptr;
};

/// The two kinds of names of a step's files: `step.000010.hdf` and `step.000010.new.hdf`.
enum class FileNames
{
  Usual,
  New
};
/// Returns the file name in the kind `names`.
std::string RenamedFile(const std::string& name, FileNames names);

/// A compressed data set: its sizes in bytes, and the numbers of its first chunk and of its first byte,
/// counted over all data sets.
struct ChunkedSet
{
  FilterKind Filter = FilterKind::None;
  std::size_t ElementBytes = 0;
  std::uint64_t Bytes = 0;
  std::uint64_t ChunkBytes = 0;
  std::uint64_t FirstChunk = 0;
  std::uint64_t FirstByte = 0;

  std::uint64_t Chunks() const { return (this->Bytes + this->ChunkBytes - 1) / this->ChunkBytes; }
};

/// Consecutive values of a data set.
struct SetPart
{
  std::size_t Set = 0;
  std::uint64_t Begin = 0;  ///< byte in the data set
  std::uint64_t Bytes = 0;
  const std::byte* Values = nullptr;
};

/// Collects values into chunks and compresses complete chunks. Not thread-safe.
class ChunkPacker
{
public:
  explicit ChunkPacker(std::vector<ChunkedSet> sets) : Sets(std::move(sets)) {}

  /// Copies the values of `parts`, and then compresses the complete chunks, `threads` at a time. Throws
  /// Error.
  void Add(const std::vector<SetPart>& parts, int threads);

  /// Moves this rank's parts of incomplete chunks into `to` if another rank completes the chunk. ownerOf(set,
  /// first byte of the chunk) returns the rank that completes the chunk; chunks of this rank, `ownRank`,
  /// stay.
  template <typename OwnerOf>
  void GiveOthers(output::PieceExchange& to, int ownRank, const OwnerOf& ownerOf);
  /// Adds the parts of chunks that this rank has received from other ranks.
  void TakeFrom(const output::PieceExchange& from, int threads);

  /// Complete chunks by number.
  const std::map<std::uint64_t, EncodedChunk>& Chunks() const { return this->Complete; }
  /// Returns whether all chunks are complete.
  bool IsComplete() const { return this->Open.empty(); }

private:
  struct Part
  {
    std::uint64_t Begin, Bytes;  ///< in the chunk, in bytes
    const std::byte* Values;
  };
  struct OpenChunk
  {
    std::size_t Set = 0;
    std::uint64_t Used = 0;  ///< bytes of the chunk that belong to the data set
    std::vector<std::byte> Values;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> There;  ///< parts in Values: begin and length
    std::vector<Part> Coming;
    bool Done = false;
    EncodedChunk Encoded;
  };

  void Begin(const SetPart& part);
  void Take(OpenChunk& chunk, ChunkEncoder& encoder) const;

  const std::vector<ChunkedSet> Sets;
  std::map<std::uint64_t, OpenChunk> Open;
  std::map<std::uint64_t, EncodedChunk> Complete;
};

template <typename OwnerOf>
void ChunkPacker::GiveOthers(output::PieceExchange& to, int ownRank, const OwnerOf& ownerOf)
{
  for (auto chunk = this->Open.begin(); chunk != this->Open.end();) {
    const OpenChunk& open = chunk->second;
    const ChunkedSet& set = this->Sets[open.Set];
    const std::uint64_t first = (chunk->first - set.FirstChunk) * set.ChunkBytes;
    const int owner = ownerOf(open.Set, first);
    for (std::size_t i = 0; i < open.There.size() && owner != ownRank; ++i) {
      const auto& [begin, bytes] = open.There[i];
      to.Send(owner, set.FirstByte + first + begin, open.Values.data() + begin, bytes);
    }
    chunk = owner != ownRank ? this->Open.erase(chunk) : std::next(chunk);
  }
}

/// Writes one step of a container from the values of all ranks.
class StepWriter
{
public:
  /// Lays the step out in memory, with HDF5. `folder`: folder of the container. `ranksPerFile`: number of
  /// consecutive ranks that share a file; 0: one file for all ranks. Throws Error. Not collective, but all
  /// ranks must call it.
  StepWriter(Communicator& ranks, const std::string& folder, StepToWrite step, int ranksPerFile);
  /// Removes the written files, unless Finish() has returned.
  ~StepWriter() = default;
  StepWriter(const StepWriter&) = delete;
  StepWriter& operator=(const StepWriter&) = delete;

  const Catalog& Data() const { return this->Record.Data; }
  /// Sets the kind of the file names in the description. Not collective.
  void NameFiles(FileNames names);
  /// The locations of all data; complete after Finish(), on rank 0.
  const StepRecord& Description() const { return this->Record; }

  /// Makes the files. Call this method before Write(). `names`: kind of the final file names; New if the
  /// files of a replaced step have the usual names. Throws Error on all ranks. Collective: every rank of the
  /// communicator calls it.
  void Create(FileNames names);
  /// Writes values of this rank's patches, `threads` requests at a time. Returns when the operating system
  /// has the values; compressed values stay in memory until Finish(). Write each patch and variable once.
  /// After a fault, which Finish() throws, does nothing. Not collective.
  void Write(const std::vector<PatchValues>& values, int threads);
  /// Writes `values`, and all values that HeldValues::Next returns, in the same way.
  void Write(HeldValues values, int threads);

  /// Flushes the files to the storage and gives them their names. Returns the record for the log on rank 0.
  /// Throws Error on all ranks if some values are missing. Collective: every rank of the communicator calls
  /// it.
  std::string Finish();

private:
  std::vector<PlannedTable> PlannedTables() const;
  StepFilePlan PlanOfFile() const;
  void TakeOffsets(const std::vector<std::uint64_t>& offsets);
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
  void PlaceChunks();
  void WriteChunks(const std::vector<std::uint64_t>& offsets) const;
  std::uint64_t OffsetOf(const PatchValues& values) const;
  std::uint64_t BytesOf(const PatchValues& values) const;
  void WriteRun(const ValuesAtOffset* values, std::size_t count, WrittenValues* written) const;
  std::vector<std::int64_t> SizesOfMeshes() const;
  void WriteTables(const std::vector<WrittenValues>& all);
  template <typename T>
  void WriteTable(const std::string& name, const std::vector<T>& values);
  void CheckComplete(const std::vector<std::uint8_t>& written) const;
  std::uint64_t IndexOf(int variable, int patch) const
  {
    return std::uint64_t(variable) * this->Record.Data.Patches.size() + patch;
  }
  std::string PartPath() const;
  bool Leads() const { return this->Ranks.Rank() % this->RanksPerFile == 0; }
  int FileOfRank() const { return this->Ranks.Rank() / this->RanksPerFile; }

  Communicator& Ranks;
  const std::string Folder;
  const int RanksPerFile;
  StepRecord Record;  ///< its catalog is complete
  std::vector<int> Rows;
  std::vector<std::vector<std::uint64_t>> Before;             ///< by variable; see ValuesBefore()
  std::map<std::array<int, 2>, std::uint64_t> OffsetsOfSets;  ///< in this rank's file, by level and variable
  std::map<std::array<int, 2>, std::size_t> Packed;           ///< by level and variable: number in Packer
  std::unique_ptr<ChunkPacker> Packer;
  std::uint64_t Chunks = 0;  ///< number of chunks of this rank's file
  int Threads = 1;
  std::vector<WrittenValues> Written;  ///< values written by this rank
  /// The file of this rank with its temporary name. The destructor removes the file if it still has that
  /// name.
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
  std::unique_ptr<PartFile> Part;  ///< null unless this rank leads a file
  std::unique_ptr<PlainFile> File;
  std::string Fault;
};

/// The user's choices for compression.
enum class CompressionChoice : std::uint8_t
{
  Off,
  Deflate,
  Zstd,
  Auto  ///< deflate, if that makes a sample of the values at least a tenth smaller
};
constexpr CompressionChoice LastCompressionChoice = CompressionChoice::Auto;

/// Returns the name in the configuration: "off", "deflate", "zstd" or "auto".
const char* NameOf(CompressionChoice choice);

/// Returns StepToWrite::Compression for the user's choice. `sample`: values of this rank's patches, which
/// Auto examines. Collective: every rank of the communicator calls it.
std::vector<FilterKind> ChooseCompression(Communicator& ranks, const StepToWrite& step,
    CompressionChoice choice, const std::vector<PatchValues>& sample);

}  // namespace patchio::container
