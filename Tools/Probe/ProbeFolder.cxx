#include "Probe/ProbeFolder.h"

#include "Base/Error.h"
#include "Base/Memory.h"

#include <fmt/format.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>

namespace fs = std::filesystem;

namespace patchio::probe {
namespace {

constexpr const char* Prefix = "patchio_probe_";
constexpr int MostOfOne = 100;  ///< folders of one process in one place

/// The process that made a folder.
struct Maker
{
  std::string Host;
  pid_t Process = 0;
};

/// patchio_probe_HOST_PID, or patchio_probe_HOST_PID.2 and so on; none where the name is another.
std::optional<Maker> MakerOf(const std::string& name)
{
  const std::string prefix = Prefix;
  const std::size_t last = name.rfind('_');
  if (name.rfind(prefix, 0) != 0 || last == std::string::npos || last <= prefix.size()) {
    return {};
  }
  Maker maker;
  maker.Host = name.substr(prefix.size(), last - prefix.size());
  const char* end = name.data() + std::min(name.find('.', last), name.size());
  const auto [stop, fault] = std::from_chars(name.data() + last + 1, end, maker.Process);
  const bool good = fault == std::errc() && stop == end && maker.Process > 0;
  return good ? std::optional<Maker>(maker) : std::nullopt;
}

/// A folder itself, not a link to one, of this user.
bool IsOwnFolder(const std::string& path)
{
  struct stat state = {};
  return ::lstat(path.c_str(), &state) == 0 && S_ISDIR(state.st_mode) && state.st_uid == ::geteuid();
}

bool Runs(pid_t process)
{
  return ::kill(process, 0) == 0 || errno != ESRCH;
}

}  // namespace

std::string MakeProbeFolder(const std::string& dir)
{
  const std::string first = fmt::format("{}/{}{}_{}", dir, Prefix, MachineName(), ::getpid());
  std::string path = first;
  // The folder of an earlier process of this number may be in the way.
  for (int next = 2; ::mkdir(path.c_str(), 0700) != 0; ++next) {
    if (errno != EEXIST || next > MostOfOne) {
      throw SystemError(
          dir, "a writable folder", errno, "Choose another folder, or read existing files with --existing");
    }
    path = fmt::format("{}.{}", first, next);
  }
  return path;
}

ProbeFolders RemoveDeadProbeFolders(const std::string& dir)
{
  ProbeFolders found;
  std::error_code fault;
  std::vector<std::string> paths;
  for (fs::directory_iterator entry(dir, fault); !fault && entry != fs::directory_iterator();
       entry.increment(fault)) {
    paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end());
  const std::string host = MachineName();
  for (const std::string& path : paths) {
    const std::optional<Maker> maker = MakerOf(fs::path(path).filename().string());
    if (!maker || !fs::is_directory(path, fault) || (maker->Host == host && Runs(maker->Process))) {
      continue;
    }
    if (maker->Host == host && IsOwnFolder(path)) {
      fs::remove_all(path, fault);
    }
    (fs::exists(path, fault) ? found.Left : found.Removed).push_back(path);
  }
  return found;
}

}  // namespace patchio::probe
