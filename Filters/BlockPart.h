// Points and cells that filters extract from blocks, before their conversion to VTK's data.
#pragma once

#include "Filters/Blocks.h"
#include "Filters/CellTables.h"
#include "Io/IoScheduler.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace patchio::filters {

/// Calls work(number) for all numbers from 0 to count - 1, on all threads of TBB. Calls `progress` (may be
/// empty) on the calling thread with the fraction of finished calls. If `progress` returns false, skips the
/// remaining calls and returns false.
bool ParallelFor(
    std::size_t count, const std::function<void(std::size_t)>& work, const ProgressCallback& progress);

/// A point between the points with the numbers A and B in a block, at the fraction T of the way from A to B.
/// Values at the point are interpolated linearly.
struct EdgePoint
{
  long long A, B;
  double T;
};

/// Points and cells extracted from one block: polygons of a surface through the block, faces of its cells,
/// whole cells or cut cells. Different threads make the parts of a large block.
///
/// A part may have a box of the block's cells. Cells and points of the box are numbered within the box, x
/// fastest. The points of a part are the points of the box, then the new points.
class BlockPart
{
public:
  /// Makes a part without a box. All points of the part are new.
  explicit BlockPart(const Block& from) : SourceBlock(&from), Shape(from) {}
  /// Makes a part with the box of the block's cells from the indices `begin` up to the indices `end`, which
  /// are not included.
  BlockPart(const Block& from, const Int3& begin, const Int3& end);

  /// Reserves memory in a part without a box: for `polygons` quadrilaterals or, if `triangles` is true, for
  /// twice as many triangles.
  void Reserve(std::size_t polygons, bool triangles);

  /// Adds a new point and returns the number of the point in the part. `shared`: true if other parts may also
  /// have the point.
  int AddPoint(const EdgePoint& point, bool shared)
  {
    const int number = this->BoxPointCount + static_cast<int>(this->NewPoints.size());
    this->NewPoints.push_back(point);
    if (shared) {
      this->Shared.push_back(number);
    }
    return number;
  }
  /// Adds a new point with a position, as above. Either all new points of a part have positions, or no new
  /// point has a position.
  int AddPoint(const EdgePoint& point, const std::array<double, 3>& position, bool shared)
  {
    this->Positions.push_back(position);
    return this->AddPoint(point, shared);
  }

  /// Adds a polygon with `count` corners, divided into triangles if `triangles` is true. `corners`: numbers
  /// of points in the part. `cell`: number of the block's cell that gives the polygon its values.
  void AddPolygon(const int* corners, int count, bool triangles, long long cell);

  /// Adds a whole cell of the box. `cell`: indices in the box.
  void AddCell(const Int3& cell);
  /// Adds a polyhedron, polygon or line that was cut out of a cell of the box. `cell`: indices in the box.
  /// `type`: VTK's cell type. `corners`: numbers of the `count` points, in VTK's order.
  void AddCutCell(const Int3& cell, unsigned char type, const int* corners, int count);

  std::size_t CellCount() const { return this->WholeCells.size() + this->Sources.size(); }
  std::size_t CornerCount() const
  {
    return this->WholeCells.size() * this->Shape.CornerCount() + this->Corners.size();
  }
  int PointCount() const { return this->BoxPointCount + static_cast<int>(this->NewPoints.size()); }

  /// Returns the number, within the box, of the cell (CellNumber()) or the point (PointNumber()) with these
  /// indices.
  int CellNumber(const Int3& cell) const
  {
    return cell[0] + this->Cells[0] * (cell[1] + this->Cells[1] * cell[2]);
  }
  int PointNumber(const Int3& point) const
  {
    return point[0] + this->Points[0] * (point[1] + this->Points[1] * point[2]);
  }
  /// Converts the number of a cell (CellOfBlock()) or of a point (PointOfBlock()) within the box to the
  /// number within the block.
  long long CellOfBlock(int cell) const;
  long long PointOfBlock(int point) const;
  /// Returns the number, in the box, of the corner `corner` of a cell minus the number of the cell's first
  /// corner.
  int StepTo(int corner) const { return this->Steps[corner]; }

  /// Calls work(cell) for all visible cells of the box or, if `visible` is false, for all hidden cells.
  /// `cell`: indices in the box.
  template <typename Work>
  void ForEachCell(bool visible, Work work) const;

