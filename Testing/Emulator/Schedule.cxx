#include "Schedule.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace patchio::emulator {

Schedule::Schedule(const Model& model) : Behaviour(model) {}

Schedule::Ticket Schedule::Arrive(double now, std::size_t bytes)
{
  this->AdvanceTo(now);
  if (this->Idle()) {
    // Resets the sums, so that rounding errors do not accumulate over millions of requests.
    this->Done = 0;
    this->Demand = 0;
  }
  const double service = this->Behaviour.Service(bytes);
  const Request request{this->Done + service, service > 0 ? static_cast<double>(bytes) / service : 0};
  const Ticket ticket = this->Next++;
  this->Requests.emplace(ticket, request);
  this->Queue.emplace(request.Tag, ticket);
  this->Demand += request.Demand;
  this->Most = std::max(this->Most, this->InFlight());
  return ticket;
}

void Schedule::SetLoad(double now, int load)
{
  this->AdvanceTo(now);
  this->OtherLoad = load;
}

void Schedule::SetModel(double now, const Model& model)
{
  this->AdvanceTo(now);
  this->Behaviour = model;
}

void Schedule::AdvanceTo(double now)
{
  assert(now >= this->Now);
  while (this->NextFinish() <= now) {
    this->FinishFirst();
  }
  this->Progress(now);
}

std::vector<Schedule::Finish> Schedule::TakeFinished()
{
  return std::exchange(this->Finished, {});
}

double Schedule::FinishOf(Ticket request) const
{
  const double missing = std::max(0.0, this->Requests.at(request).Tag - this->Done);
  return this->Now + missing / this->Speed();
}

void Schedule::ResetCounters(double now)
{
  this->AdvanceTo(now);
  this->Most = this->InFlight();
  this->Busy = 0;
}

double Schedule::Speed() const
{
  const double own = this->InFlight();
  const double all = own + this->OtherLoad;
  return this->Behaviour.Speed(all, this->Demand * (all / own));
}

double Schedule::NextFinish() const
{
  return this->Idle() ? std::numeric_limits<double>::infinity() : this->FinishOf(this->First());
}

void Schedule::Progress(double until)
{
  if (!this->Idle()) {
    this->Done += (until - this->Now) * this->Speed();
    this->Busy += until - this->Now;
  }
  this->Now = until;
}

void Schedule::FinishFirst()
{
  this->Progress(this->NextFinish());
  const auto [tag, ticket] = *this->Queue.begin();
  // Uses exactly the tag, so that rounding errors cannot keep a request from finishing.
  this->Done = std::max(this->Done, tag);
  this->Demand -= this->Requests.at(ticket).Demand;
  this->Queue.erase(this->Queue.begin());
  this->Requests.erase(ticket);
  this->Finished.push_back({ticket, this->Now});
}

}  // namespace patchio::emulator
