// Contours of data of several levels, without cracks between the levels, as plain values.
#pragma once

#include "Filters/BlockPart.h"
#include "Filters/DualCells.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace patchio::filters {

/// A point of a contour, between two corners of a dual cell. The order of the corners depends only on their
/// positions, so that all blocks and ranks compute the same coordinates to the last bit.
struct CrossingPoint
{
  DualCorner First, Second;
  double Weight = 0;  ///< weight of Second, 0 to 1
};

/// The part of a contour in one slab.
struct ContourPart
{
  std::vector<CrossingPoint> Points;
  std::vector<int> Shared;  ///< indices of the points that other parts may also have, ascending
  /// Indices in Points; flat blocks have lines, whose last two corners are equal.
  std::vector<std::array<int, 3>> Triangles;
  std::vector<std::int64_t> Cells;  ///< for point data: number of the grid's cell that contains each triangle
};

/// The layers Begin .. End - 1 along z of the corners of a block's cells.
struct Slab
{
  int Block = 0;
  int Begin = 0, End = 0;
};

/// Makes the triangles in the dual cells around the cell corners of a slab.
///
/// For corners between eight visible cells of the block, this class computes the signs of whole rows of cells
/// and finds points by the numbers of edges. For the other corners of cell data, at the rim of the block and
/// next to hidden cells, and for all corners of flat blocks, where it makes lines, this class uses DualCells.
class ContourSlab
{
public:
  ContourSlab(const CellLattice& lattice, const Slab& slab, double contourValue);
  ContourPart MakePart();

private:
  /// The bits of the state of a cell.
  enum : unsigned char
  {
    Above = 1,   ///< the value is at least the contour value
    Below = 2,   ///< the value is less than the contour value
    OwnCell = 4  ///< a visible cell of the block
  };

  void ComputeStates();
  template <typename T>
  void ComputeBlockStates(const T* values);
  int FindCellsOf(int other, int axis, std::vector<int>& cells) const;
  void AddStatesOf(int other);
  unsigned char* StatesOfRow(int j, int k);
  void ContourRow(int j, int k);
  void ContourInnerCorner(const Int3& corner);
  void ContourPointCell(const Int3& corner);
  void ContourRimCorner(const Int3& corner);
  void ContourFlatCorner(const Int3& corner);
  void AddTriangles(int signs, const std::array<int, 12>& points);
  int PointAlong(const Int3& cell, int axis);
  int PointBetween(DualCorner a, DualCorner b);
  int AddPoint(const DualCorner& first, const DualCorner& second, bool shared);
  bool IsPrivate(const Int3& cell, int axis);
  bool ComesFirst(const DualCorner& a, const DualCorner& b) const;

  struct PairHash
  {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& pair) const
    {
      return (pair.first * 0x9e3779b97f4a7c15u) ^ (pair.second * 0xc2b2ae3d27d4eb4fu) ^ (pair.first >> 29);
    }
  };
  /// Numbers of the points on the edges between the centres of a cell and the next cell, for the cells of one
  /// layer; -1: no point yet. A row of Points is valid only if Stamps has the number of the layer for the
  /// row.
  struct EdgePoints
  {
    std::vector<int> Points, Stamps;
  };

  const CellLattice& Lattice;
  const Slab Layers;
  const CellBlock& Block;
  const double ContourValue;
  DualCells Rim;
  /// States of the cells in the layers Begin - 1 .. End - 1 of the slab, with a margin of one cell along x
  /// and y.
  std::vector<unsigned char> States;
  /// Results of FindCellsOf() along each axis, for the block that AddStatesOf() processes.
  std::array<std::vector<int>, 3> CellsOfNeighbour;
  std::vector<unsigned char> AllStates, AnyStates;  ///< see ContourRow()
  /// Points on edges along x in even and in odd layers, along y in even and in odd layers, and along z.
  std::array<EdgePoints, 5> EdgesOfLayers;
  /// The number of each point on an edge of Rim's dual cells, by the numbers (DualCorner::Number()) of the
  /// edge's two corners.
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, int, PairHash> RimPoints;
  ContourPart Result;
};

/// The triangles, or lines (see ContourPart), of the contours at several values. Neighbouring triangles share
/// their points. The triangles and the points are sorted in the order of the contour values.
struct Contour
{
  std::vector<CrossingPoint> Points;
  /// The index in Points of the first point of each contour value, then the number of all points.
  std::vector<std::int64_t> PointsBefore;
  std::vector<std::array<std::int64_t, 3>> Triangles;
  std::vector<CellRef> Cells;  ///< for point data: the grid's cell that contains each triangle
};

/// Returns the contours at `contourValues` in this rank's blocks. Requires DualCells::CanNumber(). Uses all
/// threads of TBB; the result does not depend on the number of threads. `progress` receives, on the calling
/// thread, the fraction of the work that is done. If `progress` returns false, the result lacks the contours
/// at the current and at later values. Not collective.
Contour MakeContour(const CellLattice& lattice, const std::vector<double>& contourValues,
    const ProgressCallback& progress = {});

}  // namespace patchio::filters
