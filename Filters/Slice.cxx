#include "Filters/Slice.h"

#include "Base/Communicator.h"
#include "Filters/BlockPart.h"
#include "Filters/CellTables.h"
#include "Filters/DataOfParts.h"
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

/// A plane perpendicular to an axis. The plane cuts one layer of a block, and each cell of the layer gives
/// one polygon.
///
/// A plane on the faces between cells shows the cells above the plane, towards greater positions. The plane
/// shows cells below the plane only where no visible cell lies above. So the slice covers each point of the
/// plane once, also at the end of the domain and where levels meet.
struct AlignedPlane
{
  int Axis;
  double Position;
  bool Reversed;  ///< true: the normal points towards smaller positions
};

/// The cut of a block by an aligned plane.
struct AlignedCut
{
  AlignedCut(const Block& block, const AlignedPlane& plane);

  const Block* SourceBlock;
  AlignedPlane Plane;
  int Inner, Outer;     ///< the axes of a layer; the inner axis runs faster in memory
  int Layer = -1;       ///< layer of cells above the plane, or that contains the plane; -1: no layer
  int Face = -1;        ///< layer of points that the plane lies on; -1: no layer
  int LayerBelow = -1;  ///< layer of cells below Face; -1: no layer
  /// By cell of LayerBelow: 1 if the slice shows the cell, because no visible cell lies above. Empty: the
  /// slice shows no cell.
  std::vector<char> ShownBelow;

  /// Returns whether the plane meets the block.
  bool Meets() const { return this->Layer >= 0 || this->LayerBelow >= 0; }
  /// Returns the number of rows of cells in a layer.
  int RowCount() const { return this->SourceBlock->Cells(this->Outer); }
  /// Returns the number, in the block, of a cell (CellAt()) or of a point (PointAt()) of a layer.
  long long CellAt(int layer, int inner, int outer) const
  {
    return this->SourceBlock->CellAt(this->IndexAt(layer, inner, outer));
  }
  long long PointAt(int layer, int inner, int outer) const
  {
    return this->SourceBlock->PointAt(this->IndexAt(layer, inner, outer));
  }

  /// Sets ShownBelow without regard to other blocks. Returns false if the slice shows no cell of LayerBelow.
  bool SetShownBelow();
  /// Adds the polygons of the cells in `rows` to `part`.
  void CutRows(const Rows& rows, bool triangles, BlockPart& part) const;

private:
  /// A row of both layers: the number of its first cell in each layer, and the difference between the numbers
  /// of neighbouring cells.
  struct Row
  {
    long long Above, Below, Step;
    const char* IsBelowShown;  ///< see ShownBelow; null: the slice shows no cell of LayerBelow
  };

  /// Returns the indices in the block of a cell, or of a point, of a layer.
  Int3 IndexAt(int layer, int inner, int outer) const;
  /// Returns the number of the cell that the slice shows at index `inner` of the row; -1: no cell.
  long long ShownCell(int inner, const Row& row) const;
};

/// Positions count as equal if their distance is at most about this fraction of a cell's width (see
/// IsNear()), because equal positions of different levels differ in their last bits.
constexpr double PositionTolerance = 1e-10;

/// Returns whether two positions count as equal. `width`: width of a cell.
bool IsNear(double a, double b, double width)
{
  return std::abs(a - b) <= PositionTolerance * width + 4 * std::numeric_limits<double>::epsilon() *
                                                            std::max(std::abs(a), std::abs(b));
}

}  // namespace

