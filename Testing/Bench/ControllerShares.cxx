// Compares the controller with other methods by the share of simulated reads that come within 5 % of the best
// fixed number of threads. Prints one JSON object: scenario -> method -> share.
#include "../Core/Tuning/SimulatedStorage.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace {

using namespace patchio;
using testing::Decider;
using testing::Scenario;

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

}  // namespace

int main(int argc, char** argv)
{
  CLI::App program("Shares of simulated reads within 5 % of the best fixed number of threads",
      "patchio_controller_shares");
  std::uint64_t seed = 1;
  int reads = 200;
  double seconds = 60;
  program.add_option("--seed", seed);
  program.add_option("--reads", reads)->check(CLI::Range(1, 100000));
  program.add_option("--seconds", seconds)->check(CLI::Range(1.0, 3600.0));
  CLI11_PARSE(program, argc, argv);
  const std::vector<std::pair<const char*, Scenario>> scenarios{{"right", Scenario::ProfileRight},
      {"wrong", Scenario::ProfileWrong}, {"loads", Scenario::LoadSteps}, {"none", Scenario::NoProfile}};
  const std::vector<std::pair<const char*, testing::DeciderMaker>> ways{
      {"controller", testing::ControlledDecider}, {"fixed", testing::FixedDecider},
      {"hill climber", HillClimber}};
  nlohmann::json found{{"seed", seed}, {"reads", reads}, {"seconds", seconds}};
  for (const auto& [name, scenario] : scenarios) {
    for (const auto& [label, way] : ways) {
      found[name][label] =
          testing::ShareAtLeast(testing::SimulateReads(scenario, seconds, reads, seed, way), 0.95);
    }
  }
  std::printf("%s\n", found.dump().c_str());
  return 0;
}
