#include "Filters/PolyDataOfParts.h"

#include "Filters/VtkVersions.h"

#include <tbb/parallel_for.h>
#include <vtkArrayDispatch.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
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
  // Usually all blocks have the same arrays; a comparison of names is quick also for many blocks.
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

namespace {

int AxesOf(const Block& block)
{
  return (block.Points[0] > 1) + (block.Points[1] > 1) + (block.Points[2] > 1);
}

/// The place of a part's points and cells in the output.
struct Place
{
  const CutPart* Part;
  std::vector<std::pair<int, int>> Shared;  ///< points that the part before has, too: (own, of that part)
  std::vector<char> LeftOut;                ///< whether each point is shared; empty: none
  long long FirstPoint = 0, FirstCell = 0, FirstCorner = 0;
  std::vector<long long> Ids;  ///< ids of the part's points in the output
};

/// Finds the points that a part shares with the part before it.
void FindShared(const CutPart& before, Place& place)
{
  const bool follows = before.From == place.Part->From && before.Surface == place.Part->Surface;
  if (!follows || before.After.empty() || place.Part->Before.empty()) {
    return;
  }
  place.LeftOut.assign(place.Part->Points.size(), 0);
  auto other = before.After.begin();
  for (const auto& [key, own] : place.Part->Before) {
    while (other != before.After.end() && other->first < key) {
      ++other;
    }
    if (other != before.After.end() && other->first == key) {
      place.Shared.push_back({own, other->second});
      place.LeftOut[own] = 1;
    }
  }
}

/// Sets the places of the parts. Returns the numbers of points, cells and corners of the output.
std::array<long long, 3> SetPlaces(std::vector<Place>& places)
{
  tbb::parallel_for(std::size_t(1), std::max<std::size_t>(places.size(), 1),
      [&](std::size_t p) { FindShared(*places[p - 1].Part, places[p]); });
  std::array<long long, 3> next{0, 0, 0};
  for (Place& place : places) {
    place.FirstPoint = next[0];
    place.FirstCell = next[1];
    place.FirstCorner = next[2];
    next[0] += static_cast<long long>(place.Part->Points.size() - place.Shared.size());
    next[1] += static_cast<long long>(place.Part->Cells.size());
    next[2] += static_cast<long long>(place.Part->Corners.size());
  }
  tbb::parallel_for(std::size_t(0), places.size(), [&](std::size_t p) {
    Place& place = places[p];
    long long id = place.FirstPoint;
    place.Ids.resize(place.Part->Points.size());
    for (std::size_t point = 0; point < place.Ids.size(); ++point) {
      place.Ids[point] = !place.LeftOut.empty() && place.LeftOut[point] ? -1 : id++;
    }
  });
  // Points that a part shares with the next one are its own, so their ids are known here.
  for (std::size_t p = 1; p < places.size(); ++p) {
    for (const auto& [own, other] : places[p].Shared) {
      places[p].Ids[own] = places[p - 1].Ids[other];
    }
  }
  return next;
}

class Filler
{
public:
  Filler(const std::vector<const Block*>& blocks, const std::array<long long, 3>& counts, bool originalIds,
      vtkPolyData* output)
      : CellArrays(blocks, false), PointArrays(blocks, true), OriginalIds(originalIds)
  {
    this->Positions->SetNumberOfComponents(3);
    SetTuples(counts[0], this->Positions);
    SetTuples(counts[1] + 1, this->Offsets);
    this->Offsets->SetValue(counts[1], counts[2]);
    SetTuples(counts[2], this->Corners);
    this->CellArrays.Allocate(counts[1], counts[0], output->GetCellData());
    this->PointArrays.Allocate(counts[0], counts[0], output->GetPointData());
    vtkNew<vtkPoints> points;
    points->SetDataTypeToDouble();
    points->SetData(this->Positions);
    output->SetPoints(points);
    if (originalIds) {
      AddIds("vtkOriginalCellIds", counts[1], this->CellIds, output->GetCellData());
      AddIds("vtkOriginalPointIds", counts[0], this->PointIds, output->GetPointData());
    }
  }

  void Fill(const Place& place) const
  {
    const CutPart& part = *place.Part;
    double* position = this->Positions->GetPointer(3 * place.FirstPoint);
    for (std::size_t p = 0; p < part.Points.size(); ++p) {
      if (place.LeftOut.empty() || !place.LeftOut[p]) {
        position = std::copy(part.Positions[p].begin(), part.Positions[p].end(), position);
      }
    }
    vtkTypeInt64* offset = this->Offsets->GetPointer(place.FirstCell);
    long long corners = place.FirstCorner;
    for (const unsigned char size : part.Sizes) {
      *offset++ = corners;
      corners += size;
    }
    std::transform(part.Corners.begin(), part.Corners.end(), this->Corners->GetPointer(place.FirstCorner),
        [&place](int corner) { return place.Ids[corner]; });
    this->CellArrays.TakeCells(part, place.FirstCell);
    this->PointArrays.TakePoints(part, place.LeftOut, place.FirstPoint);
    if (this->OriginalIds) {
      this->FillIds(place);
    }
  }

