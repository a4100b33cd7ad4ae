#include "Tuning/DiskCounters.h"

#include "Tuning/KernelText.h"

#include <filesystem>
#include <vector>

namespace patchio {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t MostText = std::size_t(1) << 22;  ///< thousands of disks
constexpr std::size_t MostStacked = 16;

/// "8:1".
std::optional<DeviceNumber> NumberIn(const std::string& path)
{
  const auto text = ReadKernelText(path, 64);
  if (!text) {
    return {};
  }
  const auto words = WordsOf(std::string_view(*text).substr(0, text->find('\n')), 2);
  const std::size_t colon = words.size() == 1 ? words[0].find(':') : std::string_view::npos;
  if (colon == std::string_view::npos) {
    return {};
  }
  const auto major = WholeNumber(words[0].substr(0, colon));
  const auto minor = WholeNumber(words[0].substr(colon + 1));
  if (!major || !minor || *major > 0xffffffffu || *minor > 0xffffffffu) {
    return {};
  }
  return DeviceNumber{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
}

std::string TextOf(const DeviceNumber& device)
{
  return std::to_string(device.Major) + ":" + std::to_string(device.Minor);
}

/// Calls `use(words)` for the lines of /proc/diskstats until it returns true.
template <typename Use>
void ForEachDisk(const std::string& root, Use use)
{
  const auto text = ReadKernelText(RootFolder(root) + "proc/diskstats", MostText);
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const auto words = WordsOf(TakeLine(rest), 24);
    if (words.size() >= 3 && use(words)) {
      return;
    }
  }
}

bool IsDevice(const std::vector<std::string_view>& words, const DeviceNumber& device)
{
  return WholeNumber(words[0]) == device.Major && WholeNumber(words[1]) == device.Minor;
}

std::optional<DeviceNumber> DeviceNamed(const std::string& source, const std::string& root)
{
  if (source.rfind("/dev/", 0) != 0) {
    return {};
  }
  // /dev/mapper/... and /dev/disk/by-... are links to the name that the kernel uses.
  std::error_code fault;
  const fs::path real = fs::canonical(RootFolder(root) + source.substr(1), fault);
  const std::string name = (fault ? fs::path(source) : real).filename().string();
  std::optional<DeviceNumber> found;
  ForEachDisk(root, [&](const std::vector<std::string_view>& words) {
    if (words[2] != name) {
      return false;
    }
    const auto major = WholeNumber(words[0]), minor = WholeNumber(words[1]);
    if (major && minor) {
      found = DeviceNumber{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
    }
    return true;
  });
  return found;
}

/// The devices that one is made of; for a partition its disk.
std::vector<DeviceNumber> Below(const DeviceNumber& device, const std::string& root)
{
  std::vector<DeviceNumber> below;
  std::error_code fault;
  const fs::path folder = fs::canonical(RootFolder(root) + "sys/dev/block/" + TextOf(device), fault);
  if (fault) {
    return below;
  }
  if (fs::exists(folder / "partition", fault)) {
    const auto disk = NumberIn((folder.parent_path() / "dev").string());
    return disk ? std::vector<DeviceNumber>{*disk} : below;
  }
  for (fs::directory_iterator slave(folder / "slaves", fault), end; !fault && slave != end;
       slave.increment(fault)) {
    const auto number = NumberIn((slave->path() / "dev").string());
    if (!number || below.size() >= MostStacked) {
      return {};
    }
    below.push_back(*number);
  }
  return below;
}

std::optional<std::uint64_t> LargestRequest(const DeviceNumber& disk, const std::string& root)
{
  const auto text =
      ReadKernelText(RootFolder(root) + "sys/dev/block/" + TextOf(disk) + "/queue/max_sectors_kb", 64);
  const auto kibibytes =
      text ? WholeNumber(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
  return kibibytes && *kibibytes >= 4 && *kibibytes < (1 << 22) ? std::optional(*kibibytes * 1024)
                                                                : std::nullopt;
}

}  // namespace

std::optional<Disk> FindDisk(
    const DeviceNumber& device, const std::string& source, const std::string& type, const std::string& root)
{
  // What a FUSE file system calls its source is its own affair.
  const bool named = device.Major == 0 && type.rfind("fuse", 0) != 0;
  const auto first = device.Major != 0 ? std::optional(device)
                     : named           ? DeviceNamed(source, root)
                                       : std::nullopt;
  if (!first) {
    return {};
  }
  Disk disk;
  disk.Number = *first;
  disk.Several = named;
  for (std::size_t depth = 0; depth < MostStacked; ++depth) {
    const std::vector<DeviceNumber> below = Below(disk.Number, root);
    disk.Several = disk.Several || below.size() > 1;
    if (below.size() != 1) {
      break;
    }
    disk.Number = below[0];
  }
  disk.LargestRequest = LargestRequest(disk.Number, root).value_or(disk.LargestRequest);
  return disk;
}

std::optional<DiskCounters> ReadDiskCounters(const DeviceNumber& device, const std::string& root)
{
  std::optional<DiskCounters> counters;
  ForEachDisk(root, [&](const std::vector<std::string_view>& words) {
    if (!IsDevice(words, device)) {
      return false;
    }
    // reads, merged, sectors, milliseconds; the same of writes; in flight now, busy, weighted; later kernels
    // add discards and flushes.
    std::vector<std::uint64_t> numbers;
    for (std::size_t column = 3; column < words.size(); ++column) {
      const auto number = WholeNumber(words[column]);
      if (!number) {
        return true;
      }
      numbers.push_back(*number);
    }
    if (numbers.size() >= 11) {
      counters = DiskCounters{std::string(words[2].substr(0, 64)), numbers[0], numbers[2], numbers[3],
          numbers[4], numbers[6], numbers[7]};
    }
    return true;
  });
  return counters;
}

std::optional<std::uint64_t> FetchedBytes(const std::string& root)
{
  const auto text = ReadKernelText(RootFolder(root) + "proc/self/io", 4096);
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const auto words = WordsOf(TakeLine(rest), 2);
    if (words.size() == 2 && words[0] == "read_bytes:") {
      return WholeNumber(words[1]);
    }
  }
  return {};
}

}  // namespace patchio
