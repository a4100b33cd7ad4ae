#include "Filters/Slice.h"

#include "Base/Communicator.h"
#include "Filters/CellTables.h"
#include "Filters/DataOfParts.h"
#include "Filters/Part.h"
#include "Filters/PointIds.h"
#include "Filters/Surface.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <list>
#include <vector>

namespace patchio::filters {

namespace {

/// A plane perpendicular to one of the axes. Each cell in one layer of a block gives one polygon.
///
/// A plane on faces between cells shows the cells above it, towards greater positions, and cells below it
/// only where no visible cell lies above. So each place is shown once, also at the end of the domain and
/// where levels meet.
struct AlignedPlane
{
  int Axis;
  double Position;
  bool Reversed;  ///< the normal points towards smaller positions
};

/// The cut of a block by an aligned plane.
struct AlignedCut
{
  AlignedCut(const Block& block, const AlignedPlane& plane);

  const Block* Of;
  AlignedPlane Plane;
  int Inner, Outer;     ///< the axes of a layer; cells along Inner are nearer in memory
  int Layer = -1;       ///< layer of cells above the plane, or around it; -1: none
  int Face = -1;        ///< the layer of points that the plane lies on; -1: none
  int LayerBelow = -1;  ///< layer of cells below Face; -1: none
  /// For each cell of LayerBelow: whether the cell is shown, because no visible cell lies above. Empty: no
  /// cell is shown.
  std::vector<char> Below;

  bool Meets() const { return this->Layer >= 0 || this->LayerBelow >= 0; }
  int RowCount() const { return this->Of->Cells(this->Outer); }
  /// Returns the number in the block of a cell, or of a point, of a layer.
  long long CellAt(int layer, int inner, int outer) const
  {
    return this->Of->CellAt(this->IndexAt(layer, inner, outer));
  }
  long long PointAt(int layer, int inner, int outer) const
  {
    return this->Of->PointAt(this->IndexAt(layer, inner, outer));
  }

  /// Sets Below, regardless of other blocks. Returns false if no cell of LayerBelow is shown.
  bool FindBelow();
  /// Adds the cells of these rows to the part.
  void CutRows(const Rows& rows, bool triangles, Part& part) const;

private:
  /// A row of the two layers: the numbers of its first cells, and the step from one cell to the next.
  struct Row
  {
    long long Above, Below, Step;
    const char* IsBelowShown;  ///< null: no cell of LayerBelow is shown
  };

