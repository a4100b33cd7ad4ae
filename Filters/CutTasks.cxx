#include "Filters/CutTasks.h"

#include <tbb/parallel_for.h>

#include <algorithm>

namespace patchio::filters {
namespace {

/// Cells that one task looks at, at least, unless a block has fewer.
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
