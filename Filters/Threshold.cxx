#include "Filters/Threshold.h"

#include <vtkArrayDispatch.h>
#include <vtkDataArray.h>
#include <vtkDataArrayRange.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>

namespace patchio::filters {
namespace {

/// Sets InRange, by cell or point of the box of a part, to 1 if the value lies in the range, otherwise to 0.
struct RangeTestWorker
{
  const ThresholdRequest& Request;
  const BlockPart& SourcePart;
  std::vector<char>& InRange;

  template <typename Array>
  void operator()(Array* array) const
  {
    const auto values = vtk::DataArrayTupleRange(array);
    const Int3& counts = this->Request.IsPointData ? this->SourcePart.Points : this->SourcePart.Cells;
    const int rows = counts[1] * counts[2];
    for (int row = 0; row < rows; ++row) {
      const int begin = row * counts[0];
      const long long from = this->Request.IsPointData ? this->SourcePart.PointOfBlock(begin)
                                                       : this->SourcePart.CellOfBlock(begin);
      for (int i = 0; i < counts[0]; ++i) {
        const auto value = static_cast<double>(values[from + i][0]);
        this->InRange[begin + i] = value >= this->Request.Lower && value <= this->Request.Upper;
      }
    }
  }
};

/// Returns whether a cell lies in the range: its value or, for point arrays, all of its points or one of them
/// (see AllPoints). `inRange`: see RangeTestWorker::InRange.
bool IsCellInRange(const ThresholdRequest& request, const BlockPart& part, const std::vector<char>& inRange,
    const Int3& cell)
{
  if (!request.IsPointData) {
    return inRange[part.CellNumber(cell)];
  }
  const int first = part.PointNumber(cell);
  for (int c = 0; c < part.Shape.CornerCount(); ++c) {
    const bool isPointInRange = inRange[first + part.StepTo(c)];
    if (isPointInRange != request.AllPoints) {
      return isPointInRange;
    }
  }
  return request.AllPoints;
}

/// Adds the selected visible cells to the part.
void AddCellsInRange(const ThresholdRequest& request, BlockPart& part)
{
  vtkDataSet* const grid = part.SourceBlock->Grid;
  vtkDataArray* const array = AttributesOf(grid, request.IsPointData)->GetArray(request.Array.c_str());
  const vtkIdType tuples = request.IsPointData ? grid->GetNumberOfPoints() : grid->GetNumberOfCells();
  if (!array || array->GetNumberOfTuples() < tuples) {
    return;
  }
  const Int3& counts = request.IsPointData ? part.Points : part.Cells;
  std::vector<char> inRange(static_cast<std::size_t>(counts[0]) * counts[1] * counts[2]);
  const RangeTestWorker worker{request, part, inRange};
  if (!vtkArrayDispatch::Dispatch::Execute(array, worker)) {
    worker(array);
  }
  part.ForEachCell(true, [&](const Int3& cell) {
    if (IsCellInRange(request, part, inRange, cell) != request.Inverted) {
      part.AddCell(cell);
    }
  });
}

}  // namespace

std::vector<BlockPart> Threshold(
    const Blocks& blocks, const ThresholdRequest& request, const ProgressCallback& progress)
{
  return ExtractFromBoxes(
      blocks, [&](BlockPart& part) { AddCellsInRange(request, part); }, progress);
}

}  // namespace patchio::filters
