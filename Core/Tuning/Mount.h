// The storage on which a path lies, according to the kernel.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace patchio {

/// The class of storage behind a mount, by the type of its file system.
enum class MountClass
{
  Unknown,
  Memory,
  LocalDisk,
  Network,   ///< one server: NFS, SMB
  Parallel,  ///< many servers: Lustre, GPFS, BeeGFS, CephFS ...
  Fuse       ///< a program on this machine, which may read from anywhere
};

/// Returns "memory", "local disk", "network", "parallel", "fuse" or "unknown".
const char* NameOf(MountClass mountClass);
/// Returns the class of a file system type in /proc/self/mountinfo, such as "ext4", "nfs4", "fuse.sshfs".
MountClass ClassOfType(const std::string& type);

/// A mounted file system, according to the kernel.
struct Mount
{
  std::string Point;    ///< mount point; empty if unknown
  std::string Root;     ///< folder of the file system that is visible at Point; usually "/"
  std::string Type;     ///< type of the file system
  std::string Source;   ///< device or server
  std::string Options;  ///< options of the mount, then of the file system, separated by commas
  int Major = 0;        ///< device number; not constant for network and FUSE file systems
  int Minor = 0;
  MountClass Class = MountClass::Unknown;
  int StripeCount = 0;  ///< Lustre: greatest number of stripes of the path; 0: unknown
};

constexpr const char* ProcMountInfo = "/proc/self/mountinfo";

/// Returns the absolute path without slashes at its end, with symbolic links resolved in the part that
/// exists.
std::string ResolvedPath(const std::string& path);

/// Returns the mount on which `path` lies; the path need not exist. Candidates are the mounts above the path
/// that have the path's device or, if no such mount exists, all mounts above the path. The result is the
/// candidate with the longest mount point, and the last candidate if several are on this point. Returns a
/// mount on "/" if no mount is above the path, for example if the root folder is not a mount. Returns nothing
/// if `mountInfo` (a file like /proc/self/mountinfo) contains no mounts or cannot be read. Ignores malformed
/// lines. Blocks if the file system hangs, because the function asks for the path's device and for Lustre's
/// stripes.
std::optional<Mount> MountOf(const std::string& path, const std::string& mountInfo = ProcMountInfo);

/// Returns the number of stripes in a Lustre layout (the extended attribute lustre.lov); for a composite
/// layout, the greatest of its readable parts. Returns 0 if the layout is malformed or leaves the number to
/// Lustre.
int StripeCountOfLayout(const void* layout, std::size_t bytes);

/// Returns the class of this node: the machine's name up to the first dot, with '#' for numbers, and the
/// number of cores: "node#/64 cores". Nodes of one class share profiles.
std::string NodeClass();
/// Returns the class of the node `machine` with `cores` cores.
std::string NodeClassOf(const std::string& machine, int cores);

/// Returns the smallest power of two that is at least `rankCount`. Numbers of ranks in one class share
/// profiles, because their rates differ little.
int RankClass(int rankCount);

/// Returns whether `path` is `folder` or lies in `folder`. Both are absolute paths without links.
bool IsInFolder(const std::string& path, const std::string& folder);

}  // namespace patchio