  /// Returns the cells from `begin` up to `endCell`, all of them of the same kind.
  vtkSmartPointer<vtkCellArray> Cells(const Place& begin, long long endCell, long long endCorner) const
  {
    auto cells = vtkSmartPointer<vtkCellArray>::New();
    if (begin.FirstCell == 0 && endCell + 1 == this->Offsets->GetNumberOfValues()) {
      cells->SetData(this->Offsets, this->Corners);
      return cells;
    }
    vtkNew<vtkTypeInt64Array> offsets, corners;
    SetTuples(endCell - begin.FirstCell + 1, offsets);
    std::transform(this->Offsets->GetPointer(begin.FirstCell), this->Offsets->GetPointer(endCell + 1),
        offsets->GetPointer(0), [&begin](vtkTypeInt64 offset) { return offset - begin.FirstCorner; });
    SetTuples(endCorner - begin.FirstCorner, corners);
    std::copy(this->Corners->GetPointer(begin.FirstCorner), this->Corners->GetPointer(endCorner),
        corners->GetPointer(0));
    cells->SetData(offsets, corners);
    return cells;
  }

private:
  static void AddIds(const char* name, long long count, vtkIdTypeArray* ids, vtkFieldData* to)
  {
    ids->SetName(name);
    SetTuples(count, ids);
    to->AddArray(ids);
  }

  void FillIds(const Place& place) const
  {
    const CutPart& part = *place.Part;
    std::copy(part.Cells.begin(), part.Cells.end(), this->CellIds->GetPointer(place.FirstCell));
    vtkIdType* id = this->PointIds->GetPointer(place.FirstPoint);
    for (std::size_t p = 0; p < part.Points.size(); ++p) {
      if (place.LeftOut.empty() || !place.LeftOut[p]) {
        *id++ = part.Points[p].A;
      }
    }
  }

  vtkNew<vtkDoubleArray> Positions;
  vtkNew<vtkTypeInt64Array> Offsets, Corners;
  OutputArrays CellArrays, PointArrays;
  const bool OriginalIds;
  vtkNew<vtkIdTypeArray> CellIds, PointIds;
};

}  // namespace

vtkSmartPointer<vtkPolyData> MakePolyData(
    const std::vector<const Block*>& blocks, const std::vector<const CutPart*>& parts, bool originalIds)
{
  std::vector<Place> places;
  for (const CutPart* part : parts) {
    places.push_back({part, {}, {}, 0, 0, 0, {}});
  }
  // VTK numbers vertices before lines before polygons.
  std::stable_sort(places.begin(), places.end(),
      [](const Place& a, const Place& b) { return AxesOf(*a.Part->From) < AxesOf(*b.Part->From); });
  const std::array<long long, 3> counts = SetPlaces(places);
  auto output = vtkSmartPointer<vtkPolyData>::New();
  const Filler filler(blocks, counts, originalIds, output);
  tbb::parallel_for(std::size_t(0), places.size(), [&](std::size_t p) { filler.Fill(places[p]); });
  for (auto begin = places.begin(); begin != places.end();) {
    const int axes = AxesOf(*begin->Part->From);
    const auto end = std::find_if(
        begin, places.end(), [axes](const Place& place) { return AxesOf(*place.Part->From) != axes; });
    const bool last = end == places.end();
    const auto cells =
        filler.Cells(*begin, last ? counts[1] : end->FirstCell, last ? counts[2] : end->FirstCorner);
    axes == 3 ? output->SetPolys(cells) : axes == 2 ? output->SetLines(cells) : output->SetVerts(cells);
    begin = end;
  }
  return output;
}

std::vector<vtkSmartPointer<vtkPolyData>> MakePieces(
    const std::vector<const Block*>& blocks, const std::vector<const CutPart*>& parts, std::size_t pieces)
{
  std::vector<std::vector<const Block*>> blocksOf(pieces);
  for (const Block* block : blocks) {
    blocksOf[block->Piece].push_back(block);
  }
  std::vector<std::vector<const CutPart*>> partsOf(pieces);
  for (const CutPart* part : parts) {
    partsOf[part->From->Piece].push_back(part);
  }
  std::vector<vtkSmartPointer<vtkPolyData>> made;
  for (std::size_t p = 0; p < pieces; ++p) {
    made.push_back(MakePolyData(blocksOf[p], partsOf[p]));
  }
  return made;
}

}  // namespace patchio::filters
