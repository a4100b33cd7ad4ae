#include "LinAdv/Dumps.h"
#include "LinAdv/Hierarchy.h"
#include "LinAdv/Options.h"
#include "LinAdv/Tagging.h"
#include "Session.h"
#include "Subcommands.h"
#include "Support/RunOnAllRanks.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

namespace patchio::tools {
namespace {

using namespace linadv;

/// Level by level: each shows where the next is needed.
void Refine(Hierarchy& hierarchy, const Options& options, Communicator& ranks)
{
  for (int level = 1; level < options.Levels; ++level) {
    hierarchy.Regrid(ChooseTiles(hierarchy, options, ranks));
    hierarchy.Restart();
  }
}

Hierarchy MakeHierarchy(const Options& options, const Problem& problem, Session& session)
{
  std::vector<Profile> profiles;
  for (int scalar = 0; scalar < options.Variables; ++scalar) {
    profiles.emplace_back(options, problem, scalar);
  }
  std::optional<Hierarchy> result;
  // Most of the memory is taken here; the rest of the run needs a little more a scalar.
  RunOnAllRanks(session.Ranks(), [&] { result.emplace(session.Mpi(), problem.Space, std::move(profiles)); });
  return std::move(*result);
}

void Simulate(const Options& options, Session& session)
{
  const Problem problem = MakeProblem(options, session.Ranks().Size());
  Dumps dumps(session, options, problem);
  Hierarchy hierarchy = MakeHierarchy(options, problem, session);
  Refine(hierarchy, options, session.Ranks());
  dumps.Write(hierarchy, 0, 0.0);
  for (int step = 1; step <= options.Steps; ++step) {
    hierarchy.Step(problem.TimeStep, problem.Velocity);
    if (options.Levels > 1 && step % options.RegridEvery == 0) {
      hierarchy.Regrid(ChooseTiles(hierarchy, options, session.Ranks()));
    }
    if (step % options.DumpEvery == 0 || step == options.Steps) {
      dumps.Write(hierarchy, step, step * problem.TimeStep);
    }
  }
}

}  // namespace

void AddLinAdv(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("linadv",
      "Carry a ball or a hill with a constant velocity on adaptively refined patches, and write SAMRAI "
      "dumps");
  const auto options = std::make_shared<Options>();
  AddOptions(*command, *options);
  command->callback([options, &session] {
    options->Levels = options->Uniform ? 1 : options->Levels;
    Simulate(*options, session);
  });
}

}  // namespace patchio::tools
