// Measures the memory and the seconds of a rank's plan, by numbers of patches and ranks.
#include "Commands.h"
#include "CountedMemory.h"
#include "MadeUpStep.h"

#include "Plan/Partition.h"
#include "Read/StepPlan.h"

#include <ctime>
#include <memory>

namespace patchio::atscale {
namespace {

struct PlanOptions
{
  int Patches = 1000;
  std::vector<int> Ranks{128};
};

/// Returns the processor time of this process, which does not depend on other programs.
double CpuSeconds()
{
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Returns the cost of `make`: seconds, the maximum of bytes, and the bytes of its result.
template <typename Make>
nlohmann::json CostOf(Make make)
{
  const std::uint64_t before = BytesInUse();
  ForgetMostBytes();
  const double begin = CpuSeconds();
  const auto result = make();
  return {{"seconds", CpuSeconds() - begin}, {"most_bytes", MostBytesInUse() - before},
      {"kept_bytes", BytesInUse() - before}};
}

/// Measures the work of one rank from the catalog to its blocks.
nlohmann::json PlanOf(const Catalog& catalog, int rankCount)
{
  StepOptions options;
  options.Piece = rankCount / 2;
  options.Pieces = rankCount;
  options.Blocks.Merge = true;
  const std::uint64_t before = BytesInUse();
  ForgetMostBytes();
  const double begin = CpuSeconds();
  const ShownPatches shown(catalog, options);
  const StepPlan plan = MakePlan(catalog, shown, options, {0});
  const double planned = CpuSeconds() - begin;
  const std::uint64_t kept = BytesInUse() - before;
  const std::uint64_t most = MostBytesInUse() - before;
  nlohmann::json parts{{"nesting", CostOf([&] { return std::make_unique<Nesting>(catalog, shown.Flags()); })},
      {"preferred ranks", CostOf([&] { return PreferredRanks(catalog, rankCount); })}};
  return {{"parts", parts}, {"seconds", planned}, {"most_bytes", most}, {"kept_bytes", kept},
      {"blocks", plan.Blocks.size()}};
}

}  // namespace

void AddPlanning(CLI::App& program, const Answer& answer)
{
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = program.add_subcommand("plan", "time and memory of one rank's plan");
  command->add_option("--patches", options->Patches)->check(CLI::Range(1, 100'000'000));
  command->add_option("--ranks", options->Ranks)->delimiter(',');
  command->callback([options, answer] {
    const std::uint64_t before = BytesInUse();
    const Catalog catalog = bench::CubeOfPatches(options->Patches, 16);
    nlohmann::json found{{"catalog_bytes", BytesInUse() - before}};
    found["broadcast_bytes"] = catalog.Serialize().size();
    for (const int rankCount : options->Ranks) {
      found["ranks"][std::to_string(rankCount)] = PlanOf(catalog, rankCount);
    }
    answer(found);
  });
}

}  // namespace patchio::atscale
