#include "Tuning/UnloadedRates.h"

#include <algorithm>
#include <map>

namespace patchio {
namespace {

/// Requests of others that cost us less than rates vary anyway.
double Negligible(double inFlight)
{
  return std::max(1.0, 0.1 * inFlight);
}

}  // namespace

bool IsClearlyAlone(const LoadEstimate& load, double inFlight)
{
  return load.Sureness > 0 && load.Load <= Negligible(inFlight);
}

bool IsClearlyLoaded(const LoadEstimate& load, double inFlight)
{
  return load.Sureness > 0 && load.Load > Negligible(inFlight);
}

void UnloadedRates::Add(int threads, double rate, const LoadEstimate& load, int epoch)
{
  this->Alone = this->Alone || IsClearlyAlone(load, threads);
  this->Loaded = this->Loaded || IsClearlyLoaded(load, threads);
  if (rate > 0) {
    this->Windows.push_back({threads, rate, epoch});
  }
}

std::vector<RateSample> UnloadedRates::Samples(bool mustBeAlone) const
{
  if (this->Loaded || (mustBeAlone && !this->Alone)) {
    return {};
  }
  struct Sum
  {
    double Rate = 0;
    int Windows = 0;
  };
  std::map<int, Sum> sums;
  for (const Window& window : this->Windows) {
    if (window.Epoch == this->Windows.front().Epoch) {
      Sum& sum = sums[window.Threads];
      sum.Rate += window.Rate;
      ++sum.Windows;
    }
  }
  std::vector<RateSample> samples;
  for (const auto& [threads, sum] : sums) {
    samples.push_back({threads, sum.Rate / sum.Windows, 0});
  }
  return samples;
}

}  // namespace patchio
