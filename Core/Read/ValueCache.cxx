#include "Read/ValueCache.h"

#include "Base/Communicator.h"
#include "Base/Memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace patchio {

namespace {

std::uint64_t BytesOf(const KeptValues& values)
{
  std::set<const void*> segments;
  std::uint64_t bytes = 0;
  for (const LoadedArray& array : values.Arrays) {
    if (array.Values) {
      const SegmentInUse segment = SegmentOfBuffer(array.Values.get());
      bytes += segments.insert(segment.Segment).second ? segment.Bytes : 0;
    }
  }
  return bytes;
}

/// Returns the arrays of `old` whose values `now` lacks, or null if `now` has all values of `old`.
SharedValues RestOf(const SharedValues& old, const KeptValues& now, Centering centering)
{
  const std::vector<bool> held = ContainedArrays(now, *old, centering);
  const auto wanted = [&](std::size_t a) {
    return !held[a] && old->Arrays[a].Status != ArrayStatus::NotRead;
  };
  auto rest = std::make_shared<KeptValues>();
  bool any = false;
  bool all = true;
  for (std::size_t a = 0; a < held.size(); ++a) {
    any = any || wanted(a);
    all = all && !held[a];
  }
  if (all || !any) {
    return any ? old : nullptr;
  }
  rest->Layout = old->Layout;
  rest->Constants = old->Constants;
  rest->Files = old->Files;
  rest->Arrays.resize(held.size());
  for (std::size_t a = 0; a < held.size(); ++a) {
    if (wanted(a)) {
      rest->Arrays[a] = ShareArray(old->Arrays[a]);
    }
  }
  return rest;
}

}  // namespace

bool ValueKey::operator==(const ValueKey& other) const
{
  return this->Variable == other.Variable && this->StepInFile == other.StepInFile && this->Path == other.Path;
}

ValueKey KeyOfValues(const Catalog& catalog, const VariableRequest& variable)
{
  const Variable& info = catalog.Variables[variable.Variable];
  return {catalog.Path, info.TimeInvariant ? -1 : catalog.StepInFile, variable, info.Center};
}

void ValueCache::SetLimit(std::int64_t bytes, int ranksOnMachine)
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  this->UserLimit = bytes;
  this->RanksOnMachine = std::max(ranksOnMachine, 1);
}

std::vector<std::vector<SharedValues>> ValueCache::Find(const std::vector<ValueKey>& keys, int threads)
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  this->DropChanged(keys, threads);
  std::vector<std::vector<SharedValues>> found;
  for (const ValueKey& key : keys) {
    std::vector<SharedValues>& values = found.emplace_back();
    for (auto it = this->Entries.rbegin(); it != this->Entries.rend(); ++it) {
      if (it->Key == key) {
        values.push_back(it->Values);
      }
    }
  }
  return found;
}

void ValueCache::DropChanged(const std::vector<ValueKey>& keys, int threads)
{
  const auto isRequested = [&keys](const Entry& entry) {
    return std::find(keys.begin(), keys.end(), entry.Key) != keys.end();
  };
  std::set<const FileFingerprints*> records;
  std::set<std::string> paths;
  for (const Entry& entry : this->Entries) {
    if (isRequested(entry) && records.insert(entry.Values->Files.get()).second) {
      for (const auto& file : *entry.Values->Files) {
        paths.insert(file.first);
      }
    }
  }
  const std::vector<std::string> all(paths.begin(), paths.end());
  const std::vector<std::optional<FileState>> states = StatesOf(all, threads);
  std::set<const FileFingerprints*> changed;
  for (const FileFingerprints* record : records) {
    for (const auto& [path, print] : *record) {
      const auto& state = states[std::lower_bound(all.begin(), all.end(), path) - all.begin()];
      if (!state || state->Print != print) {
        changed.insert(record);
      }
    }
  }
  this->Entries.remove_if([&](const Entry& entry) { return changed.count(entry.Values->Files.get()) > 0; });
}

double ValueCache::Limit(const MemoryPool& pool, double evictable, double bytes) const
{
  if (this->UserLimit >= 0) {
    return static_cast<double>(this->UserLimit);
  }
  const double free = static_cast<double>(AvailableMemory()) + static_cast<double>(pool.KeptBytes());
  return std::max(0.0, free + evictable - bytes) / 4 / this->RanksOnMachine;
}

bool ValueCache::MakeRoom(
    const MemoryPool& pool, double bytes, const std::vector<std::vector<SharedValues>>& used, bool prefetch)
{
  std::set<const KeptValues*> known;
  for (const std::vector<SharedValues>& values : used) {
    for (const SharedValues& one : values) {
      known.insert(one.get());
    }
  }
  const auto stays = [&](const Entry& entry) {
    return known.count(entry.Values.get()) > 0 || (prefetch && entry.IsDisplayed);
  };
  const std::lock_guard<std::mutex> lock(this->Lock);
  double others = 0;
  for (const Entry& entry : this->Entries) {
    others += stays(entry) ? 0 : static_cast<double>(entry.Bytes);
  }
  const double limit = this->Limit(pool, others, bytes);
  const double wanted = bytes + (prefetch ? 0.1 * static_cast<double>(pool.Limit()) : 0);
  const auto fits = [&] {
    return wanted < 1e18 &&
           CatchError([&] { pool.CheckAvailable(static_cast<std::uint64_t>(wanted)); }).empty();
  };
  for (auto it = this->Entries.begin(); it != this->Entries.end() && (others > limit || !fits());) {
    if (stays(*it)) {
      ++it;
    } else {
      others -= static_cast<double>(it->Bytes);
      it = this->Entries.erase(it);
    }
  }
  return fits();
}

