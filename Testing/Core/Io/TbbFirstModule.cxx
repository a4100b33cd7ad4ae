// The module that TbbFirstTest loads. Its function returns an error text, or null.
#include "Io/IoScheduler.h"

#include <tbb/global_control.h>

#include <atomic>
#include <memory>
#include <thread>

namespace patchio {
namespace {

const char* ReadAfterOthers()
{
  const auto most =
      static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)) - 1;
  if (most >= MostIoThreads) {
    return "nobody was first";
  }
  const auto open = std::make_shared<std::atomic<bool>>(false);
  const auto waiting = std::make_shared<std::atomic<int>>(0);
  IoScheduler hanging(most + 50, [open, waiting](std::size_t) {
    ++*waiting;
    while (!*open) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  hanging.SetLimit(most + 50);
  if (hanging.PeakConcurrency() != most || hanging.RefusedLimit() != most + 50) {
    return "the shortfall is not known";
  }
  while (*waiting < most) {  // the time limit of the test ends this loop if counted threads never start
    std::this_thread::yield();
  }
  std::atomic<int> done{0};
  RunTasks(100, 8, [&](std::size_t) { ++done; });
  RunTasks(
      100, 8, [&](std::size_t) { ++done; }, [](double) { return true; });
  if (done != 200) {
    return "without any thread the calling one does not read";
  }
  *open = true;
  while (!hanging.WaitFor(PollInterval)) {
  }
  return hanging.Fraction() == 1 ? nullptr : "not all was read";
}

}  // namespace
}  // namespace patchio

extern "C" const char* patchio_read_after_others()
{
  return patchio::ReadAfterOthers();
}
