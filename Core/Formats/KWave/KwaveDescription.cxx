#include "Formats/KWave/KwaveFile.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace patchio::kwave {
namespace {

enum class MaskType
{
  Index = 0,   ///< a list of grid points
  Corners = 1  ///< cuboids
};

/// A cuboid of grid points in a mask.
struct Cuboid
{
  std::array<std::int64_t, 3> Lower{}, Upper{};  ///< from 1, inclusive

  std::int64_t Width(int axis) const { return this->Upper[axis] - this->Lower[axis] + 1; }
  bool operator==(const Cuboid& other) const
  {
    return this->Lower == other.Lower && this->Upper == other.Upper;
  }
};

std::array<std::int64_t, 3> WidthsOf(const Cuboid& cuboid)
{
  return {cuboid.Width(0), cuboid.Width(1), cuboid.Width(2)};
}

/// The properties that a mask must have to match the results.
struct MaskRequirements
{
  MaskType Type = MaskType::Index;
  std::array<std::int64_t, 3> Dims{};  ///< grid points of the domain
  std::uint64_t Points = 0;            ///< length of the list, for Index; 0: any
  /// Widths of the cuboids, in values along x, y, z, for Corners; empty: any.
  std::vector<std::array<std::int64_t, 3>> Cuboids;
};

/// A sensor mask: a list of points, or cuboids.
struct Mask
{
  std::string File;  ///< name of a file in the same folder; empty: the file itself
  std::uint64_t Points = 0;
  std::vector<Cuboid> Cuboids;
};

constexpr const char* IndexName = "sensor_mask_index";
constexpr const char* CornersName = "sensor_mask_corners";
constexpr std::uint64_t MostCuboids = 100'000;
constexpr std::uint64_t MostPoints = (std::uint64_t(1) << 30) - 1;
constexpr std::size_t MostFiles = 256;

/// Returns the cuboids of a mask. Throws Error if a cuboid is not inside the domain.
std::vector<Cuboid> ReadCuboids(const KwaveFile& file, const MaskRequirements& requirements)
{
  const std::vector<std::int64_t> corners = file.Integers(CornersName, 6 * MostCuboids);
  std::vector<Cuboid> cuboids(corners.size() / 6);
  for (std::size_t c = 0; c < cuboids.size(); ++c) {
    for (int axis = 0; axis < 3; ++axis) {
      cuboids[c].Lower[axis] = corners[6 * c + axis];
      cuboids[c].Upper[axis] = corners[6 * c + 3 + axis];
      const bool inside = cuboids[c].Lower[axis] >= 1 && cuboids[c].Lower[axis] <= cuboids[c].Upper[axis] &&
                          cuboids[c].Upper[axis] <= requirements.Dims[axis];
      if (!inside) {
        throw FileError(file.Path(), fmt::format("cuboid {} of '{}' inside the domain", c + 1, CornersName),
            fmt::format("{} to {} of {} points along axis {}", cuboids[c].Lower[axis], cuboids[c].Upper[axis],
                requirements.Dims[axis], axis + 1),
            "The file is damaged");
      }
    }
  }
  return cuboids;
}

/// Returns whether the cuboids have the required widths.
bool MatchesRequirements(const std::vector<Cuboid>& cuboids, const MaskRequirements& requirements)
{
  const auto alike = [](const Cuboid& cuboid, const std::array<std::int64_t, 3>& widths) {
    return WidthsOf(cuboid) == widths;
  };
  return requirements.Cuboids.empty() || std::equal(cuboids.begin(), cuboids.end(),
                                             requirements.Cuboids.begin(), requirements.Cuboids.end(), alike);
}

/// Returns whether the names match like those of an input and its output, such as "out_2.h5" and "in_2.h5".
bool HaveMatchingNames(const std::string& output, const std::string& other)
{
  const std::pair<const char*, const char*> words[] = {
      {"output", "input"}, {"out", "in"}, {"Output", "Input"}};
  for (const auto& [from, to] : words) {
    const std::size_t at = output.find(from);
    if (at != std::string::npos &&
        output.substr(0, at) + to + output.substr(at + std::string(from).size()) == other) {
      return true;
    }
  }
  return false;
}

/// Returns the names of the other HDF5 files in the folder, files with matching names first.
std::vector<std::string> OtherFilesInFolder(const fs::path& path)
{
  std::vector<std::string> names;
  const std::string own = path.filename().string();
  const auto isOther = [&](const fs::directory_entry& entry) {
    std::error_code ignored;
    const std::string ending = entry.path().extension().string();
    return (ending == ".h5" || ending == ".hdf5") && entry.path().filename() != own &&
           entry.is_regular_file(ignored);
  };
  for (const fs::path& other : EntriesOf(path.parent_path(), isOther)) {
    names.push_back(other.filename().string());
  }
  std::stable_partition(
      names.begin(), names.end(), [&](const std::string& n) { return HaveMatchingNames(own, n); });
  return names;
}

/// Returns whether the lists of points in two files are equal. Compares at most MostPoints points, because
/// longer lists are refused.
bool HaveSamePoints(const fs::path& folder, const Mask& a, const Mask& b)
{
  if (a.Points != b.Points || a.Points == 0) {
    return a.Points == b.Points;
  }
  const KwaveFile fileA((folder / a.File).string()), fileB((folder / b.File).string());
  std::uint64_t atOnce = std::uint64_t(1) << 22;  // or one chunk, because Range() decodes whole chunks
  for (const KwaveFile* file : {&fileA, &fileB}) {
    const std::vector<std::uint64_t> chunk = file->InfoOf(IndexName).Chunks;
    atOnce = std::max(atOnce,
        std::accumulate(chunk.begin(), chunk.end(), std::uint64_t(1), std::multiplies<std::uint64_t>()));
  }
  const std::uint64_t points = std::min(a.Points, MostPoints);
  for (std::uint64_t first = 0; first < points; first += atOnce) {
    const std::uint64_t count = std::min(atOnce, points - first);
    if (fileA.Range<std::int64_t>(IndexName, first, count) !=
        fileB.Range<std::int64_t>(IndexName, first, count)) {
      return false;
    }
  }
  return true;
}

/// Returns the mask in a file, or an empty list if the file has no matching mask. Throws Error when the mask
/// is invalid.
std::vector<Mask> MaskFromFile(const KwaveFile& file, const MaskRequirements& requirements)
{
  if (requirements.Type == MaskType::Corners) {
    if (!file.Has(CornersName)) {
      return {};
    }
    Mask mask;
    mask.Cuboids = ReadCuboids(file, requirements);
    return MatchesRequirements(mask.Cuboids, requirements) ? std::vector<Mask>{mask} : std::vector<Mask>();
  }
  Mask mask;
  mask.Points = file.InfoOf(IndexName).Values;
  const bool fits = mask.Points > 0 && (requirements.Points == 0 || mask.Points == requirements.Points);
  return fits ? std::vector<Mask>{mask} : std::vector<Mask>();
}

/// Returns the mask of an output that lacks a mask, from an input file (or another output) in the same
/// folder. Tries at most MostFiles files, and ignores others if a file with a matching name has the mask.
/// Returns an empty list if no mask matches. Throws Error when different masks match.
std::vector<Mask> MaskFromFolder(const std::string& path, const MaskRequirements& requirements)
{
  const fs::path folder = fs::path(path).parent_path();
  const std::string own = fs::path(path).filename().string();
  std::vector<Mask> found;
  std::size_t looked = 0;
  for (const std::string& name : OtherFilesInFolder(path)) {
    if (++looked > MostFiles ||
        (!found.empty() && HaveMatchingNames(own, found[0].File) && !HaveMatchingNames(own, name))) {
      break;
    }
    const std::string other = (folder / name).string();
    const FileType type = TypeOfFile(other);
    if (type != FileType::Input && type != FileType::Output) {
      continue;
    }
    try {
      const KwaveFile file(other);
      if (file.Count("Nx") != requirements.Dims[0] || file.Count("Ny") != requirements.Dims[1] ||
          file.Count("Nz") != requirements.Dims[2]) {
        continue;
      }
      for (Mask& mask : MaskFromFile(file, requirements)) {
        mask.File = name;
        found.push_back(mask);
      }
    } catch (const Error&) {
      // An unreadable file cannot be the input file.
    }
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (!(found[i].Cuboids == found[0].Cuboids) || !HaveSamePoints(folder, found[i], found[0])) {
      throw FileError(path, "the sensor mask, in the file or in one input file in the same folder",
          fmt::format("different masks in {} and {}", found[0].File, found[i].File),
          "Keep only the input file of this run in the folder, or name it like the output file ('in' for "
          "'out')");
    }
  }
  found.resize(std::min<std::size_t>(found.size(), 1));
  return found;
}

/// Reads the numbers of grid points, the spacings and the time step, and adds notes on unusual grids. Throws
/// Error for invalid numbers.
void ReadDomain(const KwaveFile& file, KwaveDescription& to)
{
  const char* const counts[] = {"Nx", "Ny", "Nz"};
  const char* const spacings[] = {"dx", "dy", "dz"};
  for (int axis = 0; axis < 3; ++axis) {
    to.Dims[axis] = file.Count(counts[axis]);
    const bool needed = axis == 0 || to.Dims[axis] > 1;
    to.Spacing[axis] = needed ? file.Double(spacings[axis]) : file.NumberOr(spacings[axis], to.Spacing[0]);
    if (!needed && !(to.Spacing[axis] > 0)) {
      to.Spacing[axis] = to.Spacing[0];
    }
    if (!(to.Spacing[axis] > 0) || !std::isfinite(to.Spacing[axis])) {
      throw FileError(to.Path, fmt::format("a positive grid spacing in '{}'", spacings[axis]),
          fmt::format("{}", to.Spacing[axis]), "The file is damaged");
    }
    // k-Wave's grid is centred: point i, from 0, is at (i - floor(N/2)) d. Cells are centred at the points.
    to.Origin[axis] = -(static_cast<double>(to.Dims[axis] / 2) + 0.5) * to.Spacing[axis];
  }
  constexpr double mostPoints = 1e13;
  const double points =
      static_cast<double>(to.Dims[0]) * static_cast<double>(to.Dims[1]) * static_cast<double>(to.Dims[2]);
  if (points > mostPoints) {
    throw FileError(to.Path, "a domain of at most 10^13 grid points", fmt::format("{:.3g}", points),
        "The file is damaged");
  }
  if (file.NumberOr("axisymmetric_flag", 0) != 0) {
    to.Origin[1] = -0.5 * to.Spacing[1];
    to.Notes.emplace_back("the run is axisymmetric: y is the distance from the axis");
  }
  if (file.NumberOr("nonuniform_grid_flag", 0) != 0) {
    to.Warnings.push_back(to.Path + ": the grid is stretched, but PatchIO shows it with equal spacing.");
  }
  to.TimeStep = file.NumberOr("dt", 0);
  if (!std::isfinite(to.TimeStep)) {
    to.TimeStep = 0;
  }
}

/// Reads the times of the steps from a file that PatchIO has written. Times need not be multiples of dt. If
/// the times are invalid, adds a note instead.
void ReadTimes(const KwaveFile& file, KwaveDescription& to)
{
  const DatasetInfo info = file.InfoOf(TimesName);
  const auto steps = static_cast<std::uint64_t>(to.Steps);
  if (steps == 0 || info.Dims.empty()) {
    return;
  }
  if (!info.IsNumeric || info.Values < steps) {
    to.Notes.push_back(fmt::format(
        "'{}' does not have a number for each of {} steps, so PatchIO computes the times from Nt and dt",
        TimesName, steps));
    return;
  }
  to.Times = file.Range<double>(TimesName, 0, steps);
  if (!std::all_of(to.Times.begin(), to.Times.end(), [](double time) { return std::isfinite(time); })) {
    to.Notes.push_back(fmt::format(
        "'{}' has a time that is not finite, so PatchIO computes the times from Nt and dt", TimesName));
    to.Times.clear();
  }
}

/// Returns the number of values along x, y and z of a data set with three axes or more.
std::array<std::int64_t, 3> WidthsOf(const DatasetInfo& info)
{
  const std::uint64_t* const z = info.Dims.data() + info.Dims.size() - 3;
  return {static_cast<std::int64_t>(z[2]), static_cast<std::int64_t>(z[1]), static_cast<std::int64_t>(z[0])};
}

/// Raises PlanesPerCut of a region to the length of the data set's chunks along the axis `axis` of the data
/// set, so that cuts do not divide the longest chunks of the region.
void AlignCutsToChunks(GridRegion& region, const DatasetInfo& info, std::size_t axis)
{
  if (!info.Chunks.empty()) {
    region.PlanesPerCut = std::max(region.PlanesPerCut, static_cast<std::int64_t>(info.Chunks[axis]));
  }
}

/// Reads the description of a file.
class Reader
{
public:
  explicit Reader(const std::string& path) : File(path) { this->Result.Path = path; }

