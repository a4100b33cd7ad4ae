// The plan of the writing ranks (k-Wave's output), and its gain on a simulated storage.
#include "Commands.h"
#include "CountedMemory.h"
#include "SimulatedReads.h"

#include "Base/Stopwatch.h"
#include "Write/Aggregation.h"

#include <algorithm>
#include <memory>

namespace patchio::atscale {
namespace {

using Volumes = std::vector<std::uint64_t>;

struct WriteOptions
{
  int Ranks = 256;
  std::vector<int> Steps;  ///< steps that are written together, for each case; empty: PatchIO's choice
  double CopyRate = 3.2e9;
  emulator::Model Storage;
};

/// Adds the bytes of a cuboid that covers `planes` of 512 planes, from plane `first` on. Each rank has the
/// same number of consecutive planes.
void AddCuboid(Volumes& volumes, int first, int planes, std::uint64_t bytesOfPlane)
{
  const int rankCount = static_cast<int>(volumes.size());
  for (int plane = first; plane < first + planes; ++plane) {
    volumes[static_cast<std::size_t>(plane) * rankCount / 512] += bytesOfPlane;
  }
}

/// Returns the bytes that each rank writes of a step in the five cases of the paper, with a domain of 512^3
/// cells.
std::vector<Volumes> CasesOf(int rankCount)
{
  constexpr std::uint64_t KB = 1024;
  std::vector<Volumes> cases(5, Volumes(rankCount, 0));
  cases[0].assign(rankCount, 12 * KB);
  cases[1][rankCount / 6] = cases[1][rankCount / 2] = cases[1][rankCount * 5 / 6] = 1024 * KB;
  cases[2].assign(rankCount, 8 * KB);
  cases[2][rankCount / 2] = 1024 * KB;
  std::fill_n(cases[3].begin() + rankCount / 4, rankCount / 2, 512 * KB);
  AddCuboid(cases[4], 60, 64, 64 * 64 * 4);
  AddCuboid(cases[4], 201, 33, 33 * 65 * 4);
  AddCuboid(cases[4], 400, 41, 10 * 40 * 4);
  return cases;
}

/// Returns the seconds of a collective write, in which all ranks wait for the slowest one.
double SecondsOf(const emulator::Model& storage, const Volumes& written, std::uint64_t steps)
{
  std::vector<RankReads> ranks;
  for (const std::uint64_t bytes : written) {
    if (bytes > 0) {
      ranks.push_back({{bytes * steps}, 1});
    }
  }
  return SimulateRead(storage, 0, ranks);
}

double TotalOf(const Volumes& volumes)
{
  double total = 0;
  for (const std::uint64_t bytes : volumes) {
    total += static_cast<double>(bytes);
  }
  return total;
}

nlohmann::json RunCase(const WriteOptions& options, const Volumes& volumes, int steps)
{
  output::GatheringParameters needs;
  needs.Storage = StorageModel{options.Storage.Latency, options.Storage.Stream};
  needs.Memory = 1 << 30;
  needs.Steps = steps;
  const std::uint64_t before = BytesInUse();
  ForgetMostBytes();
  const Stopwatch watch;
  const output::Gathering how = output::PlanGathering(volumes, needs);
  const double seconds = watch.Seconds();
  const std::uint64_t memory = MostBytesInUse() - before;
  const Volumes written = output::WrittenBytes(how.Plan, volumes);
  const auto together = static_cast<std::uint64_t>(how.Steps);
  const double copied = static_cast<double>(*std::max_element(written.begin(), written.end()) * together);
  const double bytes = TotalOf(volumes);
  const double write = SecondsOf(options.Storage, written, together) + copied / options.CopyRate;
  return {{"writers", std::count_if(written.begin(), written.end(), [](std::uint64_t b) { return b > 0; })},
      {"plan_seconds", seconds}, {"plan_bytes", memory},
      {"plain", bytes / SecondsOf(options.Storage, volumes, 1)},
      {"gathered", bytes * static_cast<double>(together) / write}};
}

}  // namespace

void AddWriting(CLI::App& program, const Answer& answer)
{
  const auto options = std::make_shared<WriteOptions>();
  CLI::App* command = program.add_subcommand("write", "rates of writing what sensors see");
  command->add_option("--ranks", options->Ranks)->check(CLI::Range(8, 100'000));
  command->add_option("--steps", options->Steps, "at once, in each case")->delimiter(',');
  command->add_option("--copy-rate", options->CopyRate, "bytes a second of putting a step's values in order");
  AddStorage(*command, options->Storage);
  command->callback([options, answer] {
    emulator::CheckModel(options->Storage);
    nlohmann::json found;
    const std::vector<Volumes> cases = CasesOf(options->Ranks);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      found.push_back(RunCase(*options, cases[i], i < options->Steps.size() ? options->Steps[i] : 0));
    }
    answer(found);
  });
}

}  // namespace patchio::atscale
