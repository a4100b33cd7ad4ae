// Cells that a filter keeps of blocks, and their assembly to unstructured grids.
#pragma once

#include "Filters/CutPart.h"
#include "Filters/MarchingTables.h"
#include "Filters/RunTasks.h"

#include <vtkSmartPointer.h>

#include <functional>
#include <vector>

namespace patchio::filters {

/// The cells, and pieces of cells, that are kept of a box of a block's cells. Cells and points are numbered
/// within the box, x fastest; the numbers of new points follow those of the box's points.
class SolidPart
{
public:
  SolidPart(const Block& from, const Int3& begin, const Int3& end);

  /// Keeps a cell as it is.
  void KeepCell(const Int3& cell);
  /// Keeps a piece of a cell. type, corners: VTK's type of the piece, and its points in VTK's order.
  void KeepPiece(const Int3& cell, unsigned char type, const int* corners, int count);

  /// Makes the point (1 - t) * a + t * b between two of the box's points, and returns its number. axis: the
  /// axis of the edge from `a` to `b`, on which other parts may have the point, too; -1: the point is on no
  /// edge.
  int MakePoint(int a, int b, double t, int axis);

  bool IsEmpty() const { return this->Whole.empty() && this->Types.empty(); }
  int CellNumber(const Int3& cell) const
  {
    return cell[0] + this->Cells[0] * (cell[1] + this->Cells[1] * cell[2]);
  }
  int PointNumber(const Int3& point) const
  {
    return point[0] + this->Points[0] * (point[1] + this->Points[1] * point[2]);
  }
  int PointCount() const { return this->Points[0] * this->Points[1] * this->Points[2]; }
  /// Returns the number within the block of a cell, or of a point, of the box.
  long long CellOfBlock(int cell) const;
  long long PointOfBlock(int point) const;
  Int3 PointAt(int point) const;
  /// Returns the number of a cell's corner minus the number of the cell's first corner.
  int StepTo(int corner) const { return this->Steps[corner]; }
  bool IsVisible(const Int3& cell) const
  {
    return this->From->IsVisible(this->CellOfBlock(this->CellNumber(cell)));
  }

  /// Calls work(cell) for all visible cells of the box.
  template <typename Work>
  void ForEachVisible(Work work) const;

  struct MadePoint
  {
    EdgePoint Place;  ///< the place between two points of the block
    int Lower, Axis;  ///< the edge's lower end and axis; Axis -1: on no edge
  };
  /// Returns the upper end of the edge on which a point was made.
  Int3 EndOfEdge(const MadePoint& made) const
  {
    Int3 end = this->PointAt(made.Lower);
    ++end[made.Axis];
    return end;
  }

  const Block* From;
  Int3 Begin;          ///< indices in the block of the box's first cell
  Int3 Cells, Points;  ///< numbers along each axis
  CellShape Shape;
  std::vector<int> Whole;
  std::vector<unsigned char> Types;  ///< VTK's types of the pieces
  std::vector<int> Corners;          ///< points of the pieces, one piece after another
  std::vector<int> CellOfPiece;
  std::vector<MadePoint> Made;
  std::vector<char> Used;  ///< whether a kept cell has this point of the box; empty: none is kept

private:
  void Use(int point)
  {
    if (this->Used.empty()) {
      this->Used.resize(this->PointCount());
    }
    this->Used[point] = 1;
  }

  std::array<int, 8> Steps{};  ///< see StepTo()
};

template <typename Work>
void SolidPart::ForEachVisible(Work work) const
{
  Int3 cell;
  for (cell[2] = 0; cell[2] < this->Cells[2]; ++cell[2]) {
    for (cell[1] = 0; cell[1] < this->Cells[1]; ++cell[1]) {
      cell[0] = 0;
      const long long row = this->CellOfBlock(this->CellNumber(cell));
      for (; cell[0] < this->Cells[0]; ++cell[0]) {
        if (this->From->IsVisible(row + cell[0])) {
          work(static_cast<const Int3&>(cell));
        }
      }
    }
  }
}

/// Divides the blocks into parts, calls take(part) for all of them on all threads, and returns the parts that
/// are not empty. Returns none if `goesOn` ends the work.
std::vector<SolidPart> MakeSolidParts(
    const Blocks& blocks, const std::function<void(SolidPart&)>& take, const GoesOn& goesOn);

}  // namespace patchio::filters

class vtkUnstructuredGrid;

namespace patchio::filters {

/// Returns a grid for each piece of the input (Blocks::Pieces), with the arrays of the piece's blocks. Cells
/// of different blocks share their common points; points of curvilinear blocks are common if their
/// coordinates are equal to the last bit. `goesOn` is called before each piece, whose grid stays empty if it
/// returns false.
std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<SolidPart>& parts, const GoesOn& goesOn);

}  // namespace patchio::filters
