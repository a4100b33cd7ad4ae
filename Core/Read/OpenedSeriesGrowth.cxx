// Steps that come while the series is open, because a simulation still writes it.
#include "Base/Error.h"
#include "Read/OpenedSeries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace patchio {
namespace {

constexpr const char* Remedy = "use File > Reload Files, or Reload() in scripts";

using StepKey = std::pair<std::string, int>;

StepKey KeyOf(const TimeStep& step)
{
  return {step.Path, step.InFile};
}

bool HaveSameHead(const TimeStep& a, const TimeStep& b)
{
  const bool sameTime = a.Time == b.Time || (std::isnan(a.Time) && std::isnan(b.Time));
  return sameTime && a.Step == b.Step && a.Date == b.Date;
}

}  // namespace

void OpenedSeries::HoldBackUnfinished(const RankAgreement& ranks, int threads)
{
  std::shared_ptr<OpenedStep> opened;
  if (this->Found.Steps.size() > 1 &&
      !this->WhyIncomplete(ranks, this->Found.Steps.back(), threads, opened).empty()) {
    this->Found.Steps.pop_back();
    this->TimesOfSteps = TimeValues(this->Found);
  }
}

bool OpenedSeries::LookForNewSteps(const RankAgreement& ranks, int threads)
{
  if (this->IsAnother || !ranks.RankZeroFinds([this] { return this->Watched.Changed(); })) {
    return false;
  }
  std::optional<Series> now = this->OpenAgain(ranks);
  if (!now || !this->GoesOn(ranks, *now)) {
    return false;
  }
  if (this->MayGrow(this->PathOfShown) && !ranks.RankZeroFinds([this] { return this->Shown->Unchanged(); })) {
    // It is opened again for the next read.
    this->PathOfShown.clear();
  }
  const std::vector<TimeStep> added = this->CompleteSteps(ranks, *now, threads);
  if (!added.empty()) {
    this->TellOfLeftOut(now->Warnings);
    this->Found.Notes = now->Notes;
    this->AddSteps(added);
  }
  return !added.empty();
}

/// Whether a file of steps may get more of them.
bool OpenedSeries::MayGrow(const std::string& path) const
{
  const std::vector<std::string>& watched = this->Found.Watched;
  return std::find(watched.begin(), watched.end(), path) != watched.end();
}

/// Nothing where that is not possible now, as when a file is just being written.
std::optional<Series> OpenedSeries::OpenAgain(const RankAgreement& ranks)
{
  std::map<std::string, const TimeStep*> known;
  for (const TimeStep& step : this->Found.Steps) {
    const bool isNew = known.emplace(step.Path, &step).second;
    known[step.Path] = isNew && !this->MayGrow(step.Path) ? &step : nullptr;
  }
  SeriesOptions options = this->Options;
  options.LaterFiles = true;
  options.Known = [&known](const std::string& path) {
    const auto found = known.find(path);
    return found != known.end() && found->second ? std::optional<TimeStep>(*found->second) : std::nullopt;
  };
  const std::int64_t begin = NowInNanoseconds();
  try {
    Series now = ranks.OpenSeries(this->FileNames, options, this->Channel);
    this->LooksInVain = 0;
    this->Found.Watched = now.Watched;
    if (ranks.Rank() == 0) {
      this->Watched.Watch(now.Watched, begin, ChannelSettings().SettleSeconds);
    }
    return now;
  } catch (const Error& error) {
    // A file that is being replaced is there again the next time.
    if (++this->LooksInVain == 2) {
      this->TellOnce(fmt::format("Follow cannot look for new time steps at the moment. {}", error.what()));
    }
    return std::nullopt;
  }
}

