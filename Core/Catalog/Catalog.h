// What one time step of a data set holds, whatever its format: levels, patches, variables, and which
// variable is present on which patch. Where the bytes lie is in Extent.h.
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

enum class GridKind : std::uint8_t
{
  Uniform,      ///< boxes of equal cells: position = Origin + index * Spacing
  Curvilinear,  ///< node positions are a variable, see Catalog::CoordinatesVariable
  Rectilinear,  ///< node positions per axis, see Catalog::Axes
  // Meshes: patches are lists of cells and nodes, without a box; see MeshSize and MeshRole.
  Unstructured,  ///< cells of any type, in one list
  Polygonal      ///< lists of vertices, lines, polygons and strips of triangles
};

/// "uniform" and so on.
const char* NameOf(GridKind grid);

/// How a variable exists on one patch.
enum class Presence : std::uint8_t
{
  Absent,  ///< not there
  Stored,  ///< has bytes in a file
  Zero,    ///< not stored because it is 0 everywhere on the patch
  One      ///< not stored because it is 1 everywhere on the patch
};

/// What an array of a mesh is for. All but Values are read whenever the mesh is shown. An array without
/// entries on a patch is Absent there.
enum class MeshRole : std::uint8_t
{
  Values,        ///< data of cells or nodes; all variables of other grids as well
  Points,        ///< node positions, three components side by side
  Connectivity,  ///< of a list of cells: the nodes of one cell after those of another, counted within the
                 ///< patch
  Offsets,       ///< of a list of cells: where each one's nodes begin in the connectivity, then the end
  Types,         ///< VTK's numbers of cell types, one a cell of an unstructured grid
  Flags          ///< VTK's flags of cells or nodes that are ghosts or hidden: data, but always wanted
};

/// Layers beyond a patch that arrays may have.
constexpr int MostGhosts = 64;

/// An array on patches.
struct Variable
{
  std::string Name;
  Centering Center = Centering::Cell;
  int Components = 1;
  /// Layers beyond the patch box that the stored arrays carry on both sides of each axis.
  Int3 Ghosts{0, 0, 0};
  std::string StoredName;  ///< by which the format finds it in its files; only the format looks at it
  int Material = -1;  ///< volume fractions in sparse form: number of the material; -1 for all other variables
  bool TimeInvariant = false;  ///< the same values at all steps of its file; see Catalog::StepsInFile
  /// One component: where the points of a list lie, as numbers of cells of Catalog::Lattice, from 1, axis 0
  /// fastest. No data by itself.
  bool Positions = false;
  /// Stored numbers from UndefinedFrom to UndefinedTo stand for no value, and so does NaN;
  /// floating-point ones become NaN when they are read. NaN here: every stored number is a value.
  double UndefinedFrom = std::numeric_limits<double>::quiet_NaN();
  double UndefinedTo = std::numeric_limits<double>::quiet_NaN();
  std::string LongName{};  ///< what it is and its unit, in the words of the file; empty where it does not say
  /// The components of a value are stored side by side in one array, not each in an array of its own.
  bool Interleaved = false;
  MeshRole Role = MeshRole::Values;
  int CellList = 0;  ///< Connectivity, Offsets, Types: of which list; see MeshSize

  int StoredArrays() const { return this->Interleaved ? 1 : this->Components; }
  bool HasUndefined() const { return !std::isnan(this->UndefinedFrom); }
};

/// What a level is to the one before it.
enum class LevelRole : std::int32_t
{
  Refinement,  ///< finer, and hides what it covers; level 0 too
  Separate,  ///< boxes of the same domain, beside the level before: hides nothing, and its patches, which may
             ///< overlap, are merged only with those of the same Patch::Number
  Points     ///< lists of points of Catalog::Lattice, beside the level before: a patch is a run of the list,
             ///< counted by axis 0 of its box; a variable of it is Variable::Positions
};

/// "refinement" and so on.
const char* NameOf(LevelRole role);

/// One refinement level. Level 0 is the coarsest.
struct Level
{
  int FirstPatch = 0;   ///< global number of its first patch
  int PatchCount = 0;   ///< its patches are FirstPatch .. FirstPatch + PatchCount - 1
  Int3 Ratio{1, 1, 1};  ///< cells of this level in one of the next coarser, per axis; 1 on level 0
  LevelRole Role = LevelRole::Refinement;
  Double3 Spacing{1, 1, 1};    ///< cell size, uniform grids only
  std::uint64_t FlatAxes = 0;  ///< bit a set: see IsFlat(a)

  /// One layer of nodes along this axis, not two around each cell; boxes are one cell wide there.
  bool IsFlat(int axis) const { return (this->FlatAxes >> axis & 1) != 0; }
};

/// One patch; its index in Catalog::Patches is its global number.
struct Patch
{
  Box Cells;
  int Level = 0;
  int Number = 0;  ///< number within its level
  int Writer = 0;  ///< rank that wrote it
  int File = 0;    ///< number of the file that holds it; the format knows the name
};

/// How much a patch of a mesh has. Its box only counts: it begins at 0 and is as long on axis 0 as there are
/// cells, or 1 where there are none; on the other axes it is one cell wide.
struct MeshSize
{
  static constexpr int MostLists = 4;
  std::int64_t Points = 0;
  /// Cells in each list. Unstructured: the first one only. Polygonal: vertices, lines, polygons, strips;
  /// data of cells follow that order.
  std::array<std::int64_t, MostLists> Cells{};
  std::array<std::int64_t, MostLists> Connectivity{};

