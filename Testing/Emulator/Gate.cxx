#include "Gate.h"

#include <algorithm>

namespace patchio::emulator {

namespace {

/// A thread is woken early if it would wake later than it should by more than this time. For shorter times,
/// waking costs more than it gains.
constexpr double Tolerance = 20e-6;

/// Longer than any sensible wait, and short enough for the arithmetic of the clock.
constexpr double LongestWait = 1e6;

}  // namespace

Gate::Gate(const Model& model) : Plan(model)
{
  this->Plan.AdvanceTo(this->Now());
}

Gate::Request::Request(Gate& gate, std::size_t bytes) : Storage(gate)
{
  const std::lock_guard<std::mutex> lock(gate.Mutex);
  this->Ticket = gate.Plan.Arrive(gate.Now(), bytes);
  gate.Requests.emplace(this->Ticket, this);
  gate.Settle();
}

Gate::Request::~Request()
{
  const std::lock_guard<std::mutex> lock(this->Storage.Mutex);
  this->Storage.Requests.erase(this->Ticket);
}

void Gate::Request::Await()
{
  Gate& gate = this->Storage;
  std::unique_lock<std::mutex> lock(gate.Mutex);
  while (!this->Served && !gate.Stopped) {
    // The first request also wakes for planned changes of the load.
    this->Until =
        gate.Plan.First() == this->Ticket ? gate.Plan.NextFinish() : gate.Plan.FinishOf(this->Ticket);
    this->Wake.wait_until(lock, gate.TimePoint(this->Until));
    gate.Plan.AdvanceTo(gate.Now());
    gate.Settle();
  }
}

void Gate::Sleep(double seconds)
{
  std::unique_lock<std::mutex> lock(this->Mutex);
  const auto until = this->TimePoint(this->Now() + std::clamp(seconds, 0.0, LongestWait));
  this->Stopping.wait_until(lock, until, [this] { return this->Stopped; });
}

void Gate::Stop()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Stopped = true;
  this->Stopping.notify_all();
  for (const auto& [ticket, request] : this->Requests) {
    request->Wake.notify_one();
  }
}

void Gate::SetLoad(int load)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Plan.SetLoad(this->Now(), load);
  this->Settle();
}

void Gate::SetModel(const Model& model)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Plan.SetModel(this->Now(), model);
  this->Settle();
}

void Gate::ResetCounters()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Plan.ResetCounters(this->Now());
  this->Settle();
}

Gate::State Gate::Look()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Plan.AdvanceTo(this->Now());
  this->Settle();
  return {this->Plan.Storage(), this->Plan.Load(), this->Plan.InFlight(), this->Plan.MostInFlight(),
      this->Plan.BusySeconds()};
}

double Gate::Now() const
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - this->Origin).count();
}

std::chrono::steady_clock::time_point Gate::TimePoint(double seconds) const
{
  const auto since = std::chrono::duration<double>(std::min(seconds, 100 * LongestWait));
  return this->Origin + std::chrono::ceil<std::chrono::steady_clock::duration>(since);
}

// Called with the lock after each step of the schedule. Each thread wakes at the finish time that was
// predicted when it went to sleep. If the first finish is now earlier, the first thread is woken to compute
// its time again, and it wakes the next one in turn.
void Gate::Settle()
{
  for (const Schedule::Finish& finish : this->Plan.TakeFinished()) {
    const auto request = this->Requests.find(finish.Request);
    if (request != this->Requests.end()) {  // after Stop(), requests end before they are served
      request->second->Served = true;
      request->second->Wake.notify_one();
    }
  }
  if (this->Plan.Idle()) {
    return;
  }
  const auto first = this->Requests.find(this->Plan.First());
  if (first != this->Requests.end() && first->second->Until > this->Plan.NextFinish() + Tolerance) {
    first->second->Wake.notify_one();
  }
}

}  // namespace patchio::emulator
