#include "Catalog/CheckCatalog.h"

#include "Support/Require.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace patchio {
namespace {

constexpr int LargestIndex = 1 << 30;
constexpr int LargestRatio = 1 << 10;
constexpr int MostGhosts = 64;
constexpr int MostComponents = 1 << 20;
constexpr double MostCells = 1e14;  ///< of a patch, with the widest ghosts there can be

constexpr Requirement Require("The catalog");

class Checker
{
public:
  explicit Checker(const Catalog& catalog) : Data(catalog) {}

  void Run() const
  {
    Require(this->Data.Dimension == 2 || this->Data.Dimension == 3, "neither 2 nor 3 dimensions");
    Require(this->Data.StepsInFile >= 1 && this->Data.StepInFile >= 0 &&
                this->Data.StepInFile < this->Data.StepsInFile,
        "a step that its file does not have");
    Require(this->Data.Grid <= GridKind::Rectilinear, "an unknown grid");
    for (const double x : this->Data.Origin) {
      Require(std::isfinite(x), "an origin that is not finite");
    }
    this->CheckLevels();
    this->CheckPatches();
    this->CheckAxes();
    this->CheckVariables();
    this->CheckPresence();
    this->CheckPoints();
    this->CheckChildren();
  }

private:
  void CheckLevels() const;
  void CheckPoints() const;
  void CheckPatches() const;
  void CheckBox(const Box& box) const;
  void CheckAxes() const;
  void CheckVariables() const;
  void CheckArraySizes() const;
  void CheckPresence() const;
  void CheckChildren() const;

  const Catalog& Data;
};

void Checker::CheckLevels() const
{
  Require(!this->Data.Levels.empty(), "no level");
  std::int64_t first = 0;
  std::array<std::int64_t, 3> fineness{1, 1, 1};
  for (std::size_t l = 0; l < this->Data.Levels.size(); ++l) {
    const Level& level = this->Data.Levels[l];
    Require(
        level.Role >= LevelRole::Refinement && level.Role <= LevelRole::Points, "a level of no known role");
    Require(level.FirstPatch == first && level.PatchCount >= 0, "levels that do not partition the patches");
    first += level.PatchCount;
    for (int axis = 0; axis < 3; ++axis) {
      const bool refined = l > 0 && axis < this->Data.Dimension;
      Require(level.Ratio[axis] >= 1 && level.Ratio[axis] <= (refined ? LargestRatio : 1),
          "an impossible refinement ratio");
      fineness[axis] *= level.Ratio[axis];
      Require(fineness[axis] <= LargestIndex, "refinement beyond all indices");
      Require(level.Spacing[axis] > 0 && std::isfinite(level.Spacing[axis]), "an impossible cell size");
    }
  }
  Require(first == static_cast<std::int64_t>(this->Data.Patches.size()),
      "levels that do not partition the patches");
  Require(this->Data.LevelNames.empty() || this->Data.LevelNames.size() == this->Data.Levels.size(),
      "another number of levels than of their names");
}

/// Lists of points: runs along axis 0, with positions in the lattice.
void Checker::CheckPoints() const
{
  for (std::size_t l = 0; l < this->Data.Levels.size(); ++l) {
    const Level& level = this->Data.Levels[l];
    if (level.Role != LevelRole::Points) {
      continue;
    }
    Require(this->Data.Grid == GridKind::Uniform, "points of no uniform grid");
    this->CheckBox(this->Data.Lattice);
    const int positions = this->Data.PositionsOf(static_cast<int>(l));
    Require(level.PatchCount == 0 || positions >= 0, "points without positions");
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      const Box& run = this->Data.Patches[p].Cells;
      Require(run.Lower[0] >= 0 && run.Width(1) == 1 && run.Width(2) == 1, "an impossible list of points");
      Require(this->Data.PresenceOf(positions, p) == Presence::Stored, "points without positions");
    }
    for (int v = 0; v < static_cast<int>(this->Data.Variables.size()); ++v) {
      const Variable& variable = this->Data.Variables[v];
      Require(!variable.Positions || (variable.Components == 1 && variable.Center == Centering::Cell),
          "positions of an impossible form");
    }
  }
}

void Checker::CheckPatches() const
{
  for (std::size_t l = 0; l < this->Data.Levels.size(); ++l) {
    const Level& level = this->Data.Levels[l];
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      const Patch& patch = this->Data.Patches[p];
      Require(patch.Level == static_cast<int>(l), "a patch on another level than its own");
      Require(patch.Number >= 0 && patch.Writer >= 0 && patch.File >= 0, "a patch with negative numbers");
      this->CheckBox(patch.Cells);
      for (int axis = 0; axis < 3; ++axis) {
        Require(!level.IsFlat(axis) || patch.Cells.Width(axis) == 1, "a thick box on a flat level");
      }
    }
  }
}

