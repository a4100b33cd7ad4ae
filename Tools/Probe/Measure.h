// One measurement of one function with one view, file size and block size.
#pragma once

#include "Base/Communicator.h"
#include "Probe/Functions.h"
#include "Probe/TestData.h"
#include "Probe/TestFiles.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// A measurement to make.
struct Trial
{
  Function What;
  Layout Where;
  std::uint64_t Block = 0;  ///< bytes, a multiple of 8, at most 1 GiB
  int Concurrency = 1;      ///< number of simultaneous non-blocking calls of a rank
  bool Sync = true;         ///< the time of a write includes the sync to the storage
  double MostSeconds = 20;  ///< after this time, the trial skips the rest of the file
  std::string Path;
  std::uint64_t Number = 0;  ///< unique for each trial, so that values of an earlier trial count as wrong
};

/// The result of a measurement, the same on all ranks.
struct Outcome
{
  double Seconds = 0;  ///< time in the function, on the slowest rank
  double SyncSeconds = 0, OpenSeconds = 0, ViewSeconds = 0;
  double Rate = 0;           ///< bytes/s of all ranks
  double Resident = -1;      ///< part of the file in rank 0's memory before the trial, 0 to 1; -1: unknown
  std::uint64_t Bytes = 0;   ///< bytes moved by all ranks
  bool Cut = false;          ///< the trial skipped a part of the file
  bool Interrupted = false;  ///< a signal arrived; the other members are meaningless
  bool Wrong = false;        ///< values differ from the written ones
  std::string Error;         ///< empty on success; otherwise there is no rate
};

/// Memory for blocks, which all measurements reuse.
class BlockMemory
{
public:
  /// Returns page-aligned memory whose pages are already allocated; valid until the next call with more
  /// bytes. Throws std::bad_alloc.
  std::byte* Get(std::size_t bytes);

private:
  AlignedMemory Memory;
  std::size_t Bytes = 0;
};

/// Number of bytes of blocks that a rank keeps between two checks of the values. A single block may be
/// larger.
constexpr std::uint64_t RingBytes = std::uint64_t(256) << 20;

/// Returns whether a trial may combine this function and view. Functions with shared pointers, for example,
/// need the view `own`.
bool Applies(const Function& function, View view);

/// Collective: writes the test file, drops it from memory, opens it, sets the view, moves all blocks, closes
/// the file and checks all values. The outcome has the faults of the measured function. Throws Error, on all
/// ranks, if the test file cannot be written.
Outcome Measure(Communicator& ranks, const Trial& trial, BlockMemory& memory);

/// Returns the seed of the values that trial `number` reads or writes.
std::uint64_t SeedOf(std::uint64_t number);

}  // namespace patchio::probe
