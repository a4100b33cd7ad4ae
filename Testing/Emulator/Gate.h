// Lets real threads wait as long as the Schedule says.
#pragma once

#include "Schedule.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

namespace patchio::emulator {

/// Safe to use from many threads. Every waiting thread sleeps until the moment at which it is to go on;
/// nobody spins, and the lock is held only for the arithmetic.
class Gate
{
public:
  explicit Gate(const Model& model);

  /// A request that arrives when it is made; what is done until Await costs no time of its own.
  class Request
  {
  public:
    Request(Gate& gate, std::size_t bytes);
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;
    ~Request();
    /// Returns when the storage has served it; at once after Stop.
    void Await();

  private:
    friend class Gate;
    Gate& Storage;
    Schedule::Ticket Ticket;
    std::condition_variable Wake;
    double Until = 0;  ///< when it wakes by itself
    bool Served = false;
  };

  /// Waits apart from the storage's requests; returns at once after Stop.
  void Sleep(double seconds);

  /// Nobody waits any more, now or later.
  void Stop();

  void SetLoad(int load);
  void SetLoadPlan(const std::vector<std::pair<double, int>>& plan);
  void SetModel(const Model& model);
  void ResetCounters();

  struct State
  {
    Model Storage;
    int Load;  ///< NC now
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
