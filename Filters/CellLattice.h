// Finds the visible cells next to a cell, across blocks and levels, on a lattice of all node positions.
#ifndef Filters_CellLattice_h
#define Filters_CellLattice_h

#include "Catalog/Box.h"
#include "Filters/Blocks.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace patchio::filters {

/// The cells of one block with the values to contour. If OfPoints is true, each "cell" stands for a point of
/// the block, and each cell of the grid lies between eight points.
struct CellBlock
{
  std::array<const double*, 3> Nodes{};  ///< NodeCount() increasing positions along each axis
  Int3 Cells{0, 0, 0};
  bool OfPoints = false;
  /// The axis with one node and one cell of width 0, which is the same in all blocks; -1: none.
  int FlatAxis = -1;
  /// Volume of a cell, by which levels are told apart. 0 if cells of a block differ in size, as in
  /// rectilinear grids.
  double CellVolume = 0;
  const unsigned char* Flags = nullptr;  ///< ghost flags of the grid's cells; null if all of them are visible
  const unsigned char* PointFlags = nullptr;  ///< flags of another rank's points; not 0 for hidden points
  const float* Floats = nullptr;              ///< the values, if they are float
  const double* Doubles = nullptr;  ///< the values, if they are double; both null if only visibility matters
  bool Own = true;                  ///< false for copies of another rank's cells

  int NodeCount(int axis) const
  {
    return this->Cells[axis] + (this->OfPoints || axis == this->FlatAxis ? 0 : 1);
  }
  std::int64_t Size() const { return std::int64_t(this->Cells[0]) * this->Cells[1] * this->Cells[2]; }
  std::int64_t Stride(int axis) const
  {
    return axis == 0 ? 1 : axis == 1 ? this->Cells[0] : std::int64_t(this->Cells[0]) * this->Cells[1];
  }
  double Value(std::int64_t cell) const
  {
    return this->Floats ? this->Floats[cell] : this->Doubles ? this->Doubles[cell] : 0;
  }
  /// Returns whether the cell is visible. Cells with a NaN value count as hidden. A point counts as hidden if
  /// all cells around the point are hidden.
  bool IsVisible(std::int64_t cell) const
  {
    const bool hidden =
        this->OfPoints ? this->IsPointHidden(cell) : this->Flags && (this->Flags[cell] & Block::HidingFlags);
    return !hidden && !std::isnan(this->Value(cell));
  }
  bool IsPointHidden(std::int64_t point) const;
  /// Returns the number of the grid's cell whose first corner is `point`. Requires OfPoints; `point` must not
  /// be the last point along any axis.
  std::int64_t CellAfter(const Int3& point) const
  {
    return point[0] + (this->Cells[0] - 1) * (point[1] + std::int64_t(this->Cells[1] - 1) * point[2]);
  }
};

/// A cell of one of the blocks.
struct CellRef
{
  int Block = -1;
  std::int64_t Cell = 0;

  explicit operator bool() const { return this->Block >= 0; }
  bool operator==(const CellRef& other) const
  {
    return this->Block == other.Block && this->Cell == other.Cell;
  }
};

/// A lattice of the node positions of all blocks along each axis. A cell covers several cubes of the lattice
/// if another block has nodes in the cell's range along an axis. A cube lies in one visible cell at most.
class CellLattice
{
public:
  /// Tables along one axis, shared by all blocks with the same nodes along this axis.
  struct Axis
  {
    std::vector<int> Places;      ///< index of each node on the lattice
    std::vector<int> CellAt;      ///< the cell that covers each cube, from cube Places[0] on
    std::vector<double> Centers;  ///< positions of the cells' centres
  };

  /// The nodes, flags and values that the blocks point to must outlive the lattice. `others` has the node
  /// positions of other ranks along each axis.
  explicit CellLattice(std::vector<CellBlock> blocks, const std::array<std::vector<double>, 3>& others = {});

  /// Returns the sorted positions of the blocks' nodes along an axis, without duplicates.
  static std::vector<double> Nodes(const std::vector<CellBlock>& blocks, int axis);

  /// Returns why the cells cannot be stitched (nodes of a coarser level lie within cells of a finer level);
  /// empty if they can.
  const std::string& Error() const { return this->ErrorText; }

  const std::vector<CellBlock>& Blocks() const { return this->List; }
  const CellBlock& operator[](int block) const { return this->List[block]; }
  const Axis& AxisOf(int block, int axis) const { return *this->Axes[block][axis]; }
  int PlaceCount(int axis) const { return static_cast<int>(this->Positions[axis].size()); }
  double PlaceToPosition(int axis, int place) const { return this->Positions[axis][place]; }

  /// Returns the cubes that a block covers.
  const Box& CubesOf(int block) const { return (*this->Bins)[block]; }
  /// Returns the blocks that cover any of `cubes`.
  std::vector<int> Intersecting(const Box& cubes) const { return this->Bins->Intersecting(cubes); }

  /// Returns the visible cell that covers `cube`; false (see CellRef) if there is none. `hint` is the block
  /// to try first, and becomes the block that was found. `hint` is not used for points, because several
  /// blocks may share a point. Thread-safe, with one `hint` per thread.
  CellRef Find(const Int3& cube, int& hint) const;

  /// Returns the indices of a cell along the axes of its block.
  Int3 IndexOf(const CellRef& cell) const;
  std::array<double, 3> Center(const CellRef& cell) const;
  bool OfPoints() const { return !this->List.empty() && this->List[0].OfPoints; }
  int FlatAxis() const { return this->List.empty() ? -1 : this->List[0].FlatAxis; }
  /// Returns whether the cells of block `a` are smaller than those of block `b`.
  bool IsFiner(int a, int b) const { return this->List[a].CellVolume < 0.8 * this->List[b].CellVolume; }

private:
  /// The different lists of nodes along an axis, with their lengths.
  using AxisNodes = std::vector<std::pair<const double*, int>>;

  AxisNodes ShareAxes(int axis);
  void FindPositions(int axis, const std::vector<double>& others, const AxisNodes& lists);
  void Place(int axis, const AxisNodes& lists);
  void CheckFit(int axis);
  CellRef At(int block, const Int3& cube) const;

  std::vector<CellBlock> List;
  std::deque<Axis> AllAxes;
  std::vector<std::array<const Axis*, 3>> Axes;
  std::array<std::vector<double>, 3> Positions;
  std::unique_ptr<BoxBins> Bins;
  std::string ErrorText;
};

}  // namespace patchio::filters

#endif
