// Times contours of many patches without ParaView, with one thread and with all threads. Prints the seconds
// as JSON.
#include "Base/Stopwatch.h"
#include "Filters/ContourOutput.h"

#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNew.h>
#include <vtkPolyData.h>
#include <vtkUniformGrid.h>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

using namespace patchio::filters;

namespace {

/// Returns a cube of patches; the values are the distances from its middle.
vtkSmartPointer<vtkMultiBlockDataSet> MakePatches(int along, int cells)
{
  const double middle = 0.5 * along * cells;
  vtkNew<vtkMultiPieceDataSet> level;
  for (int patch = 0; patch < along * along * along; ++patch) {
    const int at[] = {patch % along * cells, patch / along % along * cells, patch / along / along * cells};
    vtkNew<vtkUniformGrid> grid;
    grid->SetExtent(at[0], at[0] + cells, at[1], at[1] + cells, at[2], at[2] + cells);
    vtkNew<vtkDoubleArray> values;
    values->SetName("value");
    for (int k = 0; k < cells; ++k) {
      for (int j = 0; j < cells; ++j) {
        for (int i = 0; i < cells; ++i) {
          values->InsertNextValue(
              std::hypot(at[0] + i + 0.5 - middle, at[1] + j + 0.5 - middle, at[2] + k + 0.5 - middle));
        }
      }
    }
    grid->GetCellData()->AddArray(values);
    level->SetPiece(level->GetNumberOfPieces(), grid);
  }
  auto root = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  root->SetBlock(0, level);
  return root;
}

double ContourSeconds(const Blocks& blocks, double radius, vtkIdType& triangles)
{
  const patchio::Stopwatch watch;
  const auto alone = patchio::MakeSelfCommunicator();
  const CellSet cells = MakeCellSet(blocks, "value", false, *alone);
  const CellLattice lattice(cells.Blocks, cells.Nodes);
  ContourOptions options;
  options.Values = {radius};
  vtkNew<vtkPolyData> output;
  FillPolyData(MakeContour(lattice, options.Values), lattice, cells, options, output);
  triangles = output->GetNumberOfCells();
  return watch.Seconds();
}

}  // namespace

int main(int argc, char** argv)
{
  CLI::App app("Measures contours of a cube of patches.");
  int along = 22, cells = 16, rounds = 5;
  app.add_option("--along", along, "patches along each axis");
  app.add_option("--cells", cells, "cells of a patch along each axis");
  app.add_option("--rounds", rounds);
  CLI11_PARSE(app, argc, argv);
  const auto patches = MakePatches(along, cells);
  const Blocks blocks = MakeBlocks(patches);
  const double radius = 0.37 * along * cells;
  vtkIdType triangles = 0;
  ContourSeconds(blocks, radius, triangles);  // warms up memory and threads
  nlohmann::json seconds{{"triangles", triangles}};
  for (int round = 0; round < rounds; ++round) {
    {
      const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
      seconds["one thread"].push_back(ContourSeconds(blocks, radius, triangles));
    }
    seconds["all threads"].push_back(ContourSeconds(blocks, radius, triangles));
  }
  const nlohmann::json found{
      {"blocks", blocks.List.size()}, {"threads", tbb::info::default_concurrency()}, {"contour", seconds}};
  std::printf("%s\n", found.dump().c_str());
}
