#include "Filters/DataOfParts.h"

#include "Filters/Stitch.h"
#include "Filters/VtkVersions.h"

#include <tbb/parallel_for.h>
#include <vtkArrayDispatch.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkDataArrayRange.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace patchio::filters {

namespace {

/// Returns the array of the name `name` in `data` if this array has as many components as `output` and enough
/// tuples; otherwise null. `index`: likely index of the array in `data`. `tuples`: least number of tuples.
vtkDataArray* SourceOf(vtkDataSetAttributes* data, std::size_t index, const std::string& name,
    vtkDataArray* output, vtkIdType tuples)
{
  // Usually all blocks have their arrays in the same order.
  vtkDataArray* source =
      static_cast<int>(index) < data->GetNumberOfArrays() ? data->GetArray(static_cast<int>(index)) : nullptr;
  if (!source || !source->GetName() || name != source->GetName()) {
    source = data->GetArray(name.c_str());
  }
  const bool fits = source && source->GetNumberOfComponents() == output->GetNumberOfComponents() &&
                    source->GetNumberOfTuples() >= tuples;
  return fits ? source : nullptr;
}

/// Returns whether the arrays of `a` and `b` have the same names in the same order.
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

/// Returns the value where a block lacks an array: NaN, or 0 for integers.
template <typename Value>
constexpr Value MissingValue()
{
  return std::numeric_limits<Value>::has_quiet_NaN ? std::numeric_limits<Value>::quiet_NaN() : Value(0);
}

/// Returns (1 - t) * a + t * b, rounded for integers; `a` if `t` is 0.
template <typename Value>
Value InterpolateValue(Value a, Value b, double t)
{
  if (t == 0) {
    return a;  // even if b is NaN
  }
  const double value = (1 - t) * static_cast<double>(a) + t * static_cast<double>(b);
  return static_cast<Value>(std::is_integral<Value>::value ? std::round(value) : value);
}

/// Sets `Count` tuples of an array, from the tuple `Begin` on, to MissingValue().
struct FillWorker
{
  long long Begin, Count;

  template <typename Output>
  void operator()(Output* output) const
  {
    using Value = vtk::GetAPIType<Output>;
    auto tuples = vtk::DataArrayValueRange(output, this->Begin * output->GetNumberOfComponents(),
        (this->Begin + this->Count) * output->GetNumberOfComponents());
    std::fill(tuples.begin(), tuples.end(), MissingValue<Value>());
  }
};

/// Copies the tuples of `Cells` to an output array, from the tuple FirstTuple on.
struct CellWorker
{
  const std::vector<long long>& Cells;
  long long FirstTuple;

  template <typename Source, typename Output>
  void operator()(Source* source, Output* output) const
  {
    const auto from = vtk::DataArrayTupleRange(source);
    auto to = vtk::DataArrayTupleRange(output);
    long long next = this->FirstTuple;
    for (const long long cell : this->Cells) {
      to[next++] = from[cell];
    }
  }
};

/// Writes the values at `Points` to an output array, from the tuple FirstTuple on.
struct PointWorker
{
  const std::vector<EdgePoint>& Points;
  long long FirstTuple;

  template <typename Source, typename Output>
  void operator()(Source* source, Output* output) const
  {
    using Value = vtk::GetAPIType<Output>;
    const auto from = vtk::DataArrayTupleRange(source);
    auto to = vtk::DataArrayTupleRange(output);
    long long next = this->FirstTuple;
    for (const EdgePoint& point : this->Points) {
      for (int c = 0; c < source->GetNumberOfComponents(); ++c) {
        to[next][c] = InterpolateValue<Value>(
            static_cast<Value>(from[point.A][c]), static_cast<Value>(from[point.B][c]), point.T);
      }
      ++next;
    }
  }
};

/// Calls worker(source, output) with the types of the arrays.
template <typename Worker>
void CopyValues(vtkDataArray* source, vtkDataArray* output, const Worker& worker)
{
  if (!vtkArrayDispatch::Dispatch2SameValueType::Execute(source, output, worker)) {
    worker(source, output);
  }
}

/// Sets `count` tuples, from the tuple `first` on, to MissingValue().
void FillMissing(vtkDataArray* output, long long first, long long count)
{
  if (!vtkArrayDispatch::Dispatch::Execute(output, FillWorker{first, count})) {
    FillWorker{first, count}(output);
  }
}

/// The arrays of the output's cells, or of its points.
class OutputArrays
{
public:
  OutputArrays(const std::vector<const Block*>& blocks, bool isPointData);

