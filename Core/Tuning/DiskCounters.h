// What the kernel counts for a local disk, and for this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace patchio {

/// Numbers of a block device, as the kernel calls it.
struct DeviceNumber
{
  unsigned Major = 0;
  unsigned Minor = 0;
  bool operator==(const DeviceNumber& other) const { return Major == other.Major && Minor == other.Minor; }
};

/// A line of /proc/diskstats: everything since the device appeared; times may pass through 0 at 2^32.
struct DiskCounters
{
  std::string Name;                                                ///< "sda"
  std::uint64_t Reads = 0, SectorsRead = 0, ReadMilliseconds = 0;  ///< sectors are always 512 bytes here
  std::uint64_t Writes = 0, SectorsWritten = 0, WriteMilliseconds = 0;
};

/// The disk that a mount's files lie on. For a partition, and for what is stacked on a single device, that is
/// the whole disk below: others use it through other partitions. What is spread over several disks stays as
/// it is.
struct Disk
{
  DeviceNumber Number;
  std::uint64_t LargestRequest = 1 << 20;  ///< longer ones are split on their way to the disk; bytes, > 0
  bool Several = false;  ///< other disks may be part of it that this device says nothing about
};

/// source: what the mount table names, which counts where the device has no number of its own (major 0), as
/// with btrfs. None for all that is no local disk. root: the folder that holds proc, sys and dev.
std::optional<Disk> FindDisk(
    const DeviceNumber& device, const std::string& source, const std::string& type, const std::string& root);

/// None when the device is not there, or the line has fewer columns than every kernel since 2.6.25 writes.
std::optional<DiskCounters> ReadDiskCounters(const DeviceNumber& device, const std::string& root);

/// Bytes that this process has made local disks (not network file systems) deliver, since it began: reads
/// that the page cache answers are not in it. None where the kernel does not say.
std::optional<std::uint64_t> FetchedBytes(const std::string& root = "/");

}  // namespace patchio
