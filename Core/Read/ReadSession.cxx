#include "Read/ReadSession.h"

#include "Base/Error.h"
#include "Plan/Interest.h"
#include "Tuning/IoReport.h"

#include <utility>

namespace patchio {

void ReadReports::Add(Communicator& ranks, IoReport report, const ThreadsUsed& threads, OpenedSeries& series,
    const Outcome& outcome)
{
  report.ThreadsText = threads.Text;
  report.OpenSeconds = series.TakeOpenSeconds();
  report.LocateSeconds += series.PrepareSeconds();
  report.Metadata = series.Step().Origin();
  report.Notes.insert(report.Notes.end(), series.Contents().Notes.begin(), series.Contents().Notes.end());
  if (!outcome.Warning.empty()) {
    report.Notes.push_back(outcome.Warning);
  }
  const std::string& indexFile = series.Step().Saved().Path;
  if (!indexFile.empty() && !std::exchange(this->MentionedIndexFiles, true)) {
    report.Notes.push_back(
        "PatchIO wrote the index file " + indexFile +
        ", so that the data open faster the next time. To remove index files, run 'patchio "
        "index --remove'. To prevent index files, set Metadata Channel to Off");
  }
  if (report.ThreadsMax == threads.MostThreadsOfRank) {
    report.Notes.push_back("the read used the greatest allowed number of threads per rank, " +
                           std::to_string(threads.MostThreadsOfRank));
  }
  this->Data.Last = CombineOverRanks(report, ranks);
  this->Data.File = series.CurrentPath();
  this->Data.Time = series.CurrentTime();
  this->Data.Date = series.Current().Date;
  this->Data.Threads = threads.Changes;
  this->Data.Storage = threads.Storage;
  this->Data.Cancelled = outcome.Cancelled;
  this->Data.BytesToRead = outcome.BytesToRead;
  this->Data.AppendPastRead();
  this->LastText = this->Data.Text();
}

namespace {

/// Fraction of the locating stage that is done when the index of the step exists.
constexpr double IndexFraction = 0.5;

constexpr const char* LocatingText = "Locating";

/// Reason why a step is not prefetched.
constexpr const char* InterruptedReason = "locating the values of the step was interrupted";

/// Returns the long names of the variables that are read, as text; empty if they equal the names.
std::string LongNamesText(const Catalog& catalog, const std::vector<VariableRequest>& variables)
{
  std::string text;
  for (const VariableRequest& wanted : variables) {
    const Variable& variable = catalog.Variables[wanted.Variable];
    if (!variable.LongName.empty() && variable.LongName != variable.Name) {
      text += (text.empty() ? "" : "; ") + variable.Name + ": " + variable.LongName;
    }
  }
  return text;
}

/// Returns a callback that reports the progress of locating as a fraction between `from` and `to`.
ProgressCallback LocatingProgress(const ReadObserver& observer, double from, double to)
{
  return [&observer, from, to](
             double fraction) { return observer.Progress(from + (to - from) * fraction, LocatingText); };
}

}  // namespace

void ReadSession::Forget()
{
  this->PrefetchQueue.Stop();
  this->Series.Close();
  this->Ranges.Forget();
  this->Cache->Clear();
}

void ReadSession::Open(Communicator& ranks, const SeriesOptions& options)
{
  this->Series.Open(ranks, options);
  if (options.LaterFiles) {
    this->Series.RemoveIncompleteLastStep(ranks, this->Threads.OfRank(ranks, ranks.Rank()));
  }
}

bool ReadSession::AddNewSteps(Communicator& ranks)
{
  const std::vector<TimeStep>& steps = this->Series.Contents().Steps;
  const std::size_t before = steps.size();
  const std::string last = steps.back().Path;
  const bool found = this->Series.AddNewSteps(ranks, this->Threads.OfRank(ranks, ranks.Rank()));
  if (found && steps[before - 1].Path != last) {
    this->ClearPrefetch();  // the prefetched steps have other numbers now
  }
  return found;
}

std::optional<LocatedStep> ReadSession::Locate(
    Communicator& ranks, std::size_t step, const ReadRequest& request, const ReadObserver& observer)
{
  std::optional<PrefetchedStep> ahead = this->PrefetchQueue.TakeStep(ranks, step);
  if (ahead) {
    this->Series.Adopt(step, ahead->Located.Step);
  } else {
    this->Series.SetStep(ranks, step);
  }
  this->Cache->SetLimit(request.CacheMemory, request.RanksOnMachine);
  if (request.CacheMemory == 0 || (request.Options.Verify && !this->Verified)) {
    this->Cache->Clear();
  }
  this->Verified = request.Options.Verify;
  this->Threads.Set(request.Threads, request.Policy);
  if (!ahead || !this->CheckPrefetched(ranks, request, *ahead)) {
    ahead.reset();
    return this->LocateDisplayed(ranks, request, observer);
  }
  this->WarnOfStep(ahead->Located.Options, observer);
  return std::move(ahead->Located);
}

/// Returns whether `ahead` matches `request` on all ranks. Otherwise empties the queue of prefetched steps.
/// Collective: every rank of the communicator calls it.
bool ReadSession::CheckPrefetched(
    Communicator& ranks, const ReadRequest& request, const PrefetchedStep& ahead)
{
  const Catalog& catalog = this->Series.Current();
  const StepOptions options = this->OptionsFor(ranks, request, catalog);
  bool holds = false;
  RunOnAllRanks(ranks, [&] {
    const std::vector<VariableRequest> variables = RequestsFor(catalog, request.Variables, options.Ghosts);
    holds = ahead.IsUpToDate(options, variables, request.KeptGrids);
  });
  holds = AllOf(ranks, holds);
  if (!holds) {
    this->PrefetchQueue.ClearQueue();
  }
  return holds;
}

/// Returns the options for the step of `catalog`, and sets NoSkipReason. Throws Error if the variable for
/// Skip By Value does not exist, or if the region is invalid. Collective: every rank of the communicator
/// calls it.
StepOptions ReadSession::OptionsFor(Communicator& ranks, const ReadRequest& request, const Catalog& catalog)
{
  CheckRegion(request.Options.Region);
  StepOptions options = request.Options;
  options.GhostLayer = options.GhostLayer && !options.Slice;  // a slice shows no cells of ghost layers
  options.Ghosts =
      request.GhostCells && !options.Slice ? GhostsOf(catalog, request.Variables) : Int3{0, 0, 0};
  if (request.Values) {
    options.WithValues =
        this->Ranges.PatchesWith(ranks, catalog, request.Values->Variable, request.Values->Range);
  }
  this->NoSkipReason = request.Values && options.WithValues.empty()
                           ? "Skip By Value has no effect, because the files do not store the range of '" +
                                 request.Values->Variable + "' in each patch"
                           : "";
  return options;
}

/// Returns this rank's request, without its blocks. Also sets the limit of the reader's memory.
LoadRequest ReadSession::RequestFor(
    Communicator& ranks, const ReadRequest& request, const Catalog& catalog, const Int3& ghosts) const
{
  LoadRequest loadRequest;
  loadRequest.Variables = RequestsFor(catalog, request.Variables, ghosts);
  loadRequest.Threads = this->Threads.OfRank(ranks, ranks.Rank());
  loadRequest.FindRanges = request.FindRanges && !request.Options.Slice;
  loadRequest.StopAtFault = !request.Options.SkipBroken;
  loadRequest.Verify = request.Options.Verify;
  loadRequest.Storage = request.Storage;
  loadRequest.Memory = this->Memory;
  loadRequest.Memory->SetLimit(request.MemoryLimit);
  loadRequest.Cache = request.CacheMemory == 0 ? nullptr : this->Cache;
  return loadRequest;
}

/// Locates the values of this rank's part of the displayed step. Returns nothing if the user stops the work.
/// Collective: every rank of the communicator calls it.
std::optional<LocatedStep> ReadSession::LocateDisplayed(
    Communicator& ranks, const ReadRequest& request, const ReadObserver& observer)
{
  const Catalog& catalog = this->Series.Current();
  const StepOptions options = this->OptionsFor(ranks, request, catalog);
  LoadRequest loadRequest = this->RequestFor(ranks, request, catalog, options.Ghosts);
  this->Threads.Begin(ranks, this->Series.CurrentPath(), loadRequest);
  this->Progress = ReadProgress();
  observer.Progress(0, LocatingText);
  const bool prepared =
      this->Series.Prepare(ranks, loadRequest.Threads, LocatingProgress(observer, 0, IndexFraction));
  this->WarnOfStep(options, observer);
  if (!prepared) {
    this->ReportStopped(ranks, loadRequest, {});
    return std::nullopt;
  }
  return this->LocateBlocks(
      PlanStep(ranks, this->Series.SharedStep(), options, loadRequest, request.KeptGrids), observer);
}

void ReadSession::WarnOfStep(const StepOptions& options, const ReadObserver& observer)
{
  observer.Warn(ShownPatches(this->Series.Current(), options).EmptyText());
  observer.Warn(this->Series.TakeIndexWarning());
}

/// Locates the values of this rank's blocks. Returns nothing if the user stops the work. Collective: every
/// rank of the communicator calls it.
std::optional<LocatedStep> ReadSession::LocateBlocks(PlannedStep planned, const ReadObserver& observer)
{
  Communicator& ranks = *planned.Ranks;
  const LoadRequest loadRequest = *planned.Request;
  observer.Progress(IndexFraction, LocatingText);
  std::optional<LocatedStep> located =
      LocateStep(std::move(planned), LocatingProgress(observer, IndexFraction, 1));
  if (!located) {
    this->ReportStopped(ranks, loadRequest, {});
  }
  return located;
}

std::optional<LoadedStep> ReadSession::Load(
    LocatedStep located, const ReadRequest& request, const ReadObserver& observer)
{
  Communicator& ranks = *located.Ranks;
  std::optional<LocatedStep> next(std::move(located));
  while (next) {
    const bool ahead = next->Request->IsPrefetch;
    this->Progress = ReadProgress();
    LoadedStep loaded = LoadStep(std::move(*next), this->Threads, [&](const ReadProgress& now) {
      this->Progress = now;
      return observer.Progress(ReadingFraction(now.Bytes, now.BytesToRead, now.Fraction),
          ReadingText(now.Bytes, now.BytesToRead, now.BytesPerSecond()));
    });
    if (loaded.Outcome == LoadOutcome::Stopped) {
      this->ReportStopped(ranks, *loaded.Request, loaded.Report());
      return std::nullopt;
    }
    if (loaded.Outcome == LoadOutcome::Complete) {
      observer.Warn(loaded.Warning().empty() ? this->Series.TakeMissingWarning() : std::string());
      return loaded;
    }
    if (ahead) {
      next = this->LocateDisplayed(ranks, request, observer);
    } else {
      this->Threads.Begin(ranks, this->Series.CurrentPath(), *loaded.Request);
      next = this->LocateBlocks(Replan(std::move(loaded)), observer);
    }
  }
  return std::nullopt;
}

void ReadSession::ReportStopped(Communicator& ranks, const LoadRequest& request, const IoReport& report)
{
  ReadReports::Outcome outcome;
  outcome.Cancelled = true;
  outcome.BytesToRead = static_cast<double>(this->Progress.BytesToRead);
  this->Reports.Add(ranks, report, this->Threads.Used(ranks, request), this->Series, outcome);
}

void ReadSession::Report(LoadedStep& loaded)
{
  IoReport& report = loaded.Report();
  ReadReports::Outcome outcome;
  outcome.BytesToRead = static_cast<double>(this->Progress.BytesToRead);
  outcome.Warning = loaded.Warning();
  for (const std::string& text : {LongNamesText(loaded.Data(), loaded.Variables()), this->NoSkipReason,
           loaded.Patches.LeftOutText(), this->NotPrefetchedText(report)}) {
    if (!text.empty()) {
      report.Notes.push_back(text);
    }
  }
  const std::vector<std::string> ofThreads = this->Threads.Notes(*loaded.Request);
  report.Notes.insert(report.Notes.end(), ofThreads.begin(), ofThreads.end());
  this->Reports.Add(
      *loaded.Ranks, report, this->Threads.Used(*loaded.Ranks, *loaded.Request), this->Series, outcome);
}

void ReadSession::Prefetch(Communicator& ranks, const ReadRequest& request, const ReadObserver& observer)
{
  this->PrefetchQueue.RecordDisplayed(this->Series.CurrentStep());
  this->NotPrefetched.reset();
  if (!this->PrefetchQueue.IsSameOnAllRanks(ranks, request.PrefetchSteps)) {
    this->PrefetchQueue.Clear();
    return;
  }
  for (const std::size_t step :
      this->PrefetchQueue.NextSteps(this->Series.Times().size(), request.PrefetchSteps)) {
    if (!this->PrefetchQueue.Contains(step)) {
      try {
        this->PrefetchQueue.Add(this->LocatePrefetch(ranks, request, observer, step));
        this->Threads.IgnoreOwnReads();
      } catch (const std::exception& error) {
        // All ranks have the same error, which does not affect the displayed step.
        this->NotPrefetched = {step, error.what()};
        return;
      }
    }
  }
}

/// Returns the reason why the displayed step was not prefetched although it should have been, or an empty
/// text. Only this text tells the user that memory was too small for the prefetch.
std::string ReadSession::NotPrefetchedText(const IoReport& report) const
{
  const bool wasToBe = this->NotPrefetched && this->NotPrefetched->Step == this->Series.CurrentStep() &&
                       report.Prefetches == 0;
  return wasToBe ? "this step was not read ahead: " + this->NotPrefetched->Reason : std::string();
}

/// Prepares the read of a step: opens the step, plans blocks, locates values and reserves memory. Collective:
/// every rank of the communicator calls it.
PrefetchedStep ReadSession::LocatePrefetch(
    Communicator& ranks, const ReadRequest& request, const ReadObserver& observer, std::size_t step)
{
  // The displayed step is complete, so the progress stays at 1.
  const ProgressCallback progress = LocatingProgress(observer, 1, 1);
  const std::shared_ptr<OpenedStep> opened =
      this->Series.OpenForPrefetch(ranks, step, this->Threads.OfRank(ranks, ranks.Rank()), progress);
  if (!opened) {
    throw Error(InterruptedReason);
  }
  const StepOptions options = this->OptionsFor(ranks, request, opened->Data());
  LoadRequest loadRequest = this->RequestFor(ranks, request, opened->Data(), options.Ghosts);
  loadRequest.IsPrefetch = true;
  this->Threads.SetPrefetchThreads(ranks, loadRequest);
  std::optional<LocatedStep> located =
      LocateStep(PlanStep(ranks, opened, options, loadRequest, request.KeptGrids), progress);
  if (!located) {
    throw Error(InterruptedReason);
  }
  return ReservePrefetch(std::move(*located), step);
}

}  // namespace patchio
