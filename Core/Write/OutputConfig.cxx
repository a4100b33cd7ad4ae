#include "Write/OutputConfig.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/Container/StepRecord.h"
#include "Formats/GRADS/GradsDescriptor.h"
#include "Formats/KWave/KwaveFile.h"
#include "Tuning/Mount.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace patchio::output {

namespace {

/// A JSON object of the configuration. Records the keys that are read; see CheckAllKnown(). All methods
/// except Has() throw Error.
class Section
{
public:
  Section(const nlohmann::json& object, std::string location);

  bool Has(const char* key) const { return this->Object.contains(key); }

  /// Returns the value of a key, or `defaultValue` if the object lacks the key. `expected`: phrase for
  /// messages. `isValid` returns whether a value is valid.
  template <typename T>
  T Get(const char* key, const char* expected, T defaultValue,
      const std::function<bool(const T&)>& isValid = {})
  {
    const nlohmann::json* value = this->Find(key);
    if (!value) {
      return defaultValue;
    }
    try {
      T result = value->get<T>();
      if (nlohmann::json(result) == *value &&
          (!isValid || isValid(result))) {  // rejects 1.5 for a whole number
        return result;
      }
    } catch (const nlohmann::json::exception&) {
    }
    this->Fail(fmt::format("{} for \"{}\"", expected, key), value->dump());
  }

  /// Returns the enumerator that the value of a key names, or `defaultValue` if the object lacks the key.
  /// `last`: the last enumerator.
  template <typename Enum>
  Enum GetNamed(const char* key, Enum defaultValue, Enum last)
  {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      names.emplace_back(NameOf(static_cast<Enum>(i)));
    }
    const auto name = this->Get<std::string>(key, fmt::format("one of {}", fmt::join(names, ", ")).c_str(),
        NameOf(defaultValue), [&](const std::string& text) { return ValueNamed(text, last).has_value(); });
    return *ValueNamed(name, last);
  }

  /// Returns the elements of the list of a key, or an empty list if the object lacks the key.
  std::vector<Section> GetSections(const char* key);

  /// Throws Error if the object has a key that no method has read.
  void CheckAllKnown() const;

  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const;

private:
  const nlohmann::json* Find(const char* key);

  const nlohmann::json& Object;
  const std::string Location;
  std::set<std::string> Known;
};

using nlohmann::json;

/// Name of the configuration in messages.
constexpr const char* ConfigName = "The output configuration";
/// Largest number of bytes that are read from a file.
constexpr std::uint64_t LargestConfig = 16 << 20;

/// Parses a JSON text. `name`: name of the text for messages. Throws Error for invalid JSON, and if an object
/// has a key twice, because the JSON library would ignore all values except the last.
json Parse(const std::string& text, const std::string& name)
{
  std::vector<std::set<std::string>> keys;  // keys of the objects that enclose the current position
  const auto check = [&](int /*depth*/, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw FileError(name, "different keys in an object",
          fmt::format("the key \"{}\" twice", PlainText(value.get<std::string>())),
          "Remove one of the two keys");
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& error) {
    throw FileError(name, "a JSON text", PlainText(error.what()));
  }
}

/// Returns whether `text` can be a path: a text that is not empty and has no control characters, such as the
/// null character, which ends a path in C.
bool IsPath(const std::string& text)
{
  return !text.empty() &&
         std::none_of(text.begin(), text.end(), [](char letter) { return letter >= 0 && letter < ' '; });
}

/// Parses a configuration. `textOrPath`: see ReadOutputConfig(). Throws Error if the file cannot be read;
/// also see Parse().
json ParseConfig(const std::string& textOrPath)
{
  const std::size_t begin = textOrPath.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    throw FileError(ConfigName, "the path of a file, or a JSON text, {...}", "an empty text");
  }
  const bool isText = textOrPath[begin] == '{';
  if (!isText && textOrPath.find('\0') != std::string::npos) {
    throw FileError(ConfigName, "a path without a zero byte", PlainText(textOrPath));
  }
  return isText ? Parse(textOrPath, ConfigName) : Parse(FirstBytes(textOrPath, LargestConfig), textOrPath);
}

