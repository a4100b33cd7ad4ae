// Steps that are read while the picture of the one before is made.
#pragma once

#include "Read/RankAgreement.h"
#include "Read/StepRead.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace patchio {

/// A queue of steps in the direction in which the user plays. Tasks read them one after another, while all
/// that needs MPI or the HDF5 library is done between reads, on the calling thread. It belongs to
/// one reader, whose ranks call the same methods in the same order, but for Stop().
class Prefetcher
{
public:
  Prefetcher() = default;
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// A step is shown. Two in a row, without another change in between, give direction and distance.
  void Shown(std::size_t step);
  /// The steps to be read next, up to `most`, of a series of so many; empty before a direction is known.
  std::vector<std::size_t> Next(std::size_t steps, int most) const;
  /// Whether the step is on its way.
  bool Has(std::size_t step) const;

  /// Its reading begins at once, or when those before it are through.
  void Add(PrefetchedStep step);
  /// Collective. The step, when it is the next of the queue on all ranks; nothing, and an empty queue,
  /// otherwise.
  std::optional<PrefetchedStep> Take(const RankAgreement& ranks, std::size_t step);

  /// Collective: whether all ranks would read the same ahead. A property may be set on one rank only, if it
  /// is no more than a script's abort.
  bool Agree(const RankAgreement& ranks, int most);

  /// The queue is empty, but the direction is known still.
  void Drop();
  /// The user does something else: nothing more is read, and no direction is known. Waits for nobody, and
  /// gives back no memory yet, as ranks need not come here together.
  void Stop();
  /// Stop(), and the queue is empty.
  void Clear();

private:
  void CancelAll();

  std::deque<PrefetchedStep> Queue;
  bool Stopped = false;  ///< the queue is of no use
  std::optional<std::size_t> Last;
  std::ptrdiff_t Distance = 0;  ///< in steps of the series; 0: not known
};

}  // namespace patchio
