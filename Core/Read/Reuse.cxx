#include "Read/Reuse.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>

namespace patchio {
namespace {

/// A hash of what tells blocks apart as a rule.
std::uint64_t HashOf(const Block& block)
{
  std::uint64_t hash = static_cast<std::uint64_t>(block.Level);
  const auto add = [&hash](int number) {
    hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  add(block.Parts.empty() ? -1 : block.Parts[0].Owner);
  for (int axis = 0; axis < 3; ++axis) {
    add(block.Cells.Lower[axis]);
    add(block.Cells.Upper[axis]);
  }
  return hash;
}

/// Calls visit(number of the kept array, part of `region`, that array's placement) for the values of a patch
/// that kept arrays have, and leaves in `open` what none has.
template <typename Visit>
void FindParts(const KeptValues& kept, Centering centering, int patch, const Int3& ratio,
    std::vector<Box>& open, Visit visit)
{
  const BlockLayout& layout = *kept.Layout;
  const std::vector<int>& sources = layout.Sources();
  const auto found = std::lower_bound(sources.begin(), sources.end(), patch);
  const auto source = static_cast<std::size_t>(found - sources.begin());
  if (found == sources.end() || *found != patch || (!kept.Constants.empty() && kept.Constants[source])) {
    return;
  }
  std::vector<Box> left;
  for (const Placement* p = layout.Begin(source, centering); p != layout.End(source, centering); ++p) {
    if (p->Ratio != Int3{1, 1, 1} || kept.Arrays[p->Block].Status != ArrayStatus::Read) {
      continue;
    }
    const Box there = Refine(p->Region, ratio);
    left.clear();
    for (const Box& box : open) {
      const Box part = Intersect(box, there);
      if (part.Empty() || !visit(p->Block, part)) {
        left.push_back(box);
      } else {
        Subtract(box, part, left);
      }
    }
    open.swap(left);
  }
}

}  // namespace

const std::vector<int>& BlockMatcher::NumbersIn(const BlockLayout& other)
{
  const auto [known, fresh] = this->Known.try_emplace(&other);
  std::vector<int>& numbers = known->second;
  if (!fresh) {
    return numbers;
  }
  numbers.resize(this->Layout.Blocks().size(), -1);
  if (&other == &this->Layout) {
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
  std::unordered_multimap<std::uint64_t, int> byHash;
  for (std::size_t b = 0; b < other.Blocks().size(); ++b) {
    byHash.emplace(HashOf(other.Blocks()[b]), static_cast<int>(b));
  }
  for (std::size_t b = 0; b < numbers.size(); ++b) {
    const Block& block = this->Layout.Blocks()[b];
    const auto range = byHash.equal_range(HashOf(block));
    for (auto it = range.first; it != range.second; ++it) {
      numbers[b] = other.Blocks()[it->second] == block ? it->second : numbers[b];
    }
  }
  return numbers;
}

Reuse FindReuse(const BlockLayout& layout, Centering centering, bool sameOnly,
    const std::vector<SharedValues>& kept, BlockMatcher& matcher)
{
  Reuse reuse;
  reuse.Same.resize(layout.Blocks().size());
  std::vector<const LoadedArray*> first(layout.Blocks().size());  // of the copies: all have its type
  for (const SharedValues& values : kept) {
    const std::vector<int>& numbers = matcher.NumbersIn(*values->Layout);
    for (std::size_t b = 0; b < numbers.size(); ++b) {
      if (!reuse.Same[b] && numbers[b] >= 0 && values->Arrays[numbers[b]].Status != ArrayStatus::NotRead) {
        reuse.Same[b] = &values->Arrays[numbers[b]];
      }
    }
  }
  std::vector<Box> open;
  for (std::size_t s = 0; s < layout.Sources().size(); ++s) {
    reuse.First.push_back(reuse.Rest.size());
    for (const Placement* p = layout.Begin(s, centering); p != layout.End(s, centering); ++p) {
      if (reuse.Same[p->Block]) {
        continue;
      }
      open.assign(1, p->Region);
      for (std::size_t k = 0; k < kept.size() && !open.empty() && !sameOnly; ++k) {
        FindParts(*kept[k], centering, layout.Sources()[s], p->Ratio, open,
            [&](std::uint32_t number, const Box& part) {
              const LoadedArray& from = kept[k]->Arrays[number];
              const LoadedArray*& one = first[p->Block];
              one = one ? one : &from;
              if (one->Type == from.Type) {
                reuse.Copies.push_back(
                    {p->Block, &from, kept[k]->Layout->ValuesOf(number, centering), part, p->Ratio});
              }
              return one->Type == from.Type;
            });
      }
      for (const Box& box : open) {
        reuse.Rest.push_back({p->Block, box, p->Ratio});
      }
    }
  }
  reuse.First.push_back(reuse.Rest.size());
  std::stable_sort(reuse.Copies.begin(), reuse.Copies.end(),
      [](const ValueCopy& a, const ValueCopy& b) { return a.Block < b.Block; });
  return reuse;
}

void CopyValues(const ValueCopy& copy, const Box& values, const LoadedArray& array)
{
  const std::size_t tuple = array.Components * SizeOf(array.Type);
  const auto* const from = static_cast<const std::byte*>(copy.From->Values.get());
  auto* const to = static_cast<std::byte*>(array.Values.get());
  const Box& region = copy.Region;
  for (int k = region.Lower[2]; k <= region.Upper[2]; ++k) {
    for (int j = region.Lower[1]; j <= region.Upper[1]; ++j) {
      const Int3 begin{region.Lower[0], j, k};
      const Int3 source = Coarsen({begin, begin}, copy.Ratio).Lower;
      const std::byte* const row = from + IndexIn(copy.FromValues, source) * tuple;
      std::byte* next = to + IndexIn(values, begin) * tuple;
      if (copy.Ratio[0] == 1) {
        std::memcpy(next, row, region.Width(0) * tuple);
        continue;
      }
      for (int i = region.Lower[0]; i <= region.Upper[0]; ++i, next += tuple) {
        std::memcpy(next, row + (FloorDivide(i, copy.Ratio[0]) - source[0]) * tuple, tuple);
      }
    }
  }
}

std::vector<bool> ArraysIn(const KeptValues& now, const KeptValues& old, Centering centering)
{
  std::vector<bool> held(old.Arrays.size(), true);
  if (now.Layout == old.Layout) {
    for (std::size_t b = 0; b < held.size(); ++b) {
      held[b] = now.Arrays[b].Status == old.Arrays[b].Status;
    }
    return held;
  }
  const BlockLayout& layout = *old.Layout;
  std::vector<Box> open;
  for (std::size_t s = 0; s < layout.Sources().size(); ++s) {
    const bool constant = !old.Constants.empty() && old.Constants[s];
    for (const Placement* p = layout.Begin(s, centering); p != layout.End(s, centering) && !constant; ++p) {
      if (held[p->Block] && old.Arrays[p->Block].Status == ArrayStatus::Read) {
        open.assign(1, p->Region);
        FindParts(now, centering, layout.Sources()[s], p->Ratio, open,
            [](std::uint32_t, const Box&) { return true; });
        held[p->Block] = open.empty();
      }
    }
  }
  return held;
}

}  // namespace patchio