Section::Section(const json& object, std::string location) : Object(object), Location(std::move(location))
{
  if (!object.is_object()) {
    this->Fail("an object, {...}", object.dump());
  }
}

std::vector<Section> Section::GetSections(const char* key)
{
  std::vector<Section> sections;
  const json* list = this->Find(key);
  if (list && !list->is_array()) {
    this->Fail(fmt::format("a list, [...], for \"{}\"", key), list->dump());
  }
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    sections.emplace_back(
        (*list)[i], fmt::format("{}{}{} {}", this->Location, this->Location.empty() ? "" : ", ", key, i + 1));
  }
  return sections;
}

void Section::CheckAllKnown() const
{
  for (const auto& [key, value] : this->Object.items()) {
    if (this->Known.count(key) == 0) {
      this->Fail(fmt::format("the keys {}", fmt::join(this->Known, ", ")), fmt::format("\"{}\"", key));
    }
  }
}

void Section::Fail(const std::string& expected, const std::string& found) const
{
  const std::string where = this->Location.empty() ? "" : fmt::format(" ({})", this->Location);
  throw FileError(ConfigName + where, expected, PlainText(found));
}

const json* Section::Find(const char* key)
{
  this->Known.insert(key);
  const auto found = this->Object.find(key);
  return found == this->Object.end() ? nullptr : &*found;
}