AlignedCut::AlignedCut(const Block& block, const AlignedPlane& plane)
    : SourceBlock(&block), Plane(plane), Inner(plane.Axis == 0 ? 1 : 0), Outer(plane.Axis == 2 ? 1 : 2)
{
  const int points = block.Points[plane.Axis];
  if (points == 1) {
    return;  // a block that is flat along the axis has no layer of cells
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

bool AlignedCut::SetShownBelow()
{
  if (this->LayerBelow < 0) {
    return false;
  }
  const int inner = this->SourceBlock->Cells(this->Inner);
  this->ShownBelow.assign(static_cast<std::size_t>(inner) * this->RowCount(), 0);
  bool any = false;
  auto below = this->ShownBelow.begin();
  for (int o = 0; o < this->RowCount(); ++o) {
    for (int i = 0; i < inner; ++i, ++below) {
      *below = this->SourceBlock->IsVisible(this->CellAt(this->LayerBelow, i, o)) &&
               (this->Layer < 0 || !this->SourceBlock->IsVisible(this->CellAt(this->Layer, i, o)));
      any = any || *below;
    }
  }
  if (!any) {
    this->ShownBelow.clear();
  }
  return any;
}

long long AlignedCut::ShownCell(int inner, const Row& row) const
{
  const long long above = row.Above + inner * row.Step;
  if (this->Layer >= 0 && this->SourceBlock->IsVisible(above)) {
    return above;
  }
  return row.IsBelowShown && row.IsBelowShown[inner] ? row.Below + inner * row.Step : -1;
}

namespace {

/// Makes the points on a plane, row by row.
class PlanePoints
{
public:
  PlanePoints(const AlignedCut& cut, const Rows& rows, BlockPart& part)
      : Cut(cut), Range(rows), Output(part), Block(*cut.SourceBlock)
  {
    const double* const along = this->Block.PositionsOf(cut.Plane.Axis);
    this->LowerLayer = cut.Face >= 0 ? cut.Face : cut.Layer;
    this->UpperLayer = cut.Face >= 0 ? cut.Face : cut.Layer + 1;
    this->T = cut.Face >= 0 ? 0.0
                            : (cut.Plane.Position - along[this->LowerLayer]) /
                                  (along[this->UpperLayer] - along[this->LowerLayer]);
    const int count = this->Block.Points[cut.Inner];
    this->NearPoints.assign(count, -1);
    this->FarPoints.assign(count, -1);
  }

  /// Moves to the next row: its near side is the far side of the current row.
  void NextRow()
  {
    this->NearPoints.swap(this->FarPoints);
    std::fill(this->FarPoints.begin(), this->FarPoints.end(), -1);
  }

  /// Returns the number of a point at the near or the far side of row `outer`. Adds the point if the point is
  /// new.
  int PointAt(int inner, int outer, bool far)
  {
    int& id = (far ? this->FarPoints : this->NearPoints)[inner];
    return id >= 0 ? id : id = this->AddPoint(inner, outer + far);
  }

private:
  int AddPoint(int inner, int outer)
  {
    std::array<double, 3> position;
    position[this->Cut.Plane.Axis] = this->Cut.Plane.Position;
    position[this->Cut.Inner] = this->Block.PositionsOf(this->Cut.Inner)[inner];
    position[this->Cut.Outer] = this->Block.PositionsOf(this->Cut.Outer)[outer];
    return this->Output.AddPoint({this->Cut.PointAt(this->LowerLayer, inner, outer),
                                     this->Cut.PointAt(this->UpperLayer, inner, outer), this->T},
        position, this->Range.AreShared(outer));
  }

  const AlignedCut& Cut;
  const Rows Range;
  BlockPart& Output;
  const patchio::filters::Block& Block;
  /// Layers of points below and above the plane; equal if the plane lies on a layer.
  int LowerLayer, UpperLayer;
  double T;
  /// Numbers of the points at both sides of the current row; -1: no point yet.
  std::vector<int> NearPoints, FarPoints;
};

}  // namespace

void AlignedCut::CutRows(const Rows& rows, bool triangles, BlockPart& part) const
{
  part.Reserve(
      static_cast<std::size_t>(rows.End - rows.Begin) * this->SourceBlock->Cells(this->Inner), triangles);
  PlanePoints points(*this, rows, part);
  const bool wide = this->SourceBlock->Points[this->Inner] > 1;
  const bool high = this->SourceBlock->Points[this->Outer] > 1;
  // Inner, Outer and the axis of the plane are right-handed for planes perpendicular to x and z, but not to
  // y.
  const bool turns = (this->Plane.Axis == 1) == this->Plane.Reversed;
  const int width = this->SourceBlock->Cells(this->Inner);
  for (int outer = rows.Begin; outer < rows.End; ++outer, points.NextRow()) {
    const Row row{this->CellAt(this->Layer, 0, outer), this->CellAt(this->LayerBelow, 0, outer),
        this->CellAt(0, 1, 0),
        this->ShownBelow.empty() ? nullptr
                                 : this->ShownBelow.data() + static_cast<std::size_t>(outer) * width};
    for (int inner = 0; inner < width; ++inner) {
      const long long cell = this->ShownCell(inner, row);
      if (cell < 0) {
        continue;
      }
      int corners[4];
      int count = 0;
      corners[count++] = points.PointAt(inner, outer, false);
      if (wide) {
        corners[count++] = points.PointAt(inner + 1, outer, false);
      }
      if (wide && high) {
        corners[count++] = points.PointAt(inner + 1, outer, true);
      }
      if (high) {
        corners[count++] = points.PointAt(inner, outer, true);
      }
      if (!turns) {
        std::reverse(corners, corners + count);
      }
      part.AddPolygon(corners, count, triangles, cell);
    }
  }
}

namespace {

/// The visible cells above a plane on all ranks.
class Coverage
{
public:
  /// Consecutive visible cells of a row.
  struct Run
  {
    std::int64_t Axes;  ///< bit set of the axes along which the block has several points: 1 for Inner, 2 for
                        ///< Outer; a line does not cover an area
    std::array<double, 2> Inner, Outer;  ///< lower and upper position
  };

  /// Returns the runs of visible cells in the layer AlignedCut::Layer of each cut.
  static std::vector<Run> RunsOf(const std::vector<AlignedCut>& cuts);

  /// Makes the coverage from the runs of all ranks.
  explicit Coverage(std::vector<Run> runs);

  /// Removes from cut.ShownBelow the cells whose centre a run with the same axes covers.
  void RemoveCovered(AlignedCut& cut) const;

private:
  /// Returns Run::Axes of the runs of a cut.
  static int AxesOf(const AlignedCut& cut);
  /// Sets `found` to the runs with these axes that cover the position `outer` along the outer axis.
  void FindRuns(int axes, double outer, std::vector<const Run*>& found) const;

  std::vector<Run> Runs;
  /// Indices of the runs in each of many equal intervals along the outer axis.
  std::vector<std::vector<int>> Bins;
  double First = 0, BinsPerLength = 0;  ///< lower end of the first interval; intervals per unit of length
};

constexpr std::size_t MaxBins = 100000;

/// Returns the lower and the upper position of the cells `begin` .. `end` - 1 along an axis.
std::array<double, 2> EndsOf(const Block& block, int axis, int begin, int end)
{
  const double* const positions = block.PositionsOf(axis);
  const int last = block.Points[axis] - 1;
  return {positions[std::min(begin, last)], positions[std::min(end, last)]};
}

/// Returns the position of the centre of a cell along an axis.
double CellMiddle(const Block& block, int axis, int cell)
{
  const std::array<double, 2> ends = EndsOf(block, axis, cell, cell + 1);
  return 0.5 * (ends[0] + ends[1]);
}

int Coverage::AxesOf(const AlignedCut& cut)
{
  return (cut.SourceBlock->Points[cut.Inner] > 1 ? 1 : 0) + (cut.SourceBlock->Points[cut.Outer] > 1 ? 2 : 0);
}

std::vector<Coverage::Run> Coverage::RunsOf(const std::vector<AlignedCut>& cuts)
{
  std::vector<Run> runs;
  for (const AlignedCut& cut : cuts) {
    const int inner = cut.SourceBlock->Cells(cut.Inner);
    for (int o = 0; cut.Layer >= 0 && o < cut.RowCount(); ++o) {
      const auto isVisible = [&](int i) { return cut.SourceBlock->IsVisible(cut.CellAt(cut.Layer, i, o)); };
      for (int begin = 0; begin < inner; ++begin) {
        if (!isVisible(begin)) {
          continue;
        }
        int end = begin + 1;
        while (end < inner && isVisible(end)) {
          ++end;
        }
        runs.push_back({AxesOf(cut), EndsOf(*cut.SourceBlock, cut.Inner, begin, end),
            EndsOf(*cut.SourceBlock, cut.Outer, o, o + 1)});
        begin = end;
      }
    }
  }
  return runs;
}

Coverage::Coverage(std::vector<Run> runs) : Runs(std::move(runs))
{
  if (this->Runs.empty()) {
    return;
  }
  double last = this->Runs[0].Outer[1];
  this->First = this->Runs[0].Outer[0];
  for (const Run& run : this->Runs) {
    this->First = std::min(this->First, run.Outer[0]);
    last = std::max(last, run.Outer[1]);
  }
  this->Bins.resize(std::min(this->Runs.size(), MaxBins));
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

void Coverage::FindRuns(int axes, double outer, std::vector<const Run*>& found) const
{
  found.clear();
  const double bin = (outer - this->First) * this->BinsPerLength;
  if (this->Bins.empty() || !(bin >= 0)) {
    return;
  }
  for (const int r : this->Bins[std::min(static_cast<std::size_t>(bin), this->Bins.size() - 1)]) {
    const Run& run = this->Runs[static_cast<std::size_t>(r)];
    if (run.Axes == axes && run.Outer[0] <= outer && outer <= run.Outer[1]) {
      found.push_back(&run);
    }
  }
}

void Coverage::RemoveCovered(AlignedCut& cut) const
{
  std::vector<const Run*> found;
  auto below = cut.ShownBelow.begin();
  const int inner = cut.SourceBlock->Cells(cut.Inner);
  for (int o = 0; !cut.ShownBelow.empty() && o < cut.RowCount(); ++o) {
    this->FindRuns(AxesOf(cut), CellMiddle(*cut.SourceBlock, cut.Outer, o), found);
    for (int i = 0; i < inner; ++i, ++below) {
      if (*below) {
        const double middle = CellMiddle(*cut.SourceBlock, cut.Inner, i);
        *below = std::none_of(found.begin(), found.end(),
            [middle](const Run* run) { return run->Inner[0] <= middle && middle <= run->Inner[1]; });
      }
    }
  }
}

/// A crossing whose distance from a corner is less than this fraction of the edge counts as the corner, so
/// that rounding errors make no slivers.
constexpr double CrossingTolerance = 1e-12;

/// A point of the slice between the points with the indices A and B of the block. If T is 0, the point is A.
struct Crossing
{
  Int3 A, B;
  double T;
  long long Key;  ///< see PointIds
};

/// Cuts the cells in layers along z where a field is 0. Field: PlaneField or SampledField.
template <typename Field>
class LayerCutter
{
public:
  LayerCutter(const Field& field, const Rows& layers, bool triangles, BlockPart& part)
      : SourceBlock(*part.SourceBlock),
        Values(field),
        Layers(layers),
        Triangles(triangles),
        Output(part),
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
      for (int j = 0; j < this->SourceBlock.Cells(1); ++j) {
        const auto [first, last] = this->Values.CellsOfRow(j, k);
        const long long row = this->SourceBlock.CellAt({0, j, k});
        for (int i = first; i < last; ++i) {
          if (this->SourceBlock.IsVisible(row + i)) {
            this->CutCell({i, j, k}, row + i);
          }
        }
      }
    }
  }

private:
  /// Returns the indices of a corner of a cell.
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
      values[c] = this->Values.ValueAt(at[0], at[1], at[2]);
      if (!std::isfinite(values[c])) {
        return;
      }
      positive |= values[c] >= 0 ? 1u << c : 0u;
    }
    for (const CellPolygon& polygon : this->Cases[positive]) {
      this->AddPolygon(cell, polygon, values, number);
    }
  }

  /// Adds a polygon of a cell. Equal points that follow each other become one point. `values`: field values
  /// at the corners of the cell. `number`: number of the cell.
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
    this->Output.AddPolygon(points, count, this->Triangles, number);
  }

  /// Returns the point where the surface crosses an edge. A point of the grid on the surface has the same key
  /// on all edges.
  Crossing CrossingOf(const Int3& cell, const CellPoint& edge, const double* values) const
  {
    const int lower = edge.Lower(), upper = edge.Upper();
    const double a = values[lower], b = values[upper];
    const bool nearA = std::abs(a) <= CrossingTolerance * std::abs(b);
    if (nearA || std::abs(b) <= CrossingTolerance * std::abs(a)) {
      const Int3 at = this->CornerAt(cell, nearA ? lower : upper);
      return {at, at, 0.0, 4 * this->SourceBlock.PointAt(at) + 3};
    }
    const Int3 at = this->CornerAt(cell, lower);
    return {at, this->CornerAt(cell, upper), a / (a - b), 4 * this->SourceBlock.PointAt(at) + edge.Axis};
  }

  /// Returns the number of a crossing in the part. Adds the crossing if the crossing is new.
  int PointAt(const Crossing& at)
  {
    int& id = this->Ids[at.Key];
    if (id >= 0) {
      return id;
    }
    Position position = this->SourceBlock.PositionAt(at.A);
    const Position other = this->SourceBlock.PositionAt(at.B);
    for (int c = 0; c < 3; ++c) {
      position[c] += at.T * (other[c] - position[c]);
    }
    const bool inLayer = at.A[2] == at.B[2];
    id = this->Output.AddPoint({this->SourceBlock.PointAt(at.A), this->SourceBlock.PointAt(at.B), at.T},
        position, inLayer && this->Layers.AreShared(at.A[2]));
    return id;
  }

  const Block& SourceBlock;
  const Field& Values;
  const Rows Layers;
  const bool Triangles;
  BlockPart& Output;
  const CellShape Shape;
  const std::vector<CellCase>& Cases;
  PointIds Ids;
};

