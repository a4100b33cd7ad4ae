// Properties of the machine: memory that this process may still allocate, the machine's name, names of
// temporary files.
#pragma once

#include "Base/Communicator.h"

#include <cstdint>
#include <string>

namespace patchio {

/// Returns the number of bytes that can be allocated without swapping: the kernel's estimate, or less if a
/// limit on the process's control group or on a group above it is lower (batch systems and containers set
/// such limits). Cached file contents count as free. Returns the largest std::uint64_t if the kernel
/// states neither an estimate nor a limit. The result may be up to 0.02 s old. Thread-safe.
///
/// `root`: folder that contains proc/ and sys/; only tests pass another folder than "/".
std::uint64_t AvailableMemory(const std::string& root = "/");

/// Checks that the ranks of each machine together need at most `share` of the machine's available memory.
/// `bytes`: number of bytes that this rank is about to allocate. `advice`: imperative sentence without
/// period. Throws the same Error on all ranks if a machine has too little memory. Collective: every rank of
/// the communicator calls it.
void CheckMemoryOfMachines(Communicator& ranks, double bytes, double share = 1,
    const std::string& advice = "Select fewer variables or levels, or use more machines");

/// Returns the host name, or an empty text if the machine has none.
std::string MachineName();

/// Returns a new name for a temporary file that is going to replace `path`, in the same folder:
/// "PATH.MACHINE.PID.NUMBER.tmp". Each call returns another name. Thread-safe.
std::string TemporaryName(const std::string& path);

}  // namespace patchio