/// Parses a size such as "512 MB". Returns the number of bytes, or 0 if the text is not a size.
std::uint64_t ParseBytes(const std::string& text)
{
  static const std::map<std::string, double> units{
      {"", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  double number = 0;
  const char* const end =
      std::from_chars(text.data(), text.data() + text.size(), number).ptr;  // independent of the locale
  const auto unit =
      units.find(text.substr(std::min(text.size(), text.find_first_not_of(' ', end - text.data()))));
  const double bytes = unit == units.end() ? 0 : number * unit->second;
  return bytes >= 1 && bytes < 1e18 ? static_cast<std::uint64_t>(bytes) : 0;
}

StepRange ParseStepRange(Section section)
{
  const auto natural = [](const std::int64_t& number) { return number >= 0; };
  const auto positive = [](const std::int64_t& number) { return number > 0; };
  StepRange window;
  window.First = section.Get<std::int64_t>("first", "a step, 0 or more,", window.First, natural);
  window.Last = section.Get<std::int64_t>("last", "a step, 0 or more,", window.Last, natural);
  window.Every = section.Get<std::int64_t>("every", "a number of steps, 1 or more,", window.Every, positive);
  section.CheckAllKnown();
  if (window.Last < window.First) {
    section.Fail(
        "a last step that is not before the first", fmt::format("{} and {}", window.First, window.Last));
  }
  return window;
}

std::vector<StepRange> ParseStepRanges(Section& section)
{
  std::vector<StepRange> windows;
  for (const Section& window : section.GetSections("windows")) {
    windows.push_back(ParseStepRange(window));
  }
  if (windows.empty() && section.Has("windows")) {
    section.Fail("at least one window (omit the key \"windows\" to write every step)", "an empty list");
  }
  return windows.empty() ? std::vector<StepRange>(1) : windows;
}

FilterType ParseCompression(Section& section)
{
  std::map<std::string, FilterType> filters;
  for (const FilterType filter : {FilterType::None, FilterType::Deflate, FilterType::Zstd}) {
    filters[container::NameOfCompression(filter)] = filter;
  }
  return filters.at(section.Get<std::string>("compress", "off, deflate or zstd", "off",
      [&](const std::string& name) { return filters.count(name) > 0; }));
}

std::vector<SensorCuboid> ParseCuboids(Section& section)
{
  const auto three = [](const std::vector<int>& cells) {
    return cells.size() == 3 && *std::min_element(cells.begin(), cells.end()) >= 0;
  };
  std::vector<SensorCuboid> cuboids;
  for (Section each : section.GetSections("cuboids")) {
    const auto cell = [&](const char* key) {
      const auto cells = each.Get<std::vector<int>>(key, "the cell [x, y, z], each from 0,", {}, three);
      if (cells.empty()) {
        each.Fail(fmt::format("a \"{}\" cell, [x, y, z],", key), "no such key");
      }
      return Int3{cells[0], cells[1], cells[2]};
    };
    SensorCuboid& cuboid = cuboids.emplace_back();
    cuboid.Cells = {cell("lower"), cell("upper")};
    cuboid.Every = each.Get<int>(
        "every", "a number of steps, 1 or more,", 1, [](const int& every) { return every > 0; });
    each.CheckAllKnown();
    if (cuboid.Cells.Empty()) {
      each.Fail("an \"upper\" cell that is not below the \"lower\" cell",
          fmt::format("{} and {}", cuboid.Cells.Upper, cuboid.Cells.Lower));
    }
  }
  return cuboids;
}

void CheckPeriods(const std::vector<SensorCuboid>& cuboids, const Section& section)
{
  std::set<int> periods;
  for (const SensorCuboid& cuboid : cuboids) {
    periods.insert(cuboid.Every);
  }
  for (auto longer = periods.begin(); longer != periods.end() && std::next(longer) != periods.end();
       ++longer) {
    if (*std::next(longer) % *longer != 0) {
      section.Fail("cuboids whose periods are multiples of all shorter periods",
          fmt::format("{} and {}", *longer, *std::next(longer)));
    }
  }
}

/// Throws Error if a range of steps has no end or the channel has too many steps, because k-Wave files have a
/// fixed length.
void CheckLength(const Channel& channel, const Section& section)
{
  constexpr std::int64_t most = std::int64_t(1) << 40;
  const bool endless = std::any_of(channel.StepRanges.begin(), channel.StepRanges.end(),
      [](const StepRange& window) { return window.Last == StepRange().Last; });
  if (endless) {
    section.Fail("windows with a \"last\" step, because k-Wave files have a fixed length",
        "a window without \"last\"");
  }
  if (channel.MostSteps() > most) {
    section.Fail(fmt::format("windows of at most {} steps for the format kwave", most),
        fmt::format("{} steps or more", channel.MostSteps()));
  }
}

/// Throws Error if the format kwave does not allow the name of a variable.
void CheckNames(const Channel& channel, const Section& section)
{
  for (const std::string& name : channel.Variables) {
    const std::string fault = kwave::FaultOfName(name);
    if (!fault.empty()) {
      section.Fail(
          "names of variables that the format kwave allows (rename the variable, or write it to a "
          "container)",
          fmt::format("\"{}\": {}", name, fault));
    }
  }
}

/// Parses the keys of the format kwave. Throws Error for invalid values, and if another format has these
/// keys.
void ParseSensorKeys(Section& section, Channel& channel)
{
  const bool isKwave = channel.Format == TargetFormat::Kwave;
  const auto mask = section.Get<std::string>("mask", "the path of a k-Wave file", "", IsPath);
  channel.SensorCells.Cuboids = ParseCuboids(section);
  channel.SensorCells.Points = section.Get<std::vector<std::int64_t>>(
      "points", "a list of cell numbers from 1", {}, [](const std::vector<std::int64_t>& points) {
        return points.empty() || *std::min_element(points.begin(), points.end()) >= 1;
      });
  channel.StepsAtOnce = section.Get<int>(
      "steps at once", "a number of steps, or 0 (automatic)", 0, [](const int& steps) { return steps >= 0; });
  channel.FlushSeconds = section.Get<double>("flush after", "seconds, or 0 (as late as possible)", 0,
      [](const double& seconds) { return seconds >= 0; });
  const bool gathers = channel.StepsAtOnce > 0 || channel.FlushSeconds > 0;
  if (!isKwave && (!mask.empty() || !channel.SensorCells.Empty() || gathers)) {
    section.Fail(
        "the format kwave for a sensor, \"steps at once\" and \"flush after\"", NameOf(channel.Format));
  }
  if (isKwave && mask.empty() == channel.SensorCells.Empty()) {
    section.Fail("a sensor, either by \"cuboids\" and \"points\" or by a \"mask\", for the format kwave",
        mask.empty() ? "neither" : "both");
  }
  if (!mask.empty()) {
    channel.SensorCells = ReadSensorMask(mask);
    channel.Mask = mask;
  }
  CheckPeriods(channel.SensorCells.Cuboids, section);
  if (isKwave) {
    CheckLength(channel, section);
    CheckNames(channel, section);
  }
}

/// Parses the keys of the format grads. Throws Error for invalid values, and if another format has these
/// keys.
void ParseGradsKeys(Section& section, Channel& channel)
{
  const std::string start = channel.Start, interval = channel.Interval;
  channel.Start = section.Get<std::string>("start", "a time that exists, such as \"06:00Z01jun2017\",", start,
      [](const std::string& text) { return grads::ParseDate(text, grads::Calendar::Gregorian).has_value(); });
  channel.Interval =
      section.Get<std::string>("interval", "a time such as \"10mn\", \"6hr\", \"1dy\", \"1mo\" or \"1yr\"",
          interval, [](const std::string& text) { return grads::ParseIncrement(text).has_value(); });
  if (channel.Format != TargetFormat::Grads && (channel.Start != start || channel.Interval != interval)) {
    section.Fail("the format grads for \"start\" and \"interval\"", NameOf(channel.Format));
  }
}

/// Reserves half of the memory for the steps that channels of the format kwave gather, if the configuration
/// has such channels.
void ReserveGatherMemory(OutputConfig& config)
{
  const auto gathers = [](const Channel& channel) { return channel.Format == TargetFormat::Kwave; };
  const auto count =
      static_cast<std::uint64_t>(std::count_if(config.Channels.begin(), config.Channels.end(), gathers));
  for (Channel& channel : config.Channels) {
    channel.Memory = gathers(channel) ? config.Memory / 2 / count : 0;
  }
  config.Memory -= count > 0 ? config.Memory / 2 : 0;
}

Channel ParseChannel(Section section, std::size_t number)
{
  Channel channel;
  const auto some = [](const std::string& text) { return !text.empty(); };
  channel.Name = section.Get<std::string>("name", "a name", fmt::format("channel {}", number), some);
  channel.Path = section.Get<std::string>("path", "a path without control characters", "", IsPath);
  if (channel.Path.empty()) {
    section.Fail("a \"path\" to write to", "no such key");
  }
  channel.Format = section.GetNamed("format", channel.Format, TargetFormat::Kwave);
  for (const auto& [format, ending] :
      {std::pair(TargetFormat::Grads, ".ctl"), std::pair(TargetFormat::Kwave, ".h5")}) {
    if ((channel.Format == format) != (fs::path(channel.Path).extension() == ending)) {
      section.Fail(fmt::format("a \"path\" that ends with {} if, and only if, the format is {}", ending,
                       NameOf(format)),
          channel.Path);
    }
  }
  channel.Variables = section.Get<std::vector<std::string>>("variables",
      "a list of one or more different names (omit the key for all variables)", {},
      [](const std::vector<std::string>& names) {
        return !names.empty() && std::set<std::string>(names.begin(), names.end()).size() == names.size();
      });
  channel.StepRanges = ParseStepRanges(section);
  channel.Overwrite = section.Get<bool>("overwrite", "true or false", false);
  channel.Compression = ParseCompression(section);
  channel.RanksPerFile = section.Get<int>(
      "ranks a file", "0 (all) or a number of ranks", 0, [](const int& ranks) { return ranks >= 0; });
  ParseSensorKeys(section, channel);
  ParseGradsKeys(section, channel);
  section.CheckAllKnown();
  if (channel.Format != TargetFormat::Container &&
      (channel.Compression != FilterType::None || channel.RanksPerFile > 0)) {
    section.Fail("the format container for \"compress\" and \"ranks a file\"", NameOf(channel.Format));
  }
  return channel;
}

}  // namespace

const char* NameOf(TargetFormat format)
{
  return format == TargetFormat::Kwave ? "kwave" : format == TargetFormat::Grads ? "grads" : "container";
}

const char* NameOf(IoLayout layout)
{
  return layout == IoLayout::Shared ? "shared" : "independent";
}

const char* NameOf(Mode mode)
{
  return mode == Mode::Direct ? "direct" : mode == Mode::Thread ? "thread" : "ranks";
}

bool Channel::WritesStep(std::int64_t step) const
{
  return std::any_of(this->StepRanges.begin(), this->StepRanges.end(),
      [step](const StepRange& window) { return window.Contains(step); });
}

std::int64_t Channel::MostSteps() const
{
  constexpr std::int64_t most = std::int64_t(1) << 60;
  std::int64_t steps = 0;
  for (const StepRange& window : this->StepRanges) {
    steps = std::min(most, steps + std::min(most, (window.Last - window.First) / window.Every) + 1);
  }
  return steps;
}

OutputConfig ReadOutputConfig(const std::string& textOrPath)
{
  const nlohmann::json parsed = ParseConfig(textOrPath);
  Section section(parsed, "");
  OutputConfig config;
  config.WriteMode = section.GetNamed("mode", config.WriteMode, Mode::Ranks);
  config.IoRanks = section.Get<int>(
      "io ranks", "a number of I/O ranks, or 0", 0, [](const int& ranks) { return ranks >= 0; });
  config.Layout = section.GetNamed("layout", config.Layout, IoLayout::Shared);
  const auto memory = section.Get<std::string>("memory", "a size such as \"512 MB\"", "1 GiB",
      [](const std::string& text) { return ParseBytes(text) > 0; });
  config.Memory = ParseBytes(memory);
  config.WaitSeconds = section.Get<double>("wait seconds", "seconds, more than 0 and at most 1e9,",
      config.WaitSeconds, [](const double& s) { return s > 0 && s <= 1e9; });
  config.Threads = section.Get<int>("threads", "a number of threads, or 0", 0,
      [](const int& threads) { return threads >= 0 && threads <= 4096; });
  for (const Section& channel : section.GetSections("channels")) {
    config.Channels.push_back(ParseChannel(channel, config.Channels.size() + 1));
  }
  section.CheckAllKnown();
  ReserveGatherMemory(config);
  for (const Channel& channel : config.Channels) {
    if (channel.Format == TargetFormat::Kwave && config.WriteMode == Mode::Ranks) {
      section.Fail("the mode thread or direct for channels of the format kwave", "ranks");
    }
  }
  CheckPaths(config);
  return config;
}

namespace {

/// All keys and values of a configuration, including defaults, as texts "KEY is VALUE".
class Entries
{
public:
  explicit Entries(const OutputConfig& config);
  const std::vector<std::string>& Texts() const { return this->All; }

private:
  template <typename T>
  void Add(const char* key, const T& value)
  {
    this->All.push_back(fmt::format("\"{}\"{} is {}", key, this->Suffix, value));
  }
  void AddChannel(const Channel& channel);
  void AddSensor(const Sensor& sensor);

  std::string Suffix;
  std::vector<std::string> All;
};

Entries::Entries(const OutputConfig& config)
{
  std::uint64_t memory = config.Memory;
  for (const Channel& channel : config.Channels) {
    memory += channel.Memory;
  }
  this->Add("mode", NameOf(config.WriteMode));
  this->Add("io ranks", config.IoRanks);
  this->Add("layout", NameOf(config.Layout));
  this->Add("memory", fmt::format("{} bytes", memory));
  this->Add("wait seconds", config.WaitSeconds);
  this->Add("threads", config.Threads);
  this->Add("channels", fmt::format("a list of {}", config.Channels.size()));
  for (std::size_t i = 0; i < config.Channels.size(); ++i) {
    this->Suffix = fmt::format(" of channel {}", i + 1);
    this->AddChannel(config.Channels[i]);
  }
}

void Entries::AddChannel(const Channel& channel)
{
  this->Add("path", channel.Path);
  this->Add("name", channel.Name);
  this->Add("format", NameOf(channel.Format));
  this->Add("variables", fmt::format("[{}]", fmt::join(channel.Variables, ", ")));
  std::vector<std::string> windows;
  for (const StepRange& window : channel.StepRanges) {
    windows.push_back(fmt::format("{} to {} every {}", window.First, window.Last, window.Every));
  }
  this->Add("windows", fmt::format("[{}]", fmt::join(windows, ", ")));
  this->Add("overwrite", channel.Overwrite);
  this->Add("compress", container::NameOfCompression(channel.Compression));
  this->Add("ranks a file", channel.RanksPerFile);
  this->Add("start", channel.Start);
  this->Add("interval", channel.Interval);
  this->Add("steps at once", channel.StepsAtOnce);
  this->Add("flush after", channel.FlushSeconds);
  this->AddSensor(channel.SensorCells);
}

/// Adds the entries of the sensor. A mask may have millions of points, so the entry has a checksum of the
/// points.
void Entries::AddSensor(const Sensor& sensor)
{
  std::vector<std::string> cuboids;
  for (const SensorCuboid& cuboid : sensor.Cuboids) {
    cuboids.push_back(fmt::format("{} to {} every {}", cuboid.Cells.Lower, cuboid.Cells.Upper, cuboid.Every));
  }
  const std::string text = fmt::format("{}", fmt::join(cuboids, ", "));
  this->Add("cuboids", text.size() < 200 ? "[" + text + "]"
                                         : fmt::format("a list of {} with the checksum {:08x}",
                                               cuboids.size(), Checksum(text.data(), text.size())));
  this->Add("points", fmt::format("a list of {} with the checksum {:08x}", sensor.Points.size(),
                          Checksum(sensor.Points.data(), sensor.Points.size() * sizeof sensor.Points[0])));
}

/// Returns the paths of the files and folders that a channel writes.
std::vector<std::string> FilesOf(const Channel& channel)
{
  std::vector<std::string> files{channel.Path};
  if (channel.Format == TargetFormat::Grads) {
    files.push_back(fs::path(channel.Path).replace_extension(".dat").string());
  }
  for (const SensorPortion& portion : PortionsOf(channel.SensorCells, channel.Path)) {
    files.push_back(portion.Path);
  }
  return files;
}

}  // namespace

void CheckPaths(const OutputConfig& config)
{
  struct File
  {
    std::string Canonical, Path;
    std::size_t Channel;
  };
  std::vector<File> files;
  for (std::size_t c = 0; c < config.Channels.size(); ++c) {
    for (const std::string& path : FilesOf(config.Channels[c])) {
      files.push_back({ResolvedPath(path) + "/", path, c});
    }
  }
  for (const Channel& channel : config.Channels) {
    const std::string mask = channel.Mask.empty() ? "" : ResolvedPath(channel.Mask) + "/";
    if (std::any_of(files.begin(), files.end(), [&](const File& file) { return file.Canonical == mask; })) {
      throw FileError(ConfigName, "a \"mask\" that no channel writes to",
          fmt::format("the mask '{}', which is also a \"path\"", channel.Mask), "Change the \"path\"");
    }
  }
  std::sort(
      files.begin(), files.end(), [](const File& a, const File& b) { return a.Canonical < b.Canonical; });
  // In sorted order, a folder comes directly before the files in it.
  const auto clash = std::adjacent_find(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.Channel != b.Channel && b.Canonical.compare(0, a.Canonical.size(), a.Canonical) == 0;
  });
  if (clash != files.end()) {
    const File &one = clash[0], &two = clash[1];
    throw FileError(ConfigName, "channels that write to different paths",
        fmt::format("two channels that write to '{}': '{}' and '{}'", two.Path,
            PlainText(config.Channels[std::min(one.Channel, two.Channel)].Name),
            PlainText(config.Channels[std::max(one.Channel, two.Channel)].Name)),
        "Change one \"path\"");
  }
}

