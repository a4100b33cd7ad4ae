#include "Filters/GridOfParts.h"

#include "Filters/CellLattice.h"
#include "Filters/Fields.h"
#include "Filters/PolyDataOfParts.h"
#include "Filters/VtkVersions.h"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDoubleArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchio::filters {

namespace {

/// Greatest number of cells of a task along each axis.
constexpr int CellsOfTask = 64;

}  // namespace

SolidPart::SolidPart(const Block& from, const Int3& begin, const Int3& end)
    : From(&from), Begin(begin), Shape(from)
{
  for (int axis = 0; axis < 3; ++axis) {
    this->Cells[axis] = end[axis] - begin[axis];
    this->Points[axis] = from.Points[axis] > 1 ? this->Cells[axis] + 1 : 1;
  }
  for (int c = 0; c < 8; ++c) {
    this->Steps[c] = this->PointNumber(this->Shape.Corners[c]);
  }
}

void SolidPart::KeepCell(const Int3& cell)
{
  this->Whole.push_back(this->CellNumber(cell));
  const int first = this->PointNumber(cell);
  for (int c = 0; c < this->Shape.Count(); ++c) {
    this->Use(first + this->Steps[c]);
  }
}

void SolidPart::KeepPiece(const Int3& cell, unsigned char type, const int* corners, int count)
{
  this->Types.push_back(type);
  this->Corners.insert(this->Corners.end(), corners, corners + count);
  this->CellOfPiece.push_back(this->CellNumber(cell));
  for (int c = 0; c < count; ++c) {
    if (corners[c] < this->PointCount()) {
      this->Use(corners[c]);
    }
  }
}

int SolidPart::MakePoint(int a, int b, double t, int axis)
{
  this->Made.push_back({{this->PointOfBlock(a), this->PointOfBlock(b), t}, a, axis});
  return this->PointCount() + static_cast<int>(this->Made.size()) - 1;
}

Int3 SolidPart::PointAt(int point) const
{
  const int row = point / this->Points[0];
  return {point % this->Points[0], row % this->Points[1], row / this->Points[1]};
}

long long SolidPart::PointOfBlock(int point) const
{
  const Int3 at = this->PointAt(point);
  const Int3& points = this->From->Points;
  return this->Begin[0] + at[0] +
         points[0] * (this->Begin[1] + at[1] + static_cast<long long>(points[1]) * (this->Begin[2] + at[2]));
}

long long SolidPart::CellOfBlock(int cell) const
{
  const int row = cell / this->Cells[0];
  const long long layer = this->Begin[2] + row / this->Cells[1];
  return this->Begin[0] + cell % this->Cells[0] +
         this->From->Cells(0) * (this->Begin[1] + row % this->Cells[1] + this->From->Cells(1) * layer);
}

std::vector<SolidPart> MakeSolidParts(
    const Blocks& blocks, const std::function<void(SolidPart&)>& take, const GoesOn& goesOn)
{
  std::vector<SolidPart> parts;
  for (const Block& block : blocks.List) {
    const Int3 cells{block.Cells(0), block.Cells(1), block.Cells(2)};
    Int3 begin, end;
    for (begin[2] = 0; begin[2] < cells[2]; begin[2] = end[2]) {
      end[2] = std::min(begin[2] + CellsOfTask, cells[2]);
      for (begin[1] = 0; begin[1] < cells[1]; begin[1] = end[1]) {
        end[1] = std::min(begin[1] + CellsOfTask, cells[1]);
        for (begin[0] = 0; begin[0] < cells[0]; begin[0] = end[0]) {
          end[0] = std::min(begin[0] + CellsOfTask, cells[0]);
          parts.emplace_back(block, begin, end);
        }
      }
    }
  }
  if (!RunTasks(
          parts.size(), [&](std::size_t p) { take(parts[p]); }, goesOn)) {
    return {};
  }
  parts.erase(
      std::remove_if(parts.begin(), parts.end(), [](const SolidPart& part) { return part.IsEmpty(); }),
      parts.end());
  return parts;
}

namespace {

/// A key that is equal in all parts that have a point: the numbers of the ends of the point's edge or, if the
/// point belongs to a box, its number and PointKeys::NoPoint. One end would not do, since edges of several
/// levels may begin at one place.
using PointKey = std::pair<std::uint64_t, std::uint64_t>;

class PartPoints
{
public:
  /// Numbers the points of all parts, which must outlive this object. A point that several parts have, or
  /// that one part has several times (where a deformed grid touches itself), gets one number, in the part
  /// where it occurs first.
  explicit PartPoints(const std::vector<const SolidPart*>& parts);

