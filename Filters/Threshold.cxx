#include "Filters/Threshold.h"

#include <vtkArrayDispatch.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataArrayRange.h>
#include <vtkDataSet.h>
#include <vtkPointData.h>

namespace patchio::filters {
namespace {

/// Sets Found to whether the values of a part's cells, or points, are in the range, row by row.
struct TestWorker
{
  const ThresholdRequest& Request;
  const Part& Of;
  std::vector<char>& Found;

  template <typename Array>
  void operator()(Array* array) const
  {
    const auto values = vtk::DataArrayTupleRange(array);
    const Int3& counts = this->Request.OfPoints ? this->Of.Points : this->Of.Cells;
    const int rows = counts[1] * counts[2];
    for (int row = 0; row < rows; ++row) {
      const int begin = row * counts[0];
      const long long from =
          this->Request.OfPoints ? this->Of.PointOfBlock(begin) : this->Of.CellOfBlock(begin);
      for (int i = 0; i < counts[0]; ++i) {
        const auto value = static_cast<double>(values[from + i][0]);
        this->Found[begin + i] = value >= this->Request.Lower && value <= this->Request.Upper;
      }
    }
  }
};

bool IsIn(const ThresholdRequest& request, const Part& part, const std::vector<char>& found, const Int3& cell)
{
  if (!request.OfPoints) {
    return found[part.CellNumber(cell)];
  }
  for (int c = 0; c < part.Shape.Count(); ++c) {
    const Int3& step = part.Shape.Corners[c];
    const bool one = found[part.PointNumber({cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]})];
    if (one != request.AllPoints) {
      return one;
    }
  }
  return request.AllPoints;
}

void TakePart(const ThresholdRequest& request, Part& part)
{
  vtkDataSet* const grid = part.From->Grid;
  vtkFieldData* const data =
      request.OfPoints ? static_cast<vtkFieldData*>(grid->GetPointData()) : grid->GetCellData();
  vtkDataArray* const array = data->GetArray(request.Array.c_str());
  const vtkIdType tuples = request.OfPoints ? grid->GetNumberOfPoints() : grid->GetNumberOfCells();
  if (!array || array->GetNumberOfTuples() < tuples) {
    return;
  }
  const Int3& counts = request.OfPoints ? part.Points : part.Cells;
  std::vector<char> found(static_cast<std::size_t>(counts[0]) * counts[1] * counts[2]);
  const TestWorker worker{request, part, found};
  if (!vtkArrayDispatch::Dispatch::Execute(array, worker)) {
    worker(array);
  }
  part.ForEachCell(true, [&](const Int3& cell) {
    if (IsIn(request, part, found, cell) != request.Inverted) {
      part.KeepCell(cell);
    }
  });
}

}  // namespace

std::vector<Part> Threshold(
    const Blocks& blocks, const ThresholdRequest& request, const ProgressCallback& progress)
{
  return TakeBoxes(
      blocks, [&](Part& part) { TakePart(request, part); }, progress);
}

}  // namespace patchio::filters
