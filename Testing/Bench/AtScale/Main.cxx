// Simulates PatchIO on more ranks than the machine has: runs its plans, thread rules and collective calls for
// rank 0 or for all ranks of a given number. Storages and other ranks are simulated. Prints one JSON object.
#include "Commands.h"
#include "Driver.h"

namespace patchio::bench {

Measurement Describe(CLI::App& program)
{
  program.description("PatchIO with many ranks, simulated");
  program.require_subcommand(1);
  const auto found = std::make_shared<nlohmann::json>();
  const auto answer = [found](const nlohmann::json& costs) { *found = costs; };
  atscale::AddReading(program, answer);
  atscale::AddWriting(program, answer);
  atscale::AddPlanning(program, answer);
  atscale::AddAgreeing(program, answer);
  return [found] { return *found; };
}

}  // namespace patchio::bench
