#include "InputTree.h"

#include "ArraysToWrite.h"
#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace patchio {
namespace {

/// A level of the catalog, and the pieces of the level.
struct LevelOfPieces
{
  LevelRole Role = LevelRole::Refinement;
  Int3 Ratio{1, 1, 1};  ///< see Level
  std::string Name;     ///< common name of all pieces of the level; empty if the names differ
  /// Indices of the pieces, which have the same cell size and are flat along the same axes.
  std::vector<int> Members;
};

/// The greatest number of blocks that may become separate levels.
constexpr std::size_t MaxGroups = 64;

/// Returns whether two pieces can belong to the same level: the cells are flat along the same axes and, in
/// uniform grids, have the same size.
bool HaveSameSpacing(const GridPiece& a, const GridPiece& b)
{
  if (a.FlatAxes != b.FlatAxes) {
    return false;
  }
  for (int axis = 0; axis < 3 && a.Type == GridType::Uniform; ++axis) {
    if (std::abs(a.Spacing[axis] - b.Spacing[axis]) > 1e-6 * a.Spacing[axis]) {
      return false;
    }
  }
  return true;
}

/// Returns the volume of a cell of a piece; flat axes count as 1.
double VolumeOf(const GridPiece& piece)
{
  double volume = 1;
  for (int axis = 0; axis < 3; ++axis) {
    volume *= (piece.FlatAxes >> axis & 1) != 0 ? 1 : piece.Spacing[axis];
  }
  return volume;
}

/// The criterion that separates levels, in addition to HaveSameSpacing().
enum class LevelCriterion
{
  Number,   ///< GridPiece::Level
  Spacing,  ///< the cell size alone
  Group     ///< GridPiece::Group
};

/// The lower and the upper bound along each axis.
using Bounds = std::array<std::pair<double, double>, 3>;

Bounds BoundsOf(const GridPiece& piece)
{
  Bounds bounds;
  const Box nodes = NodesOf(piece, piece.Cells);
  for (int axis = 0; axis < 3; ++axis) {
    const auto position = [&](int node) {
      return piece.Type == GridType::Rectilinear ? piece.Axes[axis].Positions[node - piece.Axes[axis].First]
                                                 : piece.Origin[axis] + node * piece.Spacing[axis];
    };
    bounds[axis] = {position(nodes.Lower[axis]), position(nodes.Upper[axis])};
  }
  return bounds;
}

/// Returns whether two bounds overlap by more than rounding errors. Along an axis on which one of the bounds
/// is flat, bounds that touch count as overlapping.
bool BoundsOverlap(const Bounds& a, const Bounds& b)
{
  for (int axis = 0; axis < 3; ++axis) {
    const double widths[] = {a[axis].second - a[axis].first, b[axis].second - b[axis].first};
    const double common = std::min(a[axis].second, b[axis].second) - std::max(a[axis].first, b[axis].first);
    const bool flat = std::min(widths[0], widths[1]) <= 0;
    if (flat ? common < 0 : common <= 1e-6 * std::min(widths[0], widths[1])) {
      return false;
    }
  }
  return true;
}

/// Returns whether pieces of different groups overlap. Returns false for curvilinear grids, because each
/// block has its own indices, so that blocks may overlap.
bool GroupsOverlap(const std::vector<GridPiece>& pieces)
{
  if (pieces.front().Type == GridType::Curvilinear) {
    return false;
  }
  std::vector<std::pair<Bounds, const GridPiece*>> sorted;
  for (const GridPiece& piece : pieces) {
    sorted.emplace_back(BoundsOf(piece), &piece);
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = i + 1; j < sorted.size() && sorted[j].first[0].first <= sorted[i].first[0].second;
         ++j) {
      if (sorted[i].second->Group != sorted[j].second->Group &&
          BoundsOverlap(sorted[i].first, sorted[j].first)) {
        return true;
      }
    }
  }
  return false;
}

/// Returns whether finer levels hide cells of any piece.
bool AnyPieceHides(const std::vector<GridPiece>& pieces)
{
  return std::any_of(pieces.begin(), pieces.end(), [](const GridPiece& piece) { return piece.Hides; });
}

