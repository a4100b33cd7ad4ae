// Linear advection of a sharp ball or a smooth profile on adaptively refined patches. The program writes its
// output through patchio.h, as other simulations do, and as SAMRAI dumps, which are the project's sample
// data.
//
// Exit codes: 0: success; 1: an error; 2: an invalid command line.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Hierarchy.h"
#include "SamraiDump.h"
#include "patchio.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <limits>
#include <optional>

namespace patchio::linadv {
namespace {

namespace fs = std::filesystem;

// ---- options ----

/// The options of the command line. A list has one value for all axes or one value per axis.
struct Options
{
  std::vector<int> Cells{64};  ///< one value per dimension of the problem; a single value: 2-D
  std::vector<int> Patch{16};
  std::vector<int> Ratio{2};
  int Levels = 1;
  std::vector<double> Origin{0.0};
  std::vector<double> Spacing;  ///< empty: the longest side is 1
  bool Periodic = false;

  std::string Profile = "ball";
  std::vector<double> Centre;    ///< empty: 0.3 of each side
  double Radius = 0.0;           ///< 0: 0.15 of the shortest side
  std::vector<double> Velocity;  ///< empty: 1, 0.5, 0.25

  int Steps = 0;
  int DumpEvery = 10;
  int RegridEvery = 4;
  int TagBuffer = 2;
  double TagThreshold = 0.05;

