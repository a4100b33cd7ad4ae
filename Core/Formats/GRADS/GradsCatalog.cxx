#include "Formats/GRADS/GradsCatalog.h"

#include "Base/Error.h"
#include "Base/Text.h"
#include "Formats/GRADS/GradsFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace patchio::grads {

namespace {

/// Usual size of a patch, in cells. A regional model's field then has several patches for each of 4 ranks,
/// and a patch is large enough for an efficient request to the storage.
constexpr std::int64_t CellsOfPatch = 1 << 19;
constexpr std::int64_t MostPatches = 1 << 16;
constexpr std::int64_t MostPresences = 1 << 28;  ///< limit on patches x variables
constexpr std::int64_t FewestRows = 8;
constexpr int SurfaceIndex = -1;  ///< z index of the surface's nodes; the indices of the levels begin at 0

/// The levels of the catalog: one for variables with several levels, one for variables on the surface.
enum Group
{
  Levels,
  Surface
};

bool ArePressures(const std::vector<double>& levels)
{
  return levels.size() > 1 && levels.back() > 0 &&
         std::adjacent_find(levels.begin(), levels.end(), std::less_equal<>()) == levels.end();
}

/// Returns the unit of pressures in ZDEF, in hPa.
double HectopascalsPerUnit(const Descriptor& descriptor)
{
  constexpr double highest = 2000;  // pressures in hPa are lower
  return descriptor.Pascals || descriptor.Z.front() > highest ? 0.01 : 1;
}

/// Returns the heights of the levels. Pressures become heights in km in an atmosphere with a scale height of
/// 7 km; other levels are numbered.
std::vector<double> HeightsOf(const Descriptor& descriptor)
{
  constexpr double scaleHeight = 7;
  constexpr double pressureAtZero = 1000;
  const std::vector<double>& levels = descriptor.Z;
  const bool pressures = ArePressures(levels);
  std::vector<double> heights(levels.size());
  for (std::size_t k = 0; k < levels.size(); ++k) {
    heights[k] = pressures
                     ? scaleHeight * std::log(pressureAtZero / (levels[k] * HectopascalsPerUnit(descriptor)))
                     : static_cast<double>(k);
  }
  return heights;
}

/// Makes the catalog of a descriptor.
class CatalogMaker
{
public:
  explicit CatalogMaker(const Descriptor& descriptor) : Description(descriptor) {}

  Catalog Run()
  {
    this->Result.Path = this->Description.Path;
    const auto* text = reinterpret_cast<const std::byte*>(this->Description.Text.data());
    this->Result.FormatData.assign(text, text + this->Description.Text.size());
    this->Result.Grid = GridType::Rectilinear;
    this->Result.StepsInFile = static_cast<int>(this->Description.Times.Count);
    SetStep(this->Result, StepOf(this->Description, 0));
    this->Result.Geographic = this->Description.Projection.empty();
    this->FindGroups();
    this->MakeAxes();
    for (const Group group : this->Groups) {
      this->AddLevel(group);
    }
    this->AddVariables();
    return std::move(this->Result);
  }

private:
  void FindGroups();
  void MakeAxes();
  void AddLevel(Group group);
  void AddPatches(const Box& cells);
  void AddVariables();

