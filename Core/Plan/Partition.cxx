#include "Plan/Partition.h"

#include "Plan/PreferredRanks.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>
#include <utility>

namespace patchio {
namespace {

/// Knows the part of each block, and moves as few blocks as balance demands.
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
  /// At least 1, so that blocks without data are spread too.
  double WeightOf(std::size_t block) const
  {
    return static_cast<double>(std::max<std::int64_t>(this->Weights[block], 1));
  }
  void AddLoad(int part, double weight);
  void MoveLastBlock(int from, int to);
  void MoveSurplus();
  void Relieve(int part, double mean, double most);
  void FillEmptyParts();

  std::vector<int> PartOfBlock;
  const std::vector<std::int64_t>& Weights;
  std::vector<double> Loads;
  std::set<std::pair<double, int>> ByLoad;  ///< load, part
  std::vector<std::vector<std::size_t>>
      BlocksOfPart;  ///< in the order of their numbers, those that moved here last
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
  // Where there are few blocks, one more or less is no reason to read them again.
  const double averageBlock = total / static_cast<double>(std::max<std::size_t>(this->PartOfBlock.size(), 1));
  if (this->ByLoad.rbegin()->first <= tolerance * mean + averageBlock) {
    return;
  }
  for (int part = 0; part < static_cast<int>(this->Loads.size()); ++part) {
    this->Relieve(part, mean, tolerance * mean);
  }
}

/// Moves the last blocks away, neighbours to the same part as long as that stays below the mean.
void Balancer::Relieve(int part, double mean, double most)
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

/// As long as there are parts with several blocks. Part 0 also gets the only block of another part: many of
/// ParaView's filters ask rank 0 which arrays there are.
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

}  // namespace patchio
