#include "Read/ValueCache.h"

#include "Base/Memory.h"
#include "Base/RunOnAllRanks.h"
#include "Read/Reuse.h"

#include <algorithm>
#include <cstdint>
#include <set>
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

/// The part of `old` that is not in `now`; null when there is none.
SharedValues RestOf(const SharedValues& old, const KeptValues& now, Centering centering)
{
  const std::vector<bool> held = ArraysIn(now, *old, centering);
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
    return all ? old : nullptr;
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
  this->GivenLimit = bytes;
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
  const auto asked = [&keys](const Entry& entry) {
    return std::find(keys.begin(), keys.end(), entry.Key) != keys.end();
  };
  std::set<const FilesSeen*> records;
  std::set<std::string> paths;
  for (const Entry& entry : this->Entries) {
    if (asked(entry) && records.insert(entry.Values->Files.get()).second) {
      for (const auto& file : *entry.Values->Files) {
        paths.insert(file.first);
      }
    }
  }
  const std::vector<std::string> all(paths.begin(), paths.end());
  const std::vector<std::optional<FileState>> states = StatesOf(all, threads);
  std::set<const FilesSeen*> changed;
  for (const FilesSeen* record : records) {
    for (const auto& [path, print] : *record) {
      const auto& state = states[std::lower_bound(all.begin(), all.end(), path) - all.begin()];
      if (!state || state->Print != print) {
        changed.insert(record);
      }
    }
  }
  this->Entries.remove_if([&](const Entry& entry) { return changed.count(entry.Values->Files.get()) > 0; });
}

double ValueCache::Limit(const MemoryPool& pool, double others, double bytes) const
{
  if (this->GivenLimit >= 0) {
    return static_cast<double>(this->GivenLimit);
  }
  const double free = static_cast<double>(AvailableMemory()) + static_cast<double>(pool.KeptBytes());
  return std::max(0.0, free + others - bytes) / 4 / this->RanksOnMachine;
}

bool ValueCache::MakeRoom(
    const MemoryPool& pool, double bytes, const std::vector<std::vector<SharedValues>>& used, bool ahead)
{
  std::set<const KeptValues*> known;
  for (const std::vector<SharedValues>& values : used) {
    for (const SharedValues& one : values) {
      known.insert(one.get());
    }
  }
  const auto stays = [&](const Entry& entry) {
    return known.count(entry.Values.get()) > 0 || (ahead && entry.Shown);
  };
  const std::lock_guard<std::mutex> lock(this->Lock);
  double others = 0;
  for (const Entry& entry : this->Entries) {
    others += stays(entry) ? 0 : static_cast<double>(entry.Bytes);
  }
  const double limit = this->Limit(pool, others, bytes);
  const double wanted = bytes + (ahead ? 0.1 * static_cast<double>(pool.Limit()) : 0);
  const auto fits = [&] {
    return wanted < 1e18 && CatchError([&] { pool.Check(static_cast<std::uint64_t>(wanted)); }).empty();
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

void ValueCache::BeginShowing()
{
  const std::lock_guard<std::mutex> lock(this->Lock);
  for (Entry& entry : this->Entries) {
    entry.Shown = false;
  }
}

void ValueCache::Keep(const ValueKey& key, KeptValues values)
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

}  // namespace patchio
