#include "Read/OpenedSeries.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"

#include <algorithm>
#include <utility>

namespace patchio {
namespace {

/// What catalog and index of a step take, from the catalog alone, so that all ranks find the same.
std::uint64_t RoughBytes(const Catalog& catalog)
{
  constexpr std::uint64_t location = 40;  // of an extent
  return catalog.Patches.size() * (sizeof(Patch) + catalog.Variables.size() * location);
}

}  // namespace

std::shared_ptr<OpenedStep> RecentSteps::Open(
    const RankAgreement& ranks, const std::string& path, ChannelMode mode)
{
  const auto found = std::find_if(
      this->Steps.begin(), this->Steps.end(), [&path](const Entry& entry) { return entry.Path == path; });
  std::shared_ptr<OpenedStep> step;
  if (found != this->Steps.end()) {
    step = found->Step;
    this->Steps.erase(found);
    // What was missing may be there by now.
    if (!ranks.RankZeroFinds([&step] { return step->Lost().empty() && step->Unchanged(); })) {
      step.reset();
    }
  }
  if (!step) {
    step = std::make_shared<OpenedStep>(ranks, path, mode);
  }
  this->Steps.push_front({path, step});
  this->Trim();
  return step;
}

void RecentSteps::Add(const std::string& path, std::shared_ptr<OpenedStep> step)
{
  this->Steps.erase(std::remove_if(this->Steps.begin(), this->Steps.end(),
                        [&path](const Entry& entry) { return entry.Path == path; }),
      this->Steps.end());
  this->Steps.push_front({path, std::move(step)});
  this->Trim();
}

void RecentSteps::Trim()
{
  std::uint64_t bytes = 0;
  for (std::size_t i = 1; i < this->Steps.size(); ++i) {
    bytes += RoughBytes(this->Steps[i].Step->Data());
    if (i == MostSteps || bytes > MostBytes) {
      this->Steps.resize(i);
    }
  }
}

void OpenedSeries::ClearFiles()
{
  this->FileNames.clear();
  this->LastStep = 0;
}

void OpenedSeries::Open(const RankAgreement& ranks, const SeriesOptions& options)
{
  const Stopwatch watch;
  this->Options = options;
  this->Found = ranks.OpenSeries(this->FileNames, options, this->Channel);
  this->TimesOfSteps = TimeValues(this->Found);
  this->SeriesIsOpen = true;
  this->FirstFile = ranks.Rank() == 0 ? StateOf(this->Found.Steps.front().Path) : std::nullopt;
  this->Told.insert(this->Found.Warnings.begin(), this->Found.Warnings.end());
  this->OpenSeconds += watch.Seconds();
}

void OpenedSeries::Close()
{
  this->SeriesIsOpen = false;
  this->PathOfShown.clear();
  this->NoSoundStep.clear();
  this->Recent.Clear();
  this->Rebuilt.clear();
  this->ChannelWarned = false;
  this->ToldOfLost.clear();
  this->Watched.Forget();
  this->IsAnother = false;
  this->LooksInVain = 0;
  this->LeftOut.clear();
  this->Told.clear();
}

void OpenedSeries::OpenAny(const RankAgreement& ranks)
{
  if (!this->NoSoundStep.empty()) {
    throw Error(this->NoSoundStep);
  }
  const std::size_t steps = this->Found.Steps.size();
  for (std::size_t i = 0; this->PathOfShown.empty() && i < steps; ++i) {
    try {
      this->TurnTo(ranks, (this->LastStep + i) % steps);
    } catch (const Error& error) {
      if (i + 1 == steps) {
        this->NoSoundStep = error.what();
        throw;
      }
    }
  }
}

void OpenedSeries::TurnTo(const RankAgreement& ranks, std::size_t step)
{
  const std::string& path = this->Found.Steps[step].Path;
  this->SecondsOfPrepare = 0;
  if (path == this->PathOfShown) {
    // All ranks have the same catalog, so all of them throw or none.
    this->Shown->TurnTo(ranks, this->Found.Steps[step]);
    this->LastStep = step;
    return;
  }
  const Stopwatch watch;
  this->PathOfShown.clear();
  this->Shown.reset();
  this->Shown = this->Recent.Open(ranks, path, this->ModeFor(path));
  this->Shown->TurnTo(ranks, this->Found.Steps[step]);
  this->PathOfShown = path;
  this->LastStep = step;
  this->OpenSeconds += watch.Seconds();
}

bool OpenedSeries::Prepare(const RankAgreement& ranks, int threads, const ProgressCallback& progress)
{
  const Stopwatch watch;
  const bool prepared = this->Shown->Prepare(ranks, threads, progress);
  this->SecondsOfPrepare = watch.Seconds();
  if (!this->Shown->Saved().Path.empty()) {
    this->Rebuilt.insert(this->PathOfShown);
  }
  return prepared;
}

std::shared_ptr<OpenedStep> OpenedSeries::OpenAhead(
    const RankAgreement& ranks, std::size_t step, int threads, const ProgressCallback& progress)
{
  const Stopwatch watch;
  const std::string& path = this->Found.Steps[step].Path;
  std::shared_ptr<OpenedStep> opened =
      path == this->PathOfShown ? this->Shown : this->Recent.Open(ranks, path, this->ModeFor(path));
  if (!opened->Prepare(ranks, threads, progress)) {
    return nullptr;
  }
  if (opened->Data().StepsInFile > 1) {
    // Others are turned to other steps of the file meanwhile.
    opened = std::make_shared<OpenedStep>(*opened);
  }
  opened->TurnTo(ranks, this->Found.Steps[step]);
  if (!opened->Saved().Path.empty()) {
    this->Rebuilt.insert(path);
  }
  this->OpenSeconds += watch.Seconds();
  return opened;
}

void OpenedSeries::Adopt(std::size_t step, std::shared_ptr<OpenedStep> opened)
{
  this->PathOfShown = this->Found.Steps[step].Path;
  this->LastStep = step;
  this->Shown = std::move(opened);
  this->SecondsOfPrepare = 0;
}

/// A step is rebuilt once, not each time that it is shown.
ChannelMode OpenedSeries::ModeFor(const std::string& path) const
{
  const bool rebuilt = this->Channel == ChannelMode::Rebuild && this->Rebuilt.count(path) > 0;
  return rebuilt ? ChannelMode::On : this->Channel;
}

std::string OpenedSeries::TakeChannelWarning()
{
  if (this->ChannelWarned || this->Shown->Warning().empty()) {
    return {};
  }
  this->ChannelWarned = true;
  return this->Shown->Warning();
}

std::string OpenedSeries::TakeLostWarning()
{
  const std::string& lost = this->Shown->Lost();
  return lost.empty() || !this->ToldOfLost.insert(this->PathOfShown).second
             ? std::string()
             : "Parts of the data that are not shown are damaged or missing: " + lost;
}

double OpenedSeries::TakeOpenSeconds()
{
  return std::exchange(this->OpenSeconds, 0);
}

}  // namespace patchio
