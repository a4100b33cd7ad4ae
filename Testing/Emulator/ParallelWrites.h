// Allows simultaneous writes to one file, as parallel file systems do.
#pragma once

#include "Passthrough.h"

namespace patchio::emulator {

/// Sets the flag for parallel writes when a file is opened, if this version of libfuse supports the flag.
void AllowParallelWrites(fuse_file_info* info);

/// With libfuse before 3.15: sets the flag in the replies to the kernel. Must be called after mounting.
/// Throws Error. Without the flag, the kernel (6.2 or newer) executes writes to one file one after another.
void AllowParallelWrites(fuse* fileSystem);

}  // namespace patchio::emulator