  /// Makes arrays of `tuples` tuples and adds the arrays to `attributes`, with their attribute types.
  /// `points`: number of points of the output. The arrays have memory for at least `points` tuples, because
  /// VTK's Warp By Scalar reads values of cells as values of points.
  void Allocate(long long tuples, long long points, vtkDataSetAttributes* attributes);

  /// Sets the tuples from `first` on to the values of these cells, or points, of the block `from`. Several
  /// threads may set different tuples at once.
  void CopyTuples(const Block& from, const std::vector<long long>& cells, long long first) const
  {
    this->CopyTuples(from, CellWorker{cells, first}, first, cells.size());
  }
  void CopyTuples(const Block& from, const std::vector<EdgePoint>& points, long long first) const
  {
    this->CopyTuples(from, PointWorker{points, first}, first, points.size());
  }

private:
  struct Array
  {
    std::string Name;
    vtkDataArray* Template;                ///< the array of the first block that has an array of this name
    int Attribute;                         ///< VTK's attribute type; -1: no attribute
    vtkSmartPointer<vtkDataArray> Output;  ///< set by Allocate()
  };

  void AddArraysOf(vtkDataSetAttributes* data);
  template <typename Worker>
  void CopyTuples(const Block& from, const Worker& worker, long long first, std::size_t count) const;

  const bool IsPointData;
  std::vector<Array> Arrays;
};

OutputArrays::OutputArrays(const std::vector<const Block*>& blocks, bool isPointData)
    : IsPointData(isPointData)
{
  if (blocks.empty()) {
    return;
  }
  const auto dataOf = [&](std::size_t b) { return AttributesOf(blocks[b]->Grid, isPointData); };
  this->AddArraysOf(dataOf(0));
  // Usually all blocks have the same arrays; a comparison of names is quick even for many blocks.
  std::vector<char> differs(blocks.size());
  tbb::parallel_for(std::size_t(1), differs.size(),
      [&](std::size_t b) { differs[b] = !HaveSameNames(dataOf(b), dataOf(0)); });
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    if (differs[b]) {
      this->AddArraysOf(dataOf(b));
    }
  }
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

void OutputArrays::Allocate(long long tuples, long long points, vtkDataSetAttributes* attributes)
{
  for (Array& array : this->Arrays) {
    array.Output.TakeReference(vtkDataArray::CreateDataArray(array.Template->GetDataType()));
    array.Output->SetName(array.Name.c_str());
    array.Output->SetNumberOfComponents(array.Template->GetNumberOfComponents());
    for (int c = 0; array.Template->HasAComponentName() && c < array.Template->GetNumberOfComponents(); ++c) {
      if (const char* const name = array.Template->GetComponentName(c)) {
        array.Output->SetComponentName(c, name);
      }
    }
    SetTuples(tuples, array.Output, points);
    const int index = attributes->AddArray(array.Output);
    if (array.Attribute >= 0) {
      attributes->SetActiveAttribute(index, array.Attribute);
    }
  }
}

template <typename Worker>
void OutputArrays::CopyTuples(
    const Block& from, const Worker& worker, long long first, std::size_t count) const
{
  vtkDataSetAttributes* const data = AttributesOf(from.Grid, this->IsPointData);
  const vtkIdType tuples = this->IsPointData ? from.PointCount() : from.CellCount();
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    vtkDataArray* const output = this->Arrays[a].Output;
    vtkDataArray* const source = SourceOf(data, a, this->Arrays[a].Name, output, tuples);
    if (source) {
      CopyValues(source, output, worker);
    } else {
      FillMissing(output, first, static_cast<long long>(count));
    }
  }
}

/// Returns VTK's type of the whole cells of a part.
unsigned char WholeCellType(const BlockPart& part)
{
  constexpr unsigned char straight[] = {VTK_VERTEX, VTK_LINE, VTK_PIXEL, VTK_VOXEL};
  constexpr unsigned char curved[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON};
  return (part.SourceBlock->Form == BlockForm::Curvilinear ? curved : straight)[part.Shape.Axes];
}

