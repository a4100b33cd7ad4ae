// Contours of cell data of several levels, without cracks, as plain values.
#pragma once

#include "Filters/DualCells.h"
#include "Filters/RunTasks.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace patchio::filters {

/// A point of a contour, between the corners of a dual cell. Which of them comes first depends on where they
/// lie alone, so that all blocks and ranks compute the same position to the last bit.
struct CrossingPoint
{
  DualCorner First, Second;
  double Weight = 0;  ///< of the second corner
};

/// What one task makes.
struct ContourPart
{
  std::vector<CrossingPoint> Points;
  std::vector<int> Shared;  ///< numbers of the points that other parts may have, too; ascending
  std::vector<std::array<int, 3>> Triangles;  ///< of flat blocks lines: the last two corners are one
  std::vector<std::int64_t> Cells;            ///< of points: the grid's cell in which each triangle lies
};

/// Corners of a block from one layer of them to another.
struct Slab
{
  int Block = 0;
  int Begin = 0, End = 0;
};

/// The triangles of the dual cells that belong to a slab.
///
/// Where all eight cells around a corner are visible cells of the block, the signs of rows of cells decide,
/// and points are found by the number of their edge. The other corners, at the block's rim and beside hidden
/// cells, go through DualCells.
class ContourSlab
{
public:
  ContourSlab(const CellLattice& lattice, const Slab& slab, double level);
  ContourPart Make();

private:
  /// The state of a cell, as bits.
  enum : unsigned char
  {
    Above = 1,  ///< the value is not less than the level
    Below = 2,
    Own = 4  ///< a visible cell of the block
  };

  void FindStates();
  template <typename T>
  void FindOwnStates(const T* values);
  int FindCellsOf(int other, int axis, std::vector<int>& cells) const;
  void AddStatesOf(int other);
  const unsigned char* StatesOfRow(int j, int k) const;
  unsigned char* StatesOfRow(int j, int k);
  void TakeRow(int j, int k);
  void TakeInner(const Int3& corner);
  void TakeCellOfPoints(const Int3& corner);
  void TakeRim(const Int3& corner);
  void TakeFlat(const Int3& corner);
  void AddTriangles(int signs, const std::array<int, 12>& points);
  int PointAlong(const Int3& cell, int axis);
  int PointBetween(DualCorner a, DualCorner b);
  int AddPoint(const DualCorner& first, const DualCorner& second, bool shared);
  bool IsPrivate(const Int3& cell, int axis) const;
  bool ComesFirst(const DualCorner& a, const DualCorner& b) const;

  struct PairHash
  {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& pair) const
    {
      return (pair.first * 0x9e3779b97f4a7c15u) ^ (pair.second * 0xc2b2ae3d27d4eb4fu) ^ (pair.first >> 29);
    }
  };
  /// Points on the edges that begin at the cells of a layer, row by row; a row counts if its stamp is right.
  struct EdgePoints
  {
    std::vector<int> Points, Stamps;
  };

  const CellLattice& Lattice;
  const Slab Part;
  const CellBlock& Block;
  const double Level;
  DualCells Rim;
  std::vector<unsigned char> States;  ///< of the layers around the slab, and of one cell around the block
  std::array<std::vector<int>, 3>
      CellsOfOther;  ///< the other block's cell at each cell of this one; -1: none
  std::vector<unsigned char> All, Any;
  std::array<EdgePoints, 5> EdgesOfLayers;  ///< along x and y, in even and odd layers; along z
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, int, PairHash> RimPoints;
  ContourPart Result;
};

/// Triangles that share their points, or lines (see ContourPart). Of several levels, one after another.
struct Contour
{
  std::vector<CrossingPoint> Points;
  std::vector<std::int64_t> PointsBefore;  ///< for each level, and behind the last one
  std::vector<std::array<std::int64_t, 3>> Triangles;
  std::vector<CellRef> Cells;  ///< of points: the grid's cell in which each triangle lies
};

/// Contours of the blocks of this rank, on all threads of TBB. The result does not depend on their number.
/// `progress` is called now and then from this thread with the part that is done; it stops when that says
/// false.
Contour MakeContour(
    const CellLattice& lattice, const std::vector<double>& levels, const GoesOn& progress = {});

}  // namespace patchio::filters
