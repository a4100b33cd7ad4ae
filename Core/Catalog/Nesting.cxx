#include "Catalog/Nesting.h"

#include <cmath>
#include <numeric>

namespace patchio {
namespace {

/// Marks, per coarse cell of `patch`, the fine cells that children cover, one bit a fine cell.
/// Needed where children's edges cut coarse cells; works while a coarse cell has at most 64 fine ones.
class CoverMasks
{
public:
  CoverMasks(const Box& patch, const Int3& ratio) : PatchBox(patch), Ratio(ratio), Masks(patch.Cells(), 0) {}

  void Add(const Box& fine)
  {
    const Box coarse = Intersect(Coarsen(fine, this->Ratio), this->PatchBox);
    std::size_t row = 0;
    for (int k = coarse.Lower[2]; k <= coarse.Upper[2]; ++k) {
      for (int j = coarse.Lower[1]; j <= coarse.Upper[1]; ++j) {
        row = this->Index({coarse.Lower[0], j, k});
        for (int i = coarse.Lower[0]; i <= coarse.Upper[0]; ++i, ++row) {
          this->Masks[row] |= this->MaskOf({i, j, k}, fine);
        }
      }
    }
  }

  std::vector<std::uint8_t> Covered() const
  {
    const int bits = this->Ratio[0] * this->Ratio[1] * this->Ratio[2];
    const std::uint64_t full = bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << bits) - 1;
    std::vector<std::uint8_t> covered(this->Masks.size());
    std::transform(this->Masks.begin(), this->Masks.end(), covered.begin(),
        [full](std::uint64_t mask) { return mask == full ? 1 : 0; });
    return covered;
  }

private:
  std::size_t Index(const Int3& cell) const
  {
    const Box& box = this->PatchBox;
    return (std::size_t(cell[2] - box.Lower[2]) * box.Width(1) + (cell[1] - box.Lower[1])) * box.Width(0) +
           (cell[0] - box.Lower[0]);
  }

  std::uint64_t MaskOf(const Int3& cell, const Box& fine) const
  {
    std::uint64_t mask = 0;
    std::uint64_t bit = 1;
    const Int3 first{cell[0] * this->Ratio[0], cell[1] * this->Ratio[1], cell[2] * this->Ratio[2]};
    for (int k = first[2]; k < first[2] + this->Ratio[2]; ++k) {
      for (int j = first[1]; j < first[1] + this->Ratio[1]; ++j) {
        for (int i = first[0]; i < first[0] + this->Ratio[0]; ++i, bit <<= 1) {
          const bool inside = i >= fine.Lower[0] && i <= fine.Upper[0] && j >= fine.Lower[1] &&
                              j <= fine.Upper[1] && k >= fine.Lower[2] && k <= fine.Upper[2];
          mask |= inside ? bit : 0;
        }
      }
    }
    return mask;
  }

  Box PatchBox;
  Int3 Ratio;
  std::vector<std::uint64_t> Masks;
};

/// The coarse cells that `fine` covers completely.
Box CoarsenInside(const Box& fine, const Int3& ratio)
{
  Box result;
  for (int axis = 0; axis < 3; ++axis) {
    result.Lower[axis] = FloorDivide(fine.Lower[axis] + ratio[axis] - 1, ratio[axis]);
    result.Upper[axis] = FloorDivide(fine.Upper[axis] + 1, ratio[axis]) - 1;
  }
  return result;
}

void MarkBox(const Box& patch, const Box& part, std::vector<std::uint8_t>& flags)
{
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j) {
      const std::size_t row =
          (std::size_t(k - patch.Lower[2]) * patch.Width(1) + (j - patch.Lower[1])) * patch.Width(0);
      const auto begin = flags.begin() + row + (part.Lower[0] - patch.Lower[0]);
      std::fill(begin, begin + part.Width(0), std::uint8_t(1));
    }
  }
}

std::vector<std::uint8_t> CoveredByEach(
    const Catalog& catalog, const Box& patch, const Int3& ratio, const std::vector<int>& children)
{
  std::vector<std::uint8_t> flags(patch.Cells(), 0);
  for (const int child : children) {
    const Box part = Intersect(CoarsenInside(catalog.Patches[child].Cells, ratio), patch);
    if (!part.Empty()) {
      MarkBox(patch, part, flags);
    }
  }
  return flags;
}

std::vector<std::uint8_t> CoveredTogether(
    const Catalog& catalog, const Box& patch, const Int3& ratio, const std::vector<int>& children)
{
  CoverMasks masks(patch, ratio);
  for (const int child : children) {
    masks.Add(catalog.Patches[child].Cells);
  }
  return masks.Covered();
}

