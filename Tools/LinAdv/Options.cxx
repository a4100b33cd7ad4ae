#include "LinAdv/Options.h"

#include "Session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace patchio::linadv {
namespace {

constexpr int MostLevels = 8;
constexpr std::int64_t MostCellsAlongAxis = std::int64_t(1) << 24;
constexpr std::int64_t MostTilesAlongAxis = std::int64_t(1) << 21;  // what a Morton key holds
constexpr std::int64_t MostPatches = 20'000'000;
constexpr double MostBytesPerRank = 64.0 * (1 << 30);

[[noreturn]] void Refuse(const std::string& option, const std::string& expected, const std::string& found)
{
  throw tools::UsageError(fmt::format("linadv --{}: expected {}, found {}.", option, expected, found));
}

void Require(bool good, const std::string& option, const std::string& expected, double found)
{
  if (!good || !std::isfinite(found)) {
    Refuse(option, expected, fmt::format("{}", found));
  }
}

/// One value an axis from a list of one or all; `other` for the third axis in 2-D.
template <typename T>
std::array<T, 3> Spread(const std::string& option, const std::vector<T>& list, int dimension, T other)
{
  if (list.size() != 1 && static_cast<int>(list.size()) != dimension) {
    Refuse(option, fmt::format("1 or {} values separated by commas", dimension),
        fmt::format("{}", fmt::join(list, ",")));
  }
  std::array<T, 3> result{other, other, other};
  for (int axis = 0; axis < dimension; ++axis) {
    result[axis] = list.size() == 1 ? list[0] : list[axis];
  }
  return result;
}

int DimensionOf(const Options& options)
{
  const int values = static_cast<int>(options.Cells.size());
  const int dimension = options.Dimension ? options.Dimension : std::max(2, values);
  if (dimension != 2 && dimension != 3) {
    Refuse("dim", "2 or 3", fmt::format("{}", dimension));
  }
  return dimension;
}

void CheckNumbers(const Options& options)
{
  Require(options.Levels >= 1 && options.Levels <= MostLevels, "levels", fmt::format("1 to {}", MostLevels),
      options.Levels);
  Require(options.Steps >= 0, "steps", "0 or more", options.Steps);
  Require(options.DumpEvery >= 1, "dump-every", "1 or more", options.DumpEvery);
  Require(options.RegridEvery >= 1, "regrid-every", "1 or more", options.RegridEvery);
  Require(options.TagBuffer >= 0 && options.TagBuffer <= 64, "tag-buffer", "0 to 64", options.TagBuffer);
  Require(options.TagThreshold > 0.0, "tag-threshold", "more than 0", options.TagThreshold);
  Require(options.Cfl > 0.0 && options.Cfl <= 1.0, "cfl", "more than 0, at most 1", options.Cfl);
  Require(options.Variables >= 1 && options.Variables <= 100, "variables", "1 to 100", options.Variables);
  Require(options.Radius >= 0.0, "radius", "more than 0", options.Radius);
  Require(std::isfinite(options.Inside), "inside", "a number", options.Inside);
  Require(std::isfinite(options.Outside), "outside", "a number", options.Outside);
}

void CheckAxis(const Options& options, const Geometry& space, int axis)
{
  const int cells = space.Cells[axis];
  const int patch = space.Patch[axis];
  const int ratio = space.Ratio[axis];
  Require(cells >= 4 && cells <= MostCellsAlongAxis, "cells",
      fmt::format("4 to {} along every axis", MostCellsAlongAxis), cells);
  Require(patch >= 1 && patch <= 4096, "patch", "1 to 4096 cells along every axis", patch);
  Require(ratio >= 2 && ratio <= 16, "ratio", "2 to 16 along every axis", ratio);
  if (options.Levels > 1 && patch % ratio != 0) {
    Refuse("patch", fmt::format("a multiple of the ratio {}", ratio), fmt::format("{}", patch));
  }
  const double finest = cells * std::pow(ratio, options.Levels - 1);
  if (finest > MostCellsAlongAxis || finest / patch > MostTilesAlongAxis) {
    Refuse("levels",
        fmt::format("at most {} cells and {} patches along an axis on the finest level", MostCellsAlongAxis,
            MostTilesAlongAxis),
        fmt::format("{:.0f} cells; use fewer --levels, a smaller --ratio or fewer --cells", finest));
  }
}

/// A number typed with a zero too many should end in a message, not in a machine without memory.
void CheckSize(const Options& options, const Geometry& space, int ranks)
{
  const Box tiles = Coarsen(space.Domain(0), space.Patch);
  if (tiles.Cells() > MostPatches) {
    Refuse("patch", fmt::format("at most {} patches on level 0", MostPatches),
        fmt::format("{}; use larger patches or fewer --cells", tiles.Cells()));
  }
  const double bytes = 8.0 * double(space.Domain(0).Cells()) * options.Variables / ranks;
  if (bytes > MostBytesPerRank) {
    Refuse("cells", fmt::format("at most {:.0f} GiB per rank", MostBytesPerRank / (1 << 30)),
        fmt::format("{:.0f} GiB; use more ranks, fewer --cells or fewer --variables", bytes / (1 << 30)));
  }
}

Geometry MakeGeometry(const Options& options, int ranks)
{
  Geometry space;
  space.Dimension = DimensionOf(options);
  space.Cells = Spread("cells", options.Cells, space.Dimension, 1);
  space.Patch = Spread("patch", options.Patch, space.Dimension, 1);
  space.Ratio = Spread("ratio", options.Ratio, space.Dimension, 1);
  space.Origin = Spread("origin", options.Origin, space.Dimension, 0.0);
  space.Periodic = options.Periodic;
  for (int axis = 0; axis < space.Dimension; ++axis) {
    CheckAxis(options, space, axis);
  }
  CheckSize(options, space, ranks);
  const double longest = *std::max_element(space.Cells.begin(), space.Cells.end());
  const std::vector<double> spacing =
      options.Spacing.empty() ? std::vector<double>{1.0 / longest} : options.Spacing;
  space.Spacing = Spread("spacing", spacing, space.Dimension, 1.0);
  for (int axis = 0; axis < space.Dimension; ++axis) {
    Require(space.Spacing[axis] > 0.0, "spacing", "more than 0 along every axis", space.Spacing[axis]);
    Require(true, "origin", "a number", space.Origin[axis]);
  }
  return space;
}

/// The finest level's limit, also while that level does not exist: the step never changes.
double TimeStepOf(const Problem& problem, const Options& options)
{
  const Double3 spacing = problem.Space.SpacingOf(options.Levels - 1);
  double step = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < problem.Space.Dimension; ++axis) {
    step = std::min(step, spacing[axis] / std::abs(problem.Velocity[axis]));
  }
  if (!std::isfinite(step)) {
    Refuse("velocity", "at least one component that is not 0", "none");
  }
  return options.Cfl * step;
}

