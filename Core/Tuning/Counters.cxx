#include "Tuning/Counters.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace patchio {

namespace {

constexpr auto ParseCount = ParseNumber<std::uint64_t>;

}  // namespace

std::string Unescape(std::string_view text)
{
  const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && digit(at + 1) && digit(at + 2) && digit(at + 3)) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

std::optional<std::string> ReadKernelText(const std::string& path, std::size_t most)
{
  try {
    return FirstBytes(path, most);
  } catch (const Error&) {
    return {};
  }
}

std::string_view PopLine(std::string_view& text)
{
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::vector<std::string_view> SplitWords(std::string_view line, std::size_t most)
{
  std::vector<std::string_view> words;
  TextScanner scanner(line);
  for (std::string_view word; words.size() < most && scanner.ConsumeWord(word);) {
    words.push_back(word);
  }
  return words;
}

std::optional<std::uint64_t> CounterIncrease(std::uint64_t before, std::uint64_t after)
{
  constexpr std::uint64_t width = std::uint64_t(1) << 32;
  if (after >= before) {
    return after - before;
  }
  // A decrease by more than half the width is an overflow.
  if (before < width && before - after > width / 2) {
    return after + width - before;
  }
  const std::uint64_t wrapped = after - before;  // modulo 2^64
  return wrapped < (std::uint64_t(1) << 62) ? std::optional(wrapped) : std::nullopt;
}

std::string WithTrailingSlash(const std::string& root)
{
  return root + (root.empty() || root.back() != '/' ? "/" : "");
}

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string_view>;

constexpr std::size_t MostMountText = std::size_t(1) << 24;   ///< bytes; enough for thousands of mounts
constexpr std::size_t MostTargetText = std::size_t(1) << 16;  ///< bytes; for one storage target
constexpr int MostTargets = 4096;

/// Returns the whole numbers from word `first` on, up to the first word that is not a number.
std::vector<std::uint64_t> ParseNumbers(const Words& words, std::size_t first)
{
  std::vector<std::uint64_t> numbers;
  for (std::size_t index = first; index < words.size(); ++index) {
    const auto number = ParseCount(words[index]);
    if (!number) {
      break;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

/// Returns whether a line of mountstats begins a mount: "device SOURCE mounted on POINT with fstype nfs4
/// statvers=1.1".
bool IsMountLine(const Words& words)
{
  return words.size() >= 8 && words[0] == "device" && words[2] == "mounted";
}

bool IsNfsMount(const Words& words, const std::string& point)
{
  return words[7].substr(0, 3) == "nfs" && Unescape(words[4]) == point;
}

/// The counters of one line of Lustre's statistics: "name  25 samples [unit] least greatest sum [squares]".
struct Tally
{
  std::uint64_t Count = 0;
  std::uint64_t Sum = 0;
};

std::optional<Tally> ParseTally(const Words& words)
{
  const auto count = words.size() >= 7 && words[2] == "samples" ? ParseCount(words[1]) : std::nullopt;
  const auto sum = count ? ParseCount(words[6]) : std::nullopt;
  return sum ? std::optional(Tally{*count, *sum}) : std::nullopt;
}

/// Adds the counters of the line `name` to `total`. Returns false if `text` has no such line, or if the line
/// is malformed.
bool AddTally(const std::string& text, const std::string& name, Tally& total)
{
  for (std::string_view rest = text; !rest.empty();) {
    const Words words = SplitWords(PopLine(rest), 8);
    if (!words.empty() && words[0] == name) {
      const auto tally = ParseTally(words);
      total.Count += tally ? tally->Count : 0;
      total.Sum += tally ? tally->Sum : 0;
      return tally.has_value();
    }
  }
  return false;
}

/// Returns the contents of the files "stats" in the subfolders of `folder` whose names start with `prefix`.
/// Searches only the first MostTargets entries.
std::vector<std::string> ReadStats(const std::string& folder, const std::string& prefix)
{
  std::vector<std::string> texts;
  int seen = 0;
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end && seen < MostTargets;
       entry.increment(fault), ++seen) {
    if (entry->path().filename().string().rfind(prefix, 0) == 0) {
      if (auto text = ReadKernelText((entry->path() / "stats").string(), MostTargetText)) {
        texts.push_back(std::move(*text));
      }
    }
  }
  return texts;
}

/// Returns the name of the file system: "scratch" for "10.0.0.1@tcp:10.0.0.2@tcp:/scratch/sub"; empty if
/// `source` has no ":/".
std::string LustreName(const std::string& source)
{
  const std::size_t begin = source.rfind(":/");
  if (begin == std::string::npos) {
    return {};
  }
  return source.substr(begin + 2, source.find('/', begin + 2) - begin - 2);
}

}  // namespace

std::optional<ClientCounters> ReadNfsCounters(const std::string& mountPoint, const std::string& root)
{
  const auto text = ReadKernelText(WithTrailingSlash(root) + "proc/self/mountstats", MostMountText);
  bool here = false, bytesKnown = false, readsKnown = false;
  ClientCounters counters;
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const Words words = SplitWords(PopLine(rest), 16);
    if (words.empty()) {
      continue;
    }
    if (IsMountLine(words)) {
      // A later mount on the same point hides earlier mounts.
      here = IsNfsMount(words, mountPoint);
      bytesKnown = bytesKnown && !here;
      readsKnown = readsKnown && !here;
    } else if (here && words[0] == "bytes:") {
      // The columns are: bytes read by processes, written, read directly, written directly, read from the
      // server, ...
      const auto numbers = ParseNumbers(words, 1);
      bytesKnown = numbers.size() >= 5;
      if (bytesKnown) {
        counters.BytesRequested = numbers[0] + numbers[2];
        counters.BytesDelivered = numbers[4];
      }
    } else if (here && words[0] == "READ:") {
      // The columns are: requests, transmissions, timeouts, bytes sent, received, milliseconds queued, until
      // the answer, in total.
      const auto numbers = ParseNumbers(words, 1);
      readsKnown = numbers.size() >= 8;
      if (readsKnown) {
        counters.Requests = numbers[0];
        counters.Seconds = numbers[6] * 1e-3;
      }
    }
  }
  return bytesKnown && readsKnown ? std::optional(counters) : std::nullopt;
}

std::optional<ClientCounters> ReadLustreCounters(const std::string& source, const std::string& root)
{
  const std::string name = LustreName(source);
  if (name.empty()) {
    return {};
  }
  for (const char* const place : {"proc/fs/lustre/", "sys/kernel/debug/lustre/"}) {
    const std::string folder = WithTrailingSlash(root) + place;
    Tally requested, delivered, reads;
    bool known = false;
    for (const std::string& text : ReadStats(folder + "osc", name + "-OST")) {
      known = AddTally(text, "read_bytes", delivered) || known;
      AddTally(text, "ost_read", reads);
    }
    for (const std::string& text : ReadStats(folder + "llite", name + "-")) {
      AddTally(text, "read_bytes", requested);
    }
    if (known) {
      return ClientCounters{requested.Sum, delivered.Sum, reads.Count, reads.Sum * 1e-6};
    }
  }
  return {};
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t LargestStatistics = std::size_t(1) << 22;  ///< bytes; enough for thousands of disks
constexpr std::size_t MostStacked = 16;

/// Reads a device number such as "8:1" from a file. Returns nothing if the file has another content.
std::optional<DeviceNumber> ReadDeviceNumber(const std::string& path)
{
  const auto text = ReadKernelText(path, 64);
  if (!text) {
    return {};
  }
  const auto words = SplitWords(std::string_view(*text).substr(0, text->find('\n')), 2);
  const std::size_t colon = words.size() == 1 ? words[0].find(':') : std::string_view::npos;
  if (colon == std::string_view::npos) {
    return {};
  }
  const auto major = ParseCount(words[0].substr(0, colon));
  const auto minor = ParseCount(words[0].substr(colon + 1));
  if (!major || !minor || *major > 0xffffffffu || *minor > 0xffffffffu) {
    return {};
  }
  return DeviceNumber{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
}

std::string TextOf(const DeviceNumber& device)
{
  return std::to_string(device.Major) + ":" + std::to_string(device.Minor);
}

/// Calls visit(words) for each line of proc/diskstats with at least 3 words until visit() returns true.
template <typename Visit>
void ForEachDisk(const std::string& root, Visit visit)
{
  const auto text = ReadKernelText(WithTrailingSlash(root) + "proc/diskstats", LargestStatistics);
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const auto words = SplitWords(PopLine(rest), 24);
    if (words.size() >= 3 && visit(words)) {
      return;
    }
  }
}

bool IsDevice(const std::vector<std::string_view>& words, const DeviceNumber& device)
{
  return ParseCount(words[0]) == device.Major && ParseCount(words[1]) == device.Minor;
}

std::optional<DeviceNumber> FindDeviceNumber(const std::string& source, const std::string& root)
{
  if (source.rfind("/dev/", 0) != 0) {
    return {};
  }
  // /dev/mapper/... and /dev/disk/by-... are links to the kernel's name.
  std::error_code fault;
  const fs::path real = fs::canonical(WithTrailingSlash(root) + source.substr(1), fault);
  const std::string name = (fault ? fs::path(source) : real).filename().string();
  std::optional<DeviceNumber> found;
  ForEachDisk(root, [&](const std::vector<std::string_view>& words) {
    if (words[2] != name) {
      return false;
    }
    const auto major = ParseCount(words[0]), minor = ParseCount(words[1]);
    if (major && minor) {
      found = DeviceNumber{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
    }
    return true;
  });
  return found;
}

/// Returns the devices that `device` consists of; for a partition, its disk. Returns nothing for a disk, and
/// if the devices are unknown or more than MostStacked.
std::vector<DeviceNumber> UnderlyingDevices(const DeviceNumber& device, const std::string& root)
{
  std::vector<DeviceNumber> below;
  std::error_code fault;
  const fs::path folder = fs::canonical(WithTrailingSlash(root) + "sys/dev/block/" + TextOf(device), fault);
  if (fault) {
    return below;
  }
  if (fs::exists(folder / "partition", fault)) {
    const auto disk = ReadDeviceNumber((folder.parent_path() / "dev").string());
    return disk ? std::vector<DeviceNumber>{*disk} : below;
  }
  for (fs::directory_iterator slave(folder / "slaves", fault), end; !fault && slave != end;
       slave.increment(fault)) {
    const auto number = ReadDeviceNumber((slave->path() / "dev").string());
    if (!number || below.size() >= MostStacked) {
      return {};
    }
    below.push_back(*number);
  }
  return below;
}

std::optional<std::uint64_t> ReadLargestRequest(const DeviceNumber& disk, const std::string& root)
{
  const auto text =
      ReadKernelText(WithTrailingSlash(root) + "sys/dev/block/" + TextOf(disk) + "/queue/max_sectors_kb", 64);
  const auto kibibytes =
      text ? ParseCount(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
  return kibibytes && *kibibytes >= 4 && *kibibytes < (1 << 22) ? std::optional(*kibibytes * 1024)
                                                                : std::nullopt;
}

}  // namespace

std::optional<Disk> FindDisk(
    const DeviceNumber& device, const std::string& source, const std::string& type, const std::string& root)
{
  // FUSE file systems choose their source names freely.
  const bool named = device.Major == 0 && type.rfind("fuse", 0) != 0;
  const auto first = device.Major != 0 ? std::optional(device)
                     : named           ? FindDeviceNumber(source, root)
                                       : std::nullopt;
  if (!first) {
    return {};
  }
  Disk disk;
  disk.Number = *first;
  disk.MaySpanDisks = named;
  for (std::size_t depth = 0; depth < MostStacked; ++depth) {
    const std::vector<DeviceNumber> below = UnderlyingDevices(disk.Number, root);
    disk.MaySpanDisks = disk.MaySpanDisks || below.size() > 1;
    if (below.size() != 1) {
      break;
    }
    disk.Number = below[0];
  }
  disk.LargestRequest = ReadLargestRequest(disk.Number, root).value_or(disk.LargestRequest);
  return disk;
}

std::optional<DiskCounters> ReadDiskCounters(const DeviceNumber& device, const std::string& root)
{
  std::optional<DiskCounters> counters;
  ForEachDisk(root, [&](const std::vector<std::string_view>& words) {
    if (!IsDevice(words, device)) {
      return false;
    }
    // The columns are: reads, merged, sectors, milliseconds; the same for writes; in flight now, busy,
    // weighted. Newer kernels append discards and flushes.
    const std::vector<std::uint64_t> numbers = ParseNumbers(words, 3);
    if (numbers.size() >= 11 && numbers.size() + 3 == words.size()) {
      counters = DiskCounters{std::string(words[2].substr(0, 64)), numbers[0], numbers[2], numbers[3],
          numbers[4], numbers[6], numbers[7]};
    }
    return true;
  });
  return counters;
}

std::optional<std::uint64_t> FetchedBytes(const std::string& root)
{
  const auto text = ReadKernelText(WithTrailingSlash(root) + "proc/self/io", 4096);
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const auto words = SplitWords(PopLine(rest), 2);
    if (words.size() == 2 && words[0] == "read_bytes:") {
      return ParseCount(words[1]);
    }
  }
  return {};
}

}  // namespace patchio
