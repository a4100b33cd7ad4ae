// What the emulated storage is like: a few numbers, and the rate F(N) that follows from them.
#pragma once

#include <cstddef>

namespace patchio::emulator {

/// M is what the storage has in flight: N own requests and the NC of others. README.md derives the formulas.
struct Model
{
  double Latency = 0.002;   ///< L: seconds that a request takes besides its bytes, >= 0
  double Stream = 50e6;     ///< B: bytes a second of one request, > 0
  int Concurrency = 16;     ///< N*: requests served at once at full speed, >= 1
  double Total = 0;         ///< W: bytes a second of the whole storage, >= 0; 0 means no such limit
  double Contention = 0.5;  ///< gamma: past N* the storage's rate falls as (N* / M)^gamma, 0..10

  /// S: the seconds that a request takes when nothing slows it down.
  double Service(std::size_t bytes) const;

  /// By how much M requests in flight are slowed down, 0..1; they want `demand` bytes a second together.
  double Speed(double inFlight, double demand) const;

  /// The rate, in bytes a second, of N >= 1 own requests always in flight, all of one size, beside NC of
  /// others.
  double Rate(int own, int others, std::size_t bytes) const;
};

/// Throws patchio::Error unless every number is in its range.
void CheckModel(const Model& model);

}  // namespace patchio::emulator
