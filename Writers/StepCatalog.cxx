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

struct LevelOfPieces
{
  LevelRole Role = LevelRole::Refinement;
  Int3 Ratio{1, 1, 1};
  std::string Name;          ///< name that all pieces of the level have; empty if the names differ
  std::vector<int> Members;  ///< indices into the pieces; all of one cell size, and flat along the same axes
};

/// Greatest number of blocks that become levels; if there are more, each becomes a patch.
constexpr std::size_t MostGroups = 64;

bool SameSpacing(const PieceForm& a, const PieceForm& b)
{
  if (a.FlatAxes != b.FlatAxes) {
    return false;
  }
  for (int axis = 0; axis < 3 && a.Kind == GridKind::Uniform; ++axis) {
    if (std::abs(a.Spacing[axis] - b.Spacing[axis]) > 1e-6 * a.Spacing[axis]) {
      return false;
    }
  }
  return true;
}

double VolumeOf(const PieceForm& piece)
{
  double volume = 1;
  for (int axis = 0; axis < 3; ++axis) {
    volume *= (piece.FlatAxes >> axis & 1) != 0 ? 1 : piece.Spacing[axis];
  }
  return volume;
}

/// The criterion that separates levels, in addition to the cell size.
enum class LevelsBy
{
  Number,
  Spacing,
  Group
};

/// Lower and upper bound along each axis.
using Bounds = std::array<std::pair<double, double>, 3>;

Bounds BoundsOf(const PieceForm& piece)
{
  Bounds bounds;
  const Box nodes = NodesOf(piece, piece.Cells);
  for (int axis = 0; axis < 3; ++axis) {
    const auto position = [&](int node) {
      return piece.Kind == GridKind::Rectilinear ? piece.Axes[axis].Positions[node - piece.Axes[axis].First]
                                                 : piece.Origin[axis] + node * piece.Spacing[axis];
    };
    bounds[axis] = {position(nodes.Lower[axis]), position(nodes.Upper[axis])};
  }
  return bounds;
}

/// Returns whether the bounds overlap by more than rounding errors; flat bounds overlap in a common plane.
bool Overlap(const Bounds& a, const Bounds& b)
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

/// Returns whether pieces of different groups overlap. Blocks of a curvilinear grid have indices of their
/// own, so they may overlap and do not count.
bool GroupsOverlap(const std::vector<PieceForm>& pieces)
{
  if (pieces.front().Kind == GridKind::Curvilinear) {
    return false;
  }
  std::vector<std::pair<Bounds, const PieceForm*>> sorted;
  for (const PieceForm& piece : pieces) {
    sorted.emplace_back(BoundsOf(piece), &piece);
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = i + 1; j < sorted.size() && sorted[j].first[0].first <= sorted[i].first[0].second;
         ++j) {
      if (sorted[i].second->Group != sorted[j].second->Group && Overlap(sorted[i].first, sorted[j].first)) {
        return true;
      }
    }
  }
  return false;
}

bool AnyHides(const std::vector<PieceForm>& pieces)
{
  return std::any_of(pieces.begin(), pieces.end(), [](const PieceForm& piece) { return piece.Hides; });
}

LevelsBy ChooseCriterion(const std::vector<PieceForm>& pieces)
{
  std::set<std::vector<int>> groups;
  bool numbers = true;
  for (const PieceForm& piece : pieces) {
    groups.insert(piece.Group);
    numbers = numbers && piece.Level >= 0;
  }
  if (numbers) {
    return LevelsBy::Number;
  }
  return AnyHides(pieces) || groups.size() > MostGroups || !GroupsOverlap(pieces) ? LevelsBy::Spacing
                                                                                  : LevelsBy::Group;
}

/// Returns how many cells of `fine` lie in one cell of `coarse` along each axis; nullopt if `fine` does not
/// refine `coarse`.
std::optional<Int3> RatioOf(const PieceForm& coarse, const PieceForm& fine)
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

/// Returns the name that all these pieces have; empty if their names differ.
std::string CommonName(const std::vector<PieceForm>& pieces, const std::vector<int>& members)
{
  const std::string& name = pieces[members.front()].Name;
  const bool common =
      std::all_of(members.begin(), members.end(), [&](int m) { return pieces[m].Name == name; });
  return common ? name : std::string();
}

/// Returns whether a level may hide the coarser cells that it covers. PatchIO's reader gives other names to
/// levels of other roles. If a level covers nothing, hiding does no harm.
bool MayHide(const std::vector<PieceForm>& pieces, const LevelOfPieces& level, LevelsBy way)
{
  return pieces.front().Kind == GridKind::Uniform &&
         (AnyHides(pieces) || (way == LevelsBy::Number && LevelInName(level.Name) >= 0) ||
             (way == LevelsBy::Spacing && !GroupsOverlap(pieces)));
}