  int Variables = 1;
  bool NodeVariable = false;
  bool VectorVariable = false;
  std::string Dumps;          ///< folder of SAMRAI dumps; empty: no dumps
  std::string Configuration;  ///< empty: no output through patchio.h
  bool Overwrite = false;
};

void AddOptions(CLI::App& program, Options& options)
{
  const auto number = [&program](const char* name, auto& value, const char* help) {
    program.add_option(name, value, help)->capture_default_str();
  };
  const auto list = [&program](const char* name, auto& values, const char* help) {
    program.add_option(name, values, help)->delimiter(',')->expected(1, 3);
  };
  program.option_defaults()->group("Grid");
  list("--cells", options.Cells, "Number of cells of the domain on level 0, e.g. 64,64,32 (3-D) or 64 (2-D)");
  list("--patch", options.Patch, "Number of cells of a patch, e.g. 16 or 16,8,8");
  number("--levels", options.Levels, "Maximum number of levels, 1 to 8");
  list("--ratio", options.Ratio, "Refinement ratio between levels, e.g. 2 or 2,4");
  list("--origin", options.Origin, "Lower corner of the domain");
  list("--spacing", options.Spacing, "Cell size on level 0 (default: the longest side is 1)");
  program.add_flag("--periodic", options.Periodic, "Periodic boundaries (default: zero gradient)");
  program.option_defaults()->group("Problem");
  program
      .add_option("--profile", options.Profile, "Initial profile: a sharp ball or a smooth Gaussian (gauss)")
      ->check(CLI::IsMember({"ball", "gauss"}))
      ->capture_default_str();
  list("--centre", options.Centre, "Centre of the profile (default: at 0.3 of each side)");
  number("--radius", options.Radius, "Radius of the profile; 0: 0.15 of the shortest side");
  list("--velocity", options.Velocity, "Velocity (default 1,0.5,0.25)");
  number("--steps", options.Steps, "Number of time steps; 0: write the initial data only");
  number("--regrid-every", options.RegridEvery, "Number of time steps between regridding");
  number("--tag-buffer", options.TagBuffer, "Number of cells to refine around a front");
  number("--tag-threshold", options.TagThreshold,
      "Refine where neighbouring cells differ by more than this fraction of the height of the profile");
  program.option_defaults()->group("Output");
  program.add_option("-o,--output", options.Dumps, "Directory for SAMRAI dumps");
  program.add_option("--output-config", options.Configuration,
      "Output configuration (JSON) of PatchIO's output library, as for other simulations");
  program.add_flag("--overwrite", options.Overwrite, "Replace dumps in the directory of --output");
  number("--dump-every", options.DumpEvery, "Number of time steps between dumps");
  number("--variables", options.Variables, "Number of scalars: uval, uval_01, ...");
  program.add_flag("--node-variable", options.NodeVariable, "Also write uval_node, a scalar on nodes");
  program.add_flag("--vector-variable", options.VectorVariable, "Also write flux, a vector on cells");
}

/// An error about an invalid command line.
class UsageError : public Error
{
public:
  using Error::Error;
};

/// Throws UsageError about the option `option` unless `holds` is true.
template <typename Value>
void Require(bool holds, const char* option, const std::string& expected, const Value& found)
{
  if (!holds) {
    throw UsageError(fmt::format("--{}: expected {}, found {}.", option, expected, found));
  }
}

/// Returns one value per axis. `list`: one value for all axes, or one value per axis. `defaultValue`: value
/// of the third axis in 2-D. Throws UsageError if the list has another length or a value is not finite.
template <typename T>
std::array<T, 3> ValuePerAxis(const char* option, const std::vector<T>& list, int dimension, T defaultValue)
{
  Require(list.size() == 1 || static_cast<int>(list.size()) == dimension, option,
      fmt::format("1 or {} values separated by commas", dimension), fmt::format("{}", fmt::join(list, ",")));
  std::array<T, 3> result{defaultValue, defaultValue, defaultValue};
  for (int axis = 0; axis < dimension; ++axis) {
    result[axis] = list.size() == 1 ? list[0] : list[axis];
    Require(std::isfinite(static_cast<double>(result[axis])), option, "numbers", result[axis]);
  }
  return result;
}

/// Throws UsageError if a number of the grid is out of range along the axis `axis`. The limits detect typing
/// errors, such as a zero too many, which would exhaust the machine's memory.
void CheckAxis(const Geometry& space, int levels, int axis)
{
  constexpr int mostCells = 1 << 24;
  const int cells = space.Cells[axis], patch = space.Patch[axis], ratio = space.Ratio[axis];
  Require(
      cells >= 4 && cells <= mostCells, "cells", fmt::format("4 to {} along every axis", mostCells), cells);
  Require(patch >= 1 && patch <= 4096, "patch", "1 to 4096 cells along every axis", patch);
  Require(ratio >= 2 && ratio <= 16, "ratio", "2 to 16 along every axis", ratio);
  Require(
      levels == 1 || patch % ratio == 0, "patch", fmt::format("a multiple of the ratio {}", ratio), patch);
  const double finest = cells * std::pow(ratio, levels - 1);
  Require(finest <= mostCells, "levels",
      fmt::format("at most {} cells along an axis on the finest level", mostCells),
      fmt::format("{:.0f}; use fewer --levels, a smaller --ratio or fewer --cells", finest));
}

Geometry MakeGeometry(const Options& options)
{
  Geometry space;
  const int dimension = std::max<int>(2, options.Cells.size());
  space.Dimension = dimension;
  space.Cells = ValuePerAxis("cells", options.Cells, dimension, 1);
  space.Patch = ValuePerAxis("patch", options.Patch, dimension, 1);
  space.Ratio = ValuePerAxis("ratio", options.Ratio, dimension, 1);
  space.Origin = ValuePerAxis("origin", options.Origin, dimension, 0.0);
  space.Periodic = options.Periodic;
  for (int axis = 0; axis < dimension; ++axis) {
    CheckAxis(space, options.Levels, axis);
  }
  constexpr std::int64_t mostPatches = 20'000'000, mostCells = std::int64_t(1) << 36;
  const std::int64_t patches = Coarsen(space.Domain(0), space.Patch).CellCount();
  Require(patches <= mostPatches, "patch", fmt::format("at most {} patches on level 0", mostPatches),
      fmt::format("{}; use larger patches or fewer --cells", patches));
  const std::int64_t cells = space.Domain(0).CellCount();
  Require(cells <= mostCells, "cells", fmt::format("at most {} cells on level 0", mostCells), cells);
  const double longest = *std::max_element(space.Cells.begin(), space.Cells.end());
  const std::vector<double> spacing{1.0 / longest};
  space.Spacing =
      ValuePerAxis("spacing", options.Spacing.empty() ? spacing : options.Spacing, dimension, 1.0);
  for (int axis = 0; axis < dimension; ++axis) {
    Require(space.Spacing[axis] > 0.0, "spacing", "more than 0 along every axis", space.Spacing[axis]);
  }
  return space;
}

/// Returns the problem. Throws UsageError, the same on all ranks, for invalid options.
Problem MakeProblem(const Options& options)
{
  constexpr double courant = 0.8, height = 75.0;  // height of the profile; see FillWithSolution()
  Require(options.Levels >= 1 && options.Levels <= 8, "levels", "1 to 8", options.Levels);
  Require(options.Steps >= 0, "steps", "0 or more", options.Steps);
  Require(options.DumpEvery >= 1, "dump-every", "1 or more", options.DumpEvery);
  Require(options.RegridEvery >= 1, "regrid-every", "1 or more", options.RegridEvery);
  Require(options.TagBuffer >= 0 && options.TagBuffer <= 64, "tag-buffer", "0 to 64", options.TagBuffer);
  Require(options.TagThreshold > 0.0, "tag-threshold", "more than 0", options.TagThreshold);
  Require(options.Variables >= 1 && options.Variables <= 100, "variables", "1 to 100", options.Variables);
  Require(options.Radius >= 0.0, "radius", "0 or more", options.Radius);
  Problem problem;
  const Geometry& space = problem.Space = MakeGeometry(options);
  const int dimension = space.Dimension;
  const std::vector<double> velocity{1.0, 0.5, 0.25};
  problem.Velocity =
      options.Velocity.empty()
          ? ValuePerAxis("velocity", {velocity.begin(), velocity.begin() + dimension}, dimension, 0.0)
          : ValuePerAxis("velocity", options.Velocity, dimension, 0.0);
  // The step is the limit of the finest level, even before that level exists, so that the step never changes.
  const Double3 finest = space.SpacingOf(options.Levels - 1);
  double step = std::numeric_limits<double>::infinity(), shortest = step;
  for (int axis = 0; axis < dimension; ++axis) {
    const double side = space.Cells[axis] * space.Spacing[axis];
    shortest = std::min(shortest, side);
    problem.Centre[axis] = space.Origin[axis] + 0.3 * side;
    step = std::min(step, finest[axis] / std::abs(problem.Velocity[axis]));
  }
  Require(std::isfinite(step), "velocity", "at least one component that is not 0", "only zeros");
  problem.TimeStep = courant * step;
  if (!options.Centre.empty()) {
    problem.Centre = ValuePerAxis("centre", options.Centre, dimension, 0.0);
  }
  problem.Radius = options.Radius > 0.0 ? options.Radius : 0.15 * shortest;
  problem.Smooth = options.Profile == "gauss";
  problem.Scalars = options.Variables;
  problem.Levels = options.Levels;
  problem.TagBuffer = options.TagBuffer;
  problem.TagThreshold = options.TagThreshold * height;
  return problem;
}

// ---- output ----

std::vector<Variable> DescribeVariables(const Options& options, int dimension)
{
  std::vector<Variable> variables;
  const auto add = [&variables](const std::string& name, Centering center, int components) {
    Variable& variable = variables.emplace_back();
    variable.Name = name;
    variable.Center = center;
    variable.Components = components;
  };
  for (int scalar = 0; scalar < options.Variables; ++scalar) {
    add(scalar ? fmt::format("uval_{:02}", scalar) : "uval", Centering::Cell, 1);
  }
  if (options.NodeVariable) {
    add("uval_node", Centering::Node, 1);
  }
  if (options.VectorVariable) {
    add("flux", Centering::Cell, dimension);
  }
  return variables;
}

/// The values of the simulation in the form that outputs need. The hierarchy must not change during the
/// lifetime of this object.
class Snapshot
{
public:
  /// Makes the arrays for all variables. Collective: every rank of the communicator calls it.
  Snapshot(const Hierarchy& hierarchy, const Options& options, const Problem& problem)
  {
    for (int scalar = 0; scalar < options.Variables; ++scalar) {
      for (int level = 0; level < hierarchy.LevelCount(); ++level) {
        ForEachLocalPatch(hierarchy.Values(level, scalar),
            [&](std::size_t, const Array& values) { this->Arrays.push_back(values.Values.data()); });
      }
    }
    for (int level = 0; level < hierarchy.LevelCount() && options.NodeVariable; ++level) {
      for (std::vector<double>& nodes : hierarchy.NodeValues(level)) {
        if (!nodes.empty()) {
          this->Arrays.push_back(this->Owned.emplace_back(std::move(nodes)).data());
        }
      }
    }
    for (int level = 0; level < hierarchy.LevelCount() && options.VectorVariable; ++level) {
      ForEachLocalPatch(hierarchy.Values(level, 0), [&](std::size_t, const Array& values) {
        std::vector<double>& flux = this->Owned.emplace_back();
        for (const double value : values.Values) {
          for (int axis = 0; axis < problem.Space.Dimension; ++axis) {
            flux.push_back(value * problem.Velocity[axis]);
          }
        }
        this->Arrays.push_back(flux.data());
      });
    }
  }

