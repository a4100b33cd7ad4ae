#include "Formats/VTKHDF/VtkhdfAccess.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Catalog/Box.h"
#include "Formats/Hdf5Locator.h"
#include "Hdf5/Dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchio::vtkhdf {
namespace {

/// The partitions of a step, and the number of entries before the step in each data set.
struct MeshStep
{
  std::size_t FirstPartition = 0, PartitionCount = 0;
  std::uint64_t Point = 0;
  std::array<std::uint64_t, MeshSize::MostLists> Cell{}, Connectivity{}, Offset{};

  std::uint64_t AllCells() const { return this->Cell[0] + this->Cell[1] + this->Cell[2] + this->Cell[3]; }
};

/// All partitions of a file, and the range of them for each step.
class Partitions
{
public:
  /// Reads the partitions. Throws Error when the file lacks them or contradicts itself.
  Partitions(const Access& file, FileType type, const StepsGroup& steps);

  const std::vector<MeshStep>& Steps() const { return this->MeshSteps; }
  /// Returns the partitions of a step.
  std::vector<MeshSize> SizesOf(std::size_t step) const;
  /// Returns whether the number, the sizes or the offsets of partitions differ between steps, or partitions
  /// are too many to compare.
  bool MeshChanges() const;
  /// Returns the arrays of the mesh itself (points, cells), without `First`.
  std::vector<LevelArray> Arrays() const;

private:
  void ReadSizes();
  void SumCells();
  void ReadSteps(const StepsGroup& steps);
  std::vector<std::int64_t> CountPartitions(const StepsGroup& steps,
      const std::vector<std::int64_t>& firstPoints, std::vector<std::int64_t>& firstPartitions) const;
  bool AreConsecutive(std::size_t each, const std::vector<std::int64_t>& firstPoints) const;
  std::uint64_t OffsetsBefore(const MeshStep& step, std::size_t list) const;

