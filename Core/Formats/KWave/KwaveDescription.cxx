#include "Formats/KWave/KwaveDescription.h"

#include "Formats/KWave/KwaveFile.h"
#include "Formats/KWave/KwaveMask.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

namespace patchio::kwave {
namespace {

bool EndsWith(const std::string& text, const std::string& end)
{
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// "ux_max_all", "p_final": values of the whole domain, whatever the sensor.
bool IsOfDomain(const std::string& name)
{
  return EndsWith(name, "_all") || EndsWith(name, "_final");
}

/// "p", "uy_non_staggered", "p_max", "Iz_avg", "Q_term": values at the sensor.
bool IsOfSensor(const std::string& name)
{
  static const std::set<std::string> quantities{"p", "ux", "uy", "uz", "ux_non_staggered", "uy_non_staggered",
      "uz_non_staggered", "Ix_avg", "Iy_avg", "Iz_avg", "Q_term"};
  for (const char* end : {"", "_max", "_min", "_rms", "_c"}) {
    if (EndsWith(name, end) && quantities.count(name.substr(0, name.size() - std::string(end).size())) > 0) {
      return true;
    }
  }
  return false;
}

/// One value a point of the sensor, made of all steps.
bool IsAggregate(const std::string& name)
{
  for (const char* end : {"_max", "_min", "_rms", "_avg", "_avg_c", "_all", "_final"}) {
    if (EndsWith(name, end)) {
      return true;
    }
  }
  return name == "Q_term" || name == "Q_term_c";
}

/// Data sets that say how the simulation is run; they are no fields, whatever their shapes.
bool IsSetting(const std::string& name)
{
  for (const char* end : {"_source_input", "_source_index", "_flag", "_signal_index", "_delay"}) {
    if (EndsWith(name, end) && name != "p0_source_input") {
      return true;
    }
  }
  return name.rfind("sensor_mask", 0) == 0 || name.rfind("pml_", 0) == 0 || name == "delay_mask" ||
         name.rfind("dd", 0) == 0 || name.rfind("dxudxn", 0) == 0 || name.rfind("dyudyn", 0) == 0 ||
         name.rfind("dzudzn", 0) == 0;
}

class Reader
{
public:
  explicit Reader(const std::string& path) : File(path) { this->Result.Path = path; }

  KwaveDescription Read()
  {
    this->ReadDomain();
    this->ReadRoot();
    this->FindSensor();
    this->AddDomain();
    this->AddSensor();
    this->AddSources();
    this->ReadSteps();
    this->WriteNotes();
    this->CheckAnything();
    return std::move(this->Result);
  }

private:
  /// A data set of the sensor, or a group of them.
  struct SensorItem
  {
    std::string Name;
    DatasetInfo Info;                           ///< of the data set, or of the group's first
    std::map<std::int64_t, DatasetInfo> Parts;  ///< of a group, by their numbers
  };

  void ReadDomain();
  void ReadRoot();
  void Sort(const std::string& name);
  void SortGroup(const std::string& name);
  void FindSensor();
  MaskNeeds NeedsOfData() const;
  void AddDomain();
  void AddSensor();
  void AddPoints();
  void AddCuboids();
  void AddSources();
  void AddList(const std::string& level, std::uint64_t points, const std::string& positions);
  bool TakeSteps(const std::string& name, std::uint64_t steps);
  void ReadSteps();
  void WriteNotes();
  void CheckAnything() const;
  bool HasDomainShape(const DatasetInfo& info) const;
  std::uint64_t SensorPoints(const DatasetInfo& info) const
  {
    return info.Dims.size() == 3 ? info.Dims[2] : 0;
  }

  KwaveFile File;
  KwaveDescription Result;
  bool IsOutput = true;
  bool HasSensor = false;
  MaskType Type = MaskType::Index;
  std::vector<std::pair<std::string, DatasetInfo>> DomainItems;
  std::vector<SensorItem> SensorItems;
  std::vector<Mask> Sensor;  ///< none or one
  std::vector<std::string> Complex, Unknown;
  std::uint64_t SampledSteps = 0;  ///< that the arrays have room for; 0: no series
};

void Reader::ReadDomain()
{
  const char* const counts[] = {"Nx", "Ny", "Nz"};
  const char* const spacings[] = {"dx", "dy", "dz"};
  KwaveDescription& to = this->Result;
  this->IsOutput = this->File.Attribute("file_type") != "input";
  for (int axis = 0; axis < 3; ++axis) {
    to.Dims[axis] = this->File.Count(counts[axis]);
    const bool needed = axis == 0 || to.Dims[axis] > 1;
    to.Spacing[axis] =
        needed ? this->File.Number(spacings[axis]) : this->File.NumberOr(spacings[axis], to.Spacing[0]);
    if (!needed && !(to.Spacing[axis] > 0)) {
      to.Spacing[axis] = to.Spacing[0];
    }
    if (!(to.Spacing[axis] > 0) || !std::isfinite(to.Spacing[axis])) {
      throw FileError(to.Path, fmt::format("a distance of grid points in '{}'", spacings[axis]),
          fmt::format("{}", to.Spacing[axis]), "The file is damaged");
    }
    // k-Wave's grid is centred: point i, from 0, lies at (i - floor(N/2)) d. Cells are centred at the points.
    to.Origin[axis] = -(static_cast<double>(to.Dims[axis] / 2) + 0.5) * to.Spacing[axis];
  }
  constexpr double mostPoints = 1e13;
  const double points =
      static_cast<double>(to.Dims[0]) * static_cast<double>(to.Dims[1]) * static_cast<double>(to.Dims[2]);
  if (points > mostPoints) {
    throw FileError(to.Path, "a domain of at most 10^13 grid points", fmt::format("{:.3g}", points),
        "The file is damaged");
  }
  if (this->File.NumberOr("axisymmetric_flag", 0) != 0) {
    to.Origin[1] = -0.5 * to.Spacing[1];
    to.Notes.emplace_back("the run is axisymmetric: y is the distance from the axis");
  }
  if (this->File.NumberOr("nonuniform_grid_flag", 0) != 0) {
    to.Warnings.push_back(to.Path + ": the grid is stretched, but is shown with equal distances.");
  }
  to.TimeStep = this->File.NumberOr("dt", 0);
  if (!std::isfinite(to.TimeStep)) {
    to.TimeStep = 0;
  }
}

bool Reader::HasDomainShape(const DatasetInfo& info) const
{
  const auto& n = this->Result.Dims;
  const std::vector<std::uint64_t> wanted{
      static_cast<std::uint64_t>(n[2]), static_cast<std::uint64_t>(n[1]), static_cast<std::uint64_t>(n[0])};
  return info.Dims == wanted && info.Values() > 1;
}

void Reader::ReadRoot()
{
  this->HasSensor = this->File.Has("sensor_mask_type");
  if (this->HasSensor) {
    const double type = this->File.Number("sensor_mask_type");
    if (type != 0 && type != 1) {
      throw FileError(this->Result.Path, "0 (index) or 1 (corners) in 'sensor_mask_type'",
          fmt::format("{}", type), "The file is damaged");
    }
    this->Type = type == 0 ? MaskType::Index : MaskType::Corners;
  } else if (this->File.Has("sensor_mask_index")) {
    this->HasSensor = true;  // version 1.0
  }
  for (const std::string& name : this->File.Names()) {
    if (this->File.IsGroup(name)) {
      this->SortGroup(name);
    } else {
      this->Sort(name);
    }
  }
}

/// What a data set of the root is.
void Reader::Sort(const std::string& name)
{
  const DatasetInfo info = this->File.Describe(name);
  if (IsSetting(name) || info.Values() <= 1) {
    return;
  }
  if (info.Complex) {
    this->Complex.push_back(name);
  } else if (!info.Numbers || info.Dims.size() != 3) {
    this->Unknown.push_back(name);
  } else if (this->HasSensor && this->IsOutput && !IsOfDomain(name) &&
             (IsOfSensor(name) || !this->HasDomainShape(info)) && this->Type == MaskType::Index &&
             info.Dims[0] == 1) {
    this->SensorItems.push_back({name, info, {}});
  } else if (this->HasDomainShape(info)) {
    this->DomainItems.emplace_back(name, info);
  } else if (info.Dims[0] * info.Dims[1] > 1 && info.Dims[1] * info.Dims[2] > 1 &&
             info.Dims[0] * info.Dims[2] > 1) {
    this->Unknown.push_back(name);  // others are vectors along an axis
  }
}

/// What a group is: data sets "1", "2", ... of the cuboids.
void Reader::SortGroup(const std::string& name)
{
  constexpr std::size_t mostParts = 100'000;
  SensorItem item{name, {}, {}};
  for (const std::string& part : this->File.Names(name)) {
    char* end = nullptr;
    const long long number = std::strtoll(part.c_str(), &end, 10);
    if (*end != '\0' || number < 1 || item.Parts.size() >= mostParts) {
      continue;
    }
    const DatasetInfo info = this->File.Describe(name + "/" + part);
    if (info.Complex) {
      this->Complex.push_back(name);
      return;
    }
    if (info.Numbers && (info.Dims.size() == 3 || info.Dims.size() == 4)) {
      item.Parts[number] = info;
    }
  }
  if (item.Parts.empty() || !this->HasSensor || this->Type != MaskType::Corners) {
    this->Unknown.push_back(name);
    return;
  }
  item.Info = item.Parts.begin()->second;
  this->SensorItems.push_back(item);
}

/// What the results say about the mask.
MaskNeeds Reader::NeedsOfData() const
{
  MaskNeeds needs;
  needs.Type = this->Type;
  needs.Dims = this->Result.Dims;
  for (const SensorItem& item : this->SensorItems) {
    if (this->Type == MaskType::Index && IsOfSensor(item.Name)) {
      needs.Points = this->SensorPoints(item.Info);
      break;
    }
    if (this->Type == MaskType::Corners && IsOfSensor(item.Name) &&
        item.Parts.rbegin()->first == static_cast<std::int64_t>(item.Parts.size())) {
      for (const auto& [number, info] : item.Parts) {
        const std::size_t last = info.Dims.size() - 1;
        needs.Cuboids.push_back({static_cast<std::int64_t>(info.Dims[last]),
            static_cast<std::int64_t>(info.Dims[last - 1]), static_cast<std::int64_t>(info.Dims[last - 2])});
      }
      break;
    }
  }
  return needs;
}

void Reader::FindSensor()
{
  if (!this->HasSensor) {
    return;
  }
  const MaskNeeds needs = this->NeedsOfData();
  this->Sensor = MaskIn(this->File, needs);
  if (!this->Sensor.empty() || this->SensorItems.empty() || !this->IsOutput) {
    return;
  }
  const char* const name = this->Type == MaskType::Index ? "sensor_mask_index" : "sensor_mask_corners";
  const bool own = this->File.Has(name);
  if (!own) {
    this->Sensor = MaskBeside(this->Result.Path, needs);
  }
  if (!this->Sensor.empty()) {
    this->Result.Notes.push_back(
        "the sensor mask is that of " + this->Sensor[0].File + ", in the same folder");
    return;
  }
  const Error missing = FileError(this->Result.Path,
      fmt::format("the places of the sensor in '{}', which fits the results", name),
      own ? "another one" : "none, neither in the file nor in an input file in its folder",
      own ? "The file is damaged"
          : fmt::format("Copy or link the input file of the run, which its option -i named, into {}; or run "
                        "k-Wave again with --copy_sensor_mask",
                std::filesystem::path(this->Result.Path).parent_path().string()));
  if (this->DomainItems.empty()) {
    throw missing;
  }
  this->Result.Warnings.push_back(fmt::format(
      "The values of the sensor are left out, those of the domain are shown. {}", missing.what()));
}

void Reader::AddDomain()
{
  if (this->DomainItems.empty()) {
    return;
  }
  KwaveDescription& to = this->Result;
  PartSet domain;
  domain.Name = "domain";
  Part part;
  for (int axis = 0; axis < 3; ++axis) {
    part.Cells.Lower[axis] = 0;
    part.Cells.Upper[axis] = static_cast<int>(to.Dims[axis]) - 1;
  }
  const std::size_t slowest = to.Dims[2] > 1 ? 0 : 1;
  for (const auto& [name, info] : this->DomainItems) {
    if (!info.Chunks.empty()) {
      part.Grain = std::max(part.Grain, static_cast<std::int64_t>(info.Chunks[slowest]));
    }
    to.Quantities.push_back({name, static_cast<int>(to.Sets.size()), false, {true}});
  }
  domain.Parts.push_back(part);
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

/// A level of points; its quantities follow.
void Reader::AddList(const std::string& level, std::uint64_t points, const std::string& positions)
{
  constexpr std::uint64_t most = (std::uint64_t(1) << 30) - 1;
  if (points > most) {
    throw FileError(this->Result.Path, fmt::format("at most {} points in '{}'", most, positions),
        fmt::format("{}", points), "PatchIO reads no longer lists");
  }
  PartSet set;
  set.Name = level;
  set.Role = LevelRole::Points;
  set.Positions = positions;
  Part part;
  part.Cells = {{0, 0, 0}, {static_cast<int>(points) - 1, 0, 0}};
  set.Parts.push_back(part);
  this->Result.Sets.push_back(set);
}

/// True when the series has as many steps as those before; the first series decides.
bool Reader::TakeSteps(const std::string& name, std::uint64_t steps)
{
  if (this->SampledSteps == 0 && steps > 0) {
    this->SampledSteps = steps;
  }
  if (steps != this->SampledSteps || steps == 0) {
    this->Result.Notes.push_back(
        fmt::format("'{}' is left out: it has {} steps, others have {}", name, steps, this->SampledSteps));
    return false;
  }
  return true;
}

void Reader::AddPoints()
{
  KwaveDescription& to = this->Result;
  const Mask& mask = this->Sensor[0];
  const int set = static_cast<int>(to.Sets.size());
  this->AddList("sensor", mask.Points, NameInOtherFile(mask.File, "sensor_mask_index"));
  std::int64_t& grain = to.Sets.back().Parts[0].Grain;
  for (const SensorItem& item : this->SensorItems) {
    const bool series = !IsAggregate(item.Name) && (IsOfSensor(item.Name) || item.Info.Dims[1] > 1);
    if (this->SensorPoints(item.Info) != mask.Points || (!series && item.Info.Dims[1] != 1)) {
      this->Unknown.push_back(item.Name);
    } else if (!series || this->TakeSteps(item.Name, item.Info.Dims[1])) {
      if (!item.Info.Chunks.empty()) {
        grain = std::max(grain, static_cast<std::int64_t>(item.Info.Chunks[2]));
      }
      to.Quantities.push_back({item.Name, set, series, {true}});
    }
  }
}

void Reader::AddCuboids()
{
  KwaveDescription& to = this->Result;
  const std::vector<Cuboid>& cuboids = this->Sensor[0].Cuboids;
  const int number = static_cast<int>(to.Sets.size());
  PartSet set;
  set.Name = "sensor";
  set.Role = LevelRole::Separate;
  for (const Cuboid& cuboid : cuboids) {
    Part& part = set.Parts.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      part.Cells.Lower[axis] = static_cast<int>(cuboid.Lower[axis]) - 1;
      part.Cells.Upper[axis] = static_cast<int>(cuboid.Upper[axis]) - 1;
    }
  }
  for (const SensorItem& item : this->SensorItems) {
    const bool series = !IsAggregate(item.Name);
    // A series has four axes; an aggregate three, or four of which one is 1.
    const std::uint64_t steps = item.Info.Dims.size() == 4 ? item.Info.Dims[0] : 1;
    Quantity quantity{item.Name, number, series, std::vector<bool>(cuboids.size(), false)};
    for (const auto& [place, info] : item.Parts) {
      const std::size_t last = info.Dims.size() - 1;
      const std::uint64_t mySteps = last == 3 ? info.Dims[0] : 1;
      const bool inside = place <= static_cast<std::int64_t>(cuboids.size());
      const bool fits = inside && mySteps == steps &&
                        static_cast<std::int64_t>(info.Dims[last]) == cuboids[place - 1].Width(0) &&
                        static_cast<std::int64_t>(info.Dims[last - 1]) == cuboids[place - 1].Width(1) &&
                        static_cast<std::int64_t>(info.Dims[last - 2]) == cuboids[place - 1].Width(2);
      if (!fits) {
        this->Unknown.push_back(fmt::format("{}/{}", item.Name, place));
        continue;
      }
      quantity.Parts[place - 1] = true;
      if (!info.Chunks.empty()) {
        const std::size_t slowest = to.Dims[2] > 1 ? last - 2 : last - 1;
        std::int64_t& grain = set.Parts[place - 1].Grain;
        grain = std::max(grain, static_cast<std::int64_t>(info.Chunks[slowest]));
      }
    }
    if (std::find(quantity.Parts.begin(), quantity.Parts.end(), true) == quantity.Parts.end() ||
        (!series && steps != 1)) {
      continue;
    }
    if (!series || this->TakeSteps(item.Name, steps)) {
      to.Quantities.push_back(quantity);
    }
  }
  to.Sets.push_back(set);
}

/// Where an input's sources are; outputs do not say.
void Reader::AddSources()
{
  const std::pair<const char*, const char*> lists[] = {{"p_source_index", "pressure source"},
      {"u_source_index", "velocity source"}, {"s_source_index", "stress source"}};
  for (const auto& [name, level] : lists) {
    const DatasetInfo info = this->IsOutput ? DatasetInfo() : this->File.Describe(name);
    if (info.Numbers && info.Values() > 0) {
      this->AddList(level, info.Values(), name);
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
  const double all = this->File.NumberOr("Nt", 0);
  const double done = this->File.NumberOr("t_index", all);
  if (this->SampledSteps == 0) {
    to.FirstStep = done >= 1 && done < 1e15 ? static_cast<std::int64_t>(done) : 1;
    return;
  }
  constexpr std::uint64_t mostSteps = 1'000'000;
  if (this->SampledSteps > mostSteps) {
    throw FileError(to.Path, fmt::format("at most {} sampled steps", mostSteps),
        fmt::format("{}", this->SampledSteps), "The file is damaged");
  }
  const auto sampled = static_cast<std::int64_t>(this->SampledSteps);
  const double start = all - static_cast<double>(sampled) + 1;
  to.FirstStep = start >= 1 && start < 1e15 ? static_cast<std::int64_t>(start) : 1;
  // Of a run that a checkpoint has stopped only the steps up to t_index are there.
  const double there = done - static_cast<double>(to.FirstStep) + 1;
  to.Steps = static_cast<std::int64_t>(std::clamp(there, 0.0, static_cast<double>(sampled)));
  if (to.Steps < sampled) {
    to.Notes.push_back(fmt::format("the run has stopped at step {} of {}: {} of {} sampled steps are there",
        done, all, to.Steps, sampled));
  }
  if (to.Steps == 0) {
    // What has not begun cannot be shown.
    to.Quantities.erase(std::remove_if(to.Quantities.begin(), to.Quantities.end(),
                            [](const Quantity& quantity) { return quantity.Series; }),
        to.Quantities.end());
    to.Steps = 1;
  }
}

void Reader::WriteNotes()
{
  const auto note = [this](std::vector<std::string>& names, const std::string& why) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    constexpr std::size_t most = 12;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
      list += (i > 0 ? ", " : "") + names[i];
    }
    if (!names.empty()) {
      this->Result.Notes.push_back(
          fmt::format("left out, {}: {}{}", why, list, names.size() > most ? " and others" : ""));
    }
  };
  note(this->Complex, "complex values");
  note(this->Unknown, "of a kind or shape that PatchIO does not know");
}

void Reader::CheckAnything() const
{
  if (this->Result.Sets.empty()) {
    throw FileError(this->Result.Path, "values of the domain or at the sensor",
        this->IsOutput ? "none" : "none, nor a mask", "The run may not have begun to write");
  }
}

}  // namespace

KwaveDescription ReadDescription(const std::string& path)
{
  return Reader(path).Read();
}

}  // namespace patchio::kwave