  KwaveDescription Read()
  {
    this->IsOutput = this->File.Attribute("file_type") != "input";
    this->IsFromPatchIO = this->File.Has(TimesName);
    ReadDomain(this->File, this->Result);
    this->ReadRoot();
    this->FindSensor();
    this->AddDomain();
    this->AddSensor();
    this->AddSources();
    this->ReadSteps();
    this->AddNotes();
    this->CheckNotEmpty();
    return std::move(this->Result);
  }

private:
  /// A data set of the sensor, or a group of data sets.
  struct SensorItem
  {
    std::string Name;
    DatasetInfo Info;  ///< description of the data set, or of the first one of the group
    std::map<std::int64_t, DatasetInfo> Datasets;  ///< data sets of a group, by number
  };

  void ReadRoot();
  void ClassifyDataset(const std::string& name);
  void ClassifyGroup(const std::string& name);
  void FindSensor();
  MaskRequirements RequirementsOfData() const;
  void AddDomain();
  void AddSensor();
  void AddPoints();
  void AddCuboids();
  void AddSources();
  void AddPointLevel(const std::string& level, std::uint64_t points, const std::string& positions);
  bool CheckSteps(const std::string& name, std::uint64_t steps);
  void ReadSteps();
  void AddNotes();
  void CheckNotEmpty() const;
  bool HasDomainShape(const DatasetInfo& info) const;
  std::uint64_t SensorPoints(const DatasetInfo& info) const
  {
    return info.Dims.size() == 3 ? info.Dims[2] : 0;
  }

