// One measurement: a function, a view, a file size, a block size, once.
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
  int InFlight = 1;         ///< non-blocking calls of a rank that are under way together
  bool Sync = true;         ///< the time of writing includes that until the storage has it
  double MostSeconds = 20;  ///< the rest of the file is left out after that
  std::string Path;
  std::uint64_t Number = 0;  ///< another one for each trial: values of an earlier one are wrong ones
};

/// The same on all ranks.
struct Outcome
{
  double Seconds = 0;  ///< in the function, on the slowest rank
  double SyncSeconds = 0, OpenSeconds = 0, ViewSeconds = 0;
  double Rate = 0;           ///< bytes/s of all ranks
  double Resident = -1;      ///< part of the file in rank 0's memory before
  std::uint64_t Bytes = 0;   ///< of all ranks
  bool Cut = false;          ///< not the whole file, for lack of time
  bool Interrupted = false;  ///< the rest means nothing
  bool Wrong = false;        ///< values were not the ones that were written
  std::string Error;         ///< there is no rate then
};

/// Memory for blocks, used again by all measurements.
class BlockMemory
{
public:
  /// Page-aligned, and its pages exist. Throws std::bad_alloc.
  std::byte* Get(std::size_t bytes);

private:
  AlignedMemory Memory;
  std::size_t Bytes = 0;
};

/// Bytes of blocks that a rank keeps before it checks them; a block may be larger.
constexpr std::uint64_t RingBytes = std::uint64_t(256) << 20;

/// Returns whether the function can be measured in this view at all, for example shared pointers in views
/// that differ between ranks.
bool Applies(const Function& function, View view);

/// Collective. Writes the file anew, has it dropped from memory, opens it, sets the view, moves all blocks,
/// closes it and checks all values. Throws Error, on all ranks, when the test file cannot be made; what the
/// function under test does not do is in the outcome.
Outcome Measure(Communicator& ranks, const Trial& trial, BlockMemory& memory);

/// The seed of the values of a trial that are to be read or written.
std::uint64_t SeedOf(std::uint64_t number);

}  // namespace patchio::probe
