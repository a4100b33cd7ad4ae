#include "CatalogArrays.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace patchio {
namespace {

struct LevelRow
{
  std::int32_t first_patch, patch_count;
  std::array<std::int32_t, 3> ratio;
  std::array<double, 3> spacing;
};

struct PatchRow
{
  std::int32_t level, number, writer;
  std::array<std::int32_t, 3> lower, upper;
};

const char* NameOf(GridKind grid)
{
  switch (grid) {
    case GridKind::Uniform:
      return "uniform";
    case GridKind::Rectilinear:
      return "rectilinear";
    case GridKind::Curvilinear:
      break;
  }
  return "curvilinear";
}

const char* NameOf(LevelRole role)
{
  switch (role) {
    case LevelRole::Refinement:
      return "refinement";
    case LevelRole::Separate:
      return "separate";
    case LevelRole::Points:
      break;
  }
  return "points";
}

py::array LevelsOf(const Catalog& catalog)
{
  std::vector<LevelRow> rows;
  for (const Level& level : catalog.Levels) {
    rows.push_back({level.FirstPatch, level.PatchCount, level.Ratio, level.Spacing});
  }
  return py::array_t<LevelRow>(static_cast<py::ssize_t>(rows.size()), rows.data());
}

py::array PatchesOf(const Catalog& catalog)
{
  std::vector<PatchRow> rows;
  rows.reserve(catalog.Patches.size());
  for (const Patch& patch : catalog.Patches) {
    rows.push_back({patch.Level, patch.Number, patch.Writer, patch.Cells.Lower, patch.Cells.Upper});
  }
  return py::array_t<PatchRow>(static_cast<py::ssize_t>(rows.size()), rows.data());
}

/// variables x patches.
py::array PresenceOf(const Catalog& catalog)
{
  py::array_t<std::uint8_t> presence(std::vector<py::ssize_t>{
      static_cast<py::ssize_t>(catalog.Variables.size()), static_cast<py::ssize_t>(catalog.Patches.size())});
  std::uint8_t* value = presence.mutable_data();
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      *value++ = static_cast<std::uint8_t>(catalog.PresenceOf(v, p));
    }
  }
  return presence;
}

py::list VariablesOf(const Catalog& catalog)
{
  py::list variables;
  for (const Variable& variable : catalog.Variables) {
    variables.append(py::make_tuple(variable.Name, variable.Center == Centering::Cell ? "cell" : "node",
        variable.Components, variable.Ghosts, variable.Steady));
  }
  return variables;
}

/// Pairs of positions and labels; empty on grids that have none.
py::list AxesOf(const Catalog& catalog)
{
  py::list axes;
  if (catalog.Grid == GridKind::Rectilinear) {
    for (const Axis& axis : catalog.Axes) {
      axes.append(py::make_tuple(axis.First, py::array(py::cast(axis.Positions)),
          py::array(py::cast(axis.Labels.empty() ? axis.Positions : axis.Labels))));
    }
  }
  return axes;
}

}  // namespace

void RegisterRows()
{
  PYBIND11_NUMPY_DTYPE(LevelRow, first_patch, patch_count, ratio, spacing);
  PYBIND11_NUMPY_DTYPE(PatchRow, level, number, writer, lower, upper);
}

py::dict CatalogAsDict(const Catalog& catalog)
{
  py::list names, roles, flat, positions;
  for (int level = 0; level < static_cast<int>(catalog.Levels.size()); ++level) {
    names.append(catalog.NameOfLevel(level));
    roles.append(NameOf(catalog.RoleOf(level)));
    positions.append(catalog.RoleOf(level) == LevelRole::Points ? catalog.PositionsOf(level) : -1);
    flat.append(py::make_tuple(
        catalog.Levels[level].IsFlat(0), catalog.Levels[level].IsFlat(1), catalog.Levels[level].IsFlat(2)));
  }
  py::dict fields;
  fields["dimension"] = catalog.Dimension;
  fields["grid"] = NameOf(catalog.Grid);
  fields["origin"] = py::array_t<double>(3, catalog.Origin.data());
  fields["axes"] = AxesOf(catalog);
  fields["levels"] = LevelsOf(catalog);
  fields["level_names"] = names;
  fields["level_roles"] = roles;
  fields["level_flat"] = flat;
  fields["level_positions"] = positions;
  fields["patches"] = PatchesOf(catalog);
  fields["variables"] = VariablesOf(catalog);
  fields["presence"] = PresenceOf(catalog);
  fields["coordinates"] = catalog.CoordinatesVariable;
  fields["lattice"] = py::make_tuple(catalog.Lattice.Lower, catalog.Lattice.Upper);
  return fields;
}

}  // namespace patchio
