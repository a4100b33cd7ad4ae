// What a read shows of F(N), the rate of a storage that nobody else uses.
#pragma once

#include "Tuning/LoadSense.h"
#include "Tuning/RateFit.h"

#include <vector>

namespace patchio {

/// Whether others had, for all that matters, nothing in flight beside `inFlight` reads of ours: known, and
/// less than one request or a tenth of ours.
bool IsClearlyAlone(const LoadEstimate& load, double inFlight);
/// Whether others are known to have had more.
bool IsClearlyLoaded(const LoadEstimate& load, double inFlight);

/// Gathers the windows of one read. Rates that others had their share of are none of the storage alone, and a
/// profile that took them in would take the next load for none.
class UnloadedRates
{
public:
  /// A window of the read: N, bytes a second, and what was known of others at that time. epoch: of the
  /// ThreadController, which counts the changes of the storage that it has noticed.
  void Add(int threads, double rate, const LoadEstimate& load, int epoch);

  /// One sample for each N, the mean of its windows up to the first change of the storage. None where others
  /// were seen at any time. mustBeAlone: none either unless it was clear at least once that there were no
  /// others; for storages of which a rate can tell.
  std::vector<RateSample> Samples(bool mustBeAlone) const;

private:
  struct Window
  {
    int Threads;
    double Rate;
    int Epoch;
  };
  std::vector<Window> Windows;
  bool Alone = false, Loaded = false;
};

}  // namespace patchio