  std::int64_t AllCells() const { return this->Cells[0] + this->Cells[1] + this->Cells[2] + this->Cells[3]; }
};

/// Node positions along one axis of a rectilinear grid.
struct Axis
{
  int First = 0;                  ///< index of the first node
  std::vector<double> Positions;  ///< strictly increasing
  /// What the positions stand for, such as pressures; one a position, or empty where that is the same.
  std::vector<double> Labels;
};

/// Everything known about one time step without touching field data. A plain value: one rank reads it,
/// the others get it through Serialize(). Where a file holds several steps, one catalog describes all of
/// them, and StepInFile (with Time and Step) says which is meant.
class Catalog
{
public:
  std::string Path;  ///< the file that describes this time step
  int Dimension = 3;
  GridKind Grid = GridKind::Uniform;
  double Time = 0;
  std::int64_t Step = 0;
  int StepInFile = 0;   ///< see TimeStep::InFile
  int StepsInFile = 1;  ///< steps that this catalog describes
  /// Each step of the file has patches of its own; here are those of StepInFile only, and those of others
  /// come from Format::ReadStep(). No variable is TimeInvariant then.
  bool PatchesChange = false;
  std::string Date;          ///< of the step, as people write it; empty where Time is enough
  Double3 Origin{0, 0, 0};   ///< position of cell index (0,0,0)'s lower corner, uniform grids only
  std::array<Axis, 3> Axes;  ///< rectilinear grids only; for all levels, whose ratios are 1
  bool Geographic = false;   ///< axes 0 and 1 are longitude and latitude, in degrees
  std::vector<Level> Levels;
  std::vector<Patch> Patches;
  std::vector<MeshSize> Meshes;  ///< one a patch of a mesh; empty on other grids
  std::vector<Variable> Variables;
  std::vector<std::string> LevelNames;  ///< one a level; empty: levels have no names but their numbers
  Box Lattice;                   ///< where there are levels of points: the box that their points are cells of
  int CoordinatesVariable = -1;  ///< node positions of a curvilinear grid; -1 for uniform grids
  /// Children of patch p on the next finer level, as the writer recorded them:
  /// Children[ChildBegin[p]] .. Children[ChildBegin[p+1]-1]. Both empty when the writer recorded none.
  std::vector<int> ChildBegin;
  std::vector<int> Children;
  /// What the format wants to know again in Locate(), in its own words; only the format looks at it.
  std::vector<std::byte> FormatData;

  /// Allocates the presence table, all Absent. Patches and Variables must be filled.
  void ResetPresence() { this->PresenceTable.assign(this->Variables.size() * this->Patches.size(), 0); }
  Presence PresenceOf(int variable, int patch) const
  {
    return static_cast<Presence>(this->PresenceTable[this->PresenceIndex(variable, patch)]);
  }
  void SetPresence(int variable, int patch, Presence presence)
  {
    this->PresenceTable[this->PresenceIndex(variable, patch)] = static_cast<std::uint8_t>(presence);
  }

  bool IsMesh() const { return this->Grid == GridKind::Unstructured || this->Grid == GridKind::Polygonal; }
  /// Whether the boxes of patches say where these lie, so that patches can be merged and hide each other.
  bool HasPlacedBoxes() const
  {
    return this->Grid == GridKind::Uniform || this->Grid == GridKind::Rectilinear;
  }

  /// Index of a variable by name, -1 when there is none.
  int FindVariable(const std::string& name) const;
  /// Index of the variable of that role, which is not Values or Flags; -1 when there is none.
  int FindMeshArray(MeshRole role, int cellList = 0) const;
  /// Whether a variable is part of the grid, not of the data.
  bool IsGeometry(int variable) const;
  LevelRole RoleOf(int level) const { return this->Levels[level].Role; }
  /// The variable that says where the points of a level of points lie, -1 when there is none.
  int PositionsOf(int level) const;
  /// "level 2", or the level's name.
  std::string NameOfLevel(int level) const;

  /// How many more nodes than cells a patch of this level has along an axis: 0 or 1.
  int NodesBeyondCells(int level, int axis) const
  {
    return axis < this->Dimension && !this->IsMesh() && !this->Levels[level].IsFlat(axis) ? 1 : 0;
  }
  /// The nodes of cells of this level.
  Box NodesOf(int level, const Box& cells) const
  {
    Box nodes = cells;
    for (int axis = 0; axis < 3; ++axis) {
      nodes.Upper[axis] += this->NodesBeyondCells(level, axis);
    }
    return nodes;
  }

  /// Values per axis of an array of this centering with `ghosts` layers on the patch. In two dimensions the
  /// third is 1, and on meshes the second, too.
  std::array<std::int64_t, 3> ArrayDims(int patch, Centering center, const Int3& ghosts) const;
  /// The same for any variable, also the lists of cells of a mesh.
  std::array<std::int64_t, 3> ArrayDims(int patch, const Variable& variable, const Int3& ghosts) const;
  /// Values per component as stored, ghosts included.
  std::int64_t StoredTuples(int variable, int patch) const;
  /// Values of each of the Variable::StoredArrays().
  std::int64_t StoredValues(int variable, int patch) const
  {
    const Variable& info = this->Variables[variable];
    return this->StoredTuples(variable, patch) * (info.Interleaved ? info.Components : 1);
  }

  std::vector<std::byte> Serialize() const;
  /// Throws Error when the bytes are not those of a catalog.
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

}  // namespace patchio
