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

/// Factor of terms that are not whole numbers: the sum has their thousandths.
constexpr double Unit = 1000;
/// Least number of requests in a window; the mean of fewer is unreliable.
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
    return OwnShare{static_cast<std::uint64_t>(sum[bytes]), sum[inFlight] / Unit,
        static_cast<std::uint64_t>(sum[requests])};
  };
  window.Own.All = share(BytesTerm, InFlightTerm, RequestsTerm);
  window.Own.Here = share(HereBytesTerm, HereInFlightTerm, HereRequestsTerm);
  if (sum[FetchedUnknownTerm] == 0) {
    window.Own.Fetched = static_cast<std::uint64_t>(sum[FetchedTerm]);
  }
  return window;
}

}  // namespace

ReadControl::ReadControl(Communicator& ranks, ThreadController& controller, const ReadControlOptions& options)
    : Options(options),
      Ranks(ranks),
      Controller(controller),
      OpensAt(options.FirstWindow),
      Limit(std::numeric_limits<int>::max())
{
  // The read begins with the best number so far, because only long reads gain from exploration.
  this->Divide(controller.BestSoFar(), ranks.Size());
}

/// Divides `threads` among the `ranks` that are still reading, and sets this rank's share.
void ReadControl::Divide(int threads, int ranks)
{
  if (!this->History.empty()) {
    threads = std::min(threads, GreatestStep * this->History.back().Threads);
  }
  threads = std::clamp(threads, ranks, std::max(this->Limit, ranks));
  // If some ranks have finished, this rank does not know its position among the remaining ranks, so no rank
  // gets the remainder.
  const int place = ranks == this->Ranks.Size() ? this->Ranks.Rank() : ranks - 1;
  this->OwnThreads =
      std::clamp(ThreadsFromStorage(threads, 0, ranks, place), 1, std::max(this->Options.MostOfRank, 1));
  if (this->OwnHistory.empty() || this->OwnHistory.back().Threads != this->OwnThreads) {
    this->OwnHistory.push_back({this->Watch.Seconds(), this->OwnThreads});
  }
  if (this->History.empty() || this->History.back().Threads != threads) {
    this->History.push_back({this->Watch.Seconds(), threads});
  }
}

void ReadControl::Step(const ReadMeter& meter)
{
  const double now = this->Watch.Seconds();
  this->FirstStep = this->FirstStep.value_or(now);
  if (meter.Requests() != this->RequestsSeen) {
    this->RequestsSeen = meter.Requests();
    this->LastRead = now;
  }
  if (this->Sending) {
    std::vector<double> sum;
    if (this->Ranks.EndSum(sum)) {
      this->Sending = false;
      this->ApplySum(sum);
    }
  } else if (this->Open) {
    if (this->WindowIsComplete(meter)) {
      this->SendWindow(meter);
    }
  } else if (this->Watch.Seconds() >= this->OpensAt &&
             meter.Requests() >= this->Sent.Requests + this->Settling) {
    this->Open = true;
    this->Opened = this->Now(meter);
  }
}

ReadControl::MeterValues ReadControl::Now(const ReadMeter& meter) const
{
  return {this->Watch.Seconds(), meter.BusySeconds(), meter.WorkSeconds(), meter.Bytes(), meter.Requests()};
}

/// Returns whether the window is long enough. If requests take long, the first ones to end are the fastest
/// ones, so at least half of the threads must have finished a request.
bool ReadControl::WindowIsComplete(const ReadMeter& meter) const
{
  const std::uint64_t half = static_cast<std::uint64_t>(this->OwnThreads) / 2;
  return this->Watch.Seconds() - this->Opened.Seconds >= this->Controller.WindowSeconds() &&
         meter.Requests() - this->Opened.Requests >= std::max(half, RequestsOfWindow);
}

