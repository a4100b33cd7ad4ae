#include "Formats/VTKHDF/VtkhdfFile.h"

#include "Formats/VTKHDF/VtkhdfAccess.h"
#include "Formats/VTKHDF/VtkhdfMesh.h"
#include "Formats/VTKHDF/VtkhdfSteps.h"
#include "Hdf5Index/LibraryDataset.h"
#include "Support/Error.h"
#include "Support/Hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

namespace patchio::vtkhdf {
namespace {

/// More levels than any code has; a forged file shall not cost more.
constexpr int MostLevels = 64;
constexpr std::size_t MostPlaces = 1 << 26;

std::uint64_t ProductOf(const std::vector<std::uint64_t>& dims)
{
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t(1), std::multiplies<>());
}

const char* FolderOf(Centering center)
{
  return center == Centering::Cell ? "CellData/" : "PointData/";
}

/// The boxes of a level at one step: rows of its table.
struct BoxRows
{
  std::uint64_t First = 0, Count = 0;
};

/// First tuples of each step, where the file has none of the array itself.
using FirstTuples = std::function<std::vector<std::uint64_t>(Centering center)>;

class FactsReader
{
public:
  FactsReader(const std::string& path, int step) : File(path), Steps(File)
  {
    this->Facts.Path = path;
    this->Facts.Step = step;
  }

  FileFacts Run()
  {
    const hdf5::Handle root = this->File.Group(Root);
    const std::string type = hdf5::TextAttribute(root, "Type");
    this->Facts.Type = TypeNamed(type);
    this->Facts.Times = this->Steps.Times();
    if (this->Facts.Step < 0 || this->Facts.Step >= static_cast<int>(this->Steps.Count())) {
      throw FileError(this->Facts.Path, fmt::format("step {} in the file", this->Facts.Step + 1),
          fmt::format("{} steps", this->Steps.Count()), "Use File > Reload Files, or Reload() in scripts");
    }
    switch (this->Facts.Type) {
      case FileType::Image:
        this->ReadImage(root);
        break;
      case FileType::Amr:
        this->ReadAmr(root);
        break;
      case FileType::Unstructured:
      case FileType::Polygons:
        this->ReadMesh();
        break;
      case FileType::None:
        this->File.Fail("a VTKHDF type that PatchIO supports", "'" + PlainText(type) + "'");
    }
    this->ReadTime();
    return std::move(this->Facts);
  }

private:
  void ReadTime();
  void ReadImage(hid_t root);
  Box ReadExtent(hid_t root);
  void ReadAmr(hid_t root);
  void ReadLevel(const std::string& group, LevelFacts& level);
  std::vector<BoxRows> RowsOfSteps(const std::string& group, std::uint64_t boxes) const;
  std::vector<Box> ReadBoxes(const std::string& group) const;
  void ReadMesh();
  void ReadArrays(const std::string& group, const FirstTuples& first, LevelFacts& level);
  std::vector<std::uint64_t> FirstOf(const std::string& group, Centering center, const std::string& name,
      const FirstTuples& first, const LevelFacts& level) const;
  std::optional<LevelArray> ReadArray(const std::string& group, LevelArray array, const LevelFacts& level);
  std::vector<std::uint64_t> OfOwnSteps(std::vector<std::uint64_t> ofSteps) const;
  std::uint64_t TuplesOf(const LevelFacts& level, const LevelArray& array) const;
  std::uint64_t TuplesOfBoxes(const std::vector<Box>& boxes, Centering center) const;
  void CheckTuples(
      const std::string& dataset, const LevelArray& array, std::uint64_t tuples, std::uint64_t found) const;

