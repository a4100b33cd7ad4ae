// The index of one time step in memory: the locations of all values of the step, and the fingerprints of the
// files of the step.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Formats/Format.h"
#include "Io/IoScheduler.h"
#include "Store/Fingerprint.h"
#include "Store/IndexShard.h"
#include "Store/IrregularLocations.h"
#include "Store/StagedMemory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// The locations of a list of requested values.
struct IndexAnswer
{
  LocationTable Table;  ///< the locations in the order of the requests, as Format::Locate() returns them
  std::vector<std::uint32_t> Files;  ///< number in the index of each file of Table
  bool Complete = true;              ///< false: the index lacks requested values; the answer must not be used
};

/// The locations of all values of one time step, in shards.
class LocationIndex
{
public:
  LocationIndex() = default;
  /// Uses the shards in place. `files`: names of the files of the index; `shards`: all shards in the order of
  /// rows, each at a multiple of 8 bytes; `memory`: owner of the memory of the shards. Throws Error if the
  /// shards are damaged or do not match the catalog. Call Check() before Find() if the shards come from a
  /// file.
  LocationIndex(const Catalog& catalog, std::vector<std::string> files, const std::vector<ShardView>& shards,
      std::shared_ptr<const void> memory);

  const std::vector<std::string>& Files() const { return this->FileNames; }

  /// Throws Error unless every stored array of the catalog has a location, and every location has the size
  /// that the catalog states and lies inside its file (not checked for arrays that only the HDF5 library can
  /// read). `fileBytes`: size of each of Files(), in bytes.
  void Check(const Catalog& catalog, const std::vector<std::uint64_t>& fileBytes) const;

  /// Returns the locations of the requested values at the step Catalog::StepInFile of `catalog`, which may
  /// differ from the constructor's catalog only in the step. Thread-safe.
  IndexAnswer Find(const Catalog& catalog, const std::vector<PatchVariable>& requests) const;

private:
  /// The files of the rows of a shard. A run consists of consecutive rows in the same file.
  struct RunTable
  {
    std::uint64_t Count = 0;                ///< number of runs
    const std::uint32_t* Begins = nullptr;  ///< first row of each run
    const std::uint32_t* Files = nullptr;   ///< file of each run
  };
  struct Column
  {
    /// Rows x components; null: the column has no regular locations.
    const std::uint64_t* Offsets = nullptr;
    ElementType Type = ElementType::Float32;
    bool BigEndian = false;
    std::uint32_t Components = 1;
    RunTable Runs;
  };
  struct Shard
  {
    std::uint64_t FirstRow = 0, Rows = 0;
    std::vector<Column> Columns;
    IrregularLocations Irregular;  ///< the key is row of the shard x variables + variable
  };
  class Finder;
  Shard Parse(const Catalog& catalog, const ShardView& view) const;
  RunTable ParseRuns(ShardReader& in, std::uint64_t rows) const;
  const Shard& ShardOf(std::uint64_t row) const;
  void CheckShard(
      const Catalog& catalog, const Shard& shard, const std::vector<std::uint64_t>& fileBytes) const;

  std::vector<std::string> FileNames;
  std::vector<Shard> Shards;
  std::shared_ptr<const void> Memory;
  std::shared_ptr<const RowOrder> Order;
};

/// Settings for building, checking and saving index files.
struct IndexSettings
{
  int Threads = 1;  ///< number of threads of one rank that read metadata
  StageSettings Stage;
  /// Time in seconds for which a changed file counts as recent. Times of files are coarse, so a recent file
  /// may change again without a change of its time. PatchIO does not save an index with a recent file.
  double SettleSeconds = 2;
};

/// An index, and the fingerprints that show whether the index is still valid.
struct StepIndex
{
  LocationIndex Index;
  std::vector<Fingerprint> Prints;       ///< fingerprint of each of Index.Files()
  std::shared_ptr<StagedMemory> Memory;  ///< memory of the shards
};

/// The state of a describing file, the file that describes a step (Catalog::Path), before the file is read.
/// The state shows later whether the file changed during the read.
struct DescribingState
{
  std::optional<FileState> Before;  ///< state of the describing file; nothing if there is no such file
  std::int64_t Now = 0;             ///< time at which the state was determined, nanoseconds since 1970
};
/// Returns the current state of the describing file `path`.
DescribingState StateOfDescribingFile(const std::string& path);

/// A new index that is not saved yet.
struct BuiltIndex
{
  StepIndex Index;
  /// Offset and length of each rank's shard in the memory of the index, in bytes.
  std::vector<std::uint64_t> Offsets, Lengths;
  std::vector<std::int64_t> ChangeTimes;  ///< FileState::ChangeTime of each file
  /// Number of arrays that could not be located; the index lacks these arrays.
  std::uint64_t MissingArrays = 0;
  std::string FirstProblem;        ///< reason why an array could not be located; the same on all ranks
  std::vector<std::string> Notes;  ///< LocationTable::Notes of the arrays that this rank has located
  std::string VanishedFile;        ///< path of a file that no longer exists, or empty

  /// Returns a message for the user with the number of missing arrays and FirstProblem.
  std::string MissingText() const;
};

/// Replaces the fingerprints of files that changed later than `settleSeconds` before `describing.Now` by
/// fingerprints that match no file. Times of files are coarse, so these files may change again without a
/// change of their fingerprints.
void InvalidateRecentFingerprints(BuiltIndex& built, const DescribingState& describing, double settleSeconds);

/// Builds the index of a step. Each rank makes one shard: the rank locates all variables of its share of the
/// patches, in the order of the files. `progress`: see RunUnlessStopped(). Returns nothing if `progress`
/// stops the ranks. Throws Error, the same on all ranks, if locating fails or the memory does not suffice.
/// Collective: every rank of the communicator calls it.
std::optional<BuiltIndex> BuildIndex(Communicator& ranks, const Format& format, const Catalog& catalog,
    const IndexSettings& settings, const ProgressCallback& progress = {});

}  // namespace patchio
