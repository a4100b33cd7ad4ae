// The choice of I/O ranks and the map from compute ranks to I/O ranks, after B. Yang et al., Input/Output
// analysis and optimization for GRAPES regional model (2022).
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <vector>

namespace patchio::output {

enum class IoLayout
{
  Independent,  ///< the last ranks, which usually are on machines of their own
  Shared        ///< a few ranks of each machine, so that values do not leave the machine
};

/// Returns the name in the configuration: "independent" or "shared".
const char* NameOf(IoLayout layout);

/// Returns the default number of I/O ranks: one for 16 ranks, at least one; with Shared, at least one on each
/// machine with several ranks. `machines`: machine of each rank, counted from 0.
int AdaptiveCount(const std::vector<int>& machines, IoLayout layout);

/// Returns, for each rank, whether it is an I/O rank. `machines`: machine of each rank. `count`: number of
/// I/O ranks, from 1 to the number of ranks - 1.
std::vector<bool> ChooseIoRanks(const std::vector<int>& machines, int count, IoLayout layout);

/// The properties of a compute rank that determine its I/O rank.
struct ComputeRank
{
  Double3 Centre{0, 0, 0};   ///< centre of its patches
  std::uint64_t Values = 0;  ///< amount of data that it sends, in any unit
  int Machine = 0;
};

/// Returns the I/O rank of each compute rank, counted among I/O ranks. The compute ranks of one I/O rank are
/// neighbours in space, and all I/O ranks receive similar amounts. `machines`: machine of each I/O rank.
/// Compute ranks on a machine with I/O ranks are served there; give all ranks the same machine to avoid that.
std::vector<int> MapRanks(const std::vector<ComputeRank>& compute, const std::vector<int>& machines);

}  // namespace patchio::output