  Access File;
  StepsGroup Steps;
  FileFacts Facts;
  std::size_t Places = 0;  ///< in LevelArray::First of all arrays
};

/// As ParaView writes the time of a file of one step.
void FactsReader::ReadTime()
{
  if (this->Steps.IsThere()) {
    this->Facts.Time = this->Steps.Times()[static_cast<std::size_t>(this->Facts.Step)];
  }
  for (const char* name : {"VTKHDF/FieldData/TimeValue", "VTKHDF/FieldData/Time"}) {
    if (!this->Facts.Time && this->File.Has(name) && ProductOf(this->File.DimsOf(name)) == 1) {
      const double time = this->File.File().Double(name);
      this->Facts.Time = std::isfinite(time) ? std::optional(time) : std::nullopt;
    }
  }
}

/// The entries of all steps, or only that of the step whose patches the facts describe.
std::vector<std::uint64_t> FactsReader::OfOwnSteps(std::vector<std::uint64_t> ofSteps) const
{
  return this->Facts.PatchesChange
             ? std::vector<std::uint64_t>{ofSteps[static_cast<std::size_t>(this->Facts.Step)]}
             : std::move(ofSteps);
}

/// The cells, and which axes are flat.
Box FactsReader::ReadExtent(hid_t root)
{
  const std::vector<double> extent = this->File.Numbers(root, "WholeExtent", 6);
  Box cells;
  for (int axis = 0; axis < 3; ++axis) {
    const double lower = extent[2 * axis], upper = extent[2 * axis + 1];
    if (!(std::abs(lower) < 1 << 30 && std::abs(upper) < 1 << 30 && upper >= lower)) {
      this->File.Fail("a 'WholeExtent' with increasing pairs", fmt::format("{} to {}", lower, upper));
    }
    cells.Lower[axis] = static_cast<int>(lower);
    cells.Upper[axis] = static_cast<int>(upper > lower ? upper - 1 : upper);
    this->Facts.FlatAxes |= upper > lower ? 0 : std::uint64_t(1) << axis;
  }
  return cells;
}

void FactsReader::ReadImage(hid_t root)
{
  LevelFacts& level = this->Facts.Levels.emplace_back();
  level.Boxes = {this->ReadExtent(root)};
  level.Spacing = this->File.Triple(root, "Spacing");
  this->Facts.Origin = this->File.Triple(root, "Origin");
  if ((this->Facts.FlatAxes & 4) != 0) {  // data of two dimensions have no third index
    Box& cells = level.Boxes[0];
    this->Facts.Origin[2] += cells.Lower[2] * level.Spacing[2];
    cells.Lower[2] = cells.Upper[2] = 0;
    this->Facts.Dimension = 2;
    this->Facts.FlatAxes &= 3;
  }
  const std::vector<double> unit{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<double> direction = hdf5::NumbersAttribute(root, "Direction");
  if (!direction.empty() && direction != unit) {
    throw FileError(this->Facts.Path, "an image aligned with the axes", "a 'Direction' that rotates it",
        "Open it with ParaView's own VTKHDF reader");
  }
  const FirstTuples first = [&](Centering center) {
    std::vector<std::uint64_t> tuples(this->Steps.Count(), 0);
    for (std::size_t s = 1; s < tuples.size(); ++s) {
      tuples[s] = AddPlaces(this->File, tuples[s - 1], this->TuplesOfBoxes(level.Boxes, center));
    }
    return tuples;
  };
  this->ReadArrays(Root, first, level);
}

void FactsReader::ReadAmr(hid_t root)
{
  this->Facts.Origin = this->File.Triple(root, "Origin");
  const std::string axes = hdf5::TextAttribute(root, "GridDescription");
  if (axes != "XYZ" && axes != "XY") {
    throw FileError(this->Facts.Path, "'XYZ' or 'XY' in the attribute 'GridDescription'",
        axes.empty() ? "none" : "'" + PlainText(axes) + "'", "Open it with ParaView's own VTKHDF reader");
  }
  this->Facts.Dimension = axes == "XY" ? 2 : 3;
  std::vector<std::string> groups;
  while (groups.size() < MostLevels &&
         this->File.Has(GroupOfLevel(FileType::Amr, static_cast<int>(groups.size())))) {
    groups.push_back(GroupOfLevel(FileType::Amr, static_cast<int>(groups.size())));
    const std::vector<BoxRows> rows = this->RowsOfSteps(groups.back(), 0);
    this->Facts.PatchesChange =
        this->Facts.PatchesChange || std::any_of(rows.begin(), rows.end(), [&](const BoxRows& other) {
          return other.First != rows[0].First || other.Count != rows[0].Count;
        });
  }
  if (groups.empty()) {
    this->File.Fail("a group 'VTKHDF/Level0'", "none");
  }
  for (const std::string& group : groups) {
    this->ReadLevel(group, this->Facts.Levels.emplace_back());
  }
}

void FactsReader::ReadLevel(const std::string& group, LevelFacts& level)
{
  level.Spacing = this->File.Triple(this->File.Group(group), "Spacing");
  const std::vector<Box> all = this->ReadBoxes(group);
  const std::vector<BoxRows> rows = this->RowsOfSteps(group, all.size());
  for (const BoxRows& ofStep : rows) {
    if (ofStep.First > all.size() || ofStep.Count > all.size() - ofStep.First) {
      this->File.Fail(fmt::format("steps within {} boxes of '{}'", all.size(), group),
          fmt::format("{} from {} on", ofStep.Count, ofStep.First));
    }
  }
  const auto begin = [&](std::uint64_t box) { return all.begin() + static_cast<std::ptrdiff_t>(box); };
  const BoxRows& own = rows[static_cast<std::size_t>(this->Facts.Step)];
  level.Boxes = {begin(own.First), begin(own.First + own.Count)};
  const FirstTuples first = [&](Centering center) {
    std::vector<std::uint64_t> before(1, 0), tuples;
    for (const Box& box : all) {
      before.push_back(AddPlaces(this->File, before.back(), this->TuplesOfBoxes({box}, center)));
    }
    for (const BoxRows& ofStep : rows) {
      tuples.push_back(before[ofStep.First]);
    }
    return tuples;
  };
  this->ReadArrays(group, first, level);
}

/// Which boxes of a level each step has. Older files have other names of the lists.
std::vector<BoxRows> FactsReader::RowsOfSteps(const std::string& group, std::uint64_t boxes) const
{
  if (!this->Steps.IsThere()) {
    return {{0, boxes}};
  }
  const std::string level = group.substr(group.rfind('/') + 1) + "/";
  auto first = this->Steps.MaybeList(level + "AMRBoxOffset");
  auto counts = this->Steps.MaybeList(level + "NumberOfAMRBox");
  first = first ? first : this->Steps.List(level + "AMRBoxOffsets");
  counts = counts ? counts : this->Steps.List(level + "NumberOfAMRBoxes");
  std::vector<BoxRows> rows;
  for (std::size_t s = 0; s < this->Steps.Count(); ++s) {
    rows.push_back({static_cast<std::uint64_t>((*first)[s]), static_cast<std::uint64_t>((*counts)[s])});
  }
  return rows;
}

std::vector<Box> FactsReader::ReadBoxes(const std::string& group) const
{
  const std::string name = group + "/AMRBox";
  const std::vector<std::uint64_t> dims = this->File.DimsOf(name);
  const std::uint64_t most = this->File.MostEntries();
  if (dims.size() != 2 || dims[1] != 6 || dims[0] > most) {
    this->File.Fail(fmt::format("rows of 6 numbers, at most {}, in '{}'", most, name),
        dims.empty() ? "none" : fmt::format("{} values in {} dimensions", dims[0], dims.size()));
  }
  std::vector<int> numbers(6 * dims[0]);
  if (!numbers.empty()) {
    this->File.File().Range(name, 0, numbers.size(), H5T_NATIVE_INT, numbers.data());
  }
  std::vector<Box> boxes(dims[0]);
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      boxes[b].Lower[axis] = numbers[6 * b + 2 * axis];
      boxes[b].Upper[axis] = numbers[6 * b + 2 * axis + 1];
    }
    const int limit = 1 << 30;
    const auto far = [&](int index) { return index < -limit || index > limit; };
    if (boxes[b].Empty() || std::any_of(boxes[b].Lower.begin(), boxes[b].Lower.end(), far) ||
        std::any_of(boxes[b].Upper.begin(), boxes[b].Upper.end(), far)) {
      this->File.Fail(fmt::format("non-empty boxes in '{}'", name), fmt::format("an empty box in row {}", b));
    }
  }
  return boxes;
}

