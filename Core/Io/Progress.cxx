#include "Io/Progress.h"

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace patchio {

namespace {

// Terms of the sum over all ranks, as whole numbers, see Communicator::BeginSum().
enum Term : std::size_t
{
  ReadingTerm,  // 1 while this rank is reading
  StopTerm,     // 1 if this rank was told to stop
  BytesTerm,
  BytesToReadTerm,
  FractionTerm,
  Terms
};

/// The fraction is sent in millionths, as a whole number.
constexpr double FractionScale = 1e6;
/// Seconds between two sums. Shorter reads need only the last sum.
constexpr double SumInterval = 0.02;

}  // namespace

SharedProgress::SharedProgress(Communicator& ranks) : Ranks(ranks.BackgroundDuplicate()), NextSum(SumInterval)
{
}

bool SharedProgress::Step(const ReadProgress& ofThisRank, bool stop)
{
  this->OfThisRank = ofThisRank;
  this->Stop = this->Stop || stop;
  if (this->Summing || this->Stop || this->Watch.Seconds() >= this->NextSum) {
    this->Exchange(true);
  }
  if (this->Ranks.Size() == 1) {
    this->TotalProgress = ofThisRank;
  }
  this->TotalProgress.Seconds = ofThisRank.Seconds;
  return !this->IsStopped;
}

bool SharedProgress::StepAfterEnd(bool stop)
{
  this->Stop = this->Stop || stop;
  if (!this->Stop) {
    this->OfThisRank.Fraction = 1;
    this->OfThisRank.Bytes = this->OfThisRank.BytesToRead;
  }
  this->TotalProgress.Seconds = this->Watch.Seconds();
  this->Exchange(false);
  return this->IsOver;
}

void SharedProgress::Exchange(bool reading)
{
  if (!this->IsOver && !this->Summing) {
    std::vector<double> terms(Terms, 0);
    terms[ReadingTerm] = reading ? 1 : 0;
    terms[StopTerm] = this->Stop ? 1 : 0;
    terms[BytesTerm] = static_cast<double>(this->OfThisRank.Bytes);
    terms[BytesToReadTerm] = static_cast<double>(this->OfThisRank.BytesToRead);
    terms[FractionTerm] = std::round(this->OfThisRank.Fraction * FractionScale);
    this->Ranks.BeginSum(terms);
    this->Summing = true;
    this->NextSum = this->Watch.Seconds() + SumInterval;
  }
  std::vector<double> sum;
  if (this->Summing && this->Ranks.TestSum(sum)) {
    this->Summing = false;
    this->IsStopped = sum[StopTerm] > 0;
    this->IsOver = this->IsStopped || sum[ReadingTerm] == 0;
    this->TotalProgress.Bytes = static_cast<std::uint64_t>(sum[BytesTerm]);
    this->TotalProgress.BytesToRead = static_cast<std::uint64_t>(sum[BytesToReadTerm]);
    this->TotalProgress.Fraction = sum[FractionTerm] / FractionScale / this->Ranks.Size();
  }
}

/// Waits a little. Ranks of a short read end almost at the same time, so the first waits only yield; longer
/// waits sleep, because other ranks need the core to read.
void SharedProgress::Pause(double waited)
{
  constexpr double yieldSeconds = 0.001;
  if (waited < yieldSeconds) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool RunUnlessStopped(Communicator& ranks, const ProgressCallback& progress,
    const std::function<void(const ProgressCallback&)>& work)
{
  if (!progress) {
    RunOnAllRanks(ranks, [&] { work({}); });
    return true;
  }
  SharedProgress together(ranks);
  RateLimiter pace(ReportInterval);
  const auto stops = [&] { return pace.TryAcquire() && !progress(together.Total().Fraction); };
  const std::string fault = CatchError([&] {
    ReadProgress ofThisRank;
    work([&](double fraction) {
      // The fraction starts again in each round of the work.
      ofThisRank.Fraction = std::max(ofThisRank.Fraction, fraction);
      return together.Step(ofThisRank, stops());
    });
  });
  together.Finish(stops);
  if (together.Stopped()) {
    return false;
  }
  RunOnAllRanks(ranks, [&] { ThrowFault(fault); });
  return true;
}

}  // namespace patchio
