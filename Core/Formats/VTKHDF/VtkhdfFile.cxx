#include "Formats/VTKHDF/VtkhdfFile.h"

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

constexpr const char* Root = "VTKHDF";
/// More levels than any code has; a forged file shall not cost more.
constexpr int MostLevels = 64;
constexpr std::uint64_t MostBoxes = 1 << 24;

FileType TypeNamed(const std::string& name)
{
  return name == "ImageData" ? FileType::Image : name == "OverlappingAMR" ? FileType::Amr : FileType::None;
}

std::uint64_t ProductOf(const std::vector<std::uint64_t>& dims)
{
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t(1), std::multiplies<>());
}

class FactsReader
{
public:
  explicit FactsReader(const std::string& path) : File(path) { this->Facts.Path = path; }

  FileFacts Run()
  {
    const hdf5::Handle root = this->Open(Root);
    this->Facts.Type = TypeNamed(hdf5::TextAttribute(root, "Type"));
    this->RefuseSteps();
    if (this->Facts.Type == FileType::Image) {
      this->ReadImage(root);
    } else {
      this->ReadAmr(root);
    }
    this->ReadTime();
    return std::move(this->Facts);
  }

private:
  hdf5::Handle Open(const std::string& group) const;
  std::vector<double> Numbers(hid_t object, const std::string& name, std::size_t count) const;
  Double3 Triple(hid_t object, const std::string& name) const;
  void RefuseSteps() const;
  void ReadTime();
  void ReadImage(hid_t root);
  Box ReadExtent(hid_t root);
  void ReadAmr(hid_t root);
  std::vector<Box> ReadBoxes(const std::string& group) const;
  void ReadArrays(const std::string& group, Centering center, LevelFacts& level);
  std::optional<LevelArray> ReadArray(
      const std::string& dataset, const std::string& name, Centering center, const LevelFacts& level);
  std::vector<std::uint64_t> DimsOf(const std::string& dataset) const
  {
    return hdf5::DimsOf(this->File.OpenDataset(this->File.Id(), dataset));
  }
  std::uint64_t TuplesOf(const LevelFacts& level, Centering center) const;
  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const
  {
    throw FileError(this->Facts.Path, expected, found, "The file is damaged, or was not written for VTKHDF");
  }

  hdf5::File File;
  FileFacts Facts;
};

hdf5::Handle FactsReader::Open(const std::string& group) const
{
  hdf5::Handle handle = this->File.OpenGroup(this->File.Id(), group);
  if (!handle.Valid()) {
    this->Fail(fmt::format("a group '{}'", group), "none that can be opened (" + hdf5::LastMessage() + ")");
  }
  return handle;
}

std::vector<double> FactsReader::Numbers(hid_t object, const std::string& name, std::size_t count) const
{
  std::vector<double> values = hdf5::NumbersAttribute(object, name);
  if (values.size() != count) {
    this->Fail(fmt::format("{} numbers in the attribute '{}'", count, name),
        values.empty() ? "none" : fmt::format("{}", values.size()));
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      this->Fail(fmt::format("finite numbers in the attribute '{}'", name), fmt::format("{}", value));
    }
  }
  return values;
}

Double3 FactsReader::Triple(hid_t object, const std::string& name) const
{
  const std::vector<double> values = this->Numbers(object, name, 3);
  return {values[0], values[1], values[2]};
}

/// Several steps in one file are not read yet.
void FactsReader::RefuseSteps() const
{
  const std::string steps = std::string(Root) + "/Steps";
  if (!this->File.Has(steps)) {
    return;
  }
  const std::vector<double> count = hdf5::NumbersAttribute(this->Open(steps), "NSteps");
  if (count.empty() || count[0] > 1) {
    throw FileError(this->Facts.Path, "one time step in a VTKHDF file",
        count.empty() ? "steps without a number" : fmt::format("{}", count[0]),
        "Open it with ParaView's own VTKHDF reader, or write a file for each step");
  }
}