  struct Ids
  {
    std::vector<long long> Of;  ///< ids of the box's points, then of the new points; -1: not used
    long long First = 0;        ///< the first of the part's own ids, which are consecutive
  };
  const Ids& operator[](std::size_t part) const { return this->Parts[part]; }
  long long Count() const { return this->Points; }

private:
  /// A point that other parts may have, too.
  struct Shared
  {
    PointKey Key;
    int Part, Point;

    bool operator<(const Shared& other) const
    {
      return std::tie(this->Key, this->Part, this->Point) < std::tie(other.Key, other.Part, other.Point);
    }
  };

  std::vector<Shared> FindShared(const std::vector<const SolidPart*>& parts);
  void Number(const std::vector<Shared>& shared);

  std::vector<Ids> Parts;
  long long Points = 0;
};

constexpr long long Unused = -1, Own = 0, Elsewhere = -2;

/// Calls work(number, point) for the used points of a part's box that other parts may have: at the ends of
/// the box, and beside hidden cells.
template <typename Work>
void ForEachAtRim(const SolidPart& part, Work work)
{
  std::vector<char> beside;
  if (part.From->Flags) {
    beside.resize(part.PointCount());
    Int3 cell;
    for (cell[2] = 0; cell[2] < part.Cells[2]; ++cell[2]) {
      for (cell[1] = 0; cell[1] < part.Cells[1]; ++cell[1]) {
        for (cell[0] = 0; cell[0] < part.Cells[0]; ++cell[0]) {
          if (!part.IsVisible(cell)) {
            const int first = part.PointNumber(cell);
            for (int c = 0; c < part.Shape.Count(); ++c) {
              beside[first + part.StepTo(c)] = 1;
            }
          }
        }
      }
    }
  }
  const auto atEnd = [&part](int axis, int i) {
    return part.Points[axis] > 1 && (i == 0 || i + 1 == part.Points[axis]);
  };
  int number = 0;
  Int3 point;
  for (point[2] = 0; point[2] < part.Points[2]; ++point[2]) {
    for (point[1] = 0; point[1] < part.Points[1]; ++point[1]) {
      const bool all = atEnd(2, point[2]) || atEnd(1, point[1]);
      for (point[0] = 0; point[0] < part.Points[0]; ++point[0], ++number) {
        if (part.Used[number] && (all || atEnd(0, point[0]) || (!beside.empty() && beside[number]))) {
          work(number, static_cast<const Int3&>(point));
        }
      }
    }
  }
}

/// Numbers the positions of points of deformed grids. Points at one position have one number.
class DeformedPlaces
{
public:
  explicit DeformedPlaces(const std::vector<const SolidPart*>& parts)
  {
    std::vector<std::vector<Place>> found(parts.size());
    tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
      if (parts[p]->From->Form == BlockForm::Curvilinear) {
        Find(*parts[p], found[p]);
      }
    });
    for (const std::vector<Place>& some : found) {
      this->Places.insert(this->Places.end(), some.begin(), some.end());
    }
    tbb::parallel_sort(this->Places.begin(), this->Places.end());
    this->Places.erase(std::unique(this->Places.begin(), this->Places.end()), this->Places.end());
  }

  /// Returns the number of a point's position. The point must lie at the rim of its part, or at an end of an
  /// edge on which a point was made.
  std::uint64_t NumberOf(const SolidPart& part, const Int3& point) const
  {
    return std::lower_bound(this->Places.begin(), this->Places.end(), PlaceOf(part, point)) -
           this->Places.begin();
  }

private:
  /// The bits of the coordinates, which can be sorted even if some coordinates are NaN.
  using Place = std::array<std::uint64_t, 3>;

  static Place PlaceOf(const SolidPart& part, const Int3& point)
  {
    const Position at =
        PositionAt(*part.From, part.Begin[0] + point[0], part.Begin[1] + point[1], part.Begin[2] + point[2]);
    Place place;
    for (int axis = 0; axis < 3; ++axis) {
      const double positive = at[axis] + 0.0;  // -0 and 0 are one place
      std::memcpy(&place[axis], &positive, sizeof(positive));
    }
    return place;
  }

  static void Find(const SolidPart& part, std::vector<Place>& found)
  {
    ForEachAtRim(part, [&](int, const Int3& at) { found.push_back(PlaceOf(part, at)); });
    for (const SolidPart::MadePoint& made : part.Made) {
      if (made.Axis >= 0) {
        found.push_back(PlaceOf(part, part.PointAt(made.Lower)));
        found.push_back(PlaceOf(part, part.EndOfEdge(made)));
      }
    }
  }

  std::vector<Place> Places;
};