  const Access& File;
  std::vector<std::string> Lists;  ///< groups of the lists of cells: "", or "Lines/" and so on
  std::vector<bool> HasList;
  std::vector<MeshSize> Sizes;
  std::vector<std::vector<std::uint64_t>> CellsBefore;  ///< by list: cells before each partition, and the sum
  std::vector<std::uint64_t> OffsetEntries;             ///< by list: number of entries of its data set
  std::vector<MeshStep> MeshSteps;
};

std::string InRoot(const std::string& name)
{
  return std::string(Root) + "/" + name;
}

bool HaveSameSize(const MeshSize& a, const MeshSize& b)
{
  return a.Points == b.Points && a.Cells == b.Cells && a.Connectivity == b.Connectivity;
}

/// Throws Error for polyhedra, and for files in which VTK has omitted the mesh's own lists: external time
/// steps of a constant mesh.
void CheckSupported(const Access& file)
{
  const std::string faces = InRoot("PolyhedronToFaces");
  const std::vector<std::uint64_t> dims = file.DimsOf(faces);
  if (!dims.empty() && dims[0] > 0) {
    file.FailUnsupported("cells of type 42 (polyhedra)", faces);
  }
  if (file.Has(InRoot("NumberOfPoints"))) {
    return;
  }
  for (const std::string& folder : {InRoot("CellData"), InRoot("PointData")}) {
    for (const std::string& name : file.Names(folder)) {
      if (file.Describe(folder + "/" + name).Layout == hdf5::StorageLayout::Virtual) {
        file.FailUnsupported("virtual data set of a mesh without 'NumberOfPoints'", folder + "/" + name);
      }
    }
  }
}

/// Returns the number of entries before a step in one of the mesh's own arrays.
std::uint64_t EntriesBefore(const MeshStep& step, const LevelArray& array)
{
  switch (array.Role) {
    case MeshRole::Connectivity:
      return step.Connectivity[array.CellList];
    case MeshRole::Offsets:
      return step.Offset[array.CellList];
    case MeshRole::Types:
      return step.Cell[0];
    default:
      return step.Point;
  }
}

/// Returns the number of entries per component of a partition in an array of the mesh itself or of data.
std::uint64_t EntriesOf(const MeshSize& partition, const LevelArray& array)
{
  const auto entries = [&] {
    switch (array.Role) {
      case MeshRole::Connectivity:
        return partition.Connectivity[array.CellList];
      case MeshRole::Offsets:
        return partition.Cells[array.CellList] + 1;
      default:
        return array.Center == Centering::Node ? partition.Points : partition.AllCells();
    }
  };
  return static_cast<std::uint64_t>(entries());
}

Partitions::Partitions(const Access& file, FileType type, const StepsGroup& steps) : File(file)
{
  CheckSupported(file);
  this->Lists = type == FileType::Polygons
                    ? std::vector<std::string>{"Vertices/", "Lines/", "Polygons/", "Strips/"}
                    : std::vector<std::string>{""};
  for (const std::string& list : this->Lists) {
    // Polygonal data may lack some of the lists.
    this->HasList.push_back(list.empty() || file.Has(InRoot(list.substr(0, list.size() - 1))));
  }
  this->ReadSizes();
  this->SumCells();
  this->ReadSteps(steps);
}

void Partitions::ReadSizes()
{
  const std::vector<std::int64_t> points = this->File.Counts(InRoot("NumberOfPoints"));
  this->Sizes.resize(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) {
    this->Sizes[p].Points = points[p];
  }
  for (std::size_t list = 0; list < this->Lists.size(); ++list) {
    for (const bool cells : {true, false}) {
      if (!this->HasList[list]) {
        continue;
      }
      const std::string name =
          InRoot(this->Lists[list] + (cells ? "NumberOfCells" : "NumberOfConnectivityIds"));
      const std::vector<std::int64_t> counts = this->File.Counts(name);
      if (counts.size() != points.size()) {
        this->File.Fail(fmt::format("a number for each of {} partitions in '{}'", points.size(), name),
            fmt::format("{}", counts.size()));
      }
      for (std::size_t p = 0; p < counts.size(); ++p) {
        (cells ? this->Sizes[p].Cells : this->Sizes[p].Connectivity)[list] = counts[p];
      }
    }
  }
}

void Partitions::SumCells()
{
  for (std::size_t list = 0; list < this->Lists.size(); ++list) {
    std::vector<std::uint64_t>& before = this->CellsBefore.emplace_back(1, 0);
    for (const MeshSize& partition : this->Sizes) {
      before.push_back(
          AddOffsets(this->File, before.back(), static_cast<std::uint64_t>(partition.Cells[list])));
    }
    const std::vector<std::uint64_t> dims = this->File.DimsOf(InRoot(this->Lists[list] + "Offsets"));
    this->OffsetEntries.push_back(dims.empty() ? 0 : dims[0]);
  }
}

/// Returns the number of partitions of each step. Steps/NumberOfParts may be missing if all steps have
/// equally many. Completes `firstPartitions`: with external time steps, VTK's writer writes zeros although
/// each step has its own partitions.
std::vector<std::int64_t> Partitions::CountPartitions(const StepsGroup& steps,
    const std::vector<std::int64_t>& firstPoints, std::vector<std::int64_t>& firstPartitions) const
{
  if (const auto counts = steps.Find("NumberOfParts")) {
    return *counts;
  }
  bool shared = std::all_of(
      firstPartitions.begin(), firstPartitions.end(), [](std::int64_t part) { return part == 0; });
  const std::size_t each = this->Sizes.size() / steps.Count();
  if (shared && this->AreConsecutive(each, firstPoints)) {
    shared = false;
    for (std::size_t s = 0; s < firstPartitions.size(); ++s) {
      firstPartitions[s] = static_cast<std::int64_t>(s * each);
    }
  }
  const auto ofStep = static_cast<std::int64_t>(shared ? this->Sizes.size() : each);
  return std::vector<std::int64_t>(steps.Count(), ofStep);
}

/// Returns whether there are several steps of `each` partitions, whose points follow each other.
bool Partitions::AreConsecutive(std::size_t each, const std::vector<std::int64_t>& firstPoints) const
{
  std::uint64_t before = 0;
  for (std::size_t s = 0; s < firstPoints.size(); ++s) {
    if (static_cast<std::uint64_t>(firstPoints[s]) != before) {
      return false;
    }
    for (std::size_t p = s * each; p < (s + 1) * each; ++p) {
      before = AddOffsets(this->File, before, static_cast<std::uint64_t>(this->Sizes[p].Points));
    }
  }
  return firstPoints.size() > 1 && before > 0 && each * firstPoints.size() == this->Sizes.size();
}

void Partitions::ReadSteps(const StepsGroup& steps)
{
  const std::size_t lists = this->Lists.size();
  std::vector<std::int64_t> first = steps.Read("PartOffsets");
  const std::vector<std::int64_t> point = steps.Read("PointOffsets"), cell = steps.Read("CellOffsets", lists),
                                  connectivity = steps.Read("ConnectivityIdOffsets", lists);
  const std::vector<std::int64_t> counts = this->CountPartitions(steps, point, first);
  for (std::size_t s = 0; s < steps.Count(); ++s) {
    MeshStep& step = this->MeshSteps.emplace_back();
    step.FirstPartition = static_cast<std::size_t>(first[s]);
    step.PartitionCount = static_cast<std::size_t>(counts[s]);
    step.Point = static_cast<std::uint64_t>(point[s]);
    if (step.FirstPartition > this->Sizes.size() ||
        step.PartitionCount > this->Sizes.size() - step.FirstPartition) {
      this->File.Fail(fmt::format("at each step, partitions among the {} partitions", this->Sizes.size()),
          fmt::format("{} from index {} on at step {}", step.PartitionCount, step.FirstPartition, s));
    }
    for (std::size_t list = 0; list < lists; ++list) {
      step.Cell[list] = static_cast<std::uint64_t>(cell[s * lists + list]);
      step.Connectivity[list] = static_cast<std::uint64_t>(connectivity[s * lists + list]);
      step.Offset[list] = this->OffsetsBefore(step, list);
    }
  }
}

/// Returns the number of offsets before a step. Each partition has one more offset than cells, so the result
/// is the number of cells before the step plus the number of partitions before the step. If a list of cells
/// is stored once for several partitions, only the partitions of the preceding cells count.
std::uint64_t Partitions::OffsetsBefore(const MeshStep& step, std::size_t list) const
{
  const std::vector<std::uint64_t>& before = this->CellsBefore[list];
  const std::uint64_t cells = step.Cell[list];
  const std::size_t end = step.FirstPartition + step.PartitionCount;
  const std::uint64_t wanted = AddOffsets(this->File, before[end] - before[step.FirstPartition], cells) + end;
  if (before[step.FirstPartition] == cells && wanted <= this->OffsetEntries[list]) {
    return cells + step.FirstPartition;
  }
  const auto last = before.begin() + static_cast<std::ptrdiff_t>(step.FirstPartition);
  return cells + static_cast<std::uint64_t>(std::lower_bound(before.begin(), last, cells) - before.begin());
}

std::vector<MeshSize> Partitions::SizesOf(std::size_t step) const
{
  const auto first = this->Sizes.begin() + static_cast<std::ptrdiff_t>(this->MeshSteps[step].FirstPartition);
  return {first, first + static_cast<std::ptrdiff_t>(this->MeshSteps[step].PartitionCount)};
}

bool Partitions::MeshChanges() const
{
  constexpr std::size_t manyComparisons = 1 << 26;
  const MeshStep& one = this->MeshSteps[0];
  if (this->MeshSteps.size() > manyComparisons / std::max<std::size_t>(one.PartitionCount, 1)) {
    return true;
  }
  return std::any_of(this->MeshSteps.begin(), this->MeshSteps.end(), [&](const MeshStep& other) {
    if (other.PartitionCount != one.PartitionCount || other.Point != one.Point || other.Cell != one.Cell ||
        other.Connectivity != one.Connectivity || other.Offset != one.Offset) {
      return true;
    }
    const auto first = this->Sizes.begin();
    return !std::equal(first + static_cast<std::ptrdiff_t>(one.FirstPartition),
        first + static_cast<std::ptrdiff_t>(one.FirstPartition + one.PartitionCount),
        first + static_cast<std::ptrdiff_t>(other.FirstPartition), HaveSameSize);
  });
}

std::vector<LevelArray> Partitions::Arrays() const
{
  std::vector<LevelArray> arrays;
  const auto add = [&arrays](const std::string& name, MeshRole role, std::size_t list) {
    LevelArray& array = arrays.emplace_back();
    array.Name = array.StoredName = name;
    array.Center = role == MeshRole::Points ? Centering::Node : Centering::Cell;
    array.Role = role;
    array.CellList = static_cast<int>(list);
  };
  add("Points", MeshRole::Points, 0);
  for (std::size_t list = 0; list < this->Lists.size(); ++list) {
    if (this->HasList[list]) {
      add(this->Lists[list] + "Connectivity", MeshRole::Connectivity, list);
      add(this->Lists[list] + "Offsets", MeshRole::Offsets, list);
    }
  }
  if (this->Lists.size() == 1) {
    add("Types", MeshRole::Types, 0);
  }
  return arrays;
}

/// Returns the number of components of an array of shape `dims`, or nullopt for an invalid shape. `axes`:
/// number of axes before the optional axis of the components.
std::optional<int> ComponentsAfterAxes(const std::vector<std::uint64_t>& dims, std::size_t axes)
{
  constexpr std::uint64_t most = 1024;
  if (dims.size() == axes) {
    return 1;
  }
  const bool several = dims.size() == axes + 1 && dims.back() > 0 && dims.back() <= most;
  return several ? std::optional(static_cast<int>(dims.back())) : std::nullopt;
}

/// Returns the number of components of an array of an image at one step, or nullopt for an impossible shape.
/// `tuples`: number of values along x, y and z. VTK omits flat axes. For a single point, VTK omits all axes,
/// or all but one in a file without steps. Other writers keep all three axes.
std::optional<int> ComponentsOfImage(
    const std::vector<std::uint64_t>& dims, const Int3& tuples, const std::array<bool, 3>& flat)
{
  std::vector<std::uint64_t> all, wide;
  for (int axis = 2; axis >= 0; --axis) {
    all.push_back(static_cast<std::uint64_t>(tuples[axis]));
    if (!flat[axis]) {
      wide.push_back(all.back());
    }
  }
  std::vector<std::vector<std::uint64_t>> shapes{all, wide};
  if (wide.empty()) {
    shapes[1].push_back(1);
    shapes.push_back(wide);
  }
  for (const std::vector<std::uint64_t>& shape : shapes) {
    if (dims.size() >= shape.size() && std::equal(shape.begin(), shape.end(), dims.begin())) {
      if (const std::optional<int> components = ComponentsAfterAxes(dims, shape.size())) {
        return components;
      }
    }
  }
  // The axes differ from those of the image: the caller compares the number of values.
  return ComponentsAfterAxes(dims, 3);
}

/// Limits above those of any real file, which bound the cost of a forged one.
constexpr int MostLevels = 64;
constexpr std::size_t MostOffsets = 1 << 26;

const char* FolderOf(Centering center)
{
  return center == Centering::Cell ? "CellData/" : "PointData/";
}

/// The boxes of a level at one step, as rows of the level's AMRBox.
struct BoxRows
{
  std::uint64_t First = 0, Count = 0;
};

/// Returns whether the array belongs to the mesh itself. A mesh that lacks such an array cannot be shown.
bool IsMeshArray(const LevelArray& array)
{
  return array.Role != MeshRole::Values && array.Role != MeshRole::Flags;
}

/// A function that returns the first tuple of each step, for arrays whose own offsets are not in the file.
using FirstTuples = std::function<std::vector<std::uint64_t>(Centering center)>;

/// Returns the number of an image's planes that a chunk overlaps.
std::int64_t PlanesOfChunk(const hdf5::Dataset& info, bool hasSteps)
{
  std::size_t axis = hasSteps ? 1 : 0;
  while (axis + 1 < info.Rank && info.Dims[axis] == 1) {
    ++axis;
  }
  const bool inChunks = info.Layout == hdf5::StorageLayout::Chunked && axis < info.Rank;
  const std::uint64_t planes = inChunks ? std::min(info.ChunkDims[axis], info.Dims[axis]) : 1;
  return static_cast<std::int64_t>(std::max<std::uint64_t>(planes, 1));
}

class FileReader
{
public:
  FileReader(const std::string& path, int step) : File(path), Steps(File)
  {
    this->Result.Path = path;
    this->Result.Step = step;
  }

