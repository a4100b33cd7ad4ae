// Simulates ranks and threads that read a storage with a given F(N), as discrete events on the emulator's
// Schedule. The clock jumps to the next event, so the simulation does not wait, and it does not read files.
#pragma once

#include "../../Emulator/Model.h"
#include "Tuning/ThreadController.h"

#include <cstdint>
#include <vector>

namespace patchio::atscale {

/// The reads of one rank. Each of its threads takes the next request when its previous request has ended.
struct RankReads
{
  std::vector<std::uint64_t> Requests;  ///< bytes of each request
  int Threads = 1;
};

/// Returns the seconds until the last rank has read all of its requests. load: NC, the requests that other
/// programs keep in flight.
double SimulateRead(const emulator::Model& storage, int load, const std::vector<RankReads>& ranks);

struct AdaptedOutcome
{
  double Rate = 0;  ///< bytes/s in the second half of the read
  int Threads = 0;  ///< the controller's N at the end
};

/// Simulates a long read with requests of one size. The controller sets the number of requests in flight for
/// each window; windows are those of ReadControl.
AdaptedOutcome SimulateAdaptedRead(const emulator::Model& storage, int load, std::uint64_t requestBytes,
    double seconds, ThreadController& controller);

}  // namespace patchio::atscale
