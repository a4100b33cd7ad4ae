// Progress of a read: counts the requests and bytes of a rank, and shares progress and cancellation among all
// ranks.
#pragma once

#include "Base/Communicator.h"
#include "Base/Stopwatch.h"
#include "Io/IoScheduler.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace patchio {

/// Counts the work of all read tasks of a rank. Thread-safe.
class ReadMeter
{
  using Clock = std::chrono::steady_clock;

public:
  /// A request that is in flight from the construction to the destruction of this object.
  class Request
  {
  public:
    explicit Request(ReadMeter& meter, std::uint64_t bytes) : Meter(meter), Bytes(bytes), Begin(Clock::now())
    {
      const int now = ++meter.InFlight;
      int peak = meter.Peak;
      while (now > peak && !meter.Peak.compare_exchange_weak(peak, now)) {
      }
    }
    ~Request()
    {
      // Requests are counted at their end; otherwise a rate measured while requests begin would count them as
      // done.
      --this->Meter.InFlight;
      ++this->Meter.RequestCount;
      this->Meter.ByteCount += this->Bytes;
      this->Meter.Busy += (Clock::now() - this->Begin).count();
    }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

  private:
    ReadMeter& Meter;
    std::uint64_t Bytes;
    Clock::time_point Begin;
  };

  /// Measures the time of one task of the IoScheduler, including its requests and the decoding of their
  /// bytes.
  class Task
  {
  public:
    explicit Task(ReadMeter& meter) : Meter(meter), Begin(Clock::now()) {}
    ~Task() { this->Meter.Work += (Clock::now() - this->Begin).count(); }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

  private:
    ReadMeter& Meter;
    Clock::time_point Begin;
  };

  int InFlightNow() const { return this->InFlight; }
  int PeakInFlight() const { return this->Peak; }
  /// Returns the number of finished requests, successful or not.
  std::uint64_t Requests() const { return this->RequestCount; }
  /// Returns the number of bytes of the finished requests.
  std::uint64_t Bytes() const { return this->ByteCount; }
  /// Returns the total duration of the finished requests. This duration divided by the elapsed time is the
  /// mean number of requests in flight.
  double BusySeconds() const { return Seconds(this->Busy); }
  /// Returns the total duration of the finished tasks. Bytes() divided by WorkSeconds() is the rate of one
  /// task, independent of how many tasks end at once.
  double WorkSeconds() const { return Seconds(this->Work); }

private:
  static double Seconds(Clock::rep ticks)
  {
    return std::chrono::duration<double>(Clock::duration(ticks)).count();
  }

  std::atomic<int> InFlight{0};
  std::atomic<int> Peak{0};
  std::atomic<std::uint64_t> RequestCount{0};
  std::atomic<std::uint64_t> ByteCount{0};
  std::atomic<Clock::rep> Busy{0};
  std::atomic<Clock::rep> Work{0};
};

/// The progress of a read.
struct ReadProgress
{
  double Fraction = 0;            ///< finished fraction of the tasks, 0..1
  std::uint64_t Bytes = 0;        ///< bytes read from the storage so far, without requests in flight
  std::uint64_t BytesToRead = 0;  ///< bytes to read in total, without the bytes that the HDF5 library reads
  double Seconds = 0;             ///< seconds since the read began

  /// Returns the mean rate, or 0 at the beginning.
  double BytesPerSecond() const { return this->Seconds > 0 ? this->Bytes / this->Seconds : 0; }
};

/// Receives the progress many times per second, on the thread that called the read. Returns false to stop the
/// read.
using ReadProgressCallback = std::function<bool(const ReadProgress&)>;

/// Shares the progress of one read among the ranks. The waiting thread of each rank takes part in successive
/// sums over the ranks, without blocking, so that all ranks know within some tens of milliseconds if any rank
/// was told to stop. All ranks leave after the same sum: a rank that has finished its part keeps taking part
/// until all ranks have finished or any rank was told to stop.
class SharedProgress
{
public:
  /// Prepares the sums over `ranks`. Collective in the first call for `ranks`: every rank of the communicator
  /// calls it.
  explicit SharedProgress(Communicator& ranks);

  /// Reports this rank's progress, and whether this rank was told to stop. Call this method many times per
  /// second during the read. Returns false once some rank was told to stop; this rank must then stop, too.
  bool Step(const ReadProgress& ofThisRank, bool stop);
  /// Replaces Step() after this rank has ended its read, successfully or not. Does not block. Returns true
  /// once all ranks have ended or some rank was told to stop; every rank must call StepAfterEnd() until then.
  bool StepAfterEnd(bool stop);
  /// Calls StepAfterEnd() until it returns true. Calls between() many times per second, which returns whether
  /// this rank was told to stop.
  template <typename Between>
  void Finish(Between between)
  {
    const Stopwatch waiting;
    while (!this->StepAfterEnd(between())) {
      SharedProgress::Pause(waiting.Seconds());
    }
  }

  /// Returns whether some rank was told to stop. After the end the result is the same on all ranks.
  bool Stopped() const { return this->IsStopped; }
  /// Returns the latest known progress of all ranks together.
  const ReadProgress& Total() const { return this->TotalProgress; }

private:
  void Exchange(bool reading);
  static void Pause(double waited);

  Communicator& Ranks;
  ReadProgress OfThisRank, TotalProgress;
  Stopwatch Watch;
  double NextSum = 0;  ///< time of the next sum in seconds, while this rank reads
  bool Stop = false;   ///< this rank was told to stop
  bool Summing = false;
  bool IsStopped = false, IsOver = false;
};

/// Seconds between two reports of progress to the user.
constexpr double ReportInterval = 0.01;

/// Runs each rank's share of some work, and stops the work on all ranks if the user stops it on one rank.
/// `work` passes the finished fraction of the work to its argument, a callback, on the calling thread and at
/// any rate. If the callback returns false, `work` must return or throw soon.
///
/// `progress` is called about every 10 ms with the fraction that all ranks together have finished. If
/// `progress` returns false on any rank, the work ends on all ranks. If `progress` is null, which must be so
/// on all ranks, the work cannot be stopped, and the argument of `work` is null. Returns false if the work
/// was stopped, even if `work` has failed. Otherwise, if `work` fails on any rank, all ranks throw the same
/// Error. Collective: every rank of the communicator calls it.
bool RunUnlessStopped(Communicator& ranks, const ProgressCallback& progress,
    const std::function<void(const ProgressCallback&)>& work);

}  // namespace patchio
