// When requests finish on the emulated storage: pure arithmetic, without a clock and without threads.
#pragma once

#include "Model.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace patchio::emulator {

/// All requests in flight advance at one common speed, Model::Speed, which changes when one arrives or
/// finishes and when the load NC changes. Times are seconds from any origin; they must never go back from
/// call to call.
class Schedule
{
public:
  using Ticket = std::uint64_t;

  struct Finish
  {
    Ticket Request;
    double Time;  ///< exactly when it finished, which may be before it was asked for
  };

  explicit Schedule(const Model& model);

  /// A request for `bytes` begins. Tickets rise by one.
  Ticket Arrive(double now, std::size_t bytes);

  /// Others keep `load` (NC >= 0) requests in flight from now on; they are like our own, on average.
  void SetLoad(double now, int load);

  /// NC over time: pairs of seconds from `now` (rising, >= 0) and NC. Replaces what was planned before.
  void SetLoadPlan(double now, const std::vector<std::pair<double, int>>& plan);

  /// Requests in flight keep the share of their work that is done.
  void SetModel(double now, const Model& model);

  void AdvanceTo(double now);

  /// What has finished since the last call, in order.
  std::vector<Finish> TakeFinished();

  /// When this request finishes if nothing arrives and the load stays; it must be in flight.
  double FinishOf(Ticket request) const;

  /// When something happens next by itself: a finish or a planned change of the load. Infinite if nothing.
  double NextEvent() const;

  bool Idle() const { return this->Requests.empty(); }
  /// The request that finishes first; not when Idle().
  Ticket First() const { return this->Queue.begin()->second; }
  int InFlight() const { return static_cast<int>(this->Requests.size()); }
  int Load() const { return this->OtherLoad; }
  const Model& Storage() const { return this->Behaviour; }

  /// The most own requests in flight at once, and the seconds with at least one, since the start or Reset.
  int MostInFlight() const { return this->Most; }
  double BusySeconds() const { return this->Busy; }
  void ResetCounters(double now);

private:
  struct Request
  {
    double Tag;     ///< the progress at which it is finished
    double Demand;  ///< bytes a second that it wants
  };

  double Speed() const;
  double NextFinish() const;
  double NextChange() const;
  void Progress(double until);
  void FinishFirst();
  void ChangeLoad();

  Model Behaviour;
  double Now = -std::numeric_limits<double>::infinity();
  double Done = 0;    ///< seconds of full speed since the storage was last idle
  double Demand = 0;  ///< the sum over the requests in flight
  Ticket Next = 0;
  std::map<Ticket, Request> Requests;
  std::set<std::pair<double, Ticket>> Queue;  ///< (tag, ticket), the first to finish in front
  std::vector<Finish> Finished;
  int OtherLoad = 0;
  std::vector<std::pair<double, int>> LoadPlan;  ///< absolute times, the next one in front
  int Most = 0;
  double Busy = 0;
};

}  // namespace patchio::emulator
