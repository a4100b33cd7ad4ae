#include "Write/ConfigCheck.h"

#include "Base/ByteText.h"
#include "Base/Bytes.h"
#include "Base/Checksum.h"
#include "Base/Error.h"
#include "Base/RunOnAllRanks.h"
#include "Formats/Container/StepRecord.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace patchio::output {
namespace {

/// "KEY is VALUE" for all keys, with defaults filled in.
class Entries
{
public:
  explicit Entries(const OutputConfig& config);
  const std::vector<std::string>& Texts() const { return this->All; }

private:
  template <typename T>
  void Add(const char* key, const T& value)
  {
    this->All.push_back(fmt::format("\"{}\"{} is {}", key, this->Place, value));
  }
  void AddChannel(const Channel& channel);
  void AddSensor(const Sensor& sensor);

  std::string Place;
  std::vector<std::string> All;
};

Entries::Entries(const OutputConfig& config)
{
  std::uint64_t memory = config.Memory;
  for (const Channel& channel : config.Channels) {
    memory += channel.Memory;
  }
  this->Add("mode", NameOf(config.How));
  this->Add("io ranks", config.IoRanks);
  this->Add("layout", NameOf(config.Layout));
  this->Add("memory", fmt::format("{} bytes", memory));
  this->Add("wait seconds", config.WaitSeconds);
  this->Add("threads", config.Threads);
  this->Add("channels", fmt::format("a list of {}", config.Channels.size()));
  for (std::size_t i = 0; i < config.Channels.size(); ++i) {
    this->Place = fmt::format(" of channel {}", i + 1);
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
  for (const Window& window : channel.Windows) {
    windows.push_back(fmt::format("{} to {} every {}", window.First, window.Last, window.Every));
  }
  this->Add("windows", fmt::format("[{}]", fmt::join(windows, ", ")));
  this->Add("overwrite", channel.Overwrite);
  this->Add("compress", container::NameOfCompression(channel.Compression));
  this->Add("ranks a file", channel.RanksAFile);
  this->Add("start", channel.Start);
  this->Add("interval", channel.Interval);
  this->Add("steps at once", channel.StepsAtOnce);
  this->Add("flush after", channel.FlushSeconds);
  this->AddSensor(channel.Sees);
}

/// A mask may have millions of points: a checksum stands for them.
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

/// The files and folders that a channel writes to.
std::vector<std::string> FilesOf(const Channel& channel)
{
  std::vector<std::string> files{channel.Path};
  if (channel.Format == TargetFormat::Grads) {
    files.push_back(fs::path(channel.Path).replace_extension(".dat").string());
  }
  for (const SensorSeries& series : SeriesOf(channel.Sees, channel.Path)) {
    files.push_back(series.Path);
  }
  return files;
}

/// The one spelling of a path that all others of the same file share, with a '/' at its end.
std::string PlaceOf(const std::string& path)
{
  std::error_code fault;
  const fs::path absolute = fs::absolute(path, fault);
  const fs::path place = fs::weakly_canonical(absolute, fault);
  return (fault ? absolute : place).lexically_normal().string() + "/";
}

}  // namespace

void CheckPaths(const OutputConfig& config)
{
  struct File
  {
    std::string Place, Path;
    std::size_t Channel;
  };
  std::vector<File> files;
  for (std::size_t c = 0; c < config.Channels.size(); ++c) {
    for (const std::string& path : FilesOf(config.Channels[c])) {
      files.push_back({PlaceOf(path), path, c});
    }
  }
  for (const Channel& channel : config.Channels) {
    if (!channel.Mask.empty() && std::any_of(files.begin(), files.end(),
                                     [&](const File& file) { return file.Place == PlaceOf(channel.Mask); })) {
      throw FileError("The output configuration", "a \"mask\" that no channel writes to",
          fmt::format("the mask '{}', which is also a \"path\"", channel.Mask), "Change the \"path\"");
    }
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.Place < b.Place; });
  // A folder comes directly before the files in it.
  const auto clash = std::adjacent_find(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.Channel != b.Channel && b.Place.compare(0, a.Place.size(), a.Place) == 0;
  });
  if (clash != files.end()) {
    const File &one = clash[0], &two = clash[1];
    throw FileError("The output configuration", "channels that write to different paths",
        fmt::format("two channels that write to '{}': '{}' and '{}'", two.Path,
            PlainText(config.Channels[std::min(one.Channel, two.Channel)].Name),
            PlainText(config.Channels[std::max(one.Channel, two.Channel)].Name)),
        "Change one \"path\"");
  }
}

void CheckAlike(const OutputConfig& config, Communicator& ranks)
{
  const auto difference = CompareLines(ranks, Entries(config).Texts());
  if (!difference) {
    return;
  }
  const auto textOf = [line = difference->Line](const std::vector<std::string>& entries) {
    return line < entries.size() ? PlainText(entries[line]) : std::string("it is shorter");
  };
  throw Error(
      fmt::format("The output configuration must be the same on all ranks, but {} on rank 0, and {} on rank "
                  "{}. {} from rank 0.",
          textOf(difference->First), textOf(difference->Other), difference->Rank,
          CountText(difference->Count, "rank differs", "ranks differ")));
}

void CheckPlace(const std::string& path)
{
  std::error_code fault;
  fs::path folder = fs::absolute(path, fault);
  if (fs::is_directory(folder, fault)) {  // a container, in which readers look around
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
      throw SystemError(path, "a writable folder", errno);
    }
    return;
  }
  folder = folder.parent_path();
  fs::create_directories(folder, fault);
  if (fault) {
    throw SystemError(path, fmt::format("the folder {} to exist, or that it can be created", folder.string()),
        fault.value(), "Choose another \"path\" in the output configuration");
  }
  std::string trial = (folder / ".patchio-XXXXXX").string();
  if (!::mkdtemp(trial.data())) {
    const int number = errno;
    throw SystemError(path, fmt::format("the folder {} to be writable", folder.string()), number,
        "Choose another \"path\" in the output configuration");
  }
  ::rmdir(trial.c_str());
}

}  // namespace patchio::output
