#include "Filters/OutputArrays.h"
#include "Filters/VtkVersions.h"

#include <vtkArrayDispatch.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataArrayRange.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace patchio::filters {
namespace {

vtkDataArray* SourceOf(
    vtkDataSetAttributes* data, std::size_t at, const std::string& name, vtkDataArray* made, vtkIdType tuples)
{
  // Blocks have their arrays in the same order, as a rule.
  vtkDataArray* source =
      static_cast<int>(at) < data->GetNumberOfArrays() ? data->GetArray(static_cast<int>(at)) : nullptr;
  if (!source || !source->GetName() || name != source->GetName()) {
    source = data->GetArray(name.c_str());
  }
  const bool fits = source && source->GetNumberOfComponents() == made->GetNumberOfComponents() &&
                    source->GetNumberOfTuples() >= tuples;
  return fits ? source : nullptr;
}

bool HaveSameNames(vtkDataSetAttributes* a, vtkDataSetAttributes* b)
{
  const int count = a->GetNumberOfArrays();
  for (int i = 0; count == b->GetNumberOfArrays() && i < count; ++i) {
    const char *const one = a->GetArrayName(i), *const other = b->GetArrayName(i);
    if (!one || !other || std::strcmp(one, other) != 0) {
      return false;
    }
  }
  return count == b->GetNumberOfArrays();
}

template <typename Value>
constexpr Value Missing()
{
  return std::numeric_limits<Value>::has_quiet_NaN ? std::numeric_limits<Value>::quiet_NaN() : Value(0);
}

template <typename Value>
Value Between(Value a, Value b, double t)
{
  if (t == 0) {
    return a;  // also where the other one is NaN
  }
  const double value = (1 - t) * static_cast<double>(a) + t * static_cast<double>(b);
  return static_cast<Value>(std::is_integral<Value>::value ? std::round(value) : value);
}

struct FillWorker
{
  long long Begin, Count;

  template <typename Made>
  void operator()(Made* made) const
  {
    using Value = vtk::GetAPIType<Made>;
    auto tuples = vtk::DataArrayValueRange(made, this->Begin * made->GetNumberOfComponents(),
        (this->Begin + this->Count) * made->GetNumberOfComponents());
    std::fill(tuples.begin(), tuples.end(), Missing<Value>());
  }
};

struct CellWorker
{
  const std::vector<long long>& Cells;
  long long At;

  template <typename Source, typename Made>
  void operator()(Source* source, Made* made) const
  {
    const auto from = vtk::DataArrayTupleRange(source);
    auto to = vtk::DataArrayTupleRange(made);
    long long next = this->At;
    for (const long long cell : this->Cells) {
      to[next++] = from[cell];
    }
  }
};

struct PointWorker
{
  const CutPart& Part;
  const std::vector<char>& LeftOut;
  long long At;

  template <typename Source, typename Made>
  void operator()(Source* source, Made* made) const
  {
    using Value = vtk::GetAPIType<Made>;
    const auto from = vtk::DataArrayTupleRange(source);
    auto to = vtk::DataArrayTupleRange(made);
    long long next = this->At;
    for (std::size_t p = 0; p < this->Part.Points.size(); ++p) {
      if (!this->LeftOut.empty() && this->LeftOut[p]) {
        continue;
      }
      const EdgePoint& point = this->Part.Points[p];
      for (int c = 0; c < source->GetNumberOfComponents(); ++c) {
        to[next][c] = Between<Value>(
            static_cast<Value>(from[point.A][c]), static_cast<Value>(from[point.B][c]), point.T);
      }
      ++next;
    }
  }
};

template <typename Worker>
void Copy(vtkDataArray* source, vtkDataArray* made, const Worker& worker)
{
  if (!vtkArrayDispatch::Dispatch2SameValueType::Execute(source, made, worker)) {
    worker(source, made);
  }
}

void FillMissing(vtkDataArray* made, long long at, long long count)
{
  if (!vtkArrayDispatch::Dispatch::Execute(made, FillWorker{at, count})) {
    FillWorker{at, count}(made);
  }
}

}  // namespace

