#include "Plan/Partition.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace patchio {

namespace {

/// Moves as few blocks between parts as balance requires.
class Balancer
{
public:
  Balancer(std::vector<int> partOfBlock, const std::vector<std::int64_t>& weights, int parts)
      : PartOfBlock(std::move(partOfBlock)), Weights(weights), Loads(parts, 0), BlocksOfPart(parts)
  {
    for (std::size_t b = 0; b < this->PartOfBlock.size(); ++b) {
      this->BlocksOfPart[this->PartOfBlock[b]].push_back(b);
      this->Loads[this->PartOfBlock[b]] += this->WeightOf(b);
    }
    for (int part = 0; part < parts; ++part) {
      this->ByLoad.emplace(this->Loads[part], part);
    }
  }

  std::vector<int> Run()
  {
    this->MoveSurplus();
    this->FillEmptyParts();
    return std::move(this->PartOfBlock);
  }

private:
  /// Returns the weight of a block, at least 1, so that blocks without data are distributed, too.
  double WeightOf(std::size_t block) const
  {
    return static_cast<double>(std::max<std::int64_t>(this->Weights[block], 1));
  }
  void AddLoad(int part, double weight);
  void MoveLastBlock(int from, int to);
  void MoveSurplus();
  void ReduceLoad(int part, double mean, double most);
  void FillEmptyParts();

  std::vector<int> PartOfBlock;
  const std::vector<std::int64_t>& Weights;
  std::vector<double> Loads;
  std::set<std::pair<double, int>> ByLoad;  ///< load, part
  std::vector<std::vector<std::size_t>>
      BlocksOfPart;  ///< in the order of their numbers, then the blocks that were moved here
};

void Balancer::AddLoad(int part, double weight)
{
  this->ByLoad.erase({this->Loads[part], part});
  this->Loads[part] += weight;
  this->ByLoad.emplace(this->Loads[part], part);
}

void Balancer::MoveLastBlock(int from, int to)
{
  const std::size_t block = this->BlocksOfPart[from].back();
  this->BlocksOfPart[from].pop_back();
  this->BlocksOfPart[to].push_back(block);
  this->PartOfBlock[block] = to;
  this->AddLoad(from, -this->WeightOf(block));
  this->AddLoad(to, this->WeightOf(block));
}

void Balancer::MoveSurplus()
{
  constexpr double tolerance = 1.1;
  const double total = std::accumulate(this->Loads.begin(), this->Loads.end(), 0.0);
  const double mean = total / static_cast<double>(this->Loads.size());
  // If there are few blocks, one block more or less does not justify reading it again on another rank.
  const double averageBlock = total / static_cast<double>(std::max<std::size_t>(this->PartOfBlock.size(), 1));
  if (this->ByLoad.rbegin()->first <= tolerance * mean + averageBlock) {
    return;
  }
  for (int part = 0; part < static_cast<int>(this->Loads.size()); ++part) {
    this->ReduceLoad(part, mean, tolerance * mean);
  }
}

/// Moves the last blocks of a part to parts with less load. Consecutive blocks go to the same part as long as
/// the load of that part stays below the mean.
void Balancer::ReduceLoad(int part, double mean, double most)
{
  std::vector<std::size_t> stay;
  int to = part;
  while (this->Loads[part] > most && !this->BlocksOfPart[part].empty()) {
    const std::size_t block = this->BlocksOfPart[part].back();
    const double weight = this->WeightOf(block);
    if (this->Loads[to] + weight > mean) {
      to = this->ByLoad.begin()->second;
    }
    if (this->Loads[to] + weight < this->Loads[part]) {
      this->MoveLastBlock(part, to);
    } else {
      this->BlocksOfPart[part].pop_back();
      stay.push_back(block);
    }
  }
  this->BlocksOfPart[part].insert(this->BlocksOfPart[part].end(), stay.rbegin(), stay.rend());
}

/// Moves a block to each empty part, as long as other parts have several blocks. Part 0 also gets the only
/// block of another part, because many of ParaView's filters read the list of arrays from rank 0.
void Balancer::FillEmptyParts()
{
  const int parts = static_cast<int>(this->Loads.size());
  int donor = 0;
  for (int empty = 0; empty < parts; ++empty) {
    if (!this->BlocksOfPart[empty].empty()) {
      continue;
    }
    const std::size_t fewest = empty == 0 ? 1 : 2;
    while (donor < parts && this->BlocksOfPart[donor].size() < fewest) {
      ++donor;
    }
    if (donor < parts) {
      this->MoveLastBlock(donor, empty);
    }
  }
}

}  // namespace

