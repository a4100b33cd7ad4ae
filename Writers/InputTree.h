// The grids in the tree of the writer's input, and the descriptions of their pieces.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <vtkDataObject.h>
#include <vtkDataSet.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// The properties of an array of a piece, which all ranks know.
struct ArrayDescription
{
  std::string Name;
  Centering Center = Centering::Cell;
  int Components = 1;
  ElementType Type = ElementType::Float64;
  bool HidesUndefined = false;  ///< true: NaN is "no value", see Variable::UndefinedFrom
  /// True: all values are NaN, as in arrays that the reader adds to blocks without the variable. The writer
  /// skips this array if other pieces have values.
  bool IsUndefined = false;
  bool Positions = false;  ///< true: the array has the node positions of a curvilinear grid
  MeshRole Role = MeshRole::Values;
  int CellList = 0;  ///< see Variable::CellList
};

/// Describes a grid of the input, or a box of a grid. Each piece becomes a patch.
struct GridPiece
{
  int Rank = 0;  ///< rank that has the grid
  int Grid = 0;  ///< index of the grid in the rank's grids
  GridType Type = GridType::Uniform;
  std::vector<int> Group;      ///< see InputGrid
  std::string Name;            ///< see InputGrid
  int IndexInGroup = 0;        ///< see InputGrid
  int Level = -1;              ///< -1: unknown
  int Number = -1;             ///< number of the patch in its level; -1: unknown
  bool Hides = false;          ///< true: finer levels hide the cells that they cover
  std::uint64_t FlatAxes = 0;  ///< see Level
  Box Cells;                   ///< cells of the piece, in the indices of the grid
  Box Whole;                   ///< cells of the whole grid
  /// Uniform grids: Origin is the position of the node with the indices (0, 0, 0).
  Double3 Origin{0, 0, 0}, Spacing{1, 1, 1};
  std::array<Axis, 3> Axes;  ///< rectilinear grids: axes of the whole grid
  bool IsPlane = false;      ///< curvilinear grids: true if the third coordinate of all nodes is 0
  MeshSize Mesh;             ///< meshes: sizes of the piece
  std::vector<ArrayDescription> Arrays;
};

/// Returns the box of the nodes of the cells in the box `cells` of a piece's grid.
Box NodesOf(const GridPiece& piece, const Box& cells);

/// Encodes pieces as bytes, which ranks can exchange.
std::vector<std::byte> EncodePieces(const std::vector<GridPiece>& pieces);
/// Decodes the result of EncodePieces(), and appends the pieces to `pieces`.
void DecodePieces(const std::string& bytes, std::vector<GridPiece>& pieces);

/// The key of a variable. Arrays of several pieces with the same key form one variable. The line break
/// distinguishes positions and mesh arrays from other arrays of the same name.
using ArrayKey = std::pair<std::string, Centering>;
inline ArrayKey KeyOf(const ArrayDescription& array)
{
  return {array.Name + (array.Positions || array.Role != MeshRole::Values ? "\n" : ""), array.Center};
}

/// The catalog of a step, and the relation between the catalog and the pieces.
struct StepCatalog
{
  Catalog Data;
  std::vector<ElementType> Types;      ///< by variable: type of the values
  std::vector<int> PieceOf;            ///< by patch: index of the piece
  std::map<ArrayKey, int> VariableOf;  ///< index of the variable in Data
};

/// Returns the catalog of all pieces. If all pieces have a level (of AMR data or of the output of PatchIO's
/// reader), the catalog has these levels. Otherwise, blocks of the same cell size form a level if flags show
/// that finer blocks hide coarser blocks, if blocks do not overlap, or if the tree has more than 64 blocks.
/// In all other cases, each block of the tree is a separate level. But a mesh always has one level. Uniform
/// blocks get indices on a common lattice; only rounding errors change the node positions.
///
/// Throws Error if a catalog cannot represent the pieces.
StepCatalog MakeStepCatalog(const std::vector<GridPiece>& pieces);

/// A grid of this rank, and the position of the grid in the tree.
struct InputGrid
{
  /// The indices on the path from the root of the tree to the block of the grid; the same on all ranks.
  std::vector<int> Group;
  std::string Name;      ///< names on the path to the block, joined by '/'; may be empty
  int IndexInGroup = 0;  ///< index of the grid in the block
  int Level = -1;        ///< level from AMR data, from the field data or from the name; -1: unknown
  bool IsAmr = false;    ///< true: finer levels hide the cells that they cover
  vtkDataSet* Grid = nullptr;
};

/// Returns the grids in `data` that have points. Throws Error if `data` contains other data than grids.
std::vector<InputGrid> InputGridsOf(vtkDataObject* data);

/// Returns the number in a name like "level 17"; -1 for other names.
int LevelInName(const std::string& name);

/// Returns the value of the array `name` in the field data if the array has one number, otherwise
/// `defaultValue`.
double NumberInFieldData(vtkDataObject* data, const char* name, double defaultValue);

}  // namespace patchio
