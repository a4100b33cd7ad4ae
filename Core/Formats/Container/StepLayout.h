// Which values lie where in the data sets of a step: pure functions, for the writer and the reader alike.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Container/StepRecord.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::container {

/// The patches of a step in the order in which their values lie: by level, by file, and then along a Morton
/// curve through their lower corners, so that neighbours in space, which one rank writes and a region needs
/// together, are mostly neighbours in the file. One global patch number a row.
std::vector<int> RowsOf(const Catalog& catalog);

/// What other readers of VTKHDF files will make of a file of the step.
enum class FileProfile
{
  Image,  ///< ImageData: one box with values at its nodes alone
  Amr,    ///< OverlappingAMR: levels of boxes of cells, each finer than the one before
  Mesh,   ///< UnstructuredGrid or PolyData: partitions that all have cells in the same lists
  Own     ///< nothing: VTKHDF has no type for it, or there are several files
};
FileProfile ProfileOf(const Catalog& catalog, int files);

/// The group that holds all of a level; `profile` of the file, Own for what others cannot read.
std::string GroupOfLevel(FileProfile profile, int level);
/// The group of a list of cells in that of a mesh: "/Polygons" and so on; empty for an unstructured grid.
std::string GroupOfList(const Catalog& catalog, int list);

/// The data sets of a step whose values are of these types, without their places. Those that exist on all
/// patches of all levels are where other readers of VTKHDF files look for them; the others, which such
/// readers would not understand, are in groups of PatchIO's own.
std::vector<DataSet> DataSetsOf(const Catalog& catalog, int files);

/// The shape of a data set in the HDF5 file, slowest axis first; components, where there are several, come
/// last.
std::vector<std::uint64_t> ShapeOf(const Catalog& catalog, int files, const DataSet& set);

/// The shape of its chunks where it is compressed. They are cut along one axis only, so that the values of a
/// chunk follow each other.
///
/// A reader of a patch reads all chunks that have a part of it. So where the patches of a level are of one
/// size, no patch has a part of a chunk only: a chunk has one of them, several small ones, or an even part of
/// a large one. Else chunks are half as large as a patch is on average, which costs about half as many values
/// more.
std::vector<std::uint64_t> ChunkShapeOf(const Catalog& catalog, int files, const DataSet& set);
std::uint64_t ChunksOf(const Catalog& catalog, int files, const DataSet& set);

/// Where the rows of a variable begin in the data sets that they lie in: by patch, in values. A patch without
/// the variable takes no room.
std::vector<std::uint64_t> ValuesBefore(const Catalog& catalog, const std::vector<int>& rows, int variable);

/// Values of a variable on a patch, all components.
inline std::uint64_t ValuesOf(const Catalog& catalog, int variable, int patch)
{
  return catalog.PresenceOf(variable, patch) != Presence::Stored
             ? 0
             : static_cast<std::uint64_t>(catalog.StoredTuples(variable, patch)) *
                   catalog.Variables[variable].Components;
}

// The tables. Those of patches have an entry a row, those of variables and patches (which say more of each
// variable) the rows of variable 0, then those of variable 1, and so on.
namespace tables {
constexpr const char* Boxes = "boxes";      ///< int32: lower and upper index of axis 0, of axis 1, of axis 2
constexpr const char* Numbers = "numbers";  ///< int32: number of the patch within its level
/// int32, where there is such a table: numbers by which patches are called, else those above. On separate
/// levels those with the same are one box in pieces.
constexpr const char* Marks = "marks";
constexpr const char* Present = "present";    ///< uint8, a variable and patch: 1 where it has values there
constexpr const char* Least = "least";        ///< float64, a variable and patch: of all components
constexpr const char* Greatest = "greatest";  ///< the same
constexpr const char* Checksums =
    "checksums";  ///< uint32, a variable and patch: CRC-32 of its values as stored
/// int64, 9 a patch of a mesh: points; cells of each of 4 lists; entries in the connectivity of each.
constexpr const char* Meshes = "meshes";
/// float64: positions of the nodes along an axis of a rectilinear grid, and what these stand for.
std::string Positions(int axis);
std::string Labels(int axis);
}  // namespace tables

}  // namespace patchio::container
