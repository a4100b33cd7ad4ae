#include "Session/StepReader.h"

#include "Report/ProgressText.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <utility>

namespace patchio {
namespace {

// Where the stages of a read begin.
constexpr double LocatePart = 0.02;
constexpr double PlanPart = 0.04;
constexpr double ReadingPart = 0.05;

/// Why a step is not read ahead.
constexpr const char* WasStopped = "finding out where its values lie was stopped";

/// What files say of the variables that are read; empty where they say nothing.
std::string LongNamesText(const Catalog& catalog, const std::vector<VariableRequest>& variables)
{
  std::string text;
  for (const VariableRequest& wanted : variables) {
    const Variable& variable = catalog.Variables[wanted.Variable];
    if (!variable.LongName.empty()) {
      text += (text.empty() ? "" : "; ") + variable.Name + ": " + variable.LongName;
    }
  }
  return text;
}

/// What is between two stages: goes on unless the user stops it.
ProgressCallback Locating(const UpdateWishes& wishes, double from, double to)
{
  return [&wishes, from, to](
             double fraction) { return wishes.Tell(from + (to - from) * fraction, LocatingText(fraction)); };
}

}  // namespace

void StepReader::Forget()
{
  this->Ahead.Stop();
  this->Opened.Close();
  this->Values.Forget();
  this->Cache->Clear();
}

std::unique_ptr<StepAhead> StepReader::Show(Communicator& ranks, std::size_t step)
{
  std::unique_ptr<StepAhead> ahead = this->Ahead.Take(ranks, step);
  if (ahead) {
    this->Opened.Adopt(step, std::move(ahead->Opened));
  } else {
    this->Opened.TurnTo(ranks, step);
  }
  return ahead;
}

std::unique_ptr<PatchUpdate> StepReader::Read(
    Communicator& ranks, const UpdateWishes& wishes, std::unique_ptr<StepAhead> ahead)
{
  this->Cache->SetLimit(wishes.CacheMemory, wishes.RanksOnMachine);
  if (wishes.CacheMemory == 0) {
    this->Cache->Clear();
  }
  this->Threads.Set(wishes.Threads, wishes.Policy);
  UpdateOptions options;
  RunOnAllRanks(ranks, [&] {
    options = wishes.OptionsFor(this->Opened.Current());
    this->Request = this->RequestFor(ranks, wishes, this->Opened.Current(), options);
  });
  this->ChooseByValue(ranks, wishes, this->Opened.Current(), options);
  this->Note = wishes.Values && options.WithValues.empty()
                   ? "Skip By Value has no effect: the files do not say which values '" +
                         wishes.Values->Variable + "' has where"
                   : "";
  std::unique_ptr<PatchUpdate> update = this->JoinStep(ranks, wishes, options, std::move(ahead));
  if (!update) {
    update = this->BeginUpdate(ranks, wishes, options);
  }
  wishes.Warn(update->Patches().EmptyText());
  wishes.Warn(this->Opened.TakeChannelWarning());
  if (!update->Stopped() && !update->IsRead()) {
    this->ReadBlocks(ranks, wishes, *update);
  }
  if (!update->Stopped()) {
    update->AgreeOnBlanks();
  }
  if (!update->Stopped() && update->Warning().empty()) {
    wishes.Warn(this->Opened.TakeLostWarning());
  }
  return update;
}

/// What this rank reads, but for its blocks.
LoadRequest StepReader::RequestFor(const Communicator& ranks, const UpdateWishes& wishes,
    const Catalog& catalog, const UpdateOptions& options) const
{
  LoadRequest request;
  request.Variables = wishes.VariablesFor(catalog, options.Ghosts);
  request.Threads = this->Threads.OfRank(ranks, ranks.Rank());
  request.FindRanges = wishes.FindRanges;
  request.StopAtFault = !options.SkipBroken;
  request.Storage = wishes.Storage;
  request.Memory = this->Memory;
  request.Memory->SetLimit(wishes.MemoryLimit);
  request.Cache = wishes.CacheMemory == 0 ? nullptr : this->Cache;
  return request;
}

/// Collective. Throws Error when there is no such variable.
void StepReader::ChooseByValue(
    Communicator& ranks, const UpdateWishes& wishes, const Catalog& catalog, UpdateOptions& options)
{
  if (wishes.Values) {
    options.WithValues = this->Values.PatchesWith(
        ranks, catalog, wishes.Values->Variable, wishes.Values->Range, options.GhostLayer);
  }
}

/// Collective. Waits for the rest of a step that is read ahead. Null when it is not what is wanted now on
/// each rank, or anything is wrong with it: whether that still is so, and what to say of it, a read at its
/// own turn finds out.
std::unique_ptr<PatchUpdate> StepReader::JoinStep(Communicator& ranks, const UpdateWishes& wishes,
    const UpdateOptions& options, std::unique_ptr<StepAhead> ahead)
{
  if (!ahead) {
    return nullptr;
  }
  bool holds = false;
  RunOnAllRanks(
      ranks, [&] { holds = ahead->Update->StillHolds(options, this->Request, wishes.KeptFrames()); });
  if (!AllOf(ranks, holds)) {
    this->Ahead.Drop();
    return nullptr;
  }
  this->Progress = ReadProgress();
  ahead->Update->Read([&](const ReadProgress& now) { return this->GoesOn(wishes, now); });
  if (!ahead->Update->Stopped() && !ahead->Update->SoundEverywhere()) {
    return nullptr;
  }
  this->Request = ahead->Request;
  return std::move(ahead->Update);
}

/// Collective. All that comes before the blocks are known.
std::unique_ptr<PatchUpdate> StepReader::BeginUpdate(
    Communicator& ranks, const UpdateWishes& wishes, const UpdateOptions& options)
{
  this->Threads.Begin(ranks, this->Opened.CurrentPath(), this->Request);
  auto update = std::make_unique<PatchUpdate>(ranks, this->Opened.Step(), options);
  wishes.Tell(LocatePart, LocatingText(0));
  if (!this->Opened.Prepare(ranks, this->Request.Threads, Locating(wishes, LocatePart, PlanPart))) {
    update->Stop();
  }
  return update;
}

/// Collective. Makes blocks, and finds out where their bytes lie, unless the user stops it.
void StepReader::PlanBlocks(Communicator& ranks, const UpdateWishes& wishes, const LoadRequest& request,
    const ProgressCallback& progress, PatchUpdate& update) const
{
  RunOnAllRanks(ranks, [&] {
    update.Plan(request, wishes.KeptFrames());
    wishes.KeepFrames(update.Planned().FramesKey);
  });
  update.Locate(progress);
  if (!update.Stopped()) {
    update.AgreeOnFaults();
  }
}

/// Collective. Reads what can be read, unless the user stops it. Broken patches, once known, change the
/// blocks.
void StepReader::ReadBlocks(Communicator& ranks, const UpdateWishes& wishes, PatchUpdate& update)
{
  for (;;) {
    this->Progress = ReadProgress();
    wishes.Tell(PlanPart, LocatingText(0));
    this->PlanBlocks(ranks, wishes, this->Request, Locating(wishes, PlanPart, ReadingPart), update);
    if (update.Stopped()) {
      return;
    }
    if (!update.Outdated()) {
      update.CheckMemory();
      update.Read([&](const ReadProgress& now) { return this->GoesOn(wishes, now); });
      this->Threads.End(this->Request);
      update.AgreeOnFaults();
      if (update.Stopped() || !update.Outdated()) {
        return;
      }
      this->Threads.Begin(ranks, this->Opened.CurrentPath(), this->Request);
    }
  }
}

/// Progress for the screen; false when the user stops the read.
bool StepReader::GoesOn(const UpdateWishes& wishes, const ReadProgress& now)
{
  this->Progress = now;
  return wishes.Tell(ReadingPart + (ReadPart - ReadingPart) * now.Fraction,
      ReadingText(now.Bytes, now.BytesToRead, now.BytesPerSecond()));
}

void StepReader::Report(Communicator& ranks, PatchUpdate& update)
{
  IoReport& report = update.Report();
  UpdateReports::Outcome outcome;
  outcome.Cancelled = update.Stopped();
  outcome.WantedBytes = static_cast<double>(this->Progress.BytesToRead);
  if (!update.Stopped()) {
    outcome.Warning = update.Warning();
    for (const std::string& text : {LongNamesText(update.Data(), update.Variables()), this->Note,
             update.Patches().LeftOutText(), this->NotAheadText(report)}) {
      if (!text.empty()) {
        report.Notes.push_back(text);
      }
    }
    const std::vector<std::string> ofThreads = this->Threads.Notes(this->Request);
    report.Notes.insert(report.Notes.end(), ofThreads.begin(), ofThreads.end());
  }
  this->Costs.Add(ranks, report, this->Threads.Used(ranks, this->Request), this->Opened, outcome);
}

void StepReader::ReadAhead(Communicator& ranks, const UpdateWishes& wishes)
{
  this->Ahead.Shown(this->Opened.CurrentStep());
  this->NotAhead.reset();
  if (!this->Ahead.Agree(ranks, wishes.StepsAhead)) {
    this->Ahead.Clear();
    return;
  }
  for (const std::size_t step : this->Ahead.Next(this->Opened.Times().size(), wishes.StepsAhead)) {
    if (!this->Ahead.Has(step)) {
      try {
        this->Ahead.Add(this->PrepareAhead(ranks, wishes, step));
        this->Threads.ReadsGoOn();
      } catch (const std::exception& error) {
        // All ranks have got it, and it is no fault of the step that is shown.
        this->NotAhead = {step, error.what()};
        return;
      }
    }
  }
}

/// Why a step was not read ahead that was to be: memory that does not suffice makes no other difference.
std::string StepReader::NotAheadText(const IoReport& report) const
{
  const bool wasToBe =
      this->NotAhead && this->NotAhead->Step == this->Opened.CurrentStep() && report.Ahead == 0;
  return wasToBe ? "not read ahead: " + this->NotAhead->Reason : std::string();
}

/// Collective. All of a read but reading.
std::unique_ptr<StepAhead> StepReader::PrepareAhead(
    Communicator& ranks, const UpdateWishes& wishes, std::size_t step)
{
  auto ahead = std::make_unique<StepAhead>();
  UpdateOptions options;
  ahead->Step = step;
  // The step that is shown is there.
  const ProgressCallback progress = Locating(wishes, 1, 1);
  const int threads = this->Threads.OfRank(ranks, ranks.Rank());
  ahead->Opened = this->Opened.OpenAhead(ranks, step, threads, progress);
  if (!ahead->Opened) {
    throw Error(WasStopped);
  }
  RunOnAllRanks(ranks, [&] {
    const Catalog& catalog = ahead->Opened->Data();
    options = wishes.OptionsFor(catalog);
    ahead->Request = this->RequestFor(ranks, wishes, catalog, options);
    ahead->Request.Ahead = true;
    this->Threads.ChooseAhead(ranks, ahead->Request);
  });
  this->ChooseByValue(ranks, wishes, ahead->Opened->Data(), options);
  ahead->Update = std::make_unique<PatchUpdate>(ranks, *ahead->Opened, options);
  do {
    this->PlanBlocks(ranks, wishes, ahead->Request, progress, *ahead->Update);
    if (ahead->Update->Stopped()) {
      throw Error(WasStopped);
    }
  } while (ahead->Update->Outdated());
  ahead->Update->PrepareAhead();
  return ahead;
}

}  // namespace patchio
