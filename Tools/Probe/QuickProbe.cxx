#include "Probe/QuickProbe.h"

#include "Base/Bytes.h"
#include "Base/Text.h"
#include "Probe/StorageMeter.h"
#include "Tuning/LeastSquares.h"
#include "Tuning/RateFit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>

namespace patchio::probe {
namespace {

// ---- the cost of a request
// --------------------------------------------------------------------------------------------------

constexpr double ShareOfBytes = 0.9;
constexpr double MostBandwidth = 1e13;  ///< bytes/s; assumed if the time does not depend on the size

/// The median time of requests of one size.
struct SizeTime
{
  double Bytes = 0;
  double Seconds = 0;
};

std::vector<SizeTime> MediansOf(const std::vector<RequestTime>& times)
{
  std::map<std::uint64_t, std::vector<double>> bySize;
  for (const RequestTime& time : times) {
    if (time.Bytes > 0 && std::isfinite(time.Seconds) && time.Seconds > 0) {
      bySize[time.Bytes].push_back(time.Seconds);
    }
  }
  std::vector<SizeTime> medians;
  for (const auto& [bytes, seconds] : bySize) {
    medians.push_back({static_cast<double>(bytes), MedianOf(seconds)});
  }
  return medians;
}

/// The line T(b) = Latency + b * PerByte, in seconds.
struct Line
{
  double Latency = 0;
  double PerByte = 0;
  double At(double bytes) const { return this->Latency + bytes * this->PerByte; }
};

double RelativeError(const Line& line, const SizeTime& time)
{
  return line.At(time.Bytes) > 0 ? time.Seconds / line.At(time.Bytes) - 1 : 0;
}

double MedianError(const Line& line, const std::vector<SizeTime>& times)
{
  std::vector<double> errors;
  errors.reserve(times.size());
  for (const SizeTime& time : times) {
    errors.push_back(std::abs(RelativeError(line, time)));
  }
  return MedianOf(errors);
}

std::optional<Line> FitLine(const std::vector<SizeTime>& times, const std::vector<double>& weights)
{
  LeastSquares<2> equations;
  for (std::size_t i = 0; i < times.size(); ++i) {
    equations.Add({1 / times[i].Seconds, times[i].Bytes / times[i].Seconds}, 1, weights[i]);
  }
  const auto solution = equations.SolveNonNegative({true, true});
  return solution ? std::optional(Line{(*solution)[0], (*solution)[1]}) : std::nullopt;
}

/// Fits a line repeatedly, with less weight on points far from the previous line (P. J. Huber, "Robust
/// estimation of a location parameter", 1964).
std::optional<Line> FitLineRobustly(const std::vector<SizeTime>& times)
{
  constexpr int rounds = 30;
  constexpr double leastSpread = 0.01;
  std::vector<double> weights(times.size(), 1.0);
  std::optional<Line> line = FitLine(times, weights);
  for (int round = 0; line && round < rounds; ++round) {
    const double spread = std::max(1.48 * MedianError(*line, times), leastSpread);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double off = std::abs(RelativeError(*line, times[i])) / spread;
      weights[i] = off <= 1.5 ? 1 : 1.5 / off;
    }
    line = FitLine(times, weights);
  }
  return line;
}

// ---- the measurements
// --------------------------------------------------------------------------------------------------

// The values were tested on emulated storages whose peak is known (N* = 4, 16, 64: `./dev bench tuning`,
// bench.quick_probe), on the local disk of a virtual machine with two cores and in its page cache.
//
// | constant     | value    | meaning and reason                                                            |
// |--------------|----------|-------------------------------------------------------------------------------|
// | Passes       | 2        | passes of the scan; two are the least number that shows noise                 |
// | LeastScan,   | 1, 4 MiB | limits of the size of requests in the scan over N                             |
// | MostScan     |          |                                                                               |
// | FarBelowBest | 0.6      | part of the best rate below which greater N are left out                      |
// | PastPeak     | 1.5      | rate with fewer in flight / rate; if greater, N is past the peak, not noise   |
// | Doubtful     | 0.15     | ln of the ratio of two passes above which a third one follows; 3 x noise      |
// | SlowestCache | 1.2e9    | bytes/s; every page cache tested was faster (that machine: 2e9 to 10e9)       |
// | LikeCache    | 0.6      | part of the rate of a reread; a faster read came from the cache               |
// | Share...     |          | parts of the time. The scan over N has the largest part. In the usual 80 s,   |
// |              |          | each measurement has at least a second                                        |
constexpr int Passes = 2;
constexpr std::uint64_t LeastScan = MiB;
constexpr std::uint64_t MostScan = 4 * MiB;
constexpr double FarBelowBest = 0.6;
constexpr double PastPeak = 1.5;
constexpr double Doubtful = 0.15;
constexpr double SlowestCache = 1.2e9;
constexpr double LikeCache = 0.6;
constexpr double ShareOfWriting = 1.0 / 6;
constexpr double ShareOfSizesAlone = 0.13;
constexpr double ShareOfScan = 0.37;
constexpr double ShareOfRepeating = 0.06;
constexpr double ShareOfRefining = 0.14;
constexpr double ShareOfSizesAtBest = 0.13;

const std::vector<std::uint64_t> Sizes{4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB};

class QuickProbe
{
public:
  QuickProbe(Communicator& ranks, const std::string& dir, const QuickProbeOptions& options,
      const ProbeProgressCallback& progress)
      : Ranks(ranks),
        Dir(dir),
        Options(options),
        Random(options.Seed),
        Meter(ranks, dir, options, progress, this->Result.Profile.Samples)
  {
  }

