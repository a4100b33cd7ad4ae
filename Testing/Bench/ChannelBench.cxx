// How long a step of many patches takes to open from its sidecar, and how large that is:
//   patchio_channel_bench PATCHES VARIABLES FOLDER
//   patchio_channel_bench SUMMARY
// The second form takes a real step and compares opening it with finding all its extents through its format
// and from its sidecar, which it makes (PATCHIO_METADATA_DIR says where). In the first form the step is made
// up: patches of 16^3 cells, 1000 to a file, scalars of floats. Run it twice or more with growing numbers to
// see that it grows in proportion.
#include "Formats/Format.h"
#include "MetadataChannel/StepSidecar.h"
#include "Read/OpenedStep.h"
#include "Support/Error.h"
#include "Support/Stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace patchio;

constexpr std::uint64_t ArrayBytes = 16 * 16 * 16 * 4;
constexpr int PatchesInFile = 1000;

/// Takes the name of a real format, so that its sidecars are found.
class MadeUpFormat : public Format
{
public:
  MadeUpFormat(int patches, int variables) : Patches(patches), Variables(variables) {}
  const char* Name() const override { return "SAMRAI"; }
  const char* Opens() const override { return "nothing"; }
  bool Claims(const std::string&) const override { return false; }
  Series OpenSeries(const std::string&, const SeriesOptions&) const override { return {}; }

  Catalog ReadCatalog(const std::string& path) const override
  {
    Catalog catalog;
    catalog.Path = path;
    catalog.Levels.resize(1);
    catalog.Levels[0].PatchCount = this->Patches;
    for (int p = 0; p < this->Patches; ++p) {
      const Int3 lower{16 * (p % 100), 16 * (p / 100 % 100), 16 * (p / 10000)};
      catalog.Patches.push_back(
          {{lower, {lower[0] + 15, lower[1] + 15, lower[2] + 15}}, 0, p, 0, p / PatchesInFile});
    }
    for (int v = 0; v < this->Variables; ++v) {
      catalog.Variables.push_back({fmt::format("v{}", v), Centering::Cell, 1, {0, 0, 0}, "v", -1});
    }
    catalog.ResetPresence();
    for (int p = 0; p < this->Patches; ++p) {
      for (int v = 0; v < this->Variables; ++v) {
        catalog.SetPresence(v, p, Presence::Stored);
      }
    }
    return catalog;
  }

  LocationTable Locate(
      const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions&) const override
  {
    LocationTable table;
    const std::string folder = std::filesystem::path(catalog.Path).parent_path().string();
    for (int file = 0; file * PatchesInFile < this->Patches; ++file) {
      table.Files.push_back(fmt::format("{}/data.{}", folder, file));
    }
    for (const PatchVariable& request : requests) {
      table.Locations.push_back({Encoding::Raw, static_cast<std::uint32_t>(table.Extents.size()), 1, 0, 0});
      const std::uint64_t number =
          std::uint64_t(request.Patch % PatchesInFile) * this->Variables + request.Variable;
      table.Extents.push_back(
          {number * ArrayBytes, ArrayBytes, request.Patch / PatchesInFile, ElementType::Float32, true});
    }
    return table;
  }

private:
  int Patches, Variables;
};

void Run(int patches, int variables, const std::string& folder)
{
  const std::string path = folder + "/summary.samrai";
  std::ofstream(path) << "made up";
  for (int file = 0; file * PatchesInFile < patches; ++file) {
    const std::string name = fmt::format("{}/data.{}", folder, file);
    std::ofstream(name).close();
    std::filesystem::resize_file(name, std::uint64_t(PatchesInFile) * variables * ArrayBytes);
  }
  const MadeUpFormat format(patches, variables);
  const Catalog catalog = format.ReadCatalog(path);
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  ChannelSettings settings;
  settings.SettleSeconds = -10;
  std::vector<PatchVariable> requests;
  for (int p = 0; p < patches; ++p) {
    for (int v = 0; v < variables; ++v) {
      requests.push_back({p, v});
    }
  }
  {
    const DescribingState describing = LookAtDescribingFile(path);
    const Stopwatch watch;
    BuiltIndex built = BuildIndex(*alone, format, catalog, settings);
    const double seconds = watch.Seconds();
    const SaveOutcome outcome = SaveStepSidecar(*alone, format, catalog, built, describing, settings);
    if (outcome.Path.empty()) {
      throw Error(outcome.WhyNot);
    }
    fmt::print("built in {:.3f} s, saved after {:.3f} s\n", seconds, watch.Seconds());
  }
  for (int round = 0; round < 5; ++round) {
    const Stopwatch watch;
    const SidecarSearch search = FindStepSidecar(*alone, path, settings);
    const double seconds = watch.Seconds();
    if (!search.Found) {
      throw Error("not found: " + search.Warning());
    }
    const Stopwatch finding;
    const IndexAnswer answer = search.Found->Index.Index.Find(search.Found->Data, requests);
    const double memory = static_cast<double>(search.Found->Index.Memory->Size()) +
                          static_cast<double>(catalog.Patches.size()) * (sizeof(Patch) + variables);
    fmt::print(
        "opened in {:.4f} s, all {} extents found in {:.4f} s; a <patch, variable>: {:.1f} bytes in the "
        "sidecar, "
        "{:.1f} in memory\n",
        seconds, answer.Table.Extents.size(), finding.Seconds(),
        static_cast<double>(search.Found->Bytes) / static_cast<double>(requests.size()),
        memory / static_cast<double>(requests.size()));
  }
}

/// Median of seconds of five openings, all extents found.
double TimeOf(const std::string& path, ChannelMode mode)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  std::vector<double> seconds;
  for (int round = 0; round < 5; ++round) {
    const Stopwatch watch;
    const OpenedStep step(*alone, path, mode);
    std::vector<PatchVariable> requests;
    requests.reserve(step.Data().Patches.size() * step.Data().Variables.size());
    for (int p = 0; p < static_cast<int>(step.Data().Patches.size()); ++p) {
      for (int v = 0; v < static_cast<int>(step.Data().Variables.size()); ++v) {
        requests.push_back({p, v});
      }
    }
    step.Locate(requests, 1);
    seconds.push_back(watch.Seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[2];
}

void Compare(const std::string& path)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  OpenedStep step(*alone, path, ChannelMode::On);
  step.Prepare(*alone, 1);
  fmt::print("{}\n", step.Origin());
  const double format = TimeOf(path, ChannelMode::Off), sidecar = TimeOf(path, ChannelMode::ReadOnly);
  fmt::print("{} patches, {} variables: format {:.4f} s, sidecar {:.4f} s, {:.0f} times faster\n",
      step.Data().Patches.size(), step.Data().Variables.size(), format, sidecar, format / sidecar);
}

}  // namespace

int main(int argc, char** argv)
{
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "usage: patchio_channel_bench PATCHES VARIABLES FOLDER | SUMMARY\n");
    return 2;
  }
  try {
    if (argc == 2) {
      Compare(argv[1]);
      return 0;
    }
    Run(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
