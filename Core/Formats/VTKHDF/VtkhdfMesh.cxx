#include "Formats/VTKHDF/VtkhdfMesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace patchio::vtkhdf {
namespace {

std::string InRoot(const std::string& name)
{
  return std::string(Root) + "/" + name;
}

bool SameSize(const MeshSize& a, const MeshSize& b)
{
  return a.Points == b.Points && a.Cells == b.Cells && a.Connectivity == b.Connectivity;
}

/// Throws Error for polyhedra, and where VTK has left out the mesh's own lists: for external time steps of a
/// mesh that stays.
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
    for (const std::string& name : file.File().Names(folder)) {
      if (file.File().Describe(folder + "/" + name).Layout == hdf5::StorageLayout::Virtual) {
        file.FailUnsupported("virtual data set without the lists of its mesh", InRoot("NumberOfPoints"));
      }
    }
  }
}

}  // namespace

std::uint64_t PlaceOf(const MeshStep& step, const LevelArray& array)
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
    // Polygonal data need not have all lists.
    this->HasList.push_back(list.empty() || file.Has(InRoot(list.substr(0, list.size() - 1))));
  }
  this->ReadSizes();
  this->AddUpCells();
  this->ReadSteps(steps);
}

void Partitions::ReadSizes()
{
  const std::vector<std::int64_t> points = this->File.Counts(InRoot("NumberOfPoints"));
  this->All.resize(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) {
    this->All[p].Points = points[p];
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
        (cells ? this->All[p].Cells : this->All[p].Connectivity)[list] = counts[p];
      }
    }
  }
}

void Partitions::AddUpCells()
{
  for (std::size_t list = 0; list < this->Lists.size(); ++list) {
    std::vector<std::uint64_t>& before = this->CellsBefore.emplace_back(1, 0);
    for (const MeshSize& partition : this->All) {
      before.push_back(
          AddPlaces(this->File, before.back(), static_cast<std::uint64_t>(partition.Cells[list])));
    }
    const std::vector<std::uint64_t> dims = this->File.DimsOf(InRoot(this->Lists[list] + "Offsets"));
    this->OffsetEntries.push_back(dims.empty() ? 0 : dims[0]);
  }
}

/// Steps/NumberOfParts need not be there when all steps have as many. `first` is completed: with external
/// time steps, VTK's writer leaves it 0, though each step has partitions of its own.
std::vector<std::int64_t> Partitions::PartitionsOfSteps(
    const StepsGroup& steps, const std::vector<std::int64_t>& point, std::vector<std::int64_t>& first) const
{
  if (const auto counts = steps.MaybeList("NumberOfParts")) {
    return *counts;
  }
  bool shared = std::all_of(first.begin(), first.end(), [](std::int64_t part) { return part == 0; });
  const std::size_t each = this->All.size() / steps.Count();
  if (shared && this->FollowEachOther(each, point)) {
    shared = false;
    for (std::size_t s = 0; s < first.size(); ++s) {
      first[s] = static_cast<std::int64_t>(s * each);
    }
  }
  return std::vector<std::int64_t>(
      steps.Count(), static_cast<std::int64_t>(shared ? this->All.size() : each));
}

/// True when the points of each step, `each` partitions of it, begin where those of the step before end.
bool Partitions::FollowEachOther(std::size_t each, const std::vector<std::int64_t>& point) const
{
  std::uint64_t before = 0;
  for (std::size_t s = 0; s < point.size(); ++s) {
    if (static_cast<std::uint64_t>(point[s]) != before) {
      return false;
    }
    for (std::size_t p = s * each; p < (s + 1) * each; ++p) {
      before = AddPlaces(this->File, before, static_cast<std::uint64_t>(this->All[p].Points));
    }
  }
  return point.size() > 1 && before > 0 && each * point.size() == this->All.size();
}

