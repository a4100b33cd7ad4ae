#include "Session/SeriesOfPaths.h"

#include "MetadataChannel/SeriesSidecar.h"
#include "MetadataChannel/StepIndex.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace patchio {
namespace {

/// The steps behind one path, with the help of the sidecars.
Series OpenOne(const std::string& path, const SeriesOptions& options, ChannelMode mode)
{
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

/// Series of several paths become one.
class SeriesJoiner
{
public:
  SeriesJoiner(const SeriesOptions& options, ChannelMode mode) : Options(options), Mode(mode) {}

  void Add(const std::string& path);
  /// All steps in ascending order, each once.
  Series Joined();

private:
  void NoteOverlap();

  const SeriesOptions& Options;
  const ChannelMode Mode;
  Series All;
  std::set<std::pair<std::string, int>> Seen;      ///< by TimeStep::Path and TimeStep::InFile
  std::map<std::int64_t, std::string> PathOfStep;  ///< which of the paths has brought it, by TimeStep::Step
  std::size_t Overlap = 0;                         ///< steps that two paths have brought
  std::string OverlapExample;
};

void SeriesJoiner::Add(const std::string& path)
{
  const Series one = OpenOne(path, this->Options, this->Mode);
  for (const TimeStep& step : one.Steps) {
    if (!this->Seen.emplace(step.Path, step.InFile).second) {
      continue;
    }
    this->All.Steps.push_back(step);
    const std::string& other = this->PathOfStep.emplace(step.Step, path).first->second;
    if (other != path && this->Overlap++ == 0) {
      this->OverlapExample = fmt::format("step {}{} is in {} and in {}", step.Step,
          step.Date.empty() ? "" : " (" + step.Date + ")", other, path);
    }
  }
  AddNew(one.Warnings, this->All.Warnings);
  AddNew(one.Notes, this->All.Notes);
}

/// Times of two runs would be shown in turn, as if they were one's.
void SeriesJoiner::NoteOverlap()
{
  if (this->Overlap > 0) {
    this->All.Warnings.push_back(fmt::format(
        "Files that were opened together have {} in common: {}. They are shown as one series, the "
        "same step of each file in turn; open files of different runs one by one.",
        this->Overlap == 1 ? "a step" : fmt::format("{} steps", this->Overlap), this->OverlapExample));
  }
}

Series SeriesJoiner::Joined()
{
  this->NoteOverlap();
  std::stable_sort(this->All.Steps.begin(), this->All.Steps.end(),
      [](const TimeStep& a, const TimeStep& b) { return a.Step < b.Step; });
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
          fmt::format("a file of the format {}, like {}, as files that are opened together become one series",
              first.Name(), paths[0]),
          fmt::format("one of the format {}", format.Name()), "Open files of different formats one by one");
    }
  }
}

}  // namespace

Series OpenSeriesOfPaths(std::vector<std::string> paths, const SeriesOptions& options, ChannelMode mode)
{
  std::transform(paths.begin(), paths.end(), paths.begin(), TidyPath);
  if (paths.size() > 1) {
    CheckFormats(paths);
  }
  SeriesJoiner joiner(options, mode);
  for (const std::string& path : paths) {
    joiner.Add(path);
  }
  return joiner.Joined();
}

}  // namespace patchio
