#include "Filters/VisibleSurface.h"

#include "Filters/BlockPart.h"
#include "Filters/CellSet.h"
#include "Filters/DataOfParts.h"
#include "Filters/PointIds.h"

#include <tbb/parallel_for.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace patchio::filters {
namespace {

/// Finds the faces of this rank's blocks that visible cells of other blocks cover.
class CoveredFaces
{
public:
  /// Collects the cells of all ranks around `blocks`, the blocks of this rank, which must outlive this
  /// object. `blocks`: see SolidBlocks(). Collective: every rank of the communicator calls it.
  CoveredFaces(const std::vector<const Block*>& blocks, Communicator& ranks);

  /// Returns whether visible cells cover the whole of `face`, a face of the block with the index `block`,
  /// from the other side. Returns false for all faces if the cells of different blocks do not align.
  /// Thread-safe.
  bool IsCovered(int block, const OuterFace& face) const;

private:
  const CellSet Cells;
  const CellLattice Lattice;
};

/// Returns the cells of this rank's blocks, and copies of the other ranks' cells that touch these blocks.
/// Collective: every rank of the communicator calls it.
CellSet CellsOfAllRanks(const std::vector<const Block*>& blocks, Communicator& ranks)
{
  CellSet cells = MakeCellSet(blocks, ranks);
  AddRemoteCells(cells, false, ranks);
  return cells;
}

CoveredFaces::CoveredFaces(const std::vector<const Block*>& blocks, Communicator& ranks)
    : Cells(CellsOfAllRanks(blocks, ranks)), Lattice(this->Cells.Blocks, this->Cells.Nodes)
{
}

bool CoveredFaces::IsCovered(int block, const OuterFace& face) const
{
  if (!this->Lattice.Error().empty()) {
    return false;
  }
  Box behind;
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<int>& nodeIndices = this->Lattice.AxisOf(block, axis).NodeIndices;
    behind.Lower[axis] = nodeIndices[face.Cell[axis]];
    behind.Upper[axis] = nodeIndices[face.Cell[axis] + 1] - 1;
  }
  const int beside = face.Upper ? behind.Upper[face.Axis] + 1 : behind.Lower[face.Axis] - 1;
  behind.Lower[face.Axis] = behind.Upper[face.Axis] = beside;
  int hint = block;
  Int3 cube = behind.Lower;
  for (cube[2] = behind.Lower[2]; cube[2] <= behind.Upper[2]; ++cube[2]) {
    for (cube[1] = behind.Lower[1]; cube[1] <= behind.Upper[1]; ++cube[1]) {
      for (cube[0] = behind.Lower[0]; cube[0] <= behind.Upper[0]; ++cube[0]) {
        if (!this->Lattice.Find(cube, hint)) {
          return false;
        }
      }
    }
  }
  return true;
}

/// The corners of each face as steps from the first corner of the cell, by axis and end (lower, upper),
/// counter-clockwise as seen from outside.
constexpr int CornersOfFaces[3][2][4][3] = {
    {{{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {0, 1, 0}}, {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1}}},
    {{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}}, {{0, 1, 0}, {0, 1, 1}, {1, 1, 1}, {1, 1, 0}}},
    {{{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}}, {{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}}};

/// Adds the outer faces of the cells in some layers of a block to a part.
class FaceExtractor
{
public:
  /// `covered`: finds the faces that the surface omits; null: the surface omits no face. `block`: index of
  /// the block in `covered`.
  FaceExtractor(const CoveredFaces* covered, std::size_t block, const Rows& layers, BlockPart& part)
      : SourceBlock(*part.SourceBlock),
        Covered(covered),
        BlockIndex(static_cast<int>(block)),
        Layers(layers),
        Output(part),
        Strides{1, this->SourceBlock.CellAt({0, 1, 0}), this->SourceBlock.CellAt({0, 0, 1})}
  {
  }

  void Run()
  {
    for (int k = this->Layers.Begin; k < this->Layers.End; ++k) {
      for (int j = 0; j < this->SourceBlock.Cells(1); ++j) {
        this->AddFacesOfRow(j, k);
      }
    }
  }

private:
  void AddFacesOfRow(int j, int k)
  {
    const bool inside =
        j > 0 && j + 1 < this->SourceBlock.Cells(1) && k > 0 && k + 1 < this->SourceBlock.Cells(2);
    const int last = this->SourceBlock.Cells(0) - 1;
    long long cell = this->SourceBlock.CellAt({0, j, k});
    for (int i = 0; i <= last; ++i, ++cell) {
      if (this->SourceBlock.IsVisible(cell) &&
          !(inside && i > 0 && i < last && this->HasVisibleNeighbours(cell))) {
        this->AddFacesOfCell({i, j, k}, cell);
      }
    }
  }

