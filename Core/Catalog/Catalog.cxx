#include "Catalog/Catalog.h"

#include "Base/Bytes.h"

#include <tuple>
#include <type_traits>

namespace patchio {
namespace {

/// Returns references to the serialized members of a record, in the order of the bytes.
template <typename Record>
auto MembersOf(Record& r)
{
  if constexpr (std::is_same_v<std::remove_const_t<Record>, Axis>) {
    return std::tie(r.First, r.Positions, r.Labels);
  } else if constexpr (std::is_same_v<std::remove_const_t<Record>, Variable>) {
    return std::tie(r.Name, r.LongName, r.Center, r.Components, r.Interleaved, r.Ghosts, r.StoredName,
        r.Material, r.TimeInvariant, r.Positions, r.UndefinedFrom, r.UndefinedTo, r.Role, r.CellList);
  } else {
    return std::tie(r.Path, r.Dimension, r.Grid, r.Time, r.Step, r.StepInFile, r.StepsInFile, r.PatchesChange,
        r.Origin, r.Geographic, r.Levels, r.Patches, r.Meshes, r.LevelNames, r.Lattice, r.CoordinatesVariable,
        r.ChildBegin, r.Children, r.FormatData);
  }
}

}  // namespace

int Catalog::FindVariable(const std::string& name) const
{
  for (std::size_t i = 0; i < this->Variables.size(); ++i) {
    if (this->Variables[i].Name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int Catalog::FindMeshArray(MeshRole role, int cellList) const
{
  for (std::size_t i = 0; i < this->Variables.size(); ++i) {
    if (this->Variables[i].Role == role && this->Variables[i].CellList == cellList) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool Catalog::IsGeometry(int variable) const
{
  const Variable& info = this->Variables[variable];
  return variable == this->CoordinatesVariable || info.Positions ||
         (info.Role != MeshRole::Values && info.Role != MeshRole::Flags);
}

int Catalog::PositionsVariable(int level) const
{
  const Level& info = this->Levels[level];
  for (std::size_t v = 0; v < this->Variables.size() && info.PatchCount > 0; ++v) {
    if (this->Variables[v].Positions &&
        this->PresenceOf(static_cast<int>(v), info.FirstPatch) == Presence::Stored) {
      return static_cast<int>(v);
    }
  }
  return -1;
}

const char* NameOf(GridType grid)
{
  constexpr const char* names[] = {"uniform", "curvilinear", "rectilinear", "unstructured", "polygonal"};
  return names[static_cast<std::size_t>(grid)];
}

const char* NameOf(LevelRole role)
{
  constexpr const char* names[] = {"refinement", "separate", "points"};
  return names[static_cast<std::size_t>(role)];
}

std::string Catalog::NameOfLevel(int level) const
{
  return this->LevelNames.empty() ? "level " + std::to_string(level) : this->LevelNames[level];
}

std::array<std::int64_t, 3> Catalog::ArrayDims(int patch, Centering center, const Int3& ghosts) const
{
  std::array<std::int64_t, 3> dims{1, 1, 1};
  if (this->IsMesh()) {
    const MeshSize& mesh = this->Meshes[patch];
    dims[0] = center == Centering::Node ? mesh.Points : mesh.AllCells();
    return dims;
  }
  for (int axis = 0; axis < this->Dimension; ++axis) {
    const int nodes =
        center == Centering::Node ? this->NodesBeyondCells(this->Patches[patch].Level, axis) : 0;
    dims[axis] = this->Patches[patch].Cells.Width(axis) + nodes + 2 * std::int64_t(ghosts[axis]);
  }
  return dims;
}

std::array<std::int64_t, 3> Catalog::ArrayDims(int patch, const Variable& variable, const Int3& ghosts) const
{
  switch (variable.Role) {
    case MeshRole::Connectivity:
      return {this->Meshes[patch].Connectivity[variable.CellList], 1, 1};
    case MeshRole::Offsets:
      return {this->Meshes[patch].Cells[variable.CellList] + 1, 1, 1};
    default:
      return this->ArrayDims(patch, variable.Center, ghosts);
  }
}

std::int64_t Catalog::StoredTuples(int variable, int patch) const
{
  const Variable& v = this->Variables[variable];
  const auto dims = this->ArrayDims(patch, v, v.Ghosts);
  return dims[0] * dims[1] * dims[2];
}

std::vector<std::byte> Catalog::Serialize() const
{
  ByteWriter out;
  out.Append(MembersOf(*this));
  for (const Axis& axis : this->Axes) {
    out.Append(MembersOf(axis));
  }
  out.Append<std::uint64_t>(this->Variables.size());
  for (const Variable& variable : this->Variables) {
    out.Append(MembersOf(variable));
  }
  out.Append(this->PresenceTable);
  return out.Release();
}

Catalog Catalog::Deserialize(const std::byte* data, std::size_t size)
{
  ByteReader in(data, size);
  Catalog catalog;
  in.Get(MembersOf(catalog));
  for (Axis& axis : catalog.Axes) {
    in.Get(MembersOf(axis));
  }
  const auto variables = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < variables; ++i) {
    in.Get(MembersOf(catalog.Variables.emplace_back()));
  }
  in.Get(catalog.PresenceTable);
  if (catalog.PresenceTable.size() != catalog.Variables.size() * catalog.Patches.size()) {
    throw Error("The description of the time step has a presence table of a wrong size.");
  }
  return catalog;
}

namespace {

Bounds BoundsOfCells(const Catalog& catalog, int level, const Box& cells)
{
  Bounds bounds{{0, 0, 0}, {0, 0, 0}};
  const Box nodes = catalog.NodesOf(level, cells);
  for (int axis = 0; axis < catalog.Dimension; ++axis) {
    bounds.Lower[axis] = PositionOfNode(catalog, level, axis, nodes.Lower[axis]);
    bounds.Upper[axis] = PositionOfNode(catalog, level, axis, nodes.Upper[axis]);
  }
  return bounds;
}

}  // namespace

void Bounds::Add(const Bounds& other)
{
  for (int axis = 0; axis < 3; ++axis) {
    this->Lower[axis] = std::min(this->Lower[axis], other.Lower[axis]);
    this->Upper[axis] = std::max(this->Upper[axis], other.Upper[axis]);
  }
}

double PositionOfNode(const Catalog& catalog, int level, int axis, std::int64_t node)
{
  if (catalog.Grid == GridType::Uniform) {
    return catalog.Origin[axis] + static_cast<double>(node) * catalog.Levels[level].Spacing[axis];
  }
  const Axis& along = catalog.Axes[axis];
  if (along.Positions.empty()) {
    return 0;  // CheckCatalog() rejects axes without positions
  }
  const std::int64_t last = static_cast<std::int64_t>(along.Positions.size()) - 1;
  return along.Positions[static_cast<std::size_t>(std::clamp<std::int64_t>(node - along.First, 0, last))];
}

std::optional<Bounds> BoundsOfLevel(const Catalog& catalog, int level)
{
  const Level& info = catalog.Levels[level];
  if (!catalog.KnowsPositions() || info.PatchCount == 0) {
    return std::nullopt;
  }
  if (info.Role == LevelRole::Points) {
    return BoundsOfCells(catalog, level, catalog.Lattice);
  }
  Bounds bounds;
  for (int p = info.FirstPatch; p < info.FirstPatch + info.PatchCount; ++p) {
    bounds.Add(BoundsOfCells(catalog, level, catalog.Patches[p].Cells));
  }
  return bounds;
}

std::optional<Bounds> BoundsOf(const Catalog& catalog)
{
  std::optional<Bounds> all;
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    if (const std::optional<Bounds> one = BoundsOfLevel(catalog, level)) {
      all = all.value_or(Bounds());
      all->Add(*one);
    }
  }
  return all;
}

}  // namespace patchio