  /// The argument `values` of patchio_write(): an array for each variable and each patch of this rank.
  std::vector<const void*> Arrays;

private:
  std::deque<std::vector<double>> Owned;  ///< arrays that the simulation itself does not have
};

/// Makes the directory of the dumps. Removes existing dumps if --overwrite is set. Throws Error if the
/// directory has other files, or has dumps and --overwrite is not set.
void PrepareDirectory(const Options& options)
{
  const fs::path path = options.Dumps;
  std::error_code fault;
  fs::create_directories(path, fault);
  if (fault) {
    throw SystemError(path, "a directory that can be created", fault.value(), "Choose another --output");
  }
  const std::vector<fs::path> entries{fs::directory_iterator(path), fs::directory_iterator()};
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename();
    if (name != "dumps.visit" && !patchio::BeginsWith(name, "visit_dump.")) {
      throw FileError(path, "an empty directory or one with dumps", fmt::format("'{}' in it", name),
          "Choose another --output");
    }
  }
  if (!entries.empty() && !options.Overwrite) {
    throw FileError(path, "an empty directory", "dumps of another run",
        "Replace the dumps with --overwrite, or choose another --output");
  }
  for (const fs::path& entry : entries) {
    fs::remove_all(entry);
  }
}

/// Writes a SAMRAI dump. Collective: every rank of `ranks` calls it.
void WriteSamraiDump(const Hierarchy& hierarchy, const Options& options, const Snapshot& snapshot, int step,
    double time, Communicator& ranks)
{
  Catalog catalog;
  const Geometry& space = hierarchy.Patches(0).Space();
  catalog.Dimension = space.Dimension;
  catalog.Time = time;
  catalog.Step = step;
  catalog.Origin = space.Origin;
  catalog.Variables = DescribeVariables(options, space.Dimension);
  std::map<int, std::size_t> mine;  // by global number of a patch: number among this rank's patches
  for (int level = 0; level < hierarchy.LevelCount(); ++level) {
    const std::vector<OwnedBox>& patches = hierarchy.Patches(level).Patches();
    Level& entry = catalog.Levels.emplace_back();
    entry.FirstPatch = static_cast<int>(catalog.Patches.size());
    entry.PatchCount = static_cast<int>(patches.size());
    entry.Ratio = level ? space.Ratio : Int3{1, 1, 1};
    entry.Spacing = space.SpacingOf(level);
    for (std::size_t p = 0; p < patches.size(); ++p) {
      if (patches[p].Owner == ranks.Rank()) {
        mine.emplace(static_cast<int>(catalog.Patches.size()), mine.size());
      }
      Patch& patch = catalog.Patches.emplace_back();
      patch.Cells = patches[p].Cells;
      patch.Level = level;
      patch.Number = static_cast<int>(p);
      patch.Writer = patches[p].Owner;
    }
  }
  const auto values = [&](int patch, int variable, int component, std::vector<double>& out) {
    const auto* array = static_cast<const double*>(snapshot.Arrays[variable * mine.size() + mine.at(patch)]);
    const int components = catalog.Variables[variable].Components;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = array[i * components + component];
    }
  };
  draft::WriteDump(ranks, options.Dumps, catalog, values);
}