/// As ParaView writes the time of a file of one step.
void FactsReader::ReadTime()
{
  for (const char* name : {"VTKHDF/FieldData/TimeValue", "VTKHDF/FieldData/Time"}) {
    if (!this->Facts.Time && this->File.Has(name) && ProductOf(this->DimsOf(name)) == 1) {
      const double time = this->File.Double(name);
      this->Facts.Time = std::isfinite(time) ? std::optional(time) : std::nullopt;
    }
  }
}

/// The cells, and which axes are flat.
Box FactsReader::ReadExtent(hid_t root)
{
  const std::vector<double> extent = this->Numbers(root, "WholeExtent", 6);
  Box cells;
  for (int axis = 0; axis < 3; ++axis) {
    const double lower = extent[2 * axis], upper = extent[2 * axis + 1];
    if (!(std::abs(lower) < 1 << 30 && std::abs(upper) < 1 << 30 && upper >= lower)) {
      this->Fail("a 'WholeExtent' of rising pairs", fmt::format("{} to {}", lower, upper));
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
  level.Spacing = this->Triple(root, "Spacing");
  this->Facts.Origin = this->Triple(root, "Origin");
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
    throw FileError(this->Facts.Path, "an image along the axes", "a 'Direction' that turns it",
        "Open it with ParaView's own VTKHDF reader");
  }
  for (const Centering center : {Centering::Cell, Centering::Node}) {
    this->ReadArrays(Root, center, level);
  }
}

void FactsReader::ReadAmr(hid_t root)
{
  this->Facts.Origin = this->Triple(root, "Origin");
  const std::string axes = hdf5::TextAttribute(root, "GridDescription");
  if (axes != "XYZ" && axes != "XY") {
    throw FileError(this->Facts.Path, "'XYZ' or 'XY' in the attribute 'GridDescription'",
        axes.empty() ? "none" : "'" + PlainText(axes) + "'", "Open it with ParaView's own VTKHDF reader");
  }
  this->Facts.Dimension = axes == "XY" ? 2 : 3;
  for (int number = 0; number < MostLevels; ++number) {
    const std::string group = GroupOfLevel(FileType::Amr, number);
    if (!this->File.Has(group)) {
      break;
    }
    LevelFacts& level = this->Facts.Levels.emplace_back();
    level.Spacing = this->Triple(this->Open(group), "Spacing");
    level.Boxes = this->ReadBoxes(group);
    for (const Centering center : {Centering::Cell, Centering::Node}) {
      this->ReadArrays(group, center, level);
    }
  }
  if (this->Facts.Levels.empty()) {
    this->Fail("a group 'VTKHDF/Level0'", "none");
  }
}

std::vector<Box> FactsReader::ReadBoxes(const std::string& group) const
{
  const std::string name = group + "/AMRBox";
  const std::vector<std::uint64_t> dims = this->DimsOf(name);
  // A row takes a byte at least, however well it is compressed.
  const std::uint64_t most =
      std::min<std::uint64_t>(MostBoxes, 4096 + std::filesystem::file_size(this->Facts.Path));
  if (dims.size() != 2 || dims[1] != 6 || dims[0] > most) {
    this->Fail(fmt::format("rows of 6 numbers, at most {}, in '{}'", most, name),
        dims.empty() ? "none" : fmt::format("{} values in {} dimensions", dims[0], dims.size()));
  }
  std::vector<int> numbers(6 * dims[0]);
  if (!numbers.empty()) {
    this->File.Range(name, 0, numbers.size(), H5T_NATIVE_INT, numbers.data());
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
      this->Fail(fmt::format("boxes with cells in '{}'", name), fmt::format("another one in row {}", b));
    }
  }
  return boxes;
}

/// Values per component that an array of the level has.
std::uint64_t FactsReader::TuplesOf(const LevelFacts& level, Centering center) const
{
  double tuples = 0;
  for (const Box& box : level.Boxes) {
    double values = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const bool wide = axis < this->Facts.Dimension && (this->Facts.FlatAxes >> axis & 1) == 0;
      values *= static_cast<double>(box.Width(axis) + (center == Centering::Node && wide ? 1 : 0));
    }
    tuples += values;
  }
  return tuples < 4e18 ? static_cast<std::uint64_t>(tuples) : 0;
}

