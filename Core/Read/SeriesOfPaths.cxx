#include "Read/SeriesOfPaths.h"

#include "Base/Error.h"
#include "Base/RegularFile.h"
#include "Store/SeriesSidecar.h"
#include "Store/StepIndex.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>

namespace fs = std::filesystem;

namespace patchio {
namespace {

/// The steps behind one path, with the help of the sidecars.
Series OpenOne(const std::string& path, const SeriesOptions& options, ChannelMode mode)
{
  // Among many files with a step each, those that are known are not even looked at.
  if (const std::optional<TimeStep> known = options.Known ? options.Known(path) : std::nullopt) {
    Series single;
    single.Steps.push_back(*known);
    return single;
  }
  if (mode == ChannelMode::Off) {
    return FormatOf(path).OpenSeries(path, options);
  }
  // A series that cannot be saved is opened step by step the next time, which is no news for the user.
  KeptSeries kept = OpenWithSidecar(path, options, mode, ChannelSettings().SettleSeconds);
  if (!kept.Warning.empty()) {
    kept.Opened.Warnings.push_back(kept.Warning);
  }
  return kept.Opened;
}

/// Several paths of one series, as of plotfiles beside each other, bring the same texts.
void AddNew(const std::vector<std::string>& from, std::vector<std::string>& to)
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

/// A file name with a number at its end, or before its ending: run_0001.vtkhdf, post.ctl_2017022718.
struct NumberedName
{
  explicit NumberedName(const std::string& name)
  {
    constexpr const char* digits = "0123456789";
    const std::string stem = fs::path(name).stem().string();
    const bool before = !stem.empty() && stem.find_last_not_of(digits) + 1 < stem.size();
    const std::size_t end = before ? stem.size() : name.size();
    const std::size_t begin = name.find_last_not_of(digits, end - 1) + 1;
    this->Before = name.substr(0, begin);
    this->After = name.substr(end);
    if (begin < end && end - begin < 19) {
      this->Number = std::stoll(name.substr(begin, end - begin));
    }
  }

  std::string Before, After;
  std::optional<std::int64_t> Number;
};

/// Files of the same folder whose names have a higher number at the same place, in ascending order.
std::vector<std::string> LaterFiles(const std::string& path)
{
  const NumberedName mine(fs::path(path).filename().string());
  std::map<std::int64_t, std::string> later;
  // Each step must say by a code what went wrong: the increment of a range-for would throw.
  std::error_code fault, ignored;
  fs::directory_iterator entry(FolderOf(path), fault);
  while (mine.Number && !fault && entry != fs::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    const NumberedName other(name);
    if (other.Number > mine.Number && other.Before == mine.Before && other.After == mine.After &&
        entry->is_regular_file(ignored)) {
      later[*other.Number] = path.substr(0, path.rfind('/') + 1) + name;
    }
    entry.increment(fault);
  }
  std::vector<std::string> files;
  for (const auto& [number, file] : later) {
    files.push_back(file);
  }
  return files;
}

/// Series of several paths become one.
class SeriesJoiner
{
public:
  SeriesJoiner(const SeriesOptions& options, ChannelMode mode) : Options(options), Mode(mode) {}

  void Add(const std::string& path);
  /// Adds files beside the last one of `paths`; see SeriesOptions::LaterFiles.
  void AddLater(const std::vector<std::string>& paths);
  /// All steps in ascending order, each once.
  Series Joined();

private:
  struct Brought
  {
    TimeStep Step;
    const std::string* Path;  ///< that it was found by
  };
  using Run = std::vector<Brought>::iterator;

  void AddTexts(const Series& from);
  void Take(Run first, Run end);
  void NoteOverlap();