/// Returns the criterion that separates the levels, see MakeStepCatalog().
LevelCriterion ChooseCriterion(const std::vector<GridPiece>& pieces)
{
  std::set<std::vector<int>> groups;
  bool numbers = true;
  for (const GridPiece& piece : pieces) {
    groups.insert(piece.Group);
    numbers = numbers && piece.Level >= 0;
  }
  if (numbers) {
    return LevelCriterion::Number;
  }
  return AnyPieceHides(pieces) || groups.size() > MaxGroups || !GroupsOverlap(pieces)
             ? LevelCriterion::Spacing
             : LevelCriterion::Group;
}

/// Returns the number of cells of `fine` in a cell of `coarse` along each axis; nullopt if `fine` does not
/// refine `coarse`.
std::optional<Int3> RatioOf(const GridPiece& coarse, const GridPiece& fine)
{
  Int3 ratio{1, 1, 1};
  bool finer = false;
  for (int axis = 0; axis < 3; ++axis) {
    if (((coarse.FlatAxes & fine.FlatAxes) >> axis & 1) != 0) {
      continue;
    }
    const double exact = coarse.Spacing[axis] / fine.Spacing[axis];
    const double rounded = std::round(exact);
    if (coarse.FlatAxes != fine.FlatAxes || rounded < 1 || rounded > 1024 ||
        std::abs(exact - rounded) > 1e-6 * rounded) {
      return std::nullopt;
    }
    ratio[axis] = static_cast<int>(rounded);
    finer = finer || rounded > 1;
  }
  return finer ? std::optional(ratio) : std::nullopt;
}

/// Returns the common name of the pieces with the indices `members`; empty if the names differ.
std::string CommonName(const std::vector<GridPiece>& pieces, const std::vector<int>& members)
{
  const std::string& name = pieces[members.front()].Name;
  const bool common =
      std::all_of(members.begin(), members.end(), [&](int m) { return pieces[m].Name == name; });
  return common ? name : std::string();
}

/// Returns whether a level may hide the coarser cells that the level covers. In the output of PatchIO's
/// reader, levels of other roles have other names than "level N". If a level covers no coarser cells, the
/// result has no effect.
bool MayHide(const std::vector<GridPiece>& pieces, const LevelOfPieces& level, LevelCriterion criterion)
{
  return pieces.front().Type == GridType::Uniform &&
         (AnyPieceHides(pieces) || (criterion == LevelCriterion::Number && LevelInName(level.Name) >= 0) ||
             (criterion == LevelCriterion::Spacing && !GroupsOverlap(pieces)));
}

/// Returns the single level of a mesh.
LevelOfPieces MeshLevel(const std::vector<GridPiece>& pieces)
{
  LevelOfPieces level;
  level.Members.resize(pieces.size());
  std::iota(level.Members.begin(), level.Members.end(), 0);
  level.Name = CommonName(pieces, level.Members);
  return level;
}

/// Returns the levels of `pieces`, which must not be empty, see MakeStepCatalog().
std::vector<LevelOfPieces> LevelsOf(const std::vector<GridPiece>& pieces)
{
  const GridType type = pieces.front().Type;
  if (type == GridType::Unstructured || type == GridType::Polygonal) {
    return {MeshLevel(pieces)};
  }
  const LevelCriterion criterion = ChooseCriterion(pieces);
  std::vector<LevelOfPieces> levels;
  std::map<std::pair<int, std::vector<int>>, std::vector<std::size_t>>
      alike;  // indices of the levels of one number or group
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const GridPiece& piece = pieces[i];
    std::vector<std::size_t>& there = alike[{criterion == LevelCriterion::Number ? piece.Level : 0,
        criterion == LevelCriterion::Group ? piece.Group : std::vector<int>()}];
    const auto same = std::find_if(there.begin(), there.end(),
        [&](std::size_t level) { return HaveSameSpacing(pieces[levels[level].Members.front()], piece); });
    if (same == there.end()) {
      there.push_back(levels.size());
      levels.emplace_back().Members.push_back(static_cast<int>(i));
    } else {
      levels[*same].Members.push_back(static_cast<int>(i));
    }
  }
  std::stable_sort(levels.begin(), levels.end(), [&](const LevelOfPieces& a, const LevelOfPieces& b) {
    const auto key = [&](const LevelOfPieces& level) {
      const GridPiece& first = pieces[level.Members.front()];
      return std::make_tuple(criterion == LevelCriterion::Number ? first.Level : 0,
          criterion == LevelCriterion::Group ? first.Group : std::vector<int>(),
          criterion == LevelCriterion::Spacing ? -VolumeOf(first) : 0);
    };
    return key(a) < key(b);
  });
  bool refines = true;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].Name = CommonName(pieces, levels[l].Members);
    if (l > 0) {
      const std::optional<Int3> ratio =
          RatioOf(pieces[levels[l - 1].Members.front()], pieces[levels[l].Members.front()]);
      refines = refines && ratio && MayHide(pieces, levels[l], criterion);
      // Levels of a rectilinear grid are separate grids in any case.
      const bool isGrid = !refines && pieces.front().Type != GridType::Rectilinear;
      levels[l].Role = isGrid ? LevelRole::Separate : LevelRole::Refinement;
      levels[l].Ratio = refines ? *ratio : Int3{1, 1, 1};
    }
  }
  return levels;
}

