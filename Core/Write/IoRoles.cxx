#include "Write/IoRoles.h"

#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace patchio::output {

IoRoles::IoRoles(Communicator& ranks, MPI_Comm all, const OutputConfig& config) : Layout(config.Layout)
{
  std::map<std::string, int> numbers;
  for (const std::string& machine : ranks.AllGather(MachineName())) {
    this->Machines.push_back(numbers.emplace(machine, static_cast<int>(numbers.size())).first->second);
  }
  this->Self = ranks.Rank();
  const int count = config.IoRanks > 0 ? config.IoRanks : AdaptiveCount(this->Machines, this->Layout);
  if (ranks.Size() < 2 || count >= ranks.Size()) {
    throw Error(
        fmt::format("The output configuration needs {} and at least one compute rank, but the simulation has "
                    "{}. Start more ranks, or change \"io ranks\" or \"mode\".",
            CountText(std::max(count, 1), "I/O rank"), CountText(ranks.Size(), "rank")));
  }
  this->Serves = ChooseIoRanks(this->Machines, count, this->Layout);
  for (int rank = 0; rank < ranks.Size(); ++rank) {
    this->OfKind[this->Serves[rank] ? 1 : 0].push_back(rank);
  }
  MPI_Comm_dup(all, &this->Everybody);
  MPI_Comm_split(all, this->Computes() ? 0 : 1, this->Self, &this->Same);
}

IoRoles::~IoRoles()
{
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && !this->Kept) {
    MPI_Comm_free(&this->Same);
    MPI_Comm_free(&this->Everybody);
  }
}

std::vector<int> IoRoles::Map(const Declaration& declared) const
{
  const auto machineOf = [this](int rank) {
    return this->Layout == IoLayout::Shared ? this->Machines[rank] : 0;
  };
  std::vector<ComputeRank> compute;
  for (const int rank : this->Computing()) {
    ComputeRank& one = compute.emplace_back();
    one.Machine = machineOf(rank);
    Double3 sum{0, 0, 0};
    for (const int p : declared.PatchesOf(static_cast<int>(compute.size()) - 1)) {
      const Patch& patch = declared.Data().Patches[p];
      const Double3& spacing = declared.Data().Levels[patch.Level].Spacing;
      for (int axis = 0; axis < 3; ++axis) {
        const double middle = 0.5 * (double(patch.Cells.Lower[axis]) + patch.Cells.Upper[axis] + 1);
        sum[axis] += double(patch.Cells.Cells()) * middle * spacing[axis];
      }
      one.Values += static_cast<std::uint64_t>(patch.Cells.Cells());
    }
    for (int axis = 0; axis < 3 && one.Values > 0; ++axis) {
      one.Centre[axis] = sum[axis] / double(one.Values);
    }
  }
  std::vector<int> machines;
  for (const int rank : this->Serving()) {
    machines.push_back(machineOf(rank));
  }
  return MapRanks(compute, machines);
}

}  // namespace patchio::output