void ValueCache::BeginDisplay()
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  for (Entry& entry : this->Entries) {
    entry.IsDisplayed = false;
  }
}

void ValueCache::Add(const ValueKey& key, KeptValues values)
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  for (auto it = this->Entries.begin(); it != this->Entries.end();) {
    if (it->Key == key) {
      it->Values = RestOf(it->Values, values, key.Center);
      it->Bytes = it->Values ? BytesOf(*it->Values) : 0;
    }
    it = it->Values ? std::next(it) : this->Entries.erase(it);
  }
  Entry entry{key, std::make_shared<const KeptValues>(std::move(values)), 0, true};
  entry.Bytes = BytesOf(*entry.Values);
  this->Entries.push_back(std::move(entry));
}

std::shared_ptr<const BlockLayout> ValueCache::FindLayout(const std::vector<Block>& blocks, bool nodes) const
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  const BlockLayout* last = nullptr;
  for (auto it = this->Entries.rbegin(); it != this->Entries.rend(); ++it) {
    const std::shared_ptr<const BlockLayout>& layout = it->Values->Layout;
    if (layout.get() != last && (layout->HasNodes() || !nodes) && layout->Blocks() == blocks) {
      return layout;
    }
    last = layout.get();
  }
  return nullptr;
}

std::uint64_t ValueCache::Bytes() const
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  std::uint64_t bytes = 0;
  for (const Entry& entry : this->Entries) {
    bytes += entry.Bytes;
  }
  return bytes;
}

void ValueCache::Clear()
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  this->Entries.clear();
}

