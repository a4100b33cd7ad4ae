// A storage that exists only as a formula, and reads from it in simulated time. Hundreds of reads of a minute
// take less than a second, so that methods for the number of threads can be compared. The simulation uses no
// clock, and the same seed gives the same read.
#pragma once

#include "Tuning/ThreadController.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace patchio::testing {

/// F(M): bytes per second of the whole storage with M requests in flight. M may be fractional.
using RateLaw = std::function<double(double)>;

/// Returns the Universal Scalability Law of N. Gunther, F = lambda M / (1 + sigma (M - 1) + kappa M (M - 1)),
/// with its peak at `best`.
inline RateLaw ScalabilityLaw(double best, double sigma)
{
  const double kappa = (1 - sigma) / (best * best);
  return [=](double m) { return 1e6 * m / (1 + sigma * (m - 1) + kappa * m * (m - 1)); };
}

/// Returns the law of the emulated storage: M up to `best`, then down with (best / M)^gamma; gamma = 0 stays
/// level.
inline RateLaw EmulatorLaw(double best, double gamma)
{
  return [=](double m) { return m <= best ? 1e6 * m : 1e6 * best * std::pow(best / m, gamma); };
}

/// Returns a law that rises ever more slowly and never falls; `half` requests give half of the limit.
inline RateLaw SaturatingLaw(double half)
{
  return [=](double m) { return 1e8 * m / (m + half); };
}

/// The load of other programs: from `Seconds` on, they keep `Load` requests in flight.
struct LoadStep
{
  double Seconds;
  double Load;
};

/// Greatest number of threads that controllers and the search for the best number try.
constexpr int MostThreads = 256;

struct SimulatedStorage
{
  std::string Kind;  ///< name of the law, for reports
  RateLaw Law;
  std::vector<LoadStep> Loads{{0, 0}};  ///< ordered, the first at 0 s

  /// Returns the bytes per second that `threads` own requests get while other programs keep `load` requests
  /// in flight, when all share fairly.
  double OwnRate(double threads, double load) const
  {
    return threads / (threads + load) * this->Law(threads + load);
  }

  /// Returns the bytes that `threads` requests bring between two times in seconds.
  double Bytes(double threads, double begin, double end) const
  {
    double bytes = 0;
    for (std::size_t i = 0; i < this->Loads.size(); ++i) {
      const double until = i + 1 < this->Loads.size() ? this->Loads[i + 1].Seconds : 1e30;
      const double seconds = std::min(end, until) - std::max(begin, this->Loads[i].Seconds);
      if (seconds > 0) {
        bytes += seconds * this->OwnRate(threads, this->Loads[i].Load);
      }
    }
    return bytes;
  }

  /// Returns the bytes of a whole read with the fixed number of threads that is best for it, by trying all.
  double MostBytes(double seconds) const
  {
    double most = 0;
    for (int n = 1; n <= MostThreads; ++n) {
      most = std::max(most, this->Bytes(n, 0, seconds));
    }
    return most;
  }

  /// Returns the N* of a right profile: the smallest N that reaches this share of the greatest rate of the
  /// idle storage.
  int BestThreads(double share = 0.98) const
  {
    double most = 0;
    for (int n = 1; n <= MostThreads; ++n) {
      most = std::max(most, this->Law(n));
    }
    int best = 1;
    while (this->Law(best) < share * most) {
      ++best;
    }
    return best;
  }
};

/// Draws random numbers that are equal on each machine, which std distributions do not guarantee.
class Dice
{
public:
  explicit Dice(std::uint64_t seed) : Engine(seed * 0x9e3779b97f4a7c15U + 1) {}
  double Uniform(double low, double high) { return low + (high - low) * ((this->Engine() >> 11) * 0x1p-53); }
  /// Returns a number with a uniform logarithm: small ones are as likely as large ones.
  double Scale(double low, double high) { return std::exp(this->Uniform(std::log(low), std::log(high))); }
  int Whole(int low, int high) { return low + static_cast<int>(this->Uniform(0, high - low + 1)); }
  double Normal()
  {
    const double radius = std::sqrt(-2 * std::log(1 - this->Uniform(0, 1)));
    return radius * std::cos(this->Uniform(0, 2 * 3.14159265358979323846));
  }

private:
  std::mt19937_64 Engine;
};

/// Returns a random storage: with a peak from 2 to 128, sharp or blunt, or without a peak.
inline SimulatedStorage RandomStorage(Dice& dice)
{
  const double best = dice.Scale(2, 128);
  switch (dice.Whole(0, 4)) {
    case 0:
    case 1:
      return {"usl", ScalabilityLaw(best, dice.Whole(0, 1) == 0 ? 0 : dice.Scale(0.005, 0.3))};
    case 2:
    case 3:
      return {"emulator", EmulatorLaw(best, dice.Uniform(0.25, 1))};
    default:
      return dice.Whole(0, 1) == 0 ? SimulatedStorage{"level", EmulatorLaw(best, 0)}
                                   : SimulatedStorage{"saturating", SaturatingLaw(dice.Scale(0.5, 16))};
  }
}