/// Output through patchio.h, with an output configuration. The run continues after errors, because ranks may
/// get them at different steps, and a rank that stopped would leave the other ranks waiting.
class LibraryOutput
{
public:
  /// Opens the output. Collective: every rank of `ranks` calls it.
  LibraryOutput(const std::string& configuration, MPI_Comm ranks)
      : Out(patchio_open(configuration.c_str(), ranks))
  {
    if (!this->Out) {
      throw Error(patchio_error(nullptr));
    }
    // On I/O ranks, this call returns when all steps are written.
    this->RecordError(patchio_compute(this->Out, &this->ComputeRanks));
  }
  ~LibraryOutput() { patchio_close(this->Out); }
  LibraryOutput(const LibraryOutput&) = delete;
  LibraryOutput& operator=(const LibraryOutput&) = delete;

  /// The communicator of the ranks that simulate; MPI_COMM_NULL on I/O ranks.
  MPI_Comm ComputeCommunicator() const { return this->ComputeRanks; }

  /// Declares the grid and the variables.
  void Declare(const Options& options, const Problem& problem)
  {
    const Geometry& space = problem.Space;
    std::vector<int32_t> ratios;
    for (int level = 0; level < problem.Levels; ++level) {
      ratios.insert(ratios.end(), space.Ratio.begin(), space.Ratio.end());
    }
    this->RecordError(patchio_grid(this->Out, space.Dimension, space.Origin.data(), space.Spacing.data(),
        problem.Levels, ratios.data()));
    for (const Variable& variable : DescribeVariables(options, space.Dimension)) {
      const patchio_place place = variable.Center == Centering::Cell ? PATCHIO_CELLS : PATCHIO_NODES;
      this->RecordError(patchio_variable(
          this->Out, variable.Name.c_str(), nullptr, PATCHIO_DOUBLE, variable.Components, place, nullptr));
    }
  }

