// Reads the next time steps while the caller renders the displayed step.
#pragma once

#include "Base/Communicator.h"
#include "Read/StepRead.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace patchio {

/// The prefetched steps of one reader: a queue of the next steps in the direction in which the user plays.
/// Tasks read the steps one after another. Only the calling thread calls MPI and the HDF5 library. All
/// ranks of the reader call the same methods in the same order, except for Stop().
class Prefetcher
{
public:
  Prefetcher() = default;
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Records that a step is displayed. Two successive calls with different steps determine direction and
  /// distance.
  void RecordDisplayed(std::size_t step);
  /// Returns the steps to read next, up to `most`, of a series of `steps` steps. The result is empty before
  /// the direction is known.
  std::vector<std::size_t> NextSteps(std::size_t steps, int most) const;
  /// Returns whether the step is in the queue.
  bool Contains(std::size_t step) const;

  /// Appends a step. The read of the step begins when all preceding steps of the queue are read.
  void Add(PrefetchedStep step);
  /// Removes the step from the queue and returns it, if the step is the first in the queue on all ranks and
  /// no rank has called Stop(). Otherwise returns nothing and empties the queue; after Stop() on any rank,
  /// also forgets the direction.
  /// Collective: every rank of the communicator calls it.
  std::optional<PrefetchedStep> TakeStep(Communicator& ranks, std::size_t step);

  /// Returns whether all ranks would prefetch the same steps, up to `most`; false after Stop(). The steps may
  /// differ if a script sets a property or aborts on one rank only. Collective: every rank of the
  /// communicator calls it.
  bool IsSameOnAllRanks(Communicator& ranks, int most);

  /// Cancels the reads and empties the queue. Makes the queue usable again after Stop(). Keeps the direction.
  void ClearQueue();
  /// Stops all reading and forgets the direction, because the user does something else. Returns at once.
  /// Keeps the memory of the queue, because ranks may call Stop() at different times. Not collective.
  void Stop();
  /// Calls Stop() and empties the queue.
  void Clear();

private:
  void CancelReads();

  std::deque<PrefetchedStep> Queue;
  bool Stopped = false;  ///< true after Stop(): the queue must not be used
  std::optional<std::size_t> LastDisplayed;
  std::ptrdiff_t Distance = 0;  ///< in steps of the series; 0: unknown
};

}  // namespace patchio