void CheckSameConfig(const OutputConfig& config, Communicator& ranks)
{
  const auto difference = CompareLines(ranks, Entries(config).Texts());
  if (!difference) {
    return;
  }
  const auto textOf = [line = difference->Line](const std::vector<std::string>& entries) {
    return line < entries.size() ? PlainText(entries[line]) : std::string("the configuration is shorter");
  };
  throw Error(
      fmt::format("The output configuration must be the same on all ranks, but {} on rank 0, and {} on rank "
                  "{}. {} from rank 0.",
          textOf(difference->First), textOf(difference->Other), difference->Rank,
          CountText(difference->Count, "rank differs", "ranks differ")));
}

void MakeWritableFolder(const std::string& path)
{
  std::error_code fault;
  fs::path folder = fs::absolute(path, fault);
  if (fs::is_directory(folder, fault)) {  // a container
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
      throw SystemError(path, "a writable folder", errno);
    }
    return;
  }
  folder = folder.parent_path();
  fs::create_directories(folder, fault);
  if (fault) {
    throw SystemError(path, fmt::format("an existing folder {}, or permission to make it", folder.string()),
        fault.value(), "Choose another \"path\" in the output configuration");
  }
  std::string trial = (folder / ".patchio-XXXXXX").string();
  if (!::mkdtemp(trial.data())) {
    const int number = errno;
    throw SystemError(path, fmt::format("a writable folder {}", folder.string()), number,
        "Choose another \"path\" in the output configuration");
  }
  ::rmdir(trial.c_str());
}

