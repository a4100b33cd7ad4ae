// Reading and writing at once: what each loses by the other.
#pragma once

#include "Base/Communicator.h"
#include "Probe/Measure.h"
#include "Probe/Result.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// What reads and what writes.
struct InfluenceTrial
{
  std::string ReadFile, WriteFile;
  std::uint64_t FileBytes = 0;  ///< of each of them
  std::uint64_t Block = 0;
  int Writers = 0;       ///< ranks that write, the last ones; 0: half. One rank alone has a thread for each
  double Seconds = 0.5;  ///< of each of the three runs
};

/// Ranks that write when `wanted` (0: half) of `ranks` shall.
int WritersOf(int ranks, int wanted);

/// Collective. Appends a repetition to `result`: the readers alone, the writers alone, both at once, with
/// pread and pwrite on two files. Checks what is read. Nothing is appended when interrupted. Throws Error, on
/// all ranks.
void MeasureInfluence(
    Communicator& ranks, const InfluenceTrial& trial, std::uint64_t number, InfluenceResult& result);

}  // namespace patchio::probe
