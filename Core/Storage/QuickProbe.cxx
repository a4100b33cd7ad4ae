#include "Storage/QuickProbe.h"

#include "Storage/RateMeter.h"
#include "Storage/TestFiles.h"
#include "Support/ByteText.h"
#include "Support/Error.h"
#include "Support/Memory.h"
#include "Support/RunOnAllRanks.h"
#include "Support/Stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <set>

namespace patchio {
namespace {

constexpr std::uint64_t KiB = 1 << 10;
constexpr std::uint64_t MiB = 1 << 20;
constexpr std::uint64_t Page = 4 * KiB;
constexpr int Passes = 2;
constexpr int TimesOfRank = 32;           ///< quantiles of the times of requests that a rank tells the others
constexpr std::uint64_t LeastScan = MiB;  ///< size of requests that N is tried with, as readers use
constexpr std::uint64_t MostScan = 4 * MiB;

/// Parts of the time.
constexpr double ShareOfWriting = 1.0 / 6;
constexpr double ShareOfSizesAlone = 0.13;
constexpr double ShareOfScan = 0.37;
constexpr double ShareOfRepeating = 0.06;
constexpr double ShareOfRefining = 0.14;
constexpr double ShareOfSizesAtBest = 0.13;

/// How much longer than planned a measurement may take, and the whole.
constexpr double MostOfStep = 3;
constexpr double MostOfAll = 1.5;
constexpr double LeastBound = 0.3;  ///< seconds

const std::vector<std::uint64_t> Sizes{4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB};

/// What one measurement is.
struct Step
{
  int Concurrency = 1;
  std::uint64_t Bytes = MiB;
  bool Scattered = false;
  double Share = 0;  ///< of the time
  std::string Doing;
};

struct StepResult
{
  double Rate = 0;            ///< of all ranks
  std::vector<double> Times;  ///< of requests, from all ranks
};

int ThreadsOf(int concurrency, int ranks, int rank)
{
  return concurrency / ranks + (rank < concurrency % ranks ? 1 : 0);
}

/// Evenly spaced ones of the sorted values; zeros where there are none.
std::vector<double> QuantilesOf(std::vector<double> values, int count)
{
  std::sort(values.begin(), values.end());
  std::vector<double> quantiles(count, 0.0);
  for (int i = 0; i < count && !values.empty(); ++i) {
    quantiles[i] = values[static_cast<std::size_t>((i + 0.5) / count * static_cast<double>(values.size()))];
  }
  return quantiles;
}

class QuickProbe
{
public:
  QuickProbe(Communicator& comm, const std::string& dir, const QuickProbeOptions& options,
      const ProbeProgressCallback& progress)
      : Comm(comm), Dir(dir), Options(options), Progress(progress), Random(options.Seed)
  {
  }