namespace {

/// Returns a hash of the members in which blocks usually differ.
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

/// Calls visit(number of the kept array, part of a region) for the values of a patch in the regions `open`
/// that kept arrays hold. Removes the parts from `open` for which `visit` returns true.
template <typename Visit>
void VisitHeldRegions(const KeptValues& kept, Centering centering, int patch, const Int3& ratio,
    std::vector<Box>& open, Visit visit)
{
  const BlockLayout& layout = *kept.Layout;
  const std::vector<int>& sources = layout.Sources();
  const auto found = std::lower_bound(sources.begin(), sources.end(), patch);
  const auto source = static_cast<std::size_t>(found - sources.begin());
  if (found == sources.end() || *found != patch || (!kept.Constants.empty() && kept.Constants[source])) {
    return;
  }
  std::vector<Box> remaining;
  for (const Placement* p = layout.Begin(source, centering); p != layout.End(source, centering); ++p) {
    if (p->Ratio != Int3{1, 1, 1} || kept.Arrays[p->Block].Status != ArrayStatus::Read) {
      continue;
    }
    const Box there = Refine(p->Region, ratio);
    remaining.clear();
    for (const Box& box : open) {
      const Box part = Intersect(box, there);
      if (part.Empty() || !visit(p->Block, part)) {
        remaining.push_back(box);
      } else {
        Subtract(box, part, remaining);
      }
    }
    open.swap(remaining);
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
  std::vector<const LoadedArray*> first(layout.Blocks().size());  // per block: the array of its first copy
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
        VisitHeldRegions(*kept[k], centering, layout.Sources()[s], p->Ratio, open,
            [&](std::uint32_t number, const Box& part) {
              const LoadedArray& from = kept[k]->Arrays[number];
              const LoadedArray*& one = first[p->Block];
              one = one ? one : &from;
              if (one->Type == from.Type) {
                reuse.Copies.push_back(
                    {p->Block, &from, kept[k]->Layout->ValueBox(number, centering), part, p->Ratio});
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

std::vector<bool> ContainedArrays(const KeptValues& now, const KeptValues& old, Centering centering)
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
        VisitHeldRegions(now, centering, layout.Sources()[s], p->Ratio, open,
            [](std::uint32_t, const Box&) { return true; });
        held[p->Block] = open.empty();
      }
    }
  }
  return held;
}

namespace {

bool NeedsNodes(const Catalog& catalog, const std::vector<VariableRequest>& variables)
{
  return std::any_of(variables.begin(), variables.end(), [&](const VariableRequest& wanted) {
    return catalog.Variables[wanted.Variable].Center == Centering::Node;
  });
}

}  // namespace

ReusedArrays::ReusedArrays(const Catalog& catalog, const RequestedArrays& requested,
    std::shared_ptr<ValueCache> cache, int threads, bool reuse)
    : Data(catalog), Requested(requested), Cache(std::move(cache)), Reused(requested.Variables.size())
{
  const bool nodes = NeedsNodes(catalog, requested.Variables);
  if (this->Cache) {
    this->SharedLayout = this->Cache->FindLayout(requested.Blocks, nodes);
  }
  if (!this->SharedLayout) {
    this->SharedLayout = std::make_shared<const BlockLayout>(catalog, requested.Blocks, nodes);
  }
  if (this->Cache && reuse) {
    this->FindValues(threads);
  }
}

void ReusedArrays::FindValues(int threads)
{
  const std::vector<VariableRequest>& variables = this->Requested.Variables;
  std::vector<ValueKey> keys;
  for (const VariableRequest& variable : variables) {
    keys.push_back(KeyOfValues(this->Data, variable));
  }
  this->Kept = this->Cache->Find(keys, threads);
  BlockMatcher matcher(*this->SharedLayout);
  for (std::size_t v = 0; v < this->Kept.size(); ++v) {
    if (!this->Kept[v].empty()) {
      const bool whole = variables[v].Ghosts != Int3{0, 0, 0} || this->Data.IsMesh();
      const Centering center = this->Data.Variables[variables[v].Variable].Center;
      this->Reused[v] = FindReuse(*this->SharedLayout, center, whole, this->Kept[v], matcher);
      this->ListCopies(v);
    }
  }
}

void ReusedArrays::ListCopies(std::size_t variable)
{
  const std::vector<ValueCopy>& copies = this->Reused[variable].Copies;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (i > 0 && copies[i - 1].Block == copies[i].Block) {
      this->CopiedArrays.back().End = i + 1;
    } else {
      this->CopiedArrays.push_back({copies[i].Block, variable, i, i + 1});
    }
  }
}

std::shared_ptr<const FileFingerprints> ReusedArrays::JoinFiles(const FileFingerprints& fingerprints) const
{
  std::set<const FileFingerprints*> joined;
  auto files = std::make_shared<FileFingerprints>();
  for (const std::vector<SharedValues>& kept : this->Kept) {
    for (const SharedValues& values : kept) {
      if (joined.insert(values->Files.get()).second) {
        files->insert(values->Files->begin(), values->Files->end());
      }
    }
  }
  files->insert(fingerprints.begin(), fingerprints.end());
  return files;
}

void ReusedArrays::AddToReport(IoReport& report) const
{
  const auto count = [&report](std::int64_t tuples, const LoadedArray& array) {
    report.CachedArrays += 1;
    report.CachedBytes += tuples * array.Components * SizeOf(array.Type);
  };
  for (const Reuse& reuse : this->Reused) {
    for (const LoadedArray* same : reuse.Same) {
      if (same && same->Status == ArrayStatus::Read) {
        count(same->Tuples, *same);
      }
    }
  }
  for (const CopiedArray& copied : this->CopiedArrays) {
    const std::vector<ValueCopy>& copies = this->Reused[copied.Variable].Copies;
    std::int64_t tuples = 0;
    for (std::size_t i = copied.First; i < copied.End; ++i) {
      tuples += copies[i].Region.CellCount();
    }
    count(tuples, *copies[copied.First].From);
  }
}

void ReusedArrays::AddToCache(const std::vector<LoadedArray>& arrays, const FileFingerprints& fingerprints,
    std::vector<std::vector<bool>> constants) const
{
  const std::size_t variables = this->Requested.Variables.size();
  const std::shared_ptr<const FileFingerprints> files = this->JoinFiles(fingerprints);
  this->Cache->BeginDisplay();
  for (std::size_t v = 0; v < variables; ++v) {
    this->AddKeptConstants(v, constants[v]);
    KeptValues values{this->SharedLayout, {}, std::move(constants[v]), files};
    for (std::size_t b = 0; b < this->Requested.Blocks.size(); ++b) {
      const LoadedArray& array = arrays[b * variables + v];
      const bool sound = array.Status == ArrayStatus::Read || array.Status == ArrayStatus::Absent;
      values.Arrays.push_back(sound ? ShareArray(array) : LoadedArray());
    }
    this->Cache->Add(KeyOfValues(this->Data, this->Requested.Variables[v]), std::move(values));
  }
}

/// Sets the flags of the sources whose reused values are a constant.
void ReusedArrays::AddKeptConstants(std::size_t variable, std::vector<bool>& constants) const
{
  const std::vector<int>& sources = this->SharedLayout->Sources();
  for (std::size_t k = 0; !this->Kept.empty() && k < this->Kept[variable].size(); ++k) {
    const KeptValues& kept = *this->Kept[variable][k];
    const std::vector<int>& others = kept.Layout->Sources();
    for (std::size_t o = 0; o < kept.Constants.size(); ++o) {
      const auto found = std::lower_bound(sources.begin(), sources.end(), others[o]);
      if (kept.Constants[o] && found != sources.end() && *found == others[o]) {
        constants.resize(sources.size(), false);
        constants[found - sources.begin()] = true;
      }
    }
  }
}

}  // namespace patchio