/// True when some child's edge runs through coarse cells of the patch.
bool EdgesCutCells(
    const Catalog& catalog, const Box& patch, const Int3& ratio, const std::vector<int>& children)
{
  return std::any_of(children.begin(), children.end(), [&](int child) {
    const Box& fine = catalog.Patches[child].Cells;
    return !(Intersect(Coarsen(fine, ratio), patch) == Intersect(CoarsenInside(fine, ratio), patch));
  });
}

std::size_t BinsIn(const Int3& count)
{
  return std::size_t(count[0]) * count[1] * count[2];
}

}  // namespace

Nesting::Nesting(const Catalog& catalog, const std::vector<bool>& shown) : Data(catalog), Shown(shown)
{
  if (catalog.Grid == GridKind::Uniform) {
    for (std::size_t level = 0; level < catalog.Levels.size(); ++level) {
      this->LevelBins.push_back(this->MakeBins(static_cast<int>(level)));
    }
  }
}

Box Nesting::Bins::Range(const Box& cells) const
{
  Box range;
  for (int axis = 0; axis < 3; ++axis) {
    const auto bin = [&](int index) {
      return static_cast<int>((std::int64_t(index) - this->Cells.Lower[axis]) / this->Size[axis]);
    };
    const int lowest = this->Cells.Lower[axis];
    range.Lower[axis] = cells.Lower[axis] <= lowest ? 0 : bin(cells.Lower[axis]);
    range.Upper[axis] =
        cells.Upper[axis] < lowest ? -1 : std::min(bin(cells.Upper[axis]), this->Count[axis] - 1);
  }
  return range;
}

template <typename Visit>
void Nesting::Bins::ForEachBin(const Box& cells, Visit visit) const
{
  const Box range = this->Range(cells);
  for (int k = range.Lower[2]; k <= range.Upper[2]; ++k) {
    for (int j = range.Lower[1]; j <= range.Upper[1]; ++j) {
      for (int i = range.Lower[0]; i <= range.Upper[0]; ++i) {
        visit((std::size_t(k) * this->Count[1] + j) * this->Count[0] + i);
      }
    }
  }
}

void Nesting::Bins::SetSize(const std::array<std::int64_t, 3>& size)
{
  this->Size = size;
  for (int axis = 0; axis < 3; ++axis) {
    this->Count[axis] = static_cast<int>((this->Cells.Width(axis) + size[axis] - 1) / size[axis]);
  }
}

Nesting::Bins Nesting::MakeBins(int level) const
{
  const Level& info = this->Data.Levels[level];
  Bins bins;
  if (info.PatchCount == 0) {
    bins.Begin.assign(2, 0);
    return bins;
  }
  this->ChooseSize(info, bins);
  // A few huge boxes among many tiny ones would lie in nearly all of the bins. This ends at one bin at the
  // latest.
  const std::size_t most = 32 * std::size_t(info.PatchCount) + 1024;
  while (BinsIn(bins.Count) > most || this->CountMembers(info, bins) > most) {
    bins.SetSize({2 * bins.Size[0], 2 * bins.Size[1], 2 * bins.Size[2]});
  }
  this->Fill(info, bins);
  return bins;
}

/// A bin has the mean size of a patch, so that a patch falls into a few bins and a bin holds a few patches.
void Nesting::ChooseSize(const Level& level, Bins& bins) const
{
  Box& all = bins.Cells;
  all = this->Data.Patches[level.FirstPatch].Cells;
  Double3 mean{0, 0, 0};
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    const Box& box = this->Data.Patches[p].Cells;
    for (int axis = 0; axis < 3; ++axis) {
      all.Lower[axis] = std::min(all.Lower[axis], box.Lower[axis]);
      all.Upper[axis] = std::max(all.Upper[axis], box.Upper[axis]);
      mean[axis] += double(box.Width(axis)) / level.PatchCount;
    }
  }
  // Sparse levels would make more bins than patches; coarser bins keep their number in proportion.
  double total = 1;
  for (int axis = 0; axis < 3; ++axis) {
    total *= all.Width(axis) / mean[axis];
  }
  const double coarsen = std::max(1.0, std::cbrt(total / (4.0 * level.PatchCount + 64)));
  std::array<std::int64_t, 3> size;
  for (int axis = 0; axis < 3; ++axis) {
    const double wanted = std::min(mean[axis] * coarsen, double(all.Width(axis)));
    size[axis] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(wanted)));
  }
  bins.SetSize(size);
}

std::size_t Nesting::CountMembers(const Level& level, const Bins& bins) const
{
  std::size_t count = 0;
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    count += static_cast<std::size_t>(bins.Range(this->Data.Patches[p].Cells).Cells());
  }
  return count;
}

