#include "Tuning/Mount.h"

#include "Base/Memory.h"
#include "Tuning/Counters.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace patchio {
bool IsInFolder(const std::string& path, const std::string& folder)
{
  return folder == "/" || path == folder || path.rfind(folder + "/", 0) == 0;
}

namespace {

/// Parses a line: ID, parent, major:minor, root, mount point, options, any number of tags, "-", type, source,
/// options.
std::optional<Mount> ParseMountLine(const std::string& line)
{
  std::istringstream parts(line);
  Mount mount;
  int id = 0;
  int parent = 0;
  char colon = 0;
  std::string tag;
  parts >> id >> parent >> mount.Major >> colon >> mount.Minor >> mount.Root >> mount.Point >> mount.Options;
  while (parts >> tag && tag != "-") {
  }
  std::string options;
  if (!(parts >> mount.Type >> mount.Source) || colon != ':' || mount.Point.front() != '/') {
    return {};
  }
  parts >> options;
  mount.Options += options.empty() ? "" : "," + options;
  for (std::string* text : {&mount.Root, &mount.Point, &mount.Source, &mount.Options}) {
    *text = Unescape(*text);
  }
  mount.Class = ClassOfType(mount.Type);
  return mount;
}

/// Returns all mounts by ascending length of their mount points. Mounts on the same point stay in the order
/// of the file.
std::vector<Mount> ReadMounts(const std::string& mountInfo)
{
  constexpr std::size_t mostLine = 1 << 16;
  std::vector<Mount> mounts;
  std::ifstream file(mountInfo);
  std::string line;
  while (std::getline(file, line)) {
    const std::optional<Mount> mount = line.size() <= mostLine ? ParseMountLine(line) : std::nullopt;
    if (mount) {
      mounts.push_back(*mount);
    }
  }
  std::stable_sort(mounts.begin(), mounts.end(),
      [](const Mount& a, const Mount& b) { return a.Point.size() < b.Point.size(); });
  return mounts;
}

/// Returns the last mount with this device, or null.
const Mount* LastMountOfDevice(const std::vector<Mount>& mounts, const std::optional<dev_t>& device)
{
  const auto found = std::find_if(mounts.rbegin(), mounts.rend(), [&](const Mount& mount) {
    return device && mount.Major == static_cast<int>(major(*device)) &&
           mount.Minor == static_cast<int>(minor(*device));
  });
  return found == mounts.rend() ? nullptr : &*found;
}

/// Returns a mount for "/". The root folder of a process (after chroot) need not be a mount. If the same
/// device is mounted elsewhere, that mount provides the properties.
Mount MountForRoot(const std::vector<Mount>& mounts, const std::optional<dev_t>& device)
{
  const Mount* const alike = LastMountOfDevice(mounts, device);
  Mount root = alike ? *alike : Mount();
  root.Point = root.Root = "/";
  if (!alike) {
    root.Type = root.Source = "unknown";
    root.Major = device ? static_cast<int>(major(*device)) : 0;
    root.Minor = device ? static_cast<int>(minor(*device)) : 0;
  }
  return root;
}

/// Returns the device of the path, or of the deepest existing folder above it.
std::optional<dev_t> DeviceOf(const std::string& path)
{
  for (fs::path part = path;; part = part.parent_path()) {
    struct stat state = {};
    if (::stat(part.c_str(), &state) == 0) {
      return state.st_dev;
    }
    if (part == part.parent_path()) {
      return {};
    }
  }
}

int ReadStripeCount(const std::string& path)
{
  std::vector<char> layout(1 << 16);
  const ssize_t bytes = ::getxattr(path.c_str(), "lustre.lov", layout.data(), layout.size());
  return bytes > 0 ? StripeCountOfLayout(layout.data(), static_cast<std::size_t>(bytes)) : 0;
}

template <typename T>
std::optional<T> NumberAt(std::string_view bytes, std::size_t offset)
{
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return {};
  }
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// Lustre's layouts, in the byte order of this machine.
struct LayoutFormat
{
  static constexpr std::uint32_t Plain = 0x0BD10BD0;
  static constexpr std::uint32_t PlainWithPool = 0x0BD30BD0;
  static constexpr std::uint32_t Composite = 0x0BD60BD0;
  static constexpr std::size_t StripeCount = 28;  ///< offset; 16 bits
  static constexpr std::size_t EntryCount = 14;   ///< offset in a composite layout; 16 bits
  static constexpr std::size_t Entries = 32;
  static constexpr std::size_t EntryBytes = 48;
  static constexpr std::size_t EntryOffset = 24;  ///< in an entry: 32 bits, the offset of its layout
  static constexpr int MostStripes = 2000;        ///< greater numbers mean "all available"
};

int StripeCountOfPlainLayout(std::string_view layout)
{
  const auto magic = NumberAt<std::uint32_t>(layout, 0);
  const auto count = NumberAt<std::uint16_t>(layout, LayoutFormat::StripeCount);
  const bool known = magic == LayoutFormat::Plain || magic == LayoutFormat::PlainWithPool;
  return known && count && *count <= LayoutFormat::MostStripes ? *count : 0;
}

}  // namespace

