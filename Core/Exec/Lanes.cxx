#include "Exec/Lanes.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
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

/// The lanes of one run. All but lane 0 are TBB tasks, each in a slot of its own: an arena for each time that
/// lanes are started, as an arena with slots to spare would wake threads that have nothing to do.
class Team
{
public:
  Team(std::size_t tasks, const LaneGoal& goal, const std::function<void(std::size_t, int)>& body);
  LanesOutcome Run(const ProgressCallback& progress);

private:
  void Grow();
  void Start(const std::vector<int>& lanes);
  void RunLane(int lane, const ProgressCallback* progress);
  bool TakeTask(int lane);
  int Goal() const { return std::min(this->Wanted.Lanes(), this->MostLanes.load()); }

  const std::size_t Tasks;
  const LaneGoal& Wanted;
  const std::function<void(std::size_t, int)>& Body;
  std::atomic<int> MostLanes;  ///< by tasks and by what the system grants
  std::atomic<std::size_t> Next{0};
  std::atomic<std::size_t> Finished{0};
  std::atomic<bool> Cancelled{false};
  std::vector<std::atomic<bool>> Works;  ///< per lane
  std::deque<tbb::task_arena> Arenas;
  std::unique_ptr<tbb::global_control> Allowance;
  int Peak = 1;
  std::mutex Mutex;
  std::condition_variable Change;
  int Started = 0;  ///< lanes besides lane 0 that have not ended; under the mutex
};

Team::Team(std::size_t tasks, const LaneGoal& goal, const std::function<void(std::size_t, int)>& body)
    : Tasks(tasks),
      Wanted(goal),
      Body(body),
      MostLanes(static_cast<int>(std::min<std::size_t>(goal.Most(), std::max<std::size_t>(tasks, 1)))),
      Works(this->MostLanes)
{
}

LanesOutcome Team::Run(const ProgressCallback& progress)
{
  this->Works[0] = true;
  this->Grow();
  this->RunLane(0, &progress);
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->Change.wait(lock, [this] { return this->Started == 0; });
  return {this->Peak, this->Cancelled, this->Finished};
}

/// Starts the lanes that the goal wants and that do not work. On the calling thread only.
void Team::Grow()
{
  std::vector<int> missing;
  const int goal = this->Next < this->Tasks ? this->Goal() : 0;
  for (int lane = 1; lane < goal; ++lane) {
    if (!this->Works[lane]) {
      missing.push_back(lane);
    }
  }
  if (missing.empty()) {
    return;
  }
  const int granted = ThreadsToHave(goal);
  if (granted < goal) {
    this->MostLanes = granted;
  }
  missing.erase(std::lower_bound(missing.begin(), missing.end(), granted), missing.end());
  if (!missing.empty()) {
    this->Start(missing);
  }
}

void Team::Start(const std::vector<int>& lanes)
{
  // TBB starts at most one thread a core unless it is allowed more.
  const int highest = lanes.back() + 1;
  this->Allowance.reset();
  this->Allowance = std::make_unique<tbb::global_control>(
      tbb::global_control::max_allowed_parallelism, std::max(highest, this->Peak) + 1);
  this->Peak = std::max(this->Peak, highest);
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Started += static_cast<int>(lanes.size());
  }
  tbb::task_arena& arena = this->Arenas.emplace_back(static_cast<int>(lanes.size()), 0);
  for (const int lane : lanes) {
    this->Works[lane] = true;
    arena.enqueue([this, lane] {
      this->RunLane(lane, nullptr);
      const std::lock_guard<std::mutex> lock(this->Mutex);
      --this->Started;
      this->Change.notify_all();
    });
  }
}

void Team::RunLane(int lane, const ProgressCallback* progress)
{
  while (!this->Cancelled && this->TakeTask(lane)) {
    const std::size_t finished = ++this->Finished;
    if (!progress) {
      continue;
    }
    if (*progress && !(*progress)(static_cast<double>(finished) / this->Tasks)) {
      this->Cancelled = true;
    }
    this->Grow();
  }
  this->Works[lane] = false;
}

/// False when the lane has nothing more to do.
bool Team::TakeTask(int lane)
{
  if (lane > 0 && lane >= this->Goal()) {
    return false;
  }
  const std::size_t task = this->Next++;
  if (task >= this->Tasks) {
    return false;
  }
  this->Body(task, lane);
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

LanesOutcome RunLanes(std::size_t tasks, const LaneGoal& goal,
    const std::function<void(std::size_t, int)>& body, const ProgressCallback& progress)
{
  return Team(tasks, goal, body).Run(progress);
}

LanesOutcome RunLanes(std::size_t tasks, int lanes, const std::function<void(std::size_t, int)>& body,
    const ProgressCallback& progress)
{
  return RunLanes(tasks, LaneGoal(lanes), body, progress);
}

}  // namespace patchio