/// Returns the only level of a mesh.
LevelOfPieces MeshLevel(const std::vector<PieceForm>& pieces)
{
  LevelOfPieces level;
  level.Members.resize(pieces.size());
  std::iota(level.Members.begin(), level.Members.end(), 0);
  level.Name = CommonName(pieces, level.Members);
  return level;
}

/// Returns the levels, see MakeStepCatalog(), of at least one piece.
std::vector<LevelOfPieces> LevelsOf(const std::vector<PieceForm>& pieces)
{
  const GridKind kind = pieces.front().Kind;
  if (kind == GridKind::Unstructured || kind == GridKind::Polygonal) {
    return {MeshLevel(pieces)};
  }
  const LevelsBy way = ChooseCriterion(pieces);
  std::vector<LevelOfPieces> levels;
  std::map<std::pair<int, std::vector<int>>, std::vector<std::size_t>>
      alike;  // levels of one number or group
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const PieceForm& piece = pieces[i];
    std::vector<std::size_t>& there = alike[{way == LevelsBy::Number ? piece.Level : 0,
        way == LevelsBy::Group ? piece.Group : std::vector<int>()}];
    const auto same = std::find_if(there.begin(), there.end(),
        [&](std::size_t level) { return SameSpacing(pieces[levels[level].Members.front()], piece); });
    if (same == there.end()) {
      there.push_back(levels.size());
      levels.emplace_back().Members.push_back(static_cast<int>(i));
    } else {
      levels[*same].Members.push_back(static_cast<int>(i));
    }
  }
  std::stable_sort(levels.begin(), levels.end(), [&](const LevelOfPieces& a, const LevelOfPieces& b) {
    const auto key = [&](const LevelOfPieces& level) {
      const PieceForm& first = pieces[level.Members.front()];
      return std::make_tuple(way == LevelsBy::Number ? first.Level : 0,
          way == LevelsBy::Group ? first.Group : std::vector<int>(),
          way == LevelsBy::Spacing ? -VolumeOf(first) : 0);
    };
    return key(a) < key(b);
  });
  bool refines = true;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    levels[l].Name = CommonName(pieces, levels[l].Members);
    if (l > 0) {
      const std::optional<Int3> ratio =
          RatioOf(pieces[levels[l - 1].Members.front()], pieces[levels[l].Members.front()]);
      refines = refines && ratio && MayHide(pieces, levels[l], way);
      // Levels of a rectilinear grid are separate grids in any case.
      const bool isGrid = !refines && pieces.front().Kind != GridKind::Rectilinear;
      levels[l].Role = isGrid ? LevelRole::Separate : LevelRole::Refinement;
      levels[l].Ratio = refines ? *ratio : Int3{1, 1, 1};
    }
  }
  return levels;
}

/// Positions may be off by this fraction of a cell, as in files that store them as floats.
constexpr double Rounding = 1e-4;
constexpr double LargestIndex = 1 << 30;

class CatalogMaker
{
public:
  explicit CatalogMaker(const std::vector<PieceForm>& pieces) : Pieces(pieces) {}

  StepCatalog Make();

private:
  void TakeKind();
  void TakeLevels();
  void TakePatches(const std::vector<int>& members, Level& level);
  void NumberPatches(const Level& level);
  void FindOrigin();
  bool Fits(int axis, double origin) const;
  void PlaceUniform();
  void PlaceRectilinear();
  bool UseAxisByIndex(int axis);
  void TakeAxisByPosition(int axis);
  void TakeDimension();
  void TakeVariables();
  int VariableOf(const ArrayForm& array);
  const PieceForm& Of(std::size_t patch) const { return this->Pieces[this->Step.PieceOf[patch]]; }

  const std::vector<PieceForm>& Pieces;
  StepCatalog Step;
};

StepCatalog CatalogMaker::Make()
{
  if (this->Pieces.empty()) {
    throw Error("The data have no cells to write.");
  }
  this->TakeKind();
  this->TakeLevels();
  if (this->Step.Data.Grid == GridKind::Uniform) {
    this->PlaceUniform();
  } else if (this->Step.Data.Grid == GridKind::Rectilinear) {
    this->PlaceRectilinear();
  }
  this->TakeDimension();
  this->TakeVariables();
  return std::move(this->Step);
}