/// Counting sort of (bin, patch) pairs.
void Nesting::Fill(const Level& level, Bins& bins) const
{
  const int first = level.FirstPatch;
  const int last = level.FirstPatch + level.PatchCount;
  bins.Begin.assign(BinsIn(bins.Count) + 1, 0);
  for (int p = first; p < last; ++p) {
    bins.ForEachBin(this->Data.Patches[p].Cells, [&](std::size_t bin) { ++bins.Begin[bin + 1]; });
  }
  std::partial_sum(bins.Begin.begin(), bins.Begin.end(), bins.Begin.begin());
  bins.Members.resize(bins.Begin.back());
  std::vector<std::size_t> next(bins.Begin.begin(), bins.Begin.end() - 1);
  for (int p = first; p < last; ++p) {
    bins.ForEachBin(this->Data.Patches[p].Cells, [&](std::size_t bin) { bins.Members[next[bin]++] = p; });
  }
}

std::vector<int> Nesting::ChildrenOf(int patch) const
{
  std::vector<int> children;
  const Patch& parent = this->Data.Patches[patch];
  if (parent.Level + 1 >= static_cast<int>(this->Data.Levels.size())) {
    return children;
  }
  if (this->Data.Grid == GridKind::Curvilinear) {
    if (!this->Data.ChildBegin.empty()) {
      children.assign(this->Data.Children.begin() + this->Data.ChildBegin[patch],
          this->Data.Children.begin() + this->Data.ChildBegin[patch + 1]);
    }
  } else {
    const Int3& ratio = this->Data.Levels[parent.Level + 1].Ratio;
    const Box refined = Refine(parent.Cells, ratio);
    const Bins& bins = this->LevelBins[parent.Level + 1];
    bins.ForEachBin(refined, [&](std::size_t bin) {
      for (std::size_t m = bins.Begin[bin]; m < bins.Begin[bin + 1]; ++m) {
        if (!Intersect(refined, this->Data.Patches[bins.Members[m]].Cells).Empty()) {
          children.push_back(bins.Members[m]);
        }
      }
    });
    std::sort(children.begin(), children.end());
    children.erase(std::unique(children.begin(), children.end()), children.end());
  }
  children.erase(std::remove_if(children.begin(), children.end(), [this](int p) { return !this->Shown[p]; }),
      children.end());
  return children;
}

std::vector<std::uint8_t> Nesting::CoveredCells(int patch) const
{
  const std::vector<int> children = this->ChildrenOf(patch);
  if (children.empty()) {
    return {};
  }
  const Box& box = this->Data.Patches[patch].Cells;
  const Int3& ratio = this->Data.Levels[this->Data.Patches[patch].Level + 1].Ratio;
  const std::int64_t fineInCoarse = std::int64_t(ratio[0]) * ratio[1] * ratio[2];
  const bool together = fineInCoarse <= 64 && EdgesCutCells(this->Data, box, ratio, children);
  std::vector<std::uint8_t> covered = together ? CoveredTogether(this->Data, box, ratio, children)
                                               : CoveredByEach(this->Data, box, ratio, children);
  const bool any = std::any_of(covered.begin(), covered.end(), [](std::uint8_t flag) { return flag != 0; });
  return any ? covered : std::vector<std::uint8_t>();
}

std::vector<std::uint8_t> Nesting::SharedCells(int patch, const Int3& ghosts) const
{
  const Box& own = this->Data.Patches[patch].Cells;
  Box grown = own;
  for (int axis = 0; axis < 3; ++axis) {
    grown.Lower[axis] -= ghosts[axis];
    grown.Upper[axis] += ghosts[axis];
  }
  std::vector<std::uint8_t> flags(grown.Cells(), 0);
  MarkBox(grown, own, flags);
  if (this->Data.Grid == GridKind::Curvilinear) {
    return flags;
  }
  // From the patch's own level down to level 0; `ratio` is of the patch's level to `level`.
  Int3 ratio{1, 1, 1};
  for (int level = this->Data.Patches[patch].Level; level >= 0; --level) {
    const Bins& bins = this->LevelBins[level];
    bins.ForEachBin(Coarsen(grown, ratio), [&](std::size_t bin) {
      for (auto m = bins.Begin[bin]; m < bins.Begin[bin + 1]; ++m) {
        const int other = bins.Members[m];
        const Box part = Intersect(Refine(this->Data.Patches[other].Cells, ratio), grown);
        if (this->Shown[other] && !part.Empty()) {
          MarkBox(grown, part, flags);
        }
      }
    });
    for (int axis = 0; axis < 3; ++axis) {
      // Beyond the index range everything is one coarse cell anyway.
      const std::int64_t product = std::int64_t(ratio[axis]) * this->Data.Levels[level].Ratio[axis];
      ratio[axis] = static_cast<int>(std::min(product, std::int64_t(1) << 30));
    }
  }
  return flags;
}

}  // namespace patchio
