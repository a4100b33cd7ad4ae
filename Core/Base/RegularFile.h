// Files with names that users give: there may be something else. Opening a pipe in the usual way would wait
// for its writer, often for ever.
#pragma once

#include <string>

namespace patchio {

/// The path without "/" and "/." at its end, as a shell's Tab adds them; one that ends in "." or ".." is that
/// folder's own path. So everything that is named after a path has one name, however the path was typed.
std::string TidyPath(const std::string& path);

/// Opens a file for reading, without waiting. -1, with `errno`, where it cannot be opened. Throws Error when
/// it is something else than a file: a folder, a pipe, a device.
int OpenRegularFile(const std::string& path);

/// Throws Error unless `path` is a file that can be opened for reading. To be asked before a library, or the
/// standard streams, open it.
void CheckRegularFile(const std::string& path);

}  // namespace patchio
