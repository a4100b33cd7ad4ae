#include "Filters/CutPart.h"

#include <tbb/parallel_for.h>

#include <algorithm>

namespace patchio::filters {

void CutPart::Reserve(std::size_t polygons, bool triangles)
{
  this->Points.reserve(polygons + polygons / 8);
  this->Positions.reserve(polygons + polygons / 8);
  this->Corners.reserve(polygons * (triangles ? 6 : 4));
  this->Sizes.reserve(polygons * (triangles ? 2 : 1));
  this->Cells.reserve(polygons * (triangles ? 2 : 1));
}

void CutPart::AddCell(const int* corners, int count, bool triangles, long long cell)
{
  const int size = triangles && count > 3 ? 3 : count;
  // Triangles are a fan around the first corner.
  for (int last = size - 1; last < count; ++last) {
    this->Corners.push_back(corners[0]);
    this->Corners.insert(this->Corners.end(), corners + last - size + 2, corners + last + 1);
    this->Sizes.push_back(static_cast<unsigned char>(size));
    this->Cells.push_back(cell);
  }
}

namespace {

/// Least number of cells of a task, unless a block has fewer.
constexpr long long CellsOfTask = 32768;

}  // namespace

void CutTasks::Add(std::size_t of, const Block& block, int rows, long long cellsOfRow)
{
  const int step = static_cast<int>(std::clamp<long long>(CellsOfTask / std::max(cellsOfRow, 1LL), 1, rows));
  for (int begin = 0; begin < rows; begin += step) {
    this->Tasks.push_back({of, &block, begin, std::min(begin + step, rows)});
  }
}

void CutTasks::AddLayers(std::size_t of, const Block& block)
{
  this->Add(of, block, block.Cells(2), static_cast<long long>(block.Cells(0)) * block.Cells(1));
}

std::vector<CutPart> CutTasks::Run(const std::function<void(std::size_t, int, int, CutPart&)>& cut) const
{
  std::vector<CutPart> parts;
  for (const Task& task : this->Tasks) {
    parts.emplace_back(*task.From, this->Surface);
  }
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const Task& task = this->Tasks[p];
    cut(task.Of, task.Begin, task.End, parts[p]);
  });
  return parts;
}

}  // namespace patchio::filters
