// The model of the emulated storage: a few parameters, and the rate F(N) that follows from them.
#pragma once

#include <cstddef>

namespace patchio::emulator {

/// The parameters of the storage. M = N + NC is the number of requests in flight: N own ones and NC of
/// others. README.md derives the formulas.
struct Model
{
  double Latency = 0.002;   ///< L: seconds of a request in addition to the time for its bytes, >= 0
  double Stream = 50e6;     ///< B: bytes/s of one request, > 0
  int Concurrency = 16;     ///< N*: number of simultaneous requests at full speed, >= 1
  double Total = 0;         ///< W: bytes/s of the whole storage, >= 0; 0: no limit
  double Contention = 0.5;  ///< gamma: past N* the storage's rate falls as (N* / M)^gamma, 0..10

  /// Returns S, the seconds of a request at full speed.
  double Service(std::size_t bytes) const;

  /// Returns the relative speed of M requests in flight, 0..1. demand: bytes/s of all of them at full speed.
  double Speed(double inFlight, double demand) const;

  /// Returns the rate in bytes/s of `own` >= 1 requests of one size that are always in flight, together with
  /// `others` requests of other programs.
  double Rate(int own, int others, std::size_t bytes) const;
};

/// Throws patchio::Error unless each parameter is in its range.
void CheckModel(const Model& model);

}  // namespace patchio::emulator