void Checker::CheckBox(const Box& box) const
{
  double cells = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const int lower = box.Lower[axis], upper = box.Upper[axis];
    Require(lower <= upper && lower >= -LargestIndex && upper <= LargestIndex, "an impossible box");
    Require(axis < this->Data.Dimension || (lower == 0 && upper == 0), "a box with too many dimensions");
    cells *= static_cast<double>(box.Width(axis)) + 1 + 2 * MostGhosts;
  }
  Require(cells <= MostCells, "a box of more cells than there can be");
}

void Checker::CheckAxes() const
{
  if (this->Data.Grid != GridKind::Rectilinear) {
    return;
  }
  for (const Axis& axis : this->Data.Axes) {
    const std::vector<double>& positions = axis.Positions;
    Require(!positions.empty() && positions.size() <= LargestIndex && std::abs(axis.First) <= LargestIndex,
        "an axis of an impossible length");
    Require(
        std::all_of(positions.begin(), positions.end(), [](double x) { return std::isfinite(x); }) &&
            std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) == positions.end(),
        "an axis that does not increase");
    Require(axis.Labels.empty() || axis.Labels.size() == positions.size(),
        "another number of labels than positions");
  }
  for (const Level& level : this->Data.Levels) {
    Require(level.Ratio == Int3{1, 1, 1}, "a rectilinear grid with refinement");
  }
  for (const Patch& patch : this->Data.Patches) {
    const Box nodes = this->Data.NodesOf(patch.Level, patch.Cells);
    for (int a = 0; a < this->Data.Dimension; ++a) {
      const Axis& axis = this->Data.Axes[a];
      Require(nodes.Lower[a] >= axis.First &&
                  nodes.Upper[a] < axis.First + static_cast<std::int64_t>(axis.Positions.size()),
          "a patch beyond its axes");
    }
  }
}

/// Sizes of arrays in bytes must not overflow.
void Checker::CheckArraySizes() const
{
  double largest = 0;
  for (const Patch& patch : this->Data.Patches) {
    double values = 1;
    for (int axis = 0; axis < this->Data.Dimension; ++axis) {
      values *= static_cast<double>(patch.Cells.Width(axis)) + 1 + 2 * MostGhosts;
    }
    largest = std::max(largest, values);
  }
  for (const Variable& variable : this->Data.Variables) {
    Require(largest * variable.Components * 9 * 8 <= 9e18, "an array of more bytes than there can be");
  }
}

void Checker::CheckVariables() const
{
  for (const Variable& variable : this->Data.Variables) {
    Require(!variable.Name.empty(), "a variable without a name");
    Require(variable.Center == Centering::Cell || variable.Center == Centering::Node, "an unknown centering");
    Require(variable.Components >= 1 && variable.Components <= MostComponents,
        "an impossible number of components");
    Require(variable.Material >= -1, "an impossible material");
    Require(!variable.HasUndefined() || variable.UndefinedFrom <= variable.UndefinedTo,
        "an impossible range of undefined values");
    for (int axis = 0; axis < 3; ++axis) {
      const int most = axis < this->Data.Dimension ? MostGhosts : 0;
      Require(variable.Ghosts[axis] >= 0 && variable.Ghosts[axis] <= most, "an impossible ghost width");
    }
  }
  this->CheckArraySizes();
  const int coordinates = this->Data.CoordinatesVariable;
  if (this->Data.Grid != GridKind::Curvilinear) {
    Require(coordinates == -1, "coordinates on a grid that needs none");
    return;
  }
  Require(coordinates >= 0 && coordinates < static_cast<int>(this->Data.Variables.size()), "no coordinates");
  const Variable& variable = this->Data.Variables[coordinates];
  Require(variable.Center == Centering::Node && variable.Components == this->Data.Dimension,
      "coordinates of an impossible form");
}

void Checker::CheckPresence() const
{
  const int variables = static_cast<int>(this->Data.Variables.size());
  const int patches = static_cast<int>(this->Data.Patches.size());
  for (int v = 0; v < variables; ++v) {
    for (int p = 0; p < patches; ++p) {
      Require(this->Data.PresenceOf(v, p) <= Presence::One, "an unknown presence");
    }
  }
}

void Checker::CheckChildren() const
{
  const std::vector<int>& begin = this->Data.ChildBegin;
  const std::vector<int>& children = this->Data.Children;
  if (begin.empty()) {
    Require(children.empty(), "children of no patch");
    return;
  }
  Require(begin.size() == this->Data.Patches.size() + 1 && begin.front() == 0 &&
              begin.back() == static_cast<std::int64_t>(children.size()),
      "a child table that does not fit its patches");
  for (std::size_t p = 0; p < this->Data.Patches.size(); ++p) {
    Require(begin[p] <= begin[p + 1], "a child table out of order");
  }
  for (std::size_t p = 0; p < this->Data.Patches.size(); ++p) {
    for (int c = begin[p]; c < begin[p + 1]; ++c) {
      Require(children[c] >= 0 && children[c] < static_cast<int>(this->Data.Patches.size()) &&
                  this->Data.Patches[children[c]].Level == this->Data.Patches[p].Level + 1,
          "children that are not on the next finer level");
    }
  }
}

}  // namespace

void CheckCatalog(const Catalog& catalog)
{
  Checker(catalog).Run();
}

}  // namespace patchio