  QuickProbeResult Run()
  {
    this->Meter.Prepare(ShareOfWriting);
    if (!this->Meter.Cancelled()) {
      this->MeasureSizes(1, ShareOfSizesAlone, this->Result.CostAlone);
      this->CheckCache();
      this->ScanConcurrency();
      this->RepeatDoubtful();
      this->RefineNearPeak();
      this->MeasureSizesAtBest();
    }
    this->FillProfile();
    return this->Result;
  }

private:
  void AddNote(const std::string& note) { this->Result.Profile.Notes.push_back(note); }

  /// Returns whether the time is over, so that no other measurement may begin, and sets Result.OutOfTime. The
  /// result is the same on all ranks.
  bool CheckTime()
  {
    this->Result.OutOfTime = this->Result.OutOfTime || this->Meter.IsOutOfTime();
    return this->Result.OutOfTime;
  }

  /// Returns the request sizes that fit: first 256 KiB, whose rate bounds the time of larger sizes, then the
  /// other sizes in random order.
  std::vector<std::uint64_t> SizesFor(int concurrency)
  {
    constexpr std::uint64_t middle = 256 * KiB;
    std::vector<std::uint64_t> sizes;
    std::copy_if(Sizes.begin(), Sizes.end(), std::back_inserter(sizes),
        [&](std::uint64_t bytes) { return this->Meter.Fits(concurrency, bytes); });
    std::shuffle(sizes.begin(), sizes.end(), this->Random);
    std::stable_partition(sizes.begin(), sizes.end(), [](std::uint64_t bytes) { return bytes == middle; });
    return sizes;
  }

  void MeasureSizes(int concurrency, double share, RequestCost& cost)
  {
    const std::vector<std::uint64_t> sizes = this->SizesFor(concurrency);
    std::vector<RequestTime> times;
    double greatest = 0;
    for (const std::uint64_t bytes : sizes) {
      const Measurement measurement{concurrency, bytes, true, share / static_cast<double>(sizes.size()),
          fmt::format("reading with requests of {}, {} in flight", ByteText(static_cast<double>(bytes)),
              concurrency)};
      MeasurementResult result;
      // Larger requests need less time per byte, so `seconds` is an upper bound of the time if `bytes` is
      // greater than all sizes measured so far.
      const double seconds = greatest > 0 ? concurrency * static_cast<double>(bytes) / greatest : 0;
      if (seconds > this->Meter.BoundOf(measurement.Share)) {
        this->Meter.Skip(measurement.Share);
        continue;
      }
      if (this->CheckTime() || !this->Meter.Measure(measurement, result)) {
        break;
      }
      greatest = std::max(greatest, result.Rate);
      for (const double seconds : result.Times) {
        times.push_back({bytes, seconds});
      }
      this->GreatestAlone = std::max(this->GreatestAlone, concurrency == 1 ? result.Rate : 0);
    }
    cost = FitRequestCost(times);
  }