  Int3 IndexAt(int layer, int inner, int outer) const;
  /// Returns the number of the cell that is shown at index `inner` of the row; -1: no cell.
  long long ShownCell(int inner, const Row& row) const;
};

/// Positions count as equal if they are closer than this many widths of a cell, because positions of
/// different levels differ in their last bits.
constexpr double NearInCells = 1e-10;

bool IsNear(double a, double b, double width)
{
  return std::abs(a - b) <= NearInCells * width + 4 * std::numeric_limits<double>::epsilon() *
                                                      std::max(std::abs(a), std::abs(b));
}

}  // namespace

AlignedCut::AlignedCut(const Block& block, const AlignedPlane& plane)
    : Of(&block), Plane(plane), Inner(plane.Axis == 0 ? 1 : 0), Outer(plane.Axis == 2 ? 1 : 2)
{
  const int points = block.Points[plane.Axis];
  if (points == 1) {
    return;  // a flat block has no cells that a plane along it could cut
  }
  const double* const first = block.PositionsOf(plane.Axis);
  const double* const above = std::upper_bound(first, first + points, plane.Position);
  const int next = static_cast<int>(above - first);
  const double width = first[std::clamp(next, 1, points - 1)] - first[std::clamp(next, 1, points - 1) - 1];
  if (next > 0 && IsNear(first[next - 1], plane.Position, width)) {
    this->Face = next - 1;
  } else if (next < points && IsNear(first[next], plane.Position, width)) {
    this->Face = next;
  }
  if (this->Face >= 0) {
    this->Layer = this->Face < points - 1 ? this->Face : -1;
    this->LayerBelow = this->Face - 1;
  } else if (next > 0 && next < points) {
    this->Layer = next - 1;
  }
}

Int3 AlignedCut::IndexAt(int layer, int inner, int outer) const
{
  Int3 at;
  at[this->Plane.Axis] = layer;
  at[this->Inner] = inner;
  at[this->Outer] = outer;
  return at;
}

bool AlignedCut::FindBelow()
{
  if (this->LayerBelow < 0) {
    return false;
  }
  const int inner = this->Of->Cells(this->Inner);
  this->Below.assign(static_cast<std::size_t>(inner) * this->RowCount(), 0);
  bool any = false;
  auto below = this->Below.begin();
  for (int o = 0; o < this->RowCount(); ++o) {
    for (int i = 0; i < inner; ++i, ++below) {
      *below = this->Of->IsVisible(this->CellAt(this->LayerBelow, i, o)) &&
               (this->Layer < 0 || !this->Of->IsVisible(this->CellAt(this->Layer, i, o)));
      any = any || *below;
    }
  }
  if (!any) {
    this->Below.clear();
  }
  return any;
}

long long AlignedCut::ShownCell(int inner, const Row& row) const
{
  const long long above = row.Above + inner * row.Step;
  if (this->Layer >= 0 && this->Of->IsVisible(above)) {
    return above;
  }
  return row.IsBelowShown && row.IsBelowShown[inner] ? row.Below + inner * row.Step : -1;
}

namespace {

/// Makes the points of a plane, row by row.
class PlanePoints
{
public:
  PlanePoints(const AlignedCut& cut, const Rows& rows, Part& part)
      : Cut(cut), Which(rows), Made(part), Block(*cut.Of), Count(Block.Points[cut.Inner])
  {
    const double* const along = this->Block.PositionsOf(cut.Plane.Axis);
    this->From = cut.Face >= 0 ? cut.Face : cut.Layer;
    this->To = cut.Face >= 0 ? cut.Face : cut.Layer + 1;
    this->T = cut.Face >= 0
                  ? 0.0
                  : (cut.Plane.Position - along[this->From]) / (along[this->To] - along[this->From]);
    this->Near.assign(this->Count, -1);
    this->Far.assign(this->Count, -1);
  }

  void NextRow()
  {
    this->Near.swap(this->Far);
    std::fill(this->Far.begin(), this->Far.end(), -1);
  }

  int Get(int inner, int outer, bool far)
  {
    int& id = (far ? this->Far : this->Near)[inner];
    return id >= 0 ? id : id = this->Make(inner, outer + far);
  }

private:
  int Make(int inner, int outer)
  {
    std::array<double, 3> position;
    position[this->Cut.Plane.Axis] = this->Cut.Plane.Position;
    position[this->Cut.Inner] = this->Block.PositionsOf(this->Cut.Inner)[inner];
    position[this->Cut.Outer] = this->Block.PositionsOf(this->Cut.Outer)[outer];
    return this->Made.AddPoint(
        {this->Cut.PointAt(this->From, inner, outer), this->Cut.PointAt(this->To, inner, outer), this->T},
        position, this->Which.AreShared(outer));
  }