void CatalogMaker::TakeKind()
{
  const GridKind kind = this->Pieces.front().Kind;
  for (const PieceForm& piece : this->Pieces) {
    if (piece.Kind != kind) {
      throw Error(
          fmt::format("The data have a {} grid and a {} grid, but a PatchIO container has one type of grid. "
                      "Save the grids separately (Extract Block).",
              NameOf(kind), NameOf(piece.Kind)));
    }
  }
  this->Step.Data.Grid = kind;
}

void CatalogMaker::TakeLevels()
{
  Catalog& data = this->Step.Data;
  bool named = false;
  for (const LevelOfPieces& from : LevelsOf(this->Pieces)) {
    Level& level = data.Levels.emplace_back();
    level.Role = from.Role;
    level.Ratio = from.Ratio;
    const PieceForm& first = this->Pieces[from.Members.front()];
    level.Spacing = data.Grid == GridKind::Uniform ? first.Spacing : Double3{1, 1, 1};
    level.FlatAxes = first.FlatAxes;
    this->TakePatches(from.Members, level);
    data.LevelNames.push_back(from.Name);
    const std::string usual = fmt::format("level {}", data.Levels.size() - 1);
    named = named || (!from.Name.empty() && from.Name != usual);
    data.LevelNames.back() = from.Name.empty() ? usual : from.Name;
  }
  if (!named) {
    data.LevelNames.clear();
  }
}

void CatalogMaker::TakePatches(const std::vector<int>& members, Level& level)
{
  Catalog& data = this->Step.Data;
  level.FirstPatch = static_cast<int>(data.Patches.size());
  level.PatchCount = static_cast<int>(members.size());
  std::vector<int> sorted = members;
  std::stable_sort(sorted.begin(), sorted.end(), [this](int a, int b) {
    const auto key = [](const PieceForm& piece) {
      return std::tie(piece.Number, piece.Group, piece.Piece, piece.Rank);
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

/// Keeps the patches' numbers if they are known and unique. In a level of the role Separate, patches of one
/// group may share a number. Otherwise numbers all patches anew.
void CatalogMaker::NumberPatches(const Level& level)
{
  std::vector<Patch>& patches = this->Step.Data.Patches;
  std::map<int, std::vector<int>> groups;  // by number
  bool keepsNumbers = true;
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    const auto [known, isNew] = groups.emplace(patches[p].Number, this->Of(p).Group);
    const bool isOfBox = level.Role == LevelRole::Separate && known->second == this->Of(p).Group;
    keepsNumbers = keepsNumbers && patches[p].Number >= 0 && (isNew || isOfBox);
  }
  for (int p = level.FirstPatch; !keepsNumbers && p < level.FirstPatch + level.PatchCount; ++p) {
    patches[p].Number = p - level.FirstPatch;
  }
}

bool CatalogMaker::Fits(int axis, double origin) const
{
  const std::vector<Patch>& patches = this->Step.Data.Patches;
  for (std::size_t p = 0; p < patches.size(); ++p) {
    const double spacing = this->Step.Data.Levels[patches[p].Level].Spacing[axis];
    const double index = (this->Of(p).Origin[axis] - origin) / spacing;
    if (!(std::abs(index - std::round(index)) <= Rounding)) {
      return false;
    }
  }
  return true;
}

/// Sets the origin along each axis: the common origin of all pieces, or the lowest corner of a level if all
/// blocks fit a lattice from there. Throws Error.
void CatalogMaker::FindOrigin()
{
  Catalog& data = this->Step.Data;
  for (int axis = 0; axis < 3; ++axis) {
    std::set<double> candidates;
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      candidates.insert(this->Of(p).Origin[axis]);
    }
    if (candidates.size() > 1) {
      candidates.clear();
      for (const Level& level : data.Levels) {
        double lowest = INFINITY;
        for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
          lowest = std::min(
              lowest, this->Of(p).Origin[axis] + this->Of(p).Cells.Lower[axis] * level.Spacing[axis]);
        }
        candidates.insert(lowest);
      }
    }
    const auto found = std::find_if(
        candidates.begin(), candidates.end(), [&](double origin) { return this->Fits(axis, origin); });
    if (found == candidates.end()) {
      throw Error(fmt::format(
          "Along axis {}, the distance of the blocks is not a whole number of cells, but a PatchIO "
          "container has a single lattice. Save the blocks separately (Extract Block).",
          axis));
    }
    data.Origin[axis] = *found;
  }
}

void CatalogMaker::PlaceUniform()
{
  this->FindOrigin();
  Catalog& data = this->Step.Data;
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    Patch& patch = data.Patches[p];
    const Double3& spacing = data.Levels[patch.Level].Spacing;
    for (int axis = 0; axis < 3; ++axis) {
      const double shift = std::round((this->Of(p).Origin[axis] - data.Origin[axis]) / spacing[axis]);
      if (!(std::abs(shift) + std::abs(static_cast<double>(patch.Cells.Upper[axis])) < LargestIndex)) {
        throw Error(fmt::format(
            "A block is {} cells away from the origin, but PatchIO containers support cell indices up to {}.",
            shift, LargestIndex));
      }
      patch.Cells.Lower[axis] += static_cast<int>(shift);
      patch.Cells.Upper[axis] += static_cast<int>(shift);
    }
  }
}

