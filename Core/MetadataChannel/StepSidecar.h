// The metadata channel of one time step: its catalog and where everything lies, in memory and beside the
// data.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/LocationIndex.h"
#include "Formats/Format.h"
#include "MetadataChannel/Fingerprint.h"
#include "MetadataChannel/GroupedFile.h"
#include "MetadataChannel/Places.h"
#include "MetadataChannel/StagedMemory.h"
#include "Support/Communicator.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

struct ChannelSettings
{
  int Threads = 1;  ///< of a rank, for reading metadata
  StageSettings Stage;
  /// A file that changed less than so many seconds before it was looked at may change again without a trace,
  /// as times of files are coarse; an index with such a file is not saved.
  double SettleSeconds = 2;
};

/// An index with what says whether it still holds.
struct StepIndex
{
  LocationIndex Index;
  std::vector<Fingerprint> Prints;  ///< of Index.Files()
  std::shared_ptr<StagedMemory> Memory;
};

/// A sidecar that was found and holds.
struct StepSidecar
{
  Catalog Data;
  StepIndex Index;
  std::string Path;
  std::uint64_t Bytes = 0;  ///< of the file
};

/// What was found in one place.
struct SidecarState
{
  Place Where;
  FileFault Fault = FileFault::Absent;
  std::string Message;
};

struct SidecarSearch
{
  std::optional<StepSidecar> Found;
  std::vector<SidecarState> Passed;  ///< places without a usable sidecar, in the order of the search

  /// For the user: what is damaged; empty when nothing is. That one is stale or absent is no news.
  std::string Warning() const;
};

/// Collective. Looks for the sidecar of the file that describes a step, reads and checks everything in it.
/// The four steps of the paper: the master reads and checks the header; the ranks learn the table; set the
/// view; read collectively. Whatever is wrong with a sidecar, it is as if there were none. The same on all
/// ranks.
SidecarSearch FindStepSidecar(Communicator& comm, const std::string& path, const ChannelSettings& settings);

/// The head of a step from its sidecar, when that is sound and fits the describing file; reads a few bytes.
/// One rank alone.
std::optional<TimeStep> HeadFromSidecar(const std::string& path);

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
  std::vector<std::uint64_t> Offsets, Lengths;  ///< of the ranks' shares in its memory
  std::vector<std::int64_t> Changed;            ///< FileState::Changed of the files
  std::uint64_t Missing = 0;                    ///< entries that could not be located; the index lacks them
  std::vector<std::string> Notes;               ///< what this rank was told while it located
  std::string VanishedFile;                     ///< a file that could be read but not looked at
};

/// Makes sure that an index is not believed for files that may have changed since they were looked into:
/// those that changed less than `settleSeconds` before building began, as times of files are coarse, or
/// later.
void DistrustYoungFiles(BuiltIndex& built, const DescribingState& describing, double settleSeconds);

/// Collective. All ranks locate a share of the patches, in the order of the files, with all variables. Throws
/// Error, the same on all ranks, when there is not enough memory.
BuiltIndex BuildIndex(
    Communicator& comm, const Format& format, const Catalog& catalog, const ChannelSettings& settings);

struct SaveOutcome
{
  std::string Path;    ///< of the sidecar; empty when it was not saved
  std::string WhyNot;  ///< then the reason, a phrase
  /// When only the files' youth is in the way: seconds until a new index could be saved; else negative.
  double SecondsToWait = -1;
};

/// Collective. Writes the sidecar to the first of its places that will have it. Saves only what will be found
/// sound again. Never throws for a file system that does not let it.
SaveOutcome SaveStepSidecar(Communicator& comm, const Format& format, const Catalog& catalog,
    BuiltIndex& built, const DescribingState& describing, const ChannelSettings& settings);

}  // namespace patchio