  /// Declares the patches. Call this method after each change of the patches. Collective: every compute rank
  /// calls it.
  void DeclarePatches(const Hierarchy& hierarchy)
  {
    std::vector<patchio_patch> patches;
    for (int level = 0; level < hierarchy.LevelCount(); ++level) {
      ForEachLocalPatch(hierarchy.Values(level, 0), [&](std::size_t, const Array& values) {
        patchio_patch& patch = patches.emplace_back();
        patch.level = level;
        std::copy_n(values.Cells.Lower.begin(), 3, patch.lower);
        std::copy_n(values.Cells.Upper.begin(), 3, patch.upper);
      });
    }
    this->RecordError(patchio_patches(this->Out, static_cast<int>(patches.size()), patches.data()));
  }

  /// Writes a step. Collective: every compute rank calls it.
  void Write(const Snapshot& snapshot, int step, double time)
  {
    this->RecordError(patchio_write(this->Out, step, time, snapshot.Arrays.data()));
  }

  /// Closes the output. Throws Error if any step could not be written. Collective: every rank of `ranks`
  /// calls it.
  void Close()
  {
    const int fault = patchio_close(std::exchange(this->Out, nullptr));
    if (fault || this->Failed) {
      throw Error(fault ? patchio_error(nullptr) : this->Message);
    }
  }

private:
  /// Stores the message of the first error. `fault`: result of a function of patchio.h.
  void RecordError(int fault)
  {
    if (fault && !this->Failed) {
      this->Failed = true;
      this->Message = patchio_error(this->Out);
    }
  }

  patchio_output* Out;
  MPI_Comm ComputeRanks = MPI_COMM_NULL;
  bool Failed = false;
  std::string Message;
};

