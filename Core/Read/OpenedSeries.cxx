#include "Read/OpenedSeries.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Formats/FindSteps.h"
#include "Read/CollectiveCalls.h"
#include "Store/LocationIndex.h"
#include "Store/SeriesIndexFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace fs = std::filesystem;

namespace patchio {

namespace {

/// Returns the steps behind one path: from options.KnownHead, from an index file if `mode` is not Off, or
/// from the format.
Series OpenPath(const std::string& path, const SeriesOptions& options, IndexMode mode)
{
  // PatchIO does not examine a file whose step is known. So many files with one step each open faster.
  if (const std::optional<TimeStep> known = options.KnownHead ? options.KnownHead(path) : std::nullopt) {
    Series single;
    single.Steps.push_back(*known);
    return single;
  }
  if (mode == IndexMode::Off) {
    return FormatOf(path).OpenSeries(path, options);
  }
  // If the series index cannot be saved, no warning is needed, because only the next opening is slower.
  IndexedSeries kept = OpenWithIndexFile(path, options, mode, IndexSettings().SettleSeconds);
  if (!kept.Warning.empty()) {
    kept.Contents.Warnings.push_back(kept.Warning);
  }
  return kept.Contents;
}

/// Appends the texts that `to` does not contain yet. The paths of one series, such as neighboring plotfiles,
/// have the same texts.
void AppendMissing(const std::vector<std::string>& from, std::vector<std::string>& to)
{
  for (const std::string& text : from) {
    if (std::find(to.begin(), to.end(), text) == to.end()) {
      to.push_back(text);
    }
  }
}

std::string FolderOf(const std::string& path)
{
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// A file name split at the number at its end or before its extension: run_0001.vtkhdf, post.ctl_2017022718.
struct NumberedName
{
  explicit NumberedName(const std::string& name)
  {
    constexpr const char* digits = "0123456789";
    const std::string stem = fs::path(name).stem().string();
    const bool before = !stem.empty() && stem.find_last_not_of(digits) + 1 < stem.size();
    const std::size_t end = before ? stem.size() : name.size();
    const std::size_t begin = name.find_last_not_of(digits, end - 1) + 1;
    this->Prefix = name.substr(0, begin);
    this->Suffix = name.substr(end);
    if (begin < end && end - begin < 19) {
      this->Number = std::stoll(name.substr(begin, end - begin));
    }
  }

  std::string Prefix, Suffix;
  std::optional<std::int64_t> Number;
};

/// Returns the files in the folder of `path` whose names differ from that of `path` by a higher number only,
/// in ascending order.
std::vector<std::string> LaterFiles(const std::string& path)
{
  const NumberedName current(fs::path(path).filename().string());
  std::map<std::int64_t, std::string> later;
  const auto isLater = [&](const fs::directory_entry& entry) {
    std::error_code ignored;
    const NumberedName other(entry.path().filename().string());
    return other.Number > current.Number && other.Prefix == current.Prefix &&
           other.Suffix == current.Suffix && entry.is_regular_file(ignored);
  };
  for (const fs::path& entry :
      current.Number ? EntriesOf(FolderOf(path), isLater) : std::vector<fs::path>()) {
    const std::string name = entry.filename().string();
    later[*NumberedName(name).Number] = path.substr(0, path.rfind('/') + 1) + name;
  }
  std::vector<std::string> files;
  for (const auto& [number, file] : later) {
    files.push_back(file);
  }
  return files;
}

/// Joins the series of several paths into one series.
class SeriesJoiner
{
public:
  SeriesJoiner(const SeriesOptions& options, IndexMode mode) : Options(options), Mode(mode) {}

  void Add(const std::string& path);
  /// Adds later files in the folder of the last step; see SeriesOptions::LaterFiles.
  void AddLaterFiles(const std::vector<std::string>& paths);
  /// Returns all steps in ascending order, each once.
  Series Joined();

private:
  struct FoundStep
  {
    TimeStep Step;
    const std::string* Path;  ///< the path behind which this step was found
  };
  using Iterator = std::vector<FoundStep>::iterator;

  void AddTexts(const Series& from);
  void AddStepsOfNumber(Iterator first, Iterator end);
  void WarnOfOverlap();

  const SeriesOptions& Options;
  const IndexMode Mode;
  std::vector<FoundStep> Steps;  ///< in the order of the paths
  Series All;
  /// The key is the text of a warning without its path. The value is the index in All.Warnings, and the
  /// number of paths that have the warning.
  std::map<std::string, std::pair<std::size_t, std::size_t>> WarningIndices;
  std::size_t Overlap = 0;  ///< number of steps that several paths have in common
  std::string OverlapExample;
};

/// Adds the warnings and notes of a path. Adds a warning that many files have in common only once.
void SeriesJoiner::AddTexts(const Series& from)
{
  const std::string path = from.Steps.empty() ? std::string() : from.Steps.front().Path;
  for (const std::string& warning : from.Warnings) {
    const bool named = warning.rfind(path + ": ", 0) == 0;
    const auto [entry, isNew] = this->WarningIndices.emplace(
        named ? warning.substr(path.size()) : warning, std::make_pair(this->All.Warnings.size(), 0));
    entry->second.second += named ? 1 : 0;
    if (isNew) {
      this->All.Warnings.push_back(warning);
    }
  }
  AppendMissing(from.Notes, this->All.Notes);
  AppendMissing(from.Watched, this->All.Watched);
}

void SeriesJoiner::Add(const std::string& path)
{
  Series one = OpenPath(path, this->Options, this->Mode);
  this->AddTexts(one);
  for (TimeStep& step : one.Steps) {
    this->Steps.push_back({std::move(step), &path});
  }
}

void SeriesJoiner::AddLaterFiles(const std::vector<std::string>& paths)
{
  const auto last = std::max_element(this->Steps.begin(), this->Steps.end(),
      [](const FoundStep& a, const FoundStep& b) { return a.Step.Step < b.Step.Step; });
  const std::string path = last->Step.Path, *const from = last->Path;
  std::int64_t highest = last->Step.Step;
  if (this->Steps.size() != paths.size() || std::find(paths.begin(), paths.end(), path) == paths.end()) {
    return;
  }
  for (const std::string& later : LaterFiles(path)) {
    try {
      const Series one = OpenPath(later, this->Options, this->Mode);
      if (one.Steps.size() == 1 && one.Steps[0].Path == later && one.Steps[0].Step > highest) {
        highest = one.Steps[0].Step;
        this->Steps.push_back({one.Steps[0], from});
        this->AddTexts(one);
      }
    } catch (const Error& error) {
      this->All.Warnings.push_back(fmt::format("PatchIO skips a file. {}", error.what()));
      this->All.Watched.push_back(later);
    }
  }
  this->All.Watched.push_back(FolderOf(path));
}

/// Adds a warning if several paths have steps in common, because the files of two runs would form one series.
void SeriesJoiner::WarnOfOverlap()
{
  if (this->Overlap > 0) {
    this->All.Warnings.push_back(fmt::format(
        "The opened files have {} in common: {}. The series contains each of these steps once for each file. "
        "If the files come from different runs, open them separately.",
        this->Overlap == 1 ? "one step" : fmt::format("{} steps", this->Overlap), this->OverlapExample));
  }
}

/// Adds the steps first .. end - 1, which have the same number and may be from several paths. If the user
/// opened a path twice, adds its step only once.
void SeriesJoiner::AddStepsOfNumber(Iterator first, Iterator end)
{
  std::set<std::pair<std::string, int>> seen;
  bool isCommon = false;
  for (Iterator step = first; step != end; ++step) {
    if (end - first > 1 && !seen.emplace(step->Step.Path, step->Step.StepInFile).second) {
      continue;
    }
    if (*step->Path != *first->Path && !isCommon) {
      isCommon = true;
      if (this->Overlap++ == 0) {
        this->OverlapExample = fmt::format("step {}{} is in {} and in {}", step->Step.Step,
            step->Step.Date.empty() ? "" : " (" + step->Step.Date + ")", *first->Path, *step->Path);
      }
    }
    this->All.Steps.push_back(std::move(step->Step));
  }
}

Series SeriesJoiner::Joined()
{
  std::stable_sort(this->Steps.begin(), this->Steps.end(),
      [](const FoundStep& a, const FoundStep& b) { return a.Step.Step < b.Step.Step; });
  for (Iterator first = this->Steps.begin(), end; first != this->Steps.end(); first = end) {
    end = std::find_if(first, this->Steps.end(),
        [&](const FoundStep& other) { return other.Step.Step != first->Step.Step; });
    this->AddStepsOfNumber(first, end);
  }
  for (const auto& [text, place] : this->WarningIndices) {
    if (place.second > 1) {
      this->All.Warnings[place.first] += fmt::format(
          " The same applies to {} more {}.", place.second - 1, place.second == 2 ? "file" : "files");
    }
  }
  this->WarnOfOverlap();
  return std::move(this->All);
}

/// Throws Error unless all paths have the same format.
void CheckFormats(const std::vector<std::string>& paths)
{
  const Format& first = FormatOf(paths[0]);
  for (const std::string& path : paths) {
    const Format& format = FormatOf(path);
    if (&format != &first) {
      throw FileError(path, fmt::format("the format {} of {}", first.Name(), paths[0]),
          fmt::format("the format {}", format.Name()),
          "All files of a series have the same format: open files of different formats separately");
    }
  }
}

}  // namespace

Series OpenSeriesOfPaths(std::vector<std::string> paths, const SeriesOptions& options, IndexMode mode)
{
  std::transform(paths.begin(), paths.end(), paths.begin(), NormalizedPath);
  if (paths.size() > 1 && !options.KnownHead) {
    CheckFormats(paths);
  }
  SeriesJoiner joiner(options, mode);
  for (const std::string& path : paths) {
    joiner.Add(path);
  }
  if (options.LaterFiles) {
    joiner.AddLaterFiles(paths);
  }
  return joiner.Joined();
}

namespace {

/// Returns the approximate size of the catalog and the index of a step, in bytes. The result depends on the
/// catalog only, so that all ranks get the same number.
std::uint64_t ApproximateBytes(const Catalog& catalog)
{
  constexpr std::uint64_t location = 40;  // bytes per location
  return catalog.Patches.size() * (sizeof(Patch) + catalog.Variables.size() * location);
}

}  // namespace

std::shared_ptr<OpenedStep> RecentSteps::Open(Communicator& ranks, const std::string& path, IndexMode mode)
{
  const auto found = std::find_if(
      this->Steps.begin(), this->Steps.end(), [&path](const Entry& entry) { return entry.Path == path; });
  std::shared_ptr<OpenedStep> step;
  if (found != this->Steps.end()) {
    step = found->Step;
    this->Steps.erase(found);
    // Files that were missing before may exist now.
    if (!BoolOfRankZero(ranks, [&step] { return step->MissingText().empty() && step->IsUnchanged(); })) {
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
    bytes += ApproximateBytes(this->Steps[i].Step->Data());
    if (i == MostSteps || bytes > MostBytes) {
      this->Steps.resize(i);
    }
  }
}

void OpenedSeries::ClearFiles()
{
  this->FileNames.clear();
  this->DisplayedNumber = 0;
}

void OpenedSeries::Open(Communicator& ranks, const SeriesOptions& options)
{
  const Stopwatch watch;
  this->Options = options;
  this->SeriesOfFiles = OpenSeries(ranks, this->FileNames, options, this->Mode);
  this->TimesOfSteps = TimeValues(this->SeriesOfFiles);
  this->SeriesIsOpen = true;
  this->FirstFile = ranks.Rank() == 0 ? StateOf(this->SeriesOfFiles.Steps.front().Path) : std::nullopt;
  this->ReportedWarnings.insert(this->SeriesOfFiles.Warnings.begin(), this->SeriesOfFiles.Warnings.end());
  this->OpenSeconds += watch.Seconds();
}

void OpenedSeries::Close()
{
  this->SeriesIsOpen = false;
  this->DisplayedPath.clear();
  this->NoReadableStep.clear();
  this->Recent.Clear();
  this->RebuiltPaths.clear();
  this->IndexWarned = false;
  this->ReportedMissing.clear();
  this->Watched.Forget();
  this->IsOtherRun = false;
  this->FailedAttempts = 0;
  this->LeftOut.clear();
  this->ReportedWarnings.clear();
}

void OpenedSeries::OpenAny(Communicator& ranks)
{
  ThrowFault(this->NoReadableStep);
  const std::size_t steps = this->SeriesOfFiles.Steps.size();
  for (std::size_t i = 0; this->DisplayedPath.empty() && i < steps; ++i) {
    try {
      this->SetStep(ranks, (this->DisplayedNumber + i) % steps);
    } catch (const Error& error) {
      if (i + 1 == steps) {
        this->NoReadableStep = error.what();
        throw;
      }
    }
  }
}

void OpenedSeries::SetStep(Communicator& ranks, std::size_t step)
{
  const std::string& path = this->SeriesOfFiles.Steps[step].Path;
  this->SecondsOfPrepare = 0;
  if (path == this->DisplayedPath) {
    // All ranks have the same catalog, so if one rank throws, all ranks throw.
    this->Displayed->SetStep(ranks, this->SeriesOfFiles.Steps[step]);
    this->DisplayedNumber = step;
    return;
  }
  const Stopwatch watch;
  this->DisplayedPath.clear();
  this->Displayed.reset();
  this->Displayed = this->Recent.Open(ranks, path, this->ModeFor(path));
  this->Displayed->SetStep(ranks, this->SeriesOfFiles.Steps[step]);
  this->DisplayedPath = path;
  this->DisplayedNumber = step;
  this->NoReadableStep.clear();
  this->OpenSeconds += watch.Seconds();
}

bool OpenedSeries::Prepare(Communicator& ranks, int threads, const ProgressCallback& progress)
{
  const Stopwatch watch;
  const bool prepared = this->Displayed->Prepare(ranks, threads, progress);
  this->SecondsOfPrepare = watch.Seconds();
  if (!this->Displayed->Saved().Path.empty()) {
    this->RebuiltPaths.insert(this->DisplayedPath);
  }
  return prepared;
}

std::shared_ptr<OpenedStep> OpenedSeries::OpenForPrefetch(
    Communicator& ranks, std::size_t step, int threads, const ProgressCallback& progress)
{
  const Stopwatch watch;
  const std::string& path = this->SeriesOfFiles.Steps[step].Path;
  std::shared_ptr<OpenedStep> opened =
      path == this->DisplayedPath ? this->Displayed : this->Recent.Open(ranks, path, this->ModeFor(path));
  if (!opened->Prepare(ranks, threads, progress)) {
    return nullptr;
  }
  if (opened->Data().StepsInFile > 1) {
    // `opened` must be a copy, because the current step of the shared object may change.
    opened = std::make_shared<OpenedStep>(*opened);
  }
  opened->SetStep(ranks, this->SeriesOfFiles.Steps[step]);
  if (!opened->Saved().Path.empty()) {
    this->RebuiltPaths.insert(path);
  }
  this->OpenSeconds += watch.Seconds();
  return opened;
}

void OpenedSeries::Adopt(std::size_t step, std::shared_ptr<OpenedStep> opened)
{
  this->DisplayedPath = this->SeriesOfFiles.Steps[step].Path;
  this->DisplayedNumber = step;
  this->Displayed = std::move(opened);
  this->SecondsOfPrepare = 0;
}

/// Returns the mode for opening a step. The mode Rebuild applies once per step, not at each display.
IndexMode OpenedSeries::ModeFor(const std::string& path) const
{
  const bool rebuilt = this->Mode == IndexMode::Rebuild && this->RebuiltPaths.count(path) > 0;
  return rebuilt ? IndexMode::On : this->Mode;
}

std::string OpenedSeries::TakeIndexWarning()
{
  if (this->IndexWarned || this->Displayed->Warning().empty()) {
    return {};
  }
  this->IndexWarned = true;
  return this->Displayed->Warning();
}

std::string OpenedSeries::TakeMissingWarning()
{
  const std::string& lost = this->Displayed->MissingText();
  return lost.empty() || !this->ReportedMissing.insert(this->DisplayedPath).second
             ? std::string()
             : "Parts of the data that are not shown are damaged or missing: " + lost;
}

double OpenedSeries::TakeOpenSeconds()
{
  return std::exchange(this->OpenSeconds, 0);
}

}  // namespace patchio

// Growth of a series: steps that appear while the series is open, because a simulation still writes the
// series.

namespace patchio {

namespace {

constexpr const char* ReloadAdvice = "use File > Reload Files, or Reload() in scripts";

using StepKey = std::pair<std::string, int>;

StepKey KeyOf(const TimeStep& step)
{
  return {step.Path, step.StepInFile};
}

bool HaveSameHead(const TimeStep& a, const TimeStep& b)
{
  const bool sameTime = a.Time == b.Time || (std::isnan(a.Time) && std::isnan(b.Time));
  return sameTime && a.Step == b.Step && a.Date == b.Date;
}

}  // namespace

void OpenedSeries::RemoveIncompleteLastStep(Communicator& ranks, int threads)
{
  std::shared_ptr<OpenedStep> opened;
  if (this->SeriesOfFiles.Steps.size() > 1 &&
      !this->ReasonIncomplete(ranks, this->SeriesOfFiles.Steps.back(), threads, opened).empty()) {
    this->SeriesOfFiles.Steps.pop_back();
    this->TimesOfSteps = TimeValues(this->SeriesOfFiles);
  }
}

bool OpenedSeries::AddNewSteps(Communicator& ranks, int threads)
{
  if (this->IsOtherRun || !BoolOfRankZero(ranks, [this] { return this->Watched.Changed(); })) {
    return false;
  }
  std::optional<Series> now = this->Reopen(ranks);
  if (!now || !this->CheckContinuation(ranks, *now)) {
    return false;
  }
  if (this->MayGrow(this->DisplayedPath) &&
      !BoolOfRankZero(ranks, [this] { return this->Displayed->IsUnchanged(); })) {
    // The next read opens the step again.
    this->DisplayedPath.clear();
  }
  const std::vector<TimeStep> added = this->CompleteSteps(ranks, *now, threads);
  if (!added.empty()) {
    this->ReportLeftOut(now->Warnings);
    this->SeriesOfFiles.Notes = now->Notes;
    this->AddSteps(added);
    this->NoReadableStep.clear();
  }
  return !added.empty();
}

/// Returns whether a simulation may append further steps to the file.
bool OpenedSeries::MayGrow(const std::string& path) const
{
  const std::vector<std::string>& watched = this->SeriesOfFiles.Watched;
  return std::find(watched.begin(), watched.end(), path) != watched.end();
}

/// Opens the series again. Returns nothing if opening fails, for example while a simulation writes a file.
/// Collective: every rank of the communicator calls it.
std::optional<Series> OpenedSeries::Reopen(Communicator& ranks)
{
  std::map<std::string, const TimeStep*> known;
  for (const TimeStep& step : this->SeriesOfFiles.Steps) {
    const bool isNew = known.emplace(step.Path, &step).second;
    known[step.Path] = isNew && !this->MayGrow(step.Path) ? &step : nullptr;
  }
  SeriesOptions options = this->Options;
  options.LaterFiles = true;
  options.KnownHead = [&known](const std::string& path) {
    const auto found = known.find(path);
    return found != known.end() && found->second ? std::optional<TimeStep>(*found->second) : std::nullopt;
  };
  const std::int64_t begin = NowInNanoseconds();
  try {
    Series now = OpenSeries(ranks, this->FileNames, options, this->Mode);
    this->FailedAttempts = 0;
    this->SeriesOfFiles.Watched = now.Watched;
    if (ranks.Rank() == 0) {
      this->Watched.Watch(now.Watched, begin, IndexSettings().SettleSeconds);
    }
    return now;
  } catch (const Error& error) {
    // A file that is being replaced will be complete at the next attempt.
    if (++this->FailedAttempts == 2) {
      this->WarnOnce(fmt::format("Follow cannot look for new time steps at the moment. {}", error.what()));
    }
    return std::nullopt;
  }
}

/// Returns whether `now` continues the open series: the meaning of a listed time step must not change. Adds a
/// warning if not, or if a listed step no longer exists. Collective: every rank of the communicator calls it.
bool OpenedSeries::CheckContinuation(Communicator& ranks, const Series& now)
{
  std::map<StepKey, const TimeStep*> steps;
  for (const TimeStep& step : now.Steps) {
    steps[KeyOf(step)] = &step;
  }
  const TimeStep& first = this->SeriesOfFiles.Steps.front();
  // A run that starts again replaces its first step.
  const bool same = this->MayGrow(first.Path) || BoolOfRankZero(ranks, [this, &first] {
    const std::optional<FileState> state = StateOf(first.Path);
    return !state || !this->FirstFile || state->Print == this->FirstFile->Print;
  });
  const TimeStep* other = same ? nullptr : &first;
  const TimeStep* gone = nullptr;
  for (const TimeStep& step : this->SeriesOfFiles.Steps) {
    const auto found = steps.find(KeyOf(step));
    if (found == steps.end()) {
      gone = gone ? gone : &step;
    } else if (!HaveSameHead(*found->second, step)) {
      other = other ? other : &step;
    }
  }
  if (other) {
    this->IsOtherRun = true;
    this->WarnOnce(fmt::format(
        "{} has changed since the series was opened, so another run may have started. Follow adds no more "
        "time steps. To update the list, {}.",
        other->Path, ReloadAdvice));
  } else if (gone) {
    this->WarnOnce(fmt::format(
        "Step {} in {} no longer exists, but is still in the list of time steps. To update the list, {}.",
        gone->Step, gone->Path, ReloadAdvice));
  }
  return !other;
}

/// Returns the complete steps of `now` that are not known yet. Adds the reasons why other steps are left out
/// to now.Warnings. Collective: every rank of the communicator calls it.
std::vector<TimeStep> OpenedSeries::CompleteSteps(Communicator& ranks, Series& now, int threads)
{
  std::set<StepKey> known;
  for (const TimeStep& step : this->SeriesOfFiles.Steps) {
    known.insert(KeyOf(step));
  }
  std::vector<TimeStep> complete;
  std::shared_ptr<OpenedStep> opened;
  bool mayComplete = false;
  for (const TimeStep& step : now.Steps) {
    if (known.count(KeyOf(step)) > 0) {
      continue;
    }
    const std::string fault = this->ReasonIncomplete(ranks, step, threads, opened);
    if (fault.empty()) {
      complete.push_back(step);
    } else {
      now.Warnings.push_back(fmt::format("PatchIO skips step {}. {}", step.Step, fault));
      mayComplete = mayComplete || this->ReportedWarnings.count(now.Warnings.back()) == 0;
    }
  }
  if (mayComplete) {
    // The simulation still writes a step, perhaps to files that are not watched. A step that ReportLeftOut()
    // has reported probably stays incomplete.
    this->Watched.Forget();
  }
  return complete;
}

/// Returns the reason why a step is incomplete, or an empty text. Adds a complete step to Recent. `opened`:
/// cache of the step that was opened in the last call; may be null. Collective: every rank of the
/// communicator calls it.
std::string OpenedSeries::ReasonIncomplete(
    Communicator& ranks, const TimeStep& step, int threads, std::shared_ptr<OpenedStep>& opened)
{
  try {
    if (!opened || opened->Data().Path != step.Path) {
      opened = std::make_shared<OpenedStep>(ranks, step.Path, this->ModeFor(step.Path));
    }
    opened->SetStep(ranks, step);
    if (!opened->IsComplete(ranks, threads)) {
      return opened->MissingText().empty() ? step.Path + ": some values of the step do not exist yet."
                                           : opened->MissingText();
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
  std::vector<TimeStep>& steps = this->SeriesOfFiles.Steps;
  const StepKey shown = KeyOf(steps[this->DisplayedNumber]);
  steps.insert(steps.end(), added.begin(), added.end());
  SortSteps(this->SeriesOfFiles);
  const auto at = std::find_if(
      steps.begin(), steps.end(), [&shown](const TimeStep& step) { return KeyOf(step) == shown; });
  this->DisplayedNumber = static_cast<std::size_t>(at - steps.begin());
  this->TimesOfSteps = TimeValues(this->SeriesOfFiles);
}

/// Reports the steps that were left out in two successive calls, because such steps probably stay incomplete.
void OpenedSeries::ReportLeftOut(const std::vector<std::string>& texts)
{
  for (const std::string& text : texts) {
    if (std::find(this->LeftOut.begin(), this->LeftOut.end(), text) != this->LeftOut.end()) {
      this->WarnOnce(text);
    }
  }
  this->LeftOut = texts;
}

void OpenedSeries::WarnOnce(const std::string& text)
{
  if (this->ReportedWarnings.insert(text).second) {
    AppendText(this->GrowthWarning, text);
  }
}

}  // namespace patchio
