#include "Formats/KWave/KwaveDescription.h"

#include "Formats/KWave/KwaveDomain.h"
#include "Formats/KWave/KwaveFile.h"
#include "Formats/KWave/KwaveMask.h"
#include "Formats/KWave/KwaveNames.h"
#include "Support/Error.h"
#include "Support/TextScanner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace patchio::kwave {
namespace {

/// Values along x, y and z of a data set with three axes or more.
std::array<std::int64_t, 3> ExtentsOf(const DatasetInfo& info)
{
  const std::uint64_t* const z = info.Dims.data() + info.Dims.size() - 3;
  return {static_cast<std::int64_t>(z[2]), static_cast<std::int64_t>(z[1]), static_cast<std::int64_t>(z[0])};
}

/// Parts are cut at the borders of chunks along this axis of the data set.
void WidenGrain(Part& part, const DatasetInfo& info, std::size_t axis)
{
  if (!info.Chunks.empty()) {
    part.Grain = std::max(part.Grain, static_cast<std::int64_t>(info.Chunks[axis]));
  }
}

class Reader
{
public:
  explicit Reader(const std::string& path) : File(path) { this->Result.Path = path; }

  KwaveDescription Read()
  {
    this->IsOutput = this->File.Attribute("file_type") != "input";
    this->IsOurs = this->File.Has(TimesName);
    ReadDomain(this->File, this->Result);
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
  bool IsOurs = false;  ///< PatchIO has written the file
  bool HasSensor = false;
  MaskType Type = MaskType::Index;
  std::vector<std::pair<std::string, DatasetInfo>> DomainItems;
  std::vector<SensorItem> SensorItems;
  std::vector<Mask> Sensor;                            ///< none or one
  std::vector<std::string> Complex, Unknown, Damaged;  ///< names
  std::uint64_t SampledSteps = 0;                      ///< that the arrays have room for; 0: no series
};

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

/// Finds out what a data set of the root is.
void Reader::Sort(const std::string& name)
{
  const DatasetInfo info = this->File.Describe(name);
  // All that a file of PatchIO has apart from its header is of the sensor, also a single value.
  const bool sampled = IsOfSensor(name) || (this->IsOurs && !IsHeader(name));
  if (IsSetting(name) || info.Values() < (sampled ? 1 : 2)) {
    return;
  }
  if (info.Complex) {
    this->Complex.push_back(name);
  } else if (!info.Numbers || info.Dims.size() != 3) {
    this->Unknown.push_back(name);
  } else if (this->HasSensor && this->IsOutput && !IsOfDomain(name) &&
             (sampled || !this->HasDomainShape(info)) && this->Type == MaskType::Index && info.Dims[0] == 1) {
    this->SensorItems.push_back({name, info, {}});
  } else if (this->HasDomainShape(info)) {
    this->DomainItems.emplace_back(name, info);
  } else if (info.Dims[0] * info.Dims[1] > 1 && info.Dims[1] * info.Dims[2] > 1 &&
             info.Dims[0] * info.Dims[2] > 1) {
    this->Unknown.push_back(name);  // others are vectors along an axis
  }
}

/// Finds out what a group is: it may hold the data sets "1", "2", ... of the cuboids.
void Reader::SortGroup(const std::string& name)
{
  constexpr std::size_t mostParts = 100'000;
  SensorItem item{name, {}, {}};
  for (const std::string& part : this->File.Names(name)) {
    const auto number = NumberIn<std::int64_t>(part);
    if (!number || *number < 1 || item.Parts.size() >= mostParts) {
      continue;
    }
    const DatasetInfo info = this->File.Describe(name + "/" + part);
    if (info.Complex) {
      this->Complex.push_back(name);
      return;
    }
    if (info.Numbers && (info.Dims.size() == 3 || info.Dims.size() == 4)) {
      item.Parts[*number] = info;
    }
  }
  if (item.Parts.empty() || !this->HasSensor || this->Type != MaskType::Corners) {
    this->Unknown.push_back(name);
    return;
  }
  item.Info = item.Parts.begin()->second;
  this->SensorItems.push_back(item);
}

/// What the mask must be like to fit the results.
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
        needs.Cuboids.push_back(ExtentsOf(info));
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
    this->Result.Notes.push_back("the sensor mask is from " + this->Sensor[0].File + ", in the same folder");
    return;
  }
  const Error missing = FileError(this->Result.Path,
      fmt::format("the positions of the sensor in '{}', matching the results", name),
      own ? "a mask of another size" : "no mask, neither in the file nor in an input file in its folder",
      own ? "The file is damaged"
          : fmt::format("Copy or link the input file of the run (option -i of k-Wave) into {}, or run k-Wave "
                        "again with --copy_sensor_mask",
                std::filesystem::path(this->Result.Path).parent_path().string()));
  if (this->DomainItems.empty()) {
    throw missing;
  }
  this->Result.Warnings.push_back(fmt::format(
      "Only the values of the domain are shown, and those of the sensor are skipped. {}", missing.what()));
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
    WidenGrain(part, info, slowest);
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
        fmt::format("{}", points), "PatchIO does not support longer lists");
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
    if (steps != this->SampledSteps) {  // otherwise no step is written yet
      this->Damaged.push_back(fmt::format("{} ({} of {} steps)", name, steps, this->SampledSteps));
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
  this->AddList("sensor", mask.Points, NameInOtherFile(mask.File, "sensor_mask_index"));
  for (const SensorItem& item : this->SensorItems) {
    const bool series =
        !IsAggregate(item.Name) && (IsOfSensor(item.Name) || this->IsOurs || item.Info.Dims[1] > 1);
    if (this->SensorPoints(item.Info) != mask.Points && IsOfSensor(item.Name)) {
      const std::uint64_t points = this->SensorPoints(item.Info);
      this->Damaged.push_back(fmt::format("{} ({} of {} points)", item.Name, points, mask.Points));
    } else if (this->SensorPoints(item.Info) != mask.Points || (!series && item.Info.Dims[1] != 1)) {
      this->Unknown.push_back(item.Name);
    } else if (!series || this->TakeSteps(item.Name, item.Info.Dims[1])) {
      WidenGrain(to.Sets.back().Parts[0], item.Info, 2);
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
    for (const auto& [cuboid, info] : item.Parts) {
      const std::size_t last = info.Dims.size() - 1;
      const std::uint64_t mySteps = last == 3 ? info.Dims[0] : 1;
      const bool fits = cuboid <= static_cast<std::int64_t>(cuboids.size()) && mySteps == steps &&
                        ExtentsOf(info) == ExtentsOf(cuboids[cuboid - 1]);
      if (!fits) {
        this->Unknown.push_back(fmt::format("{}/{}", item.Name, cuboid));
        continue;
      }
      quantity.Parts[cuboid - 1] = true;
      WidenGrain(set.Parts[cuboid - 1], info, to.Dims[2] > 1 ? last - 2 : last - 1);
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
        fmt::format("{}", this->SampledSteps),
        "PatchIO does not show longer files: sample fewer steps, or write several files");
  }
  const auto sampled = static_cast<std::int64_t>(this->SampledSteps);
  const double start = all - static_cast<double>(sampled) + 1;
  to.FirstStep = start >= 1 && start < 1e15 ? static_cast<std::int64_t>(start) : 1;
  // A run that a checkpoint has stopped has written the steps up to t_index only.
  const double there = done - static_cast<double>(to.FirstStep) + 1;
  to.Steps = static_cast<std::int64_t>(std::clamp(there, 0.0, static_cast<double>(sampled)));
  if (to.Steps < sampled) {
    to.Notes.push_back(fmt::format(
        "the run stopped at step {} of {}: {} of {} sampled steps exist", done, all, to.Steps, sampled));
  }
  ReadTimes(this->File, to);
  if (to.Steps == 0) {
    // No step of the series is there yet.
    to.Quantities.erase(std::remove_if(to.Quantities.begin(), to.Quantities.end(),
                            [](const Quantity& quantity) { return quantity.Series; }),
        to.Quantities.end());
    to.Steps = 1;
  }
}

void Reader::WriteNotes()
{
  const auto say = [](std::vector<std::string>& names, const std::string& why, std::vector<std::string>& to) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(names.size(), 12));
    const std::string list = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
    if (!names.empty()) {
      to.push_back(fmt::format("skipped, {}: {}{}", why, list, names.size() > 12 ? " and others" : ""));
    }
  };
  say(this->Complex, "complex values", this->Result.Notes);
  say(this->Unknown, "unsupported type or shape", this->Result.Notes);
  say(this->Damaged, "because " + this->Result.Path + " is damaged", this->Result.Warnings);
}

void Reader::CheckAnything() const
{
  if (this->Result.Sets.empty()) {
    throw FileError(this->Result.Path, "values of the domain or at the sensor",
        this->IsOutput ? "none" : "neither values nor a mask", "The run may not have written values yet");
  }
}

}  // namespace

KwaveDescription ReadDescription(const std::string& path)
{
  return Reader(path).Read();
}

}  // namespace patchio::kwave
