#include "Exec/Lanes.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace patchio {
namespace {

/// How many of `wanted` threads the system lets this process start now. TBB starts its own where no exception
/// can be caught, so a limit on threads or memory has to be found out before.
int ThreadsToHave(int wanted)
{
  static std::atomic<int> proven{1};
  if (wanted <= proven) {
    return wanted;
  }
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  try {
    while (static_cast<int>(threads.size()) < wanted) {
      threads.emplace_back([released] { released.wait(); });
    }
  } catch (const std::system_error&) {
    // As many as there are now, less a reserve for what else starts threads at the same time.
    wanted = std::max<int>(1, static_cast<int>(threads.size()) / 2);
  }
  release.set_value();
  for (std::thread& thread : threads) {
    thread.join();
  }
  proven = std::max<int>(proven, wanted);
  return wanted;
}

/// The lanes of one run. All but the calling thread are TBB tasks, each in a slot of its own: an arena for
/// each time that lanes are started, as an arena with slots to spare would wake threads that have nothing to
/// do. Lanes that retire wait inside their task to be needed again: TBB does not always give a thread back at
/// once to a task that comes after another has ended.
class Team
{
public:
  Team(std::size_t tasks, const LaneGoal& goal, const std::function<void(std::size_t, int)>& body);
  /// Lane 0 is the calling thread.
  LanesOutcome Work(const ProgressCallback& progress);
  /// The calling thread only looks on.
  LanesOutcome Watch(const ProgressCallback& progress);

private:
  void Report(const ProgressCallback& progress);
  void Grow();
  void Start(int first, int end);
  void RunLane(int lane);
  bool TakeTask(int lane);
  void AwaitNeed(int lane);
  bool Over() const { return this->Cancelled || this->Next >= this->Tasks; }
  int Goal() const { return std::min(this->Wanted.Lanes(), this->MostLanes.load()); }

  const std::size_t Tasks;
  const LaneGoal& Wanted;
  const std::function<void(std::size_t, int)>& Body;
  std::atomic<int> MostLanes;  ///< by tasks and by what the system grants
  std::atomic<std::size_t> Next{0};
  std::atomic<std::size_t> Finished{0};
  std::atomic<bool> Cancelled{false};
  std::deque<tbb::task_arena> Arenas;
  std::unique_ptr<tbb::global_control> Allowance;
  int Lanes = 0;  ///< that there are, at work or waiting; on the calling thread only
  std::mutex Mutex;
  std::condition_variable Change;
  int Started = 0;  ///< lanes besides the calling thread that have not ended; under the mutex
};

Team::Team(std::size_t tasks, const LaneGoal& goal, const std::function<void(std::size_t, int)>& body)
    : Tasks(tasks),
      Wanted(goal),
      Body(body),
      MostLanes(static_cast<int>(std::min<std::size_t>(goal.Most(), std::max<std::size_t>(tasks, 1))))
{
}

LanesOutcome Team::Work(const ProgressCallback& progress)
{
  this->Lanes = 1;
  this->Grow();
  while (!this->Cancelled && this->TakeTask(0)) {
    this->Report(progress);
  }
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->Change.wait(lock, [this] { return this->Started == 0; });
  return {this->Lanes, this->Cancelled, this->Finished};
}

LanesOutcome Team::Watch(const ProgressCallback& progress)
{
  constexpr std::chrono::milliseconds interval(10);
  this->Grow();
  std::unique_lock<std::mutex> lock(this->Mutex);
  while (!this->Change.wait_for(lock, interval, [this] { return this->Started == 0; })) {
    lock.unlock();
    this->Report(progress);
    this->Grow();
    lock.lock();
    this->Change.notify_all();  // lanes that wait look whether they are needed, or all is over
  }
  lock.unlock();
  if (this->Finished > 0) {
    this->Report(progress);
  }
  return {this->Lanes, this->Cancelled, this->Finished};
}

void Team::Report(const ProgressCallback& progress)
{
  if (progress && !progress(static_cast<double>(this->Finished) / static_cast<double>(this->Tasks))) {
    this->Cancelled = true;
  }
}

/// Starts the lanes that the goal wants and that there are not yet.
void Team::Grow()
{
  int goal = this->Over() ? 0 : this->Goal();
  if (goal <= this->Lanes) {
    return;
  }
  const int granted = ThreadsToHave(goal);
  if (granted < goal) {
    goal = std::max(granted, this->Lanes);
    this->MostLanes = goal;
  }
  if (goal > this->Lanes) {
    this->Start(this->Lanes, goal);
    this->Lanes = goal;
  }
}

void Team::Start(int first, int end)
{
  // TBB starts at most one thread a core unless it is allowed more. Of several allowances the least counts.
  this->Allowance.reset();
  this->Allowance =
      std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, end + 1);
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Started += end - first;
  }
  tbb::task_arena& arena = this->Arenas.emplace_back(end - first, 0);
  for (int lane = first; lane < end; ++lane) {
    arena.enqueue([this, lane] { this->RunLane(lane); });
  }
}

void Team::RunLane(int lane)
{
  while (!this->Over()) {
    if (lane < this->Goal()) {
      this->TakeTask(lane);
    } else {
      this->AwaitNeed(lane);
    }
  }
  const std::lock_guard<std::mutex> lock(this->Mutex);
  --this->Started;
  this->Change.notify_all();
}

void Team::AwaitNeed(int lane)
{
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->Change.wait(lock, [&] { return this->Over() || lane < this->Goal(); });
}

/// False when there was none.
bool Team::TakeTask(int lane)
{
  const std::size_t task = this->Next++;
  if (task >= this->Tasks) {
    return false;
  }
  this->Body(task, lane);
  ++this->Finished;
  return true;
}

}  // namespace

LaneGoal::LaneGoal(int lanes, int most) : Limit(std::max(most, 1)), Wanted(std::clamp(lanes, 1, this->Limit))
{
}

void LaneGoal::Set(int lanes)
{
  this->Wanted.store(std::clamp(lanes, 1, this->Limit), std::memory_order_relaxed);
}

LanesOutcome RunLanes(std::size_t tasks, int lanes, const std::function<void(std::size_t, int)>& body,
    const ProgressCallback& progress)
{
  const LaneGoal goal(lanes);
  return Team(tasks, goal, body).Work(progress);
}

LanesOutcome RunLanes(std::size_t tasks, const LaneGoal& goal,
    const std::function<void(std::size_t, int)>& body, const ProgressCallback& progress)
{
  // To start a lane and to wait for it takes longer than many a task; of a single one there is nothing to
  // adapt.
  if (tasks <= 1 || ThreadsToHave(2) < 2) {
    return RunLanes(tasks, 1, body, progress);
  }
  return Team(tasks, goal, body).Watch(progress);
}

}  // namespace patchio
