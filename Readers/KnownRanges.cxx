#include "KnownRanges.h"

#include "DataArrays.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationDoubleVectorKey.h>
#include <vtkInformationInformationVectorKey.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkType.h>
#include <vtkUnsignedCharArray.h>
#include <vtkVersionMacros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace patchio {
namespace {

/// Returns a range in VTK's form. An empty range becomes VTK's range of a component without numbers, also for
/// the lengths of vectors. For these lengths, VTK itself would store NaN, which VTK's readers cannot read
/// from a file.
std::array<double, 2> ToVtkRange(const ValueRange& range)
{
  if (range.Least > range.Greatest) {
    return {VTK_DOUBLE_MAX, VTK_DOUBLE_MIN};
  }
  return {range.Least, range.Greatest};
}

/// Stores ranges in VTK's keys: of each component, and of the length of vectors. All ranges are finite, so
/// the range and the finite range share their memory, which saves memory for many small arrays.
void SetRanges(vtkDataArray* array, const std::vector<std::array<double, 2>>& componentRanges,
    const std::array<double, 2>& lengthRange)
{
  const int components = array->GetNumberOfComponents();
  vtkInformation* const info = array->GetInformation();
  vtkNew<vtkInformationVector> ranges;
  ranges->SetNumberOfInformationObjects(components);
  for (int c = 0; c < components; ++c) {
    ranges->GetInformationObject(c)->Set(vtkDataArray::COMPONENT_RANGE(), componentRanges[c].data(), 2);
  }
  info->Set(vtkDataArray::PER_COMPONENT(), ranges);
  info->Set(vtkDataArray::PER_FINITE_COMPONENT(), ranges);
  if (components > 1) {
    info->Set(vtkDataArray::L2_NORM_RANGE(), lengthRange.data(), 2);
    info->Set(vtkDataArray::L2_NORM_FINITE_RANGE(), lengthRange.data(), 2);
  }
}

}  // namespace

void SetKnownRange(vtkDataArray* array, const ArrayRange& range)
{
  const int components = array->GetNumberOfComponents();
  if (!range.IsKnown(components)) {
    return;
  }
  std::vector<std::array<double, 2>> componentRanges;
  for (int c = 0; c < components; ++c) {
    componentRanges.push_back(ToVtkRange(range.RangeOfComponent(c)));
  }
  SetRanges(array, componentRanges, ToVtkRange(range.RangeOfLength()));
}

void SetConstantRange(vtkDataArray* array, std::optional<double> value)
{
  const int components = array->GetNumberOfComponents();
  const auto pair = ToVtkRange(value ? ValueRange{*value, *value} : ValueRange::EmptyRange());
  const double length = std::abs(value.value_or(0)) * std::sqrt(components);
  SetRanges(array, std::vector<std::array<double, 2>>(components, pair),
      value ? std::array<double, 2>{length, length} : pair);
}

void ComputeRange(vtkDataArray* array)
{
  if (const std::optional<ElementType> type = ElementTypeOf(array)) {
    ArrayRange range;
    range.Add(*type, array->GetNumberOfComponents(), array->GetVoidPointer(0), array->GetNumberOfTuples());
    SetKnownRange(array, range);
  }
}

