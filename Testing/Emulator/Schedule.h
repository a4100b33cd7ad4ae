// Computes the finish times of requests on the emulated storage, without a clock and without threads.
#pragma once

#include "Model.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace patchio::emulator {

/// The schedule of all requests. All requests in flight advance at one common speed, Model::Speed, which
/// changes when a request arrives or finishes and when the load NC changes. Times are seconds from any
/// origin, and must not decrease from call to call.
class Schedule
{
public:
  using Ticket = std::uint64_t;

  struct Finish
  {
    Ticket Request;
    double Time;  ///< exact finish time, which may be before the call of TakeFinished()
  };

  explicit Schedule(const Model& model);

  /// Begins a request for `bytes` bytes. Returns its ticket; tickets increase by one.
  Ticket Arrive(double now, std::size_t bytes);

  /// Sets NC >= 0, the number of requests that others keep in flight from now on. They are like own requests
  /// on average.
  void SetLoad(double now, int load);

  /// Sets the model. Requests in flight keep the finished share of their work.
  void SetModel(double now, const Model& model);

  void AdvanceTo(double now);

  /// Returns the requests that have finished since the last call, in order.
  std::vector<Finish> TakeFinished();

  /// Returns the time at which `request` will finish if no request arrives and the load stays the same. It
  /// must be in flight.
  double FinishOf(Ticket request) const;

  /// Returns the time of the next finish; infinite if there is none.
  double NextFinish() const;

  bool Idle() const { return this->Requests.empty(); }
  /// Returns the request that finishes first. There must be a request in flight, see Idle().
  Ticket First() const { return this->Queue.begin()->second; }
  int InFlight() const { return static_cast<int>(this->Requests.size()); }
  int Load() const { return this->OtherLoad; }
  const Model& Storage() const { return this->Behaviour; }

  /// The greatest number of own requests in flight, and the seconds with at least one, since the start or
  /// Reset().
  int MostInFlight() const { return this->Most; }
  double BusySeconds() const { return this->Busy; }
  void ResetCounters(double now);

private:
  struct Request
  {
    double Tag;     ///< value of Done at which the request is finished
    double Demand;  ///< bytes/s of the request at full speed
  };

  double Speed() const;
  void Progress(double until);
  void FinishFirst();

  Model Behaviour;
  double Now = -std::numeric_limits<double>::infinity();
  double Done = 0;    ///< seconds of full speed since the storage was last idle
  double Demand = 0;  ///< sum over the requests in flight
  Ticket Next = 0;
  std::map<Ticket, Request> Requests;
  std::set<std::pair<double, Ticket>> Queue;  ///< pairs (tag, ticket); the first one finishes first
  std::vector<Finish> Finished;
  int OtherLoad = 0;
  int Most = 0;
  double Busy = 0;
};

}  // namespace patchio::emulator