  KwaveFile File;
  KwaveDescription Result;
  bool IsOutput = true;
  bool IsFromPatchIO = false;  ///< PatchIO has written the file
  bool HasSensor = false;
  MaskType Type = MaskType::Index;
  std::vector<std::pair<std::string, DatasetInfo>> DomainItems;
  std::vector<SensorItem> SensorItems;
  std::vector<Mask> Sensor;                                           ///< none or one mask
  std::vector<std::string> ComplexNames, UnknownNames, DamagedNames;  ///< names of skipped data sets
  std::uint64_t SampledSteps = 0;  ///< number of sampled steps in the file; 0: none
};

bool Reader::HasDomainShape(const DatasetInfo& info) const
{
  const auto& n = this->Result.Dims;
  const std::vector<std::uint64_t> wanted{
      static_cast<std::uint64_t>(n[2]), static_cast<std::uint64_t>(n[1]), static_cast<std::uint64_t>(n[0])};
  return info.Dims == wanted && info.Values > 1;
}

void Reader::ReadRoot()
{
  this->HasSensor = this->File.Has("sensor_mask_type");
  if (this->HasSensor) {
    const double type = this->File.Double("sensor_mask_type");
    if (type != 0 && type != 1) {
      throw FileError(this->Result.Path, "0 (index) or 1 (corners) in 'sensor_mask_type'",
          fmt::format("{}", type), "The file is damaged");
    }
    this->Type = type == 0 ? MaskType::Index : MaskType::Corners;
  } else if (this->File.Has("sensor_mask_index")) {
    this->HasSensor = true;  // files of version 1.0
  }
  for (const std::string& name : this->File.Names("/")) {
    if (this->File.IsGroup(name)) {
      this->ClassifyGroup(name);
    } else {
      this->ClassifyDataset(name);
    }
  }
}

/// Determines the meaning of a data set of the root.
void Reader::ClassifyDataset(const std::string& name)
{
  const DatasetInfo info = this->File.InfoOf(name);
  // In a file from PatchIO, all data sets apart from the header belong to the sensor, even single values.
  const bool sampled = IsOfSensor(name) || (this->IsFromPatchIO && !IsHeader(name));
  if (IsSetting(name) || info.Values < (sampled ? 1 : 2)) {
    return;
  }
  if (info.IsComplex) {
    this->ComplexNames.push_back(name);
  } else if (!info.IsNumeric || info.Dims.size() != 3) {
    this->UnknownNames.push_back(name);
  } else if (this->HasSensor && this->IsOutput && !IsOfDomain(name) &&
             (sampled || !this->HasDomainShape(info)) && this->Type == MaskType::Index && info.Dims[0] == 1) {
    this->SensorItems.push_back({name, info, {}});
  } else if (this->HasDomainShape(info)) {
    this->DomainItems.emplace_back(name, info);
  } else if (info.Dims[0] * info.Dims[1] > 1 && info.Dims[1] * info.Dims[2] > 1 &&
             info.Dims[0] * info.Dims[2] > 1) {
    this->UnknownNames.push_back(name);  // vectors along an axis fail the condition: no note mentions them
  }
}

/// Determines the meaning of a group. A group may hold the data sets "1", "2", ... of the cuboids.
void Reader::ClassifyGroup(const std::string& name)
{
  SensorItem item{name, {}, {}};
  for (const std::string& dataset : this->File.Names(name)) {
    const auto number = ParseNumber<std::int64_t>(dataset);
    if (!number || *number < 1 || item.Datasets.size() >= MostCuboids) {
      continue;
    }
    const DatasetInfo info = this->File.InfoOf(name + "/" + dataset);
    if (info.IsComplex) {
      this->ComplexNames.push_back(name);
      return;
    }
    if (info.IsNumeric && (info.Dims.size() == 3 || info.Dims.size() == 4)) {
      item.Datasets[*number] = info;
    }
  }
  if (item.Datasets.empty() || !this->HasSensor || this->Type != MaskType::Corners) {
    this->UnknownNames.push_back(name);
    return;
  }
  item.Info = item.Datasets.begin()->second;
  this->SensorItems.push_back(item);
}

/// Returns the properties that the mask must have to match the results.
MaskRequirements Reader::RequirementsOfData() const
{
  MaskRequirements requirements;
  requirements.Type = this->Type;
  requirements.Dims = this->Result.Dims;
  for (const SensorItem& item : this->SensorItems) {
    if (this->Type == MaskType::Index && IsOfSensor(item.Name)) {
      requirements.Points = this->SensorPoints(item.Info);
      break;
    }
    if (this->Type == MaskType::Corners && IsOfSensor(item.Name) &&
        item.Datasets.rbegin()->first == static_cast<std::int64_t>(item.Datasets.size())) {
      for (const auto& [number, info] : item.Datasets) {
        requirements.Cuboids.push_back(WidthsOf(info));
      }
      break;
    }
  }
  return requirements;
}

void Reader::FindSensor()
{
  if (!this->HasSensor) {
    return;
  }
  const MaskRequirements requirements = this->RequirementsOfData();
  this->Sensor = MaskFromFile(this->File, requirements);
  if (!this->Sensor.empty() || this->SensorItems.empty() || !this->IsOutput) {
    return;
  }
  const char* const name = this->Type == MaskType::Index ? "sensor_mask_index" : "sensor_mask_corners";
  const bool own = this->File.Has(name);
  if (!own) {
    this->Sensor = MaskFromFolder(this->Result.Path, requirements);
  }
  if (!this->Sensor.empty()) {
    this->Result.Notes.push_back("the sensor mask is from " + this->Sensor[0].File + ", in the same folder");
    return;
  }
  const Error missing = FileError(this->Result.Path,
      fmt::format("the positions of the sensor in '{}', matching the results", name),
      own ? "a mask of another size" : "no mask in the file or in an input file in the same folder",
      own ? "The file is damaged"
          : fmt::format("Copy or link the input file of the run (option -i of k-Wave) into {}, or run k-Wave "
                        "again with --copy_sensor_mask",
                std::filesystem::path(this->Result.Path).parent_path().string()));
  if (this->DomainItems.empty()) {
    throw missing;
  }
  this->Result.Warnings.push_back(fmt::format(
      "PatchIO shows the values of the domain, and skips the values of the sensor. {}", missing.what()));
}

void Reader::AddDomain()
{
  if (this->DomainItems.empty()) {
    return;
  }
  KwaveDescription& to = this->Result;
  RegionSet domain;
  domain.Name = "domain";
  GridRegion region;
  for (int axis = 0; axis < 3; ++axis) {
    region.Cells.Lower[axis] = 0;
    region.Cells.Upper[axis] = static_cast<int>(to.Dims[axis]) - 1;
  }
  const std::size_t slowest = to.Dims[2] > 1 ? 0 : 1;
  for (const auto& [name, info] : this->DomainItems) {
    AlignCutsToChunks(region, info, slowest);
    to.Quantities.push_back({name, static_cast<int>(to.Sets.size()), false, {true}});
  }
  domain.Regions.push_back(region);
  to.Sets.push_back(domain);
}

void Reader::AddSensor()
{
  if (this->Sensor.empty()) {
    return;
  }
  if (this->Type == MaskType::Index) {
    this->AddPoints();
  } else {
    this->AddCuboids();
  }
}

/// Adds a level of points, without quantities.
void Reader::AddPointLevel(const std::string& level, std::uint64_t points, const std::string& positions)
{
  if (points > MostPoints) {
    throw FileError(this->Result.Path, fmt::format("at most {} points in '{}'", MostPoints, positions),
        fmt::format("{}", points), "PatchIO does not support longer lists");
  }
  RegionSet set;
  set.Name = level;
  set.Role = LevelRole::Points;
  set.Positions = positions;
  GridRegion region;
  region.Cells = {{0, 0, 0}, {static_cast<int>(points) - 1, 0, 0}};
  set.Regions.push_back(region);
  this->Result.Sets.push_back(set);
}

/// Returns whether the time-varying data set `name` has steps, and as many as the first such data set. Adds a
/// data set with another number of steps to the damaged data sets.
bool Reader::CheckSteps(const std::string& name, std::uint64_t steps)
{
  if (this->SampledSteps == 0 && steps > 0) {
    this->SampledSteps = steps;
  }
  if (steps != this->SampledSteps || steps == 0) {
    if (steps != this->SampledSteps) {  // otherwise no step is written yet
      this->DamagedNames.push_back(fmt::format("{} ({} of {} steps)", name, steps, this->SampledSteps));
    }
    return false;
  }
  return true;
}

void Reader::AddPoints()
{
  KwaveDescription& to = this->Result;
  const Mask& mask = this->Sensor[0];
  const int set = static_cast<int>(to.Sets.size());
  this->AddPointLevel("sensor", mask.Points, mask.File.empty() ? IndexName : mask.File + "/" + IndexName);
  for (const SensorItem& item : this->SensorItems) {
    const bool timeVarying =
        !IsAggregate(item.Name) && (IsOfSensor(item.Name) || this->IsFromPatchIO || item.Info.Dims[1] > 1);
    if (this->SensorPoints(item.Info) != mask.Points && IsOfSensor(item.Name)) {
      const std::uint64_t points = this->SensorPoints(item.Info);
      this->DamagedNames.push_back(fmt::format("{} ({} of {} points)", item.Name, points, mask.Points));
    } else if (this->SensorPoints(item.Info) != mask.Points || (!timeVarying && item.Info.Dims[1] != 1)) {
      this->UnknownNames.push_back(item.Name);
    } else if (!timeVarying || this->CheckSteps(item.Name, item.Info.Dims[1])) {
      AlignCutsToChunks(to.Sets.back().Regions[0], item.Info, 2);
      to.Quantities.push_back({item.Name, set, timeVarying, {true}});
    }
  }
}

void Reader::AddCuboids()
{
  KwaveDescription& to = this->Result;
  const std::vector<Cuboid>& cuboids = this->Sensor[0].Cuboids;
  const int number = static_cast<int>(to.Sets.size());
  RegionSet set;
  set.Name = "sensor";
  set.Role = LevelRole::Separate;
  for (const Cuboid& cuboid : cuboids) {
    GridRegion& region = set.Regions.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      region.Cells.Lower[axis] = static_cast<int>(cuboid.Lower[axis]) - 1;
      region.Cells.Upper[axis] = static_cast<int>(cuboid.Upper[axis]) - 1;
    }
  }
  for (const SensorItem& item : this->SensorItems) {
    const bool timeVarying = !IsAggregate(item.Name);
    // A time-varying data set has four axes. An aggregate has three, or four with an axis of length 1.
    const std::uint64_t steps = item.Info.Dims.size() == 4 ? item.Info.Dims[0] : 1;
    Quantity quantity{item.Name, number, timeVarying, std::vector<bool>(cuboids.size(), false)};
    for (const auto& [cuboid, info] : item.Datasets) {
      const std::size_t last = info.Dims.size() - 1;
      const std::uint64_t mySteps = last == 3 ? info.Dims[0] : 1;
      const bool fits = cuboid <= static_cast<std::int64_t>(cuboids.size()) && mySteps == steps &&
                        WidthsOf(info) == WidthsOf(cuboids[cuboid - 1]);
      if (!fits) {
        this->UnknownNames.push_back(fmt::format("{}/{}", item.Name, cuboid));
        continue;
      }
      quantity.Regions[cuboid - 1] = true;
      AlignCutsToChunks(set.Regions[cuboid - 1], info, to.Dims[2] > 1 ? last - 2 : last - 1);
    }
    if (std::find(quantity.Regions.begin(), quantity.Regions.end(), true) == quantity.Regions.end() ||
        (!timeVarying && steps != 1)) {
      continue;
    }
    if (!timeVarying || this->CheckSteps(item.Name, steps)) {
      to.Quantities.push_back(quantity);
    }
  }
  to.Sets.push_back(set);
}

