// Ranks and threads that read a storage of a given F(N): discrete events on the emulator's Schedule, whose
// clock is the time of the next event. Nothing waits and nothing is read.
#pragma once

#include "../../Emulator/Model.h"
#include "Tuning/ThreadController.h"

#include <cstdint>
#include <vector>

namespace patchio::atscale {

/// What one rank has to read: each of its threads takes the next request when its last one has ended.
struct RankReads
{
  std::vector<std::uint64_t> Requests;  ///< bytes of each
  int Threads = 1;
};

struct ReadOutcome
{
  double Seconds = 0;  ///< until the last rank has read all
  double Bytes = 0;
  std::uint64_t Requests = 0;
  int MostInFlight = 0;

  double Rate() const { return this->Seconds > 0 ? this->Bytes / this->Seconds : 0; }
};

/// load: NC, requests that others keep in flight.
ReadOutcome SimulateRead(const emulator::Model& storage, int load, const std::vector<RankReads>& ranks);

struct AdaptedOutcome
{
  double Rate = 0;  ///< bytes a second in the second half
  int Threads = 0;  ///< N that the controller thinks best at the end
  int Windows = 0;
};

/// A long read of requests of one size with as many in flight as the controller says, from window to window
/// as ReadControl makes them.
AdaptedOutcome SimulateAdaptedRead(const emulator::Model& storage, int load, std::uint64_t requestBytes,
    double seconds, ThreadController& controller);

}  // namespace patchio::atscale