/// Positions may deviate from the lattice by this fraction of a cell, for example if files store positions as
/// floats.
constexpr double Rounding = 1e-4;
constexpr double LargestIndex = 1 << 30;

/// Makes the catalog of all pieces, see MakeStepCatalog().
class CatalogMaker
{
public:
  explicit CatalogMaker(const std::vector<GridPiece>& pieces) : Pieces(pieces) {}

  StepCatalog MakeCatalog();

private:
  void SetGridType();
  void AddLevels();
  void AddPatches(const std::vector<int>& members, Level& level);
  void NumberPatches(const Level& level);
  void SetOrigin();
  bool FitsLattice(int axis, double origin) const;
  void AlignUniform();
  void AlignRectilinear();
  bool MakeAxisByIndex(int axis);
  void MakeAxisByPosition(int axis);
  void SetDimension();
  void AddVariables();
  int FindOrAddVariable(const ArrayDescription& array);
  const GridPiece& PieceOfPatch(std::size_t patch) const { return this->Pieces[this->Step.PieceOf[patch]]; }

  const std::vector<GridPiece>& Pieces;
  StepCatalog Step;
};

StepCatalog CatalogMaker::MakeCatalog()
{
  if (this->Pieces.empty()) {
    throw Error("The data have no cells to write.");
  }
  this->SetGridType();
  this->AddLevels();
  if (this->Step.Data.Grid == GridType::Uniform) {
    this->AlignUniform();
  } else if (this->Step.Data.Grid == GridType::Rectilinear) {
    this->AlignRectilinear();
  }
  this->SetDimension();
  this->AddVariables();
  return std::move(this->Step);
}

/// Sets the grid type of the catalog. Throws Error if the pieces have different grid types.
void CatalogMaker::SetGridType()
{
  const GridType type = this->Pieces.front().Type;
  for (const GridPiece& piece : this->Pieces) {
    if (piece.Type != type) {
      throw Error(
          fmt::format("The data have a {} grid and a {} grid, but a PatchIO container has one type of grid. "
                      "Save the grids separately (Extract Block).",
              NameOf(type), NameOf(piece.Type)));
    }
  }
  this->Step.Data.Grid = type;
}

void CatalogMaker::AddLevels()
{
  Catalog& data = this->Step.Data;
  bool named = false;
  for (const LevelOfPieces& from : LevelsOf(this->Pieces)) {
    Level& level = data.Levels.emplace_back();
    level.Role = from.Role;
    level.Ratio = from.Ratio;
    const GridPiece& first = this->Pieces[from.Members.front()];
    level.Spacing = data.Grid == GridType::Uniform ? first.Spacing : Double3{1, 1, 1};
    level.FlatAxes = first.FlatAxes;
    this->AddPatches(from.Members, level);
    data.LevelNames.push_back(from.Name);
    const std::string usual = fmt::format("level {}", data.Levels.size() - 1);
    named = named || (!from.Name.empty() && from.Name != usual);
    data.LevelNames.back() = from.Name.empty() ? usual : from.Name;
  }
  if (!named) {
    data.LevelNames.clear();
  }
}