const char* NameOf(MountClass mountClass)
{
  switch (mountClass) {
    case MountClass::Memory:
      return "memory";
    case MountClass::LocalDisk:
      return "local disk";
    case MountClass::Network:
      return "network";
    case MountClass::Parallel:
      return "parallel";
    case MountClass::Fuse:
      return "fuse";
    case MountClass::Unknown:
      break;
  }
  return "unknown";
}

MountClass ClassOfType(const std::string& type)
{
  static const std::map<MountClass, std::set<std::string>> known{
      {MountClass::Memory, {"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"}},
      {MountClass::LocalDisk,
          {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "bcachefs", "f2fs", "jfs", "reiserfs", "nilfs2",
              "overlay", "vfat", "exfat", "ntfs", "ntfs3", "hfsplus", "udf", "iso9660", "squashfs", "erofs"}},
      {MountClass::Network, {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "virtiofs", "fuse.sshfs"}},
      {MountClass::Parallel,
          {"lustre", "gpfs", "beegfs", "fhgfs", "beegfs_nodev", "ceph", "pvfs2", "orangefs", "glusterfs",
              "panfs", "wekafs", "cvfs", "gfs2", "ocfs2", "quobyte", "fuse.glusterfs", "fuse.ceph",
              "fuse.ceph-fuse", "fuse.moosefs", "fuse.mfs", "fuse.juicefs", "fuse.daos", "fuse.dfuse"}}};
  for (const auto& [mountClass, types] : known) {
    if (types.count(type) != 0) {
      return mountClass;
    }
  }
  return type.rfind("fuse", 0) == 0 ? MountClass::Fuse : MountClass::Unknown;
}

std::string ResolvedPath(const std::string& path)
{
  std::error_code fault;
  const fs::path absolute = fs::absolute(path, fault);
  const fs::path resolved = fs::weakly_canonical(absolute, fault);
  std::string text = (fault ? absolute.lexically_normal() : resolved).string();
  while (text.size() > 1 && text.back() == '/') {
    text.pop_back();
  }
  return text;
}

std::optional<Mount> MountOf(const std::string& path, const std::string& mountInfo)
{
  const std::string resolved = ResolvedPath(path);
  std::vector<Mount> mounts = ReadMounts(mountInfo);
  if (mounts.empty()) {
    return {};
  }
  const std::optional<dev_t> device = DeviceOf(resolved);
  const Mount root = MountForRoot(mounts, device);
  mounts.erase(std::remove_if(mounts.begin(), mounts.end(),
                   [&](const Mount& mount) { return !IsInFolder(resolved, mount.Point); }),
      mounts.end());
  // A newer mount may hide an older one with a longer point; the device then identifies the mount. Some file
  // systems (btrfs) have devices that no mount shows.
  const Mount* const found = LastMountOfDevice(mounts, device);
  Mount mount = found ? *found : mounts.empty() ? root : mounts.back();
  if (mount.Type == "lustre") {
    mount.StripeCount = ReadStripeCount(resolved);
  }
  return mount;
}

int StripeCountOfLayout(const void* layout, std::size_t bytes)
{
  const std::string_view all(static_cast<const char*>(layout), bytes);
  if (NumberAt<std::uint32_t>(all, 0) != LayoutFormat::Composite) {
    return StripeCountOfPlainLayout(all);
  }
  int most = 0;
  const int entries = NumberAt<std::uint16_t>(all, LayoutFormat::EntryCount).value_or(0);
  for (int entry = 0; entry < entries; ++entry) {
    const auto offset = NumberAt<std::uint32_t>(
        all, LayoutFormat::Entries + entry * LayoutFormat::EntryBytes + LayoutFormat::EntryOffset);
    if (!offset || *offset > all.size()) {
      return most;
    }
    most = std::max(most, StripeCountOfPlainLayout(all.substr(*offset)));
  }
  return most;
}

std::string NodeClass()
{
  // The number of online cores: fewer may be available to this process if ranks are bound to cores.
  return NodeClassOf(MachineName(), static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

std::string NodeClassOf(const std::string& machine, int cores)
{
  std::string pattern;
  for (const char c : machine.substr(0, machine.find('.'))) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '#') {
      pattern += '#';
    }
  }
  return fmt::format("{}/{} cores", pattern, cores);
}

int RankClass(int rankCount)
{
  int power = 1;
  while (power < rankCount && power < (1 << 30)) {
    power *= 2;
  }
  return power;
}

}  // namespace patchio
