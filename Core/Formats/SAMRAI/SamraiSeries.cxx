// The time steps of dumps.visit, or of one summary.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/FindSteps.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Hdf5/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

namespace fs = std::filesystem;

namespace patchio::samrai {
namespace {

constexpr std::string_view Skipping = "Skipping a dump. ";

/// Returns whether the path is below the folder. Names in a list of dumps must not lead out of the folder of
/// the list.
bool IsBelow(const fs::path& folder, const fs::path& path)
{
  const fs::path relative = path.lexically_relative(folder.lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

/// Returns the paths in a list of dumps, such as dumps.visit, in the order of the list, without repetitions.
/// Adds warnings to `series` for paths outside the folder of the list.
std::vector<fs::path> ListedSummaries(const fs::path& list, Series& series)
{
  CheckRegularFile(list);
  std::ifstream file(list);
  std::vector<fs::path> paths;
  std::set<fs::path> seen;
  std::string line;
  while (std::getline(file, line) && paths.size() < 10'000'000) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!EndsWith(line, ".samrai")) {
      continue;
    }
    const fs::path path = (list.parent_path() / line).lexically_normal();
    if (!IsBelow(list.parent_path(), path)) {
      constexpr std::size_t most = 10;
      if (series.Warnings.size() < most) {
        series.Warnings.push_back(FileError(
            list, "names of dumps in its folder", "'" + PlainText(line) + "'", "PatchIO skips this dump")
                                      .what());
      }
      continue;
    }
    if (seen.insert(path).second) {
      paths.push_back(path);
    }
  }
  return paths;
}

/// Returns the paths of the summaries in all visit_dump.* folders of `directory`. The summaries need not
/// exist.
std::vector<fs::path> SummariesInFolder(const fs::path& directory, const fs::path& summaryName)
{
  std::vector<fs::path> paths = EntriesOf(directory, [](const fs::directory_entry& entry) {
    std::error_code ignored;
    return BeginsWith(entry.path().filename().string(), DumpPrefix) && entry.is_directory(ignored);
  });
  for (fs::path& path : paths) {
    path = (path / summaryName).lexically_normal();
  }
  return paths;
}

/// Returns notes on VisIt's expressions and on values for each material, which PatchIO does not show, if the
/// summary has such data. Throws Error when the file is damaged.
std::vector<std::string> NotesOnSkippedData(const std::string& summary)
{
  const hdf5::File file(summary);
  std::vector<std::string> notes;
  const std::string keys = "/visit_expressions/expression_keys";
  if (file.Has(keys)) {
    notes.push_back(fmt::format("PatchIO skips VisIt expressions: {}; use ParaView's Calculator for them",
        NameList(file.Strings(keys, -1))));
  }
  const std::string flags = "/BASIC_INFO/material_state_variable";
  std::vector<std::string> states;
  if (file.Has(flags)) {
    const std::vector<std::string> names = file.Strings("/BASIC_INFO/var_names", -1);
    const std::vector<int> hasStates = file.Ints(flags, static_cast<std::int64_t>(names.size()));
    for (std::size_t v = 0; v < names.size(); ++v) {
      if (hasStates[v] == 1) {
        states.push_back(names[v]);
      }
    }
  }
  if (!states.empty()) {
    notes.push_back(
        fmt::format("PatchIO skips values per material (material_state), and shows the values of whole "
                    "cells: {}",
            NameList(states)));
  }
  return notes;
}

/// Adds the notes on skipped data of the first dump; most other dumps have the same notes.
void AddNotes(Series& series)
{
  TimeStep& first = series.Steps.front();
  if (!first.HasNotes) {
    const std::string ignored = CatchError([&] {  // reading the step reports the fault of a summary
      first.Notes = NotesOnSkippedData(first.Path);
      first.HasNotes = true;
    });
  }
  series.Notes.insert(series.Notes.end(), first.Notes.begin(), first.Notes.end());
}

/// Adds the dump to the series. If the dump cannot be read, adds a warning instead, and adds the summary and
/// the folder of the dump to Series::Watched.
void AddDump(const fs::path& summary, const SeriesOptions& options, Series& series)
{
  if (!AddStep("dump", summary.string(), options, ReadSummaryHead, series)) {
    series.Watched.insert(series.Watched.end(), {summary.string(), summary.parent_path().string()});
  }
}

Series OpenDumpList(const fs::path& list, const SeriesOptions& options)
{
  Series series;
  const std::vector<fs::path> listed = ListedSummaries(list, series);
  const fs::path summaryName = listed.empty() ? SummaryName : listed[0].filename();
  series.Watched.push_back(list.string());
  for (const fs::path& summary : listed) {
    AddDump(summary, options, series);
  }
  if (!options.ListedOnly) {
    series.Watched.push_back(list.parent_path().string());
    // A restarted run overwrites the list, and lists only its own dumps.
    const std::set<fs::path> known(listed.begin(), listed.end());
    std::size_t before = series.Steps.size();
    for (const fs::path& summary : SummariesInFolder(list.parent_path(), summaryName)) {
      if (known.count(summary) == 0) {
        AddDump(summary, options, series);
      }
    }
    if (series.Steps.size() > before) {
      series.Notes.push_back(
          fmt::format("{} does not list {} of the dumps in its folder. PatchIO shows these dumps, too, "
                      "because a restarted run lists only its own dumps",
              list.string(), series.Steps.size() - before));
    }
  }
  if (series.Steps.empty() && series.Warnings.empty()) {
    throw FileError(list, "the names of dumps, one 'visit_dump.NNNNN/summary.samrai' per line", "no dumps",
        "Check whether the dumps were moved, or are still being written");
  }
  if (series.Steps.empty()) {
    const std::string& first = series.Warnings[0];
    throw Error(fmt::format("{}: PatchIO skips all dumps. {}", list.string(),
        first.substr(first.rfind(Skipping, 0) == 0 ? Skipping.size() : 0)));
  }
  SortSteps(series);
  AddNotes(series);
  return series;
}

}  // namespace

bool SamraiFormat::Claims(const std::string& path) const
{
  if (EndsWith(path, ".samrai") || fs::path(path).filename() == DumpListName) {
    return true;
  }
  if (!EndsWith(path, ".visit")) {
    return false;
  }
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) {
    return false;
  }
  // Other codes also name their list of files *.visit.
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return EndsWith(line, ".samrai");
}

bool SamraiFormat::SeemsBroken(const std::string& path) const
{
  std::error_code ignored;
  return EndsWith(path, ".visit") && fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == 0;
}

Series SamraiFormat::OpenSeries(const std::string& path, const SeriesOptions& options) const
{
  if (EndsWith(path, ".visit")) {
    return OpenDumpList(fs::absolute(path), options);
  }
  Series series;
  series.Steps.push_back(HeadOf(AbsolutePath(path), options, ReadSummaryHead));
  AddNotes(series);
  return series;
}

}  // namespace patchio::samrai