/// Whether it is the series that was opened: what a listed time step stands for must not change.
bool OpenedSeries::GoesOn(const RankAgreement& ranks, const Series& now)
{
  std::map<StepKey, const TimeStep*> steps;
  for (const TimeStep& step : now.Steps) {
    steps[KeyOf(step)] = &step;
  }
  const TimeStep& first = this->Found.Steps.front();
  // A run that starts anew begins with its first step.
  const bool same = this->MayGrow(first.Path) || ranks.RankZeroFinds([this, &first] {
    const std::optional<FileState> state = StateOf(first.Path);
    return !state || !this->FirstFile || state->Print == this->FirstFile->Print;
  });
  const TimeStep* other = same ? nullptr : &first;
  const TimeStep* gone = nullptr;
  for (const TimeStep& step : this->Found.Steps) {
    const auto found = steps.find(KeyOf(step));
    if (found == steps.end()) {
      gone = gone ? gone : &step;
    } else if (!HaveSameHead(*found->second, step)) {
      other = other ? other : &step;
    }
  }
  if (other) {
    this->IsAnother = true;
    this->TellOnce(
        fmt::format("{} was replaced after the series was opened, so another run may have started. Follow "
                    "stops adding time steps: {}.",
            other->Path, Remedy));
  } else if (gone) {
    this->TellOnce(fmt::format(
        "Step {} in {} no longer exists, but is still in the list of time steps: {} to update the list.",
        gone->Step, gone->Path, Remedy));
  }
  return !other;
}

/// Steps that are not known yet. The warnings of `now` get the reasons why others are left out.
std::vector<TimeStep> OpenedSeries::CompleteSteps(const RankAgreement& ranks, Series& now, int threads)
{
  std::set<StepKey> known;
  for (const TimeStep& step : this->Found.Steps) {
    known.insert(KeyOf(step));
  }
  std::vector<TimeStep> complete;
  std::shared_ptr<OpenedStep> opened;
  bool comes = false;
  for (const TimeStep& step : now.Steps) {
    if (known.count(KeyOf(step)) > 0) {
      continue;
    }
    const std::string fault = this->WhyIncomplete(ranks, step, threads, opened);
    comes = !fault.empty() && step.Step > this->Found.Steps.back().Step;
    if (fault.empty()) {
      complete.push_back(step);
    } else {
      now.Warnings.push_back(fmt::format("Skipping step {}. {}", step.Step, fault));
    }
  }
  if (comes) {
    // The last one is being written, perhaps in files that nobody watches.
    this->Watched.Forget();
  }
  return complete;
}

/// Empty where all of the step is there. `opened`: of the step that was asked for before; may be null.
std::string OpenedSeries::WhyIncomplete(
    const RankAgreement& ranks, const TimeStep& step, int threads, std::shared_ptr<OpenedStep>& opened)
{
  try {
    if (!opened || opened->Data().Path != step.Path) {
      opened = std::make_shared<OpenedStep>(ranks, step.Path, this->ModeFor(step.Path));
    }
    opened->TurnTo(ranks, step);
    if (!opened->IsComplete(ranks, threads)) {
      return opened->Lost().empty() ? step.Path + ": some of its values are not written yet" : opened->Lost();
    }
    this->Recent.Add(step.Path, opened);
    return {};
  } catch (const Error& error) {
    opened.reset();
    return error.what();
  }
}

void OpenedSeries::AddSteps(const std::vector<TimeStep>& added)
{
  std::vector<TimeStep>& steps = this->Found.Steps;
  const StepKey shown = KeyOf(steps[this->LastStep]);
  steps.insert(steps.end(), added.begin(), added.end());
  std::stable_sort(
      steps.begin(), steps.end(), [](const TimeStep& a, const TimeStep& b) { return a.Step < b.Step; });
  const auto at = std::find_if(
      steps.begin(), steps.end(), [&shown](const TimeStep& step) { return KeyOf(step) == shown; });
  this->LastStep = static_cast<std::size_t>(at - steps.begin());
  this->TimesOfSteps = TimeValues(this->Found);
}

/// Tells of those of which the same was to be told when steps were added before: they are not coming.
void OpenedSeries::TellOfLeftOut(const std::vector<std::string>& texts)
{
  for (const std::string& text : texts) {
    if (std::find(this->LeftOut.begin(), this->LeftOut.end(), text) != this->LeftOut.end()) {
      this->TellOnce(text);
    }
  }
  this->LeftOut = texts;
}

void OpenedSeries::TellOnce(const std::string& text)
{
  if (this->Told.insert(text).second) {
    this->GrowthWarning += (this->GrowthWarning.empty() ? "" : "\n") + text;
  }
}

}  // namespace patchio