  QuickProbeResult Run()
  {
    this->PrepareFiles();
    if (!this->Result.Cancelled) {
      this->MeasureSizes(1, ShareOfSizesAlone, this->Result.Alone);
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
  /// Collective: whether somebody wants to end it.
  bool AnyCancels(bool mine)
  {
    const bool cancel = mine || this->Vetoed || (this->Options.Cancel && *this->Options.Cancel);
    const std::vector<double> all =
        this->Comm.AllGather(std::vector<double>{cancel ? 1.0 : 0.0, this->Watch.Seconds()});
    this->Elapsed = all[1];  // rank 0's, so that all come to the same decisions
    for (std::size_t i = 0; i < all.size(); i += 2) {
      this->Result.Cancelled = this->Result.Cancelled || all[i] > 0;
    }
    return this->Result.Cancelled;
  }

  void Tell(const std::string& doing)
  {
    if (!this->Progress || this->Comm.Rank() != 0) {
      return;
    }
    ProbeProgress progress;
    progress.Fraction = std::min(this->Done, 1.0);
    // What has been seen so far tells how much slower than planned this storage is.
    constexpr double enough = 0.2;
    const double planned = this->Options.Seconds * (1 - progress.Fraction);
    const double seen =
        this->Done > 0 ? this->Watch.Seconds() / this->Done * (1 - progress.Fraction) : planned;
    progress.SecondsLeft = this->Done < enough ? planned : seen;
    progress.Doing = doing;
    progress.Samples = &this->Result.Profile.Samples;
    this->Vetoed = this->Vetoed || !this->Progress(progress);
  }

  void Note(const std::string& note) { this->Result.Profile.Notes.push_back(note); }

  void PrepareFiles()
  {
    if (this->Options.ExistingFiles.empty()) {
      this->Tell(
          fmt::format("writing {} of test files", ByteText(static_cast<double>(this->Options.TestBytes))));
      this->Written = std::make_unique<TestFiles>(this->Comm, this->Dir, this->Options.TestBytes,
          ShareOfWriting * this->Options.Seconds, this->Options.Cancel, this->Options.Announce);
      this->Files = this->Written->Files();
    } else {
      RunOnAllRanks(this->Comm, [this] { this->Files = FindProbeFiles(this->Options.ExistingFiles); });
    }
    this->Done += ShareOfWriting;
    if (this->AnyCancels(false)) {
      return;
    }
    double direct = 0;
    RunOnAllRanks(this->Comm, [&] { direct = BypassFor(this->Files) == CacheBypass::Direct ? 1 : 0; });
    const std::vector<double> all = this->Comm.AllGather(
        std::vector<double>{direct, static_cast<double>(AvailableMemory()) / (4.0 * this->Comm.Size())});
    this->MostBuffers = 1024.0 * MiB;
    this->Bypass = CacheBypass::Direct;
    for (std::size_t i = 0; i < all.size(); i += 2) {
      this->Bypass = all[i] > 0 ? this->Bypass : CacheBypass::Drop;
      this->MostBuffers = std::min(this->MostBuffers, all[i + 1]);
    }
    RunOnAllRanks(this->Comm, [this] { this->From = MakeProbeSource(this->Files, this->Bypass); });
  }

  /// Whether there are enough blocks, and enough memory for so many.
  bool Fits(int concurrency, std::uint64_t bytes) const
  {
    constexpr std::uint64_t leastBlocks = 4;
    const double threads = ThreadsOf(concurrency, this->Comm.Size(), 0);
    return threads * static_cast<double>(bytes) <= this->MostBuffers &&
           ProbeBlocks(this->Files.Bytes, bytes).Count() >= leastBlocks;
  }

  /// Collective. False when cancelled. Throws Error, the same on all ranks.
  bool Measure(const Step& step, StepResult& result)
  {
    this->Tell(step.Doing);
    if (this->Bypass == CacheBypass::Drop) {
      DropCaches(this->Files);
    }
    if (this->AnyCancels(false)) {
      return false;
    }
    const ProbeBlocks blocks(this->Files.Bytes, step.Bytes);
    const MeteredRate mine = MeasureRate(*this->From, blocks, this->SettingsOf(step));
    RunOnAllRanks(this->Comm, [&mine] {
      if (!mine.Fault.empty()) {
        throw Error(mine.Fault);
      }
    });
    if (this->AnyCancels(mine.Cancelled)) {
      return false;
    }
    this->Done += step.Share;
    this->AddRanks(mine, result);
    return true;
  }

  /// Seconds that a measurement with this part of the time may take.
  double BoundOf(double share) const
  {
    return std::max(MostOfStep * share * this->Options.Seconds, LeastBound);
  }

  MeterSettings SettingsOf(const Step& step)
  {
    constexpr double mostWarmUp = 0.3;
    const double ranks = this->Comm.Size();
    const double seconds = step.Share * this->Options.Seconds;
    MeterSettings settings;
    settings.Threads = ThreadsOf(step.Concurrency, this->Comm.Size(), this->Comm.Rank());
    settings.Scattered = step.Scattered;
    // Not where the last one began, and each rank in what another one has written.
    const double turn = std::fmod(0.618 * ++this->Steps, 1.0) / ranks;
    settings.Start = std::fmod((this->Comm.Rank() + 1) / ranks + turn, 1.0);
    settings.WarmUp = std::min(0.2 * seconds, mostWarmUp);
    settings.Seconds = seconds - settings.WarmUp;
    settings.MostSeconds = this->BoundOf(step.Share);
    settings.Cancel = this->Options.Cancel;
    settings.AwaitOthers = [this] { this->Comm.AllGather(std::vector<int>{0}); };
    return settings;
  }

  void AddRanks(const MeteredRate& mine, StepResult& result)
  {
    std::vector<double> numbers = QuantilesOf(mine.Seconds, TimesOfRank);
    numbers.push_back(mine.Rate);
    const std::vector<double> all = this->Comm.AllGather(numbers);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i % numbers.size() == TimesOfRank) {
        result.Rate += all[i];
      } else if (all[i] > 0) {
        result.Times.push_back(all[i]);
      }
    }
  }

