// The index of one time step in memory: where all its values lie, and how a change of its files is noticed.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Io/IoScheduler.h"
#include "Store/Fingerprint.h"
#include "Store/LocationIndex.h"
#include "Store/StagedMemory.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

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
