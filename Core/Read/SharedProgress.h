// Ranks that read side by side tell each other how far they are, and who was told to stop.
#pragma once

#include "Exec/ReadProgress.h"
#include "Support/Communicator.h"
#include "Support/Stopwatch.h"

namespace patchio {

/// Of one read. The thread of each rank that looks on adds to sums over the ranks that nobody waits for, one
/// after another, so that all know within some tens of milliseconds when one was told to stop. All ranks
/// leave after the same sum: one that has read its part stays, still looking on, until all have, or somebody
/// was told to stop.
class SharedProgress
{
public:
  /// Collective the first time for `ranks`.
  explicit SharedProgress(Communicator& ranks);

  /// While this rank reads, many times a second: where it is, and whether it was told to stop. False once
  /// some rank was; then this one stops too.
  bool Step(const ReadProgress& mine, bool stop);
  /// In place of Step(), once this rank has ended its read, whatever the outcome. True once all ranks have,
  /// or some was told to stop. Every rank has to come here and to go on until then; never waits.
  bool Ended(bool stop);
  /// The same, waiting; `between` is called many times a second and says whether this rank was told to stop.
  template <typename Between>
  void Finish(Between between)
  {
    const Stopwatch waiting;
    while (!this->Ended(between())) {
      SharedProgress::Pause(waiting.Seconds());
    }
  }

  /// Some rank was told to stop: the same on all ranks after the end.
  bool Stopped() const { return this->AnyStops; }
  /// Of all ranks together, as last known.
  const ReadProgress& OfAll() const { return this->All; }

private:
  void Exchange(bool reading);
  static void Pause(double waited);

  Communicator& Ranks;
  ReadProgress Mine, All;
  Stopwatch Watch;
  double NextSum = 0;  ///< seconds: none begins before while this rank reads
  bool Stop = false;   ///< this rank was told to
  bool Summing = false;
  bool AnyStops = false, Over = false;
};

}  // namespace patchio