std::vector<int> PartitionBlocks(const std::vector<Block>& blocks, const std::vector<int>& preferred,
    const std::vector<std::int64_t>& weights, int parts)
{
  assert(blocks.size() == weights.size() && parts >= 1);
  std::vector<int> partOfBlock;
  partOfBlock.reserve(blocks.size());
  for (const Block& block : blocks) {
    partOfBlock.push_back(preferred[block.Parts[0].Owner]);
  }
  return parts == 1 ? partOfBlock : Balancer(std::move(partOfBlock), weights, parts).Run();
}

std::vector<int> PartitionPatches(const Catalog& catalog, const std::vector<int>& patches,
    const std::vector<std::int64_t>& weights, int parts)
{
  return PartitionBlocks(BlocksOfPatches(catalog, patches), PreferredRanks(catalog, parts), weights, parts);
}

namespace {

struct PatchCenter
{
  std::array<int, 3> Center;  ///< axis 2 first, so that ties are cut across the slowest axis of files
  int Patch;
  double Cells;
};
using Iterator = std::vector<PatchCenter>::iterator;

double CellsOf(Iterator begin, Iterator end)
{
  return std::accumulate(
      begin, end, 0.0, [](double sum, const PatchCenter& item) { return sum + item.Cells; });
}

/// Returns the axis along which the centres extend most, as an index into PatchCenter::Center.
std::size_t LongestAxis(Iterator begin, Iterator end)
{
  std::array<int, 3> lower = begin->Center, upper = begin->Center;
  for (Iterator item = begin; item != end; ++item) {
    for (std::size_t a = 0; a < 3; ++a) {
      lower[a] = std::min(lower[a], item->Center[a]);
      upper[a] = std::max(upper[a], item->Center[a]);
    }
  }
  std::array<std::int64_t, 3> lengths{};
  for (std::size_t a = 0; a < 3; ++a) {
    lengths[a] = std::int64_t(upper[a]) - lower[a];
  }
  return std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
}

/// Bisects the patches of each level recursively.
class Bisection
{
public:
  Bisection(const Catalog& catalog, int parts)
      : Data(catalog), CellsOfPart(parts, 0), PreferredRanks(catalog.Patches.size(), 0)
  {
  }

  std::vector<int> Run()
  {
    for (const Level& level : this->Data.Levels) {
      std::vector<PatchCenter> items = this->CentersOf(level);
      this->Divide(items.begin(), items.end(), 0, static_cast<int>(this->CellsOfPart.size()));
    }
    return std::move(this->PreferredRanks);
  }

private:
  std::vector<PatchCenter> CentersOf(const Level& level) const;
  void Divide(Iterator begin, Iterator end, int firstPart, int endPart);
  Iterator Split(Iterator begin, Iterator end, int firstPart, int middlePart, int endPart) const;

  const Catalog& Data;
  std::vector<double> CellsOfPart;  ///< over the levels divided so far
  std::vector<int> PreferredRanks;
};

std::vector<PatchCenter> Bisection::CentersOf(const Level& level) const
{
  std::vector<PatchCenter> items;
  items.reserve(level.PatchCount);
  for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
    const Box& box = this->Data.Patches[p].Cells;
    PatchCenter& item = items.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      item.Center[2 - axis] = static_cast<int>((std::int64_t(box.Lower[axis]) + box.Upper[axis]) / 2);
    }
    if (this->Data.IsMesh()) {
      item.Center = {p, 0, 0};  // position unknown; neighbours in the file stay together
    }
    item.Patch = p;
    item.Cells = static_cast<double>(box.CellCount());
  }
  return items;
}

