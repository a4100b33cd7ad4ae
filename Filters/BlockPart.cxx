#include "Filters/BlockPart.h"

#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace patchio::filters {

BlockPart::BlockPart(const Block& from, const Int3& begin, const Int3& end)
    : SourceBlock(&from), Shape(from), Begin(begin)
{
  for (int axis = 0; axis < 3; ++axis) {
    this->Cells[axis] = end[axis] - begin[axis];
    this->Points[axis] = from.Points[axis] > 1 ? this->Cells[axis] + 1 : 1;
  }
  this->BoxPointCount = this->Points[0] * this->Points[1] * this->Points[2];
  for (int c = 0; c < 8; ++c) {
    this->Steps[c] = this->PointNumber(this->Shape.Corners[c]);
  }
}

void BlockPart::Reserve(std::size_t polygons, bool triangles)
{
  this->NewPoints.reserve(polygons + polygons / 8);
  this->Positions.reserve(polygons + polygons / 8);
  this->Corners.reserve(polygons * (triangles ? 6 : 4));
  this->Sizes.reserve(polygons * (triangles ? 2 : 1));
  this->Sources.reserve(polygons * (triangles ? 2 : 1));
}

void BlockPart::AddPolygon(const int* corners, int count, bool triangles, long long cell)
{
  const int size = triangles && count > 3 ? 3 : count;
  // Triangles are a fan around the first corner.
  for (int last = size - 1; last < count; ++last) {
    this->Corners.push_back(corners[0]);
    this->Corners.insert(this->Corners.end(), corners + last - size + 2, corners + last + 1);
    this->Sizes.push_back(static_cast<unsigned char>(size));
    this->Sources.push_back(cell);
  }
}

void BlockPart::AddCell(const Int3& cell)
{
  this->WholeCells.push_back(this->CellNumber(cell));
  const int first = this->PointNumber(cell);
  for (int c = 0; c < this->Shape.CornerCount(); ++c) {
    this->MarkUsed(first + this->Steps[c]);
  }
}

void BlockPart::AddCutCell(const Int3& cell, unsigned char type, const int* corners, int count)
{
  this->Types.push_back(type);
  this->AddPolygon(corners, count, false, this->CellOfBlock(this->CellNumber(cell)));
  for (int c = 0; c < count; ++c) {
    if (corners[c] < this->BoxPointCount) {
      this->MarkUsed(corners[c]);
    }
  }
}

long long BlockPart::PointOfBlock(int point) const
{
  const Int3 at = IndexOf(point, this->Points);
  return this->SourceBlock->PointAt({this->Begin[0] + at[0], this->Begin[1] + at[1], this->Begin[2] + at[2]});
}

long long BlockPart::CellOfBlock(int cell) const
{
  const Int3 at = IndexOf(cell, this->Cells);
  return this->SourceBlock->CellAt({this->Begin[0] + at[0], this->Begin[1] + at[1], this->Begin[2] + at[2]});
}

namespace {

/// Greatest number of cells of a box along each axis.
constexpr int CellsOfBox = 64;

/// Approximate number of cells of a task of rows. A block with fewer cells is one task. See CutTasks::Add()
/// for long rows.
constexpr long long CellsOfTask = 32768;

/// Calls fill(number, part) for all parts, on all threads. Returns the parts that have cells; an empty list
/// if `progress` (see ParallelFor()) returns false.
template <typename Fill>
std::vector<BlockPart> FillParts(
    std::vector<BlockPart> parts, const Fill& fill, const ProgressCallback& progress)
{
  if (!ParallelFor(
          parts.size(), [&](std::size_t p) { fill(p, parts[p]); }, progress)) {
    return {};
  }
  parts.erase(
      std::remove_if(parts.begin(), parts.end(), [](const BlockPart& part) { return part.CellCount() == 0; }),
      parts.end());
  return parts;
}

}  // namespace

std::vector<BlockPart> ExtractFromBoxes(
    const Blocks& blocks, const std::function<void(BlockPart&)>& extract, const ProgressCallback& progress)
{
  std::vector<BlockPart> parts;
  for (const Block& block : blocks.List) {
    const Int3 cells{block.Cells(0), block.Cells(1), block.Cells(2)};
    Int3 begin, end;
    for (begin[2] = 0; begin[2] < cells[2]; begin[2] = end[2]) {
      end[2] = std::min(begin[2] + CellsOfBox, cells[2]);
      for (begin[1] = 0; begin[1] < cells[1]; begin[1] = end[1]) {
        end[1] = std::min(begin[1] + CellsOfBox, cells[1]);
        for (begin[0] = 0; begin[0] < cells[0]; begin[0] = end[0]) {
          end[0] = std::min(begin[0] + CellsOfBox, cells[0]);
          parts.emplace_back(block, begin, end);
        }
      }
    }
  }
  return FillParts(
      std::move(parts), [&](std::size_t, BlockPart& part) { extract(part); }, progress);
}

void CutTasks::Add(std::size_t key, const Block& block, int rows, long long cellsOfRow)
{
  // Two neighbouring tasks both make the points between their rows. So if the block has enough rows, each
  // task gets a few rows rather than one.
  const long long few = std::min(4, rows / 32);
  const int step = static_cast<int>(
      std::clamp<long long>(std::max(CellsOfTask / std::max(cellsOfRow, 1LL), few), 1, rows));
  for (int begin = 0; begin < rows; begin += step) {
    this->Tasks.push_back({key, {begin, std::min(begin + step, rows), rows}});
    this->Parts.emplace_back(block).FirstNumber = this->Points;
  }
  this->Points += static_cast<std::uint64_t>(block.PointCount());
}

void CutTasks::AddLayers(std::size_t key, const Block& block)
{
  this->Add(key, block, block.Cells(2), static_cast<long long>(block.Cells(0)) * block.Cells(1));
}

std::vector<BlockPart> CutTasks::Run(const std::function<void(std::size_t, const Rows&, BlockPart&)>& cut)
{
  return FillParts(std::move(this->Parts),
      [&](std::size_t p, BlockPart& part) { cut(this->Tasks[p].Key, this->Tasks[p].Range, part); }, {});
}

bool ParallelFor(
    std::size_t count, const std::function<void(std::size_t)>& work, const ProgressCallback& progress)
{
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::size_t> done{0};
  tbb::task_group_context context;
  tbb::parallel_for(
      std::size_t(0), count,
      [&](std::size_t number) {
        if (context.is_group_execution_cancelled()) {
          return;
        }
        work(number);
        const double fraction = static_cast<double>(++done) / static_cast<double>(count);
        if (progress && std::this_thread::get_id() == caller && !progress(fraction)) {
          context.cancel_group_execution();
        }
      },
      context);
  return !context.is_group_execution_cancelled();
}

}  // namespace patchio::filters
