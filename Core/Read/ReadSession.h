// The state of a reader between reads: the series, the cached values, the prefetched steps and the reports.
#pragma once

#include "Base/Communicator.h"
#include "Io/MemoryPool.h"
#include "Io/Progress.h"
#include "Read/LoadRequest.h"
#include "Read/OpenedSeries.h"
#include "Read/Prefetcher.h"
#include "Read/ReadRequest.h"
#include "Read/ReadThreads.h"
#include "Read/StepPlan.h"
#include "Read/StepRead.h"
#include "Read/ValueCache.h"
#include "Tuning/IoReport.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// The report of the last read, and short reports of earlier reads. The numbers and notes are the same on all
/// ranks; the other texts, and the curve of the storage, are those of the calling rank.
class ReadReports
{
public:
  /// The outcome of a read.
  struct Outcome
  {
    bool Cancelled = false;
    double BytesToRead = 0;  ///< bytes that the complete read would transfer; 0: unknown
    std::string Warning;     ///< becomes a note; may be empty
  };

  /// Combines the reports of all ranks for the displayed step, and makes the result the last report.
  /// Collective: every rank of the communicator calls it.
  void Add(Communicator& ranks, IoReport report, const ThreadsUsed& threads, OpenedSeries& series,
      const Outcome& outcome);
  /// Clears the text, because the last read failed.
  void ClearText() { this->LastText.clear(); }

  /// The report of the last read, in lines. Empty before the first read, and after a read that failed.
  const std::string& Text() const { return this->LastText; }
  /// The reports as JSON; empty before the first report.
  std::string Json() const { return this->Data.PastReads.empty() ? std::string() : this->Data.Json(); }

private:
  std::string LastText;
  ReportData Data;
  bool MentionedIndexFiles = false;  ///< true: a report has mentioned index files
};

/// The state of one reader between reads. All ranks of the reader call the same methods in the same order,
/// except for StopPrefetch() and Forget().
///
/// Displaying a step takes three calls: Locate(), Load(), and Report() after the caller has made the output.
/// Locate() and Load() return nothing if the user stops them on any rank; the report then mentions the stop.
/// Both methods throw Error, the same on all ranks.
class ReadSession
{
public:
  /// `mostThreadsOfRank`: limit on the threads of a rank.
  explicit ReadSession(int mostThreadsOfRank) : Threads(mostThreadsOfRank) {}

  OpenedSeries Series;
  ReadReports Reports;

  /// Forgets all information about the files, because they may have changed. Not collective.
  void Forget();
  /// Stops prefetching, because the user does something other than playing; see Prefetcher::Stop(). Not
  /// collective.
  void StopPrefetch() { this->PrefetchQueue.Stop(); }
  /// Stops prefetching and frees the memory of the prefetched steps. Call this method before the communicator
  /// changes.
  void ClearPrefetch() { this->PrefetchQueue.Clear(); }

  /// Opens the step and locates the values that this rank reads. If a prefetched step matches the request,
  /// uses that step. Collective: every rank of the communicator calls it.
  std::optional<LocatedStep> Locate(
      Communicator& ranks, std::size_t step, const ReadRequest& request, const ReadObserver& observer);
  /// Reads the values that Locate() found for this request. If patches turn out to be broken, the blocks may
  /// change. Collective: every rank of the communicator calls it.
  std::optional<LoadedStep> Load(
      LocatedStep located, const ReadRequest& request, const ReadObserver& observer);
  /// Completes the report of a step after its output was made. Collective: every rank of the communicator
  /// calls it.
  void Report(LoadedStep& loaded);

  /// Opens the series. If the series may grow (SeriesOptions::LaterFiles), leaves out the last step if it is
  /// incomplete and not the only step. Collective: every rank of the communicator calls it.
  void Open(Communicator& ranks, const SeriesOptions& options);
  /// Calls OpenedSeries::AddNewSteps() between two reads. Keeps prefetched steps if their numbers do not
  /// change. Returns whether steps were added. Collective: every rank of the communicator calls it.
  bool AddNewSteps(Communicator& ranks);
  /// Begins to read the next steps while the displayed step is used. A fault of a next step takes effect when
  /// that step is displayed; its report states why the step was not prefetched. Collective: every rank of the
  /// communicator calls it.
  void Prefetch(Communicator& ranks, const ReadRequest& request, const ReadObserver& observer);

private:
  StepOptions OptionsFor(Communicator& ranks, const ReadRequest& request, const Catalog& catalog);
  LoadRequest RequestFor(
      Communicator& ranks, const ReadRequest& request, const Catalog& catalog, const Int3& ghosts) const;
  std::optional<LocatedStep> LocateDisplayed(
      Communicator& ranks, const ReadRequest& request, const ReadObserver& observer);
  std::optional<LocatedStep> LocateBlocks(PlannedStep planned, const ReadObserver& observer);
  bool CheckPrefetched(Communicator& ranks, const ReadRequest& request, const PrefetchedStep& ahead);
  void WarnOfStep(const StepOptions& options, const ReadObserver& observer);
  void ReportStopped(Communicator& ranks, const LoadRequest& request, const IoReport& report);
  std::string NotPrefetchedText(const IoReport& report) const;
  PrefetchedStep LocatePrefetch(
      Communicator& ranks, const ReadRequest& request, const ReadObserver& observer, std::size_t step);

  /// A step that was not prefetched although it should have been, and the reason.
  struct Refusal
  {
    std::size_t Step = 0;
    std::string Reason;
  };

  RangeCache Ranges;
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::shared_ptr<ValueCache> Cache = std::make_shared<ValueCache>();
  bool Verified = false;  ///< whether the values in the cache were compared with their checksums
  ReadThreads Threads;
  Prefetcher PrefetchQueue;
  std::optional<Refusal> NotPrefetched;
  // For the report of the last read:
  ReadProgress Progress;
  std::string NoSkipReason;  ///< reason why Skip By Value has no effect; otherwise empty
};

}  // namespace patchio
