// RunTasks() for work that may throw.
#pragma once

#include "Base/Error.h"
#include "Base/RunOnAllRanks.h"
#include "Io/IoScheduler.h"

#include <mutex>
#include <string>

namespace patchio {

/// Carries out work(task) for all tasks, also when one has failed; then throws Error with what the first one
/// to fail has thrown.
template <typename Work>
void RunTasksOrThrow(std::size_t tasks, int limit, Work work)
{
  std::mutex lock;
  std::string fault;
  RunTasks(tasks, limit, [&](std::size_t task) {
    const std::string problem = CatchError([&] { work(task); });
    const std::lock_guard<std::mutex> guard(lock);
    fault = fault.empty() ? problem : fault;
  });
  if (!fault.empty()) {
    throw Error(fault);
  }
}

}  // namespace patchio
