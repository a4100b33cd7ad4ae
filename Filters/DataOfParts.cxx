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

vtkDataArray* SourceOf(
    vtkDataSetAttributes* data, std::size_t at, const std::string& name, vtkDataArray* made, vtkIdType tuples)
{
  // Usually all blocks have their arrays in the same order.
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
    return a;  // also if b is NaN
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
  const std::vector<EdgePoint>& Points;
  long long At;

  template <typename Source, typename Made>
  void operator()(Source* source, Made* made) const
  {
    using Value = vtk::GetAPIType<Made>;
    const auto from = vtk::DataArrayTupleRange(source);
    auto to = vtk::DataArrayTupleRange(made);
    long long next = this->At;
    for (const EdgePoint& point : this->Points) {
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

/// The arrays of the output's cells, or of its points.
class OutputArrays
{
public:
  OutputArrays(const std::vector<const Block*>& blocks, bool ofPoints);

  /// Makes arrays of `tuples` tuples and adds them to `to`, with their attribute types. points: number of
  /// points of the output. The arrays have memory for at least as many tuples, because VTK's Warp By Scalar
  /// reads values of cells as values of points.
  void Allocate(long long tuples, long long points, vtkDataSetAttributes* to);

  /// Fills the tuples from `at` on, one for each of these cells, or points, of a block. Several threads may
  /// fill different tuples at once.
  void Take(const Block& from, const std::vector<long long>& cells, long long at) const
  {
    this->Take(from, CellWorker{cells, at}, at, cells.size());
  }
  void Take(const Block& from, const std::vector<EdgePoint>& points, long long at) const
  {
    this->Take(from, PointWorker{points, at}, at, points.size());
  }

private:
  struct Array
  {
    std::string Name;
    vtkDataArray* Like;  ///< the array of the first block that has it
    int Attribute;       ///< VTK's attribute type; -1: none
    vtkSmartPointer<vtkDataArray> Made;
  };

  void AddArraysOf(vtkDataSetAttributes* data);
  vtkDataSetAttributes* DataOf(const Block& block) const;
  template <typename Worker>
  void Take(const Block& from, const Worker& worker, long long at, std::size_t count) const;

  const bool OfPoints;
  std::vector<Array> Arrays;
};

OutputArrays::OutputArrays(const std::vector<const Block*>& blocks, bool ofPoints) : OfPoints(ofPoints)
{
  if (blocks.empty()) {
    return;
  }
  this->AddArraysOf(this->DataOf(*blocks[0]));
  // Usually all blocks have the same arrays; a comparison of names is quick even for many blocks.
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

template <typename Worker>
void OutputArrays::Take(const Block& from, const Worker& worker, long long at, std::size_t count) const
{
  const vtkIdType tuples = this->OfPoints ? from.PointCount() : from.CellCount();
  for (std::size_t a = 0; a < this->Arrays.size(); ++a) {
    vtkDataArray* const made = this->Arrays[a].Made;
    vtkDataArray* const source = SourceOf(this->DataOf(from), a, this->Arrays[a].Name, made, tuples);
    if (source) {
      Copy(source, made, worker);
    } else {
      FillMissing(made, at, static_cast<long long>(count));
    }
  }
}

/// Returns VTK's type of a block's whole cells.
unsigned char WholeType(const Part& part)
{
  constexpr unsigned char straight[] = {VTK_VERTEX, VTK_LINE, VTK_PIXEL, VTK_VOXEL};
  constexpr unsigned char curved[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON};
  return (part.From->Form == BlockForm::Curvilinear ? curved : straight)[part.Shape.Axes];
}

/// The ids, in the output, of a part's first cell and first corner (position in the connectivity array).
struct FirstIds
{
  long long Cell = 0, Corner = 0;
};

/// Makes the points, cells and arrays of an output out of parts with ids.
class Assembly
{
public:
  /// types: whether the output needs VTK's types of cells. originalIds: see MakePolyData().
  Assembly(const std::vector<const Block*>& blocks, const std::vector<const Part*>& parts,
      const NumberOfPoint& number, bool types, bool originalIds, vtkPointSet* output);

  /// Returns the cells of the parts from `begin` up to `end`, without `end` itself.
  vtkSmartPointer<vtkCellArray> Cells(std::size_t begin, std::size_t end) const;
  /// VTK's types of all cells; null unless the constructor's `types` was true.
  vtkUnsignedCharArray* CellTypes() const { return this->Types; }

private:
  void Fill(const Part& part, const PointsOfPart& points, const FirstIds& begin) const;
  std::vector<EdgePoint> FillPoints(const Part& part, const PointsOfPart& points) const;
  void FillCells(const Part& part, const PointsOfPart& points, const FirstIds& begin) const;

  std::vector<FirstIds> FirstIdsOfParts;  ///< one for each part, then the end
  vtkNew<vtkDoubleArray> Positions;
  vtkNew<vtkTypeInt64Array> Offsets, Corners;
  vtkSmartPointer<vtkUnsignedCharArray> Types;
  OutputArrays CellArrays, PointArrays;
  vtkSmartPointer<vtkIdTypeArray> CellIds, PointIds;
};

vtkSmartPointer<vtkIdTypeArray> AddIds(const char* name, long long count, vtkFieldData* to)
{
  auto ids = vtkSmartPointer<vtkIdTypeArray>::New();
  ids->SetName(name);
  SetTuples(count, ids);
  to->AddArray(ids);
  return ids;
}

Assembly::Assembly(const std::vector<const Block*>& blocks, const std::vector<const Part*>& parts,
    const NumberOfPoint& number, bool types, bool originalIds, vtkPointSet* output)
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
  vtkNew<vtkPoints> made;
  made->SetDataTypeToDouble();
  made->SetData(this->Positions);
  output->SetPoints(made);
  this->CellArrays.Allocate(end.Cell, points, output->GetCellData());
  this->PointArrays.Allocate(points, points, output->GetPointData());
  if (originalIds) {
    this->CellIds = AddIds("vtkOriginalCellIds", end.Cell, output->GetCellData());
    this->PointIds = AddIds("vtkOriginalPointIds", points, output->GetPointData());
  }
  tbb::parallel_for(std::size_t(0), parts.size(),
      [&](std::size_t p) { this->Fill(*parts[p], ids[p], this->FirstIdsOfParts[p]); });
}

void Assembly::Fill(const Part& part, const PointsOfPart& points, const FirstIds& begin) const
{
  const std::vector<EdgePoint> own = this->FillPoints(part, points);
  this->PointArrays.Take(*part.From, own, points.First);
  this->FillCells(part, points, begin);
  std::vector<long long> cells;
  cells.reserve(part.CellCount());
  for (const int cell : part.Whole) {
    cells.push_back(part.CellOfBlock(cell));
  }
  cells.insert(cells.end(), part.Sources.begin(), part.Sources.end());
  this->CellArrays.Take(*part.From, cells, begin.Cell);
  if (this->CellIds) {
    std::copy(cells.begin(), cells.end(), this->CellIds->GetPointer(begin.Cell));
    std::transform(own.begin(), own.end(), this->PointIds->GetPointer(points.First),
        [](const EdgePoint& point) { return point.A; });
  }
}

/// Sets the positions of the points that occur in this part first, and returns these points.
std::vector<EdgePoint> Assembly::FillPoints(const Part& part, const PointsOfPart& points) const
{
  double* to = this->Positions->GetPointer(3 * points.First);
  const auto count = static_cast<std::size_t>(points.End - points.First);
  // All points are new, and belong to this part.
  if (count > 0 && part.BoxPointCount == 0 && count == part.Positions.size()) {
    for (const std::array<double, 3>& position : part.Positions) {
      to = std::copy(position.begin(), position.end(), to);
    }
    return part.Made;
  }
  std::vector<EdgePoint> own;
  own.reserve(count);
  for (int p = 0; p < part.PointCount(); ++p) {
    if (points.Ids[p] != points.First + static_cast<long long>(own.size())) {
      continue;
    }
    const int made = p - part.BoxPointCount;
    if (made >= 0 && !part.Positions.empty()) {
      own.push_back(part.Made[made]);
      to = std::copy(part.Positions[made].begin(), part.Positions[made].end(), to);
      continue;
    }
    const long long here = made < 0 ? part.PointOfBlock(p) : 0;
    const EdgePoint& point = own.emplace_back(made < 0 ? EdgePoint{here, here, 0.0} : part.Made[made]);
    const std::array<double, 3> a = part.From->PositionOf(point.A);
    const std::array<double, 3> b = point.T == 0 ? a : part.From->PositionOf(point.B);
    for (int axis = 0; axis < 3; ++axis) {
      *to++ = a[axis] + point.T * (b[axis] - a[axis]);
    }
  }
  return own;
}

void Assembly::FillCells(const Part& part, const PointsOfPart& points, const FirstIds& begin) const
{
  vtkTypeInt64* offset = this->Offsets->GetPointer(begin.Cell);
  vtkTypeInt64* const first = this->Corners->GetPointer(0);
  vtkTypeInt64* corner = first + begin.Corner;
  // The corners of hexahedra and quadrilaterals run around the cell, those of voxels and pixels row by row.
  const bool turns = part.From->Form == BlockForm::Curvilinear;
  for (const int cell : part.Whole) {
    *offset++ = corner - first;
    const int row = cell / part.Cells[0];
    const int origin = part.PointNumber({cell % part.Cells[0], row % part.Cells[1], row / part.Cells[1]});
    for (int c = 0; c < part.Shape.Count(); ++c) {
      *corner++ = points.Ids[origin + part.StepTo(turns ? c ^ (c >> 1 & 1) : c)];
    }
  }
  if (this->Types) {
    unsigned char* const types = this->Types->GetPointer(begin.Cell);
    std::fill_n(types, part.Whole.size(), WholeType(part));
    std::copy(part.Types.begin(), part.Types.end(), types + part.Whole.size());
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
    const std::vector<const Block*>& blocks, const std::vector<const Part*>& parts)
{
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  const Assembly assembly(blocks, parts, NumbersByPosition(parts), true, false, grid);
  grid->SetCells(assembly.CellTypes(), assembly.Cells(0, parts.size()));
  return grid;
}

/// Returns make(piece, blocks of the piece, parts of these blocks) for all pieces of the input.
template <typename Make>
auto OfPieces(const Blocks& blocks, const std::vector<Part>& parts, Make make)
{
  const std::size_t pieces = blocks.Pieces.size();
  std::vector<std::vector<const Block*>> blocksOf(pieces);
  for (const Block& block : blocks.List) {
    blocksOf[block.Piece].push_back(&block);
  }
  std::vector<std::vector<const Part*>> partsOf(pieces);
  for (const Part& part : parts) {
    partsOf[part.From->Piece].push_back(&part);
  }
  std::vector<decltype(make(std::size_t(0), blocksOf[0], partsOf[0]))> made;
  for (std::size_t p = 0; p < pieces; ++p) {
    made.push_back(make(p, blocksOf[p], partsOf[p]));
  }
  return made;
}

}  // namespace

vtkSmartPointer<vtkPolyData> MakePolyData(
    const std::vector<const Block*>& blocks, const std::vector<const Part*>& parts, bool originalIds)
{
  // VTK numbers vertices before lines before polygons.
  std::vector<const Part*> sorted = parts;
  std::stable_sort(sorted.begin(), sorted.end(),
      [](const Part* a, const Part* b) { return a->Shape.Axes < b->Shape.Axes; });
  auto output = vtkSmartPointer<vtkPolyData>::New();
  const auto number = [](const Part& part, long long point) { return part.FirstNumber + point; };
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

std::vector<vtkSmartPointer<vtkPolyData>> MakePieces(const Blocks& blocks, const std::vector<Part>& parts)
{
  return OfPieces(blocks, parts,
      [](std::size_t, const auto& ofPiece, const auto& partsOf) { return MakePolyData(ofPiece, partsOf); });
}

std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<Part>& parts, const ProgressCallback& progress)
{
  const auto pieces = static_cast<double>(blocks.Pieces.size());
  return OfPieces(blocks, parts, [&](std::size_t p, const auto& ofPiece, const auto& partsOf) {
    const bool wanted = progress(static_cast<double>(p) / pieces);
    return MakeGrid(ofPiece, wanted ? partsOf : std::vector<const Part*>());
  });
}

}  // namespace patchio::filters