void Bisection::Divide(Iterator begin, Iterator end, int firstPart, int endPart)
{
  if (begin == end) {
    return;
  }
  if (endPart - firstPart == 1) {
    for (Iterator item = begin; item != end; ++item) {
      this->PreferredRanks[item->Patch] = firstPart;
    }
    this->CellsOfPart[firstPart] += CellsOf(begin, end);
    return;
  }
  const int middlePart = firstPart + (endPart - firstPart) / 2;
  const Iterator cut = this->Split(begin, end, firstPart, middlePart, endPart);
  this->Divide(begin, cut, firstPart, middlePart);
  this->Divide(cut, end, middlePart, endPart);
}

/// Moves the items of the parts before `middlePart` to the front. Returns the end of these items.
Iterator Bisection::Split(Iterator begin, Iterator end, int firstPart, int middlePart, int endPart) const
{
  const std::size_t axis = LongestAxis(begin, end);
  const auto less = [axis](const PatchCenter& a, const PatchCenter& b) {
    return a.Center[axis] != b.Center[axis] ? a.Center[axis] < b.Center[axis]
           : a.Center != b.Center           ? a.Center < b.Center
                                            : a.Patch < b.Patch;
  };
  const int partsBefore = middlePart - firstPart, partsAfter = endPart - middlePart;
  const double total = CellsOf(begin, end);
  const double targetCells = total * partsBefore / (partsBefore + partsAfter);
  // Items before `first` have `before` cells; the ideal cut lies between `first` and `last`.
  double before = 0;
  Iterator first = begin, last = end;
  while (last - first > 1) {
    const Iterator middle = first + (last - first) / 2;
    std::nth_element(first, middle, last, less);
    const double cells = CellsOf(first, middle);
    if (before + cells <= targetCells) {
      before += cells;
      first = middle;
    } else {
      last = middle;
    }
  }
  Iterator cut = first;
  if (before < targetCells) {
    // The patch that contains the ideal cut goes to the side that then has fewer cells of all levels, so that
    // levels with few patches do not all go to the same rank.
    const auto part = this->CellsOfPart.begin();
    const double own = first->Cells, after = total - before - own;
    const double soFarBefore = std::accumulate(part + firstPart, part + middlePart, before);
    const double soFarAfter = std::accumulate(part + middlePart, part + endPart, after);
    cut += (soFarBefore + own) / partsBefore <= (soFarAfter + own) / partsAfter ? 1 : 0;
  }
  // Each part gets at least one patch if there are enough patches, and at most one otherwise.
  const auto [fewest, most] = std::minmax<std::ptrdiff_t>({partsBefore, end - begin - partsAfter});
  if (cut - begin < fewest || cut - begin > most) {
    cut = begin + std::clamp<std::ptrdiff_t>(cut - begin, fewest, most);
    std::nth_element(begin, cut, end, less);
  }
  return cut;
}

}  // namespace

std::vector<int> PreferredRanks(const Catalog& catalog, int parts)
{
  assert(parts >= 1);
  return parts == 1 ? std::vector<int>(catalog.Patches.size(), 0) : Bisection(catalog, parts).Run();
}

std::vector<int> TypesByPreferredRank(const std::vector<int>& patchTypes, const std::vector<int>& preferred)
{
  assert(patchTypes.size() == preferred.size());
  std::map<std::pair<int, int>, int> numbers;
  std::vector<int> result;
  result.reserve(patchTypes.size());
  for (std::size_t p = 0; p < patchTypes.size(); ++p) {
    const int next = static_cast<int>(numbers.size());
    result.push_back(numbers.emplace(std::make_pair(patchTypes[p], preferred[p]), next).first->second);
  }
  return result;
}

}  // namespace patchio
