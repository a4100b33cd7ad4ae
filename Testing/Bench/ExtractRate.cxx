// Times slices of many patches without ParaView, with one thread and with all threads, and a plain loop that
// reads the values and flags of the same rows and writes the same number of bytes. Prints the seconds as
// JSON.
#include "Base/Stopwatch.h"
#include "Filters/Slice.h"

#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiPieceDataSet.h>
#include <vtkNew.h>
#include <vtkPlane.h>
#include <vtkPolyData.h>
#include <vtkUniformGrid.h>
#include <vtkUnsignedCharArray.h>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <random>
#include <vector>

using namespace patchio::filters;

namespace {

/// Returns a cube of patches in which one of 64 cells is hidden.
vtkSmartPointer<vtkMultiBlockDataSet> MakePatches(int along, int cells)
{
  std::mt19937 random(20);
  vtkNew<vtkMultiPieceDataSet> level;
  for (int patch = 0; patch < along * along * along; ++patch) {
    const int at[] = {patch % along * cells, patch / along % along * cells, patch / along / along * cells};
    vtkNew<vtkUniformGrid> grid;
    grid->SetExtent(at[0], at[0] + cells, at[1], at[1] + cells, at[2], at[2] + cells);
    vtkNew<vtkDoubleArray> values;
    values->SetName("value");
    values->SetNumberOfTuples(grid->GetNumberOfCells());
    values->FillValue(patch);
    vtkNew<vtkUnsignedCharArray> flags;
    flags->SetName("vtkGhostType");
    flags->SetNumberOfTuples(grid->GetNumberOfCells());
    for (vtkIdType cell = 0; cell < grid->GetNumberOfCells(); ++cell) {
      flags->SetValue(cell, random() % 64 ? 0 : 32);
    }
    grid->GetCellData()->AddArray(values);
    grid->GetCellData()->AddArray(flags);
    level->SetPiece(level->GetNumberOfPieces(), grid);
  }
  auto root = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  root->SetBlock(0, level);
  return root;
}

/// Returns the rows along x that a plane meets, as pairs (block, first cell).
std::vector<std::pair<const Block*, long long>> CutRows(const Blocks& blocks, const Surface& plane)
{
  std::vector<std::pair<const Block*, long long>> rows;
  for (const Block& block : blocks.List) {
    for (int k = 0; k < block.Cells(2); ++k) {
      for (int j = 0; j < block.Cells(1); ++j) {
        int above = 0, below = 0;
        for (int corner = 0; corner < 8; ++corner) {
          const double value = plane.ValueAt({block.PositionsOf(0)[corner & 1 ? block.Cells(0) : 0],
              block.PositionsOf(1)[j + (corner >> 1 & 1)], block.PositionsOf(2)[k + (corner >> 2)]});
          above += value >= 0;
          below += value < 0;
        }
        if (above && below) {
          rows.push_back({&block, block.Cells(0) * (j + static_cast<long long>(block.Cells(1)) * k)});
        }
      }
    }
  }
  return rows;
}

/// Returns the seconds of a loop that reads these rows and writes `numbers` numbers into new memory.
double PlainLoop(const std::vector<std::pair<const Block*, long long>>& rows, std::size_t numbers)
{
  const patchio::Stopwatch watch;
  vtkNew<vtkDoubleArray> written;
  written->SetNumberOfTuples(static_cast<vtkIdType>(numbers));
  double* next = written->GetPointer(0);
  double* const end = next + numbers;
  double sum = 0;
  for (const auto& [block, first] : rows) {
    const double* const values =
        static_cast<double*>(block->Grid->GetCellData()->GetArray("value")->GetVoidPointer(0));
    for (long long cell = first; cell < first + block->Cells(0); ++cell) {
      sum += block->IsVisible(cell) ? values[cell] : 0.0;
    }
    for (std::size_t share = numbers / rows.size(); share > 0 && next != end; --share) {
      *next++ = sum;
    }
  }
  std::fill(next, end, sum);
  return watch.Seconds();
}

double SliceSeconds(const Blocks& blocks, const SliceRequest& request, vtkPolyData** made = nullptr)
{
  const patchio::Stopwatch watch;
  const auto alone = patchio::MakeSelfCommunicator();
  const auto pieces = Slice(blocks, request, *alone);
  const double seconds = watch.Seconds();
  if (made) {
    *made = pieces[0];
    pieces[0]->Register(nullptr);
  }
  return seconds;
}

nlohmann::json Measure(const Blocks& blocks, const Surface& plane, int rounds)
{
  SliceRequest request;
  request.Surfaces = {plane};
  vtkPolyData* slice = nullptr;
  SliceSeconds(blocks, request, &slice);  // also warms up memory and threads
  const auto numbers = static_cast<std::size_t>(slice->GetActualMemorySize()) * 1024 / sizeof(double);
  const auto rows = CutRows(blocks, plane);
  nlohmann::json seconds{{"cells", slice->GetNumberOfCells()}, {"rows", rows.size()}, {"numbers", numbers}};
  slice->Delete();
  PlainLoop(rows, numbers);
  for (int round = 0; round < rounds; ++round) {
    {
      const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
      seconds["one thread"].push_back(SliceSeconds(blocks, request));
    }
    seconds["all threads"].push_back(SliceSeconds(blocks, request));
    seconds["plain loop"].push_back(PlainLoop(rows, numbers));
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv)
{
  CLI::App app("Measures slices of a cube of patches.");
  int along = 22, cells = 16, rounds = 5;
  app.add_option("--along", along, "patches along each axis");
  app.add_option("--cells", cells, "cells of a patch along each axis");
  app.add_option("--rounds", rounds);
  CLI11_PARSE(app, argc, argv);
  const auto patches = MakePatches(along, cells);
  const patchio::Stopwatch watch;
  const Blocks blocks = MakeBlocks(patches);
  nlohmann::json found{{"blocks", blocks.List.size()}, {"seconds to see the blocks", watch.Seconds()},
      {"threads", tbb::info::default_concurrency()}};
  const double middle = 0.5 * along * cells;
  for (const bool oblique : {false, true}) {
    vtkNew<vtkPlane> plane;
    plane->SetOrigin(middle, middle, middle + 0.3);
    oblique ? plane->SetNormal(1, 0.7, 0.4) : plane->SetNormal(0, 0, 1);
    found[oblique ? "oblique slice" : "slice"] = Measure(blocks, *Surface::FromFunction(plane, 0), rounds);
  }
  std::printf("%s\n", found.dump().c_str());
}