/// Adds a patch to the catalog for each piece of a level.
void CatalogMaker::AddPatches(const std::vector<int>& members, Level& level)
{
  Catalog& data = this->Step.Data;
  level.FirstPatch = static_cast<int>(data.Patches.size());
  level.PatchCount = static_cast<int>(members.size());
  std::vector<int> sorted = members;
  std::stable_sort(sorted.begin(), sorted.end(), [this](int a, int b) {
    const auto key = [](const GridPiece& piece) {
      return std::tie(piece.Number, piece.Group, piece.IndexInGroup, piece.Rank);
    };
    return key(this->Pieces[a]) < key(this->Pieces[b]);
  });
  for (const int piece : sorted) {
    Patch& patch = data.Patches.emplace_back();
    patch.Cells = this->Pieces[piece].Cells;
    patch.Level = static_cast<int>(data.Levels.size()) - 1;
    patch.Number = this->Pieces[piece].Number;
    patch.Writer = this->Pieces[piece].Rank;
    if (data.IsMesh()) {
      data.Meshes.push_back(this->Pieces[piece].Mesh);
    }
    this->Step.PieceOf.push_back(piece);
  }
  this->NumberPatches(level);
}

/// Numbers all patches of a level from 0 on, unless the numbers of the patches are known and unique. In a
/// level of the role Separate, patches of the same group may have the same number.
void CatalogMaker::NumberPatches(const Level& level)
{
  std::vector<Patch>& patches = this->Step.Data.Patches;
  std::map<int, std::vector<int>> groups;  // by number
  bool keepsNumbers = true;
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    const auto [known, isNew] = groups.emplace(patches[p].Number, this->PieceOfPatch(p).Group);
    const bool isOfBox = level.Role == LevelRole::Separate && known->second == this->PieceOfPatch(p).Group;
    keepsNumbers = keepsNumbers && patches[p].Number >= 0 && (isNew || isOfBox);
  }
  for (int p = level.FirstPatch; !keepsNumbers && p < level.FirstPatch + level.PatchCount; ++p) {
    patches[p].Number = p - level.FirstPatch;
  }
}

/// Returns whether all pieces lie on the lattices of their levels along an axis if the lattices begin at
/// `origin`.
bool CatalogMaker::FitsLattice(int axis, double origin) const
{
  const std::vector<Patch>& patches = this->Step.Data.Patches;
  for (std::size_t p = 0; p < patches.size(); ++p) {
    const double spacing = this->Step.Data.Levels[patches[p].Level].Spacing[axis];
    const double index = (this->PieceOfPatch(p).Origin[axis] - origin) / spacing;
    if (!(std::abs(index - std::round(index)) <= Rounding)) {
      return false;
    }
  }
  return true;
}

/// Sets the origin along each axis: the common origin of all pieces, or the lowest corner of a level if all
/// pieces lie on the lattice that begins there. Throws Error if no origin is suitable.
void CatalogMaker::SetOrigin()
{
  Catalog& data = this->Step.Data;
  for (int axis = 0; axis < 3; ++axis) {
    std::set<double> candidates;
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      candidates.insert(this->PieceOfPatch(p).Origin[axis]);
    }
    if (candidates.size() > 1) {
      candidates.clear();
      for (const Level& level : data.Levels) {
        double lowest = INFINITY;
        for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
          lowest = std::min(lowest, this->PieceOfPatch(p).Origin[axis] +
                                        this->PieceOfPatch(p).Cells.Lower[axis] * level.Spacing[axis]);
        }
        candidates.insert(lowest);
      }
    }
    const auto found = std::find_if(
        candidates.begin(), candidates.end(), [&](double origin) { return this->FitsLattice(axis, origin); });
    if (found == candidates.end()) {
      throw Error(fmt::format(
          "Along axis {}, the distance of the blocks is not a whole number of cells, but a PatchIO "
          "container has a single lattice. Save the blocks separately (Extract Block).",
          axis));
    }
    data.Origin[axis] = *found;
  }
}