void CatalogMaker::PlaceRectilinear()
{
  for (int axis = 0; axis < 3; ++axis) {
    if (!this->UseAxisByIndex(axis)) {
      this->TakeAxisByPosition(axis);
    }
  }
}

/// Makes an axis by the grids' indices. Returns false unless all grids have the same position at the same
/// index, as pieces of one grid do.
bool CatalogMaker::UseAxisByIndex(int axis)
{
  std::map<int, double> positions, labels;
  for (const PieceForm& piece : this->Pieces) {
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

/// Makes an axis of all positions of all grids. Throws Error unless each grid has all of these positions that
/// lie within the grid.
void CatalogMaker::TakeAxisByPosition(int axis)
{
  Catalog& data = this->Step.Data;
  std::set<double> all;
  for (const PieceForm& piece : this->Pieces) {
    all.insert(piece.Axes[axis].Positions.begin(), piece.Axes[axis].Positions.end());
  }
  Axis& to = data.Axes[axis];
  to = Axis();
  to.Positions.assign(all.begin(), all.end());
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const std::vector<double>& own = this->Of(p).Axes[axis].Positions;
    const auto first = std::lower_bound(to.Positions.begin(), to.Positions.end(), own.front());
    if (to.Positions.end() - first < static_cast<std::ptrdiff_t>(own.size()) ||
        !std::equal(own.begin(), own.end(), first)) {
      throw Error(
          fmt::format("The positions of the grids differ along axis {}, but a PatchIO container has parts of "
                      "one rectilinear grid. Save the grids separately (Extract Block).",
              axis));
    }
    const int shift = static_cast<int>(first - to.Positions.begin()) - this->Of(p).Axes[axis].First;
    data.Patches[p].Cells.Lower[axis] += shift;
    data.Patches[p].Cells.Upper[axis] += shift;
  }
}

/// Makes the data two-dimensional if all patches lie in one plane across axis 2.
void CatalogMaker::TakeDimension()
{
  Catalog& data = this->Step.Data;
  const int plane = data.Patches.front().Cells.Lower[2];
  const double height = data.Levels.front().Spacing[2] * plane;
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const Level& level = data.Levels[data.Patches[p].Level];
    const bool sameHeight = data.Grid == GridKind::Uniform
                                ? data.Patches[p].Cells.Lower[2] * level.Spacing[2] == height
                            : data.Grid == GridKind::Curvilinear ? this->Of(p).IsPlane
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

int CatalogMaker::VariableOf(const ArrayForm& array)
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
    // No value equals this number, so only NaN is undefined.
    variable.UndefinedFrom = variable.UndefinedTo = std::numeric_limits<double>::max();
  }
  return found->second;
}

void CatalogMaker::TakeVariables()
{
  Catalog& data = this->Step.Data;
  std::vector<std::vector<int>> variables;  // by patch
  std::vector<bool> hasValues;              // on some patch
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    std::vector<int>& there = variables.emplace_back();
    for (const ArrayForm& array : this->Of(p).Arrays) {
      there.push_back(this->VariableOf(array));
      hasValues.resize(data.Variables.size(), false);
      hasValues[there.back()] = hasValues[there.back()] || !array.IsBlank;
    }
  }
  data.ResetPresence();
  for (std::size_t p = 0; p < variables.size(); ++p) {
    for (std::size_t i = 0; i < variables[p].size(); ++i) {
      const int variable = variables[p][i];
      const bool blank = this->Of(p).Arrays[i].IsBlank && hasValues[variable];
      data.SetPresence(variable, static_cast<int>(p), blank ? Presence::Absent : Presence::Stored);
    }
  }
}

}  // namespace

StepCatalog MakeStepCatalog(const std::vector<PieceForm>& pieces)
{
  return CatalogMaker(pieces).Make();
}

}  // namespace patchio