  const Descriptor& Description;
  std::vector<Group> Groups;  ///< group of each level of the catalog
  Catalog Result;
};

void CatalogMaker::FindGroups()
{
  for (const Group group : {Levels, Surface}) {
    if (std::any_of(this->Description.Variables.begin(), this->Description.Variables.end(),
            [&](const GradsVariable& v) { return IsFlat(this->Description, v) == (group == Surface); })) {
      this->Groups.push_back(group);
      this->Result.LevelNames.emplace_back(group == Levels ? "levels" : "surface");
    }
  }
}

/// Makes the axes. The surface is half a step below the lowest level, so that both are visible.
void CatalogMaker::MakeAxes()
{
  auto& axes = this->Result.Axes;
  axes[0].Positions = this->Description.X;
  axes[1].Positions = this->Description.Y;
  if (this->Groups.front() == Surface) {
    axes[2].First = SurfaceIndex;
    axes[2].Positions = {0};
    return;
  }
  axes[2].Positions = HeightsOf(this->Description);
  axes[2].Labels = this->Description.Z;
  if (this->Groups.size() > 1) {
    const double low = axes[2].Positions[0];
    axes[2].First = SurfaceIndex;
    axes[2].Positions.insert(axes[2].Positions.begin(), low - 0.5 * (axes[2].Positions[1] - low));
    axes[2].Labels.insert(axes[2].Labels.begin(), std::numeric_limits<double>::quiet_NaN());
  }
}

void CatalogMaker::AddLevel(Group group)
{
  Level level;
  level.FirstPatch = static_cast<int>(this->Result.Patches.size());
  Box cells;
  const auto setAxis = [&](int axis, std::size_t nodes) {
    level.FlatAxes |= std::uint64_t(nodes == 1 ? 1 : 0) << axis;
    cells.Lower[axis] = 0;
    cells.Upper[axis] = std::max(static_cast<int>(nodes) - 2, 0);
  };
  setAxis(0, this->Description.X.size());
  setAxis(1, this->Description.Y.size());
  setAxis(2, group == Levels ? this->Description.Z.size() : 1);
  if (group == Surface) {
    cells.Lower[2] = cells.Upper[2] = SurfaceIndex;
  }
  this->Result.Levels.push_back(level);
  this->AddPatches(cells);
  this->Result.Levels.back().PatchCount = static_cast<int>(this->Result.Patches.size()) - level.FirstPatch;
}

/// Cuts the cells into patches, across rows first. Neighbours then share only one row of each level, and a
/// patch's part of a level is contiguous in the file.
void CatalogMaker::AddPatches(const Box& cells)
{
  const std::int64_t all = cells.CellCount();
  const auto variables =
      static_cast<std::int64_t>(this->Description.Variables.size()) * this->Description.MemberCount();
  const std::int64_t most = std::min(MostPatches, MostPresences / std::max<std::int64_t>(variables, 1));
  const std::int64_t inPatch = std::max(CellsOfPatch, all / most);
  const std::int64_t wanted = (all + inPatch - 1) / inPatch;
  const std::int64_t rows = cells.Width(1), layers = cells.Width(2);
  const std::int64_t alongY =
      std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(rows / FewestRows, 1));
  const std::int64_t alongZ = std::clamp<std::int64_t>((wanted + alongY - 1) / alongY, 1, layers);
  const auto cut = [](std::int64_t part, std::int64_t parts, std::int64_t width) {
    return static_cast<int>(part * width / parts);
  };
  for (std::int64_t k = 0; k < alongZ; ++k) {
    for (std::int64_t j = 0; j < alongY; ++j) {
      Patch patch;
      patch.Cells = cells;
      patch.Cells.Lower[1] = cells.Lower[1] + cut(j, alongY, rows);
      patch.Cells.Upper[1] = cells.Lower[1] + cut(j + 1, alongY, rows) - 1;
      patch.Cells.Lower[2] = cells.Lower[2] + cut(k, alongZ, layers);
      patch.Cells.Upper[2] = cells.Lower[2] + cut(k + 1, alongZ, layers) - 1;
      patch.Level = static_cast<int>(this->Result.Levels.size()) - 1;
      patch.Number = static_cast<int>(k * alongY + j);
      this->Result.Patches.push_back(patch);
    }
  }
}

