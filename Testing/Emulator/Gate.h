// Makes real threads wait until their requests finish in the Schedule.
#pragma once

#include "Schedule.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

namespace patchio::emulator {

/// A schedule with a clock. Thread-safe. Each waiting thread sleeps until its request finishes, without
/// spinning. The lock is held only for the arithmetic.
class Gate
{
public:
  explicit Gate(const Model& model);

  /// A request that arrives in the constructor. Work before Await() runs in parallel with the request.
  class Request
  {
  public:
    Request(Gate& gate, std::size_t bytes);
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    ~Request();
    /// Returns when the storage has served the request, and at once after Stop().
    void Await();

  private:
    friend class Gate;
    Gate& Storage;
    Schedule::Ticket Ticket;
    std::condition_variable Wake;
    double Until = 0;  ///< time at which the thread wakes without a notification
    bool Served = false;
  };

  /// Waits independently of requests. Returns at once after Stop().
  void Sleep(double seconds);

  /// Ends all waits, now and later.
  void Stop();

  void SetLoad(int load);
  void SetModel(const Model& model);
  void ResetCounters();

  struct State
  {
    Model Storage;
    int Load;  ///< the current NC
    int InFlight;
    int MostInFlight;
    double BusySeconds;
  };
  State Look();

private:
  double Now() const;
  std::chrono::steady_clock::time_point TimePoint(double seconds) const;
  void Settle();

  const std::chrono::steady_clock::time_point Origin = std::chrono::steady_clock::now();
  std::mutex Mutex;
  Schedule Plan;
  std::map<Schedule::Ticket, Request*> Requests;
  std::condition_variable Stopping;
  bool Stopped = false;
};

}  // namespace patchio::emulator
