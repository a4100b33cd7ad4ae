#include "Extract/Slice.h"

#include "Extract/AlignedCut.h"
#include "Extract/CellCut.h"
#include "Extract/Coverage.h"
#include "Extract/CutTasks.h"
#include "Extract/PolyDataOfParts.h"
#include "Support/RunOnAllRanks.h"

#include <vtkPolyData.h>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <cmath>
#include <list>

namespace patchio::extract {
namespace {

using Parts = std::vector<CutPart>;

/// Leaves out cells below a plane where others lie above it, on any rank.
void FindBelow(std::vector<AlignedCut>& cuts, Communicator& ranks)
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
  if (!AllOf(ranks, !here)) {
    const Coverage coverage(GatherValues(ranks, Coverage::RunsOf(cuts)));
    tbb::parallel_for(std::size_t(0), cuts.size(), [&](std::size_t c) { coverage.RemoveCovered(cuts[c]); });
  }
}

Parts CutAligned(
    const std::vector<const Block*>& blocks, int number, const SliceRequest& request, Communicator& ranks)
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
  FindBelow(cuts, ranks);
  CutTasks tasks(number);
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    tasks.Add(c, *cuts[c].Of, cuts[c].Rows(), cuts[c].Of->Cells(cuts[c].Inner));
  }
  return tasks.Run([&](std::size_t c, int begin, int end, CutPart& part) {
    cuts[c].CutRows(begin, end, request.Triangles, part);
  });
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
  CutTasks tasks(number);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (IsNear(*blocks[b], surface)) {
      tasks.AddLayers(b, *blocks[b]);
    }
  }
  return tasks.Run([&](std::size_t b, int begin, int end, CutPart& part) {
    CutLayers(*blocks[b], surface, begin, end, request.Triangles, part);
  });
}

std::list<Parts> CutAll(const Blocks& blocks, const SliceRequest& request, Communicator& ranks)
{
  std::vector<const Block*> straight, curved, all;
  for (const Block& block : blocks.List) {
    (block.Form == BlockForm::Curvilinear ? curved : straight).push_back(&block);
    all.push_back(&block);
  }
  std::list<Parts> parts;
  for (int surface = 0; surface < static_cast<int>(request.Surfaces.size()); ++surface) {
    if (request.Surfaces[surface].AlignedAxis() >= 0) {
      parts.push_back(CutAligned(straight, surface, request, ranks));
      parts.push_back(CutCells(curved, surface, request));
    } else {
      parts.push_back(CutCells(all, surface, request));
    }
  }
  return parts;
}

}  // namespace

std::vector<vtkSmartPointer<vtkPolyData>> Slice(
    const Blocks& blocks, const SliceRequest& request, Communicator& ranks)
{
  request.Progress(0.1);
  const std::list<Parts> cut = CutAll(blocks, request, ranks);
  // All ranks have met for the last time, so each may stop by itself.
  const bool goesOn = request.Progress(0.6);
  std::vector<const CutPart*> wanted;
  for (const Parts& parts : cut) {
    for (const CutPart& part : parts) {
      if (goesOn && !part.Cells.empty()) {
        wanted.push_back(&part);
      }
    }
  }
  std::vector<const Block*> all;
  for (const Block& block : blocks.List) {
    all.push_back(&block);
  }
  std::vector<vtkSmartPointer<vtkPolyData>> pieces = MakePieces(all, wanted, blocks.Pieces.size());
  request.Progress(1.0);
  return pieces;
}

}  // namespace patchio::extract