  /// All ranks say the same.
  bool IsOutOfTime()
  {
    this->Result.OutOfTime = this->Result.OutOfTime || this->Elapsed > MostOfAll * this->Options.Seconds;
    return this->Result.OutOfTime;
  }

  /// In random order, but one of middle size first: it tells how long the others take.
  std::vector<std::uint64_t> SizesFor(int concurrency)
  {
    constexpr std::uint64_t middle = 256 * KiB;
    std::vector<std::uint64_t> sizes;
    std::copy_if(Sizes.begin(), Sizes.end(), std::back_inserter(sizes),
        [&](std::uint64_t bytes) { return this->Fits(concurrency, bytes); });
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
      const Step step{concurrency, bytes, true, share / static_cast<double>(sizes.size()),
          fmt::format("reading with requests of {}, {} in flight", ByteText(static_cast<double>(bytes)),
              concurrency)};
      StepResult result;
      // Larger requests are faster a byte: this is the most that it takes.
      const double seconds = greatest > 0 ? concurrency * static_cast<double>(bytes) / greatest : 0;
      if (seconds > this->BoundOf(step.Share)) {
        this->Done += step.Share;
        continue;
      }
      if (this->IsOutOfTime() || !this->Measure(step, result)) {
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

  /// Reads of a cache are as fast as reading the same bytes again. Only a rate that no cache is as slow as
  /// tells nothing: a storage without cache reads its bytes again as fast as the first time.
  void CheckCache()
  {
    constexpr double slowestCache = 1.2e9;
    constexpr double near = 0.6;
    if (this->Result.Cancelled || this->GreatestAlone < near * slowestCache) {
      return;
    }
    double again = 0;
    RunOnAllRanks(this->Comm, [&] { again = RereadRate(this->Files); });
    const std::vector<double> all = this->Comm.AllGather(std::vector<double>{again});
    const double fastest = *std::max_element(all.begin(), all.end());
    if (fastest >= slowestCache && this->GreatestAlone >= near * fastest) {
      this->Result.CacheAnswered = true;
      this->Note(
          fmt::format("One request at a time got {}/s, and reading the same bytes again {}/s: this machine's "
                      "memory answered, not the storage.",
              ByteText(this->GreatestAlone), ByteText(fastest)));
    }
  }

  std::uint64_t ScanBytes() const
  {
    std::uint64_t bytes = this->Options.RequestBytes;
    if (bytes == 0) {
      bytes = this->Result.Alone.Known ? this->Result.Alone.BlockBytes : LeastScan;
      bytes = std::clamp(bytes, LeastScan, MostScan);
    }
    while (bytes > LeastFound && !this->Fits(this->Options.MostConcurrency, bytes)) {
      bytes /= 2;
    }
    return std::max(bytes / Page, std::uint64_t{1}) * Page;
  }

  /// Far past the peak a request may take many seconds, and what it tells is known: whether so many in flight
  /// would, as far as fewer (or as many, before) tell.
  bool IsPointless(int concurrency, double seconds) const
  {
    constexpr double far = 0.6;
    const std::vector<RateSample>& samples = this->Result.Profile.Samples;
    double best = 0;
    for (const RateSample& sample : samples) {
      best = std::max(best, sample.Concurrency < concurrency ? sample.Rate : 0);
    }
    return std::any_of(samples.begin(), samples.end(), [&](const RateSample& sample) {
      const double request = concurrency * static_cast<double>(this->Request) / sample.Rate;
      return sample.Concurrency <= concurrency && sample.Rate < far * best && this->IsPastPeak(sample) &&
             request > seconds;
    });
  }

  /// Whether fewer requests in flight gave much more.
  bool IsPastPeak(const RateSample& sample) const
  {
    const std::vector<RateSample>& samples = this->Result.Profile.Samples;
    return std::any_of(samples.begin(), samples.end(), [&sample](const RateSample& other) {
      return other.Concurrency < sample.Concurrency && other.Rate > 1.5 * sample.Rate;
    });
  }

  /// In this order; those that would take too long, or for which there is no time, are left out. False when
  /// cancelled.
  bool Sample(const std::vector<int>& order, int pass, double share)
  {
    for (const int concurrency : order) {
      const Step step{concurrency, this->Request, false, share / static_cast<double>(order.size()),
          fmt::format("reading with {} requests in flight, pass {}", concurrency, pass + 1)};
      StepResult result;
      if (this->IsOutOfTime() || this->IsPointless(concurrency, step.Share * this->Options.Seconds)) {
        this->Done += step.Share;
        continue;
      }
      if (!this->Measure(step, result)) {
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

  /// Whether the most requests in flight take much longer than there is time for, as far as one at a time
  /// tells. Then the first pass goes up from one, so that it finds what is far past the peak before it is
  /// there.
  bool IsSlow() const
  {
    const double step = ShareOfScan / Passes / 8 * this->Options.Seconds;
    const double most = this->Options.MostConcurrency * static_cast<double>(this->Request);
    return this->GreatestAlone > 0 && most / this->GreatestAlone > 4 * step;
  }

  void ScanConcurrency()
  {
    this->Request = this->ScanBytes();
    this->Result.RequestBytes = this->Request;
    std::vector<int> concurrencies;
    for (int n = 1; n < this->Options.MostConcurrency; n *= 2) {
      concurrencies.push_back(n);
    }
    concurrencies.push_back(std::max(this->Options.MostConcurrency, 1));
    for (int pass = 0; pass < Passes && !this->Result.Cancelled; ++pass) {
      const bool rising = pass == 0 && this->IsSlow();
      this->Sample(rising ? concurrencies : this->Shuffled(concurrencies), pass, ShareOfScan / Passes);
    }
  }

  /// Where two passes differ much something else was going on in one of them; a third one tells in which.
  void RepeatDoubtful()
  {
    constexpr double much = 0.15;
    std::map<int, std::vector<double>> rates;
    for (const RateSample& sample : this->Result.Profile.Samples) {
      rates[sample.Concurrency].push_back(std::log(sample.Rate));
    }
    std::vector<int> doubtful;
    for (const auto& [concurrency, logs] : rates) {
      if (std::abs(logs.front() - logs.back()) > much) {
        doubtful.push_back(concurrency);
      }
    }
    if (!this->Result.Cancelled) {
      this->Sample(this->Shuffled(doubtful), Passes,
          ShareOfRepeating * std::min(1.0, static_cast<double>(doubtful.size()) / 3));
    }
  }

  /// N between the ones tried, on both sides of where the peak seems to be.
  std::vector<int> NearPeak() const
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
    for (int pass = 0; pass < Passes && !this->Result.Cancelled; ++pass) {
      this->Sample(this->Shuffled(this->NearPeak()), Passes + 1 + pass, ShareOfRefining / Passes);
    }
  }

  void MeasureSizesAtBest()
  {
    const RateFit fit = FitRates(this->Result.Profile.Samples);
    if (!this->Result.Cancelled && fit.Known()) {
      this->MeasureSizes(fit.Best(), ShareOfSizesAtBest, this->Result.AtBest);
    }
  }

  void FillProfile()
  {
    StorageProfile& profile = this->Result.Profile;
    const std::string& path =
        this->Options.ExistingFiles.empty() ? this->Dir : this->Options.ExistingFiles.front();
    profile.Where = MountOf(path).value_or(Mount());
    profile.Fit = FitRates(profile.Samples);
    profile.Concurrency = profile.Fit.Known() ? profile.Fit.Best() : 0;
    const RequestCost& cost = this->Result.AtBest.Known ? this->Result.AtBest : this->Result.Alone;
    profile.Requests = cost.Known ? std::optional<StorageModel>(cost.Requests) : std::nullopt;
    profile.BlockBytes = cost.Known ? cost.BlockBytes : 0;
    profile.BestFunction = "pread";
    profile.Node = NodeClass();
    profile.Ranks = this->Comm.Size();
    profile.MeasuredAt = ProfileNow();
    profile.ExpiresAt = profile.MeasuredAt + ProfileLifetime;
    profile.Source = MeasuredSource;
    this->NoteWhatToKnow();
    this->Result.Seconds = this->Watch.Seconds();
  }

  void NoteWhatToKnow()
  {
    if (this->Result.Cancelled) {
      this->Note("The measurement was cut off.");
    }
    if (this->Result.OutOfTime) {
      this->Note("The storage is slow for the time given: a part of what was planned was left out.");
    }
    if (this->From && this->Bypass == CacheBypass::Drop) {
      this->Note(
          "The files cannot be read past this machine's cache (O_DIRECT); it was asked to forget them.");
    }
    if (this->Result.Profile.Where.Class == MountClass::Memory) {
      this->Note("This storage is memory.");
    }
    this->Note(
        fmt::format("Requests of {}, files with {} in all.", ByteText(static_cast<double>(this->Request)),
            ByteText(static_cast<double>(this->Files.TotalBytes()))));
  }

  static constexpr std::uint64_t LeastFound = 64 * KiB;

  Communicator& Comm;
  const std::string& Dir;
  const QuickProbeOptions& Options;
  const ProbeProgressCallback& Progress;
  std::mt19937 Random;  ///< the same on all ranks
  Stopwatch Watch;
  QuickProbeResult Result;
  std::unique_ptr<TestFiles> Written;
  ProbeFiles Files;
  CacheBypass Bypass = CacheBypass::Drop;
  std::unique_ptr<Source> From;
  double MostBuffers = 0;     ///< bytes for the requests of one rank
  std::uint64_t Request = 0;  ///< that N is tried with
  double GreatestAlone = 0;   ///< rate of one request at a time
  double Done = 0;            ///< of the whole, 0 .. 1
  double Elapsed = 0;         ///< seconds, of rank 0
  int Steps = 0;
  bool Vetoed = false;  ///< by the progress callback
};

}  // namespace

std::uint64_t RoomForQuickProbe(const QuickProbeOptions& options)
{
  return options.ExistingFiles.empty() ? options.TestBytes + options.TestBytes / 10 : 0;
}

QuickProbeResult RunQuickProbe(Communicator& comm, const std::string& dir, const QuickProbeOptions& options,
    const ProbeProgressCallback& progress)
{
  return QuickProbe(comm, dir, options, progress).Run();
}

}  // namespace patchio
