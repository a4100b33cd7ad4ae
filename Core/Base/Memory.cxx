#include "Base/Memory.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <sstream>

namespace patchio {

namespace {

constexpr std::uint64_t Unknown = std::numeric_limits<std::uint64_t>::max();

/// Returns the number in the first line of a file that begins with `word` and a number, or nothing if there
/// is no such line.
std::optional<std::uint64_t> NumberAfter(const std::string& word, const std::string& path)
{
  std::ifstream file(path);
  std::string line, key;
  while (std::getline(file, line)) {
    std::istringstream parts(line);
    std::uint64_t number = 0;
    if (parts >> key >> number && key == word) {
      return number;
    }
  }
  return {};
}

/// Returns the number at the beginning of a file, or nothing if the file is missing or begins with another
/// text, such as "max".
std::optional<std::uint64_t> NumberInFile(const std::string& path)
{
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The folder of the control groups, and the names of their files and of entries in these files, in one
/// version of the cgroup interface.
struct CgroupFiles
{
  const char *Mount, *Limit, *Usage;
  const char *InactiveCache, *ActiveCache;  ///< entries of memory.stat
};
constexpr CgroupFiles Version1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
    "total_inactive_file", "total_active_file"};
constexpr CgroupFiles Version2{
    "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file", "active_file"};

std::uint64_t AvailableInGroup(const std::string& folder, const CgroupFiles& files)
{
  const auto limit = NumberInFile(folder + files.Limit);
  const auto usage = NumberInFile(folder + files.Usage);
  if (!limit || !usage) {
    return Unknown;
  }
  // Usage includes cached files, which the kernel drops when the limit comes near.
  const std::uint64_t cache = NumberAfter(files.InactiveCache, folder + "memory.stat").value_or(0) +
                              NumberAfter(files.ActiveCache, folder + "memory.stat").value_or(0);
  const std::uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

/// Returns the minimum of the memory available in a group and in the groups above it. Inside a container, the
/// path of the group may be missing; the mount itself is then the container's group.
std::uint64_t AvailableInGroups(const std::string& root, std::string group, const CgroupFiles& files)
{
  std::uint64_t least = Unknown;
  for (;;) {
    least = std::min(least, AvailableInGroup(root + files.Mount + group + "/", files));
    if (group.empty()) {
      return least;
    }
    group.resize(group.find_last_of('/'));
  }
}

/// Returns the minimum of the memory available in all groups of this process. The lines of /proc/self/cgroup
/// are "number:controllers:/path"; version 2 leaves the controllers empty.
std::uint64_t AvailableToProcess(const std::string& root)
{
  std::uint64_t least = Unknown;
  std::ifstream file(root + "proc/self/cgroup");
  std::string number, controllers, path;
  while (
      std::getline(file, number, ':') && std::getline(file, controllers, ':') && std::getline(file, path)) {
    const std::string group = path.rfind('/', 0) == 0 && path != "/" ? path : "";
    if (controllers.empty()) {
      least = std::min(least, AvailableInGroups(root, group, Version2));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      least = std::min(least, AvailableInGroups(root, group, Version1));
    }
  }
  return least;
}

std::uint64_t AvailableMemoryNow(const std::string& root)
{
  const std::string folder = root + (root.empty() || root.back() != '/' ? "/" : "");
  const auto kibibytes = NumberAfter("MemAvailable:", folder + "proc/meminfo");
  return std::min(kibibytes ? *kibibytes * 1024 : Unknown, AvailableToProcess(folder));
}

}  // namespace

std::uint64_t AvailableMemory(const std::string& root)
{
  if (root != "/") {
    return AvailableMemoryNow(root);
  }
  // A query takes 0.1 ms, and each read makes several queries.
  constexpr double fresh = 0.02;
  static std::mutex lock;
  static std::optional<std::pair<std::chrono::steady_clock::time_point, std::uint64_t>> known;
  const std::lock_guard<std::mutex> guard(lock);
  const auto now = std::chrono::steady_clock::now();
  if (!known || std::chrono::duration<double>(now - known->first).count() > fresh) {
    known = {now, AvailableMemoryNow(root)};
  }
  return known->second;
}

void CheckMemoryOfMachines(Communicator& ranks, double bytes, double share, const std::string& advice)
{
  Communicator& machine = ranks.MachineCommunicator();
  const double needed = machine.Sum({bytes})[0];
  const double free = machine.Min({share * static_cast<double>(AvailableMemory())})[0];
  RunOnAllRanks(ranks, [&] {
    if (needed > free) {
      throw Error(fmt::format("The ranks need {} of memory on machine '{}', but may use only {}. {}.",
          ByteText(needed), MachineName(), ByteText(free), advice));
    }
  });
}

std::string MachineName()
{
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

std::string TemporaryName(const std::string& path)
{
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.{}.{}.{}.tmp", path, MachineName(), ::getpid(), counter++);
}

}  // namespace patchio
