#include "PieceLevels.h"

#include "InputTree.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

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

LevelsBy WayFor(const std::vector<PieceForm>& pieces)
{
  std::set<std::vector<int>> groups;
  bool numbers = true, hides = false;
  for (const PieceForm& piece : pieces) {
    groups.insert(piece.Group);
    numbers = numbers && piece.Level >= 0;
    hides = hides || piece.Hides;
  }
  return numbers                               ? LevelsBy::Number
         : hides || groups.size() > MostGroups ? LevelsBy::Spacing
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

/// Whether a level hides what it covers of the one before. Our reader names levels of other kinds otherwise.
bool MayHide(const std::vector<PieceForm>& pieces, const LevelOfPieces& level, LevelsBy way)
{
  const bool marked =
      std::any_of(pieces.begin(), pieces.end(), [](const PieceForm& piece) { return piece.Hides; });
  return pieces.front().Kind == GridKind::Uniform &&
         (way == LevelsBy::Number ? marked || LevelInName(level.Name) >= 0 : marked);
}

}  // namespace

std::vector<LevelOfPieces> LevelsOf(const std::vector<PieceForm>& pieces)
{
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
      levels[l].Role = refines ? LevelRole::Refinement : LevelRole::Separate;
      levels[l].Ratio = refines ? *ratio : Int3{1, 1, 1};
    }
  }
  return levels;
}

}  // namespace patchio
