// Finds the visible cells next to a cell, across blocks and levels, on a lattice of all node positions.
#ifndef Filters_CellLattice_h
#define Filters_CellLattice_h

#include "Catalog/Box.h"
#include "Filters/Blocks.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace patchio::filters {

/// The cells of one block, with the values to contour. If IsPointData is true, each "cell" stands for a point
/// of the block, and each cell of the grid lies between eight points.
struct CellBlock
{
  /// Positions of the nodes along each axis, increasing; see NodeCount().
  std::array<const double*, 3> Nodes{};
  Int3 Cells{0, 0, 0};
  bool IsPointData = false;
  /// The axis with one node and one cell of width 0, the same in all blocks; -1: no such axis.
  int FlatAxis = -1;
  /// Volume of a cell, which identifies the level. 0 if the cells of a block differ in size, as in
  /// rectilinear grids.
  double CellVolume = 0;
  const unsigned char* Flags = nullptr;  ///< ghost flags of the grid's cells; null: all cells are visible
  /// Copies of another rank's points: by point, not 0 if the point is hidden or its value is NaN. Null for
  /// other blocks.
  const unsigned char* PointFlags = nullptr;
  const float* Floats = nullptr;  ///< the values, if they are float
  /// The values, if they are double; Floats and Doubles are null if the block has no values.
  const double* Doubles = nullptr;
  bool IsLocal = true;  ///< false for a copy of another rank's cells

  int NodeCount(int axis) const
  {
    return this->Cells[axis] + (this->IsPointData || axis == this->FlatAxis ? 0 : 1);
  }
  /// Returns the number of cells or points (see IsPointData).
  std::int64_t CellCount() const { return std::int64_t(this->Cells[0]) * this->Cells[1] * this->Cells[2]; }
  /// Returns the difference between the numbers of two cells that are neighbours along an axis.
  std::int64_t Stride(int axis) const
  {
    return axis == 0 ? 1 : axis == 1 ? this->Cells[0] : std::int64_t(this->Cells[0]) * this->Cells[1];
  }
  /// Returns the value of a cell; 0 if the block has no values.
  double Value(std::int64_t cell) const
  {
    return this->Floats ? this->Floats[cell] : this->Doubles ? this->Doubles[cell] : 0;
  }
  /// Returns whether a cell (or point, see IsPointData) is visible. A NaN value counts as hidden. A point
  /// counts as hidden if all cells around the point are hidden.
  bool IsVisible(std::int64_t cell) const
  {
    const bool hidden = this->IsPointData ? this->IsPointHidden(cell)
                                          : this->Flags && (this->Flags[cell] & Block::HidingFlags);
    return !hidden && !std::isnan(this->Value(cell));
  }
  /// Returns whether PointFlags hide a point or, without PointFlags, whether all cells around the point are
  /// hidden. Requires IsPointData.
  bool IsPointHidden(std::int64_t point) const;
  /// Returns whether any cell of the grid with indices from `lower` to `upper` is visible; false if `lower`
  /// exceeds `upper` along an axis. Requires IsPointData and Flags.
  bool AnyCellVisible(const Int3& lower, const Int3& upper) const;
  /// Returns the number of the grid's cell whose first corner is `point` (indices along the axes). Requires
  /// IsPointData. `point` must not be the last point along any axis.
  std::int64_t CellWithFirstCorner(const Int3& point) const
  {
    return point[0] + (this->Cells[0] - 1) * (point[1] + std::int64_t(this->Cells[1] - 1) * point[2]);
  }
};

/// A cell of a block of a CellLattice; false if Block is negative.
struct CellRef
{
  /// Index of the block in the lattice, and number of the cell in the block.
  int Block = -1;
  std::int64_t Cell = 0;

  explicit operator bool() const { return this->Block >= 0; }
  bool operator==(const CellRef& other) const
  {
    return this->Block == other.Block && this->Cell == other.Cell;
  }
};

/// The node positions of some blocks along an axis.
struct LatticeNodes
{
  std::vector<double> Positions;
  /// The least distance between neighbouring nodes of a block; infinity if all blocks have one node.
  double LeastWidth = std::numeric_limits<double>::infinity();
};