/// Numbers points by their positions: a point has one number in all blocks, and different points have
/// different numbers.
class PointKeys
{
public:
  explicit PointKeys(const std::vector<const SolidPart*>& parts)
      : Lattice(this->BlocksOf(parts)), Deformed(parts)
  {
    double all = 1;
    for (int axis = 0; axis < 3; ++axis) {
      this->Counts[axis] = this->Lattice.PlaceCount(axis);
      all *= static_cast<double>(this->Counts[axis]);
    }
    this->Together = all < 1e18;
    this->FirstAlone = this->Together ? static_cast<std::uint64_t>(all) : 0;
  }

  /// Returns the key of a point of the part's box.
  PointKey Of(const SolidPart& part, const Int3& point) const
  {
    return {this->NumberOf(part, point), NoPoint};
  }
  /// Returns the key of a point that was made on an edge.
  PointKey Of(const SolidPart& part, const SolidPart::MadePoint& made) const
  {
    const std::uint64_t a = this->NumberOf(part, part.PointAt(made.Lower));
    const std::uint64_t b = this->NumberOf(part, part.EndOfEdge(made));
    return std::minmax(a, b);
  }

private:
  static constexpr std::uint64_t NoPoint = std::numeric_limits<std::uint64_t>::max();

  struct Numbers
  {
    int InLattice = -1;
    std::uint64_t FirstPoint = 0;
  };

  /// Returns the number of a point. Points on the lattice come first; if the lattice is too large for
  /// numbers, points of uniform and rectilinear blocks are numbered block by block instead. Points of
  /// deformed blocks come last.
  std::uint64_t NumberOf(const SolidPart& part, const Int3& point) const
  {
    const Numbers& numbers = this->BlockNumbers.at(part.From);
    if (numbers.InLattice < 0) {
      return this->FirstAlone + this->StraightPoints + this->Deformed.NumberOf(part, point);
    }
    if (!this->Together) {
      return this->FirstAlone + numbers.FirstPoint + part.PointOfBlock(part.PointNumber(point));
    }
    std::uint64_t number = 0;
    for (int a = 2; a >= 0; --a) {
      number = number * this->Counts[a] +
               this->Lattice.AxisOf(numbers.InLattice, a).Places[part.Begin[a] + point[a]];
    }
    return number;
  }

  std::vector<CellBlock> BlocksOf(const std::vector<const SolidPart*>& parts)
  {
    std::vector<CellBlock> straight;
    for (const SolidPart* part : parts) {
      const Block& block = *part->From;
      const auto [found, isNew] = this->BlockNumbers.try_emplace(&block);
      if (!isNew || block.Form == BlockForm::Curvilinear) {
        continue;
      }
      found->second.FirstPoint = this->StraightPoints;
      this->StraightPoints += static_cast<std::uint64_t>(block.Points[0]) * block.Points[1] * block.Points[2];
      found->second.InLattice = static_cast<int>(straight.size());
      CellBlock& cells = straight.emplace_back();
      cells.OfPoints = true;
      cells.Cells = block.Points;
      for (int axis = 0; axis < 3; ++axis) {
        cells.Nodes[axis] = block.PositionsOf(axis);
      }
    }
    return straight;
  }

  std::unordered_map<const Block*, Numbers> BlockNumbers;
  std::uint64_t StraightPoints = 0;
  const CellLattice Lattice;
  const DeformedPlaces Deformed;
  std::array<std::uint64_t, 3> Counts{};
  bool Together = true;
  std::uint64_t FirstAlone = 0;
};

PartPoints::PartPoints(const std::vector<const SolidPart*>& parts) : Parts(parts.size())
{
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    std::vector<long long>& ids = this->Parts[p].Of;
    const SolidPart& part = *parts[p];
    ids.assign(part.PointCount() + part.Made.size(), Own);
    std::transform(
        part.Used.begin(), part.Used.end(), ids.begin(), [](char used) { return used ? Own : Unused; });
  });
  std::vector<Shared> shared = this->FindShared(parts);
  tbb::parallel_sort(shared.begin(), shared.end());
  this->Number(shared);
}

