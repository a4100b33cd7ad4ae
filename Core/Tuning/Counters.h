// Counters of the kernel: requests of local disks, and of the clients of NFS and Lustre.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchio {

/// All of a file, but no more than `most` bytes. None when it cannot be read or is something else than a
/// file: what is missing is no error here, as systems differ and much is for the administrator alone.
std::optional<std::string> ReadKernelText(const std::string& path, std::size_t most);

/// Takes the first line off `text`, without its end.
std::string_view TakeLine(std::string_view& text);

/// The words between blanks, at most `most` of them.
std::vector<std::string_view> WordsOf(std::string_view line, std::size_t most);

/// A word that is a whole number, and nothing else.
std::optional<std::uint64_t> WholeNumber(std::string_view word);

/// How far a counter went from `before` to `after`. Some are 32 bits wide, and pass through 0. None when it
/// was set back instead: to a number that no counter can have reached.
std::optional<std::uint64_t> Passed(std::uint64_t before, std::uint64_t after);

/// `root` with a slash at its end: what is "/proc/x" is root + "proc/x".
std::string RootFolder(const std::string& root);

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