  const AlignedCut& Cut;
  const Rows Which;
  Part& Made;
  const patchio::filters::Block& Block;
  const int Count;
  int From, To;
  double T;
  std::vector<int> Near, Far;  ///< points of the row's two sides; -1: not made yet
};

}  // namespace

void AlignedCut::CutRows(const Rows& rows, bool triangles, Part& part) const
{
  part.Reserve(static_cast<std::size_t>(rows.End - rows.Begin) * this->Of->Cells(this->Inner), triangles);
  PlanePoints points(*this, rows, part);
  const bool wide = this->Of->Points[this->Inner] > 1;
  const bool high = this->Of->Points[this->Outer] > 1;
  // The axes Inner, Outer and the plane's axis are right-handed for planes across x and z, but not across y.
  const bool turns = (this->Plane.Axis == 1) == this->Plane.Reversed;
  const int width = this->Of->Cells(this->Inner);
  for (int outer = rows.Begin; outer < rows.End; ++outer, points.NextRow()) {
    const Row row{this->CellAt(this->Layer, 0, outer), this->CellAt(this->LayerBelow, 0, outer),
        this->CellAt(0, 1, 0),
        this->Below.empty() ? nullptr : this->Below.data() + static_cast<std::size_t>(outer) * width};
    for (int inner = 0; inner < width; ++inner) {
      const long long cell = this->ShownCell(inner, row);
      if (cell < 0) {
        continue;
      }
      int corners[4];
      int count = 0;
      corners[count++] = points.Get(inner, outer, false);
      if (wide) {
        corners[count++] = points.Get(inner + 1, outer, false);
      }
      if (wide && high) {
        corners[count++] = points.Get(inner + 1, outer, true);
      }
      if (high) {
        corners[count++] = points.Get(inner, outer, true);
      }
      if (!turns) {
        std::reverse(corners, corners + count);
      }
      part.AddPolygon(corners, count, triangles, cell);
    }
  }
}

namespace {

/// The visible cells of all ranks above a plane.
class Coverage
{
public:
  /// Returns the runs of visible cells above the plane, as numbers that ranks can exchange.
  static std::vector<double> RunsOf(const std::vector<AlignedCut>& cuts);

  /// runs: the results of RunsOf() of all ranks, one after another.
  explicit Coverage(const std::vector<double>& runs);

  /// Removes from cut.Below the cells whose middle a run covers.
  void RemoveCovered(AlignedCut& cut) const;

private:
  struct Run
  {
    double Kind;  ///< bit set of the axes (Inner, Outer) with a length, because a line does not cover an area
    std::array<double, 2> Inner, Outer;
  };

  static int KindOf(const AlignedCut& cut);
  void FindRuns(double kind, double outer, std::vector<const Run*>& found) const;

