// One open time step: its catalog, and where its bytes lie, from the metadata channel or from the format.
// Where the file that describes it describes others too, it can be turned to them at no cost.
#pragma once

#include "Formats/Format.h"
#include "Read/FilesSeen.h"
#include "Read/RankAgreement.h"
#include "Store/StepSidecar.h"

#include <memory>
#include <string>
#include <vector>

namespace patchio {

class OpenedStep
{
public:
  /// Collective. Opens the step that `path` (TimeStep::Path) describes: from its sidecar, or one rank reads
  /// the description and tells the others. Throws Error, the same on all ranks.
  OpenedStep(const RankAgreement& ranks, const std::string& path, ChannelMode mode,
      const ChannelSettings& settings = {});

  const Catalog& Data() const { return *this->Description; }
  /// The same, for a user that may outlive this step or its turn: it does not change any more.
  std::shared_ptr<const Catalog> SharedData() const { return this->Description; }
  /// Collective. Turns to another step of the same TimeStep::Path; a copy of this object, which costs little,
  /// stays where it is. Throws Error, the same on all ranks, when the file does not have it (any more).
  void TurnTo(const RankAgreement& ranks, const TimeStep& step);

  /// Collective; to be called before Locate(), when values are wanted at all. In the modes On and Rebuild all
  /// ranks together make an index of the whole step, unless there is one, and save it. In mode Off they do so
  /// for files of several steps, and do not save it: else each step would cost the search again. Never throws
  /// for data or file systems that do not let it: the format then answers instead.
  ///
  /// progress, see RunUnlessStopped(): where it stops the ranks, false is the result, and nothing is
  /// different from before.
  bool Prepare(const RankAgreement& ranks, int threads, const ProgressCallback& progress = {});

  /// Collective. Whether all values of the step that it is turned to are there, as those of a step that is
  /// being written are not. Prepares the step. Throws Error.
  bool IsComplete(const RankAgreement& ranks, int threads);

  /// Where the requests lie; every rank by itself. Answers from the index as long as the files that it leads
  /// to are the ones that it describes, else from the format. Throws Error when the describing file has
  /// changed since the step was opened, and when the format was stopped by `progress` (LocateOptions).
  /// verify: see LocateOptions; the files are asked then, not the sidecar.
  LocationTable Locate(const std::vector<PatchVariable>& requests, int threads,
      const ProgressCallback& progress = {}, bool verify = false) const;

  /// True while the describing file is the one that was opened.
  bool Unchanged() const;
  /// The describing file as it was before the step was opened.
  FilesSeen DescribedBy() const;

  /// Where the metadata came from, for the report: "from the sidecar ...", "indexed by 4 ranks in 0.31 s,
  /// saved to ...", "indexed by 1 rank in 0.31 s, not saved: ...". Empty in mode Off.
  const std::string& Origin() const { return this->OriginText; }
  /// One text about damaged sidecars; empty when there are none.
  const std::string& Warning() const { return this->WarningText; }

  /// What Prepare() could not find of the whole step, whether anybody wants it or not: how many arrays, and
  /// why the first; empty when it has found all, or has not looked.
  const std::string& Lost() const { return this->LostText; }

  /// Null when there is none (yet).
  const StepIndex* Index() const { return this->Known.get(); }
  bool FromSidecar() const { return this->Loaded; }
  /// Where the sidecar lies that was read or written; empty when there is none.
  const std::string& SidecarPath() const { return this->Sidecar; }
  /// False where the format does without an index; known after Prepare().
  bool NeedsIndex() const { return this->Indexed; }
  /// What became of the index that Prepare() made.
  const SaveOutcome& Saved() const { return this->Outcome; }

private:
  void CheckUnchanged() const;
  bool Build(const RankAgreement& ranks, int threads, const ProgressCallback& progress);

  ChannelMode Mode;
  ChannelSettings Settings;
  DescribingState Describing;
  std::shared_ptr<const Catalog> Description;
  std::shared_ptr<const StepIndex> Known;
  bool Loaded = false;
  bool Tried = false;              ///< to make an index
  bool Indexed = true;             ///< see NeedsIndex()
  std::vector<std::string> Notes;  ///< of locating, while Known was made
  SaveOutcome Outcome;
  std::string Sidecar, OriginText, WarningText, LostText;
};

}  // namespace patchio