  /// Detects reads from the page cache, which are as fast as rereading the same bytes. The test needs rates
  /// as high as the rates of a cache, because a slow storage without a cache also rereads bytes at the same
  /// rate.
  void CheckCache()
  {
    if (this->Meter.Cancelled() || this->GreatestAlone < LikeCache * SlowestCache) {
      return;
    }
    const double fastest = this->Meter.FastestReread();
    if (fastest >= SlowestCache && this->GreatestAlone >= LikeCache * fastest) {
      this->Result.CacheAnswered = true;
      this->AddNote(
          fmt::format("The data came from this machine's memory, not from the storage: single requests "
                      "reached {}/s, and reading the same bytes again {}/s.",
              ByteText(this->GreatestAlone), ByteText(fastest)));
    }
  }

  std::uint64_t ScanBytes() const
  {
    std::uint64_t bytes = this->Options.RequestBytes;
    if (bytes == 0) {
      bytes = this->Result.CostAlone.Known ? this->Result.CostAlone.BlockBytes : LeastScan;
      bytes = std::clamp(bytes, LeastScan, MostScan);
    }
    while (bytes > LeastHalvedBytes && !this->Meter.Fits(this->Options.MostConcurrency, bytes)) {
      bytes /= 2;
    }
    return std::max(bytes / PageBytes, std::uint64_t{1}) * PageBytes;
  }

  /// Returns whether to skip a measurement with this concurrency: far past the peak, a request may take many
  /// seconds, and earlier measurements already show the low rate. seconds: the time for the measurement.
  bool IsPointless(int concurrency, double seconds) const
  {
    const std::vector<RateSample>& samples = this->Result.Profile.Samples;
    double best = 0;
    for (const RateSample& sample : samples) {
      best = std::max(best, sample.Concurrency < concurrency ? sample.Rate : 0);
    }
    return std::any_of(samples.begin(), samples.end(), [&](const RateSample& sample) {
      const double request = concurrency * static_cast<double>(this->RequestBytes) / sample.Rate;
      return sample.Concurrency <= concurrency && sample.Rate < FarBelowBest * best &&
             this->IsPastPeak(sample) && request > seconds;
    });
  }

  /// Returns whether the rate was much higher with fewer requests in flight.
  bool IsPastPeak(const RateSample& sample) const
  {
    const std::vector<RateSample>& samples = this->Result.Profile.Samples;
    return std::any_of(samples.begin(), samples.end(), [&sample](const RateSample& other) {
      return other.Concurrency < sample.Concurrency && other.Rate > PastPeak * sample.Rate;
    });
  }

  /// Measures the rate at each concurrency of `order`, in this order. Skips measurements that would take too
  /// long, or for which no time is left. pass: number of the repetition; share: fraction of the probe's time
  /// for all measurements together. Returns false if the user cancels.
  bool MeasureRates(const std::vector<int>& order, int pass, double share)
  {
    for (const int concurrency : order) {
      const Measurement measurement{concurrency, this->RequestBytes, false,
          share / static_cast<double>(order.size()),
          fmt::format("reading with {} requests in flight, pass {}", concurrency, pass + 1)};
      MeasurementResult result;
      if (this->CheckTime() || this->IsPointless(concurrency, measurement.Share * this->Options.Seconds)) {
        this->Meter.Skip(measurement.Share);
        continue;
      }
      if (!this->Meter.Measure(measurement, result)) {
        return false;
      }
      if (result.Rate > 0) {
        this->Result.Profile.Samples.push_back({concurrency, result.Rate, pass});
      }
    }
    return true;
  }

