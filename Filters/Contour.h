// Contours of cell data of several levels, without cracks, as plain values.
#pragma once

#include "Filters/DualCells.h"
#include "Filters/Part.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace patchio::filters {

/// A point of a contour, between two corners of a dual cell. The order of the corners depends only on their
/// positions, so that all blocks and ranks compute the same point to the last bit.
struct CrossingPoint
{
  DualCorner First, Second;
  double Weight = 0;  ///< weight of the second corner, 0 to 1
};

/// The part of a contour that one task makes.
struct ContourPart
{
  std::vector<CrossingPoint> Points;
  std::vector<int> Shared;  ///< indices of the points that other parts may also have; ascending
  std::vector<std::array<int, 3>> Triangles;  ///< flat blocks have lines: the last two corners are equal
  std::vector<std::int64_t> Cells;  ///< for values at points: the grid cell that contains each triangle
};

/// The layers Begin .. End - 1 along z of a block's cell corners.
struct Slab
{
  int Block = 0;
  int Begin = 0, End = 0;
};

/// Makes the triangles of the dual cells that belong to a slab.
///
/// For corners between eight visible cells of the block, the class computes the signs of whole rows of cells
/// and finds points by the numbers of edges. For the other corners, at the block's rim and next to hidden
/// cells, it uses DualCells.
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
  /// Numbers of the points on the edges that begin at the cells of one layer. A row of cells is valid only if
  /// its stamp is the number of the layer.
  struct EdgePoints
  {
    std::vector<int> Points, Stamps;
  };

  const CellLattice& Lattice;
  const Slab Part;
  const CellBlock& Block;
  const double Level;
  DualCells Rim;
  std::vector<unsigned char> States;  ///< states of the slab's cells, and of a margin of one cell around them
  /// The results of FindCellsOf() for each axis, for the block that AddStatesOf() processes.
  std::array<std::vector<int>, 3> CellsOfOther;
  std::vector<unsigned char> All, Any;
  std::array<EdgePoints, 5> EdgesOfLayers;  ///< along x in even and odd layers, along y in both, along z
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, int, PairHash> RimPoints;
  ContourPart Result;
};

/// The triangles, or lines (see ContourPart), with shared points. They are sorted by contour value.
struct Contour
{
  std::vector<CrossingPoint> Points;
  /// The index in Points of each contour value's first point, then the number of all points.
  std::vector<std::int64_t> PointsBefore;
  std::vector<std::array<std::int64_t, 3>> Triangles;
  std::vector<CellRef> Cells;  ///< for values at points: the grid cell that contains each triangle
};

/// Returns the contours at the values `levels` of this rank's blocks. Uses all threads of TBB; the result
/// does not depend on their number. `progress` receives, on the calling thread, the fraction of the work that
/// is done; if `progress` returns false, the contour is incomplete. Not collective.
Contour MakeContour(
    const CellLattice& lattice, const std::vector<double>& levels, const ProgressCallback& progress = {});

}  // namespace patchio::filters
