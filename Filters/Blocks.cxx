#include "Filters/Blocks.h"

#include "Base/Communicator.h"
#include "Filters/VtkVersions.h"

#include <vtkCompositeDataSet.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTreeIterator.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkMatrix3x3.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>
#include <vtkSmartPointer.h>
#include <vtkStructuredGrid.h>
#include <vtkUniformGridAMR.h>
#include <vtkUnsignedCharArray.h>

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace patchio::filters {
namespace {

static_assert(Block::HidingFlags == (vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::REFINEDCELL |
                                        vtkDataSetAttributes::HIDDENCELL));

void SetExtent(const int extent[6], Block& block)
{
  for (int axis = 0; axis < 3; ++axis) {
    block.First[axis] = extent[2 * axis];
    block.Points[axis] = extent[2 * axis + 1] - extent[2 * axis] + 1;
  }
}

/// Sets the block's bounds. Returns false if the positions along an axis are not finite or do not increase.
bool SetBoundsFromPositions(Block& block)
{
  for (int axis = 0; axis < 3; ++axis) {
    const double* const first = block.PositionsOf(axis);
    const double* const last = first + block.Points[axis] - 1;
    if (!std::isfinite(*first) || !std::isfinite(*last) ||
        std::adjacent_find(first, last + 1, [](double a, double b) { return !(a < b); }) != last + 1) {
      return false;
    }
    block.Bounds[2 * axis] = *first;
    block.Bounds[2 * axis + 1] = *last;
  }
  return true;
}

/// Sets the positions of a uniform block. Returns false if the axes are rotated, or if
/// SetBoundsFromPositions() returns false.
bool SetImageGeometry(vtkImageData* image, Block& block)
{
  if (!image->GetDirectionMatrix()->IsIdentity()) {
    return false;
  }
  block.Form = BlockForm::Uniform;
  SetExtent(image->GetExtent(), block);
  block.Positions.reserve(block.Points[0] + block.Points[1] + block.Points[2]);
  for (int axis = 0; axis < 3; ++axis) {
    block.Origin[axis] = image->GetOrigin()[axis];
    block.Spacing[axis] = image->GetSpacing()[axis];
    for (int i = 0; i < block.Points[axis]; ++i) {
      block.Positions.push_back(block.Origin[axis] + block.Spacing[axis] * (block.First[axis] + i));
    }
  }
  return SetBoundsFromPositions(block);
}

/// Sets the positions of a rectilinear block. Returns false if an axis has too few positions, or if
/// SetBoundsFromPositions() returns false.
bool SetRectilinearGeometry(vtkRectilinearGrid* grid, Block& block)
{
  block.Form = BlockForm::Rectilinear;
  SetExtent(grid->GetExtent(), block);
  vtkDataArray* const axes[] = {grid->GetXCoordinates(), grid->GetYCoordinates(), grid->GetZCoordinates()};
  for (int axis = 0; axis < 3; ++axis) {
    if (!axes[axis] || axes[axis]->GetNumberOfTuples() < block.Points[axis]) {
      return false;
    }
    for (int i = 0; i < block.Points[axis]; ++i) {
      block.Positions.push_back(axes[axis]->GetComponent(i, 0));
    }
  }
  return SetBoundsFromPositions(block);
}

/// Sets the positions of a curvilinear block. Returns false if the grid has too few points or its bounds are
/// not finite.
bool SetCurvilinearGeometry(vtkStructuredGrid* grid, Block& block)
{
  block.Form = BlockForm::Curvilinear;
  SetExtent(grid->GetExtent(), block);
  if (!grid->GetPoints() || grid->GetNumberOfPoints() < block.PointCount()) {
    return false;
  }
  block.PointPositions = grid->GetPoints()->GetData();
  grid->GetBounds(block.Bounds.data());
  return std::all_of(block.Bounds.begin(), block.Bounds.end(), [](double end) { return std::isfinite(end); });
}

/// Sets the flags of the block's cells. Returns false if the ghost arrays have too few flags.
bool SetFlags(Block& block)
{
  vtkUnsignedCharArray* const cells = block.Grid->GetCellGhostArray();
  vtkUnsignedCharArray* const points = block.Grid->GetPointGhostArray();
  if ((cells && cells->GetNumberOfTuples() < block.CellCount()) ||
      (points && points->GetNumberOfTuples() < block.PointCount())) {
    return false;
  }
  block.Flags = cells ? cells->GetPointer(0) : nullptr;
  if (points && block.Grid->HasAnyBlankPoints()) {
    const vtkIdType count = block.CellCount();
    block.OwnedFlags.assign(count, 0);
    if (block.Flags) {
      std::copy_n(block.Flags, count, block.OwnedFlags.begin());
    }
    HideCellsAtHiddenPoints(block.Points, points->GetPointer(0), block.OwnedFlags.data());
    block.Flags = block.OwnedFlags.data();
  }
  return true;
}

/// Sets the positions of the points from block.Grid. Returns false if the grid is not supported.
bool SetGeometry(Block& block)
{
  if (auto* const image = vtkImageData::SafeDownCast(block.Grid)) {
    return SetImageGeometry(image, block);
  }
  if (auto* const grid = vtkRectilinearGrid::SafeDownCast(block.Grid)) {
    return SetRectilinearGeometry(grid, block);
  }
  auto* const grid = vtkStructuredGrid::SafeDownCast(block.Grid);
  return grid && SetCurvilinearGeometry(grid, block);
}

/// Collects all grids of an input, without their geometry and arrays.
class Collector
{
public:
  Blocks Result;

  /// Adds a child of the root. All children that are grids share one name. A grid of another rank may be null
  /// on this rank.
  void AddChild(vtkDataObject* child, const std::string& name, unsigned int flatIndex)
  {
    if (auto* const tree = vtkCompositeDataSet::SafeDownCast(child)) {
      this->Result.ChildNames.push_back(name);
      this->AddLeaves(tree, static_cast<int>(this->Result.ChildNames.size()) - 1, flatIndex);
      return;
    }
    if (this->ChildOfGrids < 0) {
      this->ChildOfGrids = static_cast<int>(this->Result.ChildNames.size());
      this->Result.ChildNames.emplace_back();
    }
    if (child) {
      this->Add(child, this->ChildOfGrids, flatIndex);
    }
  }

  /// Adds the levels of AMR data as children.
  void AddLevels(vtkUniformGridAMR* amr)
  {
    for (unsigned int level = 0; level < amr->GetNumberOfLevels(); ++level) {
      this->Result.ChildNames.push_back("level " + std::to_string(level));
    }
    const auto leaves = vtkSmartPointer<AmrIterator>::Take(AmrIterator::SafeDownCast(amr->NewIterator()));
    for (leaves->InitTraversal(); !leaves->IsDoneWithTraversal(); leaves->GoToNextItem()) {
      this->Add(leaves->GetCurrentDataObject(), static_cast<int>(leaves->GetCurrentLevel()),
          leaves->GetCurrentFlatIndex());
    }
  }

  void AddChildren(vtkDataObjectTree* tree)
  {
    ForEachChild(tree, [this](vtkDataObject* child, const std::string& name, unsigned int flatIndex) {
      this->AddChild(child, name, flatIndex);
    });
  }

private:
  void AddLeaves(vtkCompositeDataSet* tree, int childIndex, unsigned int flatIndex)
  {
    const auto leaves = vtkSmartPointer<vtkCompositeDataIterator>::Take(tree->NewIterator());
    for (leaves->InitTraversal(); !leaves->IsDoneWithTraversal(); leaves->GoToNextItem()) {
      this->Add(leaves->GetCurrentDataObject(), childIndex, flatIndex + leaves->GetCurrentFlatIndex());
    }
  }

  void Add(vtkDataObject* leaf, int childIndex, unsigned int flatIndex)
  {
    auto* const grid = vtkDataSet::SafeDownCast(leaf);
    if (!grid) {
      this->Result.UnsupportedClass = leaf->GetClassName();
    } else if (grid->GetNumberOfCells() > 0 || grid->GetNumberOfPoints() > 0) {
      Block& block = this->Result.List.emplace_back();
      block.Grid = grid;
      block.Child = childIndex;
      block.FlatIndex = flatIndex;
    }
  }

  int ChildOfGrids = -1;  ///< index in Blocks::ChildNames for the grids that are direct children of the
                          ///< input's root; -1: no such grid yet
};

}  // namespace

/// Returns the position of a point of a curvilinear block.
std::array<double, 3> Block::CurvilinearPositionOf(long long point) const
{
  std::array<double, 3> position;
  this->PointPositions->GetTuple(point, position.data());
  return position;
}

vtkDataSetAttributes* AttributesOf(vtkDataSet* grid, bool isPointData)
{
  return grid->GetAttributes(isPointData ? vtkDataObject::POINT : vtkDataObject::CELL);
}

void HideCellsAtHiddenPoints(const Int3& points, const unsigned char* pointFlags, unsigned char* cellFlags)
{
  const auto cells = [&points](int axis) { return std::max(points[axis] - 1, 1); };
  const vtkIdType row = points[0], layer = row * points[1];
  for (int k = 0; k < cells(2); ++k) {
    for (int j = 0; j < cells(1); ++j) {
      for (int i = 0; i < cells(0); ++i, ++cellFlags) {
        const unsigned char* const corner = pointFlags + i + j * row + k * layer;
        unsigned char any = 0;
        for (int c = 0; c < 8; ++c) {
          any |= corner[(c & 1 && points[0] > 1 ? 1 : 0) + (c & 2 && points[1] > 1 ? row : 0) +
                        (c & 4 && points[2] > 1 ? layer : 0)];
        }
        *cellFlags |= any & vtkDataSetAttributes::HIDDENPOINT ? vtkDataSetAttributes::HIDDENCELL : 0;
      }
    }
  }
}

Blocks MakeBlocks(vtkDataObject* input)
{
  Collector collector;
  if (auto* const amr = vtkUniformGridAMR::SafeDownCast(input)) {  // since VTK 9.6 also a tree
    collector.AddLevels(amr);
  } else if (auto* const tree = vtkDataObjectTree::SafeDownCast(input)) {
    collector.AddChildren(tree);
  } else {
    collector.AddChild(input, "", 0);
  }
  Blocks blocks = std::move(collector.Result);
  std::atomic<vtkDataSet*> unsupported{nullptr};
  tbb::parallel_for(std::size_t(0), blocks.List.size(), [&](std::size_t b) {
    Block& block = blocks.List[b];
    if (!SetGeometry(block) || !SetFlags(block)) {
      unsupported = block.Grid;
    }
  });
  if (vtkDataSet* const grid = unsupported) {
    blocks.UnsupportedClass = grid->GetClassName();
  }
  return blocks;
}

void ForEachChild(vtkDataObjectTree* tree,
    const std::function<void(vtkDataObject*, const std::string&, unsigned int)>& visit)
{
  const auto children = vtkSmartPointer<vtkDataObjectTreeIterator>::Take(tree->NewTreeIterator());
  children->SkipEmptyNodesOff();
  children->TraverseSubTreeOff();
  children->VisitOnlyLeavesOff();
  for (children->InitTraversal(); !children->IsDoneWithTraversal(); children->GoToNextItem()) {
    const char* const name = children->HasCurrentMetaData()
                                 ? children->GetCurrentMetaData()->Get(vtkCompositeDataSet::NAME())
                                 : nullptr;
    visit(children->GetCurrentDataObject(), name ? name : "", children->GetCurrentFlatIndex());
  }
}

Blocks MakeBlocks(vtkDataObject* input, Communicator& ranks)
{
  Blocks blocks;
  RunOnAllRanks(ranks, [&] { blocks = MakeBlocks(input); });
  return blocks;
}

}  // namespace patchio::filters
