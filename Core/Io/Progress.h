// Counts what read tasks do, and tells all ranks how far a read is and whether it is stopped.
#pragma once

#include "Base/Communicator.h"
#include "Base/Stopwatch.h"
#include "Io/IoScheduler.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace patchio {

/// Counts what all read tasks of a rank really do.
class ReadMeter
{
  using Clock = std::chrono::steady_clock;

public:
  /// Marks one request in flight for its lifetime.
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
      // Counted at the end: a rate taken while more requests start must not take them for done.
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

  /// Marks a read task, its requests and what is made of their bytes, for its lifetime.
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
  /// Requests that have ended, well or badly, and their bytes.
  std::uint64_t Requests() const { return this->RequestCount; }
  std::uint64_t Bytes() const { return this->ByteCount; }
  /// What the requests that have ended took, all together; over the time of the clock, how many were in
  /// flight.
  double BusySeconds() const { return Seconds(this->Busy); }
  /// What the tasks that have ended took, all together. Bytes over it are what one task reads in a second,
  /// however many tasks end at once.
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

/// How far a read is.
struct ReadProgress
{
  double Fraction = 0;            ///< 0..1, of the tasks
  std::uint64_t Bytes = 0;        ///< read from the storage so far; those of requests in flight do not count
  std::uint64_t BytesToRead = 0;  ///< in all; what the HDF5 library reads does not count
  double Seconds = 0;             ///< since the read began

  /// 0 while nothing has come.
  double BytesPerSecond() const { return this->Seconds > 0 ? this->Bytes / this->Seconds : 0; }
};

/// Called many times a second on the thread that reads. Returning false stops the read.
using ReadProgressCallback = std::function<bool(const ReadProgress&)>;

/// The progress of one read. The thread of each rank that looks on adds to sums over the ranks that nobody
/// waits for, one after another, so that all know within some tens of milliseconds when one was told to stop.
/// All ranks leave after the same sum: one that has read its part stays, still looking on, until all have, or
/// somebody was told to stop.
class SharedProgress
{
public:
  /// Collective the first time for `ranks`.
  explicit SharedProgress(Communicator& ranks);

  /// While this rank reads, many times a second: where it is, and whether it was told to stop. False once
  /// some rank was; then this one stops too.
  bool Step(const ReadProgress& mine, bool stop);
  /// In place of Step(), once this rank has ended its read, whatever the outcome. True once all ranks have,
  /// or some was told to stop. Every rank has to come here and to go on until then; never waits.
  bool Ended(bool stop);
  /// The same, waiting; `between` is called many times a second and says whether this rank was told to stop.
  template <typename Between>
  void Finish(Between between)
  {
    const Stopwatch waiting;
    while (!this->Ended(between())) {
      SharedProgress::Pause(waiting.Seconds());
    }
  }

  /// Some rank was told to stop: the same on all ranks after the end.
  bool Stopped() const { return this->AnyStops; }
  /// How far all ranks together are, as last known.
  const ReadProgress& OfAll() const { return this->All; }

private:
  void Exchange(bool reading);
  static void Pause(double waited);

  Communicator& Ranks;
  ReadProgress Mine, All;
  Stopwatch Watch;
  double NextSum = 0;  ///< seconds: none begins before while this rank reads
  bool Stop = false;   ///< this rank was told to
  bool Summing = false;
  bool AnyStops = false, Over = false;
};

/// Seconds between two calls of what is told to users.
constexpr double TellInterval = 0.01;

/// Collective. Each rank carries out its part of some work. `work` tells how far it is, on the thread that it
/// is called on, as often as it likes; where the answer is false it ends soon, in whatever way.
///
/// progress: called about every 10 ms with how far all ranks together are. When it says false on any rank,
/// all end. Null, on all ranks or none: nobody can stop the work, which gets a null itself. Result: false
/// when somebody has stopped it. Throws Error, the same on all ranks, when something else goes wrong on any.
bool RunUnlessStopped(Communicator& ranks, const ProgressCallback& progress,
    const std::function<void(const ProgressCallback&)>& work);

}  // namespace patchio
