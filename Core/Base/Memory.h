// The machine: memory that this process may still take, and the machine's name.
#pragma once

#include "Base/Communicator.h"

#include <cstdint>
#include <string>

namespace patchio {

/// Bytes that can be allocated without swapping: the kernel's estimate, or less where the process's control
/// group, or one above it, has a limit (batch systems and containers set them). Cached file contents count as
/// free. The largest value where unknown. What was found out up to 0.02 s ago may be given again.
///
/// `root`: folder that holds proc/ and sys/; another one than "/" is for tests.
std::uint64_t AvailableMemory(const std::string& root = "/");

/// Collective. Throws Error, the same on all ranks, when the ranks of some machine together need more memory
/// than it has left, or than that share of it. `bytes`: what this rank is about to allocate.
void CheckMemoryOfMachines(Communicator& comm, double bytes, double share = 1);

/// As the system calls it; empty where it has no name.
std::string MachineName();

/// A name beside `path` for what takes its place when it is whole: "path.MACHINE.PID.NUMBER.tmp", another one
/// with each call. Any thread may call.
std::string TemporaryName(const std::string& path);

}  // namespace patchio
