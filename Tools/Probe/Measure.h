// One measurement of one function with one view, file size and block size.
#pragma once

#include "Base/Communicator.h"
#include "Probe/Functions.h"
#include "Probe/TestData.h"
#include "Probe/TestFiles.h"

#include <cstdint>
#include <string>

namespace patchio::probe {

/// The parameters of a measurement.
struct Trial
{
  Function MeasuredFunction;
  Layout FileLayout;
  std::uint64_t Block = 0;  ///< bytes, a multiple of 8, at most 1 GiB
  int Concurrency = 1;      ///< number of simultaneous non-blocking calls of a rank
  bool Sync = true;         ///< true: the time of a write includes the sync to the storage
  double MostSeconds = 20;  ///< after this time, the trial skips the rest of the file
  std::string Path;
  /// Unique for each trial, so that values of an earlier trial count as wrong values.
  std::uint64_t Number = 0;
};

/// The result of a measurement, the same on all ranks except `Resident`.
struct Outcome
{
  double Seconds = 0;  ///< time in the function, on the slowest rank
  double SyncSeconds = 0, OpenSeconds = 0, ViewSeconds = 0;
  double Rate = 0;  ///< bytes/s of all ranks; with Trial::Sync, the time of the sync counts
  /// Fraction of the file in rank 0's page cache before the trial, 0 to 1; -1: unknown, or another rank.
  double Resident = -1;
  std::uint64_t Bytes = 0;   ///< bytes that all ranks have read or written
  bool Cut = false;          ///< true: the trial skipped a part of the file
  bool Interrupted = false;  ///< true: a signal arrived, and the other members are meaningless
  bool WrongValues = false;  ///< true: values differ from the written values
  std::string Error;         ///< text of the error; empty on success
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

/// Maximum size in bytes of the ring of blocks that a rank fills between two checks of the values. The ring
/// is larger if the blocks in flight need more.
constexpr std::uint64_t RingBytes = std::uint64_t(256) << 20;

/// Returns whether a trial may combine `function` and `view`. Functions with shared pointers, for example,
/// need the view `own`.
bool AreCompatible(const Function& function, View view);

/// Makes a measurement: writes the test file, drops the file from the page cache, opens the file, sets the
/// view, reads or writes the blocks, closes the file and checks the values. The outcome contains the errors
/// of the measured function. Throws Error, on all ranks, if the test file cannot be written or the memory is
/// insufficient. Collective: every rank of the communicator calls it.
Outcome Measure(Communicator& ranks, const Trial& trial, BlockMemory& memory);

/// Returns the seed of the values that trial `number` reads or writes.
std::uint64_t SeedOf(std::uint64_t number);

}  // namespace patchio::probe
