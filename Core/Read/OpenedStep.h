// An open time step: its catalog and the locations of its values, from an index file or from the format.
// Changing to another step of the same describing file reads metadata only if the steps have different
// patches.
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
  /// Opens the file `path` (TimeStep::Path). The catalog comes from the index file if `mode` allows that and
  /// the index file is valid; otherwise, rank 0 reads and broadcasts the description. The current step is any
  /// step of the file until SetStep() is called. Throws Error, the same on all ranks. Collective: every rank
  /// of the communicator calls it.
  OpenedStep(
      Communicator& ranks, const std::string& path, IndexMode mode, const IndexSettings& settings = {});

  const Catalog& Data() const { return *this->Description; }
  /// The catalog, for a caller that may outlive this object or the next SetStep(). The catalog does not
  /// change.
  std::shared_ptr<const Catalog> SharedData() const { return this->Description; }
  /// Makes another step of the same TimeStep::Path the current step. Copies of this object are cheap and keep
  /// their step. Throws Error, the same on all ranks, if the file does not have the step, or has changed and
  /// its steps have different patches. Collective: every rank of the communicator calls it.
  void SetStep(Communicator& ranks, const TimeStep& step);

  /// Builds the index of all locations, unless the index exists, the format does not need it, or the mode is
  /// ReadOnly. Call this method before Locate(). In the modes On and Rebuild, all ranks together build and
  /// save the index. In mode Off, the ranks build the index only for files with several steps, where each
  /// step would otherwise need a new search, and do not save the index. If data or file systems prevent the
  /// index, the format locates the values, and Prepare() does not throw. Collective: every rank of the
  /// communicator calls it.
  ///
  /// If `progress` stops the ranks (see RunUnlessStopped()), the result is false, and this object is
  /// unchanged.
  bool Prepare(Communicator& ranks, int threads, const ProgressCallback& progress = {});

  /// Prepares the current step, and returns whether all its values exist. While a program writes a step, some
  /// of its values do not exist. Throws Error. Collective: every rank of the communicator calls it.
  bool IsComplete(Communicator& ranks, int threads);

  /// Returns the locations of the requests: from the index if it is complete for the requests and the files
  /// to which it refers have not changed, otherwise from the format. With `verify` (see LocateOptions), the
  /// locations always come from the format. Throws Error if the describing file has changed since the step
  /// was opened, or if `progress` stops the format (LocateOptions). Not collective.
  LocationTable Locate(const std::vector<PatchVariable>& requests, int threads,
      const ProgressCallback& progress = {}, bool verify = false) const;

  /// Returns whether the describing file has not changed since the step was opened; true if the file is
  /// missing.
  bool IsUnchanged() const;
  /// The fingerprint of the describing file before the step was opened; see TrustedFingerprint().
  FileFingerprints DescribingFingerprint() const;

  /// The source of the metadata, for the report, such as "from the index file ..." or "indexed by 4 ranks in
  /// 0.31 s, saved to ..."; may be empty.
  const std::string& Origin() const { return this->OriginText; }
  /// A warning about index files, see WarningAbout(); empty if there is nothing to report.
  const std::string& Warning() const { return this->WarningText; }

  /// A text: the number of arrays that are missing in the index that Prepare() built, and the first reason.
  /// Empty if Prepare() located all arrays or built no index.
  const std::string& MissingText() const { return this->MissingArrays; }

  /// The index of locations; null if no index was read or built.
  const StepIndex* Index() const { return this->KnownIndex.get(); }
  bool FromIndexFile() const { return this->IsFromFile; }
  /// The path of the index file that was read or written; otherwise empty.
  const std::string& IndexFilePath() const { return this->IndexFile; }
  /// Returns false if Prepare() has found that the format needs no index.
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
  bool BuildTried = false;         ///< true: Build() has ended or failed, and is not called again
  bool IndexNeeded = true;         ///< see NeedsIndex()
  std::vector<std::string> Notes;  ///< notes from locating values while KnownIndex was made
  SaveOutcome Outcome;
  std::string IndexFile, OriginText, WarningText, MissingArrays;
};

}  // namespace patchio
