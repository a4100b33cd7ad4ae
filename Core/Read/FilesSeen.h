// Files as they were when something was read from them.
#pragma once

#include "Store/Fingerprint.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// By path. A file that was not there, or that had changed so shortly before that its times do not tell
/// whether it has changed again, has the print of no file.
using FilesSeen = std::map<std::string, Fingerprint>;

/// The files as they are now, `threads` at once. settleSeconds: see ChannelSettings.
FilesSeen LookAtFiles(const std::vector<std::string>& paths, int threads, double settleSeconds);

/// Files and folders whose change means that there is something new.
class WatchedFiles
{
public:
  /// Looks at these from now on. What was read of them was read at `begin`, nanoseconds since 1970, or later.
  void Watch(const std::vector<std::string>& paths, std::int64_t begin, double settleSeconds);
  /// Nothing is known of any file.
  void Forget() { this->Looked = false; }
  /// False while each of them is as it was, or still not there. A file that had changed shortly before it was
  /// read may have changed again, see FilesSeen.
  bool Changed() const;

private:
  bool Looked = false;
  std::int64_t Settled = 0;  ///< a later change of a file may not be the last
  std::map<std::string, std::optional<FileState>> States;
};

/// The print of a file that was looked at `now`, nanoseconds since 1970; see FilesSeen.
Fingerprint TrustedPrint(const std::optional<FileState>& state, std::int64_t now, double settleSeconds);

}  // namespace patchio
