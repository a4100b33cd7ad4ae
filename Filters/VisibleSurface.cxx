#include "Filters/VisibleSurface.h"

#include "Filters/CellSet.h"
#include "Filters/DataOfParts.h"
#include "Filters/Part.h"
#include "Filters/PointIds.h"

#include <tbb/parallel_for.h>
#include <vtkPolyData.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace patchio::filters {
namespace {

class CoveredFaces
{
public:
  /// Collective: takes the blocks of all ranks into account. blocks: see SolidBlocks(). This rank's blocks
  /// must outlive this object.
  CoveredFaces(const std::vector<const Block*>& blocks, Communicator& ranks);

  /// Returns whether visible cells lie behind the whole face of blocks[block]. If the cells of different
  /// levels do not align, no face counts as covered. Thread-safe.
  bool IsCovered(int block, const OuterFace& face) const;

private:
  const CellSet Cells;
  const CellLattice Lattice;
};

CellSet CellsOfAllRanks(const std::vector<const Block*>& blocks, Communicator& ranks)
{
  CellSet cells = MakeCellSet(blocks, ranks);
  AddCellsOfOthers(cells, false, ranks);
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
    const std::vector<int>& places = this->Lattice.AxisOf(block, axis).Places;
    behind.Lower[axis] = places[face.Cell[axis]];
    behind.Upper[axis] = places[face.Cell[axis] + 1] - 1;
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

/// A thread-safe function that returns whether to omit a face.
using FaceTest = std::function<bool(const OuterFace&)>;

/// The corners of each face as steps from the cell's first point, around the normal that points outwards.
/// Indexed by axis and end.
constexpr int CornersOfFaces[3][2][4][3] = {
    {{{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {0, 1, 0}}, {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1}}},
    {{{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}}, {{0, 1, 0}, {0, 1, 1}, {1, 1, 1}, {1, 1, 0}}},
    {{{0, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 0, 0}}, {{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}}};

/// Adds the faces of some layers of cells to a part.
class FacesOfLayers
{
public:
  FacesOfLayers(FaceTest covered, const Rows& layers, Part& part)
      : Of(*part.From),
        Covered(std::move(covered)),
        Layers(layers),
        Made(part),
        Strides{1, this->Of.CellAt({0, 1, 0}), this->Of.CellAt({0, 0, 1})}
  {
  }

  void Run()
  {
    for (int k = this->Layers.Begin; k < this->Layers.End; ++k) {
      for (int j = 0; j < this->Of.Cells(1); ++j) {
        this->TakeRow(j, k);
      }
    }
  }

private:
  void TakeRow(int j, int k)
  {
    const bool inside = j > 0 && j + 1 < this->Of.Cells(1) && k > 0 && k + 1 < this->Of.Cells(2);
    const int last = this->Of.Cells(0) - 1;
    long long cell = this->Of.CellAt({0, j, k});
    for (int i = 0; i <= last; ++i, ++cell) {
      if (this->Of.IsVisible(cell) && !(inside && i > 0 && i < last && this->IsAmongVisible(cell))) {
        this->TakeCell({i, j, k}, cell);
      }
    }
  }

  /// Returns whether all neighbours of an inner cell are visible. This is nearly always true, so the test
  /// must be quick.
  bool IsAmongVisible(long long cell) const
  {
    if (!this->Of.Flags) {
      return true;
    }
    const unsigned char* const flags = this->Of.Flags + cell;
    const long long row = this->Strides[1], layer = this->Strides[2];
    return ((flags[-1] | flags[1] | flags[-row] | flags[row] | flags[-layer] | flags[layer]) &
               Block::HidingFlags) == 0;
  }

  void TakeCell(const Int3& at, long long cell)
  {
    for (int axis = 0; axis < 3; ++axis) {
      for (const bool upper : {false, true}) {
        const bool atEnd = at[axis] == (upper ? this->Of.Cells(axis) - 1 : 0);
        const long long other = cell + (upper ? 1 : -1) * this->Strides[axis];
        if ((atEnd || !this->Of.IsVisible(other)) &&
            !(this->Covered && this->Covered(OuterFace{at, axis, upper}))) {
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
    this->Made.AddPolygon(corners, 4, false, cell);
  }

  int PointOf(const Int3& at)
  {
    const long long number = this->Of.PointAt(at);
    int& id = this->Ids[number];
    if (id < 0) {
      id = this->Made.AddPoint({number, number, 0}, this->Of.PositionAt(at), this->Layers.AreShared(at[2]));
    }
    return id;
  }

  const Block& Of;
  const FaceTest Covered;
  const Rows Layers;
  Part& Made;
  const std::array<long long, 3> Strides;
  PointIds Ids;
};

/// Returns the faces of all blocks; the parts of a block follow each other. Collective for outer faces.
std::vector<Part> FacesOf(const std::vector<const Block*>& blocks, Faces faces, Communicator& ranks)
{
  std::optional<CoveredFaces> covered;
  if (faces == Faces::Outer) {
    covered.emplace(blocks, ranks);
  }
  CutTasks tasks;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    tasks.AddLayers(b, *blocks[b]);
  }
  return tasks.Run([&](std::size_t b, const Rows& layers, Part& part) {
    const FaceTest test = [&covered, b](const OuterFace& face) {
      return covered->IsCovered(static_cast<int>(b), face);
    };
    FacesOfLayers(covered ? test : nullptr, layers, part).Run();
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
  const std::vector<Part> parts = FacesOf(blocks, faces, ranks);
  std::vector<std::vector<const Part*>> partsOf(blocks.size());
  auto part = parts.begin();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (; part != parts.end() && part->From == blocks[b]; ++part) {
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
  return MakePieces(blocks, FacesOf(SolidBlocks(blocks), Faces::Outer, ranks));
}

}  // namespace patchio::filters
