// Ranks that read side by side tell each other how far they are, and who was told to stop.
#pragma once

#include "Base/Communicator.h"
#include "Base/Stopwatch.h"
#include "Io/IoScheduler.h"
#include "Io/ReadProgress.h"

#include <functional>

namespace patchio {

/// The progress of one read. The thread of each rank that looks on adds to sums over the ranks that nobody
/// waits for, one after another, so that all know within some tens of milliseconds when one was told to stop.
/// All ranks leave after the same sum: one that has read its part stays, still looking on, until all have, or
/// somebody was told to stop.
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
  /// How far all ranks together are, as last known.
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

/// Seconds between two calls of what is told to users.
constexpr double TellInterval = 0.01;

/// Collective. Each rank carries out its part of some work. `work` tells how far it is, on the thread that it
/// is called on, as often as it likes; where the answer is false it ends soon, in whatever way.
///
/// progress: called about every 10 ms with how far all ranks together are. When it says false on any rank,
/// all end. Null, on all ranks or none: nobody can stop the work, which gets a null itself. Result: false
/// when somebody has stopped it. Throws Error, the same on all ranks, when something else goes wrong on any.
bool RunUnlessStopped(Communicator& ranks, const ProgressCallback& progress,
    const std::function<void(const ProgressCallback&)>& work);

}  // namespace patchio
