// The layout of values in the data sets of a step: pure functions, used by the writer and the reader.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Container/StepRecord.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::container {

/// Returns the global patch number of each row. Rows are in the order of the values in the files: sorted by
/// level, by file, and then along a Morton curve through the lower corners of the patches. Neighbours in
/// space are often written by one rank and read together; the curve makes most of them neighbours in the
/// file.
std::vector<int> RowsOf(const Catalog& catalog);

/// The VTKHDF type of a step's file, for other readers.
enum class FileProfile
{
  Image,  ///< ImageData: one box with values at its nodes only
  Amr,    ///< OverlappingAMR: levels of boxes of cells; each level refines the level before
  Mesh,   ///< UnstructuredGrid or PolyData: partitions that all have cells in the same lists
  Custom  ///< PatchIO's own groups: VTKHDF has no type for the step, or the step has several files
};
/// Returns the profile of a step's files. `files`: number of files of the step.
FileProfile ProfileOf(const Catalog& catalog, int files);

/// Returns the group with all data of a level. `profile`: profile of the file, or Custom for groups that
/// other readers do not see.
std::string GroupOfLevel(FileProfile profile, int level);
/// Returns the group of a list of cells within the group of a mesh, such as "/Polygons"; empty for an
/// unstructured grid.
std::string GroupOfList(const Catalog& catalog, int list);

/// Returns the data sets of a step, without their offsets. In files of a VTKHDF type, the groups of VTKHDF
/// have the variables that exist on all patches of all levels, and PatchIO's own groups have the other
/// variables, which VTKHDF does not support.
std::vector<DataSet> DataSetsOf(const Catalog& catalog, int files);

/// Returns the shape of a data set in the HDF5 file, slowest axis first; components, if there are several,
/// are the last axis.
std::vector<std::uint64_t> ShapeOf(const Catalog& catalog, int files, const DataSet& set);

/// Returns the shape of a compressed data set's chunks. Chunks are cut along one axis only, so that their
/// values are contiguous.
///
/// A reader of a patch must read all chunks that overlap the patch. If the patches of the data set have equal
/// sizes, a chunk holds one patch, several small patches, or an even part of a large patch (65,536 tuples if
/// the patch cannot be divided evenly). Otherwise chunks have half the size of an average patch, within 1024
/// to 65,536 tuples, so that a read of one patch decodes about 1.5 times the values of the patch.
std::vector<std::uint64_t> ChunkShapeOf(const Catalog& catalog, int files, const DataSet& set);
/// Returns the number of chunks of a compressed data set.
std::uint64_t ChunkCountOf(const Catalog& catalog, int files, const DataSet& set);

/// Returns, by patch, the number of values before the row of the patch in the variable's data set. A patch
/// without the variable takes no space.
std::vector<std::uint64_t> ValuesBefore(const Catalog& catalog, const std::vector<int>& rows, int variable);

/// Returns the number of stored values of a variable on a patch, including all components.
inline std::uint64_t ValuesOf(const Catalog& catalog, int variable, int patch)
{
  return catalog.PresenceOf(variable, patch) != Presence::Stored
             ? 0
             : static_cast<std::uint64_t>(catalog.StoredTuples(variable, patch)) *
                   catalog.Variables[variable].Components;
}

// The tables of a step. Tables of patches have one entry per row. Tables of variables and patches have the
// rows of variable 0, then those of variable 1, and so on.
namespace tables {
constexpr const char* Boxes = "boxes";      ///< int32: lower and upper index of each axis, axis by axis
constexpr const char* Numbers = "numbers";  ///< int32: number of the patch within its level
/// int32, optional: numbers of patches for the user, instead of `Numbers`. On separate levels, patches with
/// the same number are parts of one box.
constexpr const char* Marks = "marks";
constexpr const char* Present = "present";    ///< uint8, per variable and patch: 1 if there are values
constexpr const char* Least = "least";        ///< float64, per variable and patch: least of all components
constexpr const char* Greatest = "greatest";  ///< float64, per variable and patch: greatest of all components
constexpr const char* Checksums =
    "checksums";  ///< uint32, per variable and patch: CRC-32 of the values as stored
/// int64, 9 per patch of a mesh: numbers of points, of cells in each of 4 lists, of connectivity entries of
/// each list.
constexpr const char* Meshes = "meshes";
/// Names of the float64 tables of an axis of a rectilinear grid: Axis::Positions, and Axis::Labels if the
/// axis has labels.
std::string Positions(int axis);
std::string Labels(int axis);
}  // namespace tables

}  // namespace patchio::container