/// The ids, in the output, of the first cell and of the first corner (index in the connectivity array) of a
/// part.
struct FirstIds
{
  long long Cell = 0, Corner = 0;
};

/// Makes the points, cells and arrays of an output from parts.
class Assembly
{
public:
  /// Sets the points and the arrays of `output`. `number`: numbers the points of the parts. `types`: true if
  /// the output needs VTK's types of cells. `originalIds`: see MakePolyData().
  Assembly(const std::vector<const Block*>& blocks, const std::vector<const BlockPart*>& parts,
      const PointNumbering& number, bool types, bool originalIds, vtkPointSet* output);

  /// Returns the cells of the parts `begin` .. `end` - 1.
  vtkSmartPointer<vtkCellArray> Cells(std::size_t begin, std::size_t end) const;
  /// Returns VTK's types of all cells; null if `types` of the constructor was false.
  vtkUnsignedCharArray* CellTypes() const { return this->Types; }

private:
  void Fill(const BlockPart& part, const PointsOfPart& points, const FirstIds& begin) const;
  std::vector<EdgePoint> FillPoints(const BlockPart& part, const PointsOfPart& points) const;
  void FillCells(const BlockPart& part, const PointsOfPart& points, const FirstIds& begin) const;

  std::vector<FirstIds> FirstIdsOfParts;  ///< by part; then the end of the ids
  vtkNew<vtkDoubleArray> Positions;
  vtkNew<vtkTypeInt64Array> Offsets, Corners;
  vtkSmartPointer<vtkUnsignedCharArray> Types;
  OutputArrays CellArrays, PointArrays;
  vtkSmartPointer<vtkIdTypeArray> CellIds, PointIds;
};

/// Adds an array of `count` undefined ids to `to` and returns the array.
vtkSmartPointer<vtkIdTypeArray> AddIds(const char* name, long long count, vtkFieldData* to)
{
  auto ids = vtkSmartPointer<vtkIdTypeArray>::New();
  ids->SetName(name);
  SetTuples(count, ids);
  to->AddArray(ids);
  return ids;
}

Assembly::Assembly(const std::vector<const Block*>& blocks, const std::vector<const BlockPart*>& parts,
    const PointNumbering& number, bool types, bool originalIds, vtkPointSet* output)
    : FirstIdsOfParts(parts.size() + 1), CellArrays(blocks, false), PointArrays(blocks, true)
{
  std::vector<PointsOfPart> ids;
  const long long points = Stitch(parts, number, ids);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    this->FirstIdsOfParts[p + 1].Cell =
        this->FirstIdsOfParts[p].Cell + static_cast<long long>(parts[p]->CellCount());
    this->FirstIdsOfParts[p + 1].Corner =
        this->FirstIdsOfParts[p].Corner + static_cast<long long>(parts[p]->CornerCount());
  }
  const FirstIds& end = this->FirstIdsOfParts.back();
  this->Positions->SetNumberOfComponents(3);
  SetTuples(points, this->Positions);
  SetTuples(end.Cell + 1, this->Offsets);
  this->Offsets->SetValue(end.Cell, end.Corner);
  SetTuples(end.Corner, this->Corners);
  if (types) {
    this->Types = vtkSmartPointer<vtkUnsignedCharArray>::New();
    SetTuples(end.Cell, this->Types);
  }
  vtkNew<vtkPoints> outputPoints;
  outputPoints->SetDataTypeToDouble();
  outputPoints->SetData(this->Positions);
  output->SetPoints(outputPoints);
  this->CellArrays.Allocate(end.Cell, points, output->GetCellData());
  this->PointArrays.Allocate(points, points, output->GetPointData());
  if (originalIds) {
    this->CellIds = AddIds("vtkOriginalCellIds", end.Cell, output->GetCellData());
    this->PointIds = AddIds("vtkOriginalPointIds", points, output->GetPointData());
  }
  tbb::parallel_for(std::size_t(0), parts.size(),
      [&](std::size_t p) { this->Fill(*parts[p], ids[p], this->FirstIdsOfParts[p]); });
}