void FactsReader::ReadArrays(const std::string& group, Centering center, LevelFacts& level)
{
  const std::string folder = group + "/" + DatasetOf(center, "");
  for (const std::string& name : hdf5::LinkNames(this->File, folder.substr(0, folder.size() - 1))) {
    if (const std::optional<LevelArray> array = this->ReadArray(folder + name, name, center, level)) {
      level.Arrays.push_back(*array);
    }
  }
}

std::optional<LevelArray> FactsReader::ReadArray(
    const std::string& dataset, const std::string& name, Centering center, const LevelFacts& level)
{
  const auto leaveOut = [&](const std::string& why) {
    this->Facts.Notes.push_back(fmt::format("'{}' is left out: {}", PlainText(dataset), why));
    return std::nullopt;
  };
  const hdf5::Handle handle = this->File.OpenDataset(this->File.Id(), dataset);
  if (!handle.Valid()) {
    return leaveOut("it cannot be opened (" + hdf5::LastMessage() + ")");
  }
  if (!TypeOfValues(hdf5index::DescribeByLibrary(handle))) {
    return leaveOut("it has no numbers of a type that PatchIO reads");
  }
  const std::vector<std::uint64_t> dims = hdf5::DimsOf(handle);
  const std::size_t axes = this->Facts.Type == FileType::Image ? 3 : 1;
  constexpr std::uint64_t mostComponents = 1024;
  if (dims.size() != axes && (dims.size() != axes + 1 || dims.back() > mostComponents || dims.back() == 0)) {
    return leaveOut(fmt::format("it has {} dimensions", dims.size()));
  }
  const std::uint64_t tuples = ProductOf({dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axes)});
  const std::uint64_t wanted = this->TuplesOf(level, center);
  if (tuples != wanted) {
    this->Fail(fmt::format("{} values of each component in '{}'", wanted, PlainText(dataset)),
        fmt::format("{}", tuples));
  }
  return LevelArray{name, center, dims.size() == axes ? 1 : static_cast<int>(dims.back())};
}

}  // namespace

FileType TypeOfFile(const std::string& path)
{
  try {
    if (!hdf5::HasSignature(path)) {
      return FileType::None;
    }
    const hdf5::File file(path);
    const hdf5::Handle root = file.OpenGroup(file.Id(), Root);
    return root.Valid() ? TypeNamed(hdf5::TextAttribute(root, "Type")) : FileType::None;
  } catch (const std::exception&) {
    return FileType::None;
  }
}

FileFacts ReadFacts(const std::string& path)
{
  return FactsReader(std::filesystem::absolute(path).lexically_normal().string()).Run();
}

std::string GroupOfLevel(FileType type, int level)
{
  return type == FileType::Image ? Root : fmt::format("{}/Level{}", Root, level);
}

std::string DatasetOf(Centering center, const std::string& name)
{
  return (center == Centering::Cell ? "CellData/" : "PointData/") + name;
}

std::optional<ElementType> TypeOfValues(const hdf5index::Dataset& info)
{
  using hdf5index::NumberClass;
  const std::uint32_t bytes = info.ElementBytes;
  if (info.Class == NumberClass::Float) {
    return bytes == 4   ? std::optional(ElementType::Float32)
           : bytes == 8 ? std::optional(ElementType::Float64)
                        : std::nullopt;
  }
  if (info.Class != NumberClass::Integer) {
    return std::nullopt;
  }
  switch (info.Signed ? bytes : 16 * bytes) {
    case 2:
      return ElementType::Int16;
    case 4:
      return ElementType::Int32;
    case 8:
      return ElementType::Int64;
    case 16:
      return ElementType::UInt8;
    case 32:
      return ElementType::UInt16;
    default:
      return std::nullopt;
  }
}

}  // namespace patchio::vtkhdf