void FactsReader::ReadMesh()
{
  const Partitions partitions(this->File, this->Facts.Type, this->Steps);
  this->Facts.PatchesChange = partitions.Change();
  LevelFacts& level = this->Facts.Levels.emplace_back();
  level.Meshes = partitions.SizesOf(static_cast<std::size_t>(this->Facts.Step));
  const auto firstOf = [&](const auto& place) {
    std::vector<std::uint64_t> tuples;
    for (const MeshStep& step : partitions.Steps()) {
      tuples.push_back(place(step));
    }
    return tuples;
  };
  this->ReadArrays(
      Root,
      [&](Centering center) {
        return firstOf([center](const MeshStep& step) {
          return center == Centering::Node ? step.Point : step.AllCells();
        });
      },
      level);
  // After the data, so that a name means data first.
  for (LevelArray array : partitions.Arrays()) {
    array.First = this->OfOwnSteps(firstOf([&](const MeshStep& step) { return PlaceOf(step, array); }));
    if (const auto found = this->ReadArray(Root, array, level)) {
      level.Arrays.push_back(*found);
    } else {
      this->File.Fail(fmt::format("the numbers of '{}/{}'", Root, array.Stored),
          "that " + this->Facts.Notes.back().substr(this->Facts.Notes.back().find(": ") + 2));
    }
  }
}

