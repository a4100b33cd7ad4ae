#include "Base/Error.h"
#include "Base/Text.h"
#include "Session.h"
#include "Subcommands.h"
#include "Tuning/StorageProfile.h"
#include "Write/Aggregation.h"
#include "Write/OutputConfig.h"
#include "Write/Sensor.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio::tools {
namespace {

using namespace output;

constexpr int MostRanks = 1 << 20;

struct PlanOptions
{
  std::string Path;
  int Ranks = 1;
  std::vector<int> Cells{}, Parts{};
  int Variables = 1;
};

std::string SizeText(std::uint64_t bytes)
{
  return ByteText(static_cast<double>(bytes));
}

/// Returns a catalog with one patch per rank.
Catalog MakeCatalog(const PlanOptions& options)
{
  Catalog data;
  data.Levels.resize(1);
  for (int rank = 0; rank < options.Ranks; ++rank) {
    Patch& patch = data.Patches.emplace_back();
    int rest = rank;
    for (int axis = 0; axis < 3; ++axis) {
      const int position = rest % options.Parts[axis];
      rest /= options.Parts[axis];
      const auto [first, end] = ShareOfRank(options.Cells[axis], position, options.Parts[axis]);
      patch.Cells.Lower[axis] = static_cast<int>(first);
      patch.Cells.Upper[axis] = static_cast<int>(end) - 1;
    }
  }
  return data;
}

/// Returns the number of bytes of a step of the channel on each rank. Throws Error if the channel samples
/// cells outside the grid.
std::vector<std::uint64_t> VolumesOf(const Channel& channel, const PlanOptions& options)
{
  const Catalog data = MakeCatalog(options);
  const auto variables =
      channel.Variables.empty() ? static_cast<std::size_t>(options.Variables) : channel.Variables.size();
  std::vector<std::uint64_t> volumes(data.Patches.size(), 0);
  for (const SensorPortion& portion : PortionsOf(channel.SensorCells, channel.Path)) {
    for (std::size_t set = 0; set < portion.SetCount(); ++set) {
      std::int64_t found = 0;
      for (std::size_t rank = 0; rank < volumes.size(); ++rank) {
        for (const SensorRun& run : RunsIn(portion, set, data, {static_cast<int>(rank)})) {
          volumes[rank] += run.Count * variables * sizeof(float);
          found += run.Count;
        }
      }
      if (found != portion.ValueCount(set)) {
        throw Error(fmt::format(
            "Channel '{}' samples cells outside the grid. Check the channel's sensor and --cells.",
            channel.Name));
      }
    }
  }
  return volumes;
}

/// Returns lines with a character for each rank: the letter of the rank's group (z from the 26th group on), a
/// capital if the rank writes, or '.' if the rank has no data.
std::string GroupMap(const Aggregation& plan)
{
  constexpr std::size_t across = 64;
  std::string letters(plan.WriterOf.size(), '.');
  for (std::size_t group = 0; group < plan.Groups.size(); ++group) {
    for (const int rank : plan.Groups[group].Ranks) {
      letters[rank] =
          static_cast<char>((plan.WriterOf[rank] == rank ? 'A' : 'a') + std::min<std::size_t>(group, 25));
    }
  }
  std::string text;
  for (std::size_t first = 0; first < letters.size(); first += across) {
    text += fmt::format("\n  {:>7} {}", first, letters.substr(first, across));
  }
  return text;
}

std::string GatheringText(const Gathering& gathering)
{
  std::string text = fmt::format("\n  {:>5} {:>7} {:>12} {:>12} {:>8} {:>14}", "group", "ranks", "per rank",
      "total", "writers", "per writer");
  const Aggregation& plan = gathering.Plan;
  for (std::size_t g = 0; g < plan.Groups.size(); ++g) {
    const RankGroup& group = plan.Groups[g];
    text += fmt::format("\n  {:>5} {:>7} {:>12} {:>12} {:>8} {:>14}",
        static_cast<char>('A' + std::min<std::size_t>(g, 25)), group.Ranks.size(), SizeText(group.Volume),
        SizeText(group.Bytes), group.Writers, SizeText(group.Bytes / group.Writers));
  }
  const auto idle = std::count(plan.WriterOf.begin(), plan.WriterOf.end(), -1);
  text += fmt::format("\n  {} ranks have no data to write", idle);
  if (plan.Reduction > 1) {
    text += fmt::format(
        "; the number of writers is divided by {}, because the amounts are small", plan.Reduction);
  }
  return text + "\n\n  group of each rank (capital letter: the rank writes):" + GroupMap(plan);
}

std::string ChannelText(const Channel& channel, const OutputConfig& config, const PlanOptions& options)
{
  if (channel.Format != TargetFormat::Kwave) {
    return fmt::format("channel '{}' ({}): every rank writes its own patches", channel.Name, channel.Path);
  }
  const auto profile = FindProfile(channel.Path, nullptr, options.Ranks);
  GatheringParameters needs;
  needs.Threads = config.Threads > 0 ? config.Threads : profile ? profile->ThreadsFor(options.Ranks) : 4;
  if (profile) {
    needs.Storage = profile->CostOfRequest.value_or(StorageModel());
  }
  needs.Steps = channel.StepsAtOnce;
  needs.Memory = channel.Memory;
  for (const SensorCuboid& cuboid : channel.SensorCells.Cuboids) {
    needs.Period = std::max(needs.Period, cuboid.Every);
  }
  const Gathering gathering = PlanGathering(VolumesOf(channel, options), needs);
  std::string text = fmt::format("channel '{}' ({}), bytes per time step", channel.Name, channel.Path);
  text += GatheringText(gathering);
  std::string why;
  if (channel.StepsAtOnce > 0) {
    why = "from the configuration";
  } else if (profile && profile->CostOfRequest) {
    why = "from the profile " + profile->File;
  } else {
    why = fmt::format("a default, because {}: measure the storage with 'patchio probe'",
        profile ? profile->File + " has no cost of requests" : "the storage has no profile");
  }
  return text + (gathering.Steps == 0
                        ? fmt::format("\n\n  a time step takes {} on a rank, more than the limit of {}: "
                                      "raise \"memory\" in the configuration",
                              SizeText(gathering.StepBytes), SizeText(channel.Memory))
                        : fmt::format("\n\n  time steps written at once: {} ({}); {} threads in total",
                              gathering.Steps, why, gathering.Threads));
}

void Run(PlanOptions options, Session& session)
{
  if (options.Parts.empty()) {
    options.Parts = {1, 1, options.Ranks};
  }
  if (std::int64_t{options.Parts[0]} * options.Parts[1] * options.Parts[2] != options.Ranks) {
    throw UsageError(
        fmt::format("--parts: expected {} patches in total, one for each rank of --ranks.", options.Ranks));
  }
  session.OnRoot([&] {
    const OutputConfig config = ReadOutputConfig(options.Path);
    for (const Channel& channel : config.Channels) {
      session.Print(ChannelText(channel, config, options));
    }
  });
}

}  // namespace

void AddPlan(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand(
      "plan", "Show which ranks of a simulation write how much of its output, and why");
  const auto options = std::make_shared<PlanOptions>();
  options->Ranks = session.Ranks().Size();
  command
      ->add_option("configuration", options->Path, "The output configuration: a JSON file, or the JSON text")
      ->required();
  command
      ->add_option(
          "--ranks", options->Ranks, "Number of ranks of the simulation (default: the ranks of this run)")
      ->check(CLI::Range(1, MostRanks));
  command->add_option("--cells", options->Cells, "Number of cells of the coarsest level: X,Y,Z")
      ->required()
      ->delimiter(',')
      ->expected(3)
      ->check(CLI::Range(1, 1 << 30));
  command
      ->add_option("--parts", options->Parts,
          "Number of parts of the grid along each axis (default: 1,1,RANKS, as in k-Wave)")
      ->delimiter(',')
      ->expected(3)
      ->check(CLI::Range(1, MostRanks));
  command
      ->add_option(
          "--variables", options->Variables, "Number of variables for channels that do not list variables")
      ->check(CLI::Range(1, 1000));
  command->callback([options, &session] { Run(*options, session); });
}

}  // namespace patchio::tools
