#include "Write/IoRoles.h"

#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace patchio::output {
namespace {

constexpr int RanksPerIoRank = 16;

/// A recursive coordinate bisection (M. Berger and S. Bokhari, "A partitioning strategy for nonuniform
/// problems on multiprocessors", 1987): divides the compute ranks in two along the longest axis until each
/// part has one I/O rank.
class Bisection
{
public:
  Bisection(const std::vector<ComputeRank>& compute, std::vector<int>& ioRankOf)
      : Ranks(compute), IoRankOf(ioRankOf)
  {
  }

  void Run(std::vector<int> ranks, const std::vector<int>& ioRanks)
  {
    if (ioRanks.size() == 1) {
      for (const int rank : ranks) {
        this->IoRankOf[rank] = ioRanks.front();
      }
      return;
    }
    const int axis = this->LongestAxis(ranks);
    std::sort(ranks.begin(), ranks.end(), [&](int a, int b) {
      const double x = this->Ranks[a].Centre[axis], y = this->Ranks[b].Centre[axis];
      return x != y ? x < y : a < b;
    });
    const std::size_t left = ioRanks.size() / 2, right = ioRanks.size() - left;
    std::size_t cut = this->CutIndex(ranks, double(left) / double(ioRanks.size()));
    // Each part gets at least one compute rank per I/O rank, if the number of compute ranks suffices.
    cut = std::min(cut, ranks.size() - std::min(right, ranks.size()));
    cut = std::max(cut, std::min(left, ranks.size()));
    this->Run({ranks.begin(), ranks.begin() + cut}, {ioRanks.begin(), ioRanks.begin() + left});
    this->Run({ranks.begin() + cut, ranks.end()}, {ioRanks.begin() + left, ioRanks.end()});
  }

private:
  int LongestAxis(const std::vector<int>& ranks) const
  {
    int longest = 0;
    double most = -1;
    for (int axis = 0; axis < 3 && !ranks.empty(); ++axis) {
      const auto [least, greatest] = std::minmax_element(ranks.begin(), ranks.end(),
          [&](int a, int b) { return this->Ranks[a].Centre[axis] < this->Ranks[b].Centre[axis]; });
      const double length = this->Ranks[*greatest].Centre[axis] - this->Ranks[*least].Centre[axis];
      longest = length > most ? axis : longest;
      most = std::max(most, length);
    }
    return longest;
  }

  /// Returns the number of leading ranks of the sorted `ranks` whose share of all values is closest to
  /// `share`.
  std::size_t CutIndex(const std::vector<int>& ranks, double share) const
  {
    const auto weight = [this](double sum, int rank) { return sum + double(this->Ranks[rank].Cells) + 1; };
    const double target = share * std::accumulate(ranks.begin(), ranks.end(), 0.0, weight);
    double before = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const double after = weight(before, ranks[i]);
      if (after - target > target - before) {
        return i;
      }
      before = after;
    }
    return ranks.size();
  }

  const std::vector<ComputeRank>& Ranks;
  std::vector<int>& IoRankOf;
};

}  // namespace

int DefaultIoRankCount(const std::vector<int>& machines, IoLayout layout)
{
  const int rankCount = static_cast<int>(machines.size());
  int count = std::max(1, rankCount / RanksPerIoRank);
  if (layout == IoLayout::Shared) {
    std::map<int, int> sizes;
    for (const int machine : machines) {
      ++sizes[machine];
    }
    count = std::max(count, static_cast<int>(std::count_if(sizes.begin(), sizes.end(),
                                [](const auto& machine) { return machine.second > 1; })));
  }
  return std::min(count, rankCount - 1);
}

std::vector<bool> ChooseIoRanks(const std::vector<int>& machines, int count, IoLayout layout)
{
  const int rankCount = static_cast<int>(machines.size());
  std::vector<bool> chosen(rankCount);
  std::map<int, std::vector<int>>
      left;  // ranks of each machine that are not chosen; the last rank of a list is chosen first
  std::map<int, int> taken;
  for (int rank = 0; rank < rankCount; ++rank) {
    left[layout == IoLayout::Shared ? machines[rank] : 0].push_back(rank);
  }
  for (int i = 0; i < count; ++i) {
    // The order of preference is: a machine that still has a compute rank afterwards, a machine with few I/O
    // ranks, a machine with many compute ranks.
    const auto from = std::min_element(left.begin(), left.end(), [&](const auto& a, const auto& b) {
      const auto key = [&](const auto& machine) {
        return std::make_tuple(machine.second.size() < 2, taken[machine.first],
            -static_cast<std::ptrdiff_t>(machine.second.size()));
      };
      return key(a) < key(b);
    });
    chosen[from->second.back()] = true;
    from->second.pop_back();
    ++taken[from->first];
    if (from->second.empty()) {
      left.erase(from);
    }
  }
  return chosen;
}