/// Reserves memory for a flat surface through `layers` layers of a block, so that the arrays of the part
/// rarely grow.
void ReserveFlat(const Block& block, int layers, bool triangles, BlockPart& part)
{
  const auto x = static_cast<std::size_t>(block.Cells(0)), y = static_cast<std::size_t>(block.Cells(1));
  const auto z = static_cast<std::size_t>(layers);
  part.Reserve(std::max({x * y, x * z, y * z}), triangles);
}

/// Cuts the cells of the part's block in `layers` along z by a surface, and adds the polygons to `part`.
void CutLayers(const Surface& surface, const Rows& layers, bool triangles, BlockPart& part)
{
  const Block& block = *part.SourceBlock;
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

/// Sets AlignedCut::ShownBelow of all cuts by a plane: the cells below the plane where no rank has a visible
/// cell above. Collective: every rank of the communicator calls it.
void FindShownBelow(std::vector<AlignedCut>& cuts, Communicator& ranks)
{
  const bool anyShown = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, cuts.size()), false,
      [&](const tbb::blocked_range<std::size_t>& range, bool any) {
        for (std::size_t c = range.begin(); c < range.end(); ++c) {
          any = cuts[c].SetShownBelow() || any;
        }
        return any;
      },
      [](bool a, bool b) { return a || b; });
  if (!AllOf(ranks, !anyShown)) {
    const Coverage coverage(GatherValues(ranks, Coverage::RunsOf(cuts)));
    tbb::parallel_for(std::size_t(0), cuts.size(), [&](std::size_t c) { coverage.RemoveCovered(cuts[c]); });
  }
}

