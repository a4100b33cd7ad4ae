// Fingerprints of files at the time when values were read from these files, and the watch for changes.
#pragma once

#include "Store/Fingerprint.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Fingerprints by path. A file has a fingerprint that matches no file if the file did not exist, or had
/// changed so recently that a further change might not show in its times.
using FileFingerprints = std::map<std::string, Fingerprint>;

/// Returns the current fingerprints of the files. Examines up to `threads` files at once. `settleSeconds`:
/// see IndexSettings.
FileFingerprints CheckFingerprints(const std::vector<std::string>& paths, int threads, double settleSeconds);

/// Watches files and folders for changes.
class WatchedFiles
{
public:
  /// Watches `paths` from now on, instead of the paths of the previous call. `begin`: time, in nanoseconds
  /// since 1970, before the caller read the files. `settleSeconds`: see IndexSettings.
  void Watch(const std::vector<std::string>& paths, std::int64_t begin, double settleSeconds);
  /// Forgets the states of all files: Changed() returns true until the next Watch().
  void Forget() { this->IsWatching = false; }
  /// Returns whether a path has changed, appeared or vanished since Watch(); true without Watch(). A file
  /// that changed shortly before it was read counts as changed, because its times need not show a further
  /// change.
  bool Changed() const;

private:
  bool IsWatching = false;
  /// Time in nanoseconds since 1970. The times of a file that changed after this time need not show a further
  /// change.
  std::int64_t SettledBefore = 0;
  std::map<std::string, std::optional<FileState>> States;
};

}  // namespace patchio
