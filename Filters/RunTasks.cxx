#include "Filters/RunTasks.h"

#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <atomic>
#include <thread>

namespace patchio::filters {

bool RunTasks(std::size_t count, const std::function<void(std::size_t)>& work, const GoesOn& goesOn)
{
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::size_t> done{0};
  tbb::task_group_context context;
  tbb::parallel_for(
      std::size_t(0), count,
      [&](std::size_t number) {
        if (context.is_group_execution_cancelled()) {
          return;
        }
        work(number);
        const double part = static_cast<double>(++done) / static_cast<double>(count);
        if (goesOn && std::this_thread::get_id() == caller && !goesOn(part)) {
          context.cancel_group_execution();
        }
      },
      context);
  return !context.is_group_execution_cancelled();
}

}  // namespace patchio::filters