namespace {

constexpr std::size_t Digits = 31;  // bits of an int32 that is not negative

std::vector<std::size_t> SortedByName(const std::vector<std::string>& names)
{
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  return order;
}

/// Returns the value of the digit with index `digit` in its integer. `count`: number of all digits.
std::int32_t ValueOfDigit(std::size_t digit, std::size_t count)
{
  const std::size_t end = std::min(count, (digit / Digits + 1) * Digits);
  return std::int32_t(1) << (end - 1 - digit);
}

}  // namespace

VariableCode CodeOf(const std::vector<std::string>& names, const std::vector<bool>& selected)
{
  const std::vector<std::size_t> order = SortedByName(names);
  VariableCode code((names.size() + Digits - 1) / Digits);
  for (std::size_t digit = 0; digit < order.size(); ++digit) {
    code[digit / Digits] += selected[order[digit]] ? ValueOfDigit(digit, order.size()) : 0;
  }
  return code;
}

std::vector<bool> Decode(const VariableCode& code, const std::vector<std::string>& names)
{
  const std::vector<std::size_t> order = SortedByName(names);
  std::vector<bool> selected(names.size());
  if (code.size() == (names.size() + Digits - 1) / Digits) {
    for (std::size_t digit = 0; digit < order.size(); ++digit) {
      selected[order[digit]] = (code[digit / Digits] & ValueOfDigit(digit, order.size())) != 0;
    }
  }
  if (CodeOf(names, selected) != code) {
    throw Error(
        fmt::format("An I/O rank received an invalid set of the {} variables, so the ranks run "
                    "different versions of PatchIO. Start all ranks with the same version.",
            names.size()));
  }
  return selected;
}

VariableCode EndMark()
{
  return {-1};
}

}  // namespace patchio::output
