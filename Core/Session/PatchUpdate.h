// One update of a reader: from the wanted variables to values in memory.
#pragma once

#include "Catalog/Catalog.h"
#include "Io/ReadProgress.h"
#include "MetadataChannel/Fingerprint.h"
#include "Session/OpenedStep.h"
#include "Session/PatchLoader.h"
#include "Session/ShownPatches.h"
#include "Session/UpdateOptions.h"
#include "Session/UpdatePlan.h"
#include "Support/Communicator.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// What stands for a variable on blocks whose patches lack it, so that all blocks have the same arrays.
struct BlankArray
{
  ElementType Type = ElementType::Float32;
  bool OfPoints = false;  ///< it lies on lists of points
};

/// Carries out one update, step by step in the order of the methods.
class PatchUpdate
{
public:
  /// Keeps references to `ranks` and `step`.
  PatchUpdate(Communicator& ranks, const OpenedStep& step, const UpdateOptions& options);

  /// Level one of two-level reading: makes blocks of the shown patches, and `request` (all but its Blocks)
  /// for the blocks of this piece. Of patches that cannot be read nothing remains, so to be called again
  /// while Outdated().
  ///
  /// keptFrames: the UpdatePlan::FramesKey of an update before, whose grids somebody keeps. Where this one's
  /// is the same, time-invariant variables are not read again.
  void Plan(const LoadRequest& request, const std::string& keptFrames);
  /// True when patches are known to be broken that the blocks were made with.
  bool Outdated() const { return this->NewlyBroken; }

  /// Collective. Finds out where the bytes lie. Like Read(), keeps what goes wrong on this rank, so that all
  /// ranks go on to agree on it. progress, see RunUnlessStopped(): where it stops the ranks the update is
  /// Stopped().
  void Locate(const ProgressCallback& progress = {});

  /// Collective: throws Error on all ranks when some machine has too little memory for what was located.
  void CheckMemory();

  /// Collective, after AgreeOnFaults(): takes memory, so that reading can begin. Throws Error, the same on
  /// all ranks, when the arrays would take memory above the water mark, at which nothing is read that nobody
  /// asked for yet.
  void PrepareAhead();
  /// After PrepareAhead(): begins to read, or, where `before` is given, as soon as that has been read.
  void StartAhead(const PatchUpdate* before) { this->Loader->Start(before ? before->Loader.get() : nullptr); }
  /// No more is read; waits for nobody.
  void CancelAhead() { this->Loader->Cancel(); }
  /// Whether this rank's part of an update that was read ahead is what it would be if it began now: the same
  /// options and request, files that have not changed since, grids that it relies on.
  bool StillHolds(
      const UpdateOptions& options, const LoadRequest& request, const std::string& keptFrames) const;
  /// Collective: true when nothing went wrong in Read() on any rank.
  bool SoundEverywhere() const;

  /// Level two: NT threads. Collective: no rank is done before all are, or some was told to stop by its
  /// `progress`, which is called about every 10 ms with how far all ranks together are. Then all stop at
  /// once, and Stopped() is true on all.
  void Read(const ReadProgressCallback& progress);
  bool Stopped() const { return this->WasStopped; }
  /// The user has stopped what comes before Plan().
  void Stop() { this->WasStopped = true; }
  /// Read() was called, for the blocks at hand.
  bool IsRead() const { return this->WasRead; }

  /// Collective: agrees on what went wrong anywhere so far. Throws Error, the same on all ranks, when nothing
  /// may be shown.
  void AgreeOnFaults();
  /// Collective, after Read(): agrees on which variables some blocks have and others lack, and on
  /// HasUndefined().
  void AgreeOnBlanks();
  /// One a variable of Variables(); nullopt where none is needed, or partial arrays are wanted.
  const std::vector<std::optional<BlankArray>>& Blanks() const { return this->BlanksOfVariables; }
  /// After AgreeOnBlanks(): whether some block of any rank has values that are undefined.
  bool HasUndefined() const { return this->UndefinedSomewhere; }
  /// Memory for arrays that are made of those that were read.
  MemoryPool& Memory() const { return *this->Request->Memory; }
  /// What is left out, and why; empty when all is well.
  std::string Warning() const;

  const Catalog& Data() const { return this->Description; }
  const UpdateOptions& Wanted() const { return this->Options; }
  const ShownPatches& Patches() const { return this->Shown; }
  const UpdatePlan& Planned() const { return this->PlanAtHand; }
  /// Those that are read, in the order of the arrays.
  const std::vector<VariableRequest>& Variables() const { return this->Request->Variables; }
  /// After Read(): by position in UpdatePlan::Mine and Variables().
  LoadedArray& Array(std::size_t block, std::size_t variable) { return this->Loaded.At(block, variable); }
  /// Cells of a block of this piece, on the average; 0 where there are none.
  double CellsOfBlock() const;

  /// Completes the report: the output was made of the blocks in so many seconds.
  void ReportAssembly(double seconds);
  /// This rank's report.
  IoReport& Report() { return this->Loaded.Report; }

private:
  std::vector<std::optional<FileState>> StatesOfFiles() const;
  void LeaveOutTimeInvariant();

  Communicator& Ranks;
  const OpenedStep& Step;
  const Catalog& Description;
  const UpdateOptions Options;
  ShownPatches Shown;
  UpdatePlan PlanAtHand;
  std::shared_ptr<LoadRequest> Request;  ///< tasks that a stopped read leaves behind keep it
  std::shared_ptr<PatchLoader> Loader;
  LoadResult Loaded;
  std::vector<LoadFault> Faults;  ///< of this rank
  std::string Fatal;              ///< what ended this rank's read as a whole
  /// When the update was prepared to be read ahead:
  std::vector<VariableRequest> AskedFor;
  std::vector<std::optional<FileState>> FilesThen;

  std::vector<std::optional<BlankArray>> BlanksOfVariables;
  bool UndefinedSomewhere = false;
  bool NewlyBroken = false;
  bool WasStopped = false, WasRead = false;
  double PlanSeconds = 0;
  std::vector<std::string> BrokenTexts;  ///< why patches are left out
};

}  // namespace patchio
