// The contents of one time step of a data set in any format: levels, patches, variables, and which variable
// exists on which patch. Location.h describes where the bytes lie.
#pragma once

#include "Catalog/Box.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace patchio {

enum class Centering : std::uint8_t
{
  Cell,
  Node
};

enum class GridType : std::uint8_t
{
  Uniform,      ///< boxes of equal cells: position = Origin + index * Spacing
  Curvilinear,  ///< node positions are a variable, see Catalog::CoordinatesVariable
  Rectilinear,  ///< node positions per axis, see Catalog::Axes
  // The patches of meshes are lists of cells and nodes without a box of indices; see MeshSize and MeshRole.
  Unstructured,  ///< cells of any type, in one list
  Polygonal      ///< lists of vertices, lines, polygons and strips of triangles
};

/// Returns the name of a type of grid, such as "uniform".
const char* NameOf(GridType grid);

/// The presence of a variable on one patch.
enum class Presence : std::uint8_t
{
  Absent,  ///< the variable does not exist on the patch
  Stored,  ///< the values are in a file
  Zero,    ///< not stored because all values on the patch are 0
  One      ///< not stored because all values on the patch are 1
};

/// The purpose of an array of a mesh. Arrays of all roles but Values are read whenever the mesh is shown. An
/// array without entries on a patch is Absent there.
enum class MeshRole : std::uint8_t
{
  Values,        ///< data of cells or nodes; also the role of all variables of other grids
  Points,        ///< node positions, three components side by side
  Connectivity,  ///< per list of cells: the nodes of all cells, one cell after another, as indices into the
                 ///< nodes of the patch
  Offsets,       ///< per list of cells: index into the connectivity where each cell begins, and the end
  Types,         ///< VTK's cell types, one per cell of an unstructured grid
  Flags          ///< VTK's flags of ghost and hidden cells or nodes; data arrays, but always read
};

/// Greatest number of ghost layers of an array, per side.
constexpr int MostGhosts = 64;

/// An array that is defined on patches.
struct Variable
{
  std::string Name;
  Centering Center = Centering::Cell;
  int Components = 1;
  /// Number of ghost layers of the stored arrays on each side of each axis.
  Int3 Ghosts{0, 0, 0};
  std::string StoredName;      ///< name of the array in the files; only the format uses the name
  int Material = -1;           ///< for volume fractions in sparse form: number of the material; otherwise -1
  bool TimeInvariant = false;  ///< the values are the same in all steps of the file; see Catalog::StepsInFile
  /// True for the variable (with one component) that holds the positions of points: numbers of cells of
  /// Catalog::Lattice, from 1, axis 0 fastest. Such a variable is geometry, not data.
  bool Positions = false;
  /// Stored numbers from UndefinedFrom to UndefinedTo, and NaN, mark undefined values. In floating-point
  /// arrays, such numbers become NaN when PatchIO reads the array. If UndefinedFrom is NaN, every stored
  /// number is a value.
  double UndefinedFrom = std::numeric_limits<double>::quiet_NaN();
  double UndefinedTo = std::numeric_limits<double>::quiet_NaN();
  std::string LongName{};  ///< description and unit in the words of the file; may be empty
  /// True: one stored array holds the components side by side. False: one stored array per component.
  bool Interleaved = false;
  MeshRole Role = MeshRole::Values;
  int CellList = 0;  ///< for Connectivity, Offsets and Types: index of the list of cells; see MeshSize

  int StoredArrays() const { return this->Interleaved ? 1 : this->Components; }
  bool HasUndefined() const { return !std::isnan(this->UndefinedFrom); }
};

/// The relation of a level to the level before it.
enum class LevelRole : std::int32_t
{
  Refinement,  ///< refines the level before and hides the covered cells of that level; usually also the role
               ///< of level 0
  Separate,  ///< other boxes of the same domain. These boxes hide nothing and may overlap; patches are merged
             ///< only if they have the same Patch::Number
  Points  ///< points of Catalog::Lattice. A patch is a run of the list of points: its box has the indices of
          ///< the run along axis 0. The positions of the points are the variable with Variable::Positions
};

/// Returns the name of a role, such as "refinement".
const char* NameOf(LevelRole role);

/// One level of patches, usually a refinement level (see LevelRole). Level 0 is the coarsest level.
struct Level
{
  int FirstPatch = 0;   ///< global number of the level's first patch
  int PatchCount = 0;   ///< the level's patches are FirstPatch .. FirstPatch + PatchCount - 1
  Int3 Ratio{1, 1, 1};  ///< cells of this level per cell of the next coarser level, per axis; 1 on level 0
  LevelRole Role = LevelRole::Refinement;
  Double3 Spacing{1, 1, 1};    ///< cell size, uniform grids only
  std::uint64_t FlatAxes = 0;  ///< bit a is set if IsFlat(a)