/// Returns the cuts of `blocks`, which are not curvilinear, by a plane perpendicular to an axis. Collective:
/// every rank of the communicator calls it.
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
  FindShownBelow(cuts, ranks);
  return cuts;
}

/// The cut of a block by a surface.
struct Cut
{
  const Surface* CutSurface;
  const AlignedCut* Aligned;  ///< null: the surface is cut along the edges of cells
};

/// Returns the polygons of all surfaces through all blocks. Collective: every rank of the communicator calls
/// it.
std::vector<BlockPart> CutBlocks(const Blocks& blocks, const SliceRequest& request, Communicator& ranks)
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
        tasks.Add(cuts.size(), *cut.SourceBlock, cut.RowCount(), cut.SourceBlock->Cells(cut.Inner));
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
  return tasks.Run([&](std::size_t c, const Rows& rows, BlockPart& part) {
    if (cuts[c].Aligned) {
      cuts[c].Aligned->CutRows(rows, request.Triangles, part);
    } else {
      CutLayers(*cuts[c].CutSurface, rows, request.Triangles, part);
    }
  });
}

}  // namespace

std::vector<vtkSmartPointer<vtkPolyData>> Slice(
    const Blocks& blocks, const SliceRequest& request, Communicator& ranks)
{
  request.Progress(0.1);
  std::vector<BlockPart> parts = CutBlocks(blocks, request, ranks);
  // No collective call follows, so each rank may stop on its own.
  if (!request.Progress(0.6)) {
    parts.clear();
  }
  std::vector<vtkSmartPointer<vtkPolyData>> slices = MakePolyDataOfChildren(blocks, parts);
  request.Progress(1.0);
  return slices;
}

}  // namespace patchio::filters
