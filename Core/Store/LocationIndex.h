// The index of one time step in memory: the locations of all its values, and the fingerprints of its files.
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

/// The answer to a list of requests.
struct IndexAnswer
{
  LocationTable Table;               ///< as from Format::Locate
  std::vector<std::uint32_t> Files;  ///< number in the index of each file of the table
  bool Complete = true;              ///< false: the index lacks some of the requests; do not use the answer
};

/// The locations of all values of one time step, in shards.
class LocationIndex
{
public:
  LocationIndex() = default;
  /// Uses the shards in place. `shards` follow each other in row order, begin at multiples of 8 bytes, and
  /// stay valid as long as `memory` is held. Throws Error when `shards` are not shards of this catalog. Call
  /// Check() before the locations are used.
  LocationIndex(const Catalog& catalog, std::vector<std::string> files, const std::vector<ShardView>& shards,
      std::shared_ptr<const void> memory);

  const std::vector<std::string>& Files() const { return this->FileNames; }

  /// Throws Error unless every entry exists, lies inside its file and has the size that the catalog states.
  /// `fileBytes`: size of each file, in bytes.
  void Check(const Catalog& catalog, const std::vector<std::uint64_t>& fileBytes) const;

  /// Returns the locations of the requests at step Catalog::StepInFile. `catalog` may differ from the
  /// constructor's in the step only. Thread-safe.
  IndexAnswer Find(const Catalog& catalog, const std::vector<PatchVariable>& requests) const;

  /// Returns the number of bytes of all stored values in the files.
  std::uint64_t StoredBytes(const Catalog& catalog) const;

private:
  struct RunTable
  {
    std::uint64_t Count = 0;
    const std::uint32_t* Begins = nullptr;  ///< first row of each run
    const std::uint32_t* Files = nullptr;
  };
  struct Column
  {
    const std::uint64_t* Offsets = nullptr;  ///< null: the column has no ordinary entries
    ElementType Type = ElementType::Float32;
    bool BigEndian = false;
    std::uint32_t Components = 1;
    RunTable Runs;
  };
  struct Shard
  {
    std::uint64_t FirstRow = 0, Rows = 0;
    std::vector<Column> Columns;
    IrregularLocations Irregular;  ///< by key: row of the shard x variables + variable
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
  int Threads = 1;  ///< threads of one rank that read metadata
  StageSettings Stage;
  /// Seconds for which a changed file counts as recent. Times of files are coarse, so a recent file may
  /// change again and keep its time. An index with a recent file is not saved.
  double SettleSeconds = 2;
};

/// An index and the fingerprints that show whether it is still valid.
struct StepIndex
{
  LocationIndex Index;
  std::vector<Fingerprint> Prints;  ///< fingerprint of each of Index.Files()
  std::shared_ptr<StagedMemory> Memory;
};

/// The state of the describing file before it is read, which shows later whether the file changed during the
/// read.
struct DescribingState
{
  std::optional<FileState> Before;  ///< state of the describing file; nothing if there is no such file
  std::int64_t Now = 0;             ///< time at which the state was determined, nanoseconds since 1970
};
DescribingState StateOfDescribingFile(const std::string& path);

/// A new index that is not saved yet.
struct BuiltIndex
{
  StepIndex Index;
  std::vector<std::uint64_t> Offsets, Lengths;  ///< of each rank's shard in the memory of the index, in bytes
  std::vector<std::int64_t> Changed;            ///< FileState::Changed of each file
  std::uint64_t Missing = 0;  ///< number of entries that could not be located; the index lacks these entries
  std::string FirstProblem;   ///< reason for a missing entry; the same on all ranks
  std::vector<std::string> Notes;  ///< notes from locating on this rank
  std::string VanishedFile;        ///< a file whose state could not be determined; empty: none

  /// Returns a message for the user: the number of missing entries and the reason for the first one.
  std::string MissingText() const;
};

/// Replaces the fingerprints of files that changed less than `settleSeconds` before `describing.Now`, or
/// later, by fingerprints that match no file. Times of files are coarse, so such files may have changed again
/// since the index was built.
void InvalidateRecentFingerprints(BuiltIndex& built, const DescribingState& describing, double settleSeconds);

/// Builds the index of a step. Collective: every rank of the communicator calls it. Each rank makes one
/// shard, by locating all variables of its share of the patches in the order of the files. `progress`: see
/// RunUnlessStopped(). Returns nothing if `progress` stops the ranks. Throws Error, the same on all ranks,
/// when there is not enough memory.
std::optional<BuiltIndex> BuildIndex(Communicator& comm, const Format& format, const Catalog& catalog,
    const IndexSettings& settings, const ProgressCallback& progress = {});

}  // namespace patchio
