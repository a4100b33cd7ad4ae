#include "CatalogFields.h"

#include "Texts.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <vector>

namespace py = pybind11;

namespace patchio {
namespace {

py::list LevelsOf(const Catalog& catalog)
{
  py::list levels;
  for (const Level& level : catalog.Levels) {
    levels.append(py::make_tuple(level.FirstPatch, level.PatchCount, py::tuple(py::cast(level.Ratio)),
        py::tuple(py::cast(level.Spacing))));
  }
  return levels;
}

/// 9 numbers of 32 bits a patch: level, number, writer, lower, upper. There may be a million.
py::bytes PatchesOf(const Catalog& catalog)
{
  std::vector<std::int32_t> rows;
  rows.reserve(catalog.Patches.size() * 9);
  for (const Patch& patch : catalog.Patches) {
    rows.insert(rows.end(), {patch.Level, patch.Number, patch.Writer});
    rows.insert(rows.end(), patch.Cells.Lower.begin(), patch.Cells.Lower.end());
    rows.insert(rows.end(), patch.Cells.Upper.begin(), patch.Cells.Upper.end());
  }
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(std::int32_t)};
}

/// A byte for each variable and patch; 0: absent.
py::bytes PresenceOf(const Catalog& catalog)
{
  std::string presence;
  presence.reserve(catalog.Variables.size() * catalog.Patches.size());
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      presence += static_cast<char>(catalog.PresenceOf(v, p));
    }
  }
  return presence;
}

py::list VariablesOf(const Catalog& catalog)
{
  py::list variables;
  for (const Variable& variable : catalog.Variables) {
    variables.append(
        py::make_tuple(TextOf(variable.Name), variable.Center == Centering::Cell ? "cell" : "node",
            variable.Components, variable.Ghosts, variable.TimeInvariant, TextOf(variable.LongName)));
  }
  return variables;
}

/// First node, positions and labels of each axis; empty on grids without axes.
py::list AxesOf(const Catalog& catalog)
{
  py::list axes;
  if (catalog.Grid == GridKind::Rectilinear) {
    for (const Axis& axis : catalog.Axes) {
      axes.append(
          py::make_tuple(axis.First, axis.Positions, axis.Labels.empty() ? axis.Positions : axis.Labels));
    }
  }
  return axes;
}

}  // namespace

py::dict CatalogAsDict(const Catalog& catalog)
{
  py::list names, roles, flat, positions;
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    names.append(TextOf(catalog.NameOfLevel(level)));
    roles.append(NameOf(catalog.RoleOf(level)));
    positions.append(catalog.RoleOf(level) == LevelRole::Points ? catalog.PositionsOf(level) : -1);
    flat.append(py::make_tuple(
        catalog.Levels[level].IsFlat(0), catalog.Levels[level].IsFlat(1), catalog.Levels[level].IsFlat(2)));
  }
  py::dict fields;
  fields["dimension"] = catalog.Dimension;
  fields["grid"] = NameOf(catalog.Grid);
  fields["geographic"] = catalog.Geographic;
  fields["origin"] = catalog.Origin;
  fields["axes"] = AxesOf(catalog);
  fields["levels"] = LevelsOf(catalog);
  fields["level_names"] = names;
  fields["level_roles"] = roles;
  fields["level_flat"] = flat;
  fields["level_positions"] = positions;
  fields["patches"] = PatchesOf(catalog);
  fields["variables"] = VariablesOf(catalog);
  fields["presence"] = PresenceOf(catalog);
  fields["coordinates"] =
      catalog.IsMesh() ? catalog.FindMeshArray(MeshRole::Points) : catalog.CoordinatesVariable;
  py::list mesh;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()) && catalog.IsMesh(); ++v) {
    if (catalog.IsGeometry(v)) {
      mesh.append(v);
    }
  }
  fields["mesh"] = mesh;
  fields["lattice"] = py::make_tuple(catalog.Lattice.Lower, catalog.Lattice.Upper);
  return fields;
}

}  // namespace patchio