std::vector<int> MapRanks(const std::vector<ComputeRank>& compute, const std::vector<int>& machines)
{
  std::map<int, std::vector<int>> ioRanks, ranks;
  for (std::size_t ioRank = 0; ioRank < machines.size(); ++ioRank) {
    ioRanks[machines[ioRank]].push_back(static_cast<int>(ioRank));
  }
  auto other = ioRanks.begin();  // machine whose I/O ranks serve the next machine without I/O ranks
  std::map<int, int> instead;
  for (std::size_t rank = 0; rank < compute.size(); ++rank) {
    const int machine = compute[rank].Machine;
    if (ioRanks.count(machine) == 0 && instead.count(machine) == 0) {
      instead[machine] = other->first;
      other = std::next(other) == ioRanks.end() ? ioRanks.begin() : std::next(other);
    }
    ranks[ioRanks.count(machine) > 0 ? machine : instead[machine]].push_back(static_cast<int>(rank));
  }
  std::vector<int> ioRankOf(compute.size());
  for (const auto& [machine, of] : ranks) {
    Bisection(compute, ioRankOf).Run(of, ioRanks[machine]);
  }
  return ioRankOf;
}

IoRoles::IoRoles(Communicator& ranks, MPI_Comm world, const OutputConfig& config) : Layout(config.Layout)
{
  std::map<std::string, int> numbers;
  for (const std::string& machine : ranks.AllGather(MachineName())) {
    this->Machines.push_back(numbers.emplace(machine, static_cast<int>(numbers.size())).first->second);
  }
  this->OwnRank = ranks.Rank();
  const int count = config.IoRanks > 0 ? config.IoRanks : DefaultIoRankCount(this->Machines, this->Layout);
  if (ranks.Size() < 2 || count >= ranks.Size()) {
    throw Error(
        fmt::format("The output configuration needs {} and at least one compute rank, but the simulation has "
                    "{}. Start more ranks, or change \"io ranks\" or \"mode\".",
            CountText(std::max(count, 1), "I/O rank"), CountText(ranks.Size(), "rank")));
  }
  this->IsIoRank = ChooseIoRanks(this->Machines, count, this->Layout);
  for (int rank = 0; rank < ranks.Size(); ++rank) {
    this->RanksOfRole[this->IsIoRank[rank] ? 1 : 0].push_back(rank);
  }
  MPI_Comm_dup(world, &this->World);
  MPI_Comm_split(world, this->IsComputeRank() ? 0 : 1, this->OwnRank, &this->SameRole);
}

IoRoles::~IoRoles()
{
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && !this->LeaksCommunicators) {
    MPI_Comm_free(&this->SameRole);
    MPI_Comm_free(&this->World);
  }
}

std::vector<int> IoRoles::MapComputeRanks(const Declaration& declared) const
{
  const auto machineOf = [this](int rank) {
    return this->Layout == IoLayout::Shared ? this->Machines[rank] : 0;
  };
  std::vector<ComputeRank> compute;
  for (const int rank : this->ComputeRanks()) {
    ComputeRank& one = compute.emplace_back();
    one.Machine = machineOf(rank);
    Double3 sum{0, 0, 0};
    for (const int p : declared.PatchesOf(static_cast<int>(compute.size()) - 1)) {
      const Patch& patch = declared.Data().Patches[p];
      const Double3& spacing = declared.Data().Levels[patch.Level].Spacing;
      for (int axis = 0; axis < 3; ++axis) {
        const double middle = 0.5 * (double(patch.Cells.Lower[axis]) + patch.Cells.Upper[axis] + 1);
        sum[axis] += double(patch.Cells.CellCount()) * middle * spacing[axis];
      }
      one.Cells += static_cast<std::uint64_t>(patch.Cells.CellCount());
    }
    for (int axis = 0; axis < 3 && one.Cells > 0; ++axis) {
      one.Centre[axis] = sum[axis] / double(one.Cells);
    }
  }
  std::vector<int> machines;
  for (const int rank : this->IoRanks()) {
    machines.push_back(machineOf(rank));
  }
  return MapRanks(compute, machines);
}

}  // namespace patchio::output
