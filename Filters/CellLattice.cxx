#include "Filters/CellLattice.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace patchio::filters {
namespace {

/// Two nodes count as one if their distance is at most this fraction of LatticeNodes::LeastWidth, if this
/// width is finite.
constexpr double NodeTolerance = 1e-3;

/// Returns the least distance between neighbouring nodes; infinity for a single node.
double LeastWidthOf(const double* nodes, int count)
{
  double least = std::numeric_limits<double>::infinity();
  for (int i = 1; i < count; ++i) {
    least = std::min(least, nodes[i] - nodes[i - 1]);
  }
  return least;
}

std::string_view BytesOf(const double* nodes, int count)
{
  return {reinterpret_cast<const char*>(nodes), count * sizeof(double)};
}

}  // namespace

bool CellBlock::AnyCellVisible(const Int3& lower, const Int3& upper) const
{
  Int3 cell;
  for (cell[2] = lower[2]; cell[2] <= upper[2]; ++cell[2]) {
    for (cell[1] = lower[1]; cell[1] <= upper[1]; ++cell[1]) {
      for (cell[0] = lower[0]; cell[0] <= upper[0]; ++cell[0]) {
        if (!(this->Flags[this->CellWithFirstCorner(cell)] & Block::HidingFlags)) {
          return true;
        }
      }
    }
  }
  return false;
}

bool CellBlock::IsPointHidden(std::int64_t point) const
{
  if (this->PointFlags || !this->Flags) {
    return this->PointFlags && this->PointFlags[point];
  }
  Int3 upper = IndexOf(point, this->Cells), lower;
  for (int axis = 0; axis < 3; ++axis) {
    lower[axis] = std::max(upper[axis] - 1, 0);
    upper[axis] = std::min(upper[axis], this->Cells[axis] - 2);
  }
  return !this->AnyCellVisible(lower, upper);
}

CellLattice::CellLattice(std::vector<CellBlock> blocks, const std::array<LatticeNodes, 3>& nodes)
    : List(std::move(blocks)), Axes(this->List.size())
{
  for (int axis = 0; axis < 3; ++axis) {
    const bool isGiven = !nodes[axis].Positions.empty();
    this->MakeAxes(axis, this->MergePositions(axis, isGiven ? nodes[axis] : Nodes(this->List, axis)));
    this->CheckAlignment(axis);
  }
  std::vector<Box> cubes(this->List.size());
  for (std::size_t b = 0; b < cubes.size(); ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      cubes[b].Lower[axis] = this->Axes[b][axis]->NodeIndices.front();
      cubes[b].Upper[axis] = this->Axes[b][axis]->NodeIndices.back() - 1;
    }
  }
  this->Bins = std::make_unique<BoxBins>(std::move(cubes));
}