void PlaceProfile(const Options& options, Problem& problem)
{
  const Geometry& space = problem.Space;
  double shortest = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < space.Dimension; ++axis) {
    const double side = space.Cells[axis] * space.Spacing[axis];
    shortest = std::min(shortest, side);
    problem.Centre[axis] = space.Origin[axis] + 0.3 * side;
  }
  if (!options.Centre.empty()) {
    problem.Centre = Spread("centre", options.Centre, space.Dimension, 0.0);
  }
  problem.Radius = options.Radius > 0.0 ? options.Radius : 0.15 * shortest;
}

/// A number, and a list of values separated by commas or blanks.
template <typename Value>
void AddNumber(CLI::App& command, const char* name, Value& value, const char* help)
{
  command.add_option(name, value, help)->capture_default_str();
}

template <typename Value>
void AddList(CLI::App& command, const char* name, std::vector<Value>& values, const char* help)
{
  command.add_option(name, values, help)->delimiter(',')->expected(1, 3);
}

}  // namespace

void AddOptions(CLI::App& command, Options& options)
{
  command.option_defaults()->group("Grid");
  command.add_option(
      "--dim", options.Dimension, "Dimension, 2 or 3 (default: the number of values of --cells)");
  AddList(command, "--cells", options.Cells, "Number of cells of the domain on level 0, e.g. 64 or 64,32,32");
  AddList(command, "--patch", options.Patch, "Number of cells of a patch, e.g. 16 or 16,8,8");
  AddNumber(command, "--levels", options.Levels, "Maximum number of levels, 1 to 8");
  command.add_flag("--uniform", options.Uniform, "Use a single level and ignore --levels");
  AddList(command, "--ratio", options.Ratio, "Refinement ratio between levels, e.g. 2 or 2,4");
  AddList(command, "--origin", options.Origin, "Lower corner of the domain");
  AddList(command, "--spacing", options.Spacing, "Cell size on level 0 (default: the longest side is 1)");
  command.add_flag("--periodic", options.Periodic, "Periodic boundaries (default: zero gradient)");
  command.option_defaults()->group("Problem");
  command
      .add_option("--profile", options.Profile, "Initial profile: a sharp ball or a smooth Gaussian (gauss)")
      ->check(CLI::IsMember({"ball", "gauss"}))
      ->capture_default_str();
  AddList(command, "--centre", options.Centre, "Centre of the profile (default: at 0.3 of each side)");
  AddNumber(command, "--radius", options.Radius, "Radius of the profile; 0: 0.15 of the shortest side");
  AddNumber(command, "--inside", options.Inside, "Value at the centre of the profile");
  AddNumber(command, "--outside", options.Outside, "Value far from the profile");
  AddList(command, "--velocity", options.Velocity, "Velocity (default 1,0.5,0.25)");
  AddNumber(
      command, "--cfl", options.Cfl, "CFL number: cells that the profile crosses per time step, at most 1");
  AddNumber(command, "--steps", options.Steps, "Number of time steps; 0: write the initial data only");
  AddNumber(command, "--regrid-every", options.RegridEvery, "Number of time steps between regridding");
  AddNumber(command, "--tag-buffer", options.TagBuffer, "Number of cells to refine around a front");
  AddNumber(command, "--tag-threshold", options.TagThreshold,
      "Refine where neighbouring cells differ by more than this fraction of inside - outside");
  command.option_defaults()->group("Output");
  command.add_option("-o,--output", options.Output, "Directory for SAMRAI dumps");
  command.add_option("--output-config", options.Channels,
      "Output configuration (JSON) of PatchIO's output library, as for simulations");
  command.add_flag("--overwrite", options.Overwrite, "Replace dumps in the directory of --output");
  AddNumber(command, "--dump-every", options.DumpEvery, "Number of time steps between dumps");
  AddNumber(command, "--variables", options.Variables, "Number of scalars: uval, uval_01, ...");
  command.add_flag("--node-variable", options.NodeVariable, "Also write uval_node, a scalar on nodes");
  command.add_flag("--vector-variable", options.VectorVariable, "Also write flux, a vector on cells");
}

Problem MakeProblem(const Options& options, int ranks)
{
  CheckNumbers(options);
  Problem problem;
  problem.Space = MakeGeometry(options, ranks);
  problem.Velocity = {1.0, 0.5, problem.Space.Dimension == 3 ? 0.25 : 0.0};
  if (!options.Velocity.empty()) {
    problem.Velocity = Spread("velocity", options.Velocity, problem.Space.Dimension, 0.0);
  }
  for (double component : problem.Velocity) {
    Require(true, "velocity", "numbers", component);
  }
  PlaceProfile(options, problem);
  problem.TimeStep = TimeStepOf(problem, options);
  return problem;
}

}  // namespace patchio::linadv
