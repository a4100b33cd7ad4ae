// The tree of the input to be written, and the descriptions of its pieces.
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

/// Describes an array that some pieces have.
struct ArrayForm
{
  std::string Name;
  Centering Center = Centering::Cell;
  int Components = 1;
  ElementType Type = ElementType::Float64;
  bool HidesUndefined = false;  ///< NaN means "no value"; see Variable::UndefinedFrom
  /// All values are NaN, as in arrays that the reader adds to blocks without the variable. The writer skips
  /// such an array if other pieces have values.
  bool IsBlank = false;
  bool Positions = false;  ///< node positions of a curvilinear grid
  MeshRole Role = MeshRole::Values;
  int CellList = 0;  ///< see Variable::CellList
};

/// Describes a grid of the input, or a box cut out of a grid, which becomes a patch.
struct PieceForm
{
  int Rank = 0;
  int Grid = 0;  ///< index into the rank's grids
  GridKind Kind = GridKind::Uniform;
  std::vector<int> Group;  ///< see InputGrid
  std::string Name;
  int Piece = 0;
  int Level = -1;                             ///< -1: unknown
  int Number = -1;                            ///< number of the patch within its level; -1: unknown
  bool Hides = false;                         ///< finer levels hide the cells that they cover
  std::uint64_t FlatAxes = 0;                 ///< see Level
  Box Cells;                                  ///< cells of the piece, in the grid's own indices
  Box Whole;                                  ///< cells of the whole grid
  Double3 Origin{0, 0, 0}, Spacing{1, 1, 1};  ///< uniform grids: Origin is the position of index (0,0,0)
  std::array<Axis, 3> Axes;                   ///< rectilinear grids: axes of the whole grid
  bool IsPlane = false;                       ///< curvilinear grids: all nodes have the third coordinate 0
  MeshSize Mesh;                              ///< sizes of a mesh
  std::vector<ArrayForm> Arrays;
};

/// Returns the nodes of these cells of the piece's grid.
Box NodesOf(const PieceForm& piece, const Box& cells);

/// Returns the pieces as bytes, for other ranks.
std::vector<std::byte> BytesOf(const std::vector<PieceForm>& pieces);
/// Appends the pieces that BytesOf() has turned into bytes.
void TakePieces(const std::string& bytes, std::vector<PieceForm>& pieces);

/// The key of a variable. Arrays of several pieces with the same key are one variable.
using ArrayKey = std::pair<std::string, Centering>;
inline ArrayKey KeyOf(const ArrayForm& array)
{
  return {array.Name + (array.Positions || array.Role != MeshRole::Values ? "\n" : ""), array.Center};
}

struct StepCatalog
{
  Catalog Data;
  std::vector<ElementType> Types;  ///< types of the variables
  std::vector<int> PieceOf;        ///< by patch: index into the pieces
  std::map<ArrayKey, int> VariableOf;
};

/// Returns the catalog of all pieces. Levels are those of an AMR data set or of PatchIO's reader. Otherwise
/// blocks of one cell size are a level, if flags say that finer blocks hide coarser ones, if blocks do not
/// overlap, or if there are many blocks. In all other cases each block of the tree is a separate level.
/// Uniform blocks get indices on one common lattice; node positions do not change.
///
/// Throws Error if the pieces do not fit into one catalog.
StepCatalog MakeStepCatalog(const std::vector<PieceForm>& pieces);

/// A grid of this rank, and its position in the tree.
struct InputGrid
{
  /// The indices on the path from the root to the block that the grid belongs to; the same on all ranks.
  std::vector<int> Group;
  std::string Name;    ///< names on the path to that block, joined by '/'; may be empty
  int Piece = 0;       ///< number of the grid in its group
  int Level = -1;      ///< from an AMR data set, the field data or the name; -1: unknown
  bool IsAmr = false;  ///< finer levels hide the cells that they cover
  vtkDataSet* Grid = nullptr;
};

/// Returns the grids with points. Throws Error if the data contain anything but grids.
std::vector<InputGrid> InputGridsOf(vtkDataObject* data);

/// Returns the number in a name like "level 17"; -1 for other names.
int LevelInName(const std::string& name);

/// Returns the value of an array with one number in the field data; `otherwise` if there is no such array.
double NumberInFieldData(vtkDataObject* data, const char* name, double otherwise);

}  // namespace patchio
