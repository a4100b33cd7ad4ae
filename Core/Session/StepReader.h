// The sequence of updates: a step is read and shown, and those that come next are read meanwhile.
#pragma once

#include "Catalog/ValueRange.h"
#include "Io/ReadProgress.h"
#include "Plan/StorageModel.h"
#include "Plan/ThreadBudget.h"
#include "Session/LoadRequest.h"
#include "Session/OpenedSeries.h"
#include "Session/PatchUpdate.h"
#include "Session/Prefetcher.h"
#include "Session/ReadThreads.h"
#include "Session/UpdateReports.h"
#include "Session/ValueCache.h"
#include "Session/ValuesOfInterest.h"
#include "Support/Communicator.h"
#include "Tuning/ThreadPolicy.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Only patches with such values are of interest.
struct WantedValues
{
  std::string Variable;
  ValueRange Range;
};

/// What the user wants of an update, and what is to be told while it runs. Not kept beyond a call.
struct UpdateWishes
{
  /// These depend on what the step holds. They must not communicate.
  std::function<UpdateOptions(const Catalog&)> OptionsFor;
  std::function<std::vector<VariableRequest>(const Catalog&, const Int3& ghosts)> VariablesFor;
  std::optional<WantedValues> Values;
  ThreadSettings Threads;
  ThreadPolicy Policy = ThreadPolicy::Balanced;
  StorageModel Storage;
  std::uint64_t MemoryLimit = 0;  ///< bytes of the arrays of a rank; 0: none
  std::int64_t CacheMemory = -1;  ///< bytes that are kept of earlier reads; see ValueCache::SetLimit()
  int RanksOnMachine = 1;
  bool FindRanges = false;  ///< see LoadRequest
  int StepsAhead = 0;       ///< at most

  /// How far the update is, of 1, and what happens now. False: the user stops the read.
  std::function<bool(double fraction, const std::string& text)> Tell;
  /// Some text for the user, the same on all ranks.
  std::function<void(const std::string& text)> Warn;
  /// UpdatePlan::FramesKey of the grids that the caller keeps; empty: none.
  std::function<std::string()> KeptFrames;
  /// Only grids of this key are of use still.
  std::function<void(const std::string& key)> KeepFrames;
};

/// Of one reader; its ranks call the same methods in the same order, but for StopAhead() and Forget().
class StepReader
{
public:
  /// The part of an update that is over when Read() returns.
  static constexpr double ReadPart = 0.9;

  /// mostThreads: threads of a rank at most.
  explicit StepReader(int mostThreads) : Threads(mostThreads) {}

  OpenedSeries& Series() { return this->Opened; }
  const OpenedSeries& Series() const { return this->Opened; }
  UpdateReports& Reports() { return this->Costs; }

  /// The files may have changed.
  void Forget();
  /// The user does something else than to play; see Prefetcher::Stop().
  void StopAhead() { this->Ahead.Stop(); }
  /// Other ranks will read.
  void ClearAhead() { this->Ahead.Clear(); }

  /// Collective. Opens the step, so that its variables are known, or takes over what was read of it ahead:
  /// null where that is nothing. Throws Error, the same on all ranks.
  std::unique_ptr<StepAhead> Show(Communicator& ranks, std::size_t step);
  /// Collective. Reads the step that is shown, from `ahead` where that is what is wanted still. The update
  /// may be Stopped(). Throws Error, the same on all ranks.
  std::unique_ptr<PatchUpdate> Read(
      Communicator& ranks, const UpdateWishes& wishes, std::unique_ptr<StepAhead> ahead);
  /// Collective. The update is stopped, or its output is there.
  void Report(Communicator& ranks, PatchUpdate& update);

  /// Collective. Begins to read the steps that come next while this one is shown. What goes wrong with them
  /// is no error: they are read, or said to be broken, at their own turn, and their reports say why they were
  /// not read ahead.
  void ReadAhead(Communicator& ranks, const UpdateWishes& wishes);

private:
  LoadRequest RequestFor(const Communicator& ranks, const UpdateWishes& wishes, const Catalog& catalog,
      const UpdateOptions& options) const;
  void ChooseByValue(
      Communicator& ranks, const UpdateWishes& wishes, const Catalog& catalog, UpdateOptions& options);
  std::unique_ptr<PatchUpdate> JoinStep(Communicator& ranks, const UpdateWishes& wishes,
      const UpdateOptions& options, std::unique_ptr<StepAhead> ahead);
  std::unique_ptr<PatchUpdate> BeginUpdate(
      Communicator& ranks, const UpdateWishes& wishes, const UpdateOptions& options);
  void PlanBlocks(Communicator& ranks, const UpdateWishes& wishes, const LoadRequest& request,
      const ProgressCallback& progress, PatchUpdate& update) const;
  void ReadBlocks(Communicator& ranks, const UpdateWishes& wishes, PatchUpdate& update);
  bool GoesOn(const UpdateWishes& wishes, const ReadProgress& now);
  std::string NotAheadText(const IoReport& report) const;
  std::unique_ptr<StepAhead> PrepareAhead(Communicator& ranks, const UpdateWishes& wishes, std::size_t step);

  /// A step that should have been read ahead, and why it was not.
  struct Refusal
  {
    std::size_t Step = 0;
    std::string Reason;
  };

  OpenedSeries Opened;
  ValuesOfInterest Values;
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::shared_ptr<ValueCache> Cache = std::make_shared<ValueCache>();
  ReadThreads Threads;
  Prefetcher Ahead;
  std::optional<Refusal> NotAhead;
  UpdateReports Costs;

  // Of the last read:
  LoadRequest Request;    ///< but for its blocks
  ReadProgress Progress;  ///< as last known
  std::string Note;       ///< for the report
};

}  // namespace patchio
