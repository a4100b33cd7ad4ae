// Compares the controller with other methods by the share of simulated reads that come within 5 % of the best
// fixed number of threads. Prints one JSON object: scenario -> method -> share. The seed is fixed.
#include "../Core/Tuning/SimulatedStorage.h"
#include "Driver.h"

namespace patchio::bench {
namespace {

using testing::Decider;
using testing::Scenario;

constexpr int Reads = 200;
constexpr double Seconds = 60;
constexpr std::uint64_t Seed = 1;

/// Returns a method that continues in one direction while the rate rises, and otherwise turns around.
Decider HillClimber(int start)
{
  struct State
  {
    int Threads, Direction = 1;
    double Last = -1;
  };
  const auto state = std::make_shared<State>();
  state->Threads = start;
  const auto observe = [state](double rate, int) {
    if (rate < state->Last) {
      state->Direction = -state->Direction;
    }
    state->Last = rate;
    const int step = std::max(1, state->Threads / 4);
    state->Threads = std::clamp(state->Threads + state->Direction * step, 1, testing::MostThreads);
  };
  return {[state] { return state->Threads; }, [] { return 0.5; }, observe};
}

nlohmann::json Measure()
{
  const std::vector<std::pair<const char*, Scenario>> scenarios{{"right", Scenario::ProfileRight},
      {"wrong", Scenario::ProfileWrong}, {"loads", Scenario::LoadSteps}, {"none", Scenario::NoProfile}};
  const std::vector<std::pair<const char*, testing::DeciderMaker>> ways{
      {"controller", testing::ControlledDecider}, {"fixed", testing::FixedDecider},
      {"hill climber", HillClimber}};
  nlohmann::json found;
  for (const auto& [name, scenario] : scenarios) {
    for (const auto& [label, way] : ways) {
      found[name][label] =
          testing::ShareAtLeast(testing::SimulateReads(scenario, Seconds, Reads, Seed, way), 0.95);
    }
  }
  return found;
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  program.description("Shares of simulated reads within 5 % of the best fixed number of threads");
  return Measure;
}

}  // namespace patchio::bench
