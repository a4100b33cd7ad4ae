#include "Extract/Slice.h"

#include "Extract/AlignedCut.h"
#include "Extract/CellCut.h"
#include "Extract/Coverage.h"
#include "Extract/PolyDataOfParts.h"

#include <vtkPolyData.h>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <list>

namespace patchio::extract {
namespace {

/// Cells that one task looks at, at least, unless a block has fewer.
constexpr long long CellsOfTask = 32768;

using Parts = std::vector<CutPart>;

/// Rows of a block for one task.
struct Range
{
  std::size_t Of;
  int Begin, End;
};

void AddRanges(std::size_t of, int rows, long long cellsOfRow, std::vector<Range>& ranges)
{
  const int step = static_cast<int>(std::clamp<long long>(CellsOfTask / std::max(cellsOfRow, 1LL), 1, rows));
  for (int begin = 0; begin < rows; begin += step) {
    ranges.push_back({of, begin, std::min(begin + step, rows)});
  }
}

/// Leaves out cells below a plane where others lie above it, on any rank.
void FindBelow(std::vector<AlignedCut>& cuts, const SliceRequest& request)
{
  const bool here = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, cuts.size()), false,
      [&](const tbb::blocked_range<std::size_t>& range, bool any) {
        for (std::size_t c = range.begin(); c < range.end(); ++c) {
          any = cuts[c].FindBelow() || any;
        }
        return any;
      },
      [](bool a, bool b) { return a || b; });
  if (request.Any(here)) {
    const Coverage coverage(request.Gather(Coverage::RunsOf(cuts)));
    tbb::parallel_for(std::size_t(0), cuts.size(), [&](std::size_t c) { coverage.RemoveCovered(cuts[c]); });
  }
}

Parts CutAligned(const std::vector<const Block*>& blocks, int number, const SliceRequest& request)
{
  const Surface& surface = request.Surfaces[number];
  const int axis = surface.AlignedAxis();
  const bool reversed = surface.Normal()[axis] < 0;
  const AlignedPlane plane{axis, reversed ? -surface.Offset() : surface.Offset(), reversed};
  std::vector<AlignedCut> cuts;
  for (const Block* block : blocks) {
    AlignedCut cut(*block, plane);
    if (cut.Meets()) {
      cuts.push_back(std::move(cut));
    }
  }
  FindBelow(cuts, request);
  std::vector<Range> ranges;
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    AddRanges(c, cuts[c].Rows(), cuts[c].Of->Cells(cuts[c].Inner), ranges);
  }
  Parts parts;
  for (const Range& range : ranges) {
    parts.emplace_back(*cuts[range.Of].Of, number);
  }
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const Range& range = ranges[p];
    cuts[range.Of].CutRows(range.Begin, range.End, request.Triangles, parts[p]);
  });
  return parts;
}

bool IsNear(const Block& block, const Surface& surface)
{
  Position middle;
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double half = 0.5 * (block.Bounds[2 * axis + 1] - block.Bounds[2 * axis]);
    middle[axis] = block.Bounds[2 * axis] + half;
    square += half * half;
  }
  return surface.IsWithin(middle, std::sqrt(square));
}

Parts CutCells(const std::vector<const Block*>& blocks, int number, const SliceRequest& request)
{
  const Surface& surface = request.Surfaces[number];
  std::vector<Range> ranges;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (IsNear(*blocks[b], surface)) {
      AddRanges(
          b, blocks[b]->Cells(2), static_cast<long long>(blocks[b]->Cells(0)) * blocks[b]->Cells(1), ranges);
    }
  }
  Parts parts;
  for (const Range& range : ranges) {
    parts.emplace_back(*blocks[range.Of], number);
  }
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const Range& range = ranges[p];
    CutLayers(*blocks[range.Of], surface, range.Begin, range.End, request.Triangles, parts[p]);
  });
  return parts;
}

std::list<Parts> CutAll(const Blocks& blocks, const SliceRequest& request)
{
  std::vector<const Block*> straight, curved, all;
  for (const Block& block : blocks.List) {
    (block.Form == BlockForm::Curvilinear ? curved : straight).push_back(&block);
    all.push_back(&block);
  }
  std::list<Parts> parts;
  for (int surface = 0; surface < static_cast<int>(request.Surfaces.size()); ++surface) {
    if (request.Surfaces[surface].AlignedAxis() >= 0) {
      parts.push_back(CutAligned(straight, surface, request));
      parts.push_back(CutCells(curved, surface, request));
    } else {
      parts.push_back(CutCells(all, surface, request));
    }
  }
  return parts;
}

}  // namespace

std::vector<vtkSmartPointer<vtkPolyData>> Slice(const Blocks& blocks, const SliceRequest& request)
{
  std::vector<std::vector<const Block*>> blocksOf(blocks.Pieces.size());
  for (const Block& block : blocks.List) {
    blocksOf[block.Piece].push_back(&block);
  }
  request.Progress(0.1);
  const std::list<Parts> cut = CutAll(blocks, request);
  // All ranks have met for the last time, so each may stop by itself.
  const bool goesOn = request.Progress(0.6);
  std::vector<std::vector<const CutPart*>> partsOf(blocks.Pieces.size());
  for (const Parts& parts : cut) {
    for (const CutPart& part : parts) {
      if (goesOn && !part.Cells.empty()) {
        partsOf[part.From->Piece].push_back(&part);
      }
    }
  }
  std::vector<vtkSmartPointer<vtkPolyData>> pieces;
  for (std::size_t p = 0; p < partsOf.size(); ++p) {
    pieces.push_back(MakePolyData(blocksOf[p], partsOf[p]));
  }
  request.Progress(1.0);
  return pieces;
}

}  // namespace patchio::extract
