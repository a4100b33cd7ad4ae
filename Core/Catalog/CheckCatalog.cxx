#include "Catalog/CheckCatalog.h"

#include "Base/Error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace patchio {
namespace {

constexpr int LargestIndex = 1 << 30;
constexpr int LargestRatio = 1 << 10;
constexpr int MostComponents = 1 << 20;
/// Greatest number of nodes of a patch with MostGhosts ghost layers along all three axes.
constexpr double MostNodes = 1e14;
/// Greatest number of points of a mesh, and of cells and of node indices in each of its lists.
constexpr std::int64_t MaximumMeshCount = std::int64_t(1) << 40;

constexpr Requirement Require("The description of the time step");

void CheckLevels(const Catalog& catalog)
{
  Require(!catalog.Levels.empty(), "no level");
  std::int64_t first = 0;
  std::array<std::int64_t, 3> fineness{1, 1, 1};
  for (std::size_t l = 0; l < catalog.Levels.size(); ++l) {
    const Level& level = catalog.Levels[l];
    Require(level.Role >= LevelRole::Refinement && level.Role <= LevelRole::Points,
        "a level with an unknown role");
    Require(level.FirstPatch == first && level.PatchCount >= 0, "levels that do not partition the patches");
    first += level.PatchCount;
    for (int axis = 0; axis < 3; ++axis) {
      const bool refined = l > 0 && axis < catalog.Dimension;
      const auto require = [l, axis](bool holds, const char* fault) {
        if (!holds) {
          Require.Fail(fmt::format("{} on level {} along axis {}", fault, l, axis));
        }
      };
      require(level.Ratio[axis] >= 1 && level.Ratio[axis] <= (refined ? LargestRatio : 1),
          "an impossible refinement ratio");
      fineness[axis] *= level.Ratio[axis];
      require(fineness[axis] <= LargestIndex, "a refinement that exceeds the range of indices");
      require(level.Spacing[axis] > 0 && std::isfinite(level.Spacing[axis]), "an impossible cell size");
    }
  }
  Require(
      first == static_cast<std::int64_t>(catalog.Patches.size()), "levels that do not partition the patches");
  Require(catalog.LevelNames.empty() || catalog.LevelNames.size() == catalog.Levels.size(),
      "different numbers of levels and level names");
}

/// Checks levels of points: the lattice must be a valid box, patches must be runs along axis 0, and their
/// positions must be stored.
void CheckPoints(const Catalog& catalog)
{
  for (std::size_t l = 0; l < catalog.Levels.size(); ++l) {
    const Level& level = catalog.Levels[l];
    if (level.Role != LevelRole::Points) {
      continue;
    }
    Require(catalog.Grid == GridType::Uniform, "points that do not belong to a uniform grid");
    if (const char* const fault = FaultOfBox(catalog.Dimension, catalog.Lattice)) {
      Require.Fail(fmt::format("{}, {}, as the lattice of the points", fault, TextOf(catalog.Lattice)));
    }
    const int positions = catalog.PositionsVariable(static_cast<int>(l));
    Require(level.PatchCount == 0 || positions >= 0, "points without positions");
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      const Box& run = catalog.Patches[p].Cells;
      Require(run.Lower[0] >= 0 && run.Width(1) == 1 && run.Width(2) == 1, "an impossible list of points");
      Require(catalog.PresenceOf(positions, p) == Presence::Stored, "points without positions");
    }
    for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
      const Variable& variable = catalog.Variables[v];
      Require(!variable.Positions || (variable.Components == 1 && variable.Center == Centering::Cell),
          "positions with an impossible shape");
    }
  }
}

void CheckPatches(const Catalog& catalog)
{
  for (std::size_t l = 0; l < catalog.Levels.size(); ++l) {
    const Level& level = catalog.Levels[l];
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      const Patch& patch = catalog.Patches[p];
      Require(patch.Level == static_cast<int>(l), "a patch on the wrong level");
      Require(patch.Number >= 0 && patch.Writer >= 0 && patch.File >= 0, "a patch with negative numbers");
      const char* fault = FaultOfBox(catalog.Dimension, patch.Cells);
      for (int axis = 0; axis < 3 && !fault; ++axis) {
        fault = level.IsFlat(axis) && patch.Cells.Width(axis) != 1
                    ? "a box with several cells along a flat axis"
                    : nullptr;
      }
      if (fault) {
        Require.Fail(fmt::format("{}, {}, as patch {} of {}", fault, TextOf(patch.Cells), patch.Number,
            catalog.NameOfLevel(patch.Level)));
      }
    }
  }
}

