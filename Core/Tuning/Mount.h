// Which storage a path lies on, as the kernel tells.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace patchio {

/// What is behind a mount, by the name of its file system.
enum class MountClass
{
  Unknown,
  Memory,
  LocalDisk,
  Network,   ///< one server: NFS, SMB
  Parallel,  ///< many servers: Lustre, GPFS, BeeGFS, CephFS ...
  Fuse       ///< a program of this machine, whatever that reads
};

/// "memory", "local disk", "network", "parallel", "fuse", "unknown".
const char* NameOf(MountClass kind);
/// By the type as in /proc/self/mountinfo: "ext4", "nfs4", "fuse.sshfs".
MountClass ClassOfType(const std::string& type);

struct Mount
{
  std::string Point;    ///< where it is mounted; empty where unknown
  std::string Root;     ///< the folder of its file system that is seen there; "/" but for bind mounts
  std::string Type;     ///< of the file system
  std::string Source;   ///< what is mounted: a device, a server
  std::string Options;  ///< of the mount, then of its file system, with commas
  int Major = 0;        ///< of the device; numbers of devices that are none (network, FUSE) change
  int Minor = 0;
  MountClass Class = MountClass::Unknown;
  int StripeCount = 0;  ///< Lustre: servers that the path's bytes lie on; 0: not known
};

constexpr const char* OwnMountInfo = "/proc/self/mountinfo";

/// Absolute, with all symbolic links of the part that exists resolved.
std::string ResolvedPath(const std::string& path);

/// The mount that `path`, which need not exist, lies on: the one with the longest mount point above it that
/// has the path's device, if one has; of several on one point, the last; where none is above it, as under a
/// root folder that is no mount, one on "/". None where `mountInfo` (a file of that format) names no mounts
/// or cannot be read. Lines that make no sense are passed over. Asks the file system for the path's
/// device, and Lustre for its stripes, so it waits where that hangs.
std::optional<Mount> MountOf(const std::string& path, const std::string& mountInfo = OwnMountInfo);

/// Stripes of a Lustre layout (the extended attribute lustre.lov), composite ones included, where it is the
/// greatest of their parts; 0 where the bytes make no sense or the layout leaves it to Lustre.
int StripesOfLayout(const void* layout, std::size_t bytes);

/// Which kind of node this is: the machine's name with '#' for numbers, up to the first dot, and its cores:
/// "node#/64 cores". Nodes of one kind share profiles.
std::string NodeClass();
std::string NodeClassOf(const std::string& machine, int cores);

/// The next power of two, as rates differ little in between.
int RankClass(int ranks);

}  // namespace patchio
