// The polygons, lines or points that a surface cuts out of a block, before they become VTK's cells.
#pragma once

#include "Filters/Blocks.h"

#include <array>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace patchio::filters {

/// A place between two points of a block: its values are (1 - T) * A + T * B.
struct EdgePoint
{
  long long A, B;
  double T;
};

/// The cells cut from a block, or from some layers of the block. Large blocks are cut in several parts by
/// different threads.
struct CutPart
{
  CutPart(const Block& from, int surface) : From(&from), Surface(surface) {}

  const Block* From;
  int Surface;  ///< index of the surface that cuts
  std::vector<EdgePoint> Points;
  std::vector<std::array<double, 3>> Positions;  ///< positions of Points
  std::vector<int> Corners;          ///< indices of points: the corners of all cells, one cell after another
  std::vector<unsigned char> Sizes;  ///< number of corners of each cell
  std::vector<long long> Cells;      ///< the block's cell that each cell is cut from

  /// Points that the block's part before this one, or the one after it, has, too: pairs of a key and the
  /// index in Points, sorted once the part is complete.
  std::vector<std::pair<long long, int>> Before, After;

  /// Reserves memory for `polygons` quadrilaterals or, with `triangles`, for twice as many triangles.
  void Reserve(std::size_t polygons, bool triangles);

  int AddPoint(const EdgePoint& point, const std::array<double, 3>& position)
  {
    this->Points.push_back(point);
    this->Positions.push_back(position);
    return static_cast<int>(this->Points.size()) - 1;
  }

  /// Adds a cell with `count` corners; with `triangles`, cuts it into triangles. cell: the block's cell that
  /// it is cut from.
  void AddCell(const int* corners, int count, bool triangles, long long cell);
};

/// Cuts blocks on all threads, large blocks in several parts.
class CutTasks
{
public:
  /// surface: see CutPart::Surface.
  explicit CutTasks(int surface) : Surface(surface) {}

  /// Adds the rows (or layers) 0 .. rows - 1 of a block, of cellsOfRow cells each. of: a number that Run()
  /// passes on to its callback.
  void Add(std::size_t of, const Block& block, int rows, long long cellsOfRow);
  /// Adds all layers of a block along z.
  void AddLayers(std::size_t of, const Block& block);

  /// Makes parts and fills them by cut(of, first row, row after the last, part), on all threads. Returns the
  /// parts in the order in which their rows were added.
  std::vector<CutPart> Run(const std::function<void(std::size_t, int, int, CutPart&)>& cut) const;

private:
  struct Task
  {
    std::size_t Of;
    const Block* From;
    int Begin, End;
  };

  const int Surface;
  std::vector<Task> Tasks;
};

}  // namespace patchio::filters
