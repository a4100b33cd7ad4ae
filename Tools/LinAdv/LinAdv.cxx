#include "Base/Communicator.h"
#include "LinAdv/ChannelOutput.h"
#include "LinAdv/Dumps.h"
#include "LinAdv/Hierarchy.h"
#include "LinAdv/Options.h"
#include "LinAdv/Tagging.h"
#include "LinAdv/Totals.h"
#include "Session.h"
#include "Subcommands.h"

#include <fmt/format.h>
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

void Report(const Hierarchy& hierarchy, int step, double time, Session& session)
{
  std::string patches;
  std::int64_t cells = 0;
  for (int level = 0; level < hierarchy.LevelCount(); ++level) {
    patches += fmt::format("{}{}", level ? "+" : "", hierarchy.Patches(level).Patches().size());
    cells += hierarchy.Patches(level).Cells();
  }
  const Totals totals = MakeTotals(hierarchy, time, session.Mpi());
  session.Print(fmt::format("step {:5}  time {:<10.6g} patches {}  cells {}  mean {:.9g}  error {:.3g}", step,
      time, patches, cells, totals.Mean, totals.Error));
}

/// Dumps, channels, or both.
class Outputs
{
public:
  /// channels: null: none.
  Outputs(const Options& options, const Problem& problem, Session& session, output::Output* channels)
      : Settings(options), Shell(session)
  {
    if (!options.Output.empty()) {
      this->ToDumps.emplace(session, options, problem);
    }
    if (channels) {
      this->ToChannels.emplace(*channels, session, options, problem);
    }
  }

  void Write(const Hierarchy& hierarchy, int step, double time)
  {
    if (this->ToChannels) {
      this->ToChannels->Write(hierarchy, step, time);
    }
    if (step % this->Settings.DumpEvery == 0 || step == this->Settings.Steps) {
      if (this->ToDumps) {
        this->ToDumps->Write(hierarchy, step, time);
      }
      Report(hierarchy, step, time, this->Shell);
    }
  }

private:
  const Options& Settings;
  Session& Shell;
  std::optional<Dumps> ToDumps;
  std::optional<ChannelOutput> ToChannels;
};

void Simulate(const Options& options, Session& session, output::Output* channels)
{
  const Problem problem = MakeProblem(options, session.Ranks().Size());
  Outputs outputs(options, problem, session, channels);
  Hierarchy hierarchy = MakeHierarchy(options, problem, session);
  Refine(hierarchy, options, session.Ranks());
  outputs.Write(hierarchy, 0, 0.0);
  for (int step = 1; step <= options.Steps; ++step) {
    hierarchy.Step(problem.TimeStep, problem.Velocity);
    if (options.Levels > 1 && step % options.RegridEvery == 0) {
      hierarchy.Regrid(ChooseTiles(hierarchy, options, session.Ranks()));
    }
    outputs.Write(hierarchy, step, step * problem.TimeStep);
  }
}

/// On the ranks that the output configuration leaves to the simulation; the others write until it has ended.
void Simulate(const Options& options, Session& session)
{
  if (options.Channels.empty()) {
    Simulate(options, session, nullptr);
    return;
  }
  output::Output channels(output::ReadOutputConfig(options.Channels), session.Mpi());
  const MPI_Comm compute = channels.Compute();
  if (compute == MPI_COMM_NULL) {
    return;
  }
  Session some(compute);
  const std::string fault = CatchError([&] { Simulate(options, some, &channels); });
  channels.Close();
  if (!fault.empty()) {
    throw Error(fault);
  }
}

}  // namespace

void AddLinAdv(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("linadv",
      "Simulate the linear advection of a sharp ball or a smooth profile at constant velocity on adaptively "
      "refined patches, and write SAMRAI dumps or the files of an output configuration");
  const auto options = std::make_shared<Options>();
  AddOptions(*command, *options);
  command->callback([options, &session] {
    options->Levels = options->Uniform ? 1 : options->Levels;
    if (options->Output.empty() && options->Channels.empty()) {
      throw UsageError("linadv: give --output, --output-config or both.");
    }
    Simulate(*options, session);
  });
}

}  // namespace patchio::tools