void CatalogMaker::AddVariables()
{
  const Descriptor& d = this->Description;
  // Undefined values may differ from UNDEF by rounding. Without UNDEF, the largest double stands for
  // undefined values, because it differs from every float.
  const double undefined = d.UndefinedValue.value_or(std::numeric_limits<double>::max());
  const double tolerance = d.UndefinedValue ? std::abs(undefined) / 1e5 : 0;
  for (std::int64_t member = 0; member < d.MemberCount(); ++member) {
    for (const GradsVariable& source : d.Variables) {
      Variable variable;
      variable.Center = Centering::Node;
      variable.Name = source.Name + (d.Members.empty() ? "" : "_" + PlainText(d.Members[member]));
      variable.LongName = source.LongName;
      variable.StoredName = source.Name;
      variable.UndefinedFrom = undefined - tolerance;
      variable.UndefinedTo = undefined + tolerance;
      this->Result.Variables.push_back(variable);
    }
  }
  UniqueNames names;  // ParaView identifies arrays by their names
  for (Variable& variable : this->Result.Variables) {
    variable.Name = names.Add(variable.Name);
  }
  this->Result.ResetPresence();
  for (std::size_t v = 0; v < this->Result.Variables.size(); ++v) {
    const MemberVariable place = MemberVariableOf(d, static_cast<int>(v));
    const Group group = IsFlat(d, d.Variables[place.Variable]) ? Surface : Levels;
    for (std::size_t p = 0; p < this->Result.Patches.size(); ++p) {
      if (this->Groups[this->Result.Patches[p].Level] == group) {
        this->Result.SetPresence(static_cast<int>(v), static_cast<int>(p), Presence::Stored);
      }
    }
  }
}

}  // namespace

TimeStep StepOf(const Descriptor& descriptor, std::int64_t index)
{
  const std::int64_t minutes = descriptor.Times.Minutes(index);
  TimeStep step{descriptor.Path, static_cast<double>(minutes) / 60, minutes};
  step.Date = TextOf(descriptor.Times.DateAt(index));
  step.StepInFile = static_cast<int>(index);
  return step;
}

bool IsFlat(const Descriptor& descriptor, const GradsVariable& variable)
{
  return variable.Levels <= 1 || descriptor.Z.size() == 1;
}

Catalog GradsFormat::ReadCatalog(const std::string& path) const
{
  const Descriptor descriptor = ReadDescriptor(path);
  return CatalogMaker(descriptor).Run();
}

std::vector<std::string> NotesOnGrid(const Descriptor& descriptor)
{
  std::vector<std::string> notes = descriptor.Notes;
  const std::size_t levels = descriptor.Z.size();
  bool deep = false;
  std::string partly;
  for (const GradsVariable& variable : descriptor.Variables) {
    deep = deep || !IsFlat(descriptor, variable);
    if (!IsFlat(descriptor, variable) && variable.Levels != static_cast<int>(levels)) {
      partly += fmt::format("{}{} ({})", partly.empty() ? "" : ", ", variable.Name, variable.Levels);
    }
  }
  if (deep) {
    notes.push_back(
        ArePressures(descriptor.Z)
            ? fmt::format("{}: z is 7 ln(1000 hPa / p), about the height in km, because PatchIO takes the "
                          "decreasing levels for pressures in {}",
                  descriptor.Path, HectopascalsPerUnit(descriptor) == 1 ? "hPa" : "Pa")
            : fmt::format(
                  "{}: z is the number of the level, from 0; the field data array 'levels' has the values",
                  descriptor.Path));
  }
  if (!descriptor.UndefinedValue) {
    notes.push_back(
        descriptor.Path + ": the descriptor has no UNDEF, so PatchIO takes every number for a value");
  }
  constexpr double pole = 90;
  if (descriptor.Projection.empty() && (descriptor.Y.front() < -pole || descriptor.Y.back() > pole)) {
    notes.push_back(fmt::format(
        "{}: latitudes exceed the poles, from {} to {}; on a sphere, rows beyond a pole cover other rows",
        descriptor.Path, descriptor.Y.front(), descriptor.Y.back()));
  }
  if (!partly.empty()) {
    notes.push_back(fmt::format(
        "{}: these variables do not have the {} levels of ZDEF: {}. PatchIO shows each variable on "
        "its first levels; values on other levels are undefined",
        descriptor.Path, levels, partly));
  }
  return notes;
}

}  // namespace patchio::grads
