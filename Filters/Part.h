// Points and cells that filters take out of blocks, before they become VTK's data.
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

/// Calls work(number) for all numbers below `count`, on all threads. Returns false if `progress` stopped the
/// work, so that some calls were skipped.
bool RunTasks(
    std::size_t count, const std::function<void(std::size_t)>& work, const ProgressCallback& progress);

/// A point between the points A and B of a block, with the values (1 - T) * (value at A) + T * (value at B).
struct EdgePoint
{
  long long A, B;
  double T;
};

/// Points and cells of one block: cells that a surface cuts out of it, faces of its cells, or cells that are
/// kept, whole or in pieces. Different threads make the parts of a large block.
///
/// A part may have a box of the block's cells. Cells and points of the box are numbered within the box, x
/// fastest. A part's points are those of the box, then the new ones.
class Part
{
public:
  /// Makes a part without a box: all its points are new.
  explicit Part(const Block& from) : From(&from), Shape(from) {}
  /// Makes a part with the box of the block's cells from `begin` up to `end`, which is not included.
  Part(const Block& from, const Int3& begin, const Int3& end);

  /// Reserves memory in a part without a box: for `polygons` quadrilaterals, or for 2 * `polygons` triangles
  /// if `triangles`.
  void Reserve(std::size_t polygons, bool triangles);

  /// Makes a point and returns its number. shared: whether other parts may have the point, too.
  int AddPoint(const EdgePoint& point, bool shared)
  {
    const int number = this->BoxPointCount + static_cast<int>(this->Made.size());
    this->Made.push_back(point);
    if (shared) {
      this->Shared.push_back(number);
    }
    return number;
  }
  /// Makes a point at this position. A part has positions for all of its new points, or for none.
  int AddPoint(const EdgePoint& point, const std::array<double, 3>& position, bool shared)
  {
    this->Positions.push_back(position);
    return this->AddPoint(point, shared);
  }

  /// Adds a polygon with `count` corners, cut into triangles if `triangles`. cell: the block's cell that the
  /// polygon comes from.
  void AddPolygon(const int* corners, int count, bool triangles, long long cell);

  /// Keeps a cell of the box as it is.
  void KeepCell(const Int3& cell);
  /// Keeps a piece of a cell of the box. type: VTK's type of the piece. corners: its `count` points in VTK's
  /// order.
  void KeepPiece(const Int3& cell, unsigned char type, const int* corners, int count);

  std::size_t CellCount() const { return this->Whole.size() + this->Sources.size(); }
  std::size_t CornerCount() const { return this->Whole.size() * this->Shape.Count() + this->Corners.size(); }
  int PointCount() const { return this->BoxPointCount + static_cast<int>(this->Made.size()); }

  int CellNumber(const Int3& cell) const
  {
    return cell[0] + this->Cells[0] * (cell[1] + this->Cells[1] * cell[2]);
  }
  int PointNumber(const Int3& point) const
  {
    return point[0] + this->Points[0] * (point[1] + this->Points[1] * point[2]);
  }
  /// Converts the number of a cell, or of a point, within the box to the number within the block.
  long long CellOfBlock(int cell) const;
  long long PointOfBlock(int point) const;
  /// Returns the number of a cell's corner minus the number of the cell's first corner.
  int StepTo(int corner) const { return this->Steps[corner]; }

  /// Calls work(cell) for all visible cells of the box or, if `visible` is false, for all other cells.
  template <typename Work>
  void ForEachCell(bool visible, Work work) const;

  const Block* From;
  CellShape Shape;
  std::uint64_t FirstNumber = 0;  ///< set by CutTasks: number of points in all blocks before this one

  Int3 Begin{0, 0, 0};                   ///< indices in the block of the box's first cell
  Int3 Cells{0, 0, 0}, Points{0, 0, 0};  ///< numbers of the box's cells and points along each axis
  int BoxPointCount = 0;                 ///< number of the box's points
  std::vector<char> Used;  ///< whether a kept cell has this point of the box; empty if no cell is kept
  std::vector<int> Whole;  ///< cells of the box that are kept as they are

  std::vector<EdgePoint> Made;
  std::vector<std::array<double, 3>> Positions;  ///< positions of Made; empty if the block gives them
  std::vector<int> Shared;  ///< numbers of the points in Made that other parts may also have

  /// The polygons and the pieces of cells: their points, one after another; the number of points of each;
  /// VTK's types of the pieces; and the block's cell that each comes from.
  std::vector<int> Corners;
  std::vector<unsigned char> Sizes, Types;
  std::vector<long long> Sources;

private:
  void Use(int point)
  {
    if (this->Used.empty()) {
      this->Used.resize(this->BoxPointCount);
    }
    this->Used[point] = 1;
  }

  std::array<int, 8> Steps{};  ///< see StepTo()
};

template <typename Work>
void Part::ForEachCell(bool visible, Work work) const
{
  Int3 cell;
  for (cell[2] = 0; cell[2] < this->Cells[2]; ++cell[2]) {
    for (cell[1] = 0; cell[1] < this->Cells[1]; ++cell[1]) {
      cell[0] = 0;
      const long long row = this->CellOfBlock(this->CellNumber(cell));
      for (; cell[0] < this->Cells[0]; ++cell[0]) {
        if (this->From->IsVisible(row + cell[0]) == visible) {
          work(static_cast<const Int3&>(cell));
        }
      }
    }
  }
}

/// Divides the blocks into boxes, calls take(part) for all of them on all threads, and returns the parts that
/// have cells. Returns an empty list if `progress` returns false.
std::vector<Part> TakeBoxes(
    const Blocks& blocks, const std::function<void(Part&)>& take, const ProgressCallback& progress);

/// Rows, or layers, of a block that one task cuts.
struct Rows
{
  int Begin, End;  ///< the first row, and the one after the last
  int All;         ///< the number of the block's rows

  /// Returns whether another task also has the points at the lower side of row `row`. `row` may be End.
  bool AreShared(int row) const
  {
    return (row == this->Begin && row > 0) || (row == this->End && row < this->All);
  }
};

/// Cuts blocks on all threads, large blocks in several parts.
class CutTasks
{
public:
  /// Adds the rows (or layers) 0 .. rows - 1 of a block, with cellsOfRow cells each. of: a number that Run()
  /// passes to its callback.
  void Add(std::size_t of, const Block& block, int rows, long long cellsOfRow);
  /// Adds all layers of a block along z.
  void AddLayers(std::size_t of, const Block& block);

  /// Makes parts without boxes and fills them by cut(of, rows, part), on all threads. Returns the parts that
  /// have cells, in the order of Add().
  std::vector<Part> Run(const std::function<void(std::size_t, const Rows&, Part&)>& cut);

private:
  struct Task
  {
    std::size_t Of;
    Rows Which;
  };

  std::vector<Task> Tasks;
  std::vector<Part> Parts;
  std::uint64_t Points = 0;
};

}  // namespace patchio::filters