/// Sets the points, cells and values of a part. `begin`: ids of the first cell and the first corner of the
/// part.
void Assembly::Fill(const BlockPart& part, const PointsOfPart& points, const FirstIds& begin) const
{
  const std::vector<EdgePoint> own = this->FillPoints(part, points);
  this->PointArrays.CopyTuples(*part.SourceBlock, own, points.First);
  this->FillCells(part, points, begin);
  std::vector<long long> cells;
  cells.reserve(part.CellCount());
  for (const int cell : part.WholeCells) {
    cells.push_back(part.CellOfBlock(cell));
  }
  cells.insert(cells.end(), part.Sources.begin(), part.Sources.end());
  this->CellArrays.CopyTuples(*part.SourceBlock, cells, begin.Cell);
  if (this->CellIds) {
    std::copy(cells.begin(), cells.end(), this->CellIds->GetPointer(begin.Cell));
    std::transform(own.begin(), own.end(), this->PointIds->GetPointer(points.First),
        [](const EdgePoint& point) { return point.A; });
  }
}

/// Sets the positions of the points that belong to this part (see PointsOfPart), and returns these points.
std::vector<EdgePoint> Assembly::FillPoints(const BlockPart& part, const PointsOfPart& points) const
{
  double* to = this->Positions->GetPointer(3 * points.First);
  const auto count = static_cast<std::size_t>(points.End - points.First);
  // If all points are new and belong to this part, their positions are complete.
  if (count > 0 && part.BoxPointCount == 0 && count == part.Positions.size()) {
    for (const std::array<double, 3>& position : part.Positions) {
      to = std::copy(position.begin(), position.end(), to);
    }
    return part.NewPoints;
  }
  std::vector<EdgePoint> own;
  own.reserve(count);
  for (int p = 0; p < part.PointCount(); ++p) {
    if (points.Ids[p] != points.First + static_cast<long long>(own.size())) {
      continue;
    }
    const int newPoint = p - part.BoxPointCount;
    if (newPoint >= 0 && !part.Positions.empty()) {
      own.push_back(part.NewPoints[newPoint]);
      to = std::copy(part.Positions[newPoint].begin(), part.Positions[newPoint].end(), to);
      continue;
    }
    const long long here = newPoint < 0 ? part.PointOfBlock(p) : 0;
    const EdgePoint& point =
        own.emplace_back(newPoint < 0 ? EdgePoint{here, here, 0.0} : part.NewPoints[newPoint]);
    const std::array<double, 3> a = part.SourceBlock->PositionOf(point.A);
    const std::array<double, 3> b = point.T == 0 ? a : part.SourceBlock->PositionOf(point.B);
    for (int axis = 0; axis < 3; ++axis) {
      *to++ = a[axis] + point.T * (b[axis] - a[axis]);
    }
  }
  return own;
}

void Assembly::FillCells(const BlockPart& part, const PointsOfPart& points, const FirstIds& begin) const
{
  vtkTypeInt64* offset = this->Offsets->GetPointer(begin.Cell);
  vtkTypeInt64* const first = this->Corners->GetPointer(0);
  vtkTypeInt64* corner = first + begin.Corner;
  // The corners of hexahedra and quadrilaterals run around the cell. The corners of voxels and pixels run row
  // by row.
  const bool turns = part.SourceBlock->Form == BlockForm::Curvilinear;
  for (const int cell : part.WholeCells) {
    *offset++ = corner - first;
    const int origin = part.PointNumber(IndexOf(cell, part.Cells));
    for (int c = 0; c < part.Shape.CornerCount(); ++c) {
      *corner++ = points.Ids[origin + part.StepTo(turns ? c ^ (c >> 1 & 1) : c)];
    }
  }
  if (this->Types) {
    unsigned char* const types = this->Types->GetPointer(begin.Cell);
    std::fill_n(types, part.WholeCells.size(), WholeCellType(part));
    std::copy(part.Types.begin(), part.Types.end(), types + part.WholeCells.size());
  }
  long long next = corner - first;
  for (const unsigned char size : part.Sizes) {
    *offset++ = next;
    next += size;
  }
  std::transform(
      part.Corners.begin(), part.Corners.end(), corner, [&points](int point) { return points.Ids[point]; });
}