std::vector<PartPoints::Shared> PartPoints::FindShared(const std::vector<const SolidPart*>& parts)
{
  const PointKeys keys(parts);
  std::vector<std::vector<Shared>> found(parts.size());
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const SolidPart& part = *parts[p];
    const int number = static_cast<int>(p);
    ForEachAtRim(part, [&](int point, const Int3& at) {
      found[p].push_back({keys.Of(part, at), number, point});
    });
    for (std::size_t m = 0; m < part.Made.size(); ++m) {
      const SolidPart::MadePoint& made = part.Made[m];
      if (made.Axis >= 0) {
        found[p].push_back({keys.Of(part, made), number, part.PointCount() + static_cast<int>(m)});
      }
    }
  });
  std::vector<Shared> all;
  for (std::vector<Shared>& some : found) {
    all.insert(all.end(), some.begin(), some.end());
    some = {};
  }
  return all;
}

void PartPoints::Number(const std::vector<Shared>& shared)
{
  const auto isFirst = [&](std::size_t s) { return s == 0 || shared[s].Key != shared[s - 1].Key; };
  tbb::parallel_for(std::size_t(0), shared.size(), [&](std::size_t s) {
    if (!isFirst(s)) {
      this->Parts[shared[s].Part].Of[shared[s].Point] = Elsewhere;
    }
  });
  for (Ids& part : this->Parts) {
    part.First = this->Points;
    for (long long& id : part.Of) {
      id = id == Own ? this->Points++ : id;
    }
  }
  tbb::parallel_for(std::size_t(0), shared.size(), [&](std::size_t s) {
    if (isFirst(s)) {
      const long long id = this->Parts[shared[s].Part].Of[shared[s].Point];
      for (std::size_t same = s + 1; same < shared.size() && !isFirst(same); ++same) {
        this->Parts[shared[same].Part].Of[shared[same].Point] = id;
      }
    }
  });
}

int CornersOf(unsigned char type)
{
  switch (type) {
    case VTK_LINE:
      return 2;
    case VTK_TRIANGLE:
      return 3;
    case VTK_PYRAMID:
      return 5;
    case VTK_WEDGE:
      return 6;
    case VTK_HEXAHEDRON:
      return 8;
    default:
      return 4;
  }
}

/// Returns VTK's type of a block's whole cells.
unsigned char WholeType(const SolidPart& part)
{
  constexpr unsigned char straight[] = {VTK_VERTEX, VTK_LINE, VTK_PIXEL, VTK_VOXEL};
  constexpr unsigned char curved[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON};
  return (part.From->Form == BlockForm::Curvilinear ? curved : straight)[part.Shape.Axes];
}

/// The numbers in the output of a part's first cell, and of its first corner.
struct Place
{
  long long Cell = 0, Corner = 0;
};

class GridFiller
{
public:
  GridFiller(
      const std::vector<const Block*>& blocks, const Place& end, long long points, vtkUnstructuredGrid* grid)
      : CellArrays(blocks, false), PointArrays(blocks, true)
  {
    this->Positions->SetNumberOfComponents(3);
    SetTuples(points, this->Positions);
    SetTuples(end.Cell + 1, this->Offsets);
    this->Offsets->SetValue(end.Cell, end.Corner);
    SetTuples(end.Corner, this->Corners);
    SetTuples(end.Cell, this->Types);
    this->CellArrays.Allocate(end.Cell, points, grid->GetCellData());
    this->PointArrays.Allocate(points, points, grid->GetPointData());
    vtkNew<vtkPoints> places;
    places->SetDataTypeToDouble();
    places->SetData(this->Positions);
    grid->SetPoints(places);
  }

  void Fill(const SolidPart& part, const PartPoints::Ids& points, const Place& place)
  {
    CutPart from(*part.From, 0);
    this->FillPoints(part, points, from);
    this->PointArrays.TakePoints(from, {}, points.First);
    this->FillCells(part, points, place);
    for (const std::vector<int>* cells : {&part.Whole, &part.CellOfPiece}) {
      for (const int cell : *cells) {
        from.Cells.push_back(part.CellOfBlock(cell));
      }
    }
    this->CellArrays.TakeCells(from, place.Cell);
  }

