#include "Io/Lanes.h"

#include "Io/ThreadPool.h"
#include "Support/Stopwatch.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace patchio {

/// What the team and its lanes have in common; each of them keeps it alive.
struct LaneTeam::Shared
{
  Shared(std::size_t tasks, LaneBody body, std::function<void()> whenDone)
      : Tasks(tasks), Body(std::move(body)), WhenDone(std::move(whenDone))
  {
  }

  bool Over() const { return this->Cancelled || this->Next >= this->Tasks; }
  bool TakeTask(int lane);
  void RunLane(int lane);
  void AwaitNeed(int lane);
  void LaneEnds();

  const std::size_t Tasks;
  const LaneBody Body;
  std::function<void()> WhenDone;  ///< null once called; under the mutex
  const Stopwatch Watch;
  std::atomic<int> Wanted{0};  ///< lanes
  std::atomic<std::size_t> Next{0};
  std::atomic<std::size_t> Finished{0};
  std::atomic<bool> Cancelled{false};
  std::mutex Mutex;
  std::condition_variable Change;
  int Running = 0;        ///< threads that have not ended; under the mutex
  double EndedAfter = 0;  ///< seconds, when there were none any more; under the mutex
};

/// False when there was none.
bool LaneTeam::Shared::TakeTask(int lane)
{
  if (this->Over()) {
    return false;
  }
  const std::size_t task = this->Next++;
  if (task >= this->Tasks) {
    return false;
  }
  this->Body(task, lane);
  ++this->Finished;
  return true;
}

/// Lanes that retire wait to be needed again.
void LaneTeam::Shared::RunLane(int lane)
{
  while (!this->Over()) {
    if (lane < this->Wanted) {
      this->TakeTask(lane);
    } else {
      this->AwaitNeed(lane);
    }
  }
  this->LaneEnds();
}

void LaneTeam::Shared::AwaitNeed(int lane)
{
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->Change.wait(lock, [&] { return this->Over() || lane < this->Wanted; });
}

void LaneTeam::Shared::LaneEnds()
{
  std::function<void()> tell;
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    if (--this->Running == 0) {
      this->EndedAfter = this->Watch.Seconds();
      if (this->Finished == this->Tasks) {
        tell.swap(this->WhenDone);
      }
    }
    this->Change.notify_all();
  }
  if (tell) {
    tell();
  }
}

LaneTeam::LaneTeam(std::size_t tasks, int most, LaneBody body, std::function<void()> whenDone)
    : State(std::make_shared<Shared>(tasks, std::move(body), std::move(whenDone))),
      Most(static_cast<int>(std::min<std::size_t>(std::max(most, 1), tasks)))
{
}

LaneTeam::~LaneTeam()
{
  this->Cancel();
}

void LaneTeam::SetLanes(int lanes)
{
  Shared& shared = *this->State;
  const int wanted = std::min(lanes, this->Most);
  if (wanted != shared.Wanted) {
    const std::lock_guard<std::mutex> lock(shared.Mutex);
    shared.Wanted = wanted;
    shared.Change.notify_all();
  }
  while (this->Started < wanted && !shared.Over()) {
    {
      const std::lock_guard<std::mutex> lock(shared.Mutex);
      ++shared.Running;
    }
    if (!ThreadPool::OfProcess().Start(
            [state = this->State, lane = this->Started] { state->RunLane(lane); })) {
      this->Most = this->Started;
      this->Refused = wanted;
      shared.LaneEnds();
      return;
    }
    ++this->Started;
  }
}

bool LaneTeam::WaitFor(std::chrono::milliseconds most)
{
  std::unique_lock<std::mutex> lock(this->State->Mutex);
  return this->State->Change.wait_for(lock, most, [this] { return this->State->Running == 0; });
}

void LaneTeam::Wait()
{
  std::unique_lock<std::mutex> lock(this->State->Mutex);
  this->State->Change.wait(lock, [this] { return this->State->Running == 0; });
}

void LaneTeam::Cancel()
{
  const std::lock_guard<std::mutex> lock(this->State->Mutex);
  this->State->Cancelled = true;
  this->State->Change.notify_all();
}

bool LaneTeam::TakeTask()
{
  return this->State->TakeTask(0);
}

LanesOutcome LaneTeam::Outcome() const
{
  return {std::max(this->Started, 1), this->State->Cancelled, this->State->Finished};
}

double LaneTeam::Fraction() const
{
  const std::size_t tasks = this->State->Tasks;
  return tasks == 0 ? 1 : static_cast<double>(this->State->Finished) / static_cast<double>(tasks);
}

double LaneTeam::Seconds() const
{
  const std::lock_guard<std::mutex> lock(this->State->Mutex);
  return this->State->Running == 0 ? this->State->EndedAfter : this->State->Watch.Seconds();
}

LaneGoal::LaneGoal(int lanes, int most) : Limit(std::max(most, 1)), Wanted(std::clamp(lanes, 1, this->Limit))
{
}

void LaneGoal::Set(int lanes)
{
  this->Wanted.store(std::clamp(lanes, 1, this->Limit), std::memory_order_relaxed);
}

LanesOutcome RunLanes(std::size_t tasks, int lanes, const LaneBody& body, const ProgressCallback& progress)
{
  LaneTeam team(tasks, lanes, body);
  team.TakePart();
  team.SetLanes(lanes);
  while (team.TakeTask()) {
    if (progress && !progress(team.Fraction())) {
      team.Cancel();
    }
  }
  team.Wait();
  return team.Outcome();
}

LanesOutcome RunLanes(
    std::size_t tasks, const LaneGoal& goal, const LaneBody& body, const ProgressCallback& progress)
{
  // To start a lane and to wait for it takes longer than many a task; of a single one there is nothing to
  // adapt.
  if (tasks <= 1) {
    return RunLanes(tasks, 1, body, progress);
  }
  LaneTeam team(tasks, goal.Most(), body);
  team.SetLanes(goal.Lanes());
  if (team.Lanes() == 0) {
    return RunLanes(tasks, 1, body, progress);
  }
  while (!team.WaitFor(LookOnInterval)) {
    if (progress && !progress(team.Fraction())) {
      team.Cancel();
    }
    team.SetLanes(goal.Lanes());
  }
  if (progress && team.Fraction() > 0) {
    progress(team.Fraction());
  }
  return team.Outcome();
}

}  // namespace patchio
