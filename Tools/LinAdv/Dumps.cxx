#include "LinAdv/Dumps.h"

#include "Base/Error.h"
#include "LinAdv/Scheme.h"
#include "LinAdv/Totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace patchio::linadv {
namespace {

namespace fs = std::filesystem;

/// Removes only files that a SAMRAI run may have written.
void PrepareDirectory(const Options& options)
{
  const fs::path path = options.Output;
  std::error_code fault;
  fs::create_directories(path, fault);
  if (fault) {
    throw SystemError(
        path.string(), "a directory that can be created", fault.value(), "Choose another --output");
  }
  const std::vector<fs::path> entries{fs::directory_iterator(path), fs::directory_iterator()};
  for (const fs::path& entry : entries) {
    const std::string name = entry.filename().string();
    if (!samrai::SamraiWriter::MayHaveMade(name)) {
      throw FileError(path.string(), "an empty directory or one with dumps", fmt::format("'{}' in it", name),
          "Choose another --output");
    }
  }
  if (!entries.empty() && !options.Overwrite) {
    throw FileError(path.string(), "an empty directory", "dumps of another run",
        "Replace them with --overwrite, or choose another --output");
  }
  for (const fs::path& entry : entries) {
    fs::remove_all(entry);
  }
}

Variable MakeVariable(const std::string& name, Centering center, int components)
{
  Variable variable;
  variable.Name = name;
  variable.Center = center;
  variable.Components = components;
  return variable;
}

void AppendLevel(const Grid& grid, Catalog& catalog)
{
  Level level;
  level.FirstPatch = static_cast<int>(catalog.Patches.size());
  level.PatchCount = static_cast<int>(grid.Patches().size());
  level.Ratio = grid.Level() ? grid.Space().Ratio : Int3{1, 1, 1};
  level.Spacing = grid.Space().SpacingOf(grid.Level());
  catalog.Levels.push_back(level);
  int number = 0;
  for (const OwnedBox& patch : grid.Patches()) {
    Patch entry;
    entry.Cells = patch.Cells;
    entry.Level = grid.Level();
    entry.Number = number++;
    entry.Writer = entry.File = patch.Owner;
    catalog.Patches.push_back(entry);
  }
}

}  // namespace

std::vector<Variable> DescribeVariables(const Options& options, int dimension)
{
  std::vector<Variable> variables;
  for (int scalar = 0; scalar < options.Variables; ++scalar) {
    variables.push_back(
        MakeVariable(scalar ? fmt::format("uval_{:02}", scalar) : "uval", Centering::Cell, 1));
  }
  if (options.NodeVariable) {
    variables.push_back(MakeVariable("uval_node", Centering::Node, 1));
  }
  if (options.VectorVariable) {
    variables.push_back(MakeVariable("flux", Centering::Cell, dimension));
  }
  return variables;
}

Dumps::Dumps(tools::Session& session, const Options& options, const Problem& problem)
    : Session(session), Settings(options), Setup(problem), Writer(session.Ranks(), options.Output)
{
  session.OnRoot([&] { PrepareDirectory(options); });
}

Catalog Dumps::Describe(const Hierarchy& hierarchy, int step, double time) const
{
  Catalog catalog;
  catalog.Dimension = this->Setup.Space.Dimension;
  catalog.Time = time;
  catalog.Step = step;
  catalog.Origin = this->Setup.Space.Origin;
  for (int level = 0; level < hierarchy.LevelCount(); ++level) {
    AppendLevel(hierarchy.Patches(level), catalog);
  }
  catalog.Variables = DescribeVariables(this->Settings, catalog.Dimension);
  return catalog;
}

void Dumps::Write(const Hierarchy& hierarchy, int step, double time)
{
  const Catalog catalog = this->Describe(hierarchy, step, time);
  std::vector<Field> ghosted;  // a level, of the first scalar: what node means are made of
  for (int level = 0; level < hierarchy.LevelCount() && this->Settings.NodeVariable; ++level) {
    ghosted.push_back(hierarchy.Ghosted(level, 0));
  }
  const auto values = [&](int patch, int variable, int component, std::vector<double>& out) {
    const Patch& where = catalog.Patches[patch];
    const Variable& what = catalog.Variables[variable];
    if (what.Center == Centering::Node) {
      NodeMeans(ghosted[where.Level][where.Number], where.Cells, catalog.Dimension, out);
      return;
    }
    const bool vector = what.Components > 1;
    out = hierarchy.Values(where.Level, vector ? 0 : variable)[where.Number].Values;
    if (vector) {
      const double speed = this->Setup.Velocity[component];
      std::for_each(out.begin(), out.end(), [speed](double& value) { value *= speed; });
    }
  };
  this->Writer.Write(catalog, values);
}

}  // namespace patchio::linadv