  std::vector<int> Shuffled(std::vector<int> order)
  {
    std::shuffle(order.begin(), order.end(), this->Random);
    return order;
  }

  /// Returns whether, judging by single requests, a measurement at the greatest concurrency would take much
  /// longer than planned. In this case, the concurrency rises in the first pass, so that the probe finds the
  /// peak before the slow measurements far past the peak.
  bool IsSlow() const
  {
    const double step = ShareOfScan / Passes / 8 * this->Options.Seconds;
    const double most = this->Options.MostConcurrency * static_cast<double>(this->RequestBytes);
    return this->GreatestAlone > 0 && most / this->GreatestAlone > 4 * step;
  }

  void ScanConcurrency()
  {
    this->RequestBytes = this->ScanBytes();
    this->Result.RequestBytes = this->RequestBytes;
    std::vector<int> concurrencies;
    for (int n = 1; n < this->Options.MostConcurrency; n *= 2) {
      concurrencies.push_back(n);
    }
    concurrencies.push_back(std::max(this->Options.MostConcurrency, 1));
    for (int pass = 0; pass < Passes && !this->Meter.Cancelled(); ++pass) {
      const bool rising = pass == 0 && this->IsSlow();
      this->MeasureRates(rising ? concurrencies : this->Shuffled(concurrencies), pass, ShareOfScan / Passes);
    }
  }

  /// Repeats measurements whose two passes differ a lot: another load has disturbed one of the passes, and a
  /// third pass shows which pass.
  void RepeatDoubtful()
  {
    std::map<int, std::vector<double>> rates;
    for (const RateSample& sample : this->Result.Profile.Samples) {
      rates[sample.Concurrency].push_back(std::log(sample.Rate));
    }
    std::vector<int> doubtful;
    for (const auto& [concurrency, logs] : rates) {
      if (std::abs(logs.front() - logs.back()) > Doubtful) {
        doubtful.push_back(concurrency);
      }
    }
    if (!this->Meter.Cancelled()) {
      this->MeasureRates(this->Shuffled(doubtful), Passes,
          ShareOfRepeating * std::min(1.0, static_cast<double>(doubtful.size()) / 3));
    }
  }

  /// Returns up to five values of N from 0.7 to 1.41 times the estimated N*; none if N* is unknown.
  std::vector<int> ConcurrenciesNearPeak() const
  {
    const RateFit fit = FitRates(this->Result.Profile.Samples);
    std::set<int> near;
    for (const double factor : {0.7, 0.84, 1.0, 1.19, 1.41}) {
      const auto n = static_cast<int>(std::lround(factor * fit.Best()));
      near.insert(std::clamp(n, 1, std::max(this->Options.MostConcurrency, 1)));
    }
    return fit.Known() ? std::vector<int>(near.begin(), near.end()) : std::vector<int>();
  }

  void RefineNearPeak()
  {
    for (int pass = 0; pass < Passes && !this->Meter.Cancelled(); ++pass) {
      this->MeasureRates(
          this->Shuffled(this->ConcurrenciesNearPeak()), Passes + 1 + pass, ShareOfRefining / Passes);
    }
  }

  void MeasureSizesAtBest()
  {
    const RateFit fit = FitRates(this->Result.Profile.Samples);
    if (!this->Meter.Cancelled() && fit.Known()) {
      this->MeasureSizes(fit.Best(), ShareOfSizesAtBest, this->Result.CostAtBest);
    }
  }