namespace {

/// Consecutive values with the indices First .. End - 1.
struct Run
{
  vtkIdType First = 0, End = 0;
};

/// Returns the longest possible runs of values whose flag is 0.
std::vector<Run> UnflaggedRuns(const unsigned char* flags, vtkIdType count)
{
  std::vector<Run> runs;
  vtkIdType end = 0;
  while (end < count) {
    const auto* const found =
        static_cast<const unsigned char*>(std::memchr(flags + end, 0, static_cast<std::size_t>(count - end)));
    if (!found) {
      break;
    }
    const vtkIdType first = found - flags;
    end = std::find_if(found, flags + count, [](unsigned char flag) { return flag != 0; }) - flags;
    runs.push_back({first, end});
  }
  return runs;
}

/// Returns the runs of the nodes of these cells. `dims`: number of nodes along each axis.
std::vector<Run> NodeRunsOf(const std::vector<Run>& cells, const int dims[3])
{
  std::vector<unsigned char> isOutside(static_cast<std::size_t>(dims[0]) * dims[1] * dims[2], 1);
  const std::array<vtkIdType, 3> more{dims[0] > 1, dims[1] > 1, dims[2] > 1};
  const std::array<vtkIdType, 2> width{std::max(dims[0] - 1, 1), std::max(dims[1] - 1, 1)};
  for (const Run& run : cells) {
    for (vtkIdType cell = run.First; cell < run.End;) {
      const vtkIdType i = cell % width[0], row = cell / width[0];
      const vtkIdType count = std::min(run.End - cell, width[0] - i);
      for (vtkIdType corner = 0; corner < 4; ++corner) {
        const vtkIdType j = row % width[1] + ((corner & 1) != 0 ? more[1] : 0);
        const vtkIdType k = row / width[1] + ((corner & 2) != 0 ? more[2] : 0);
        std::fill_n(isOutside.begin() + (k * dims[1] + j) * dims[0] + i, count + more[0], 0);
      }
      cell += count;
    }
  }
  return UnflaggedRuns(isOutside.data(), static_cast<vtkIdType>(isOutside.size()));
}

/// Returns whether the stored range of an array shows that all values are equal, or that all are NaN.
bool HasOneValue(vtkDataArray* array)
{
  if (!array->HasInformation() || !array->GetInformation()->Has(vtkDataArray::PER_COMPONENT())) {
    return false;
  }
  bool one = true;
  for (int c = 0; c < array->GetNumberOfComponents(); ++c) {
    const double* const range = array->GetRange(c);
    one = one && range[0] >= range[1];
  }
  return one;
}

/// Sets the range of an array to the range of the values in `runs`; to VTK's empty range if `runs` is empty.
/// Does nothing if `array` is null or has a type or a number of components without known ranges.
void LimitRange(vtkDataArray* array, const std::vector<Run>& runs)
{
  const std::optional<ElementType> type = array ? ElementTypeOf(array) : std::nullopt;
  const int components = type ? array->GetNumberOfComponents() : 0;
  if (components < 1 || components > ArrayRange::MostComponents) {
    return;
  }
  if (runs.empty()) {
    SetConstantRange(array, std::nullopt);
    return;
  }
  if (HasOneValue(array)) {
    return;
  }
  ArrayRange range;
  const auto* const values = static_cast<const std::byte*>(array->GetVoidPointer(0));
  const std::size_t tuple = components * SizeOf(*type);
  for (const Run& run : runs) {
    range.Add(*type, components, values + run.First * tuple, run.End - run.First);
  }
  SetKnownRange(array, range);
}

/// Calls LimitRange() for all arrays except the ghost flags.
void LimitRanges(vtkDataSetAttributes* attributes, const std::vector<Run>& runs)
{
  for (int a = 0; a < attributes->GetNumberOfArrays(); ++a) {
    if (attributes->GetArray(a) != attributes->GetArray(vtkDataSetAttributes::GhostArrayName())) {
      LimitRange(attributes->GetArray(a), runs);
    }
  }
}

bool HasStructuredNodes(vtkDataSet* grid, const std::array<int, 3>& dims)
{
  return grid->GetNumberOfPoints() == static_cast<vtkIdType>(dims[0]) * dims[1] * dims[2];
}

/// Returns whether the runs contain all values 0 .. `count` - 1.
bool CoverAll(const std::vector<Run>& runs, vtkIdType count)
{
  return runs.size() == 1 && runs[0].First == 0 && runs[0].End == count;
}

}  // namespace

std::array<int, 3> DimensionsOf(vtkDataSet* grid)
{
  std::array<int, 3> dims{0, 0, 0};  // for other grids
  if (auto* image = vtkImageData::SafeDownCast(grid)) {
    image->GetDimensions(dims.data());
  } else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(grid)) {
    rectilinear->GetDimensions(dims.data());
  } else if (auto* structured = vtkStructuredGrid::SafeDownCast(grid)) {
    structured->GetDimensions(dims.data());
  }
  return dims;
}

void LimitRangesToVisible(vtkDataSet* grid, vtkUnsignedCharArray* flags)
{
#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0)
  // ParaView 5.13 gets the ranges from the attributes. Without this call, these ranges would include ghost
  // layers.
  grid->GetCellData()->SetGhostsToSkip(std::numeric_limits<unsigned char>::max());
#endif
  const std::array<int, 3> dims = DimensionsOf(grid);
  const bool isWhole = flags && HasOneValue(flags) && flags->GetRange(0)[0] == 0;
  if (!flags || isWhole || !HasStructuredNodes(grid, dims)) {
    return;
  }
  const vtkIdType cells = flags->GetNumberOfTuples();
  const std::vector<Run> runs = UnflaggedRuns(flags->GetPointer(0), cells);
  if (CoverAll(runs, cells)) {
    return;
  }
  LimitRanges(grid->GetCellData(), runs);
  if (grid->GetPointData()->GetNumberOfArrays() > 0) {
    LimitRanges(grid->GetPointData(), NodeRunsOf(runs, dims.data()));
  }
}

void HidePointsOfHiddenCells(vtkDataSet* grid, vtkUnsignedCharArray* flags)
{
  const std::array<int, 3> dims = DimensionsOf(grid);
  if (!flags || !HasStructuredNodes(grid, dims)) {
    return;
  }
  constexpr unsigned char hiding = vtkDataSetAttributes::HIDDENCELL | vtkDataSetAttributes::REFINEDCELL;
  std::vector<unsigned char> hidden(flags->GetNumberOfTuples());
  std::transform(flags->GetPointer(0), flags->GetPointer(0) + hidden.size(), hidden.begin(),
      [](unsigned char flag) { return static_cast<unsigned char>(flag & hiding); });
  const vtkIdType points = grid->GetNumberOfPoints();
  const std::vector<Run> runs =
      NodeRunsOf(UnflaggedRuns(hidden.data(), static_cast<vtkIdType>(hidden.size())), dims.data());
  if (CoverAll(runs, points)) {
    return;
  }
  vtkNew<vtkUnsignedCharArray> flagsOfPoints;
  flagsOfPoints->SetName(vtkDataSetAttributes::GhostArrayName());
  flagsOfPoints->SetNumberOfValues(points);
  flagsOfPoints->FillValue(vtkDataSetAttributes::HIDDENPOINT);
  for (const Run& run : runs) {
    std::fill_n(flagsOfPoints->GetPointer(run.First), run.End - run.First, 0);
  }
  grid->GetPointData()->AddArray(flagsOfPoints);
}

}  // namespace patchio
