// Counts what all read tasks of a rank really do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace patchio {

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

}  // namespace patchio
