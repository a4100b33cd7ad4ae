// The tree of the input to be written, and the form of its pieces.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

#include <vtkDataObject.h>
#include <vtkDataSet.h>

#include <array>
#include <string>
#include <vector>

namespace patchio {

/// An array of some pieces.
struct ArrayForm
{
  std::string Name;
  Centering Center = Centering::Cell;
  int Components = 1;
  ElementType Type = ElementType::Float64;
  bool HidesUndefined = false;  ///< NaN stands for no value; see Variable::UndefinedFrom
  /// All is NaN, as the reader makes arrays that a block lacks. Where others have values, it is not written.
  bool IsBlank = false;
  bool Positions = false;  ///< of the nodes of a curvilinear grid
  MeshRole Role = MeshRole::Values;
  int CellList = 0;  ///< see Variable::CellList
};

/// A grid of the input, or a box cut out of one: it becomes a patch.
struct PieceForm
{
  int Rank = 0;
  int Grid = 0;  ///< index into the rank's grids
  GridKind Kind = GridKind::Uniform;
  std::vector<int> Group;  ///< see InputGrid
  std::string Name;
  int Piece = 0;
  int Level = -1;                             ///< -1: unknown
  int Number = -1;                            ///< of the patch within its level; -1: unknown
  bool Hides = false;                         ///< finer levels hide what they cover
  std::uint64_t FlatAxes = 0;                 ///< see Level
  Box Cells;                                  ///< of the piece, in the grid's own indices
  Box Whole;                                  ///< of the whole grid
  Double3 Origin{0, 0, 0}, Spacing{1, 1, 1};  ///< uniform grids: of the grid's own index (0,0,0)
  std::array<Axis, 3> Axes;                   ///< rectilinear grids: of the whole grid
  bool IsPlane = false;                       ///< curvilinear grids: all nodes have the third coordinate 0
  MeshSize Mesh;                              ///< of meshes
  std::vector<ArrayForm> Arrays;
};

/// The nodes of cells of the grid.
Box NodesOf(const PieceForm& piece, const Box& cells);

/// For other ranks.
std::vector<std::byte> BytesOf(const std::vector<PieceForm>& pieces);
/// Appends them.
void TakePieces(const std::string& bytes, std::vector<PieceForm>& pieces);

/// A grid of this rank, and where it is in the tree.
struct InputGrid
{
  std::vector<int>
      Group;           ///< positions on the way to the block that its pieces belong to; the same on all ranks
  std::string Name;    ///< of that block, after those above it; empty where it has none
  int Piece = 0;       ///< in its group
  int Level = -1;      ///< of an AMR data set, or by its field data or its name; -1: unknown
  bool IsAmr = false;  ///< finer levels hide what they cover
  vtkDataSet* Grid = nullptr;
};

/// The grids with cells or points. Throws Error when there is something that is no grid.
std::vector<InputGrid> InputGridsOf(vtkDataObject* data);

/// The number in "level 17"; -1 for other names.
int LevelInName(const std::string& name);

/// The value of an array of one number in the field data; `otherwise` where there is none.
double NumberInFieldData(vtkDataObject* data, const char* name, double otherwise);

}  // namespace patchio