OutputArrays::OutputArrays(const std::vector<const Block*>& blocks, bool ofPoints) : OfPoints(ofPoints)
{
  if (blocks.empty()) {
    return;
  }
  this->AddArraysOf(this->DataOf(*blocks[0]));
  // As a rule all blocks have the same arrays; there may be many blocks.
  std::vector<char> differs(blocks.size());
  tbb::parallel_for(std::size_t(1), differs.size(), [&](std::size_t b) {
    differs[b] = !HaveSameNames(this->DataOf(*blocks[b]), this->DataOf(*blocks[0]));
  });
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    if (differs[b]) {
      this->AddArraysOf(this->DataOf(*blocks[b]));
    }
  }
}

vtkIdType OutputArrays::TuplesOf(const Block& block) const
{
  const auto along = [&](int axis) {
    return vtkIdType(this->OfPoints ? block.Points[axis] : block.Cells(axis));
  };
  return along(0) * along(1) * along(2);
}

vtkDataSetAttributes* OutputArrays::DataOf(const Block& block) const
{
  if (this->OfPoints) {
    return block.Grid->GetPointData();
  }
  return block.Grid->GetCellData();
}

void OutputArrays::AddArraysOf(vtkDataSetAttributes* data)
{
  for (int a = 0; a < data->GetNumberOfArrays(); ++a) {
    vtkDataArray* const array = data->GetArray(a);
    const char* const name = array ? array->GetName() : nullptr;
    if (!name || !std::strcmp(name, vtkDataSetAttributes::GhostArrayName())) {
      continue;
    }
    const int attribute = data->IsArrayAnAttribute(a);
    const bool known = std::any_of(
        this->Arrays.begin(), this->Arrays.end(), [name](const Array& other) { return other.Name == name; });
    if (!known && attribute != vtkDataSetAttributes::GLOBALIDS &&
        attribute != vtkDataSetAttributes::PEDIGREEIDS) {
      this->Arrays.push_back({name, array, attribute, nullptr});
    }
  }
}

void OutputArrays::Allocate(long long tuples, long long points, vtkDataSetAttributes* to)
{
  for (Array& array : this->Arrays) {
    array.Made.TakeReference(vtkDataArray::CreateDataArray(array.Like->GetDataType()));
    array.Made->SetName(array.Name.c_str());
    array.Made->SetNumberOfComponents(array.Like->GetNumberOfComponents());
    for (int c = 0; array.Like->HasAComponentName() && c < array.Like->GetNumberOfComponents(); ++c) {
      if (const char* const name = array.Like->GetComponentName(c)) {
        array.Made->SetComponentName(c, name);
      }
    }
    array.Made->Allocate(std::max(tuples, points) * array.Made->GetNumberOfComponents());
    SetTuples(tuples, array.Made);
    const int index = to->AddArray(array.Made);
    if (array.Attribute >= 0) {
      to->SetActiveAttribute(index, array.Attribute);
    }
  }
}

void OutputArrays::TakeCells(const CutPart& part, long long at) const
{
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    vtkDataArray* const made = this->Arrays[a].Made;
    vtkDataArray* const source =
        SourceOf(this->DataOf(*part.From), a, this->Arrays[a].Name, made, this->TuplesOf(*part.From));
    if (source) {
      Copy(source, made, CellWorker{part.Cells, at});
    } else {
      FillMissing(made, at, static_cast<long long>(part.Cells.size()));
    }
  }
}

void OutputArrays::TakePoints(const CutPart& part, const std::vector<char>& leftOut, long long at) const
{
  const auto count =
      static_cast<long long>(part.Points.size()) - std::count(leftOut.begin(), leftOut.end(), 1);
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    vtkDataArray* const made = this->Arrays[a].Made;
    vtkDataArray* const source =
        SourceOf(this->DataOf(*part.From), a, this->Arrays[a].Name, made, this->TuplesOf(*part.From));
    if (source) {
      Copy(source, made, PointWorker{part, leftOut, at});
    } else {
      FillMissing(made, at, count);
    }
  }
}

}  // namespace patchio::filters