void CheckAxes(const Catalog& catalog)
{
  if (catalog.Grid != GridType::Rectilinear) {
    return;
  }
  for (const Axis& axis : catalog.Axes) {
    const std::vector<double>& positions = axis.Positions;
    Require(!positions.empty() && positions.size() <= LargestIndex &&
                std::abs(std::int64_t(axis.First)) <= LargestIndex,
        "an axis with an impossible length or first index");
    Require(
        std::all_of(positions.begin(), positions.end(), [](double x) { return std::isfinite(x); }) &&
            std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) == positions.end(),
        "an axis whose positions are not finite and increasing");
    Require(axis.Labels.empty() || axis.Labels.size() == positions.size(),
        "different numbers of labels and positions");
  }
  for (const Level& level : catalog.Levels) {
    Require(level.Ratio == Int3{1, 1, 1}, "a rectilinear grid with refinement");
  }
  for (const Patch& patch : catalog.Patches) {
    const Box nodes = catalog.NodesOf(patch.Level, patch.Cells);
    for (int a = 0; a < catalog.Dimension; ++a) {
      const Axis& axis = catalog.Axes[a];
      Require(nodes.Lower[a] >= axis.First &&
                  nodes.Upper[a] < axis.First + static_cast<std::int64_t>(axis.Positions.size()),
          "a patch outside its axes");
    }
  }
}

void CheckMeshSize(const Catalog& catalog, std::size_t patch)
{
  const MeshSize& mesh = catalog.Meshes[patch];
  const auto sane = [](std::int64_t count) { return count >= 0 && count <= MaximumMeshCount; };
  Require(sane(mesh.Points) && std::all_of(mesh.Cells.begin(), mesh.Cells.end(), sane) &&
              std::all_of(mesh.Connectivity.begin(), mesh.Connectivity.end(), sane),
      "a mesh with an impossible size");
  Require(catalog.Grid == GridType::Polygonal ||
              (mesh.AllCells() == mesh.Cells[0] &&
                  std::all_of(mesh.Connectivity.begin() + 1, mesh.Connectivity.end(),
                      [](std::int64_t count) { return count == 0; })),
      "an unstructured grid with several lists of cells");
  const Box& box = catalog.Patches[patch].Cells;
  Require(box.Lower == Int3{0, 0, 0} && box.Upper[1] == 0 && box.Upper[2] == 0 &&
              box.Width(0) == std::max<std::int64_t>(mesh.AllCells(), 1),
      "a mesh whose box does not match its number of cells");
}

void CheckMeshArray(const Catalog& catalog, int number)
{
  const Variable& variable = catalog.Variables[number];
  const bool points = variable.Role == MeshRole::Points;
  const bool ofList = !points && variable.Role != MeshRole::Flags;
  Require(variable.Components == (points ? 3 : 1) && variable.Interleaved == points &&
              (variable.Role == MeshRole::Flags || (variable.Center == Centering::Node) == points),
      "a mesh array with an impossible shape");
  Require(variable.Role != MeshRole::Types || catalog.Grid == GridType::Unstructured,
      "cell types on a polygonal grid");
  const int lists = ofList && catalog.Grid == GridType::Polygonal ? MeshSize::MostLists : 1;
  Require(variable.CellList >= 0 && variable.CellList < lists, "an array of an unknown list of cells");
  Require(
      variable.Role == MeshRole::Flags || catalog.FindMeshArray(variable.Role, variable.CellList) == number,
      "a duplicate mesh array");
}

void CheckMeshes(const Catalog& catalog)
{
  Require(catalog.Meshes.size() == (catalog.IsMesh() ? catalog.Patches.size() : 0),
      "mesh sizes that do not match the patches");
  Require(!catalog.IsMesh() || (catalog.Levels.size() == 1 && catalog.Dimension == 3),
      "a mesh with several levels or only two dimensions");
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    Require(variable.Role <= MeshRole::Flags, "an array of an unknown role");
    Require(!catalog.IsMesh() ||
                (variable.Ghosts == Int3{0, 0, 0} && variable.Material < 0 && !variable.Positions),
        "a mesh with ghost layers, materials or lists of points");
    if (variable.Role != MeshRole::Values) {
      Require(catalog.IsMesh(), "a mesh array on a grid that is not a mesh");
      CheckMeshArray(catalog, static_cast<int>(v));
    }
  }
  for (std::size_t p = 0; p < catalog.Meshes.size(); ++p) {
    CheckMeshSize(catalog, p);
    const MeshSize& mesh = catalog.Meshes[p];
    Require(mesh.Points == 0 || catalog.FindMeshArray(MeshRole::Points) >= 0,
        "a mesh without an array of points");
    for (int list = 0; list < MeshSize::MostLists; ++list) {
      const auto has = [&](MeshRole role) { return catalog.FindMeshArray(role, list) >= 0; };
      Require(mesh.Cells[list] == 0 || (has(MeshRole::Connectivity) && has(MeshRole::Offsets) &&
                                           (catalog.Grid == GridType::Polygonal || has(MeshRole::Types))),
          "cells without arrays of their nodes, offsets or types");
    }
  }
}