LatticeNodes CellLattice::Nodes(const std::vector<CellBlock>& blocks, int axis)
{
  std::unordered_map<std::string_view, bool> seen;
  LatticeNodes nodes;
  std::vector<double>& all = nodes.Positions;
  for (const CellBlock& block : blocks) {
    const int count = block.NodeCount(axis);
    if (seen.emplace(BytesOf(block.Nodes[axis], count), true).second) {
      all.insert(all.end(), block.Nodes[axis], block.Nodes[axis] + count);
      nodes.LeastWidth = std::min(nodes.LeastWidth, LeastWidthOf(block.Nodes[axis], count));
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return nodes;
}

/// Sets Positions along an axis to the positions of all nodes, without duplicates. Returns the distance up to
/// which two nodes count as one (see NodeTolerance).
double CellLattice::MergePositions(int axis, LatticeNodes nodes)
{
  std::vector<double>& all = nodes.Positions;
  std::sort(all.begin(), all.end());
  double width = nodes.LeastWidth;
  if (!std::isfinite(width)) {  // flat blocks have one node, so the scale is that of the positions
    width = all.empty() ? 0 : 1e-6 * std::max(std::abs(all.front()), std::abs(all.back()));
  }
  const double near = NodeTolerance * width;
  std::vector<double>& positions = this->Positions[axis];
  for (const double node : all) {
    if (positions.empty() || node - positions.back() > near) {
      positions.push_back(node);
    }
  }
  return near;
}

/// Makes the tables along an axis, one for each different list of nodes. `near`: see MergePositions().
void CellLattice::MakeAxes(int axis, double near)
{
  std::unordered_map<std::string_view, const Axis*> known;
  for (std::size_t b = 0; b < this->List.size(); ++b) {
    const int count = this->List[b].NodeCount(axis);
    const double* const nodes = this->List[b].Nodes[axis];
    const auto [found, isNew] = known.emplace(BytesOf(nodes, count), nullptr);
    if (isNew) {
      Axis& shared = this->AllAxes.emplace_back();
      this->FillAxis(axis, nodes, count, near, shared);
      found->second = &shared;
    }
    this->Axes[b][axis] = found->second;
  }
}

/// Fills the tables of the blocks with these nodes along an axis. `near`: see MergePositions().
void CellLattice::FillAxis(int axis, const double* nodes, int count, double near, Axis& shared) const
{
  const std::vector<double>& positions = this->Positions[axis];
  for (int i = 0; i < count; ++i) {
    const auto node = std::lower_bound(positions.begin(), positions.end(), nodes[i] - near);
    shared.NodeIndices.push_back(static_cast<int>(node - positions.begin()));
  }
  const bool atNodes = this->IsPointData() || axis == this->FlatAxis();
  if (atNodes) {
    shared.NodeIndices.push_back(shared.NodeIndices.back() + 1);
  }
  for (std::size_t i = 0; i + 1 < shared.NodeIndices.size(); ++i) {
    shared.CellOfCube.insert(
        shared.CellOfCube.end(), shared.NodeIndices[i + 1] - shared.NodeIndices[i], static_cast<int>(i));
    const int upper = atNodes ? shared.NodeIndices[i] : shared.NodeIndices[i + 1];
    shared.Centers.push_back(0.5 * (positions[shared.NodeIndices[i]] + positions[upper]));
  }
}

/// Sets ErrorText if nodes of a block lie within cells of another block whose level is the same or finer.
/// Nodes of points need not align.
void CellLattice::CheckAlignment(int axis)
{
  if (this->IsPointData() || axis == this->FlatAxis()) {
    return;
  }
  std::unordered_map<const Axis*, double> widths;
  for (std::size_t b = 0; b < this->List.size(); ++b) {
    const CellBlock& block = this->List[b];
    const double width = (block.Nodes[axis][block.Cells[axis]] - block.Nodes[axis][0]) / block.Cells[axis];
    widths[this->Axes[b][axis]] = block.CellVolume > 0 ? width : 1;
  }
  std::vector<double> coarsest(this->Positions[axis].size(), 0);
  for (const auto& [shared, width] : widths) {
    for (const int node : shared->NodeIndices) {
      coarsest[node] = std::max(coarsest[node], width);
    }
  }
  for (const auto& [shared, width] : widths) {
    for (std::size_t i = 1; i < shared->NodeIndices.size(); ++i) {
      for (int node = shared->NodeIndices[i - 1] + 1; node < shared->NodeIndices[i]; ++node) {
        if (coarsest[node] > 0.8 * width) {
          this->ErrorText = "nodes of a block lie within cells of a block of the same or a finer level";
          return;
        }
      }
    }
  }
}

/// Returns the visible cell of a block that covers `cube`; a CellRef that is false if the block has no such
/// cell.
CellRef CellLattice::CellInBlock(int block, const Int3& cube) const
{
  const Box& covered = this->CubesOf(block);
  std::int64_t cell = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int offset = cube[axis] - covered.Lower[axis];
    if (offset < 0 || cube[axis] > covered.Upper[axis]) {
      return {};
    }
    cell += this->Axes[block][axis]->CellOfCube[offset] * this->List[block].Stride(axis);
  }
  return this->List[block].IsVisible(cell) ? CellRef{block, cell} : CellRef{};
}

CellRef CellLattice::Find(const Int3& cube, int& hint) const
{
  if (!this->IsPointData()) {
    if (const CellRef found = this->CellInBlock(hint, cube)) {
      return found;
    }
  }
  CellRef found;
  this->Bins->ForEachIntersecting({cube, cube}, [&](int block) {
    const CellRef cell = this->CellInBlock(block, cube);
    // The finest cell is the result, so that the result does not depend on the order of overlapping blocks.
    if (cell && (!found || this->IsFiner(block, found.Block))) {
      found = cell;
    }
    return true;
  });
  if (found) {
    hint = found.Block;
  }
  return found;
}

Int3 CellLattice::IndexOf(const CellRef& cell) const
{
  return filters::IndexOf(cell.Cell, this->List[cell.Block].Cells);
}

std::array<double, 3> CellLattice::Center(const CellRef& cell) const
{
  const Int3 index = this->IndexOf(cell);
  std::array<double, 3> center;
  for (int axis = 0; axis < 3; ++axis) {
    center[axis] = this->Axes[cell.Block][axis]->Centers[index[axis]];
  }
  return center;
}

}  // namespace patchio::filters
