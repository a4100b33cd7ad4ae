// Who writes where many ranks hold little each, or unlike amounts: the plan of paper 3 (k-Wave's output).
#pragma once

#include <cstdint>
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

}  // namespace patchio::output