void ReadControl::SendWindow(const ReadMeter& meter)
{
  const MeterValues now = this->Now(meter);
  std::vector<double> terms(Terms, 0);
  terms[ReadingTerm] = 1;
  // The rate of one thread times the number of threads. Bytes divided by seconds would jump with each burst
  // of requests that end together.
  const double work = now.Work - this->Opened.Work;
  const double threadsOfWork = work > 0 ? this->OwnThreads / work : 0;
  terms[RateTerm] = std::round(static_cast<double>(now.Bytes - this->Opened.Bytes) * threadsOfWork);
  terms[ThreadsTerm] = this->OwnThreads;
  terms[LoadTerm] = this->Ranks.Rank() == 0 ? std::round(this->Load * Unit) : 0;
  terms[BytesTerm] = static_cast<double>(now.Bytes - this->Sent.Bytes);
  terms[InFlightTerm] = std::round((now.Busy - this->Opened.Busy) * threadsOfWork * Unit);
  terms[RequestsTerm] = static_cast<double>(now.Requests - this->Sent.Requests);
  if (this->Options.OnMachineOfRankZero) {
    const std::optional<std::uint64_t> fetched = FetchedBytes();
    terms[HereBytesTerm] = terms[BytesTerm];
    terms[HereInFlightTerm] = terms[InFlightTerm];
    terms[HereRequestsTerm] = terms[RequestsTerm];
    terms[FetchedTerm] =
        fetched && this->FetchedThen ? static_cast<double>(*fetched - *this->FetchedThen) : 0;
    terms[FetchedUnknownTerm] = fetched && this->FetchedThen ? 0 : 1;
    this->FetchedThen = fetched;
  }
  this->Ranks.BeginSum(terms);
  this->Sent = now;
  this->Open = false;
  this->Sending = true;
}

void ReadControl::ApplySum(const std::vector<double>& sum)
{
  const int reading = static_cast<int>(sum[ReadingTerm]);
  if (reading == this->Ranks.Size()) {
    ReadWindow window = WindowOf(sum);
    window.Seconds = this->Watch.Seconds();
    window.Own.Steady = this->Settling == 0 && !this->Learnt.empty();
    this->Learnt.push_back(window);
    this->Controller.Observe(window.Rate, window.Threads);
    if (this->OnWindow) {
      this->Limit = this->OnWindow(window);
    }
  }
  if (reading > 0) {
    const int before = this->OwnThreads;
    this->Divide(this->Controller.Threads(), reading);
    const int now = this->OwnThreads;
    this->Settling = now == before ? 0 : static_cast<std::uint64_t>(std::max(now, before));
  }
}

bool ReadControl::Serve()
{
  if (!this->AllHaveRead && !this->Sending) {
    this->Ranks.BeginSum(std::vector<double>(Terms, 0));
    this->Sending = true;
  }
  std::vector<double> sum;
  if (this->Sending && this->Ranks.EndSum(sum)) {
    this->Sending = false;
    // Ranks that have finished get the result, too, because all controllers must stay in the same state for
    // the next read.
    this->ApplySum(sum);
    this->AllHaveRead = sum[ReadingTerm] == 0;
  }
  return this->AllHaveRead;
}

void ReadControl::Finish()
{
  // The wait must not keep a core busy, because other ranks need it to read. The first waits are short,
  // because ranks usually finish at about the same time.
  constexpr std::chrono::microseconds shortest(20), longest(1000);
  for (auto pause = shortest; !this->Serve(); pause = std::min(2 * pause, longest)) {
    std::this_thread::sleep_for(pause);
  }
  this->DropLateChanges();
}

/// Removes decisions made after all ranks had finished, which never took effect. All ranks have the same
/// history, so they need no communication if there are no decisions. Collective: every rank of the
/// communicator calls it.
void ReadControl::DropLateChanges()
{
  if (this->History.size() == 1) {
    return;
  }
  const auto late = std::find_if(this->History.begin() + 1, this->History.end(),
      [this](const ThreadChange& change) { return change.Seconds > this->LastRead; });
  const auto inTime = static_cast<double>(late - this->History.begin());
  this->History.resize(static_cast<std::size_t>(this->Ranks.Largest({inTime})[0]));
}

double ReadControl::MeanThreads() const
{
  const double begin = this->FirstStep.value_or(0);
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