  FileDescription Run()
  {
    this->File.RequireGroup(Root);
    const std::string type = this->File.Text(Root, "Type");
    this->Result.Type = TypeNamed(type);
    this->Result.Times = this->Steps.Times();
    if (this->Result.Step < 0 || this->Result.Step >= static_cast<int>(this->Steps.Count())) {
      throw FileError(this->Result.Path, fmt::format("step {} in the file", this->Result.Step + 1),
          fmt::format("{} steps", this->Steps.Count()), "Use File > Reload Files, or Reload() in scripts");
    }
    switch (this->Result.Type) {
      case FileType::Image:
        this->ReadImage();
        break;
      case FileType::Amr:
        this->ReadAmr();
        break;
      case FileType::Unstructured:
      case FileType::Polygons:
        this->ReadMesh();
        break;
      case FileType::None:
        this->File.FailUnsupported("type '" + PlainText(type) + "'", Root);
    }
    this->ReadTime();
    return std::move(this->Result);
  }

private:
  void ReadTime();
  void ReadImage();
  void ReadAmr();
  void ReadLevel(const std::string& group, LevelDescription& level);
  std::vector<BoxRows> RowsOfSteps(const std::string& group, std::uint64_t boxes) const;
  void ReadMesh();
  void ReadArrays(const std::string& group, const FirstTuples& first, LevelDescription& level);
  std::vector<std::uint64_t> FirstTuplesOf(const std::string& group, Centering center,
      const std::string& name, const FirstTuples& first, const LevelDescription& level) const;
  std::optional<LevelArray> ReadArray(const std::string& group, LevelArray array, LevelDescription& level);
  bool IsScattered(const std::string& dataset, const LevelArray& array, std::uint64_t tuples) const;
  void SkipArray(const LevelArray& array, const std::string& fault);
  std::optional<int> ComponentsOf(
      std::vector<std::uint64_t> dims, const LevelArray& array, const LevelDescription& level) const;
  std::vector<std::uint64_t> SliceSteps(std::vector<std::uint64_t> entries) const;
  std::uint64_t TuplesOf(const LevelDescription& level, const LevelArray& array) const;
  std::uint64_t TuplesOfBoxes(const std::vector<Box>& boxes, Centering center) const;
  /// Returns whether the axis has a single layer of nodes.
  bool IsFlat(int axis) const
  {
    return axis >= this->Result.Dimension || (this->Result.FlatAxes >> axis & 1) != 0;
  }
  void CheckTuples(
      const std::string& dataset, const LevelArray& array, std::uint64_t tuples, std::uint64_t found) const;