  std::vector<Run> Runs;
  /// The indices of the runs in each of many equal strips along the outer axis.
  std::vector<std::vector<int>> Bins;
  double First = 0, BinsPerLength = 0;
};

constexpr int NumbersOfRun = 5;
constexpr std::size_t MostBins = 100000;

std::array<double, 2> EndsOf(const Block& block, int axis, int begin, int end)
{
  const double* const positions = block.PositionsOf(axis);
  const int last = block.Points[axis] - 1;
  return {positions[std::min(begin, last)], positions[std::min(end, last)]};
}

double MiddleOf(const Block& block, int axis, int cell)
{
  const std::array<double, 2> ends = EndsOf(block, axis, cell, cell + 1);
  return 0.5 * (ends[0] + ends[1]);
}

int Coverage::KindOf(const AlignedCut& cut)
{
  return (cut.Of->Points[cut.Inner] > 1 ? 1 : 0) + (cut.Of->Points[cut.Outer] > 1 ? 2 : 0);
}

std::vector<double> Coverage::RunsOf(const std::vector<AlignedCut>& cuts)
{
  std::vector<double> runs;
  for (const AlignedCut& cut : cuts) {
    const int inner = cut.Of->Cells(cut.Inner);
    for (int o = 0; cut.Layer >= 0 && o < cut.RowCount(); ++o) {
      const auto isVisible = [&](int i) { return cut.Of->IsVisible(cut.CellAt(cut.Layer, i, o)); };
      for (int begin = 0; begin < inner; ++begin) {
        if (!isVisible(begin)) {
          continue;
        }
        int end = begin + 1;
        while (end < inner && isVisible(end)) {
          ++end;
        }
        const std::array<double, 2> along = EndsOf(*cut.Of, cut.Inner, begin, end);
        const std::array<double, 2> across = EndsOf(*cut.Of, cut.Outer, o, o + 1);
        runs.insert(runs.end(), {static_cast<double>(KindOf(cut)), along[0], along[1], across[0], across[1]});
        begin = end;
      }
    }
  }
  return runs;
}

Coverage::Coverage(const std::vector<double>& runs)
{
  if (runs.empty()) {
    return;
  }
  double last = runs[4];
  this->First = runs[3];
  for (std::size_t r = 0; r + NumbersOfRun <= runs.size(); r += NumbersOfRun) {
    this->Runs.push_back({runs[r], {runs[r + 1], runs[r + 2]}, {runs[r + 3], runs[r + 4]}});
    this->First = std::min(this->First, runs[r + 3]);
    last = std::max(last, runs[r + 4]);
  }
  this->Bins.resize(std::min(this->Runs.size(), MostBins));
  this->BinsPerLength =
      last > this->First ? static_cast<double>(this->Bins.size()) / (last - this->First) : 0;
  const auto bin = [this](double outer) {
    return std::min(
        static_cast<std::size_t>((outer - this->First) * this->BinsPerLength), this->Bins.size() - 1);
  };
  for (std::size_t r = 0; r < this->Runs.size(); ++r) {
    for (std::size_t b = bin(this->Runs[r].Outer[0]); b <= bin(this->Runs[r].Outer[1]); ++b) {
      this->Bins[b].push_back(static_cast<int>(r));
    }
  }
}

void Coverage::FindRuns(double kind, double outer, std::vector<const Run*>& found) const
{
  found.clear();
  const double place = (outer - this->First) * this->BinsPerLength;
  if (this->Bins.empty() || !(place >= 0)) {
    return;
  }
  for (const int r : this->Bins[std::min(static_cast<std::size_t>(place), this->Bins.size() - 1)]) {
    const Run& run = this->Runs[static_cast<std::size_t>(r)];
    if (run.Kind == kind && run.Outer[0] <= outer && outer <= run.Outer[1]) {
      found.push_back(&run);
    }
  }
}

void Coverage::RemoveCovered(AlignedCut& cut) const
{
  std::vector<const Run*> found;
  auto below = cut.Below.begin();
  const int inner = cut.Of->Cells(cut.Inner);
  for (int o = 0; !cut.Below.empty() && o < cut.RowCount(); ++o) {
    this->FindRuns(KindOf(cut), MiddleOf(*cut.Of, cut.Outer, o), found);
    for (int i = 0; i < inner; ++i, ++below) {
      if (*below) {
        const double middle = MiddleOf(*cut.Of, cut.Inner, i);
        *below = std::none_of(found.begin(), found.end(),
            [middle](const Run* run) { return run->Inner[0] <= middle && middle <= run->Inner[1]; });
      }
    }
  }
}

/// A crossing closer to a corner than this fraction of the edge counts as the corner, so that rounding makes
/// no slivers.
constexpr double NearInEdges = 1e-12;

/// A point between two points of the block, or at one of them, that PointAt() makes.
struct Crossing
{
  Int3 A, B;
  double T;
  long long Key;
};

template <typename Field>
class LayerCutter
{
public:
  LayerCutter(const Field& field, const Rows& layers, bool triangles, Part& part)
      : From(*part.From),
        Values(field),
        Layers(layers),
        Triangles(triangles),
        Made(part),
        Shape(part.Shape),
        Cases(MarchingTables(this->Shape.Axes))
  {
  }

  void Cut()
  {
    for (int k = this->Layers.Begin; k < this->Layers.End; ++k) {
      if (!this->Values.Meets(k, k + 1)) {
        continue;
      }
      for (int j = 0; j < this->From.Cells(1); ++j) {
        const auto [first, last] = this->Values.Row(j, k);
        const long long row = this->From.CellAt({0, j, k});
        for (int i = first; i < last; ++i) {
          if (this->From.IsVisible(row + i)) {
            this->CutCell({i, j, k}, row + i);
          }
        }
      }
    }
  }

private:
  Int3 CornerAt(const Int3& cell, int corner) const
  {
    const Int3& step = this->Shape.Corners[corner];
    return {cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]};
  }

