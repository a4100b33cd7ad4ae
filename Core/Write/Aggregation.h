// The choice of the ranks that write when many ranks hold little or unequal amounts of data, after the study
// of k-Wave's output (accumulation and redistribution of data): groups of equal volume, collectors in each
// group.
#pragma once

#include "Plan/ReadPlan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace patchio::output {

/// Ranks of equal volume, with the ranks at their edges that hold less.
struct RankGroup
{
  std::uint64_t Volume = 0;  ///< bytes of each rank, except for those at edges
  std::vector<int> Ranks;    ///< ascending
  std::uint64_t Bytes = 0;   ///< bytes of all ranks
  int Writers = 0;
};

struct Aggregation
{
  std::vector<RankGroup> Groups;  ///< by volume, the largest first; empty: no rank has data
  std::uint64_t Target = 0;       ///< bytes that a writer shall write; may be exceeded by one rank's volume
  int Cut = 1;                    ///< factor by which the number of writers was reduced: 1, 2, 4 or 8
  std::vector<int> WriterOf;      ///< by rank: the rank of its group that writes its data; -1: no data
};

/// Bytes below which a writer's data count as little.
constexpr std::uint64_t LittleBytes = 256 << 10;

/// Plans the writers. `volumes`: bytes of each rank. Neighbouring ranks of equal volume form a group. A
/// shorter run of ranks with less volume beside them is their edge and joins the group. The group with the
/// largest volume sets the target: all its ranks write. In each other group, the number of collecting ranks
/// is chosen so that each writes about the target. If the target is below `little`, the number of writers is
/// divided by 2, 4 or 8. In the study, small groups prevent that division; here they do not.
Aggregation PlanAggregation(const std::vector<std::uint64_t>& volumes, std::uint64_t little = LittleBytes);

/// Returns the bytes that each rank writes under the plan.
std::vector<std::uint64_t> WrittenBytes(const Aggregation& plan, const std::vector<std::uint64_t>& volumes);

/// Returns the number of steps after which each writer has `wanted` bytes: the smallest number over all
/// groups, so that all write together. At least 1 and at most `most`.
int StepsAtOnce(const Aggregation& plan, std::uint64_t wanted, int most);

struct GatheringNeeds
{
  int Threads = 1;                      ///< per rank, if all ranks write
  std::optional<StorageModel> Storage;  ///< from a profile; without it, steps are gathered only on request
  int Steps = 0;                        ///< requested number of steps; 0: depends on the storage
  int Period = 1;                       ///< the number of steps is a multiple of this if it is larger
  std::uint64_t Memory = 0;             ///< bytes per rank
};

/// The ranks that write, and how much they write at once.
struct Gathering
{
  Aggregation Plan;
  int Threads = 1;         ///< of all writers together, up to 64 per writer
  int Steps = 1;           ///< steps per write; 0: there is not enough memory for one
  std::uint64_t Step = 0;  ///< bytes of memory that a step takes, on the rank that needs most

  /// Returns the threads of a writer of `bytes` out of `all` bytes; at least 1.
  int ThreadsFor(std::uint64_t bytes, std::uint64_t all) const;
};

/// Plans the gathering. `volumes`: bytes of a step on each rank. With a profile, each thread gets several
/// large requests.
Gathering PlanGathering(const std::vector<std::uint64_t>& volumes, const GatheringNeeds& needs);

}  // namespace patchio::output
