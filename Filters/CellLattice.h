// Where the visible cells of many blocks lie beside each other, whatever their levels.
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

/// The cells of one block, with the values that are contoured. Or its points: then what is called a cell here
/// is a point, and what lies between eight of them is a cell of the grid.
struct CellBlock
{
  std::array<const double*, 3> Nodes{};  ///< increasing positions along each axis, NodeCount() of them
  Int3 Cells{0, 0, 0};
  bool OfPoints = false;
  int FlatAxis =
      -1;  ///< along this axis there is one cell without width, and one node; the same in all blocks
  /// Volume of a cell, by which levels are told apart; 0 where the cells of all blocks have any size.
  double CellVolume = 0;
  const unsigned char* Flags = nullptr;  ///< ghost flags of the grid's cells; null if all of them are visible
  const unsigned char* PointFlags = nullptr;  ///< of points of other ranks as well: not 0 for hidden ones
  const float* Floats = nullptr;              ///< the values, either these
  const double* Doubles = nullptr;            ///< or these; none where only visibility matters
  bool Own = true;                            ///< false: a copy of cells of another rank

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
  /// Cells whose value is not a number count as hidden; also points of hidden cells alone.
  bool IsVisible(std::int64_t cell) const
  {
    const bool hidden =
        this->OfPoints ? this->IsPointHidden(cell) : this->Flags && (this->Flags[cell] & Block::HidingFlags);
    return !hidden && !std::isnan(this->Value(cell));
  }
  bool IsPointHidden(std::int64_t point) const;
  /// For points: the number of the grid's cell that begins at a point, which is not the last one along any
  /// axis.
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

/// A lattice of the positions of all nodes of all blocks, along each axis. A cell of a coarse block covers
/// several cubes of the lattice where there are finer blocks anywhere beside it. Each cube lies in one
/// visible cell at most.
class CellLattice
{
public:
  /// What blocks share that have the same nodes along an axis.
  struct Axis
  {
    std::vector<int> Places;      ///< of the nodes, on the lattice
    std::vector<int> CellAt;      ///< the cell that covers each cube from the first place on
    std::vector<double> Centers;  ///< of the cells
  };

  /// The blocks' nodes, flags and values must outlive this. `others`: node positions of other ranks along
  /// each axis.
  explicit CellLattice(std::vector<CellBlock> blocks, const std::array<std::vector<double>, 3>& others = {});

  /// The sorted positions of the blocks' nodes along an axis, without doubles.
  static std::vector<double> Nodes(const std::vector<CellBlock>& blocks, int axis);

  /// Why the cells cannot be stitched: nodes of a coarser level lie within cells of a finer one. Empty if
  /// they can.
  const std::string& Misfit() const { return this->MisfitText; }

  const std::vector<CellBlock>& Blocks() const { return this->List; }
  const CellBlock& operator[](int block) const { return this->List[block]; }
  const Axis& AxisOf(int block, int axis) const { return *this->Axes[block][axis]; }
  int PlaceCount(int axis) const { return static_cast<int>(this->Positions[axis].size()); }
  double PlaceToPosition(int axis, int place) const { return this->Positions[axis][place]; }

  /// The cubes that a block covers.
  const Box& CubesOf(int block) const { return (*this->Bins)[block]; }
  /// The blocks with cubes in this box.
  std::vector<int> Meeting(const Box& cubes) const { return this->Bins->Meeting(cubes); }

  /// The visible cell that covers a cube, if there is one. `hint`: the block to look at first; becomes the
  /// one found. It has no effect on points, which blocks share.
  CellRef Find(const Int3& cube, int& hint) const;

  /// Cell indices along the axes.
  Int3 IndexOf(const CellRef& cell) const;
  std::array<double, 3> Center(const CellRef& cell) const;
  bool OfPoints() const { return !this->List.empty() && this->List[0].OfPoints; }
  int FlatAxis() const { return this->List.empty() ? -1 : this->List[0].FlatAxis; }
  /// True if cells of block a are smaller than those of block b.
  bool IsFiner(int a, int b) const { return this->List[a].CellVolume < 0.8 * this->List[b].CellVolume; }

private:
  using AxisNodes = std::vector<std::pair<const double*, int>>;  ///< nodes and their number, each list once

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
  std::string MisfitText;
};

}  // namespace patchio::filters

#endif
