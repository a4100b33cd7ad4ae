#include "Probe/StorageMeter.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace patchio::probe {
namespace {

constexpr double MiB = 1 << 20;
constexpr int TimesOfRank = 32;  ///< quantiles of the times of requests that a rank tells the others

/// How much longer than planned a measurement may take, and the whole.
constexpr double MostOfStep = 3;
constexpr double MostOfAll = 1.5;
constexpr double LeastBound = 0.3;  ///< seconds

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

}  // namespace

StorageMeter::StorageMeter(Communicator& comm, const std::string& dir, const QuickProbeOptions& options,
    const ProbeProgressCallback& progress, const std::vector<RateSample>& samples)
    : Comm(comm), Dir(dir), Options(options), Progress(progress), Samples(samples)
{
}

/// Collective: whether somebody wants to end it.
bool StorageMeter::AnyCancels(bool mine)
{
  const bool cancel = mine || this->Vetoed || (this->Options.Cancel && *this->Options.Cancel);
  const std::vector<double> all =
      this->Comm.AllGather(std::vector<double>{cancel ? 1.0 : 0.0, this->Watch.Seconds()});
  this->Elapsed = all[1];  // rank 0's, so that all come to the same decisions
  for (std::size_t i = 0; i < all.size(); i += 2) {
    this->IsCancelled = this->IsCancelled || all[i] > 0;
  }
  return this->IsCancelled;
}

void StorageMeter::Tell(const std::string& doing)
{
  if (!this->Progress || this->Comm.Rank() != 0) {
    return;
  }
  ProbeProgress progress;
  progress.Fraction = std::min(this->Done, 1.0);
  // What has been seen so far tells how much slower than planned this storage is.
  constexpr double enough = 0.2;
  const double planned = this->Options.Seconds * (1 - progress.Fraction);
  const double seen = this->Done > 0 ? this->Watch.Seconds() / this->Done * (1 - progress.Fraction) : planned;
  progress.SecondsLeft = this->Done < enough ? planned : seen;
  progress.Doing = doing;
  progress.Samples = &this->Samples;
  this->Vetoed = this->Vetoed || !this->Progress(progress);
}

void StorageMeter::Prepare(double share)
{
  if (this->Options.ExistingFiles.empty()) {
    this->Tell(
        fmt::format("writing {} of test files", ByteText(static_cast<double>(this->Options.TestBytes))));
    this->Written = std::make_unique<TestFiles>(this->Comm, this->Dir, this->Options.TestBytes,
        share * this->Options.Seconds, this->Options.Cancel, this->Options.Announce);
    this->Read = this->Written->Files();
  } else {
    RunOnAllRanks(this->Comm, [this] { this->Read = FindProbeFiles(this->Options.ExistingFiles); });
  }
  this->Done += share;
  if (!this->AnyCancels(false)) {
    this->AgreeOnAccess();
  }
}

/// Collective. How files are read, and how much memory there is for requests: the same for all ranks.
void StorageMeter::AgreeOnAccess()
{
  double direct = 0;
  RunOnAllRanks(this->Comm, [&] { direct = BypassFor(this->Read) == CacheBypass::Direct ? 1 : 0; });
  const std::vector<double> all = this->Comm.AllGather(
      std::vector<double>{direct, static_cast<double>(AvailableMemory()) / (4.0 * this->Comm.Size())});
  this->MostBuffers = 1024.0 * MiB;
  this->Bypass = CacheBypass::Direct;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    this->Bypass = all[i] > 0 ? this->Bypass : CacheBypass::Drop;
    this->MostBuffers = std::min(this->MostBuffers, all[i + 1]);
  }
  RunOnAllRanks(this->Comm, [this] { this->From = MakeUncachedSource(this->Read, this->Bypass); });
}

bool StorageMeter::Fits(int concurrency, std::uint64_t bytes) const
{
  constexpr std::uint64_t leastBlocks = 4;
  const double threads = ThreadsOf(concurrency, this->Comm.Size(), 0);
  return threads * static_cast<double>(bytes) <= this->MostBuffers &&
         ProbeBlocks(this->Read.Bytes, bytes).Count() >= leastBlocks;
}

bool StorageMeter::Measure(const Step& step, StepResult& result)
{
  this->Tell(step.Doing);
  if (this->Bypass == CacheBypass::Drop) {
    DropCaches(this->Read);
  }
  if (this->AnyCancels(false)) {
    return false;
  }
  const ProbeBlocks blocks(this->Read.Bytes, step.Bytes);
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

double StorageMeter::BoundOf(double share) const
{
  return std::max(MostOfStep * share * this->Options.Seconds, LeastBound);
}

MeterSettings StorageMeter::SettingsOf(const Step& step)
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

void StorageMeter::AddRanks(const MeteredRate& mine, StepResult& result)
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

bool StorageMeter::IsOutOfTime() const
{
  return this->Elapsed > MostOfAll * this->Options.Seconds;
}

double StorageMeter::FastestReread()
{
  double again = 0;
  RunOnAllRanks(this->Comm, [&] { again = RereadRate(this->Read); });
  const std::vector<double> all = this->Comm.AllGather(std::vector<double>{again});
  return *std::max_element(all.begin(), all.end());
}

}  // namespace patchio::probe
