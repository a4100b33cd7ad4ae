#include "KeptCells.h"

#include "Plan/BoxCover.h"

#include <vtkDataSetAttributes.h>

#include <algorithm>
#include <array>

namespace patchio {
namespace {

/// More boxes than MostBoxes of fewer cells than LeastCells each would make the data slow to read.
constexpr std::size_t MostBoxes = 64;
constexpr std::int64_t LeastCells = 512;

/// By flag.
std::array<bool, 256> KeptFlags(const Box& cells, const unsigned char* flags, bool ofAmr)
{
  const unsigned char* const end = flags + cells.Cells();
  const bool ghosts = ofAmr || std::any_of(flags, end, [](unsigned char flag) {
    return (flag & vtkDataSetAttributes::REFINEDCELL) && !(flag & vtkDataSetAttributes::DUPLICATECELL);
  });
  std::array<bool, 256> kept;
  for (int flag = 0; flag < 256; ++flag) {
    const bool refined = (flag & vtkDataSetAttributes::REFINEDCELL) != 0;
    const bool duplicate = (flag & vtkDataSetAttributes::DUPLICATECELL) != 0;
    const bool hidden = (flag & vtkDataSetAttributes::HIDDENCELL) != 0;
    kept[flag] = (flag & UncoveredCell) == 0 && (refined ? !(ghosts && duplicate) : !duplicate && !hidden);
  }
  return kept;
}

/// The runs of kept cells along axis 0.
std::vector<OwnedBox> RunsOf(const Box& cells, const unsigned char* flags, const std::array<bool, 256>& kept)
{
  std::vector<OwnedBox> runs;
  for (int k = cells.Lower[2]; k <= cells.Upper[2]; ++k) {
    for (int j = cells.Lower[1]; j <= cells.Upper[1]; ++j) {
      const unsigned char* const row = flags + IndexIn(cells, {cells.Lower[0], j, k});
      const int width = static_cast<int>(cells.Width(0));
      for (int i = 0; i < width;) {
        const int first = i;
        for (; i < width && kept[row[i]]; ++i) {
        }
        if (i > first) {
          runs.push_back({{{cells.Lower[0] + first, j, k}, {cells.Lower[0] + i - 1, j, k}}, 0});
        }
        i += i == first ? 1 : 0;
      }
    }
  }
  return runs;
}

Box BoundsOf(const std::vector<OwnedBox>& boxes)
{
  Box bounds = boxes.front().Cells;
  for (const OwnedBox& box : boxes) {
    for (int axis = 0; axis < 3; ++axis) {
      bounds.Lower[axis] = std::min(bounds.Lower[axis], box.Cells.Lower[axis]);
      bounds.Upper[axis] = std::max(bounds.Upper[axis], box.Cells.Upper[axis]);
    }
  }
  return bounds;
}

bool HasHidden(
    const Box& cells, const Box& part, const unsigned char* flags, const std::array<bool, 256>& kept)
{
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j) {
      const unsigned char* const row = flags + IndexIn(cells, {part.Lower[0], j, k});
      for (std::int64_t i = 0; i < part.Width(0); ++i) {
        if (!kept[row[i]] && (row[i] & (vtkDataSetAttributes::HIDDENCELL | UncoveredCell))) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace

KeptCells FindKeptCells(const Box& cells, const unsigned char* flags, FlagMeaning meaning)
{
  if (!flags) {
    return {{cells}, false};
  }
  const std::array<bool, 256> isKept = KeptFlags(cells, flags, meaning.OfAmr);
  const std::vector<OwnedBox> runs = RunsOf(cells, flags, isKept);
  if (runs.empty()) {
    return {};
  }
  std::int64_t kept = 0;
  for (const OwnedBox& run : runs) {
    kept += run.Cells.Width(0);
  }
  const Box bounds = BoundsOf(runs);
  if (kept == bounds.Cells() || (meaning.OfWholePatch && !HasHidden(cells, bounds, flags, isKept))) {
    return {{bounds}, false};
  }
  CoverOptions options;
  options.MostCells = std::int64_t(1) << 40;
  options.CellsWorthABox = 0;
  KeptCells result;
  for (const CoverBox& box : CoverBoxes(runs, {}, options)) {
    result.Boxes.push_back(box.Cells);
  }
  if (result.Boxes.size() > MostBoxes && kept / static_cast<std::int64_t>(result.Boxes.size()) < LeastCells) {
    return {{cells}, true};
  }
  return result;
}

}  // namespace patchio
