// What all ranks know of a piece of the input: all but its values.
#ifndef PieceForm_h
#define PieceForm_h

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

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

}  // namespace patchio

#endif