/// Prints a line about the step on rank 0. `root`: true on rank 0. Collective: every rank that simulates
/// calls it.
void PrintStep(const Hierarchy& hierarchy, int step, double time, bool root)
{
  std::string patches;
  std::int64_t cells = 0;
  for (int level = 0; level < hierarchy.LevelCount(); ++level) {
    patches += fmt::format("{}{}", level ? "+" : "", hierarchy.Patches(level).Patches().size());
    cells += hierarchy.Patches(level).Cells();
  }
  const Hierarchy::DomainMeans means = hierarchy.ComputeMeans(time);
  if (root) {
    fmt::print("step {:5}  time {:<10.6g} patches {}  cells {}  mean {:.9g}  error {:.3g}\n", step, time,
        patches, cells, means.Value, means.Error);
    std::fflush(stdout);
  }
}

// ---- the run ----

/// Runs the simulation. `channels`: output through patchio.h; may be null.
void Simulate(const Options& options, const Problem& problem, Communicator& ranks, LibraryOutput* channels)
{
  const bool root = ranks.Rank() == 0;
  RunOnAllRanks(ranks, [&] {
    if (root && !options.Dumps.empty()) {
      PrepareDirectory(options);
    }
  });
  Hierarchy hierarchy(ranks, problem);
  if (channels) {
    channels->Declare(options, problem);
    channels->DeclarePatches(hierarchy);
  }
  for (int step = 0;; ++step) {
    const double time = step * problem.TimeStep;
    const bool dump = step % options.DumpEvery == 0 || step == options.Steps;
    if (channels || dump) {
      const Snapshot snapshot(hierarchy, options, problem);
      if (channels) {
        channels->Write(snapshot, step, time);
      }
      if (dump && !options.Dumps.empty()) {
        WriteSamraiDump(hierarchy, options, snapshot, step, time, ranks);
      }
    }
    if (dump) {
      PrintStep(hierarchy, step, time, root);
    }
    if (step == options.Steps) {
      return;
    }
    hierarchy.Step();
    if (options.Levels > 1 && (step + 1) % options.RegridEvery == 0) {
      hierarchy.Regrid();
      if (channels) {
        channels->DeclarePatches(hierarchy);
      }
    }
  }
}

void Simulate(const Options& options, Communicator& world)
{
  const Problem problem = MakeProblem(options);
  if (options.Configuration.empty()) {
    Simulate(options, problem, world, nullptr);
    return;
  }
  LibraryOutput channels(options.Configuration, world.Mpi());
  std::string fault = CatchError([&] {
    if (channels.ComputeCommunicator() != MPI_COMM_NULL) {
      const auto ranks = MakeMpiCommunicator(channels.ComputeCommunicator());
      Simulate(options, problem, *ranks, &channels);
    }
  });
  const std::string atEnd = CatchError([&] { channels.Close(); });
  fault = fault.empty() ? atEnd : fault;
  // Rank 0, which prints the error, may be an I/O rank.
  RunOnAllRanks(world, [&] { ThrowFault(fault); });
}

/// Runs the program. Returns the exit code. The result and the errors are the same on all ranks.
int Run(int argc, char** argv, Communicator& world)
{
  const auto printError = [&world](const char* message, int code) {
    if (world.Rank() == 0) {
      std::fprintf(stderr, "patchio-linadv: %s\n", message);
    }
    return code;
  };
  Options options;
  CLI::App program(
      "Simulates the linear advection of a sharp ball or a smooth profile at constant velocity on "
      "adaptively refined patches, and writes SAMRAI dumps or the files of an output configuration",
      "patchio-linadv");
  AddOptions(program, options);
  try {
    program.parse(argc, argv);
    if (options.Dumps.empty() && options.Configuration.empty()) {
      throw UsageError("no output is selected. Give --output, --output-config or both.");
    }
    Simulate(options, world);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      return world.Rank() == 0 ? program.exit(error) : 0;
    }
    return printError(error.what(), 2);
  } catch (const UsageError& error) {
    return printError(error.what(), 2);
  } catch (const Error& error) {
    return printError(error.what(), 1);
  }
  return 0;
}

}  // namespace
}  // namespace patchio::linadv

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int code = 1;
  try {
    const auto world = patchio::MakeMpiCommunicator(MPI_COMM_WORLD);
    code = patchio::linadv::Run(argc, argv, *world);
  } catch (const std::exception& error) {
    // Other ranks may be waiting for this rank, and would wait forever.
    std::fprintf(stderr, "patchio-linadv: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}
