// The name of this machine, and names of files that no other process makes.
#pragma once

#include <string>

namespace patchio {

/// As the system calls it; empty where it has no name.
std::string MachineName();

/// A name beside `path` for what takes its place when it is whole: "path.MACHINE.PID.NUMBER.tmp", another one
/// with each call. Any thread may call.
std::string TemporaryName(const std::string& path);

}  // namespace patchio
