// Kept cells: of one block, or of a box of its cells, and joined to unstructured grids.
#pragma once

#include "Filters/CellCases.h"
#include "Filters/CutPart.h"
#include "Filters/RunTasks.h"

#include <vtkSmartPointer.h>

#include <functional>
#include <vector>

namespace patchio::filters {

/// What is kept of a box of a block's cells. Its cells and points are numbered within the box, x fastest;
/// points that are made between them follow those of the box.
class SolidPart
{
public:
  SolidPart(const Block& from, const Int3& begin, const Int3& end);

  /// Keeps a cell as it is.
  void KeepCell(const Int3& cell);
  /// Keeps a piece of a cell: its type and corners as VTK has them.
  void KeepPiece(const Int3& cell, unsigned char type, const int* corners, int count);

  /// A point between two of the box's points. With an axis: on the edge from the first one along it, where
  /// other parts may have it, too.
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
  /// The numbers of a cell and a point within the block.
  long long CellOfBlock(int cell) const;
  long long PointOfBlock(int point) const;
  Int3 PointAt(int point) const;
  /// From the first corner of a cell to another one.
  int StepTo(int corner) const { return this->Steps[corner]; }
  bool IsVisible(const Int3& cell) const
  {
    return this->From->IsVisible(this->CellOfBlock(this->CellNumber(cell)));
  }

  /// Calls work(cell) for all visible cells.
  template <typename Work>
  void ForEachVisible(Work work) const;

  struct MadePoint
  {
    EdgePoint Place;  ///< between points of the block
    int Lower, Axis;  ///< Axis -1: not on an edge
  };
  /// The upper end of the edge that a point was made on.
  Int3 EndOfEdge(const MadePoint& made) const
  {
    Int3 end = this->PointAt(made.Lower);
    ++end[made.Axis];
    return end;
  }

  const Block* From;
  Int3 Begin;          ///< the first cell in the block
  Int3 Cells, Points;  ///< along each axis
  CellShape Shape;
  std::vector<int> Whole;
  std::vector<unsigned char> Types;  ///< of pieces
  std::vector<int> Corners;          ///< of all pieces
  std::vector<int> CellOfPiece;
  std::vector<MadePoint> Made;
  std::vector<char> Used;  ///< whether a cell has this point of the box; empty if the part is

private:
  void Use(int point)
  {
    if (this->Used.empty()) {
      this->Used.resize(this->PointCount());
    }
    this->Used[point] = 1;
  }

  std::array<int, 8> Steps{};  ///< from the first corner of a cell to each
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

/// The parts of all blocks, made by `take` on all threads; without those that stay empty. None if it was
/// given up.
std::vector<SolidPart> MakeSolidParts(
    const Blocks& blocks, const std::function<void(SolidPart&)>& take, const GoesOn& goesOn);

}  // namespace patchio::filters

class vtkUnstructuredGrid;

namespace patchio::filters {

/// A grid for each piece of the input (Blocks::Pieces), with the arrays of its blocks. Cells share the points
/// that blocks have in common: of curvilinear blocks, those whose coordinates are equal to the last bit.
/// `goesOn` is asked before each piece; the rest stays empty if it says no.
std::vector<vtkSmartPointer<vtkUnstructuredGrid>> MakeGrids(
    const Blocks& blocks, const std::vector<SolidPart>& parts, const GoesOn& goesOn);

}  // namespace patchio::filters