  Access File;
  StepsGroup Steps;
  FileDescription Result;
  std::size_t OffsetCount = 0;           ///< number of entries in LevelArray::First of all arrays
  std::set<std::string> ReportedArrays;  ///< arrays, on all levels, with a message in SkipMessages
};

/// Sets the time of the step from the group of steps or, in a file without steps, from the field data
/// TimeValue or Time of ParaView. Field data that are not a single number, such as a date, are not the time.
void FileReader::ReadTime()
{
  if (this->Steps.Exists()) {
    this->Result.Time = this->Steps.Times()[static_cast<std::size_t>(this->Result.Step)];
  }
  for (const char* name : {"VTKHDF/FieldData/TimeValue", "VTKHDF/FieldData/Time"}) {
    if (this->Result.Time || !this->File.Has(name)) {
      continue;
    }
    const hdf5::Dataset info = this->File.Describe(name);
    if (info.Values == 1 && Access::UnsupportedReason(info).empty()) {
      const double time = this->File.Double(name);
      this->Result.Time = std::isfinite(time) ? std::optional(time) : std::nullopt;
    }
  }
}

/// Returns the entries of all steps, or only the entry of the described step if patches change.
std::vector<std::uint64_t> FileReader::SliceSteps(std::vector<std::uint64_t> entries) const
{
  return this->Result.PatchesChange
             ? std::vector<std::uint64_t>{entries[static_cast<std::size_t>(this->Result.Step)]}
             : std::move(entries);
}

void FileReader::ReadImage()
{
  LevelDescription& level = this->Result.Levels.emplace_back();
  level.Boxes = {this->File.WholeExtent(Root, this->Result.FlatAxes)};
  level.Spacing = this->File.Triple(Root, "Spacing");
  this->Result.Origin = this->File.Triple(Root, "Origin");
  if ((this->Result.FlatAxes & 4) != 0) {  // data of two dimensions do not have a third index
    Box& cells = level.Boxes[0];
    this->Result.Origin[2] += cells.Lower[2] * level.Spacing[2];
    cells.Lower[2] = cells.Upper[2] = 0;
    this->Result.Dimension = 2;
    this->Result.FlatAxes &= 3;
  }
  const std::vector<double> unit{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<double> direction = this->File.Numbers(Root, "Direction");
  if (!direction.empty() && direction != unit) {
    this->File.FailUnsupported("rotated image (attribute 'Direction')", Root);
  }
  const FirstTuples first = [&](Centering center) {
    std::vector<std::uint64_t> tuples(this->Steps.Count(), 0);
    for (std::size_t s = 1; s < tuples.size(); ++s) {
      tuples[s] = AddOffsets(this->File, tuples[s - 1], this->TuplesOfBoxes(level.Boxes, center));
    }
    return tuples;
  };
  this->ReadArrays(Root, first, level);
}

void FileReader::ReadAmr()
{
  this->Result.Origin = this->File.Triple(Root, "Origin");
  const std::string axes = this->File.Text(Root, "GridDescription");
  if (axes != "XYZ" && axes != "XY") {
    this->File.FailUnsupported("attribute 'GridDescription' other than 'XYZ' and 'XY'", Root);
  }
  this->Result.Dimension = axes == "XY" ? 2 : 3;
  std::vector<std::string> groups;
  while (groups.size() < MostLevels &&
         this->File.Has(GroupOfLevel(FileType::Amr, static_cast<int>(groups.size())))) {
    groups.push_back(GroupOfLevel(FileType::Amr, static_cast<int>(groups.size())));
    const std::vector<BoxRows> rows = this->RowsOfSteps(groups.back(), 0);
    this->Result.PatchesChange =
        this->Result.PatchesChange || std::any_of(rows.begin(), rows.end(), [&](const BoxRows& other) {
          return other.First != rows[0].First || other.Count != rows[0].Count;
        });
  }
  if (groups.empty()) {
    this->File.Fail("a group 'VTKHDF/Level0'", "none");
  }
  for (const std::string& group : groups) {
    this->ReadLevel(group, this->Result.Levels.emplace_back());
  }
}

void FileReader::ReadLevel(const std::string& group, LevelDescription& level)
{
  level.Spacing = this->File.Triple(group, "Spacing");
  const std::vector<Box> all = this->File.Boxes(group + "/AMRBox");
  const std::vector<BoxRows> rows = this->RowsOfSteps(group, all.size());
  for (const BoxRows& ofStep : rows) {
    if (ofStep.First > all.size() || ofStep.Count > all.size() - ofStep.First) {
      this->File.Fail(fmt::format("at each step, boxes among the {} boxes of '{}'", all.size(), group),
          fmt::format("{} boxes from index {} on", ofStep.Count, ofStep.First));
    }
  }
  const auto begin = [&](std::uint64_t box) { return all.begin() + static_cast<std::ptrdiff_t>(box); };
  const BoxRows& own = rows[static_cast<std::size_t>(this->Result.Step)];
  level.Boxes = {begin(own.First), begin(own.First + own.Count)};
  const FirstTuples first = [&](Centering center) {
    std::vector<std::uint64_t> before(1, 0), tuples;
    for (const Box& box : all) {
      before.push_back(AddOffsets(this->File, before.back(), this->TuplesOfBoxes({box}, center)));
    }
    for (const BoxRows& ofStep : rows) {
      tuples.push_back(before[ofStep.First]);
    }
    return tuples;
  };
  this->ReadArrays(group, first, level);
}

/// Returns the boxes of a level at each step, or all `boxes` boxes of the level in a file without steps.
std::vector<BoxRows> FileReader::RowsOfSteps(const std::string& group, std::uint64_t boxes) const
{
  if (!this->Steps.Exists()) {
    return {{0, boxes}};
  }
  const std::string level = group.substr(group.rfind('/') + 1) + "/";
  auto first = this->Steps.Find(level + "AMRBoxOffset");
  auto counts = this->Steps.Find(level + "NumberOfAMRBox");
  first = first ? first : this->Steps.Read(level + "AMRBoxOffsets");
  counts = counts ? counts : this->Steps.Read(level + "NumberOfAMRBoxes");
  std::vector<BoxRows> rows;
  for (std::size_t s = 0; s < this->Steps.Count(); ++s) {
    rows.push_back({static_cast<std::uint64_t>((*first)[s]), static_cast<std::uint64_t>((*counts)[s])});
  }
  return rows;
}

void FileReader::ReadMesh()
{
  const Partitions partitions(this->File, this->Result.Type, this->Steps);
  this->Result.PatchesChange = partitions.MeshChanges();
  LevelDescription& level = this->Result.Levels.emplace_back();
  level.Meshes = partitions.SizesOf(static_cast<std::size_t>(this->Result.Step));
  const auto firstOf = [&](const auto& entriesBefore) {
    std::vector<std::uint64_t> tuples;
    for (const MeshStep& step : partitions.Steps()) {
      tuples.push_back(entriesBefore(step));
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
  // The mesh's own arrays come after the data, because a name shared by both means the data.
  for (LevelArray array : partitions.Arrays()) {
    array.First = this->SliceSteps(firstOf([&](const MeshStep& step) { return EntriesBefore(step, array); }));
    if (const auto found = this->ReadArray(Root, array, level)) {
      level.Arrays.push_back(*found);
    }
  }
}

/// Returns the number of values per component on all boxes; 0 if the number exceeds any file.
std::uint64_t FileReader::TuplesOfBoxes(const std::vector<Box>& boxes, Centering center) const
{
  double tuples = 0;
  for (const Box& box : boxes) {
    double values = 1;
    for (int axis = 0; axis < 3; ++axis) {
      const bool more = center == Centering::Node && !this->IsFlat(axis);
      values *= static_cast<double>(box.Width(axis) + (more ? 1 : 0));
    }
    tuples += values;
  }
  return tuples < 4e18 ? static_cast<std::uint64_t>(tuples) : 0;
}

std::uint64_t FileReader::TuplesOf(const LevelDescription& level, const LevelArray& array) const
{
  if (level.Meshes.empty()) {
    return this->TuplesOfBoxes(level.Boxes, array.Center);
  }
  std::uint64_t tuples = 0;
  for (const MeshSize& mesh : level.Meshes) {
    tuples = AddOffsets(this->File, tuples, EntriesOf(mesh, array));
  }
  return tuples;
}

void FileReader::ReadArrays(const std::string& group, const FirstTuples& first, LevelDescription& level)
{
  for (const Centering center : {Centering::Cell, Centering::Node}) {
    const std::string folder = FolderOf(center);
    const std::string path = group + "/" + folder.substr(0, folder.size() - 1);
    for (const std::string& name : this->File.Names(path)) {
      LevelArray array;
      array.Name = name;
      array.StoredName = folder + name;
      array.Center = center;
      array.First = this->SliceSteps(this->FirstTuplesOf(group, center, name, first, level));
      array.Role = !level.Meshes.empty() && name == "vtkGhostType" ? MeshRole::Flags : MeshRole::Values;
      if (const auto found = this->ReadArray(group, array, level)) {
        level.Arrays.push_back(*found);
      }
    }
  }
}

/// Returns the first tuple of each step of an array: the array's own if the file states it, otherwise that of
/// the array's grid.
std::vector<std::uint64_t> FileReader::FirstTuplesOf(const std::string& group, Centering center,
    const std::string& name, const FirstTuples& first, const LevelDescription& level) const
{
  const std::string ofLevel = group == Root ? std::string() : group.substr(group.rfind('/') + 1) + "/";
  const std::string list = center == Centering::Cell ? "CellDataOffset" : "PointDataOffset";
  auto offsets = this->Steps.Find(ofLevel + list + "s/" + name);
  offsets = offsets ? offsets : this->Steps.Find(ofLevel + list + "/" + name);
  if (!offsets) {
    return first(center);
  }
  // Offsets of images count steps, all others count values.
  const std::uint64_t unit =
      this->Result.Type == FileType::Image ? this->TuplesOfBoxes(level.Boxes, center) : 1;
  std::vector<std::uint64_t> tuples;
  for (const std::int64_t offset : *offsets) {
    const double far = static_cast<double>(offset) * static_cast<double>(unit);
    if (far > 1e18) {
      this->File.Fail(
          fmt::format("steps of '{}' within the file", PlainText(name)), fmt::format("{}", offset));
    }
    tuples.push_back(static_cast<std::uint64_t>(offset) * unit);
  }
  return tuples;
}

/// Returns an array's description; nothing for a skipped array. Throws Error for a wrong number of values.
std::optional<LevelArray> FileReader::ReadArray(
    const std::string& group, LevelArray array, LevelDescription& level)
{
  const std::string dataset = group + "/" + array.StoredName;
  hdf5::Dataset info;
  const std::string fault = CatchError([&] { info = this->File.Describe(dataset); });
  if (!fault.empty()) {
    this->SkipArray(array, fault);
    return std::nullopt;
  }
  const std::vector<std::uint64_t> dims = hdf5::DimsOf(info);
  std::string unsupported = Access::UnsupportedReason(info);
  if (unsupported.empty()) {
    const std::optional<int> components = this->ComponentsOf(dims, array, level);
    const int wanted = array.Role == MeshRole::Points ? 3 : 1;
    unsupported = !components ? fmt::format("shape {}", fmt::join(dims, " x "))
                  : array.Role != MeshRole::Values && *components != wanted
                      ? fmt::format("{} components instead of {}", *components, wanted)
                      : "";
    array.Components = components.value_or(1);
    array.Interleaved = array.Components > 1;
  }
  if (!unsupported.empty() && IsMeshArray(array)) {
    this->File.FailUnsupported(unsupported, dataset);
  }
  if (!unsupported.empty()) {
    this->SkipArray(array, hdf5::UnsupportedError(this->Result.Path, unsupported, dataset).what());
    return std::nullopt;
  }
  this->OffsetCount += array.First.size();
  if (this->OffsetCount > MostOffsets) {
    this->File.Fail(fmt::format("at most {} offsets of steps", MostOffsets), "more");
  }
  const std::uint64_t tuples = this->TuplesOf(level, array);
  this->CheckTuples(dataset, array, tuples, info.Values / static_cast<std::uint64_t>(array.Components));
  if (this->Result.Type == FileType::Image && info.Layout == hdf5::StorageLayout::Virtual &&
      this->IsScattered(dataset, array, tuples)) {
    this->SkipArray(array, hdf5::UnsupportedError(this->Result.Path, SeveralSources, dataset).what());
    return std::nullopt;
  }
  level.PlanesPerCut = std::max(level.PlanesPerCut, PlanesOfChunk(info, this->Steps.Exists()));
  return array;
}

/// Returns whether the values of some step are in several parts of a virtual array.
bool FileReader::IsScattered(const std::string& dataset, const LevelArray& array, std::uint64_t tuples) const
{
  const std::vector<hdf5::MappedRun> parts = this->File.Find(dataset).Runs;
  const auto components = static_cast<std::uint64_t>(array.Components);
  return !std::all_of(array.First.begin(), array.First.end(), [&](std::uint64_t first) {
    const std::uint64_t begin = first * components, end = begin + tuples * components;
    return std::any_of(
        parts.begin(), parts.end(), [&](const hdf5::MappedRun& part) { return part.Contains(begin, end); });
  });
}

/// Skips an array that is unsupported or damaged, with a message. Throws Error for a mesh's own arrays.
void FileReader::SkipArray(const LevelArray& array, const std::string& fault)
{
  if (IsMeshArray(array)) {
    throw Error(fault);
  }
  if (this->ReportedArrays.emplace(array.StoredName).second) {
    this->Result.SkipMessages.emplace_back(fault + " PatchIO skips the array.");
  }
}

/// Returns the number of components of an array. `dims`: number of values per axis, slowest first. Returns
/// nothing for an invalid shape.
std::optional<int> FileReader::ComponentsOf(
    std::vector<std::uint64_t> dims, const LevelArray& array, const LevelDescription& level) const
{
  if (this->Result.Type != FileType::Image) {
    return ComponentsAfterAxes(dims, 1);  // the values of AMR and of meshes follow each other
  }
  if (this->Steps.Exists() && !dims.empty()) {
    dims.erase(dims.begin());
  }
  Int3 tuples;
  for (int axis = 0; axis < 3; ++axis) {
    tuples[axis] = static_cast<int>(level.Boxes[0].Width(axis)) +
                   (array.Center == Centering::Node && !this->IsFlat(axis) ? 1 : 0);
  }
  return ComponentsOfImage(dims, tuples, {this->IsFlat(0), this->IsFlat(1), this->IsFlat(2)});
}

/// Throws Error if an array has the wrong number of values. In meshes and files with steps, arrays may have
/// more values than are used.
void FileReader::CheckTuples(
    const std::string& dataset, const LevelArray& array, std::uint64_t tuples, std::uint64_t found) const
{
  const std::uint64_t last =
      array.First.empty() ? 0 : *std::max_element(array.First.begin(), array.First.end());
  const std::uint64_t wanted = AddOffsets(this->File, last, tuples);
  const bool more = this->Steps.Exists() || this->Result.Type == FileType::Unstructured ||
                    this->Result.Type == FileType::Polygons;
  if (found < wanted || (found > wanted && !more)) {
    this->File.Fail(
        fmt::format("{} values per component in '{}'", wanted, PlainText(dataset)), fmt::format("{}", found));
  }
}

}  // namespace

FileDescription ReadFileDescription(const std::string& path, int step)
{
  return FileReader(AbsolutePath(path), step).Run();
}

}  // namespace patchio::vtkhdf
