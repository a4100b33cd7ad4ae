#include "Read/FileFingerprints.h"

#include <algorithm>
#include <cstddef>

namespace patchio {

FileFingerprints CheckFingerprints(const std::vector<std::string>& paths, int threads, double settleSeconds)
{
  const std::int64_t now = NowInNanoseconds();
  const std::vector<std::optional<FileState>> states = StatesOf(paths, threads);
  FileFingerprints seen;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    seen[paths[i]] = TrustedFingerprint(states[i], now, settleSeconds);
  }
  return seen;
}

void WatchedFiles::Watch(const std::vector<std::string>& paths, std::int64_t begin, double settleSeconds)
{
  this->IsWatching = true;
  this->SettledBefore = begin - static_cast<std::int64_t>(settleSeconds * 1e9);
  this->States.clear();
  for (const std::string& path : paths) {
    this->States[path] = StateOf(path, true);
  }
}

bool WatchedFiles::Changed() const
{
  const auto same = [this](const auto& entry) {
    const std::optional<FileState>& then = entry.second;
    const std::optional<FileState> now = StateOf(entry.first, true);
    return then && now ? then->Print == now->Print && now->ChangeTime < this->SettledBefore : !then && !now;
  };
  return !this->IsWatching || !std::all_of(this->States.begin(), this->States.end(), same);
}

}  // namespace patchio
