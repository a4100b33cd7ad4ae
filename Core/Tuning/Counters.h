// Counters of the kernel: requests of local disks, and of NFS and Lustre clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchio {

/// Returns the contents of a file, at most `most` bytes. Returns nothing if the file cannot be read or is not
/// a regular file. An unreadable file is not an error, because systems differ and many counters are readable
/// by administrators only.
std::optional<std::string> ReadKernelText(const std::string& path, std::size_t most);

/// Removes the first line from `text` and returns it, without its line end.
std::string_view PopLine(std::string_view& text);

/// Returns the first `most` words of a line. Blanks separate words; see TextScanner.
std::vector<std::string_view> SplitWords(std::string_view line, std::size_t most);

/// Decodes the escapes of the kernel's mount tables: \ and three octal digits for blanks, tabs, line ends and
/// backslashes.
std::string Unescape(std::string_view text);

/// Returns the increase of a counter from `before` to `after`, also if a counter of 32 or 64 bits has
/// overflowed. Returns nothing if `after` is less for another reason: the counter was reset.
std::optional<std::uint64_t> CounterIncrease(std::uint64_t before, std::uint64_t after);

/// Returns `root` with a slash at its end, so that root + "proc/x" is the path of "/proc/x".
std::string WithTrailingSlash(const std::string& root);

/// The counters of the client of a network file system: the totals of all processes on this machine since the
/// mount.
struct ClientCounters
{
  std::uint64_t BytesRequested = 0;  ///< bytes that processes have read
  /// Bytes that the servers have sent; fewer than BytesRequested if a cache had some of the bytes.
  std::uint64_t BytesDelivered = 0;
  std::uint64_t Requests = 0;  ///< reads that the servers have answered
  double Seconds = 0;          ///< total duration of the answered reads, from request to answer
};

/// Reads the counters of an NFS mount from proc/self/mountstats in the folder `root`. Mounts of one server
/// usually share their counters. Returns nothing if the file cannot be read or has no such mount, or if the
/// mount's lines are malformed.
std::optional<ClientCounters> ReadNfsCounters(const std::string& mountPoint, const std::string& root);

/// Reads the counters of a Lustre mount from the statistics of its storage targets (osc) and of the mount
/// (llite), below proc/fs/lustre or sys/kernel/debug/lustre in `root`. Usually only administrators can read
/// these statistics. source: "10.0.0.1@tcp:/scratch", with the name of the file system after ":/". Returns
/// nothing if the bytes of no target can be read; other counters that cannot be read are 0.
std::optional<ClientCounters> ReadLustreCounters(const std::string& source, const std::string& root);

/// The kernel's number of a block device.
struct DeviceNumber
{
  unsigned Major = 0;
  unsigned Minor = 0;
  bool operator==(const DeviceNumber& other) const { return Major == other.Major && Minor == other.Minor; }
};

/// A line of /proc/diskstats. All values count from the appearance of the device; times may overflow at 2^32.
struct DiskCounters
{
  std::string Name;                                                ///< "sda"
  std::uint64_t Reads = 0, SectorsRead = 0, ReadMilliseconds = 0;  ///< a sector is always 512 bytes here
  std::uint64_t Writes = 0, SectorsWritten = 0, WriteMilliseconds = 0;
};

/// The disk that contains the files of a mount. For a partition, and for devices stacked on a single device,
/// Number is that of the entire underlying disk, because other programs may use the disk through other
/// partitions. A device that spans several disks is not resolved further.
struct Disk
{
  DeviceNumber Number;
  std::uint64_t LargestRequest = 1 << 20;  ///< in bytes, > 0; the kernel splits larger requests
  bool MaySpanDisks = false;               ///< true: the files may also lie on other disks
};

/// Finds the disk of a mount. source: device name from the mount table, used if the device has no number of
/// its own (major 0), as with btrfs. type: type of the file system; FUSE file systems have no usable source.
/// root: folder that contains proc, sys and dev. Returns nothing if no local disk is found.
std::optional<Disk> FindDisk(
    const DeviceNumber& device, const std::string& source, const std::string& type, const std::string& root);

/// Reads the counters of a disk. Returns nothing if the device does not exist, or if its line is malformed or
/// has fewer columns than kernels since 2.6.25 write.
std::optional<DiskCounters> ReadDiskCounters(const DeviceNumber& device, const std::string& root);

/// Returns the number of bytes that disks, and some network file systems, have delivered to this process
/// since its start. Reads from the page cache do not count. Returns nothing if the kernel does not provide
/// this number.
std::optional<std::uint64_t> FetchedBytes(const std::string& root = "/");

}  // namespace patchio
