// What the clients of network file systems count on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace patchio {

/// The counters of one file system on this machine, all its processes together, since it was mounted.
struct ClientCounters
{
  std::uint64_t Wanted = 0;     ///< bytes that processes read
  std::uint64_t Delivered = 0;  ///< bytes that came from the servers; fewer where caches helped
  std::uint64_t Requests = 0;   ///< reads that the servers answered
  double Seconds = 0;           ///< the time that they took together, from sending to answer
};

/// NFS, from /proc/self/mountstats. Mounts of one server share their counters as a rule.
/// None when the mount is not there or its lines make no sense.
std::optional<ClientCounters> ReadNfsCounters(const std::string& mountPoint, const std::string& root);

/// Lustre, from the statistics of its storage targets (osc) and of the mount (llite), below /proc/fs/lustre
/// or /sys/kernel/debug/lustre, which only administrators can read on most machines. source:
/// "10.0.0.1@tcp:/scratch", of which the last part names the file system.
std::optional<ClientCounters> ReadLustreCounters(const std::string& source, const std::string& root);

}  // namespace patchio
