// Which ranks are I/O ranks, and which compute ranks each of them serves. Paper 5, section on the division of
// processes.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio::output {

enum class IoLayout
{
  Independent,  ///< the last ranks, which most often have machines of their own
  Shared        ///< a few ranks of each machine, so that values need not leave it
};

/// "independent" and so on.
const char* NameOf(IoLayout layout);

/// Where `count` is 0: one I/O rank for 16 ranks, at least one, and with Shared at least one on each machine
/// that has several ranks. machines: of each rank, from 0 on.
int AdaptiveCount(const std::vector<int>& machines, IoLayout layout);

/// Says of each rank whether it is an I/O rank. count: of I/O ranks, from 1 to less than there are ranks.
std::vector<bool> ChooseIoRanks(const std::vector<int>& machines, int count, IoLayout layout);

/// A compute rank, as far as it matters who serves it.
struct ComputeRank
{
  Double3 Centre{0, 0, 0};   ///< of its patches
  std::uint64_t Values = 0;  ///< how much it has to send, in any unit
  int Machine = 0;
};

/// The I/O rank of each compute rank, counted among I/O ranks. Those that one serves are neighbours in space,
/// and all have much the same to receive. machines: of the I/O ranks. The ranks of a machine that has I/O
/// ranks are served there; so give all the same machine where that is not wanted.
std::vector<int> MapRanks(const std::vector<ComputeRank>& compute, const std::vector<int>& machines);

}  // namespace patchio::output
