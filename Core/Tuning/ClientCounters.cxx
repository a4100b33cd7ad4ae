#include "Tuning/ClientCounters.h"

#include "Tuning/KernelText.h"

#include <filesystem>
#include <vector>

namespace patchio {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string_view>;

constexpr std::size_t MostMountText = std::size_t(1) << 24;   ///< thousands of mounts
constexpr std::size_t MostTargetText = std::size_t(1) << 16;  ///< of one storage target
constexpr int MostTargets = 4096;

/// Mount tables write blanks and the like as \040.
std::string Unescaped(std::string_view text)
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

/// The whole numbers from word `first` on, as far as they go.
std::vector<std::uint64_t> NumbersFrom(const Words& words, std::size_t first)
{
  std::vector<std::uint64_t> numbers;
  for (std::size_t index = first; index < words.size(); ++index) {
    const auto number = WholeNumber(words[index]);
    if (!number) {
      break;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

/// "device SOURCE mounted on POINT with fstype nfs4 statvers=1.1".
bool BeginsMount(const Words& words)
{
  return words.size() >= 8 && words[0] == "device" && words[2] == "mounted";
}

bool IsNfsMount(const Words& words, const std::string& point)
{
  return words[7].substr(0, 3) == "nfs" && Unescaped(words[4]) == point;
}

/// "name  25 samples [unit] least greatest sum [squares]".
struct Tally
{
  std::uint64_t Count = 0;
  std::uint64_t Sum = 0;
};

std::optional<Tally> TallyIn(const Words& words)
{
  const auto count = words.size() >= 7 && words[2] == "samples" ? WholeNumber(words[1]) : std::nullopt;
  const auto sum = count ? WholeNumber(words[6]) : std::nullopt;
  return sum ? std::optional(Tally{*count, *sum}) : std::nullopt;
}

/// Adds what the file says under `name`; false when it says nothing.
bool AddTally(const std::string& text, const std::string& name, Tally& total)
{
  for (std::string_view rest = text; !rest.empty();) {
    const Words words = WordsOf(TakeLine(rest), 8);
    if (!words.empty() && words[0] == name) {
      const auto tally = TallyIn(words);
      total.Count += tally ? tally->Count : 0;
      total.Sum += tally ? tally->Sum : 0;
      return tally.has_value();
    }
  }
  return false;
}

/// The texts "stats" of all folders in `folder` whose names begin like that.
std::vector<std::string> StatsIn(const std::string& folder, const std::string& beginning)
{
  std::vector<std::string> texts;
  int seen = 0;
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end && seen < MostTargets;
       entry.increment(fault), ++seen) {
    if (entry->path().filename().string().rfind(beginning, 0) == 0) {
      if (auto text = ReadKernelText((entry->path() / "stats").string(), MostTargetText)) {
        texts.push_back(std::move(*text));
      }
    }
  }
  return texts;
}

/// "scratch" of "10.0.0.1@tcp:10.0.0.2@tcp:/scratch/sub".
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
  const auto text = ReadKernelText(RootFolder(root) + "proc/self/mountstats", MostMountText);
  bool here = false, bytesKnown = false, readsKnown = false;
  ClientCounters counters;
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const Words words = WordsOf(TakeLine(rest), 16);
    if (words.empty()) {
      continue;
    }
    if (BeginsMount(words)) {
      // What is mounted later hides what is below.
      here = IsNfsMount(words, mountPoint);
      bytesKnown = bytesKnown && !here;
      readsKnown = readsKnown && !here;
    } else if (here && words[0] == "bytes:") {
      // Read by processes, written, read directly, written directly, read from the server, ...
      const auto numbers = NumbersFrom(words, 1);
      bytesKnown = numbers.size() >= 5;
      if (bytesKnown) {
        counters.Wanted = numbers[0] + numbers[2];
        counters.Delivered = numbers[4];
      }
    } else if (here && words[0] == "READ:") {
      // Requests, sent how often, timeouts, bytes sent, received, milliseconds queued, on the way, in all.
      const auto numbers = NumbersFrom(words, 1);
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
    const std::string folder = RootFolder(root) + place;
    Tally wanted, delivered, reads;
    bool known = false;
    for (const std::string& text : StatsIn(folder + "osc", name + "-OST")) {
      known = AddTally(text, "read_bytes", delivered) || known;
      AddTally(text, "ost_read", reads);
    }
    for (const std::string& text : StatsIn(folder + "llite", name + "-")) {
      AddTally(text, "read_bytes", wanted);
    }
    if (known) {
      return ClientCounters{wanted.Sum, delivered.Sum, reads.Count, reads.Sum * 1e-6};
    }
  }
  return {};
}

}  // namespace patchio