vtkSmartPointer<vtkCellArray> Assembly::Cells(std::size_t begin, std::size_t end) const
{
  auto cells = vtkSmartPointer<vtkCellArray>::New();
  // The ids have 64 bits even if 32 bits are enough, because VTK's filters can read ids of vtkIdType's width
  // from several threads.
  if (begin == 0 && end + 1 == this->FirstIdsOfParts.size()) {
    cells->SetData(this->Offsets, this->Corners);
    return cells;
  }
  const FirstIds &from = this->FirstIdsOfParts[begin], &to = this->FirstIdsOfParts[end];
  vtkNew<vtkTypeInt64Array> offsets, corners;
  SetTuples(to.Cell - from.Cell + 1, offsets);
  std::transform(this->Offsets->GetPointer(from.Cell), this->Offsets->GetPointer(to.Cell + 1),
      offsets->GetPointer(0), [&from](vtkTypeInt64 offset) { return offset - from.Corner; });
  SetTuples(to.Corner - from.Corner, corners);
  std::copy(
      this->Corners->GetPointer(from.Corner), this->Corners->GetPointer(to.Corner), corners->GetPointer(0));
  cells->SetData(offsets, corners);
  return cells;
}

vtkSmartPointer<vtkUnstructuredGrid> MakeGrid(
    const std::vector<const Block*>& blocks, const std::vector<const BlockPart*>& parts)
{
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  const Assembly assembly(blocks, parts, NumberingByPosition(parts), true, false, grid);
  grid->SetCells(assembly.CellTypes(), assembly.Cells(0, parts.size()));
  return grid;
}

/// Returns make(child, blocks, parts) for each of Blocks::ChildNames: the index of the child, its blocks, and
/// the parts of these blocks.
template <typename Make>
auto MapChildren(const Blocks& blocks, const std::vector<BlockPart>& parts, Make make)
{
  const std::size_t children = blocks.ChildNames.size();
  std::vector<std::vector<const Block*>> blocksOf(children);
  for (const Block& block : blocks.List) {
    blocksOf[block.Child].push_back(&block);
  }
  std::vector<std::vector<const BlockPart*>> partsOf(children);
  for (const BlockPart& part : parts) {
    partsOf[part.SourceBlock->Child].push_back(&part);
  }
  std::vector<decltype(make(std::size_t(0), blocksOf[0], partsOf[0]))> results;
  for (std::size_t p = 0; p < children; ++p) {
    results.push_back(make(p, blocksOf[p], partsOf[p]));
  }
  return results;
}

}  // namespace

vtkSmartPointer<vtkPolyData> MakePolyData(
    const std::vector<const Block*>& blocks, const std::vector<const BlockPart*>& parts, bool originalIds)
{
  // VTK numbers vertices before lines before polygons.
  std::vector<const BlockPart*> sorted = parts;
  std::stable_sort(sorted.begin(), sorted.end(),
      [](const BlockPart* a, const BlockPart* b) { return a->Shape.Axes < b->Shape.Axes; });
  auto output = vtkSmartPointer<vtkPolyData>::New();
  const auto number = [](const BlockPart& part, long long point) { return part.FirstNumber + point; };
  const Assembly assembly(blocks, sorted, number, false, originalIds, output);
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    const int axes = sorted[begin]->Shape.Axes;
    while (end < sorted.size() && sorted[end]->Shape.Axes == axes) {
      ++end;
    }
    const auto cells = assembly.Cells(begin, end);
    axes == 3 ? output->SetPolys(cells) : axes == 2 ? output->SetLines(cells) : output->SetVerts(cells);
  }
  return output;
}

std::vector<vtkSmartPointer<vtkPolyData>> MakePolyDataOfChildren(
    const Blocks& blocks, const std::vector<BlockPart>& parts)
{
  return MapChildren(blocks, parts,
      [](std::size_t, const auto& ofChild, const auto& partsOf) { return MakePolyData(ofChild, partsOf); });
}

std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<BlockPart>& parts, const ProgressCallback& progress)
{
  const auto children = static_cast<double>(blocks.ChildNames.size());
  return MapChildren(blocks, parts, [&](std::size_t p, const auto& ofChild, const auto& partsOf) {
    const bool continues = progress(static_cast<double>(p) / children);
    return MakeGrid(ofChild, continues ? partsOf : std::vector<const BlockPart*>());
  });
}

}  // namespace patchio::filters
