// The choice of the ranks that write when ranks hold little data or unequal amounts, after the study of
// k-Wave's output (accumulation and redistribution of data): groups of equal volume, collectors in each
// group.
#pragma once

#include "Plan/ReadPlan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace patchio::output {

/// A group of ranks of equal volume, with the ranks at its edges that hold less.
struct RankGroup
{
  std::uint64_t Volume = 0;  ///< bytes of each rank, except for those at edges
  std::vector<int> Ranks;    ///< ascending
  std::uint64_t Bytes = 0;   ///< bytes of all ranks
  int Writers = 0;
};

/// The result of PlanAggregation().
struct Aggregation
{
  std::vector<RankGroup> Groups;  ///< by volume, the largest first; empty: no rank has data
  std::uint64_t Target = 0;       ///< intended bytes per writer; a rank's volume may exceed them
  int Cut = 1;                    ///< factor by which the number of writers was reduced: 1, 2, 4 or 8
  std::vector<int> WriterOf;      ///< by rank: the rank of its group that writes its data; -1: no data
};

/// Number of bytes below which the data of a writer count as little.
constexpr std::uint64_t LittleBytes = 256 << 10;

/// Plans the writers. `volumes`: bytes of each rank. Neighbouring ranks of equal volume form a group. A
/// shorter adjacent run of ranks with less volume is the edge of the group and belongs to it. The group with
/// the largest volume sets the target: all its ranks write. In each other group, each collecting rank writes
/// about the target. If the target is below `little`, 2, 4 or 8 times fewer ranks write. In the study, small
/// groups prevent that division; here they do not.
Aggregation PlanAggregation(const std::vector<std::uint64_t>& volumes, std::uint64_t little = LittleBytes);

/// Returns the bytes that each rank writes under the plan.
std::vector<std::uint64_t> WrittenBytes(const Aggregation& plan, const std::vector<std::uint64_t>& volumes);

/// Returns the number of steps after which each writer has `wanted` bytes, from 1 to `most`: the smallest
/// number over all groups, so that all write together.
int StepsAtOnce(const Aggregation& plan, std::uint64_t wanted, int most);

/// The limits and requests for PlanGathering().
struct GatheringNeeds
{
  int Threads = 1;                      ///< per rank, if all ranks write
  std::optional<StorageModel> Storage;  ///< from a profile; without it, steps are gathered only on request
  int Steps = 0;                        ///< requested number of steps; 0: depends on the storage
  int Period = 1;                       ///< a number of steps above Period is a multiple of Period
  std::uint64_t Memory = 0;             ///< bytes per rank
};

/// The ranks that write, and the number of steps that they write at once.
struct Gathering
{
  Aggregation Plan;
  int Threads = 1;         ///< threads of all writers together, up to 64 per writer
  int Steps = 1;           ///< steps per write; 0: not enough memory for one step
  std::uint64_t Step = 0;  ///< bytes of memory that a step takes, on the rank that needs most

  /// Returns the threads of a writer of `bytes` out of `all` bytes; at least 1.
  int ThreadsFor(std::uint64_t bytes, std::uint64_t all) const;
};

/// Plans the gathering. `volumes`: bytes of a step on each rank. With a profile, each thread gets several
/// large requests.
Gathering PlanGathering(const std::vector<std::uint64_t>& volumes, const GatheringNeeds& needs);

}  // namespace patchio::output
