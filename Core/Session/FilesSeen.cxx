#include "Session/FilesSeen.h"

#include <cstddef>

namespace patchio {

Fingerprint TrustedPrint(const std::optional<FileState>& state, std::int64_t now, double settleSeconds)
{
  const auto settle = static_cast<std::int64_t>(settleSeconds * 1e9);
  return state && state->Changed < now - settle ? state->Print
                                                : Fingerprint{~std::uint64_t(0), -1, ~std::uint64_t(0)};
}

FilesSeen LookAtFiles(const std::vector<std::string>& paths, int threads, double settleSeconds)
{
  const std::int64_t now = NowInNanoseconds();
  const std::vector<std::optional<FileState>> states = StatesOf(paths, threads);
  FilesSeen seen;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    seen[paths[i]] = TrustedPrint(states[i], now, settleSeconds);
  }
  return seen;
}

}  // namespace patchio