  /// Returns whether the level has one layer of nodes along the axis, not a layer on each side of each cell.
  /// Boxes are then one cell wide along the axis.
  bool IsFlat(int axis) const { return (this->FlatAxes >> axis & 1) != 0; }
};

/// One patch. The global number of a patch is its index in Catalog::Patches.
struct Patch
{
  Box Cells;
  int Level = 0;
  int Number = 0;  ///< number within its level
  int Writer = 0;  ///< rank that wrote the patch
  int File = 0;    ///< number of the file that contains the patch; the format knows the file's name
};

/// The size of a patch of a mesh. The box of such a patch only counts its cells: the box begins at 0, its
/// width along axis 0 is the number of cells (1 if there are no cells), and its width along the other axes is
/// 1.
struct MeshSize
{
  static constexpr int MostLists = 4;
  std::int64_t Points = 0;
  /// Cells in each list. Unstructured grids use the first list only. Polygonal grids have vertices, lines,
  /// polygons and strips; cell data follow that order.
  std::array<std::int64_t, MostLists> Cells{};
  std::array<std::int64_t, MostLists> Connectivity{};  ///< node indices of the cells in each list

  std::int64_t AllCells() const { return this->Cells[0] + this->Cells[1] + this->Cells[2] + this->Cells[3]; }
};

/// Node positions along one axis of a rectilinear grid.
struct Axis
{
  int First = 0;                  ///< index of the first node
  std::vector<double> Positions;  ///< strictly increasing
  /// Quantity that the positions stand for, such as pressure: one value per position. Empty if the positions
  /// are the quantity.
  std::vector<double> Labels;
};

/// The description of one time step, without field data. One rank reads the catalog, and the other ranks
/// receive it through Serialize(). If a file holds several steps, one catalog describes all of them;
/// StepInFile (with Time and Step) selects one.
class Catalog
{
public:
  std::string Path;  ///< the file that describes this time step
  int Dimension = 3;
  GridType Grid = GridType::Uniform;
  double Time = 0;
  std::int64_t Step = 0;
  int StepInFile = 0;   ///< index of this step in its file, see TimeStep::StepInFile
  int StepsInFile = 1;  ///< number of steps in the file that this catalog describes
  /// True if each step of the file has its own patches. The catalog then has the patches of StepInFile only,
  /// Format::ReadStep() reads the patches of other steps, and no variable is TimeInvariant.
  bool PatchesChange = false;
  std::string Date;          ///< date of the step as text for the user; empty if Time says enough
  Double3 Origin{0, 0, 0};   ///< position of the lower corner of cell (0, 0, 0), uniform grids only
  std::array<Axis, 3> Axes;  ///< rectilinear grids only; valid for all levels, whose ratios are 1
  bool Geographic = false;   ///< axes 0 and 1 are longitude and latitude, in degrees
  std::vector<Level> Levels;
  std::vector<Patch> Patches;
  std::vector<MeshSize> Meshes;  ///< one per patch of a mesh; empty for other grids
  std::vector<Variable> Variables;
  std::vector<std::string> LevelNames;  ///< one per level, or empty if levels have numbers only
  Box Lattice;                          ///< box of cells that contains the points of all levels of points
  /// Index of the variable with the node positions of a curvilinear grid; -1 for other grids.
  int CoordinatesVariable = -1;
  /// Children of patch p on the next finer level, as recorded by the writer: Children[ChildBegin[p]] ..
  /// Children[ChildBegin[p+1]-1]. Both lists are empty if the writer recorded no children.
  std::vector<int> ChildBegin;
  std::vector<int> Children;
  /// Data that the format needs again in Locate(). Only the format knows the layout.
  std::vector<std::byte> FormatData;

  /// Allocates the presence table and sets all entries to Absent. Patches and Variables must be filled.
  void ResetPresence() { this->PresenceTable.assign(this->Variables.size() * this->Patches.size(), 0); }
  Presence PresenceOf(int variable, int patch) const
  {
    return static_cast<Presence>(this->PresenceTable[this->PresenceIndex(variable, patch)]);
  }
  void SetPresence(int variable, int patch, Presence presence)
  {
    this->PresenceTable[this->PresenceIndex(variable, patch)] = static_cast<std::uint8_t>(presence);
  }

