// One time step of a container while it is written: laid out by one rank, filled by all.
#pragma once

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Formats/Container/StepRecord.h"
#include "Write/ChunkEncoder.h"
#include "Write/StepFile.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::container {

/// What a step will hold; the same on all ranks.
struct StepToWrite
{
  /// Levels, patches, variables, and which variable has values on which patch (Presence::Stored); variables
  /// without ghosts. Patch::Writer: the rank that writes it.
  Catalog Data;
  std::vector<ElementType> Types;  ///< of the variables
  /// None, Deflate or Zstd, of the variables; empty: none is compressed.
  std::vector<FilterKind> Compression;
};

/// Values of a variable on a patch in memory: Catalog::StoredTuples() tuples, axis 0 fastest, the components
/// of a tuple side by side.
struct PatchValues
{
  int Patch = 0;
  int Variable = 0;
  const void* Values = nullptr;
};

/// What is known of values that were written.
struct WrittenValues
{
  std::uint64_t Index = 0;  ///< variable x number of patches + patch
  std::uint32_t Checksum = 0;
  ValueRange Range = ValueRange::None();
};

/// Where they go in the file.
struct PlacedValues
{
  std::uint64_t Offset = 0;
  std::uint64_t Bytes = 0;
  const PatchValues* Which = nullptr;
};

/// What the files of a step are called: `step.000010.hdf` or `step.000010.new.hdf`.
enum class FileNames
{
  Usual,
  New
};
/// The one name for the other.
std::string RenamedFile(const std::string& name, FileNames names);

/// A data set as chunks; in bytes. Its chunks have the numbers from FirstChunk on.
struct ChunkedSet
{
  FilterKind Filter = FilterKind::None;
  std::size_t ElementBytes = 0;
  std::uint64_t Bytes = 0;
  std::uint64_t ChunkBytes = 0;
  std::uint64_t FirstChunk = 0;

  std::uint64_t Chunks() const { return (this->Bytes + this->ChunkBytes - 1) / this->ChunkBytes; }
};

/// Values that follow each other in a data set.
struct SetPart
{
  std::size_t Set = 0;
  std::uint64_t Begin = 0;  ///< byte of the data set
  std::uint64_t Bytes = 0;
  const std::byte* Values = nullptr;
};

/// Not for several threads.
class ChunkPacker
{
public:
  explicit ChunkPacker(std::vector<ChunkedSet> sets) : Sets(std::move(sets)) {}

  /// Copies values, and compresses the chunks that are complete then, `threads` at once. Throws Error.
  void Add(const std::vector<SetPart>& parts, int threads);

  /// Parts of chunks that are not complete yet, as texts by the rank that ownerOf(set, byte of the chunk's
  /// begin) says; they are given away, but for those of `mine`. AddTexts() takes them there.
  template <typename OwnerOf>
  std::vector<std::string> TakeOthers(int ranks, int mine, const OwnerOf& ownerOf);
  void AddTexts(const std::vector<std::string>& texts, int threads);

  /// Complete ones, by their numbers.
  const std::map<std::uint64_t, EncodedChunk>& Chunks() const { return this->Complete; }
  /// No chunk has begun that is not complete.
  bool IsComplete() const { return this->Open.empty(); }

private:
  struct Part
  {
    std::uint64_t Begin, Bytes;  ///< in the chunk
    const std::byte* Values;
  };
  struct OpenChunk
  {
    std::size_t Set = 0;
    std::uint64_t Used = 0;  ///< bytes of it that the data set has
    std::vector<std::byte> Values;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> There;  ///< begin and number of bytes
    std::vector<Part> Coming;
    bool Done = false;
    EncodedChunk Encoded;
  };

  void Begin(const SetPart& part);
  void Take(OpenChunk& chunk, ChunkEncoder& encoder) const;
  std::string TextOf(std::uint64_t number, const OpenChunk& chunk) const;

  const std::vector<ChunkedSet> Sets;
  std::map<std::uint64_t, OpenChunk> Open;
  std::map<std::uint64_t, EncodedChunk> Complete;
};

