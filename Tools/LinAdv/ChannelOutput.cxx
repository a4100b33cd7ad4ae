#include "LinAdv/ChannelOutput.h"

#include "Base/Communicator.h"
#include "LinAdv/Dumps.h"
#include "LinAdv/Scheme.h"

#include <algorithm>

namespace patchio::linadv {

ChannelOutput::ChannelOutput(
    output::Output& out, tools::Session& session, const Options& options, const Problem& problem)
    : Settings(options), Setup(problem), Ranks(session.Ranks()), Out(out)
{
  const Geometry& space = problem.Space;
  this->Out.SetGrid(
      space.Dimension, space.Origin, space.Spacing, std::vector<Int3>(options.Levels, space.Ratio));
  for (const Variable& variable : DescribeVariables(options, space.Dimension)) {
    this->Out.AddVariable(
        {variable.Name, "", ElementType::Float64, variable.Components, variable.Center, {0, 0, 0}});
  }
}

template <typename Visit>
void ChannelOutput::ForMine(const Hierarchy& hierarchy, Visit visit) const
{
  for (int level = 0; level < hierarchy.LevelCount(); ++level) {
    const std::vector<OwnedBox>& patches = hierarchy.Patches(level).Patches();
    for (std::size_t p = 0; p < patches.size(); ++p) {
      if (patches[p].Owner == this->Ranks.Rank()) {
        visit(level, p, patches[p].Cells);
      }
    }
  }
}

void ChannelOutput::DeclarePatches(const Hierarchy& hierarchy)
{
  std::vector<output::DeclaredPatch> mine;
  this->ForMine(hierarchy, [&](int level, std::size_t, const Box& cells) {
    mine.push_back({level, cells.Lower, cells.Upper});
  });
  this->Out.SetPatches(mine);
}

void ChannelOutput::AddScalars(const Hierarchy& hierarchy, Arrays& arrays) const
{
  for (int scalar = 0; scalar < this->Settings.Variables; ++scalar) {
    this->ForMine(hierarchy, [&](int level, std::size_t p, const Box&) {
      arrays.Pointers.push_back(hierarchy.Values(level, scalar)[p].Values.data());
    });
  }
}

void ChannelOutput::AddNodeMeans(const Hierarchy& hierarchy, Arrays& arrays) const
{
  std::vector<Field> ghosted;
  for (int level = 0; level < hierarchy.LevelCount(); ++level) {
    ghosted.push_back(hierarchy.Ghosted(level, 0));
  }
  const int dimension = this->Setup.Space.Dimension;
  this->ForMine(hierarchy, [&](int level, std::size_t p, const Box& cells) {
    std::int64_t nodes = 1;
    for (int axis = 0; axis < dimension; ++axis) {
      nodes *= cells.Width(axis) + 1;
    }
    NodeMeans(ghosted[level][p], cells, dimension, arrays.Made.emplace_back(nodes));
    arrays.Pointers.push_back(arrays.Made.back().data());
  });
}

void ChannelOutput::AddVectors(const Hierarchy& hierarchy, Arrays& arrays) const
{
  this->ForMine(hierarchy, [&](int level, std::size_t p, const Box&) {
    std::vector<double>& flux = arrays.Made.emplace_back();
    for (const double value : hierarchy.Values(level, 0)[p].Values) {
      for (int axis = 0; axis < this->Setup.Space.Dimension; ++axis) {
        flux.push_back(value * this->Setup.Velocity[axis]);
      }
    }
    arrays.Pointers.push_back(flux.data());
  });
}

void ChannelOutput::Write(const Hierarchy& hierarchy, int step, double time)
{
  if (!this->Out.Wants(step)) {
    return;
  }
  // Ranks may be told of a fault at different steps: one that stopped by itself would leave the others
  // waiting.
  RunOnAllRanks(this->Ranks, [&] { this->DeclarePatches(hierarchy); });
  Arrays arrays;
  this->AddScalars(hierarchy, arrays);
  if (this->Settings.NodeVariable) {
    this->AddNodeMeans(hierarchy, arrays);
  }
  if (this->Settings.VectorVariable) {
    this->AddVectors(hierarchy, arrays);
  }
  RunOnAllRanks(this->Ranks, [&] { this->Out.Write(step, time, arrays.Pointers.data()); });
}

}  // namespace patchio::linadv