  const SeriesOptions& Options;
  const ChannelMode Mode;
  std::vector<Brought> Steps;  ///< in the order of the paths
  Series All;
  std::map<std::string, std::pair<std::size_t, std::size_t>>
      Warned;               ///< by text after the path: which warning, and of how many paths
  std::size_t Overlap = 0;  ///< steps that two paths have brought
  std::string OverlapExample;
};

/// A warning that many files have in common becomes one.
void SeriesJoiner::AddTexts(const Series& from)
{
  const std::string path = from.Steps.empty() ? std::string() : from.Steps.front().Path;
  for (const std::string& warning : from.Warnings) {
    const bool named = warning.rfind(path + ": ", 0) == 0;
    const auto [entry, isNew] = this->Warned.emplace(
        named ? warning.substr(path.size()) : warning, std::make_pair(this->All.Warnings.size(), 0));
    entry->second.second += named ? 1 : 0;
    if (isNew) {
      this->All.Warnings.push_back(warning);
    }
  }
  AddNew(from.Notes, this->All.Notes);
  AddNew(from.Watched, this->All.Watched);
}

void SeriesJoiner::Add(const std::string& path)
{
  Series one = OpenOne(path, this->Options, this->Mode);
  this->AddTexts(one);
  for (TimeStep& step : one.Steps) {
    this->Steps.push_back({std::move(step), &path});
  }
}

void SeriesJoiner::AddLater(const std::vector<std::string>& paths)
{
  const auto last = std::max_element(this->Steps.begin(), this->Steps.end(),
      [](const Brought& a, const Brought& b) { return a.Step.Step < b.Step.Step; });
  const std::string path = last->Step.Path, *const from = last->Path;
  std::int64_t highest = last->Step.Step;
  if (this->Steps.size() != paths.size() || std::find(paths.begin(), paths.end(), path) == paths.end()) {
    return;
  }
  for (const std::string& later : LaterFiles(path)) {
    try {
      const Series one = OpenOne(later, this->Options, this->Mode);
      if (one.Steps.size() == 1 && one.Steps[0].Path == later && one.Steps[0].Step > highest) {
        highest = one.Steps[0].Step;
        this->Steps.push_back({one.Steps[0], from});
        this->AddTexts(one);
      }
    } catch (const Error& error) {
      this->All.Warnings.push_back(fmt::format("Skipping a file. {}", error.what()));
      this->All.Watched.push_back(later);
    }
  }
  this->All.Watched.push_back(FolderOf(path));
}

/// Times of two runs would be shown in turn, as if they were one's.
void SeriesJoiner::NoteOverlap()
{
  if (this->Overlap > 0) {
    this->All.Warnings.push_back(
        fmt::format("The opened files have {} in common: {}. They are shown as one series, with this step of "
                    "each file in turn. If the files come from different runs, open them separately.",
            this->Overlap == 1 ? "one step" : fmt::format("{} steps", this->Overlap), this->OverlapExample));
  }
}

/// Steps of one number: of several paths, or the same step of a path that was named twice.
void SeriesJoiner::Take(Run first, Run end)
{
  std::set<std::pair<std::string, int>> seen;
  for (Run step = first; step != end; ++step) {
    if (end - first > 1 && !seen.emplace(step->Step.Path, step->Step.InFile).second) {
      continue;
    }
    if (*step->Path != *first->Path && this->Overlap++ == 0) {
      this->OverlapExample = fmt::format("step {}{} is in {} and in {}", step->Step.Step,
          step->Step.Date.empty() ? "" : " (" + step->Step.Date + ")", *first->Path, *step->Path);
    }
    this->All.Steps.push_back(std::move(step->Step));
  }
}

Series SeriesJoiner::Joined()
{
  std::stable_sort(this->Steps.begin(), this->Steps.end(),
      [](const Brought& a, const Brought& b) { return a.Step.Step < b.Step.Step; });
  for (Run first = this->Steps.begin(), end; first != this->Steps.end(); first = end) {
    end = std::find_if(
        first, this->Steps.end(), [&](const Brought& other) { return other.Step.Step != first->Step.Step; });
    this->Take(first, end);
  }
  for (const auto& [text, place] : this->Warned) {
    if (place.second > 1) {
      this->All.Warnings[place.first] += fmt::format(
          " The same applies to {} more {}.", place.second - 1, place.second == 2 ? "file" : "files");
    }
  }
  this->NoteOverlap();
  return std::move(this->All);
}

/// Steps of one series are of one format.
void CheckFormats(const std::vector<std::string>& paths)
{
  const Format& first = FormatOf(paths[0]);
  for (const std::string& path : paths) {
    const Format& format = FormatOf(path);
    if (&format != &first) {
      throw FileError(path,
          fmt::format(
              "a file of the format {}, as {}, because files that are opened together become one series",
              first.Name(), paths[0]),
          fmt::format("a file of the format {}", format.Name()),
          "Open files of different formats separately");
    }
  }
}

}  // namespace

Series OpenSeriesOfPaths(std::vector<std::string> paths, const SeriesOptions& options, ChannelMode mode)
{
  std::transform(paths.begin(), paths.end(), paths.begin(), TidyPath);
  if (paths.size() > 1 && !options.Known) {
    CheckFormats(paths);
  }
  SeriesJoiner joiner(options, mode);
  for (const std::string& path : paths) {
    joiner.Add(path);
  }
  if (options.LaterFiles) {
    joiner.AddLater(paths);
  }
  return joiner.Joined();
}

}  // namespace patchio
