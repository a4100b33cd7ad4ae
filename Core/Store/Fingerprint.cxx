#include "Store/Fingerprint.h"

#include "Io/IoScheduler.h"

#include <sys/stat.h>
#include <algorithm>
#include <ctime>

namespace patchio {
namespace {

std::int64_t Nanoseconds(const timespec& time)
{
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::optional<FileState> StateOf(const std::string& path, bool acceptsAnyType)
{
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !(acceptsAnyType || S_ISREG(status.st_mode))) {
    return std::nullopt;
  }
  FileState state;
  state.Print.Size = static_cast<std::uint64_t>(status.st_size);
  state.Print.ModificationTime = Nanoseconds(status.st_mtim);
  state.Print.Inode = status.st_ino;
  state.ChangeTime = std::max(state.Print.ModificationTime, Nanoseconds(status.st_ctim));
  return state;
}

std::vector<std::optional<FileState>> StatesOf(const std::vector<std::string>& paths, int threads)
{
  // A task with fewer paths would end before another thread has started.
  constexpr std::size_t taskPaths = 64;
  std::vector<std::optional<FileState>> states(paths.size());
  RunTasks((paths.size() + taskPaths - 1) / taskPaths, threads, [&](std::size_t task) {
    const std::size_t end = std::min(paths.size(), (task + 1) * taskPaths);
    for (std::size_t i = task * taskPaths; i < end; ++i) {
      states[i] = StateOf(paths[i]);
    }
  });
  return states;
}

Fingerprint TrustedFingerprint(const std::optional<FileState>& state, std::int64_t now, double settleSeconds)
{
  const auto settle = static_cast<std::int64_t>(settleSeconds * 1e9);
  return state && state->ChangeTime < now - settle ? state->Print
                                                   : Fingerprint{~std::uint64_t(0), -1, ~std::uint64_t(0)};
}

std::int64_t NowInNanoseconds()
{
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now);
}

}  // namespace patchio