  /// Returns whether all six neighbours of an inner cell are visible. The test must be quick, because nearly
  /// all inner cells have only visible neighbours.
  bool HasVisibleNeighbours(long long cell) const
  {
    if (!this->SourceBlock.Flags) {
      return true;
    }
    const unsigned char* const flags = this->SourceBlock.Flags + cell;
    const long long row = this->Strides[1], layer = this->Strides[2];
    return ((flags[-1] | flags[1] | flags[-row] | flags[row] | flags[-layer] | flags[layer]) &
               Block::HidingFlags) == 0;
  }

  void AddFacesOfCell(const Int3& at, long long cell)
  {
    for (int axis = 0; axis < 3; ++axis) {
      for (const bool upper : {false, true}) {
        const bool atEnd = at[axis] == (upper ? this->SourceBlock.Cells(axis) - 1 : 0);
        const long long other = cell + (upper ? 1 : -1) * this->Strides[axis];
        if ((atEnd || !this->SourceBlock.IsVisible(other)) &&
            !(this->Covered && this->Covered->IsCovered(this->BlockIndex, {at, axis, upper}))) {
          this->AddFace(at, CornersOfFaces[axis][upper ? 1 : 0], cell);
        }
      }
    }
  }

  void AddFace(const Int3& at, const int (&steps)[4][3], long long cell)
  {
    int corners[4];
    for (int c = 0; c < 4; ++c) {
      corners[c] = this->PointOf({at[0] + steps[c][0], at[1] + steps[c][1], at[2] + steps[c][2]});
    }
    this->Output.AddPolygon(corners, 4, false, cell);
  }

  /// Returns the number, in the part, of the point with the indices `at` in the block. Adds the point if the
  /// point is new.
  int PointOf(const Int3& at)
  {
    const long long number = this->SourceBlock.PointAt(at);
    int& id = this->Ids[number];
    if (id < 0) {
      id = this->Output.AddPoint(
          {number, number, 0}, this->SourceBlock.PositionAt(at), this->Layers.AreShared(at[2]));
    }
    return id;
  }

  const Block& SourceBlock;
  const CoveredFaces* const Covered;
  const int BlockIndex;
  const Rows Layers;
  BlockPart& Output;
  const std::array<long long, 3> Strides;
  PointIds Ids;
};

/// Returns the faces of all blocks, block after block. Collective if `faces` is Faces::Outer: every rank of
/// the communicator calls it.
std::vector<BlockPart> FacesOf(const std::vector<const Block*>& blocks, Faces faces, Communicator& ranks)
{
  std::optional<CoveredFaces> covered;
  if (faces == Faces::Outer) {
    covered.emplace(blocks, ranks);
  }
  CutTasks tasks;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    tasks.AddLayers(b, *blocks[b]);
  }
  return tasks.Run([&](std::size_t b, const Rows& layers, BlockPart& part) {
    FaceExtractor(covered ? &*covered : nullptr, b, layers, part).Run();
  });
}

}  // namespace

std::vector<const Block*> SolidBlocks(const Blocks& blocks)
{
  std::vector<const Block*> solid;
  for (const Block& block : blocks.List) {
    if (block.Form != BlockForm::Curvilinear &&
        *std::min_element(block.Points.begin(), block.Points.end()) > 1) {
      solid.push_back(&block);
    }
  }
  return solid;
}

std::vector<vtkSmartPointer<vtkPolyData>> SurfacesOfBlocks(
    const std::vector<const Block*>& blocks, Faces faces, Communicator& ranks)
{
  const std::vector<BlockPart> parts = FacesOf(blocks, faces, ranks);
  std::vector<std::vector<const BlockPart*>> partsOf(blocks.size());
  auto part = parts.begin();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (; part != parts.end() && part->SourceBlock == blocks[b]; ++part) {
      partsOf[b].push_back(&*part);
    }
  }
  std::vector<vtkSmartPointer<vtkPolyData>> surfaces(blocks.size());
  tbb::parallel_for(std::size_t(0), blocks.size(),
      [&](std::size_t b) { surfaces[b] = MakePolyData({blocks[b]}, partsOf[b], true); });
  return surfaces;
}

std::vector<vtkSmartPointer<vtkPolyData>> OuterSurface(const Blocks& blocks, Communicator& ranks)
{
  return MakePolyDataOfChildren(blocks, FacesOf(SolidBlocks(blocks), Faces::Outer, ranks));
}

}  // namespace patchio::filters
