#include "Read/ReusedArrays.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace patchio {
namespace {

bool NeedsNodes(const Catalog& catalog, const std::vector<VariableRequest>& variables)
{
  return std::any_of(variables.begin(), variables.end(), [&](const VariableRequest& wanted) {
    return catalog.Variables[wanted.Variable].Center == Centering::Node;
  });
}

}  // namespace

ReusedArrays::ReusedArrays(const Catalog& catalog, const WantedArrays& wanted,
    std::shared_ptr<ValueCache> cache, int threads, bool reuse)
    : Data(catalog), Wanted(wanted), Cache(std::move(cache)), Reused(wanted.Variables.size())
{
  const bool nodes = NeedsNodes(catalog, wanted.Variables);
  if (this->Cache) {
    this->SharedLayout = this->Cache->FindLayout(wanted.Blocks, nodes);
  }
  if (!this->SharedLayout) {
    this->SharedLayout = std::make_shared<const BlockLayout>(catalog, wanted.Blocks, nodes);
  }
  if (this->Cache && reuse) {
    this->Find(threads);
  }
}

void ReusedArrays::Find(int threads)
{
  const std::vector<VariableRequest>& variables = this->Wanted.Variables;
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

std::shared_ptr<const FilesSeen> ReusedArrays::JoinFiles(const FilesSeen& seen) const
{
  std::set<const FilesSeen*> joined;
  auto files = std::make_shared<FilesSeen>();
  for (const std::vector<SharedValues>& kept : this->Kept) {
    for (const SharedValues& values : kept) {
      if (joined.insert(values->Files.get()).second) {
        files->insert(values->Files->begin(), values->Files->end());
      }
    }
  }
  files->insert(seen.begin(), seen.end());
  return files;
}

void ReusedArrays::Count(IoReport& report) const
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
      tuples += copies[i].Region.Cells();
    }
    count(tuples, *copies[copied.First].From);
  }
}

void ReusedArrays::Keep(const std::vector<LoadedArray>& arrays, const FilesSeen& seen,
    std::vector<std::vector<bool>> constants) const
{
  const std::size_t variables = this->Wanted.Variables.size();
  const std::shared_ptr<const FilesSeen> files = this->JoinFiles(seen);
  this->Cache->BeginShowing();
  for (std::size_t v = 0; v < variables; ++v) {
    this->AddKeptConstants(v, constants[v]);
    KeptValues values{this->SharedLayout, {}, std::move(constants[v]), files};
    for (std::size_t b = 0; b < this->Wanted.Blocks.size(); ++b) {
      const LoadedArray& array = arrays[b * variables + v];
      const bool sound = array.Status == ArrayStatus::Read || array.Status == ArrayStatus::Absent;
      values.Arrays.push_back(sound ? ShareArray(array) : LoadedArray());
    }
    this->Cache->Keep(KeyOfValues(this->Data, this->Wanted.Variables[v]), std::move(values));
  }
}

/// Adds the sources whose values are a constant in what is reused.
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
