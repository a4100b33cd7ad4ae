#include "Exec/Lanes.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace patchio {
namespace {

/// What the lanes share.
struct Queue
{
  std::size_t Tasks;
  std::atomic<std::size_t> Next{0};
  std::atomic<std::size_t> Finished{0};
  std::atomic<bool> Cancelled{false};
};

void RunLane(Queue& queue, int lane, const std::function<void(std::size_t, int)>& body,
    const ProgressCallback* progress)
{
  while (!queue.Cancelled) {
    const std::size_t task = queue.Next++;
    if (task >= queue.Tasks) {
      return;
    }
    body(task, lane);
    const std::size_t finished = ++queue.Finished;
    if (progress && *progress && !(*progress)(static_cast<double>(finished) / queue.Tasks)) {
      queue.Cancelled = true;
    }
  }
}

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

}  // namespace

LanesOutcome RunLanes(std::size_t tasks, int lanes, const std::function<void(std::size_t, int)>& body,
    const ProgressCallback& progress)
{
  Queue queue{tasks};
  lanes = static_cast<int>(std::min<std::size_t>(std::max(lanes, 1), std::max<std::size_t>(tasks, 1)));
  lanes = ThreadsToHave(lanes);
  const std::thread::id caller = std::this_thread::get_id();
  const auto runLane = [&](int lane) {
    RunLane(queue, lane, body, std::this_thread::get_id() == caller ? &progress : nullptr);
  };
  if (lanes == 1) {
    runLane(0);
  } else {
    // TBB starts at most one thread a core unless it is allowed more.
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, lanes);
    tbb::task_arena arena(lanes);
    arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<int>(0, lanes, 1),
          [&](const tbb::blocked_range<int>& range) {
            for (int lane = range.begin(); lane < range.end(); ++lane) {
              runLane(lane);
            }
          },
          tbb::simple_partitioner());
    });
  }
  return {lanes, queue.Cancelled, queue.Finished};
}

}  // namespace patchio
