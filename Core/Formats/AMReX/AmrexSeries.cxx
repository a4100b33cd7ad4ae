// The time steps of a plotfile: the plotfile and all others in the same folder whose names differ only in the
// digits at the end.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/AMReX/AmrexFormat.h"
#include "Formats/AMReX/AmrexText.h"
#include "Formats/FindSteps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

namespace fs = std::filesystem;

namespace patchio::amrex {
namespace {

constexpr const char* HeaderName = "Header";

/// Returns the Header for the path of a plotfile's folder or of the Header itself; empty if there is no
/// Header.
fs::path HeaderOf(const std::string& path)
{
  std::error_code ignored;
  fs::path file = fs::absolute(path, ignored).lexically_normal();
  if (fs::is_directory(file, ignored)) {
    file /= HeaderName;
  }
  return file.filename() == HeaderName && fs::is_regular_file(file, ignored) ? file : fs::path();
}

/// Returns the name without the digits at its end.
std::string StemOf(const std::string& name)
{
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

/// Returns the Headers of this plotfile and of all plotfiles in the same folder whose names differ only in
/// the digits at the end. `watched` receives the paths for Series::Watched.
std::vector<fs::path> HeadersOfSeries(const fs::path& header, std::vector<std::string>& watched)
{
  const fs::path folder = header.parent_path();
  const std::string name = folder.filename().string(), stem = StemOf(name);
  std::vector<fs::path> headers{header};
  if (stem.size() == name.size()) {
    return headers;  // without a number, there is no series
  }
  watched.push_back(folder.parent_path().string());
  const auto isAlike = [&](const fs::path& path) {
    const std::string other = path.filename().string();
    return other != name && other.size() > stem.size() && StemOf(other) == stem;
  };
  std::error_code ignored;
  for (const fs::path& path : EntriesOf(folder.parent_path(), isAlike)) {
    const bool plotfile =
        fs::is_regular_file(path / HeaderName, ignored) || fs::is_directory(path / "Level_0", ignored);
    plotfile ? headers.push_back(path / HeaderName) : watched.push_back(path.string());
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

// ---- notes on data that PatchIO does not show ----

/// Returns the names of a folder's entries for which `filter` returns true, in ascending order.
std::vector<std::string> NamesIn(const fs::path& folder, bool (*filter)(const fs::path&))
{
  std::vector<std::string> names;
  for (const fs::path& path : EntriesOf(folder, filter)) {
    names.push_back(path.filename().string());
  }
  return names;
}

/// Returns a note on coordinates that are not Cartesian; empty for Cartesian coordinates.
std::string NoteOnCoordinates(const PlotHeader& header)
{
  constexpr std::array<std::array<const char*, 3>, 2> names{{{"r", "z", ""}, {"r", "theta", "phi"}}};
  if (header.Coordinates != 1 && header.Coordinates != 2) {
    return {};
  }
  std::string shown;
  const int axes = header.Coordinates == 1 ? 2 : header.Dimension;
  for (int axis = 0; axis < axes; ++axis) {
    shown +=
        fmt::format("{}{} as {}", axis == 0 ? "" : ", ", names[header.Coordinates - 1][axis], "xyz"[axis]);
  }
  return fmt::format("the coordinates are {}, and PatchIO shows them on straight axes: {}",
      header.Coordinates == 1 ? "cylindrical" : "spherical", shown);
}

/// Returns whether the grid is mapped. Codes with terrain, such as ERF, write the displacement of each node,
/// and the Header lists these data below the levels. Throws Error if the Header cannot be read.
bool IsMapped(const std::string& header)
{
  std::error_code ignored;
  if (fs::is_regular_file(fs::path(header).parent_path() / "Level_0" / "Nu_nd_H", ignored)) {
    return true;
  }
  constexpr std::uint64_t most = 4096;
  const PlainFile file(header);
  const std::uint64_t bytes = std::min<std::uint64_t>(file.Size(), most);
  std::string end(bytes, ' ');
  end.resize(file.ReadUpTo(file.Size() - bytes, end.data(), bytes));
  return end.find("amrexvec_nu_") != std::string::npos;
}

/// Returns whether the folder contains particles: its Header begins with "Version_Two_Dot_One_double" or
/// similar.
bool HasParticles(const fs::path& folder)
{
  constexpr std::string_view begin = "Version_";
  std::string first;  // empty if there is no Header
  const std::string ignored =
      CatchError([&] { first = FirstBytes((folder / "Header").string(), begin.size()); });
  return first == begin;
}

/// Returns notes on coordinates that are not Cartesian, a mapped grid, raw fields and particles. Plotfiles
/// with equal contents have equal notes. Reads the beginning and the end of the Header, the names in its
/// folder, and the first bytes of the Headers of particles. Throws Error when the Header is damaged.
std::vector<std::string> NotesOnSkippedData(const std::string& header)
{
  std::vector<std::string> notes;
  const std::string coordinates = NoteOnCoordinates(ReadPlotTop(header));
  if (!coordinates.empty()) {
    notes.push_back(coordinates);
  }
  if (IsMapped(header)) {
    notes.emplace_back("the grid is mapped (Nu_nd), but PatchIO shows cells at their unmapped positions");
  }
  const fs::path folder = fs::path(header).parent_path();
  std::vector<std::string> raw = NamesIn(folder / "raw_fields" / "Level_0", [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.size() > 2 && EndsWith(name, "_H");
  });
  std::for_each(raw.begin(), raw.end(), [](std::string& name) { name.resize(name.size() - 2); });
  std::error_code ignored;
  if (!raw.empty() || fs::is_directory(folder / "raw_fields", ignored)) {
    notes.push_back(fmt::format("PatchIO skips raw fields: {}", NameList(raw)));
  }
  const std::vector<std::string> particles = NamesIn(folder, HasParticles);
  if (!particles.empty()) {
    notes.push_back(
        fmt::format("PatchIO skips particles: {}; use ParaView's AMReX/BoxLib Particles Reader for them",
            NameList(particles)));
  }
  return notes;
}

/// Adds notes on data that PatchIO does not show, each note once. `headers`: Headers of the plotfiles.
void AddNotes(const std::set<std::string>& headers, Series& series)
{
  for (const std::string& header : headers) {
    const std::string ignored = CatchError([&] {  // reading the step reports the fault of a Header
      for (const std::string& note : NotesOnSkippedData(header)) {
        if (std::find(series.Notes.begin(), series.Notes.end(), note) == series.Notes.end()) {
          series.Notes.push_back(note);
        }
      }
    });
  }
}

}  // namespace

/// Recognizes a plotfile or checkpoint by the first line of its Header.
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

/// Recognizes a broken plotfile by its folder Level_0.
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
        "Check the name, and whether the whole plotfile was copied");
  }
  Series series;
  if (options.ListedOnly) {
    series.Steps.push_back(HeadOf(header.string(), options, ReadPlotHead));
    AddNotes({header.string()}, series);
    return series;
  }
  const std::vector<fs::path> headers = HeadersOfSeries(header, series.Watched);
  for (const fs::path& one : headers) {
    if (!AddStep("plotfile", one.string(), options, ReadPlotHead, series)) {
      series.Watched.push_back(one.string());
    }
  }
  if (series.Steps.empty()) {
    throw Error(headers.size() == 1 ? series.Warnings[0].substr(series.Warnings[0].find(". ") + 2)
                                    : fmt::format("All plotfiles are unreadable. {}", series.Warnings[0]));
  }
  SortSteps(series);
  AddNotes({header.string(), series.Steps.back().Path}, series);
  return series;
}

}  // namespace patchio::amrex
