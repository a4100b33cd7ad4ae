// The structured grids of VTK's data as plain values, for filters that look at many of them.
#ifndef Filters_Blocks_h
#define Filters_Blocks_h

#include <array>
#include <string>
#include <vector>

class vtkDataArray;
class vtkDataObject;
class vtkDataSet;

namespace patchio::filters {

using Int3 = std::array<int, 3>;

enum class BlockForm
{
  Uniform,
  Rectilinear,
  Curvilinear
};

/// One grid. An axis with a single point has one cell without width.
///
/// Points and cells are numbered as VTK does: x runs fastest.
struct Block
{
  /// Ghost flags of cells that are not visible: duplicate, refined or hidden ones.
  static constexpr unsigned char HidingFlags = 1 | 8 | 32;

  vtkDataSet* Grid = nullptr;  ///< has the cell and point data; lives as long as the input
  int Piece = 0;  ///< the child of the input's root that holds it, see Blocks::Pieces; mostly a level
  unsigned int FlatIndex = 0;  ///< its number in the input's tree, as VTK counts; 0 if the input is this grid

  BlockForm Form = BlockForm::Uniform;
  Int3 First{
      0, 0, 0};  ///< index of the first point in the grid's extent; patches of a level share the index space
  Int3 Points{1, 1, 1};  ///< points along each axis
  std::array<double, 6> Bounds{0, -1, 0, -1, 0, -1};

  /// Uniform: Origin + Spacing * (First + i) is the position of point i, and equal in all blocks that have
  /// this point.
  std::array<double, 3> Origin{0, 0, 0}, Spacing{1, 1, 1};
  /// Uniform and rectilinear: strictly increasing positions of points along each axis, one axis after
  /// another.
  std::vector<double> Positions;
  /// Curvilinear: the positions of all points, three components each.
  vtkDataArray* Corners = nullptr;

  const unsigned char* Flags = nullptr;  ///< vtkGhostType of the cells; null if all of them are visible
  std::vector<unsigned char>
      FlagsOfOwn;  ///< holds Flags where points are hidden: then the cells around them are, too

  int Cells(int axis) const { return this->Points[axis] > 1 ? this->Points[axis] - 1 : 1; }
  const double* PositionsOf(int axis) const
  {
    return this->Positions.data() + (axis > 0 ? this->Points[0] : 0) + (axis > 1 ? this->Points[1] : 0);
  }
  bool IsVisible(long long cell) const { return !this->Flags || !(this->Flags[cell] & HidingFlags); }
};

/// All grids of an input on this rank, without empty ones.
struct Blocks
{
  std::vector<Block> List;
  std::vector<std::string>
      Pieces;  ///< names of the root's children, also of empty ones; one if the input is a grid
  std::string NotUnderstood;  ///< why filters must leave the whole input to VTK; empty if they need not
};

/// input: a data set, a tree of them, or an AMR, whose levels count as children. Keeps pointers into it.
Blocks MakeBlocks(vtkDataObject* input);

}  // namespace patchio::filters

#endif