/// A lattice of the node positions of all blocks along each axis. Cubes are the cells of the lattice. A cell
/// of a block covers several cubes if another block has nodes in the cell's range along an axis. At most one
/// visible cell should cover a cube, but blocks may share points.
class CellLattice
{
public:
  /// Tables along one axis, which all blocks with the same nodes along this axis share.
  struct Axis
  {
    /// Index of each node of the block on the lattice. For points and along a flat axis, the list also has
    /// the last index + 1, as if each node were the lower end of a cell.
    std::vector<int> NodeIndices;
    std::vector<int> CellOfCube;  ///< index of the cell that covers each cube, from cube NodeIndices[0] on
    std::vector<double> Centers;  ///< positions of the cells' centres
  };

  /// Makes the lattice of `blocks`. The nodes, flags and values that the blocks point to must outlive the
  /// lattice. `nodes`: the nodes of the blocks of all ranks along each axis, including `blocks`, so that all
  /// ranks have the same lattice; by default, the nodes of `blocks`. Sets Error() if the cells of different
  /// blocks do not align.
  explicit CellLattice(std::vector<CellBlock> blocks, const std::array<LatticeNodes, 3>& nodes = {});

  /// Returns the nodes of the blocks along an axis. The positions are sorted and have no duplicates.
  static LatticeNodes Nodes(const std::vector<CellBlock>& blocks, int axis);

  /// Returns why contours and surfaces cannot cross blocks: nodes of a block lie within cells of a block of
  /// the same or a finer level. Empty: the cells of all blocks align.
  const std::string& Error() const { return this->ErrorText; }

  const std::vector<CellBlock>& Blocks() const { return this->List; }
  const CellBlock& operator[](int block) const { return this->List[block]; }
  const Axis& AxisOf(int block, int axis) const { return *this->Axes[block][axis]; }
  /// Returns the number of nodes of the lattice along an axis (NodeCount()), or the position of a node
  /// (NodePosition()).
  int NodeCount(int axis) const { return static_cast<int>(this->Positions[axis].size()); }
  double NodePosition(int axis, int node) const { return this->Positions[axis][node]; }

  /// Returns the box of the cubes that a block covers.
  const Box& CubesOf(int block) const { return (*this->Bins)[block]; }
  /// Returns the indices of the blocks that cover any of `cubes`.
  std::vector<int> Intersecting(const Box& cubes) const { return this->Bins->Intersecting(cubes); }

  /// Returns the visible cell that covers `cube`; a CellRef that is false if no visible cell covers `cube`.
  /// Tries the block `hint` first, except for points, because several blocks may share a point. Sets `hint`
  /// to the block of the cell. Thread-safe, with one `hint` per thread.
  CellRef Find(const Int3& cube, int& hint) const;

  /// Returns the indices of a cell along the axes of its block.
  Int3 IndexOf(const CellRef& cell) const;
  /// Returns the position of the centre of a cell.
  std::array<double, 3> Center(const CellRef& cell) const;
  bool IsPointData() const { return !this->List.empty() && this->List[0].IsPointData; }
  int FlatAxis() const { return this->List.empty() ? -1 : this->List[0].FlatAxis; }
  /// Returns whether the block `a` belongs to a finer level than the block `b`, by CellBlock::CellVolume.
  bool IsFiner(int a, int b) const { return this->List[a].CellVolume < 0.8 * this->List[b].CellVolume; }

private:
  double MergePositions(int axis, LatticeNodes nodes);
  void MakeAxes(int axis, double near);
  void FillAxis(int axis, const double* nodes, int count, double near, Axis& shared) const;
  void CheckAlignment(int axis);
  CellRef CellInBlock(int block, const Int3& cube) const;

  std::vector<CellBlock> List;
  std::deque<Axis> AllAxes;
  std::vector<std::array<const Axis*, 3>> Axes;
  std::array<std::vector<double>, 3> Positions;
  std::unique_ptr<BoxBins> Bins;
  std::string ErrorText;
};

}  // namespace patchio::filters

#endif