/// Values per component that all boxes have.
std::uint64_t FactsReader::TuplesOfBoxes(const std::vector<Box>& boxes, Centering center) const
{
  double tuples = 0;
  for (const Box& box : boxes) {
    double values = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const bool wide = axis < this->Facts.Dimension && (this->Facts.FlatAxes >> axis & 1) == 0;
      values *= static_cast<double>(box.Width(axis) + (center == Centering::Node && wide ? 1 : 0));
    }
    tuples += values;
  }
  return tuples < 4e18 ? static_cast<std::uint64_t>(tuples) : 0;
}

std::uint64_t FactsReader::TuplesOf(const LevelFacts& level, const LevelArray& array) const
{
  if (level.Meshes.empty()) {
    return this->TuplesOfBoxes(level.Boxes, array.Center);
  }
  std::uint64_t tuples = 0;
  for (const MeshSize& mesh : level.Meshes) {
    tuples = AddPlaces(this->File, tuples, EntriesOf(mesh, array));
  }
  return tuples;
}

void FactsReader::ReadArrays(const std::string& group, const FirstTuples& first, LevelFacts& level)
{
  for (const Centering center : {Centering::Cell, Centering::Node}) {
    const std::string folder = FolderOf(center);
    const std::string path = group + "/" + folder.substr(0, folder.size() - 1);
    for (const std::string& name : hdf5::LinkNames(this->File.File(), path)) {
      LevelArray array;
      array.Name = name;
      array.Stored = folder + name;
      array.Center = center;
      array.First = this->OfOwnSteps(this->FirstOf(group, center, name, first, level));
      array.Role = !level.Meshes.empty() && name == "vtkGhostType" ? MeshRole::Flags : MeshRole::Values;
      if (const auto found = this->ReadArray(group, array, level)) {
        level.Arrays.push_back(*found);
      }
    }
  }
}

