#include "Tuning/ReadControl.h"

#include "Plan/ThreadBudget.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

namespace patchio {
namespace {

// Terms of the sum over all ranks, as whole numbers, see Communicator::BeginSum().
enum Term : std::size_t
{
  ReadingTerm,  // 1 while this rank is reading
  RateTerm,     // rate of the window in bytes per second
  ThreadsTerm,
  LoadTerm,  // from rank 0 only
  // Since the previous window; numbers in flight are means:
  BytesTerm,
  InFlightTerm,
  RequestsTerm,
  HereBytesTerm,  // from ranks on the machine of rank 0 only, as the next terms
  HereInFlightTerm,
  HereRequestsTerm,
  FetchedTerm,
  FetchedUnknownTerm,  // number of these ranks without FetchedBytes()
  Terms
};

/// Factor of terms that are not whole numbers: the sum counts thousandths.
constexpr double Unit = 1000;
/// Least number of requests in a window; the mean of fewer requests is unreliable.
constexpr std::uint64_t RequestsOfWindow = 8;
/// Greatest factor by which N may grow at once: beyond N*, requests take longer and longer, so trying a large
/// N is expensive.
constexpr int GreatestStep = 2;

ReadWindow WindowOf(const std::vector<double>& sum)
{
  ReadWindow window;
  window.Rate = sum[RateTerm];
  window.Threads = static_cast<int>(sum[ThreadsTerm]);
  window.Load = sum[LoadTerm] / Unit;
  const auto share = [&](Term bytes, Term inFlight, Term requests) {
    return OwnReadTotals{static_cast<std::uint64_t>(sum[bytes]), sum[inFlight] / Unit,
        static_cast<std::uint64_t>(sum[requests])};
  };
  window.Reads.AllRanks = share(BytesTerm, InFlightTerm, RequestsTerm);
  window.Reads.ThisMachine = share(HereBytesTerm, HereInFlightTerm, HereRequestsTerm);
  if (sum[FetchedUnknownTerm] == 0) {
    window.Reads.Fetched = static_cast<std::uint64_t>(sum[FetchedTerm]);
  }
  return window;
}

}  // namespace

ReadControl::ReadControl(Communicator& ranks, ThreadController& controller, const ReadControlOptions& options)
    : Options(options),
      Ranks(ranks),
      Controller(controller),
      OpenTime(options.FirstWindow),
      ThreadLimit(std::numeric_limits<int>::max())
{
  // The read begins with the best number so far, because only long reads gain from exploration.
  this->DivideThreads(controller.BestSoFar(), ranks.Size());
}

/// Limits `threads`, divides the result among the `rankCount` ranks that are still reading, and sets this
/// rank's share.
void ReadControl::DivideThreads(int threads, int rankCount)
{
  if (!this->History.empty()) {
    threads = std::min(threads, GreatestStep * this->History.back().Threads);
  }
  threads = std::clamp(threads, rankCount, std::max(this->ThreadLimit, rankCount));
  // If some ranks have finished, this rank does not know its position among the remaining ranks, so no rank
  // gets the remainder.
  const int place = rankCount == this->Ranks.Size() ? this->Ranks.Rank() : rankCount - 1;
  this->OwnThreads = std::clamp(
      ThreadsFromStorage(threads, 0, rankCount, place), 1, std::max(this->Options.MostThreadsOfRank, 1));
  if (this->OwnHistory.empty() || this->OwnHistory.back().Threads != this->OwnThreads) {
    this->OwnHistory.push_back({this->Watch.Seconds(), this->OwnThreads});
  }
  if (this->History.empty() || this->History.back().Threads != threads) {
    this->History.push_back({this->Watch.Seconds(), threads});
  }
}

void ReadControl::Update(const ReadMeter& meter)
{
  const double now = this->Watch.Seconds();
  this->FirstUpdate = this->FirstUpdate.value_or(now);
  if (meter.Requests() != this->RequestsSeen) {
    this->RequestsSeen = meter.Requests();
    this->LastRead = now;
  }
  if (this->IsSending) {
    std::vector<double> sum;
    if (this->Ranks.TestSum(sum)) {
      this->IsSending = false;
      this->ApplySum(sum);
    }
  } else if (this->IsOpen) {
    if (this->IsWindowComplete(meter)) {
      this->SendWindow(meter);
    }
  } else if (this->Watch.Seconds() >= this->OpenTime &&
             meter.Requests() >= this->PreviousEnd.Requests + this->SettlingRequests) {
    this->IsOpen = true;
    this->WindowBegin = this->ValuesOf(meter);
  }
}

ReadControl::MeterValues ReadControl::ValuesOf(const ReadMeter& meter) const
{
  return {this->Watch.Seconds(), meter.BusySeconds(), meter.WorkSeconds(), meter.Bytes(), meter.Requests()};
}

/// Returns whether the window is long enough. If requests take long, the first requests to end are the
/// fastest requests, so the window needs at least half as many finished requests as threads, and
/// RequestsOfWindow.
bool ReadControl::IsWindowComplete(const ReadMeter& meter) const
{
  const std::uint64_t half = static_cast<std::uint64_t>(this->OwnThreads) / 2;
  return this->Watch.Seconds() - this->WindowBegin.Seconds >= this->Controller.WindowSeconds() &&
         meter.Requests() - this->WindowBegin.Requests >= std::max(half, RequestsOfWindow);
}

void ReadControl::SendWindow(const ReadMeter& meter)
{
  const MeterValues now = this->ValuesOf(meter);
  std::vector<double> terms(Terms, 0);
  terms[ReadingTerm] = 1;
  // The rate of one thread times the number of threads. Bytes divided by seconds would jump with each burst
  // of requests that end together.
  const double work = now.Work - this->WindowBegin.Work;
  const double threadsOfWork = work > 0 ? this->OwnThreads / work : 0;
  terms[RateTerm] = std::round(static_cast<double>(now.Bytes - this->WindowBegin.Bytes) * threadsOfWork);
  terms[ThreadsTerm] = this->OwnThreads;
  terms[LoadTerm] = this->Ranks.Rank() == 0 ? std::round(this->Load * Unit) : 0;
  terms[BytesTerm] = static_cast<double>(now.Bytes - this->PreviousEnd.Bytes);
  terms[InFlightTerm] = std::round((now.Busy - this->WindowBegin.Busy) * threadsOfWork * Unit);
  terms[RequestsTerm] = static_cast<double>(now.Requests - this->PreviousEnd.Requests);
  if (this->Options.OnMachineOfRankZero) {
    const std::optional<std::uint64_t> fetched = FetchedBytes();
    terms[HereBytesTerm] = terms[BytesTerm];
    terms[HereInFlightTerm] = terms[InFlightTerm];
    terms[HereRequestsTerm] = terms[RequestsTerm];
    terms[FetchedTerm] =
        fetched && this->PreviousFetched ? static_cast<double>(*fetched - *this->PreviousFetched) : 0;
    terms[FetchedUnknownTerm] = fetched && this->PreviousFetched ? 0 : 1;
    this->PreviousFetched = fetched;
  }
  this->Ranks.BeginSum(terms);
  this->PreviousEnd = now;
  this->IsOpen = false;
  this->IsSending = true;
}

void ReadControl::ApplySum(const std::vector<double>& sum)
{
  const int reading = static_cast<int>(sum[ReadingTerm]);
  if (reading == this->Ranks.Size()) {
    ReadWindow window = WindowOf(sum);
    window.Seconds = this->Watch.Seconds();
    window.Reads.Steady = this->SettlingRequests == 0 && !this->ObservedWindows.empty();
    this->ObservedWindows.push_back(window);
    this->Controller.Observe(window.Rate, window.Threads);
    if (this->OnWindow) {
      this->ThreadLimit = this->OnWindow(window);
    }
  }
  if (reading > 0) {
    const int before = this->OwnThreads;
    this->DivideThreads(this->Controller.Threads(), reading);
    const int now = this->OwnThreads;
    this->SettlingRequests = now == before ? 0 : static_cast<std::uint64_t>(std::max(now, before));
  }
}

bool ReadControl::ServeOtherRanks()
{
  if (!this->AllFinished && !this->IsSending) {
    this->Ranks.BeginSum(std::vector<double>(Terms, 0));
    this->IsSending = true;
  }
  std::vector<double> sum;
  if (this->IsSending && this->Ranks.TestSum(sum)) {
    this->IsSending = false;
    // Ranks that have finished get the result, too, because all controllers must stay in the same state for
    // the next read.
    this->ApplySum(sum);
    this->AllFinished = sum[ReadingTerm] == 0;
  }
  return this->AllFinished;
}

void ReadControl::Finish()
{
  // The wait must not keep a core busy, because other ranks need it to read. The first waits are short,
  // because ranks usually finish at about the same time.
  constexpr std::chrono::microseconds shortest(20), longest(1000);
  for (auto pause = shortest; !this->ServeOtherRanks(); pause = std::min(2 * pause, longest)) {
    std::this_thread::sleep_for(pause);
  }
  this->DropLateChanges();
}

/// Removes decisions made after all ranks had finished, which never took effect. All ranks have the same
/// history, so the ranks need no communication if the history has no decisions. Collective: every rank of the
/// communicator calls it.
void ReadControl::DropLateChanges()
{
  if (this->History.size() == 1) {
    return;
  }
  const auto late = std::find_if(this->History.begin() + 1, this->History.end(),
      [this](const ThreadChange& change) { return change.Seconds > this->LastRead; });
  const auto inTime = static_cast<double>(late - this->History.begin());
  this->History.resize(static_cast<std::size_t>(this->Ranks.Max({inTime})[0]));
}

double ReadControl::MeanThreads() const
{
  const double begin = this->FirstUpdate.value_or(0);
  double sum = 0;
  for (std::size_t i = 0; i < this->OwnHistory.size(); ++i) {
    const double end = i + 1 < this->OwnHistory.size() ? this->OwnHistory[i + 1].Seconds : this->LastRead;
    const double from = std::max(this->OwnHistory[i].Seconds, begin);
    sum += this->OwnHistory[i].Threads * std::max(0.0, std::min(end, this->LastRead) - from);
  }
  // A read that ends at once keeps its initial number of threads.
  return this->LastRead > begin ? sum / (this->LastRead - begin) : this->OwnHistory.front().Threads;
}

}  // namespace patchio