/// Adds the positions of an input file's sources; output files do not contain them.
void Reader::AddSources()
{
  const std::pair<const char*, const char*> lists[] = {{"p_source_index", "pressure source"},
      {"u_source_index", "velocity source"}, {"s_source_index", "stress source"}};
  for (const auto& [name, level] : lists) {
    const DatasetInfo info = this->IsOutput ? DatasetInfo() : this->File.InfoOf(name);
    if (info.IsNumeric && info.Values > 0) {
      this->AddPointLevel(level, info.Values, name);
    }
  }
}

void Reader::ReadSteps()
{
  KwaveDescription& to = this->Result;
  if (!this->IsOutput) {
    to.FirstStep = 1;
    return;
  }
  const double all = this->File.NumberOr("Nt", static_cast<double>(this->SampledSteps));
  const double done = this->File.NumberOr("t_index", all);
  if (this->SampledSteps == 0) {
    to.FirstStep = done >= 1 && done < 1e15 ? static_cast<std::int64_t>(done) : 1;
    return;
  }
  constexpr std::uint64_t mostSteps = 1'000'000;
  if (this->SampledSteps > mostSteps) {
    throw FileError(to.Path, fmt::format("at most {} sampled steps", mostSteps),
        fmt::format("{}", this->SampledSteps), "Sample fewer steps, or write several files");
  }
  const auto sampled = static_cast<std::int64_t>(this->SampledSteps);
  const double start = all - static_cast<double>(sampled) + 1;
  to.FirstStep = start >= 1 && start < 1e15 ? static_cast<std::int64_t>(start) : 1;
  // A run that was stopped at a checkpoint has written only the steps up to t_index.
  const double there = done - static_cast<double>(to.FirstStep) + 1;
  to.Steps = static_cast<std::int64_t>(std::clamp(there, 0.0, static_cast<double>(sampled)));
  if (to.Steps < sampled) {
    to.Notes.push_back(fmt::format(
        "the run stopped at step {} of {}: {} of {} sampled steps exist", done, all, to.Steps, sampled));
  }
  ReadTimes(this->File, to);
  if (to.Steps == 0) {
    // No sampled step exists yet.
    to.Quantities.erase(std::remove_if(to.Quantities.begin(), to.Quantities.end(),
                            [](const Quantity& quantity) { return quantity.TimeVarying; }),
        to.Quantities.end());
    to.Steps = 1;
  }
}

void Reader::AddNotes()
{
  const auto addNote = [](std::vector<std::string>& names, const std::string& what,
                           std::vector<std::string>& to) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(names.size(), 12));
    const std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
    if (!names.empty()) {
      to.push_back(fmt::format("PatchIO skips {}: {}{}", what, list, names.size() > 12 ? " and others" : ""));
    }
  };
  addNote(this->ComplexNames, "complex values", this->Result.Notes);
  addNote(this->UnknownNames, "data sets of unsupported type or shape", this->Result.Notes);
  addNote(this->DamagedNames, "damaged data sets of " + this->Result.Path, this->Result.Warnings);
}

/// Throws Error if the file has neither values, nor a sensor mask, nor sources.
void Reader::CheckNotEmpty() const
{
  if (this->Result.Sets.empty()) {
    throw this->IsOutput ? FileError(this->Result.Path, "values of the domain or at the sensor", "none",
                               "The run may not have written values yet")
                         : FileError(this->Result.Path, "initial values, a sensor mask or sources",
                               "none of these", "Open the output file of the run");
  }
}

}  // namespace

KwaveDescription ReadDescription(const std::string& path)
{
  return Reader(path).Read();
}

}  // namespace patchio::kwave