  /// Gives the cells to the grid. To be called when all parts are filled.
  void GiveCells(vtkUnstructuredGrid* grid)
  {
    // Cells have 64 bits even where fewer would do: with VTK's own width, its filters can look at them from
    // several threads.
    vtkNew<vtkCellArray> cells;
    cells->SetData(this->Offsets, this->Corners);
    grid->SetCells(this->Types, cells);
  }

private:
  /// Adds the points that occur in this part first.
  void FillPoints(const SolidPart& part, const PartPoints::Ids& points, CutPart& from)
  {
    double* to = this->Positions->GetPointer(3 * points.First);
    for (int p = 0; p < static_cast<int>(points.Of.size()); ++p) {
      if (points.Of[p] != points.First + static_cast<long long>(from.Points.size())) {
        continue;
      }
      const int made = p - part.PointCount();
      const long long here = made < 0 ? part.PointOfBlock(p) : 0;
      from.Points.push_back(made < 0 ? EdgePoint{here, here, 0.0} : part.Made[made].Place);
      const EdgePoint& place = from.Points.back();
      const Position a = this->PositionOf(*part.From, place.A);
      const Position b = place.T == 0 ? a : this->PositionOf(*part.From, place.B);
      for (int axis = 0; axis < 3; ++axis) {
        *to++ = a[axis] + place.T * (b[axis] - a[axis]);
      }
    }
  }

  static Position PositionOf(const Block& block, long long point)
  {
    const long long row = point / block.Points[0];
    return PositionAt(block, static_cast<int>(point % block.Points[0]),
        static_cast<int>(row % block.Points[1]), static_cast<int>(row / block.Points[1]));
  }

  void FillCells(const SolidPart& part, const PartPoints::Ids& points, const Place& place)
  {
    vtkTypeInt64* offset = this->Offsets->GetPointer(place.Cell);
    vtkTypeInt64* const first = this->Corners->GetPointer(0);
    vtkTypeInt64* corner = first + place.Corner;
    unsigned char* const types = this->Types->GetPointer(place.Cell);
    // The corners of hexahedra and quadrilaterals run around the cell, those of voxels and pixels row by row.
    const bool turns = part.From->Form == BlockForm::Curvilinear;
    for (const int cell : part.Whole) {
      *offset++ = corner - first;
      const int row = cell / part.Cells[0];
      const int origin = part.PointNumber({cell % part.Cells[0], row % part.Cells[1], row / part.Cells[1]});
      for (int c = 0; c < part.Shape.Count(); ++c) {
        *corner++ = points.Of[origin + part.StepTo(turns ? c ^ (c >> 1 & 1) : c)];
      }
    }
    std::fill_n(types, part.Whole.size(), WholeType(part));
    std::copy(part.Types.begin(), part.Types.end(), types + part.Whole.size());
    for (const unsigned char type : part.Types) {
      *offset++ = corner - first;
      corner += CornersOf(type);
    }
    vtkTypeInt64* piece = corner - part.Corners.size();
    for (const int point : part.Corners) {
      *piece++ = points.Of[point];
    }
  }

  vtkNew<vtkDoubleArray> Positions;
  vtkNew<vtkTypeInt64Array> Offsets, Corners;
  vtkNew<vtkUnsignedCharArray> Types;
  OutputArrays CellArrays, PointArrays;
};

vtkSmartPointer<vtkUnstructuredGrid> MakeGrid(
    const std::vector<const Block*>& blocks, const std::vector<const SolidPart*>& parts)
{
  const PartPoints points(parts);
  std::vector<Place> places(parts.size() + 1);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const SolidPart& part = *parts[p];
    const std::size_t whole = part.Whole.size();
    places[p + 1].Cell = places[p].Cell + static_cast<long long>(whole + part.Types.size());
    places[p + 1].Corner =
        places[p].Corner + static_cast<long long>(whole * part.Shape.Count() + part.Corners.size());
  }
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  GridFiller filler(blocks, places.back(), points.Count(), grid);
  tbb::parallel_for(
      std::size_t(0), parts.size(), [&](std::size_t p) { filler.Fill(*parts[p], points[p], places[p]); });
  filler.GiveCells(grid);
  return grid;
}

}  // namespace

std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<SolidPart>& parts, const GoesOn& goesOn)
{
  const std::size_t pieces = blocks.Pieces.size();
  std::vector<std::vector<const Block*>> blocksOf(pieces);
  for (const Block& block : blocks.List) {
    blocksOf[block.Piece].push_back(&block);
  }
  std::vector<std::vector<const SolidPart*>> partsOf(pieces);
  for (const SolidPart& part : parts) {
    partsOf[part.From->Piece].push_back(&part);
  }
  std::vector<vtkSmartPointer<vtkUnstructuredGrid>> grids;
  for (std::size_t p = 0; p < pieces; ++p) {
    const bool wanted = goesOn(static_cast<double>(p) / static_cast<double>(pieces));
    grids.push_back(MakeGrid(blocksOf[p], wanted ? partsOf[p] : std::vector<const SolidPart*>()));
  }
  return grids;
}

}  // namespace patchio::filters
