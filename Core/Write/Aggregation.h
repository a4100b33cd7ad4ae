// Chooses the ranks that write when ranks hold little data or unequal amounts. The method is that of a study
// of k-Wave's output, which accumulates data over several steps and redistributes data between ranks: ranks
// of equal volume form a group, and some ranks of each group write the data of the group.
#pragma once

#include "Plan/ReadPlan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace patchio::output {

/// A group of ranks of equal volume, and the edges of the group: adjacent ranks with smaller volumes.
struct RankGroup
{
  std::uint64_t Volume = 0;  ///< bytes of each rank, except for the ranks at the edges
  std::vector<int> Ranks;    ///< numbers of the ranks, ascending
  std::uint64_t Bytes = 0;   ///< bytes of all ranks
  int Writers = 0;           ///< number of ranks that write
};

/// The assignment of ranks to the ranks that write their data.
struct Aggregation
{
  std::vector<RankGroup> Groups;  ///< by volume, the largest first; empty: no rank has data
  std::uint64_t Target = 0;       ///< intended bytes per writer: the largest volume x Reduction
  int Reduction = 1;              ///< factor by which the number of writers was reduced: 1, 2, 4 or 8
  std::vector<int> WriterOf;      ///< number of the rank that writes each rank's data; -1: no data
};

/// Number of bytes below which the share of a writer is too small for an efficient write.
constexpr std::uint64_t SmallBytes = 256 << 10;

/// Plans the writers. `volumes`: bytes of each rank. Ranks of equal volume form a group. But neighbouring
/// ranks of equal volume next to as many or more neighbouring ranks of a larger volume are an edge of the
/// group with the larger volume. The target is the largest volume: in each group, each writer writes about as
/// many bytes as the target. If the target is at most half of `smallBytes`, the target is multiplied by 2, 4
/// or 8, so that fewer ranks write. Unlike in the study (see the top of this file), small groups do not
/// prevent that.
Aggregation PlanAggregation(const std::vector<std::uint64_t>& volumes, std::uint64_t smallBytes = SmallBytes);

/// Returns the bytes that each rank writes under the plan. `volumes`: bytes of each rank.
std::vector<std::uint64_t> WrittenBytes(const Aggregation& plan, const std::vector<std::uint64_t>& volumes);

/// Returns the smallest number of steps after which the writers of at least one group have `bytes` bytes
/// each, on average; at most `mostSteps`, and at least 1. All groups write together.
int StepsAtOnce(const Aggregation& plan, std::uint64_t bytes, int mostSteps);

/// The parameters of PlanGathering().
struct GatheringParameters
{
  int Threads = 1;                      ///< threads of each rank if all ranks write
  std::optional<StorageModel> Storage;  ///< from a storage profile; empty: steps are gathered only on request
  int Steps = 0;                        ///< requested number of steps; 0: depends on the storage
  int Period = 1;                       ///< Gathering::Steps, if larger, is a multiple of Period
  std::uint64_t Memory = 0;             ///< limit on the bytes of memory for gathered steps on each rank
};

/// The ranks that write, and the number of steps that they write at once.
struct Gathering
{
  Aggregation Plan;
  int Threads = 1;              ///< threads of all writers together, up to 64 per writer
  int Steps = 1;                ///< number of steps per write; 0: the memory does not suffice for one step
  std::uint64_t StepBytes = 0;  ///< upper limit on the bytes of memory that any rank needs for one step

  /// Returns the number of threads, from 1 to 64, of a writer that writes `bytes` of `totalBytes` bytes.
  int ThreadsFor(std::uint64_t bytes, std::uint64_t totalBytes) const;
};

/// Plans which ranks write, and how many steps a write contains. `volumes`: bytes of a step on each rank.
/// Unless `parameters` has a number of steps, a write contains one step or, with a storage model, enough
/// steps for several large requests of each thread. The memory in `parameters` limits the number of steps.
Gathering PlanGathering(const std::vector<std::uint64_t>& volumes, const GatheringParameters& parameters);

}  // namespace patchio::output