/// Where each step of an array begins: as the file says, or where its grid does.
std::vector<std::uint64_t> FactsReader::FirstOf(const std::string& group, Centering center,
    const std::string& name, const FirstTuples& first, const LevelFacts& level) const
{
  const std::string ofLevel = group == Root ? std::string() : group.substr(group.rfind('/') + 1) + "/";
  const std::string list = center == Centering::Cell ? "CellDataOffset" : "PointDataOffset";
  auto places = this->Steps.MaybeList(ofLevel + list + "s/" + name);
  places = places ? places : this->Steps.MaybeList(ofLevel + list + "/" + name);
  if (!places) {
    return first(center);
  }
  // Images count by steps, all others by values.
  const std::uint64_t unit =
      this->Facts.Type == FileType::Image ? this->TuplesOfBoxes(level.Boxes, center) : 1;
  std::vector<std::uint64_t> tuples;
  for (const std::int64_t place : *places) {
    const double far = static_cast<double>(place) * static_cast<double>(unit);
    if (far > 1e18) {
      this->File.Fail(
          fmt::format("steps of '{}' within the file", PlainText(name)), fmt::format("{}", place));
    }
    tuples.push_back(static_cast<std::uint64_t>(place) * unit);
  }
  return tuples;
}

/// Finds out what a data set has; nothing, and a note, where it cannot be read.
std::optional<LevelArray> FactsReader::ReadArray(
    const std::string& group, LevelArray array, const LevelFacts& level)
{
  const std::string dataset = group + "/" + array.Stored;
  const auto leaveOut = [&](const std::string& why) {
    this->Facts.Notes.push_back(fmt::format("'{}' is skipped: {}", PlainText(dataset), why));
    return std::nullopt;
  };
  const hdf5::Handle handle = this->File.File().OpenDataset(this->File.File().Id(), dataset);
  if (!handle.Valid()) {
    return leaveOut("it cannot be opened (" + hdf5::LastMessage() + ")");
  }
  if (!TypeOfValues(hdf5index::DescribeByLibrary(handle))) {
    return leaveOut("its type is not supported");
  }
  const std::vector<std::uint64_t> dims = hdf5::DimsOf(handle);
  const bool image = this->Facts.Type == FileType::Image;
  const std::size_t axes = !image ? 1 : this->Steps.IsThere() ? 4 : 3;
  constexpr std::uint64_t mostComponents = 1024;
  if (dims.size() != axes && (dims.size() != axes + 1 || dims.back() > mostComponents || dims.back() == 0)) {
    return leaveOut(fmt::format("it has {} dimensions", dims.size()));
  }
  array.Components = dims.size() == axes ? 1 : static_cast<int>(dims.back());
  const int wanted = array.Role == MeshRole::Points ? 3 : 1;
  if (array.Role != MeshRole::Values && array.Components != wanted) {
    return leaveOut(fmt::format("it has {} components, not {}", array.Components, wanted));
  }
  this->Places += array.First.size();
  if (this->Places > MostPlaces) {
    this->File.Fail(fmt::format("at most {} offsets of steps", MostPlaces), "more");
  }
  const std::uint64_t ofStep = this->TuplesOf(level, array);
  const std::uint64_t there = ProductOf({dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axes)});
  this->CheckTuples(dataset, array, ofStep, there);
  return array;
}

/// Meshes and files made of steps may have room for more.
void FactsReader::CheckTuples(
    const std::string& dataset, const LevelArray& array, std::uint64_t tuples, std::uint64_t found) const
{
  const std::uint64_t last =
      array.First.empty() ? 0 : *std::max_element(array.First.begin(), array.First.end());
  const std::uint64_t wanted = AddPlaces(this->File, last, tuples);
  const bool more = this->Steps.IsThere() || this->Facts.Type == FileType::Unstructured ||
                    this->Facts.Type == FileType::Polygons;
  if (found < wanted || (found > wanted && !more)) {
    this->File.Fail(
        fmt::format("{} values per component in '{}'", wanted, PlainText(dataset)), fmt::format("{}", found));
  }
}

}  // namespace

FileFacts ReadFacts(const std::string& path, int step)
{
  return FactsReader(std::filesystem::absolute(path).lexically_normal().string(), step).Run();
}

}  // namespace patchio::vtkhdf
