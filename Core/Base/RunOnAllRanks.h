// Faults of one rank made known to all, so that no rank waits for one that gave up.
#pragma once

#include "Base/Communicator.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Runs `work` and gives what went wrong, for the person at the screen; empty when nothing did.
std::string CatchError(const std::function<void()>& work);
/// Within a handler: the same for the exception at hand.
inline std::string CaughtError()
{
  return CatchError([] { throw; });
}

/// Collective: runs `work`, which must not communicate, and then throws Error on all ranks if it failed on
/// one of them; all get the message of the first rank that failed.
void RunOnAllRanks(Communicator& comm, const std::function<void()>& work);

/// Collective: whether it holds on every rank.
bool AllOf(Communicator& comm, bool holds);

/// The lines of two ranks that have different ones.
struct RankDifference
{
  std::size_t Rank = 0;                   ///< the first rank that differs from rank 0
  std::size_t Count = 0;                  ///< number of ranks that differ from rank 0
  std::vector<std::string> First, Other;  ///< the lines of rank 0, and those of `Rank`
  std::size_t Line = 0;  ///< index of the first line that differs; one of them may be shorter
};

/// Collective: compares the lines of all ranks. Returns the same on all ranks: nothing if no rank differs
/// from rank 0.
std::optional<RankDifference> CompareLines(Communicator& comm, const std::vector<std::string>& lines);

/// Collective: runs `produce`, which must not communicate, on rank 0 and gives its bytes to all ranks; or
/// throws Error on all of them.
std::vector<std::byte> BytesOfRankZero(
    Communicator& comm, const std::function<std::vector<std::byte>()>& produce);

}  // namespace patchio
