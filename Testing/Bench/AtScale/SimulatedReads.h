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

struct ReadOutcome
{
  double Seconds = 0;  ///< seconds until the last rank has read all of its requests
  double Bytes = 0;
  std::uint64_t Requests = 0;
  int MostInFlight = 0;

  double Rate() const { return this->Seconds > 0 ? this->Bytes / this->Seconds : 0; }
};

/// Returns the duration of the reads. load: NC, the requests that other programs keep in flight.
ReadOutcome SimulateRead(const emulator::Model& storage, int load, const std::vector<RankReads>& ranks);

struct AdaptedOutcome
{
  double Rate = 0;  ///< bytes/s in the second half of the read
  int Threads = 0;  ///< the controller's N at the end
  int Windows = 0;
};

/// Simulates a long read with requests of one size. The controller sets the number of requests in flight for
/// each window; windows are those of ReadControl.
AdaptedOutcome SimulateAdaptedRead(const emulator::Model& storage, int load, std::uint64_t requestBytes,
    double seconds, ThreadController& controller);

}  // namespace patchio::atscale
