// A writer of SAMRAI VisIt dumps ("VDR" 2.0) like those of SAMRAI 4, for linadv, measurements and tests. This
// writer is independent of the reader in Core/Formats/SAMRAI, and shares no code with it.
//
// The objects of a file are collected in a draft before the file is written, so that tests can change parts
// of the draft.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Hdf5/Library.h"

#include <hdf5.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace patchio::draft {

// ---- HDF5 files ----

/// A function that writes one object at a path of an open file, and the groups above the object.
using DraftDataset = std::function<void(hid_t file, const std::string& path)>;
/// The objects of a file by their paths.
using Hdf5Draft = std::map<std::string, DraftDataset>;

/// Throws Error if an HDF5 call has failed; otherwise returns its result.
hid_t Checked(hid_t result);
/// Returns properties of H5P_LINK_CREATE with which HDF5 makes the missing groups above a new object.
hdf5::Handle MakeGroupsOnTheWay();
/// Writes a data set. `values`: null for a data set without values. `choose` sets properties of
/// H5P_DATASET_CREATE. Returns the open data set, to which attributes can be added.
hdf5::Handle WriteDataset(hid_t file, const std::string& path, hid_t fileType, hid_t memoryType,
    const std::vector<hsize_t>& shape, const void* values,
    const std::function<void(hid_t creation)>& choose = {});

// These functions make data sets of SAMRAI's database class: big endian, one dimension, a type attribute.
DraftDataset Ints(const std::vector<int>& values);
DraftDataset Floats(const std::vector<float>& values);
DraftDataset Doubles(const std::vector<double>& values);
DraftDataset Texts(const std::vector<std::string>& values);

// These functions make data sets of SAMRAI's VisIt writer: native byte order, rows of three numbers.
DraftDataset NativeInts(const std::vector<int>& values);
DraftDataset NativeDoubles(const std::vector<double>& values);

struct PatchMapDraft
{
  int Cluster, Processor, Level, Patch;  // SAMRAI's order in memory; the order in files differs
};
struct PatchExtentsDraft
{
  std::array<int, 3> Lower, Upper;
  std::array<double, 3> LowerCorner, UpperCorner;
};
struct MinMaxDraft
{
  double Min = 0, Max = 1;
  int MaterialFlag = 2, SpeciesFlag = 2;
  char Defined = 1;
  char Padding[7] = {};  ///< zeros, so that files do not contain uninitialized bytes
};
/// The children or the parents of one patch: a range of an array of global patch numbers.
struct PointerDraft
{
  int Offset, Count;
};
DraftDataset Records(const std::vector<PatchMapDraft>& values);
DraftDataset Records(const std::vector<PatchExtentsDraft>& values);
DraftDataset Records(const std::vector<MinMaxDraft>& values);
DraftDataset Records(const std::vector<PointerDraft>& values, const char* countName = "number_children");

/// Writes the file, and replaces an existing one. `choose` sets properties of H5P_FILE_CREATE and
/// H5P_FILE_ACCESS; by default, files have the oldest version of the format. Throws Error if the file cannot
/// be written.
///
/// If the environment variable SOURCE_DATE_EPOCH is set, the file has that time instead of the present time,
/// so that its bytes are reproducible.
void WriteHdf5(const std::string& path, const Hdf5Draft& draft,
    const std::function<void(hid_t creation, hid_t access)>& choose = {});

// ---- dumps ----

/// A function that stores one component of a variable on a patch in `values`, which already has the right
/// length: one value per stored cell (or node), axis 0 fastest. `patch`: global number.
using PatchValues = std::function<void(int patch, int variable, int component, std::vector<double>& values)>;

/// The smallest and largest value of one component on one patch. Ranks send such objects as bytes.
struct ComponentRange
{
  int Patch;      ///< global number
  int Component;  ///< number among the components of all variables
  double Min, Max;
};

/// Returns the draft of the summary of a dump by `ranks` ranks. Uses all members of the catalog except Path
/// and materials.
Hdf5Draft DraftSummary(const Catalog& catalog, int ranks, const std::vector<ComponentRange>& ranges);

/// Returns the draft of a cluster file with the variables that are Stored, as 32-bit floats. Writing the
/// draft calls `values`, and adds the ranges of the unrounded values to `ranges`, which must exist until
/// then. `ranges` may be null.
Hdf5Draft DraftCluster(
    const Catalog& catalog, int file, const PatchValues& values, std::vector<ComponentRange>* ranges);

/// Returns the group of a patch in its cluster file, with a slash at the end.
std::string PatchGroup(const Patch& patch);
std::string ClusterPath(const std::string& summary, int file);

/// Writes a dump to directory/visit_dump.NNNNN: one cluster file per rank (also for ranks without patches)
/// and the summary. Adds a line to dumps.visit when the dump is complete. Throws Error on all ranks if a file
/// cannot be written. Collective: every rank of `comm` calls it.
///
/// catalog: the same on all ranks. Dimension, Time, Step, Origin, Levels, Variables (without ghosts) and, of
///   the patches, Cells, Level, Number and Writer (the rank that has the values) are used. All patches have
///   all variables.
/// values: called for the patches of this rank only; must not communicate.
void WriteDump(Communicator& comm, const std::string& directory, Catalog catalog, const PatchValues& values);

}  // namespace patchio::draft