/// Sets the origin, and changes the indices of the patches accordingly. Throws Error.
void CatalogMaker::AlignUniform()
{
  this->SetOrigin();
  Catalog& data = this->Step.Data;
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    Patch& patch = data.Patches[p];
    const Double3& spacing = data.Levels[patch.Level].Spacing;
    for (int axis = 0; axis < 3; ++axis) {
      const double shift =
          std::round((this->PieceOfPatch(p).Origin[axis] - data.Origin[axis]) / spacing[axis]);
      if (!(std::abs(shift) + std::abs(static_cast<double>(patch.Cells.Upper[axis])) < LargestIndex)) {
        throw Error(fmt::format(
            "A block has the cell index {} and an origin {} cells away from the origin of the container, but "
            "PatchIO containers require a sum below {}. Apply Resample To Image first.",
            patch.Cells.Upper[axis], shift, LargestIndex));
      }
      patch.Cells.Lower[axis] += static_cast<int>(shift);
      patch.Cells.Upper[axis] += static_cast<int>(shift);
    }
  }
}

/// Makes the axes, and changes the indices of the patches accordingly. Throws Error.
void CatalogMaker::AlignRectilinear()
{
  for (int axis = 0; axis < 3; ++axis) {
    if (!this->MakeAxisByIndex(axis)) {
      this->MakeAxisByPosition(axis);
    }
  }
}

/// Makes an axis by the indices of the grids. Returns false unless all grids have the same position at the
/// same index, as parts of one grid have, and the positions increase without missing indices.
bool CatalogMaker::MakeAxisByIndex(int axis)
{
  std::map<int, double> positions, labels;
  for (const GridPiece& piece : this->Pieces) {
    const Axis& from = piece.Axes[axis];
    for (int i = 0; i < static_cast<int>(from.Positions.size()); ++i) {
      if (positions.emplace(from.First + i, from.Positions[i]).first->second != from.Positions[i]) {
        return false;
      }
      if (!from.Labels.empty()) {
        labels[from.First + i] = from.Labels[i];
      }
    }
  }
  Axis& to = this->Step.Data.Axes[axis];
  to = Axis();
  to.First = positions.begin()->first;
  for (const auto& [index, position] : positions) {
    const bool gap = index != to.First + static_cast<int>(to.Positions.size());
    if (gap || (!to.Positions.empty() && position <= to.Positions.back())) {
      return false;
    }
    to.Positions.push_back(position);
    if (!labels.empty()) {
      to.Labels.push_back(labels.try_emplace(index, position).first->second);
    }
  }
  return true;
}

/// Makes an axis of the positions of all grids, and changes the indices of the patches accordingly. Throws
/// Error if a position lies within a grid that does not have the position.
void CatalogMaker::MakeAxisByPosition(int axis)
{
  Catalog& data = this->Step.Data;
  std::set<double> all;
  std::map<double, double> labels;  // by position
  for (const GridPiece& piece : this->Pieces) {
    const Axis& from = piece.Axes[axis];
    all.insert(from.Positions.begin(), from.Positions.end());
    for (std::size_t i = 0; i < from.Labels.size(); ++i) {
      labels[from.Positions[i]] = from.Labels[i];
    }
  }
  Axis& to = data.Axes[axis];
  to = Axis();
  to.Positions.assign(all.begin(), all.end());
  for (std::size_t i = 0; !labels.empty() && i < to.Positions.size(); ++i) {
    to.Labels.push_back(labels.try_emplace(to.Positions[i], to.Positions[i]).first->second);
  }
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const std::vector<double>& own = this->PieceOfPatch(p).Axes[axis].Positions;
    const auto first = std::lower_bound(to.Positions.begin(), to.Positions.end(), own.front());
    if (to.Positions.end() - first < static_cast<std::ptrdiff_t>(own.size()) ||
        !std::equal(own.begin(), own.end(), first)) {
      throw Error(
          fmt::format("The positions of the grids differ along axis {}, but a PatchIO container has parts of "
                      "one rectilinear grid. Save the grids separately (Extract Block).",
              axis));
    }
    const int shift = static_cast<int>(first - to.Positions.begin()) - this->PieceOfPatch(p).Axes[axis].First;
    data.Patches[p].Cells.Lower[axis] += shift;
    data.Patches[p].Cells.Upper[axis] += shift;
  }
}