  void CutCell(const Int3& cell, long long number)
  {
    double values[8];
    unsigned positive = 0;
    for (int c = 0; c < 1 << this->Shape.Axes; ++c) {
      const Int3 at = this->CornerAt(cell, c);
      values[c] = this->Values.At(at[0], at[1], at[2]);
      if (!std::isfinite(values[c])) {
        return;
      }
      positive |= values[c] >= 0 ? 1u << c : 0u;
    }
    for (const CellPolygon& polygon : this->Cases[positive]) {
      this->AddPolygon(cell, polygon, values, number);
    }
  }

  void AddPolygon(const Int3& cell, const CellPolygon& polygon, const double* values, long long number)
  {
    Crossing crossings[12];
    int count = 0;
    for (const CellPoint& edge : polygon) {
      const Crossing next = this->CrossingOf(cell, edge, values);
      if (count == 0 || next.Key != crossings[count - 1].Key) {
        crossings[count++] = next;
      }
    }
    while (count > 1 && crossings[count - 1].Key == crossings[0].Key) {
      --count;
    }
    if (count < this->Shape.Axes) {
      return;  // the surface only touches the cell
    }
    int points[12];
    std::transform(
        crossings, crossings + count, points, [this](const Crossing& at) { return this->PointAt(at); });
    this->Made.AddPolygon(points, count, this->Triangles, number);
  }

  /// Returns where the surface crosses an edge. A point of the grid on the surface has the same key on all of
  /// its edges.
  Crossing CrossingOf(const Int3& cell, const CellPoint& edge, const double* values) const
  {
    const int lower = edge.Lower(), upper = edge.Upper();
    const double a = values[lower], b = values[upper];
    const bool nearA = std::abs(a) <= NearInEdges * std::abs(b);
    if (nearA || std::abs(b) <= NearInEdges * std::abs(a)) {
      const Int3 at = this->CornerAt(cell, nearA ? lower : upper);
      return {at, at, 0.0, 4 * this->From.PointAt(at) + 3};
    }
    const Int3 at = this->CornerAt(cell, lower);
    return {at, this->CornerAt(cell, upper), a / (a - b), 4 * this->From.PointAt(at) + edge.Axis};
  }

  int PointAt(const Crossing& at)
  {
    int& id = this->Ids[at.Key];
    if (id >= 0) {
      return id;
    }
    Position position = this->From.PositionAt(at.A);
    const Position other = this->From.PositionAt(at.B);
    for (int c = 0; c < 3; ++c) {
      position[c] += at.T * (other[c] - position[c]);
    }
    const bool inLayer = at.A[2] == at.B[2];
    id = this->Made.AddPoint({this->From.PointAt(at.A), this->From.PointAt(at.B), at.T}, position,
        inLayer && this->Layers.AreShared(at.A[2]));
    return id;
  }

  const Block& From;
  const Field& Values;
  const Rows Layers;
  const bool Triangles;
  Part& Made;
  const CellShape Shape;
  const std::vector<CellCase>& Cases;
  PointIds Ids;
};

/// Reserves memory for a flat surface through these layers, so that arrays seldom grow.
void ReserveFlat(const Block& block, int layers, bool triangles, Part& part)
{
  const auto x = static_cast<std::size_t>(block.Cells(0)), y = static_cast<std::size_t>(block.Cells(1));
  const auto z = static_cast<std::size_t>(layers);
  part.Reserve(std::max({x * y, x * z, y * z}), triangles);
}

/// Cuts the cells of the part's block in some layers along z, and adds the polygons to the part.
void CutLayers(const Surface& surface, const Rows& layers, bool triangles, Part& part)
{
  const Block& block = *part.From;
  if (surface.IsPlane() && block.Form != BlockForm::Curvilinear) {
    const PlaneField field(block, surface);
    if (field.Meets(layers.Begin, layers.End)) {
      ReserveFlat(block, layers.End - layers.Begin, triangles, part);
      LayerCutter<PlaneField>(field, layers, triangles, part).Cut();
    }
    return;
  }
  const SampledField field(block, layers.Begin, std::min(layers.End, block.Points[2] - 1), surface);
  LayerCutter<SampledField>(field, layers, triangles, part).Cut();
}

/// Collective: finds the cells below a plane that are shown because no rank has a visible cell above them.
void FindBelow(std::vector<AlignedCut>& cuts, Communicator& ranks)
{
  const bool here = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, cuts.size()), false,
      [&](const tbb::blocked_range<std::size_t>& range, bool any) {
        for (std::size_t c = range.begin(); c < range.end(); ++c) {
          any = cuts[c].FindBelow() || any;
        }
        return any;
      },
      [](bool a, bool b) { return a || b; });
  if (!AllOf(ranks, !here)) {
    const Coverage coverage(GatherValues(ranks, Coverage::RunsOf(cuts)));
    tbb::parallel_for(std::size_t(0), cuts.size(), [&](std::size_t c) { coverage.RemoveCovered(cuts[c]); });
  }
}

