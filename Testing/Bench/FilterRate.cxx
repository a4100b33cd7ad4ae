// Times slices and contours of many patches without ParaView, with one thread and with all threads, and a
// plain loop that reads the values and flags of the rows of a slice and writes the same number of bytes.
// Prints the seconds as JSON.
#include "Driver.h"

#include "Base/Stopwatch.h"
#include "Filters/ContourOutput.h"
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

#include <cmath>
#include <random>

namespace patchio::bench {
namespace {

using namespace filters;
using nlohmann::json;

constexpr int Along = 22;  ///< patches along each axis
constexpr int Cells = 16;  ///< cells of a patch along each axis
constexpr double Middle = 0.5 * Along * Cells;

/// Returns a cube of patches. The values are the distances from its middle. hidden: one of 64 cells is
/// hidden.
vtkSmartPointer<vtkMultiBlockDataSet> MakePatches(bool hidden)
{
  std::mt19937 random(20);
  vtkNew<vtkMultiPieceDataSet> level;
  for (int patch = 0; patch < Along * Along * Along; ++patch) {
    const int at[] = {patch % Along * Cells, patch / Along % Along * Cells, patch / Along / Along * Cells};
    vtkNew<vtkUniformGrid> grid;
    grid->SetExtent(at[0], at[0] + Cells, at[1], at[1] + Cells, at[2], at[2] + Cells);
    vtkNew<vtkDoubleArray> values;
    values->SetName("value");
    vtkNew<vtkUnsignedCharArray> flags;
    flags->SetName("vtkGhostType");
    for (int cell = 0; cell < Cells * Cells * Cells; ++cell) {
      const int i = cell % Cells, j = cell / Cells % Cells, k = cell / Cells / Cells;
      values->InsertNextValue(
          std::hypot(at[0] + i + 0.5 - Middle, at[1] + j + 0.5 - Middle, at[2] + k + 0.5 - Middle));
      flags->InsertNextValue(random() % 64 ? 0 : 32);
    }
    grid->GetCellData()->AddArray(values);
    if (hidden) {
      grid->GetCellData()->AddArray(flags);
    }
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
  const Stopwatch watch;
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

/// Returns the seconds of work() with one thread and with all threads, in turn, after a run that warms up
/// memory and threads.
template <typename Work>
json SecondsOf(Work work, int rounds)
{
  json seconds;
  work();
  for (int round = 0; round < rounds; ++round) {
    {
      const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
      const Stopwatch watch;
      work();
      seconds["one thread"].push_back(watch.Seconds());
    }
    const Stopwatch watch;
    work();
    seconds["all threads"].push_back(watch.Seconds());
  }
  return seconds;
}

json MeasureSlice(const Blocks& blocks, const Surface& plane, int rounds)
{
  SliceRequest request;
  request.Surfaces = {plane};
  const auto alone = MakeSelfCommunicator();
  const auto pieces = Slice(blocks, request, *alone);
  const auto numbers = static_cast<std::size_t>(pieces[0]->GetActualMemorySize()) * 1024 / sizeof(double);
  const auto rows = CutRows(blocks, plane);
  json seconds = SecondsOf([&] { Slice(blocks, request, *alone); }, rounds);
  PlainLoop(rows, numbers);
  for (int round = 0; round < rounds; ++round) {
    seconds["plain loop"].push_back(PlainLoop(rows, numbers));
  }
  return seconds;
}

void MakeContour(const Blocks& blocks)
{
  const auto alone = MakeSelfCommunicator();
  const CellSet cells = MakeCellSet(blocks, "value", false, *alone);
  const CellLattice lattice(cells.Blocks, cells.Nodes);
  ContourOptions options;
  options.Values = {0.37 * Along * Cells};
  vtkNew<vtkPolyData> output;
  FillPolyData(filters::MakeContour(lattice, options.Values), lattice, cells, options, output);
}

json Measure(int rounds)
{
  json found{{"blocks", Along * Along * Along}, {"threads", tbb::info::default_concurrency()}};
  const auto withHidden = MakePatches(true), visible = MakePatches(false);
  const Blocks toSlice = MakeBlocks(withHidden), toContour = MakeBlocks(visible);
  for (const bool oblique : {false, true}) {
    vtkNew<vtkPlane> plane;
    plane->SetOrigin(Middle, Middle, Middle + 0.3);
    oblique ? plane->SetNormal(1, 0.7, 0.4) : plane->SetNormal(0, 0, 1);
    found[oblique ? "oblique slice" : "slice"] =
        MeasureSlice(toSlice, *Surface::FromFunction(plane, 0), rounds);
  }
  found["contour"] = SecondsOf([&] { MakeContour(toContour); }, rounds);
  return found;
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto rounds = std::make_shared<int>(5);
  program.description("Measures slices and contours of a cube of patches.");
  program.add_option("--rounds", *rounds);
  return [rounds] { return Measure(*rounds); };
}

}  // namespace patchio::bench