/// Returns loads of other programs, which come and go one to four times during the read, at times as of a
/// Poisson process, with up to twice the requests of the storage's best number, `best`.
inline std::vector<LoadStep> RandomLoads(Dice& dice, double seconds, int best)
{
  const auto load = [&] {
    return dice.Uniform(0, 1) < 0.3 ? 0.0 : std::round(dice.Scale(std::max(1.0, best / 8.0), 2.0 * best));
  };
  std::vector<double> times(dice.Whole(1, 4));  // given their number, such times are uniform
  for (double& time : times) {
    time = dice.Uniform(0, seconds);
  }
  std::sort(times.begin(), times.end());
  std::vector<LoadStep> loads{{0, load()}};
  for (double time : times) {
    loads.push_back({time, load()});
  }
  return loads;
}

/// A method for the number of threads: receives the rate of each window, and returns the number for the next
/// one.
struct Decider
{
  std::function<int()> Threads;
  std::function<double()> WindowSeconds = [] { return 0.5; };
  std::function<void(double rate, int threads)> Observe = [](double, int) {};
};

/// Returns the controller as a reader uses it.
inline Decider ControlledDecider(int start)
{
  ControllerOptions options;
  options.Start = start;
  const auto controller = std::make_shared<ThreadController>(options);
  return {[controller] { return controller->Threads(); },
      [controller] { return controller->WindowSeconds(); },
      [controller](double rate, int threads) { controller->Observe(rate, threads); }};
}

/// Returns a decider that always gives the same number.
inline Decider FixedDecider(int start)
{
  return {[start] { return start; }};
}

struct Noise
{
  double Sigma = 0.08;     ///< scatter of windows of half a second or more; shorter ones scatter more
  bool LogNormal = false;  ///< log-normal scatter; else normal
};

/// Seconds until requests that began with another number of threads have ended. Deciders do not see this
/// time.
constexpr double Settle = 0.1;

/// Returns the bytes of a read of `seconds`. A change of threads takes time: half of `Settle` still goes with
/// the old number. The bytes are without noise, as noise is luck.
inline double SimulateRead(
    const SimulatedStorage& storage, const Decider& decider, double seconds, const Noise& noise, Dice& dice)
{
  double bytes = 0;
  int before = decider.Threads();
  for (double now = 0; now < seconds;) {
    const int threads = decider.Threads();
    if (threads != before) {
      const double settle = std::min(Settle, seconds - now);
      bytes += storage.Bytes(before, now, now + settle / 2) +
               storage.Bytes(threads, now + settle / 2, now + settle);
      now += settle;
    }
    const double window = std::min(decider.WindowSeconds(), seconds - now);
    if (window <= 0) {
      break;
    }
    const double got = storage.Bytes(threads, now, now + window);
    const double scatter =
        noise.Sigma * std::sqrt(std::max(1.0, 0.5 / std::max(window, 1e-3))) * dice.Normal();
    const double factor = noise.LogNormal ? std::exp(scatter) : std::max(0.01, 1 + scatter);
    bytes += got;
    now += window;
    before = threads;
    decider.Observe(got / window * factor, threads);
  }
  return bytes;
}

/// The kinds of reads that are simulated.
enum class Scenario
{
  ProfileRight,  ///< start at N*
  ProfileWrong,  ///< start at 4 N* or N* / 4
  LoadSteps,     ///< start at N*, but other programs come and go
  LoadWrong,     ///< start at 4 N* or N* / 4, and other programs come and go
  NoProfile,     ///< start at 8
};

struct SimulatedRead
{
  SimulatedStorage Storage;
  int Start;  ///< threads at the start, from a right or wrong profile
  Noise Scatter;
};

inline SimulatedRead MakeRead(Scenario scenario, double seconds, Dice& dice)
{
  SimulatedRead read{RandomStorage(dice), 8, {}};
  read.Scatter.LogNormal = dice.Whole(0, 1) == 0;
  const int best = read.Storage.BestThreads();
  const bool below = dice.Whole(0, 1) == 0;
  if (scenario != Scenario::NoProfile) {
    read.Start = best;
  }
  if (scenario == Scenario::ProfileWrong || scenario == Scenario::LoadWrong) {
    read.Start = std::clamp(below ? (best + 2) / 4 : 4 * best, 1, MostThreads);
  }
  if (scenario == Scenario::LoadSteps || scenario == Scenario::LoadWrong) {
    read.Storage.Loads = RandomLoads(dice, seconds, best);
  }
  return read;
}

/// Makes a decider for one read, from the number of threads to start with.
using DeciderMaker = std::function<Decider(int start)>;

/// Returns, for each of `reads` reads, its bytes over those of the best fixed number of threads.
inline std::vector<double> SimulateReads(
    Scenario scenario, double seconds, int reads, std::uint64_t seed, const DeciderMaker& make)
{
  std::vector<double> ratios;
  for (int i = 0; i < reads; ++i) {
    Dice dice(seed * 1000003 + i);
    const SimulatedRead read = MakeRead(scenario, seconds, dice);
    const Decider decider = make(read.Start);
    const double bytes = SimulateRead(read.Storage, decider, seconds, read.Scatter, dice);
    ratios.push_back(bytes / read.Storage.MostBytes(seconds));
  }
  return ratios;
}

/// Returns the share of reads that reached `least` of the best.
inline double ShareAtLeast(const std::vector<double>& ratios, double least)
{
  const auto reached = std::count_if(ratios.begin(), ratios.end(), [&](double r) { return r >= least; });
  return static_cast<double>(reached) / ratios.size();
}

}  // namespace patchio::testing