  bool IsMesh() const { return this->Grid == GridType::Unstructured || this->Grid == GridType::Polygonal; }
  /// Returns whether the boxes of patches determine the patches' positions, so that patches can be merged and
  /// can hide each other.
  bool KnowsPositions() const
  {
    return this->Grid == GridType::Uniform || this->Grid == GridType::Rectilinear;
  }

  /// Returns the index of the variable with this name, or -1 if no variable has the name.
  int FindVariable(const std::string& name) const;
  /// Returns the index of the variable with this role (not Values or Flags) and list of cells, or -1 if there
  /// is no such variable.
  int FindMeshArray(MeshRole role, int cellList = 0) const;
  /// Returns whether a variable belongs to the grid, not to the data.
  bool IsGeometry(int variable) const;
  LevelRole RoleOf(int level) const { return this->Levels[level].Role; }
  /// Returns the index of the variable with the positions of a level of points, or -1 if the level has no
  /// patches or no such variable.
  int PositionsVariable(int level) const;
  /// Returns the name of a level, or a text such as "level 2" if levels have no names.
  std::string NameOfLevel(int level) const;

  /// Returns the number of nodes minus the number of cells of a box along an axis: 0 or 1; 0 for meshes.
  int NodesBeyondCells(int level, int axis) const
  {
    return axis < this->Dimension && !this->IsMesh() && !this->Levels[level].IsFlat(axis) ? 1 : 0;
  }
  /// Returns the box of the nodes of `cells`.
  Box NodesOf(int level, const Box& cells) const
  {
    Box nodes = cells;
    for (int axis = 0; axis < 3; ++axis) {
      nodes.Upper[axis] += this->NodesBeyondCells(level, axis);
    }
    return nodes;
  }

  /// Returns the number of values per axis of an array of this centering on the patch, including `ghosts`
  /// layers. The number is 1 for axis 2 of a two-dimensional patch and for axes 1 and 2 of a mesh.
  std::array<std::int64_t, 3> ArrayDims(int patch, Centering center, const Int3& ghosts) const;
  /// Returns the number of values per axis of an array of this variable, which may be the connectivity or the
  /// offsets of a mesh.
  std::array<std::int64_t, 3> ArrayDims(int patch, const Variable& variable, const Int3& ghosts) const;
  /// Returns the number of stored values per component, including ghost layers.
  std::int64_t StoredTuples(int variable, int patch) const;
  /// Returns the number of values in each stored array, see Variable::StoredArrays().
  std::int64_t StoredValues(int variable, int patch) const
  {
    const Variable& info = this->Variables[variable];
    return this->StoredTuples(variable, patch) * (info.Interleaved ? info.Components : 1);
  }

  /// Returns the catalog as bytes, without Date.
  std::vector<std::byte> Serialize() const;
  /// Returns the catalog from bytes that Serialize() returned. Throws Error if the bytes are truncated or the
  /// presence table has a wrong size. CheckCatalog() checks all other properties.
  static Catalog Deserialize(const std::vector<std::byte>& bytes)
  {
    return Deserialize(bytes.data(), bytes.size());
  }
  static Catalog Deserialize(const std::byte* data, std::size_t size);

private:
  std::size_t PresenceIndex(int variable, int patch) const
  {
    return static_cast<std::size_t>(variable) * this->Patches.size() + patch;
  }

  std::vector<std::uint8_t> PresenceTable;  ///< variables x patches
};

/// An axis-aligned box in space, including its faces. The default, with Lower above Upper, is empty.
struct Bounds
{
  static constexpr double Infinity = std::numeric_limits<double>::infinity();
  Double3 Lower{Infinity, Infinity, Infinity};
  Double3 Upper{-Infinity, -Infinity, -Infinity};

  void Add(const Bounds& other);
};

/// Returns the position of a node of a level along an axis below Catalog::Dimension, in the units of the
/// data. On rectilinear grids, a node beyond the ends of the axis has the position of the nearest end.
/// Catalog::KnowsPositions() must be true.
double PositionOfNode(const Catalog& catalog, int level, int axis, std::int64_t node);

/// Returns the bounds of the patches of a level without ghost layers; for a level of points, the
/// bounds of Catalog::Lattice. The bounds along axes from Catalog::Dimension on are 0. Returns nothing if the
/// level has no patches or its positions are stored in a variable (curvilinear grids, meshes).
std::optional<Bounds> BoundsOfLevel(const Catalog& catalog, int level);
/// Returns the bounds of all levels together, or nothing if no level has bounds.
std::optional<Bounds> BoundsOf(const Catalog& catalog);

}  // namespace patchio