  void FillProfile()
  {
    StorageProfile& profile = this->Result.Profile;
    const std::string& path =
        this->Options.ExistingFiles.empty() ? this->Dir : this->Options.ExistingFiles.front();
    profile.StorageMount = MountOf(path).value_or(Mount());
    profile.Fit = FitRates(profile.Samples);
    profile.Concurrency = profile.Fit.Known() ? profile.Fit.Best() : 0;
    const RequestCost& cost =
        this->Result.CostAtBest.Known ? this->Result.CostAtBest : this->Result.CostAlone;
    profile.CostOfRequest = cost.Known ? std::optional<StorageModel>(cost.Requests) : std::nullopt;
    profile.BlockBytes = cost.Known ? cost.BlockBytes : 0;
    profile.BestFunction = "pread";
    profile.Node = NodeClass();
    profile.Ranks = this->Ranks.Size();
    profile.MeasuredAt = CurrentUnixTime();
    profile.ExpiresAt = profile.MeasuredAt + ProfileLifetime;
    profile.Source = MeasuredSource;
    this->AddNotes();
    this->Result.Cancelled = this->Meter.Cancelled();
    this->Result.Seconds = this->Meter.Seconds();
  }

  void AddNotes()
  {
    if (this->Meter.Cancelled()) {
      this->AddNote("The measurement was interrupted.");
    }
    if (this->Result.OutOfTime) {
      this->AddNote(
          "The time was too short for this storage, so the probe skipped some measurements. Give more "
          "--seconds.");
    }
    if (this->Meter.DropsCaches()) {
      this->AddNote(
          "Reads cannot bypass this machine's page cache (O_DIRECT), so the probe drops the files from the "
          "cache.");
    }
    if (this->Result.Profile.StorageMount.Class == MountClass::Memory) {
      this->AddNote("This storage is a file system in memory.");
    }
    this->AddNote(fmt::format("The probe measured these rates with requests of {}, in files of {} in total.",
        ByteText(static_cast<double>(this->RequestBytes)),
        ByteText(static_cast<double>(this->Meter.Files().TotalBytes()))));
  }

  /// ScanBytes() halves no requests of this size or less, even if they do not fit.
  static constexpr std::uint64_t LeastHalvedBytes = 64 * KiB;

  Communicator& Ranks;
  const std::string& Dir;
  const QuickProbeOptions& Options;
  std::mt19937 Random;  ///< the same on all ranks
  QuickProbeResult Result;
  StorageMeter Meter;
  std::uint64_t RequestBytes = 0;  ///< bytes of a request in the scan over N
  double GreatestAlone = 0;        ///< best rate of one request at a time, bytes/s
};

}  // namespace

std::uint64_t BlockBytesFor(const StorageModel& requests)
{
  constexpr std::uint64_t unit = 64 << 10;
  const double bytes = requests.Latency * requests.Bandwidth * ShareOfBytes / (1 - ShareOfBytes);
  const auto whole = static_cast<std::uint64_t>(
      std::clamp(bytes, static_cast<double>(LeastBlockBytes), static_cast<double>(MostBlockBytes)));
  return RoundUp(whole, unit);
}

RequestCost FitRequestCost(const std::vector<RequestTime>& times)
{
  RequestCost cost;
  cost.BlockBytes = BlockBytesFor(cost.Requests);
  const std::vector<SizeTime> medians = MediansOf(times);
  if (medians.size() < 2 || medians.back().Bytes < 2 * medians.front().Bytes) {
    return cost;
  }
  const std::optional<Line> line = FitLineRobustly(medians);
  if (!line) {
    return cost;
  }
  cost.Known = true;
  cost.Requests.Latency = line->Latency;
  cost.Requests.Bandwidth = 1 / std::max(line->PerByte, 1 / MostBandwidth);
  cost.BlockBytes = BlockBytesFor(cost.Requests);
  cost.Residual = MedianError(*line, medians);
  return cost;
}

QuickProbeResult RunQuickProbe(Communicator& ranks, const std::string& dir, const QuickProbeOptions& options,
    const ProbeProgressCallback& progress)
{
  return QuickProbe(ranks, dir, options, progress).Run();
}

}  // namespace patchio::probe
