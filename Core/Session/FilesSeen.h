// Files as they were when something was read from them.
#pragma once

#include "MetadataChannel/Fingerprint.h"

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

/// The print of a file that was looked at `now`, nanoseconds since 1970; see FilesSeen.
Fingerprint TrustedPrint(const std::optional<FileState>& state, std::int64_t now, double settleSeconds);

}  // namespace patchio
