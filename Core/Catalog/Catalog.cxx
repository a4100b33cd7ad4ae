#include "Catalog/Catalog.h"

#include "Support/Bytes.h"

namespace patchio {

int Catalog::FindVariable(const std::string& name) const
{
  for (std::size_t i = 0; i < this->Variables.size(); ++i) {
    if (this->Variables[i].Name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int Catalog::PositionsOf(int level) const
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

std::string Catalog::NameOfLevel(int level) const
{
  return this->LevelNames.empty() ? "level " + std::to_string(level) : this->LevelNames[level];
}

std::array<std::int64_t, 3> Catalog::ArrayDims(int patch, Centering center, const Int3& ghosts) const
{
  std::array<std::int64_t, 3> dims{1, 1, 1};
  for (int axis = 0; axis < this->Dimension; ++axis) {
    const int nodes =
        center == Centering::Node ? this->NodesBeyondCells(this->Patches[patch].Level, axis) : 0;
    dims[axis] = this->Patches[patch].Cells.Width(axis) + nodes + 2 * std::int64_t(ghosts[axis]);
  }
  return dims;
}

std::int64_t Catalog::StoredTuples(int variable, int patch) const
{
  const Variable& v = this->Variables[variable];
  const auto dims = this->ArrayDims(patch, v.Center, v.Ghosts);
  return dims[0] * dims[1] * dims[2];
}

std::vector<std::byte> Catalog::Serialize() const
{
  ByteWriter out;
  out.Put(this->Path);
  out.Put(this->Dimension);
  out.Put(this->Grid);
  out.Put(this->Time);
  out.Put(this->Step);
  out.Put(this->StepInFile);
  out.Put(this->StepsInFile);
  out.Put(this->Origin);
  for (const Axis& axis : this->Axes) {
    out.Put(axis.First);
    out.Put(axis.Positions);
    out.Put(axis.Labels);
  }
  out.Put<std::uint8_t>(this->Geographic ? 1 : 0);
  out.Put(this->Levels);
  out.Put(this->Patches);
  out.Put<std::uint64_t>(this->Variables.size());
  for (const Variable& variable : this->Variables) {
    out.Put(variable.Name);
    out.Put(variable.LongName);
    out.Put(variable.Center);
    out.Put(variable.Components);
    out.Put(variable.Ghosts);
    out.Put(variable.StoredName);
    out.Put(variable.Material);
    out.Put<std::uint8_t>(variable.TimeInvariant ? 1 : 0);
    out.Put<std::uint8_t>(variable.Positions ? 1 : 0);
    out.Put(variable.UndefinedFrom);
    out.Put(variable.UndefinedTo);
  }
  out.Put<std::uint64_t>(this->LevelNames.size());
  for (const std::string& name : this->LevelNames) {
    out.Put(name);
  }
  out.Put(this->Lattice);
  out.Put(this->CoordinatesVariable);
  out.Put(this->ChildBegin);
  out.Put(this->Children);
  out.Put(this->FormatData);
  out.Put(this->PresenceTable);
  return out.Take();
}

Catalog Catalog::Deserialize(const std::byte* data, std::size_t size)
{
  ByteReader in(data, size);
  Catalog catalog;
  in.Get(catalog.Path);
  in.Get(catalog.Dimension);
  in.Get(catalog.Grid);
  in.Get(catalog.Time);
  in.Get(catalog.Step);
  in.Get(catalog.StepInFile);
  in.Get(catalog.StepsInFile);
  in.Get(catalog.Origin);
  for (Axis& axis : catalog.Axes) {
    in.Get(axis.First);
    in.Get(axis.Positions);
    in.Get(axis.Labels);
  }
  catalog.Geographic = in.Get<std::uint8_t>() != 0;
  in.Get(catalog.Levels);
  in.Get(catalog.Patches);
  const auto variables = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < variables; ++i) {
    Variable& variable = catalog.Variables.emplace_back();
    in.Get(variable.Name);
    in.Get(variable.LongName);
    in.Get(variable.Center);
    in.Get(variable.Components);
    in.Get(variable.Ghosts);
    in.Get(variable.StoredName);
    in.Get(variable.Material);
    variable.TimeInvariant = in.Get<std::uint8_t>() != 0;
    variable.Positions = in.Get<std::uint8_t>() != 0;
    in.Get(variable.UndefinedFrom);
    in.Get(variable.UndefinedTo);
  }
  const auto names = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < names; ++i) {
    in.Get(catalog.LevelNames.emplace_back());
  }
  in.Get(catalog.Lattice);
  in.Get(catalog.CoordinatesVariable);
  in.Get(catalog.ChildBegin);
  in.Get(catalog.Children);
  in.Get(catalog.FormatData);
  in.Get(catalog.PresenceTable);
  if (catalog.PresenceTable.size() != catalog.Variables.size() * catalog.Patches.size()) {
    throw Error("The serialized catalog is inconsistent.");
  }
  return catalog;
}

}  // namespace patchio