  const Block* SourceBlock;
  CellShape Shape;
  /// Parts made by CutTasks: sum of the numbers of points of the blocks in all earlier calls of
  /// CutTasks::Add(). So parts with equal values come from the same call.
  std::uint64_t FirstNumber = 0;

  Int3 Begin{0, 0, 0};                   ///< indices in the block of the box's first cell
  Int3 Cells{0, 0, 0}, Points{0, 0, 0};  ///< numbers of the box's cells and points along each axis
  int BoxPointCount = 0;                 ///< number of the box's points
  std::vector<char> Used;  ///< by point of the box: 1 if a cell of the part has the point; empty: the part
                           ///< has no cells with points of the box
  std::vector<int> WholeCells;  ///< numbers in the box of the whole cells of the part

  /// The points that are not points of the box.
  std::vector<EdgePoint> NewPoints;
  /// Positions of NewPoints; empty: MakePolyData() and MakeGrids() compute the positions.
  std::vector<std::array<double, 3>> Positions;
  std::vector<int> Shared;  ///< numbers, in the part, of the new points that other parts may also have

  /// The polygons and the cut cells. Corners has the numbers of all corners, one polygon or cut cell after
  /// another. Sizes has the number of corners of each polygon or cut cell. Types has VTK's type of each cut
  /// cell. Sources has the number of the block's cell that each polygon or cut cell comes from.
  std::vector<int> Corners;
  std::vector<unsigned char> Sizes, Types;
  std::vector<long long> Sources;

private:
  /// Sets Used for a point of the box.
  void MarkUsed(int point)
  {
    if (this->Used.empty()) {
      this->Used.resize(this->BoxPointCount);
    }
    this->Used[point] = 1;
  }

  std::array<int, 8> Steps{};  ///< see StepTo()
};

template <typename Work>
void BlockPart::ForEachCell(bool visible, Work work) const
{
  Int3 cell;
  for (cell[2] = 0; cell[2] < this->Cells[2]; ++cell[2]) {
    for (cell[1] = 0; cell[1] < this->Cells[1]; ++cell[1]) {
      cell[0] = 0;
      const long long row = this->CellOfBlock(this->CellNumber(cell));
      for (; cell[0] < this->Cells[0]; ++cell[0]) {
        if (this->SourceBlock->IsVisible(row + cell[0]) == visible) {
          work(static_cast<const Int3&>(cell));
        }
      }
    }
  }
}

/// Divides the blocks into boxes, makes a part for each box, and calls extract(part) for all parts on all
/// threads. Returns the parts that have cells; an empty list if `progress` (see ParallelFor()) returns false.
std::vector<BlockPart> ExtractFromBoxes(
    const Blocks& blocks, const std::function<void(BlockPart&)>& extract, const ProgressCallback& progress);

/// Consecutive rows, or layers, of a block that one task cuts.
struct Rows
{
  int Begin, End;  ///< the first row, and the row after the last one
  int BlockRows;   ///< number of all rows of the block

  /// Returns whether another task may also have the points at the lower side of row `row`. `row` may be End.
  bool AreShared(int row) const
  {
    return (row == this->Begin && row > 0) || (row == this->End && row < this->BlockRows);
  }
};

/// Cuts blocks on all threads of TBB, large blocks in several parts.
class CutTasks
{
public:
  /// Adds the rows (or layers) 0 .. rows - 1 of a block, with `cellsOfRow` cells each. `key`: a number that
  /// Run() passes to `cut`.
  void Add(std::size_t key, const Block& block, int rows, long long cellsOfRow);
  /// Adds all layers of a block along z. `key`: see Add().
  void AddLayers(std::size_t key, const Block& block);

  /// Calls cut(key, rows, part) for the parts of all tasks, on all threads, to fill the parts, which have no
  /// boxes. Returns the parts that have cells, in the order of the calls of Add(). The caller calls this
  /// function once.
  std::vector<BlockPart> Run(const std::function<void(std::size_t, const Rows&, BlockPart&)>& cut);

private:
  struct Task
  {
    std::size_t Key;
    Rows Range;
  };

  std::vector<Task> Tasks;
  std::vector<BlockPart> Parts;
  std::uint64_t Points = 0;
};

}  // namespace patchio::filters
