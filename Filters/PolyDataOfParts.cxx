#include "Filters/PolyDataOfParts.h"

#include "Filters/OutputArrays.h"
#include "Filters/VtkVersions.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkTypeInt64Array.h>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

namespace patchio::filters {
namespace {

int AxesOf(const Block& block)
{
  return (block.Points[0] > 1) + (block.Points[1] > 1) + (block.Points[2] > 1);
}

/// Where the points and cells of a part stand in the output.
struct Place
{
  const CutPart* Part;
  std::vector<std::pair<int, int>> Shared;  ///< own points that the part before has: (own, of that part)
  std::vector<char> LeftOut;                ///< for each point whether it is shared; empty: none
  long long FirstPoint = 0, FirstCell = 0, FirstCorner = 0;
  std::vector<long long> Ids;  ///< of the points
};

/// The points that a part shares with the one before it.
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

/// Sets where each part begins; returns numbers of points, cells and corners.
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
  // The part before has shared points of its own only on its other side.
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

  /// The cells from one place to another, all of them of the same kind.
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