/// Checks that the sizes of arrays in bytes do not overflow 64 bits.
void CheckArraySizes(const Catalog& catalog)
{
  double largest = 0;
  for (const MeshSize& mesh : catalog.Meshes) {
    largest = std::max(largest, static_cast<double>(mesh.Points));
  }
  for (const Patch& patch : catalog.Patches) {
    double values = 1;
    for (int axis = 0; axis < catalog.Dimension; ++axis) {
      values *= static_cast<double>(patch.Cells.Width(axis)) + 1 + 2 * MostGhosts;
    }
    largest = std::max(largest, values);
  }
  for (const Variable& variable : catalog.Variables) {
    Require(largest * variable.Components * 9 * 8 <= 9e18, "an array with too many bytes");
  }
}

void CheckVariables(const Catalog& catalog)
{
  for (const Variable& variable : catalog.Variables) {
    Require(!variable.Name.empty(), "a variable without a name");
    Require(variable.Center == Centering::Cell || variable.Center == Centering::Node, "an unknown centering");
    Require(variable.Components >= 1 && variable.Components <= MostComponents,
        "an impossible number of components");
    Require(variable.Material >= -1, "an impossible material");
    Require(
        !catalog.PatchesChange || !variable.TimeInvariant, "time-invariant arrays on patches that change");
    Require(!variable.HasUndefined() || variable.UndefinedFrom <= variable.UndefinedTo,
        "an impossible range of undefined values");
    for (int axis = 0; axis < 3; ++axis) {
      const int most = axis < catalog.Dimension ? MostGhosts : 0;
      Require(variable.Ghosts[axis] >= 0 && variable.Ghosts[axis] <= most, "an impossible ghost width");
    }
  }
  CheckArraySizes(catalog);
  const int coordinates = catalog.CoordinatesVariable;
  if (catalog.Grid != GridType::Curvilinear) {
    Require(coordinates == -1, "coordinates on a grid that is not curvilinear");
    return;
  }
  Require(coordinates >= 0 && coordinates < static_cast<int>(catalog.Variables.size()), "no coordinates");
  const Variable& variable = catalog.Variables[coordinates];
  Require(variable.Center == Centering::Node && variable.Components == catalog.Dimension,
      "coordinates with an impossible shape");
}

void CheckPresence(const Catalog& catalog)
{
  const int variables = static_cast<int>(catalog.Variables.size());
  const int patches = static_cast<int>(catalog.Patches.size());
  for (int v = 0; v < variables; ++v) {
    for (int p = 0; p < patches; ++p) {
      Require(catalog.PresenceOf(v, p) <= Presence::One, "an unknown value in the presence table");
    }
  }
}

void CheckChildren(const Catalog& catalog)
{
  const std::vector<int>& begin = catalog.ChildBegin;
  const std::vector<int>& children = catalog.Children;
  if (begin.empty()) {
    Require(children.empty(), "children without a child table");
    return;
  }
  Require(begin.size() == catalog.Patches.size() + 1 && begin.front() == 0 &&
              begin.back() == static_cast<std::int64_t>(children.size()),
      "a child table that does not match the patches");
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    Require(begin[p] <= begin[p + 1], "a child table out of order");
  }
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    for (int c = begin[p]; c < begin[p + 1]; ++c) {
      Require(children[c] >= 0 && children[c] < static_cast<int>(catalog.Patches.size()) &&
                  catalog.Patches[children[c]].Level == catalog.Patches[p].Level + 1,
          "children that are not on the next finer level");
    }
  }
}

}  // namespace

std::string TextOf(const Box& box)
{
  return fmt::format("({}) to ({})", fmt::join(box.Lower, ", "), fmt::join(box.Upper, ", "));
}

const char* FaultOfBox(int dimension, const Box& box)
{
  double nodes = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const int lower = box.Lower[axis], upper = box.Upper[axis];
    if (lower > upper || lower < -LargestIndex || upper > LargestIndex) {
      return "an impossible box";
    }
    if (axis >= dimension && (lower != 0 || upper != 0)) {
      return "a box with too many dimensions";
    }
    nodes *= static_cast<double>(box.Width(axis)) + 1 + 2 * MostGhosts;
  }
  return nodes <= MostNodes ? nullptr : "a box with too many cells";
}

void CheckCatalog(const Catalog& catalog)
{
  Require(catalog.Dimension == 2 || catalog.Dimension == 3, "neither 2 nor 3 dimensions");
  Require(catalog.StepsInFile >= 1 && catalog.StepInFile >= 0 && catalog.StepInFile < catalog.StepsInFile,
      "a step index outside the file");
  Require(catalog.Grid <= GridType::Polygonal, "an unknown grid");
  for (const double x : catalog.Origin) {
    Require(std::isfinite(x), "an origin that is not finite");
  }
  CheckLevels(catalog);
  CheckPatches(catalog);
  CheckAxes(catalog);
  CheckMeshes(catalog);
  CheckVariables(catalog);
  CheckPresence(catalog);
  CheckPoints(catalog);
  CheckChildren(catalog);
}

}  // namespace patchio
