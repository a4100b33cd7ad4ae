#include "PieceLevels.h"

#include "InputTree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace patchio {
namespace {

/// With more blocks than this, each would rather be a patch than a level.
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

/// How levels are told apart, before their cell sizes are looked at.
enum class LevelsBy
{
  Number,
  Spacing,
  Group
};

/// Lower and upper bound along an axis.
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

/// Whether they have more in common than rounding; flat pieces have, in the same plane.
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

/// Whether pieces of different groups lie in each other's place. Blocks of a curvilinear grid have indices of
/// their own, so they may.
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

LevelsBy WayFor(const std::vector<PieceForm>& pieces)
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

/// How many cells of the second lie in one of the first; nullopt where it is no refinement.
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

/// The name of all pieces, if they have one.
std::string CommonName(const std::vector<PieceForm>& pieces, const std::vector<int>& members)
{
  const std::string& name = pieces[members.front()].Name;
  const bool common =
      std::all_of(members.begin(), members.end(), [&](int m) { return pieces[m].Name == name; });
  return common ? name : std::string();
}

/// Whether a level may be one that hides what it covers. Our reader names levels of other kinds otherwise;
/// where nothing is covered, it does no harm.
bool MayHide(const std::vector<PieceForm>& pieces, const LevelOfPieces& level, LevelsBy way)
{
  return pieces.front().Kind == GridKind::Uniform &&
         (AnyHides(pieces) || (way == LevelsBy::Number && LevelInName(level.Name) >= 0) ||
             (way == LevelsBy::Spacing && !GroupsOverlap(pieces)));
}

/// A mesh has one level.
LevelOfPieces MeshLevel(const std::vector<PieceForm>& pieces)
{
  LevelOfPieces level;
  level.Members.resize(pieces.size());
  std::iota(level.Members.begin(), level.Members.end(), 0);
  level.Name = CommonName(pieces, level.Members);
  return level;
}

}  // namespace

std::vector<LevelOfPieces> LevelsOf(const std::vector<PieceForm>& pieces)
{
  const GridKind kind = pieces.front().Kind;
  if (kind == GridKind::Unstructured || kind == GridKind::Polygonal) {
    return {MeshLevel(pieces)};
  }
  const LevelsBy way = WayFor(pieces);
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
      // Levels of a rectilinear grid are grids of their own in any case.
      const bool isGrid = !refines && pieces.front().Kind != GridKind::Rectilinear;
      levels[l].Role = isGrid ? LevelRole::Separate : LevelRole::Refinement;
      levels[l].Ratio = refines ? *ratio : Int3{1, 1, 1};
    }
  }
  return levels;
}

}  // namespace patchio
