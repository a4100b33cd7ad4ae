// The plan of paper 3 (k-Wave's output): which ranks write where many hold little each, or unlike amounts.
#pragma once

#include "Plan/ReadPlan.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace patchio::output {

/// Ranks of equal volume, and those at their edges that hold less.
struct RankGroup
{
  std::uint64_t Volume = 0;  ///< bytes of each of its ranks but those at edges
  std::vector<int> Ranks;    ///< ascending
  std::uint64_t Bytes = 0;   ///< of all of them
  int Writers = 0;
};

struct Aggregation
{
  std::vector<RankGroup> Groups;  ///< by volume, the largest first; empty: nobody has anything
  std::uint64_t Target = 0;       ///< what a writer shall write; at most one rank's volume more
  int Cut = 1;                    ///< by which the writers were cut at last: 1, 2, 4 or 8
  std::vector<int> WriterOf;      ///< by rank: the rank of its group that writes for it; -1: it has nothing
};

/// Writers of less than this hold little.
constexpr std::uint64_t LittleBytes = 256 << 10;

/// volumes: bytes of each rank. Neighbours of equal volume make a group. Ranks beside them with less, and no
/// more of them, are its edge and join. The fullest group sets the target: its ranks all write. In the
/// others so many ranks collect that each writes about as much. While that is little, writers are cut to a
/// half, a quarter or an eighth; unlike in the paper, small groups do not prevent that.
Aggregation PlanAggregation(const std::vector<std::uint64_t>& volumes, std::uint64_t little = LittleBytes);

/// Bytes that each rank writes under the plan.
std::vector<std::uint64_t> WrittenBytes(const Aggregation& plan, const std::vector<std::uint64_t>& volumes);

/// Steps after which the first group has `wanted` bytes for each of its writers: the smallest count over all
/// groups, so that all write together. At least 1 and at most `most`.
int StepsAtOnce(const Aggregation& plan, std::uint64_t wanted, int most);

struct GatheringNeeds
{
  int Threads = 1;                      ///< of each rank, if all write
  std::optional<StorageModel> Storage;  ///< of a profile; without it steps are not gathered by themselves
  int Steps = 0;                        ///< that are asked for; 0: as the storage likes
  int Period = 1;                       ///< steps at once are multiples of this, if they are more
  std::uint64_t Memory = 0;             ///< of each rank
};

/// Which ranks write, and how much at once.
struct Gathering
{
  Aggregation Plan;
  int Threads = 1;         ///< of all writers together, up to 64 for each
  int Steps = 1;           ///< at once; 0: there is no memory for one
  std::uint64_t Step = 0;  ///< bytes of memory that a step takes, on the rank that needs most

  /// Those of a writer that writes so many of all bytes; at least 1.
  int ThreadsFor(std::uint64_t bytes, std::uint64_t all) const;
};

/// volumes: bytes of a step on each rank. With a profile each thread gets several large requests.
Gathering PlanGathering(const std::vector<std::uint64_t>& volumes, const GatheringNeeds& needs);

}  // namespace patchio::output
