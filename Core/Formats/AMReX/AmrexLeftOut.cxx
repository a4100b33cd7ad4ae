#include "Formats/AMReX/AmrexLeftOut.h"

#include "Formats/AMReX/AmrexHeader.h"
#include "Support/NameList.h"
#include "Support/PlainFile.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

namespace fs = std::filesystem;

namespace patchio::amrex {
namespace {

/// Names in a folder for which `wanted` holds, in ascending order; none where it cannot be read.
template <typename Wanted>
std::vector<std::string> NamesIn(const fs::path& folder, Wanted wanted)
{
  std::set<std::string> names;
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault); !fault && entry != fs::directory_iterator();
       entry.increment(fault)) {
    if (wanted(entry->path())) {
      names.insert(entry->path().filename().string());
    }
  }
  return {names.begin(), names.end()};
}

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
  return fmt::format("the coordinates are {}, shown on straight axes: {}",
      header.Coordinates == 1 ? "cylindrical" : "spherical", shown);
}

/// Codes with terrain, such as ERF, write how far each node is moved, and name that behind the levels.
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
  end.resize(file.ReadSome(file.Size() - bytes, end.data(), bytes));
  return end.find("amrexvec_nu_") != std::string::npos;
}

/// The folders of particles: their Header begins with "Version_Two_Dot_One_double" or the like.
bool HoldsParticles(const fs::path& folder)
{
  constexpr std::string_view begin = "Version_";
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "Header", ignored)) {
    return false;
  }
  std::string first(begin.size(), ' ');
  const std::string fault = CatchError(
      [&] { first.resize(PlainFile((folder / "Header").string()).ReadSome(0, first.data(), first.size())); });
  return fault.empty() && first == begin;
}

}  // namespace

std::vector<std::string> NotesOnLeftOut(const std::string& header)
{
  std::vector<std::string> notes;
  const std::string coordinates = NoteOnCoordinates(ReadPlotTop(header));
  if (!coordinates.empty()) {
    notes.push_back(coordinates);
  }
  if (IsMapped(header)) {
    notes.emplace_back("the grid is mapped (Nu_nd), but cells are shown at their unmapped positions");
  }
  const fs::path folder = fs::path(header).parent_path();
  constexpr std::string_view end = "_H";
  std::vector<std::string> raw = NamesIn(folder / "raw_fields" / "Level_0", [end](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  });
  std::for_each(raw.begin(), raw.end(), [end](std::string& name) { name.resize(name.size() - end.size()); });
  std::error_code ignored;
  if (!raw.empty() || fs::is_directory(folder / "raw_fields", ignored)) {
    notes.push_back(fmt::format("raw fields are skipped: {}", NameList(raw)));
  }
  const std::vector<std::string> particles = NamesIn(folder, HoldsParticles);
  if (!particles.empty()) {
    notes.push_back(
        fmt::format("particles are skipped: {}; use ParaView's AMReX/BoxLib Particles Reader for them",
            NameList(particles)));
  }
  return notes;
}

}  // namespace patchio::amrex
