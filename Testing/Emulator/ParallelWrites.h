// Several writes to one file at once, as parallel file systems allow them to one client.
#pragma once

#include "Passthrough.h"

namespace patchio::emulator {

/// What opening a file must set for it, where this libfuse knows how.
void AllowParallelWrites(fuse_file_info* info);

/// Where it does not (before 3.15): sets the same in the replies on their way to the kernel. To be called
/// after mounting. Throws Error. The kernel (6.2 or newer) takes writes to one file one after another
/// otherwise.
void AllowParallelWrites(fuse* fileSystem);

}  // namespace patchio::emulator
