// The index of one time step in memory: where all its values lie, and how a change of its files is noticed.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
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

/// Answer to a list of requests.
struct IndexAnswer
{
  LocationTable Table;               ///< as Format::Locate gives it
  std::vector<std::uint32_t> Files;  ///< per file of the table, its number in the index
  bool Complete = true;  ///< false: the index does not know all of the requests; use nothing of it
};

/// All shards together.
class LocationIndex
{
public:
  LocationIndex() = default;
  /// `shards` follow each other in row order, begin at multiples of 8 bytes, and stay valid as long as
  /// `memory` is held. Throws Error when they are not shards of this catalog; Check() then says whether they
  /// can be right.
  LocationIndex(const Catalog& catalog, std::vector<std::string> files, const std::vector<ShardView>& shards,
      std::shared_ptr<const void> memory);

  const std::vector<std::string>& Files() const { return this->FileNames; }

  /// Throws Error unless every entry is there, lies inside its file and has the size that the catalog asks
  /// for. `fileBytes`: size of each file.
  void Check(const Catalog& catalog, const std::vector<std::uint64_t>& fileBytes) const;

  /// Where the requests lie at Catalog::StepInFile; but for the step, `catalog` is the one given before. Safe
  /// from several threads at once.
  IndexAnswer Find(const Catalog& catalog, const std::vector<PatchVariable>& requests) const;

  /// Bytes of all stored values, as they lie in the files.
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
    const std::uint64_t* Offsets = nullptr;  ///< null: nothing ordinary here
    ElementType Type = ElementType::Float32;
    bool BigEndian = false;
    std::uint32_t Components = 1;
    RunTable Runs;
  };
  struct Shard
  {
    std::uint64_t FirstRow = 0, Rows = 0;
    std::vector<Column> Columns;
    IrregularLocations Irregular;  ///< by row of the shard x variables + variable
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

/// The index of one time step in memory: where all its values lie, and how a change of its files is
/// noticed.
struct ChannelSettings
{
  int Threads = 1;  ///< of a rank, for reading metadata
  StageSettings Stage;
  /// A file that changed less than so many seconds before it was looked at may change again without a new
  /// time, as times of files are coarse. An index with such a file is not saved.
  double SettleSeconds = 2;
};

/// An index, and what is needed to see whether it still holds.
struct StepIndex
{
  LocationIndex Index;
  std::vector<Fingerprint> Prints;  ///< of Index.Files()
  std::shared_ptr<StagedMemory> Memory;
};

/// What must be known before the describing file is read, so that a change while it is read shows.
struct DescribingState
{
  std::optional<FileState> Before;  ///< of the describing file
  std::int64_t Now = 0;             ///< nanoseconds since 1970
};
DescribingState LookAtDescribingFile(const std::string& path);

/// A new index, not saved yet.
struct BuiltIndex
{
  StepIndex Index;
  std::vector<std::uint64_t> Offsets, Lengths;  ///< of the ranks' shards in its memory
  std::vector<std::int64_t> Changed;            ///< FileState::Changed of the files
  std::uint64_t Missing = 0;                    ///< entries that could not be located; the index lacks them
  std::string FirstProblem;                     ///< why one of them could not; the same on all ranks
  std::vector<std::string> Notes;               ///< what this rank was told while it located
  std::string VanishedFile;                     ///< a file that could be read but not looked at

  /// How many entries are missing, and why the first one is; for people, where some are.
  std::string MissingText() const;
};

/// Makes sure that the index is not used for files that may have changed since it was built: those that
/// changed less than `settleSeconds` before building began, or later. Times of files are coarse.
void DistrustYoungFiles(BuiltIndex& built, const DescribingState& describing, double settleSeconds);

/// Collective. Each rank locates its part of the patches, in the order of the files, with all variables: a
/// shard. Throws Error, the same on all ranks, when there is not enough memory. progress: see
/// RunUnlessStopped(); gives nothing when it stops the ranks.
std::optional<BuiltIndex> BuildIndex(Communicator& comm, const Format& format, const Catalog& catalog,
    const ChannelSettings& settings, const ProgressCallback& progress = {});

}  // namespace patchio
