// What a surface cuts out of a block: polygons, lines or points, before they become VTK's cells.
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

/// The cells cut from a block, or from some layers of it. Large blocks are cut in several parts by different
/// threads.
struct CutPart
{
  CutPart(const Block& from, int surface) : From(&from), Surface(surface) {}

  const Block* From;
  int Surface;  ///< the number of the surface that cuts
  std::vector<EdgePoint> Points;
  std::vector<std::array<double, 3>> Positions;  ///< of the points
  std::vector<int> Corners;                      ///< the points of all cells, one cell after another
  std::vector<unsigned char> Sizes;              ///< number of corners of each cell
  std::vector<long long> Cells;                  ///< the cell of the block that each one is cut from

  /// Points that the part of the block before this one, or the one after it, has, too: (key, point), sorted
  /// in the end.
  std::vector<std::pair<long long, int>> Before, After;

  /// Memory for so many polygons with four corners.
  void Reserve(std::size_t polygons, bool triangles);

  int AddPoint(const EdgePoint& point, const std::array<double, 3>& position)
  {
    this->Points.push_back(point);
    this->Positions.push_back(position);
    return static_cast<int>(this->Points.size()) - 1;
  }

  /// Adds a cell as it is, or cut into triangles.
  void AddCell(const int* corners, int count, bool triangles, long long cell);
};

/// Blocks cut by all threads, large ones in several parts.
class CutTasks
{
public:
  /// surface: see CutPart.
  explicit CutTasks(int surface) : Surface(surface) {}

  /// Some rows of a block of so many cells each, or layers; `of`: a number of the caller's.
  void Add(std::size_t of, const Block& block, int rows, long long cellsOfRow);
  /// All layers of a block along z.
  void AddLayers(std::size_t of, const Block& block);

  /// Fills parts by cut(of, first row, row behind the last, part), on all threads. Parts are in the order in
  /// which rows were added.
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