void Partitions::ReadSteps(const StepsGroup& steps)
{
  const std::size_t lists = this->Lists.size();
  std::vector<std::int64_t> first = steps.List("PartOffsets");
  const std::vector<std::int64_t> point = steps.List("PointOffsets"), cell = steps.List("CellOffsets", lists),
                                  connectivity = steps.List("ConnectivityIdOffsets", lists);
  const std::vector<std::int64_t> counts = this->PartitionsOfSteps(steps, point, first);
  for (std::size_t s = 0; s < steps.Count(); ++s) {
    MeshStep& step = this->OfSteps.emplace_back();
    step.FirstPartition = static_cast<std::size_t>(first[s]);
    step.Partitions = static_cast<std::size_t>(counts[s]);
    step.Point = static_cast<std::uint64_t>(point[s]);
    if (step.FirstPartition > this->All.size() || step.Partitions > this->All.size() - step.FirstPartition) {
      this->File.Fail(fmt::format("steps within {} partitions", this->All.size()),
          fmt::format("{} from {} on at step {}", step.Partitions, step.FirstPartition, s));
    }
    for (std::size_t list = 0; list < lists; ++list) {
      step.Cell[list] = static_cast<std::uint64_t>(cell[s * lists + list]);
      step.Connectivity[list] = static_cast<std::uint64_t>(connectivity[s * lists + list]);
      step.Offset[list] = this->PlaceOfOffsets(step, list);
    }
  }
}

/// Each partition has one offset more than cells, so it matters how many lie before. Those are the partitions
/// before the step's first; but where a list of cells is stored once for several partitions, only as many as
/// have the cells before.
std::uint64_t Partitions::PlaceOfOffsets(const MeshStep& step, std::size_t list) const
{
  const std::vector<std::uint64_t>& before = this->CellsBefore[list];
  const std::uint64_t cells = step.Cell[list];
  const std::size_t end = step.FirstPartition + step.Partitions;
  const std::uint64_t wanted = AddPlaces(this->File, before[end] - before[step.FirstPartition], cells) + end;
  if (before[step.FirstPartition] == cells && wanted <= this->OffsetEntries[list]) {
    return cells + step.FirstPartition;
  }
  const auto last = before.begin() + static_cast<std::ptrdiff_t>(step.FirstPartition);
  return cells + static_cast<std::uint64_t>(std::lower_bound(before.begin(), last, cells) - before.begin());
}

std::vector<MeshSize> Partitions::SizesOf(std::size_t step) const
{
  const auto first = this->All.begin() + static_cast<std::ptrdiff_t>(this->OfSteps[step].FirstPartition);
  return {first, first + static_cast<std::ptrdiff_t>(this->OfSteps[step].Partitions)};
}

bool Partitions::Change() const
{
  constexpr std::size_t manyComparisons = 1 << 26;
  const MeshStep& one = this->OfSteps[0];
  if (this->OfSteps.size() > manyComparisons / std::max<std::size_t>(one.Partitions, 1)) {
    return true;
  }
  return std::any_of(this->OfSteps.begin(), this->OfSteps.end(), [&](const MeshStep& other) {
    if (other.Partitions != one.Partitions || other.Point != one.Point || other.Cell != one.Cell ||
        other.Connectivity != one.Connectivity || other.Offset != one.Offset) {
      return true;
    }
    const auto first = this->All.begin();
    return !std::equal(first + static_cast<std::ptrdiff_t>(one.FirstPartition),
        first + static_cast<std::ptrdiff_t>(one.FirstPartition + one.Partitions),
        first + static_cast<std::ptrdiff_t>(other.FirstPartition), SameSize);
  });
}

std::vector<LevelArray> Partitions::Arrays() const
{
  std::vector<LevelArray> arrays{{"Points", "Points", Centering::Node, 3, MeshRole::Points, 0, {}}};
  for (std::size_t list = 0; list < this->Lists.size(); ++list) {
    const auto add = [&](const char* name, MeshRole role) {
      const std::string full = this->Lists[list] + name;
      arrays.push_back({full, full, Centering::Cell, 1, role, static_cast<int>(list), {}});
    };
    if (this->HasList[list]) {
      add("Connectivity", MeshRole::Connectivity);
      add("Offsets", MeshRole::Offsets);
    }
  }
  if (this->Lists.size() == 1) {
    arrays.push_back({"Types", "Types", Centering::Cell, 1, MeshRole::Types, 0, {}});
  }
  return arrays;
}

}  // namespace patchio::vtkhdf