template <typename OwnerOf>
std::vector<std::string> ChunkPacker::TakeOthers(int ranks, int mine, const OwnerOf& ownerOf)
{
  std::vector<std::string> texts(ranks);
  for (auto chunk = this->Open.begin(); chunk != this->Open.end();) {
    const std::size_t set = chunk->second.Set;
    const int owner = ownerOf(set, (chunk->first - this->Sets[set].FirstChunk) * this->Sets[set].ChunkBytes);
    if (owner != mine) {
      texts[owner] += this->TextOf(chunk->first, chunk->second);
    }
    chunk = owner != mine ? this->Open.erase(chunk) : std::next(chunk);
  }
  return texts;
}

/// Belongs to one step. Methods marked collective are called by all ranks together.
class StepWriter
{
public:
  /// Not collective, though all ranks do it: lays the step out in memory, with HDF5. folder: of the
  /// container. ranksAFile: 0: one file for all ranks; else so many ranks, that follow each other, write a
  /// file together. Throws Error.
  StepWriter(Communicator& ranks, const std::string& folder, StepToWrite step, int ranksAFile);
  /// Takes away what was written, unless Finish() has returned.
  ~StepWriter() = default;
  StepWriter(const StepWriter&) = delete;
  StepWriter& operator=(const StepWriter&) = delete;

  const Catalog& Data() const { return this->Record.Data; }
  /// Not collective: has the files called so in the description.
  void NameFiles(FileNames names);
  /// Where everything lies; complete after Finish(), on rank 0.
  const StepRecord& Description() const { return this->Record; }

  /// Collective: makes the files, before anything is written. Throws Error on all ranks. names: of the files
  /// in the end, Usual unless a step with those is to be replaced.
  void Create(FileNames names);
  /// Writes values of this rank's patches, `threads` at once, and returns when the system has them;
  /// compressed ones are kept in memory until Finish(). Each patch and variable once. Not collective. A fault
  /// is kept for Finish(), and nothing is written any more.
  void Write(const std::vector<PatchValues>& values, int threads);

  /// Collective: brings the files to the storage and gives them their names. Returns the record for the log,
  /// on rank 0. Throws Error on all ranks when something was not written.
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
  void WriteRun(const PlacedValues* values, std::size_t count, WrittenValues* written) const;
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
  bool Leads() const { return this->Ranks.Rank() % this->RanksAFile == 0; }
  int FileOfRank() const { return this->Ranks.Rank() / this->RanksAFile; }

  Communicator& Ranks;
  const std::string Folder;
  const int RanksAFile;
  StepRecord Record;  ///< its catalog is complete
  std::vector<int> Rows;
  std::vector<std::vector<std::uint64_t>> Before;             ///< by variable; see ValuesBefore()
  std::map<std::array<int, 2>, std::uint64_t> OffsetsOfSets;  ///< of this rank's file, by level and variable
  std::map<std::array<int, 2>, std::size_t> Packed;  ///< those that are compressed: their numbers in Packer
  std::unique_ptr<ChunkPacker> Packer;
  std::uint64_t Chunks = 0;  ///< of this rank's file
  int Threads = 1;
  std::vector<WrittenValues> Written;  ///< by this rank
  /// The file of this rank while it is written, and its name then; taken away with this object.
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
  std::unique_ptr<PartFile> Part;  ///< on ranks that lead a file
  std::unique_ptr<PlainFile> File;
  std::string Fault;
};

/// What a user may ask for.
enum class CompressionChoice : std::uint8_t
{
  Off,
  Deflate,
  Zstd,
  Auto  ///< deflate, where a sample of the values becomes at least a tenth smaller
};
constexpr CompressionChoice LastCompressionChoice = CompressionChoice::Auto;

/// "off" and so on.
const char* NameOf(CompressionChoice choice);

/// Collective: what StepToWrite::Compression shall be. sample: values of this rank's patches, which Auto
/// looks at.
std::vector<FilterKind> ChooseCompression(Communicator& ranks, const StepToWrite& step,
    CompressionChoice choice, const std::vector<PatchValues>& sample);

}  // namespace patchio::container
