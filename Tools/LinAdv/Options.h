// The options of `patchio linadv`, and the checks on them.
#pragma once

#include "LinAdv/Geometry.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace patchio::linadv {

/// As given on the command line. Lists have one value for all axes or one for each.
struct Options
{
  int Dimension = 0;  ///< 0: as many as --cells has values, 2 when it has one
  std::vector<int> Cells{64};
  std::vector<int> Patch{16};
  std::vector<int> Ratio{2};
  int Levels = 1;  ///< the most levels
  bool Uniform = false;
  std::vector<double> Origin{0.0};
  std::vector<double> Spacing;  ///< level 0; empty: the longest side is 1
  bool Periodic = false;

  std::string Profile = "ball";
  std::vector<double> Centre;  ///< empty: at 0.3 of each side
  double Radius = 0.0;         ///< 0: 0.15 of the shortest side
  double Inside = 80.0;
  double Outside = 5.0;
  std::vector<double> Velocity;  ///< empty: 1, 0.5, 0.25

  int Steps = 0;
  double Cfl = 0.8;
  int DumpEvery = 10;
  int RegridEvery = 4;
  int TagBuffer = 2;
  double TagThreshold = 0.05;  ///< of |Inside - Outside|, between neighbouring cells

  int Variables = 1;
  bool NodeVariable = false;
  bool VectorVariable = false;
  std::string Output;    ///< directory for dumps; empty: none
  std::string Channels;  ///< an output configuration; empty: none
  bool Overwrite = false;
};

/// Fills `options` when the command line is parsed. `options` must outlive `command`.
void AddOptions(CLI::App& command, Options& options);

/// The numbers of the problem, made of the options and checked.
struct Problem
{
  Geometry Space;
  Double3 Velocity{0, 0, 0};
  Double3 Centre{0, 0, 0};
  double Radius = 0.0;
  double TimeStep = 0.0;
};

/// Throws Error, the same on all ranks, when the options make no sense. `ranks` share the memory.
Problem MakeProblem(const Options& options, int ranks);

}  // namespace patchio::linadv
