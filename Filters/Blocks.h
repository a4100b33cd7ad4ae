// The structured grids of VTK's data as plain values, for filters that process many grids together.
#ifndef Filters_Blocks_h
#define Filters_Blocks_h

#include <array>
#include <functional>
#include <string>
#include <vector>

class vtkDataArray;
class vtkDataObject;
class vtkDataObjectTree;
class vtkDataSet;
class vtkDataSetAttributes;

namespace patchio {
class Communicator;
}

namespace patchio::filters {

using Int3 = std::array<int, 3>;

/// Returns the indices along the axes of the element with the number `number`. `counts`: numbers of elements
/// along the axes. From one element to the next, the index along the first axis changes fastest.
template <typename Number>
Int3 IndexOf(Number number, const Int3& counts)
{
  const Number row = number / counts[0];
  return {static_cast<int>(number % counts[0]), static_cast<int>(row % counts[1]),
      static_cast<int>(row / counts[1])};
}

/// The type of a structured grid, by the positions of its points.
enum class BlockForm
{
  Uniform,
  Rectilinear,
  Curvilinear
};

/// A structured grid of the input. An axis with a single point has one cell, of width 0.
///
/// Points and cells are numbered as in VTK: x runs fastest.
struct Block
{
  /// The bits of vtkGhostType that make a cell invisible: DUPLICATECELL, REFINEDCELL, HIDDENCELL.
  static constexpr unsigned char HidingFlags = 1 | 8 | 32;

  vtkDataSet* Grid = nullptr;  ///< the grid with the cell and point data; the input owns the grid
  int Child = 0;               ///< index in Blocks::ChildNames of the output's child for the grid
  unsigned int FlatIndex = 0;  ///< flat index of the grid in the input's tree; 0 if the input is the grid

  BlockForm Form = BlockForm::Uniform;
  /// Indices of the first point, from the grid's extent. In the output of vtkPatchReader, the grids of a
  /// level share one index space.
  Int3 First{0, 0, 0};
  Int3 Points{1, 1, 1};  ///< number of points along each axis
  std::array<double, 6> Bounds{0, -1, 0, -1, 0, -1};

  /// Uniform grids: point i lies at Origin + Spacing * (First + i). So blocks with the same Origin and
  /// Spacing have equal positions, to the last bit, at the points that the blocks share.
  std::array<double, 3> Origin{0, 0, 0}, Spacing{1, 1, 1};
  /// Uniform and rectilinear grids: strictly increasing positions of the points along x, then along y, then
  /// along z.
  std::vector<double> Positions;
  /// Curvilinear grids: the positions of all points, three components each.
  vtkDataArray* PointPositions = nullptr;

  const unsigned char* Flags = nullptr;  ///< vtkGhostType of the cells; null: all cells are visible
  /// Memory of Flags if the grid hides points. The cells around a hidden point are hidden, too.
  std::vector<unsigned char> OwnedFlags;

  int Cells(int axis) const { return this->Points[axis] > 1 ? this->Points[axis] - 1 : 1; }
  const double* PositionsOf(int axis) const
  {
    return this->Positions.data() + (axis > 0 ? this->Points[0] : 0) + (axis > 1 ? this->Points[1] : 0);
  }
  bool IsVisible(long long cell) const { return !this->Flags || !(this->Flags[cell] & HidingFlags); }

  long long CellCount() const
  {
    return static_cast<long long>(this->Cells(0)) * this->Cells(1) * this->Cells(2);
  }
  long long PointCount() const
  {
    return static_cast<long long>(this->Points[0]) * this->Points[1] * this->Points[2];
  }
  /// Returns the number of the cell (CellAt()) or of the point (PointAt()) with the indices `at` along the
  /// axes.
  long long CellAt(const Int3& at) const
  {
    return at[0] + this->Cells(0) * (at[1] + static_cast<long long>(this->Cells(1)) * at[2]);
  }
  long long PointAt(const Int3& at) const
  {
    return at[0] + this->Points[0] * (at[1] + static_cast<long long>(this->Points[1]) * at[2]);
  }
  /// Returns the position of the point with the indices `at` along the axes, or with the number `point`.
  std::array<double, 3> PositionAt(const Int3& at) const
  {
    if (this->Form == BlockForm::Curvilinear) {
      return this->CurvilinearPositionOf(this->PointAt(at));
    }
    return {this->PositionsOf(0)[at[0]], this->PositionsOf(1)[at[1]], this->PositionsOf(2)[at[2]]};
  }
  std::array<double, 3> PositionOf(long long point) const
  {
    return this->Form == BlockForm::Curvilinear ? this->CurvilinearPositionOf(point)
                                                : this->PositionAt(IndexOf(point, this->Points));
  }

private:
  std::array<double, 3> CurvilinearPositionOf(long long point) const;
};

/// Returns the cell data or, if `isPointData`, the point data of a grid.
vtkDataSetAttributes* AttributesOf(vtkDataSet* grid, bool isPointData);

/// Hides the cells around hidden points by HIDDENCELL, because VTK does not show a cell with a hidden corner.
/// `points`: numbers of the grid's points along the axes. `pointFlags`, `cellFlags`: vtkGhostType of all
/// points and cells of the grid.
void HideCellsAtHiddenPoints(const Int3& points, const unsigned char* pointFlags, unsigned char* cellFlags);

/// All grids of an input on this rank that have points or cells.
struct Blocks
{
  std::vector<Block> List;
  /// Names of the children of a filter's output: a name for each tree below the input's root, even if the
  /// tree has no grids, or for each level of AMR data; and a single empty name for all grids directly below
  /// the root. If the input is a grid, the list has one empty name.
  std::vector<std::string> ChildNames;
  /// The class of a data object in the input that PatchIO's filters do not support, such as a rotated image;
  /// empty: no such object.
  std::string UnsupportedClass;
};

/// Calls visit(child, name, flat index in the tree) for each child of the root, also for null children.
void ForEachChild(vtkDataObjectTree* tree,
    const std::function<void(vtkDataObject*, const std::string&, unsigned int)>& visit);

/// Returns the grids of a data set, of a tree of data sets, or of AMR data. The result has pointers into
/// `input`, which must outlive the result. Not collective.
Blocks MakeBlocks(vtkDataObject* input);
/// Returns MakeBlocks(input). If it fails on any rank, all ranks throw Error. Collective: every rank of the
/// communicator calls it.
Blocks MakeBlocks(vtkDataObject* input, Communicator& ranks);

}  // namespace patchio::filters

#endif
