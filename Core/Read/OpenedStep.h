// An open time step: its catalog and the locations of its values, from an index file or from the format.
// Changing to another step of the same describing file reads no metadata.
#pragma once

#include "Base/Communicator.h"
#include "Formats/Format.h"
#include "Read/FileFingerprints.h"
#include "Store/StepIndexFile.h"

#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// A time step with its catalog and, after Prepare(), its index of locations if the format needs an index.
class OpenedStep
{
public:
  /// Opens the step that `path` (TimeStep::Path) describes. The catalog comes from the index file; without an
  /// index file, one rank reads the description and broadcasts it. Throws Error, the same on all ranks.
  /// Collective: every rank of the communicator calls it.
  OpenedStep(
      Communicator& ranks, const std::string& path, IndexMode mode, const IndexSettings& settings = {});

  const Catalog& Data() const { return *this->Description; }
  /// The catalog, for a caller that may outlive this object or the next SetStep(). The catalog does not
  /// change.
  std::shared_ptr<const Catalog> SharedData() const { return this->Description; }
  /// Makes another step of the same TimeStep::Path the current step. Copies of this object are cheap and keep
  /// their step. Throws Error, the same on all ranks, if the file does not (or no longer) have the step.
  /// Collective: every rank of the communicator calls it.
  void SetStep(Communicator& ranks, const TimeStep& step);

  /// Makes sure that the locations of all values are known. Call this method before Locate(). In the modes On
  /// and Rebuild, all ranks together build the index of the whole step, unless there is one, and save it. In
  /// mode Off, the ranks build the index only for files with several steps, where each step would otherwise
  /// need a new search, and do not save it. If data or file systems prevent the index, the format locates the
  /// values, and Prepare() does not throw. Collective: every rank of the communicator calls it.
  ///
  /// If `progress` stops the ranks (see RunUnlessStopped()), the result is false, and this object is
  /// unchanged.
  bool Prepare(Communicator& ranks, int threads, const ProgressCallback& progress = {});

  /// Prepares the current step, and returns whether all its values exist. While a program writes a step, some
  /// of its values do not exist. Throws Error. Collective: every rank of the communicator calls it.
  bool IsComplete(Communicator& ranks, int threads);

  /// Returns the locations of the requests: from the index if the files to which the index refers have not
  /// changed, otherwise from the format. With `verify` (see LocateOptions), the locations always come from
  /// the format. Throws Error if the describing file has changed since the step was opened, or if `progress`
  /// stops the format (LocateOptions). Not collective.
  LocationTable Locate(const std::vector<PatchVariable>& requests, int threads,
      const ProgressCallback& progress = {}, bool verify = false) const;

  /// Returns whether the describing file has not changed since the step was opened.
  bool IsUnchanged() const;
  /// The fingerprint of the describing file before the step was opened.
  FileFingerprints DescribedBy() const;

  /// The source of the metadata, for the report: "from the index file ...", "indexed by 4 ranks in 0.31 s,
  /// saved to ...", "indexed by 1 rank in 0.31 s, not saved: ...". Empty if no index was used or built.
  const std::string& Origin() const { return this->OriginText; }
  /// A warning about damaged index files; empty if no index file is damaged.
  const std::string& Warning() const { return this->WarningText; }

  /// A text: the number of arrays of the whole step that Prepare() could not locate, and the first reason.
  /// Empty if Prepare() located all arrays, or before Prepare().
  const std::string& MissingText() const { return this->MissingArrays; }

  /// The index of locations; null if no index was read or built.
  const StepIndex* Index() const { return this->KnownIndex.get(); }
  bool FromIndexFile() const { return this->IsFromFile; }
  /// The path of the index file that was read or written; empty if no index file was.
  const std::string& IndexFilePath() const { return this->IndexFile; }
  /// Returns false if the format needs no index. Call this method after Prepare().
  bool NeedsIndex() const { return this->IndexNeeded; }
  /// The result of saving the index that Prepare() built.
  const SaveOutcome& Saved() const { return this->Outcome; }

private:
  void CheckUnchanged() const;
  bool Build(Communicator& ranks, int threads, const ProgressCallback& progress);

  IndexMode Mode;
  IndexSettings Settings;
  DescribingState Describing;
  std::shared_ptr<const Catalog> Description;
  std::shared_ptr<const StepIndex> KnownIndex;
  bool IsFromFile = false;
  bool BuildTried = false;         ///< true: an index was built, or building the index failed
  bool IndexNeeded = true;         ///< see NeedsIndex()
  std::vector<std::string> Notes;  ///< notes from locating values while KnownIndex was made
  SaveOutcome Outcome;
  std::string IndexFile, OriginText, WarningText, MissingArrays;
};

}  // namespace patchio