/// Makes a uniform or curvilinear grid two-dimensional if all patches lie in a plane perpendicular to axis 2;
/// for a curvilinear grid, this plane must be at 0.
void CatalogMaker::SetDimension()
{
  Catalog& data = this->Step.Data;
  const int plane = data.Patches.front().Cells.Lower[2];
  const double height = data.Levels.front().Spacing[2] * plane;
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const Level& level = data.Levels[data.Patches[p].Level];
    const bool sameHeight = data.Grid == GridType::Uniform
                                ? data.Patches[p].Cells.Lower[2] * level.Spacing[2] == height
                            : data.Grid == GridType::Curvilinear ? this->PieceOfPatch(p).IsPlane
                                                                 : false;
    if (!level.IsFlat(2) || !sameHeight) {
      return;
    }
  }
  data.Dimension = 2;
  data.Origin[2] += height;
  for (Level& level : data.Levels) {
    level.FlatAxes &= 3;
  }
  for (Patch& patch : data.Patches) {
    patch.Cells.Lower[2] = patch.Cells.Upper[2] = 0;
  }
}

/// Returns the index of the variable of an array. Adds the variable if it is new. Extends the type of the
/// variable to the type of the array. Throws Error if the array does not match the variable.
int CatalogMaker::FindOrAddVariable(const ArrayDescription& array)
{
  Catalog& data = this->Step.Data;
  const auto [found, isNew] =
      this->Step.VariableOf.try_emplace(KeyOf(array), static_cast<int>(data.Variables.size()));
  if (isNew) {
    Variable& variable = data.Variables.emplace_back();
    variable.Name = array.Name;
    variable.Center = array.Center;
    variable.Role = array.Role;
    variable.CellList = array.CellList;
    variable.Components = array.Positions ? data.Dimension : array.Components;
    variable.Interleaved = variable.Components > 1;
    data.CoordinatesVariable = array.Positions ? found->second : data.CoordinatesVariable;
    this->Step.Types.push_back(array.Type);
  }
  Variable& variable = data.Variables[found->second];
  ElementType& type = this->Step.Types[found->second];
  const std::optional<ElementType> common = CommonType(type, array.Type);
  if (!common || (variable.Components != array.Components && !array.Positions)) {
    throw Error(
        fmt::format("The array '{}' has {} components of type {} in one block and {} of type {} in another, "
                    "but must be the same in all blocks. Deselect it in Choose Arrays To Write.",
            PlainText(array.Name), variable.Components, NameOf(type), array.Components, NameOf(array.Type)));
  }
  type = *common;
  if (array.HidesUndefined) {
    // Because no value equals this number, only NaN is undefined.
    variable.UndefinedFrom = variable.UndefinedTo = std::numeric_limits<double>::max();
  }
  return found->second;
}

/// Adds the variables of all pieces, and sets the patches that have values of each variable.
void CatalogMaker::AddVariables()
{
  Catalog& data = this->Step.Data;
  std::vector<std::vector<int>> variables;  // by patch
  std::vector<bool> hasValues;              // on some patch
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    std::vector<int>& there = variables.emplace_back();
    for (const ArrayDescription& array : this->PieceOfPatch(p).Arrays) {
      there.push_back(this->FindOrAddVariable(array));
      hasValues.resize(data.Variables.size(), false);
      hasValues[there.back()] = hasValues[there.back()] || !array.IsUndefined;
    }
  }
  data.ResetPresence();
  for (std::size_t p = 0; p < variables.size(); ++p) {
    for (std::size_t i = 0; i < variables[p].size(); ++i) {
      const int variable = variables[p][i];
      const bool undefined = this->PieceOfPatch(p).Arrays[i].IsUndefined && hasValues[variable];
      data.SetPresence(variable, static_cast<int>(p), undefined ? Presence::Absent : Presence::Stored);
    }
  }
}

}  // namespace

StepCatalog MakeStepCatalog(const std::vector<GridPiece>& pieces)
{
  return CatalogMaker(pieces).MakeCatalog();
}

}  // namespace patchio
