// From the name of a plotfile to the time steps: it and all beside it whose names differ in the digits at the
// end only.
#include "Formats/AMReX/AmrexFormat.h"
#include "Formats/AMReX/AmrexHeader.h"
#include "Formats/AMReX/AmrexLeftOut.h"
#include "Formats/AMReX/AmrexText.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace fs = std::filesystem;

namespace patchio::amrex {
namespace {

constexpr const char* HeaderName = "Header";

/// The Header behind the name of a folder or of itself; empty where there is none.
fs::path HeaderOf(const std::string& path)
{
  std::error_code ignored;
  fs::path file = fs::absolute(path, ignored).lexically_normal();
  if (fs::is_directory(file, ignored)) {
    file /= HeaderName;
  }
  return file.filename() == HeaderName && fs::is_regular_file(file, ignored) ? file : fs::path();
}

/// A name without the digits at its end.
std::string StemOf(const std::string& name)
{
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

/// Headers of the plotfiles whose folders are named like this one, and its own. watched: see Series.
std::vector<fs::path> HeadersBeside(const fs::path& header, std::vector<std::string>& watched)
{
  const fs::path folder = header.parent_path();
  const std::string name = folder.filename().string(), stem = StemOf(name);
  std::vector<fs::path> headers{header};
  if (stem.size() == name.size()) {
    return headers;  // no number at its end: no series
  }
  watched.push_back(folder.parent_path().string());
  // Each step must say by a code what went wrong: the increment of a range-for would throw.
  std::error_code fault, ignored;
  fs::directory_iterator entry(folder.parent_path(), fault);
  while (!fault && entry != fs::directory_iterator()) {
    const std::string other = entry->path().filename().string();
    if (other != name && other.size() > stem.size() && StemOf(other) == stem) {
      const bool plotfile = fs::is_regular_file(entry->path() / HeaderName, ignored) ||
                            fs::is_directory(entry->path() / "Level_0", ignored);
      plotfile ? headers.push_back(entry->path() / HeaderName) : watched.push_back(entry->path().string());
    }
    entry.increment(fault);
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

TimeStep HeadOf(const std::string& header, const SeriesOptions& options)
{
  const auto known = options.Known ? options.Known(header) : std::nullopt;
  return known ? *known : ReadPlotHead(header);
}

/// Adds what these plotfiles have that is not shown. Most have the same.
void AddNotes(const std::set<std::string>& headers, Series& series)
{
  for (const std::string& header : headers) {
    const std::string ignored = CatchError([&] {  // reading the step says what is wrong with a Header
      for (const std::string& note : NotesOnLeftOut(header)) {
        if (std::find(series.Notes.begin(), series.Notes.end(), note) == series.Notes.end()) {
          series.Notes.push_back(note);
        }
      }
    });
  }
}

}  // namespace

/// By the first line of the Header.
bool AmrexFormat::Claims(const std::string& path) const
{
  const fs::path header = HeaderOf(path);
  if (header.empty()) {
    return false;
  }
  try {
    TextLines lines(header.string());
    const std::string_view first = lines.Next("a version");
    return IsPlotVersion(first) || IsCheckpointVersion(first);
  } catch (const Error&) {
    return false;  // cannot be read, or has no lines
  }
}

/// By the folder of level 0 alone, which lies beside the Header.
bool AmrexFormat::SeemsBroken(const std::string& path) const
{
  std::error_code ignored;
  const fs::path file = fs::absolute(path, ignored).lexically_normal();
  const bool header = file.filename() == HeaderName && fs::is_regular_file(file, ignored);
  return fs::is_directory((header ? file.parent_path() : file) / "Level_0", ignored);
}

Series AmrexFormat::OpenSeries(const std::string& path, const SeriesOptions& options) const
{
  const fs::path header = HeaderOf(path);
  if (header.empty()) {
    throw FileError(path, "the folder of a plotfile, or its Header", "neither",
        "Check the name, and that the whole plotfile was copied");
  }
  Series series;
  if (options.ListedOnly) {
    series.Steps.push_back(HeadOf(header.string(), options));
    AddNotes({header.string()}, series);
    return series;
  }
  const std::vector<fs::path> headers = HeadersBeside(header, series.Watched);
  for (const fs::path& one : headers) {
    try {
      series.Steps.push_back(HeadOf(one.string(), options));
    } catch (const Error& error) {
      series.Warnings.push_back(fmt::format("Skipping a plotfile. {}", error.what()));
      series.Watched.push_back(one.string());
    }
  }
  if (series.Steps.empty()) {
    throw Error(headers.size() == 1 ? series.Warnings[0].substr(series.Warnings[0].find(". ") + 2)
                                    : fmt::format("All plotfiles are unreadable. {}", series.Warnings[0]));
  }
  std::stable_sort(series.Steps.begin(), series.Steps.end(),
      [](const TimeStep& a, const TimeStep& b) { return a.Step < b.Step; });
  AddNotes({header.string(), series.Steps.back().Path}, series);
  return series;
}

}  // namespace patchio::amrex