/// Collective: returns the cuts of blocks by a plane perpendicular to an axis. No block may be curvilinear.
std::vector<AlignedCut> CutsOf(
    const std::vector<const Block*>& blocks, const Surface& surface, Communicator& ranks)
{
  const int axis = surface.AlignedAxis();
  const bool reversed = surface.Normal()[axis] < 0;
  const AlignedPlane plane{axis, reversed ? -surface.Offset() : surface.Offset(), reversed};
  std::vector<AlignedCut> cuts;
  for (const Block* block : blocks) {
    AlignedCut cut(*block, plane);
    if (cut.Meets()) {
      cuts.push_back(std::move(cut));
    }
  }
  FindBelow(cuts, ranks);
  return cuts;
}

/// The cut of a block by a surface.
struct Cut
{
  const Surface* By;
  const AlignedCut* Aligned;  ///< null: the surface cuts edges of cells
};

std::vector<Part> CutAll(const Blocks& blocks, const SliceRequest& request, Communicator& ranks)
{
  std::vector<const Block*> straight, curved, all;
  for (const Block& block : blocks.List) {
    (block.Form == BlockForm::Curvilinear ? curved : straight).push_back(&block);
    all.push_back(&block);
  }
  std::list<std::vector<AlignedCut>> aligned;
  std::vector<Cut> cuts;
  CutTasks tasks;
  for (const Surface& surface : request.Surfaces) {
    const bool isAligned = surface.AlignedAxis() >= 0;
    if (isAligned) {
      for (const AlignedCut& cut : aligned.emplace_back(CutsOf(straight, surface, ranks))) {
        tasks.Add(cuts.size(), *cut.Of, cut.RowCount(), cut.Of->Cells(cut.Inner));
        cuts.push_back({&surface, &cut});
      }
    }
    for (const Block* block : isAligned ? curved : all) {
      if (surface.MayMeet(block->Bounds)) {
        tasks.AddLayers(cuts.size(), *block);
        cuts.push_back({&surface, nullptr});
      }
    }
  }
  return tasks.Run([&](std::size_t c, const Rows& rows, Part& part) {
    if (cuts[c].Aligned) {
      cuts[c].Aligned->CutRows(rows, request.Triangles, part);
    } else {
      CutLayers(*cuts[c].By, rows, request.Triangles, part);
    }
  });
}

}  // namespace

std::vector<vtkSmartPointer<vtkPolyData>> Slice(
    const Blocks& blocks, const SliceRequest& request, Communicator& ranks)
{
  request.Progress(0.1);
  std::vector<Part> parts = CutAll(blocks, request, ranks);
  // No collective call follows, so each rank may stop by itself.
  if (!request.Progress(0.6)) {
    parts.clear();
  }
  std::vector<vtkSmartPointer<vtkPolyData>> pieces = MakePieces(blocks, parts);
  request.Progress(1.0);
  return pieces;
}

}  // namespace patchio::filters
