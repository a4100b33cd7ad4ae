// A writer of SAMRAI VisIt dumps ("VDR" 2.0), such as SAMRAI 4 writes, for linadv, measurements and tests.
// The writer shares no code with the reader in Core/Formats/SAMRAI.
//
// The writer collects the objects of a file in a draft before the write, so that tests can change parts of
// the draft.
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

/// A function that writes an object and the groups above the object. `file`: an open HDF5 file. `path`: path
/// of the object.
using DraftDataset = std::function<void(hid_t file, const std::string& path)>;
/// The objects of a file, by path.
using Hdf5Draft = std::map<std::string, DraftDataset>;

/// Returns the result of an HDF5 call. Throws Error if the call has failed.
hid_t Checked(hid_t result);
/// Returns a list of properties (H5P_LINK_CREATE) with which HDF5 makes the missing groups above a new
/// object.
hdf5::Handle IntermediateGroupLinks();
/// Writes a data set. `values`: values of the type `memoryType`; null: the data set has no values.
/// choose(creation) sets properties of H5P_DATASET_CREATE. Returns the open data set, to which attributes can
/// be added. Throws Error.
hdf5::Handle WriteDataset(hid_t file, const std::string& path, hid_t fileType, hid_t memoryType,
    const std::vector<hsize_t>& shape, const void* values,
    const std::function<void(hid_t creation)>& choose = {});

// Return functions that write data sets in the form of SAMRAI's database class: big-endian, with one
// dimension and an attribute for the type.
DraftDataset Ints(const std::vector<int>& values);
DraftDataset Floats(const std::vector<float>& values);
DraftDataset Doubles(const std::vector<double>& values);
DraftDataset Texts(const std::vector<std::string>& values);

// Return functions that write data sets in the form of SAMRAI's VisIt writer: in native byte order, with rows
// of three numbers.
DraftDataset NativeInts(const std::vector<int>& values);
DraftDataset NativeDoubles(const std::vector<double>& values);

/// A record of the patch map in the summary.
struct PatchMapDraft
{
  int Cluster, Processor, Level, Patch;  // SAMRAI's order in memory, which differs from the order in files
};
/// A record of the extents of patches in the summary: cells and positions of corners.
struct PatchExtentsDraft
{
  std::array<int, 3> Lower, Upper;
  std::array<double, 3> LowerCorner, UpperCorner;
};
/// A record of the range of a component on a patch in the summary.
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

/// Writes a file, and replaces an existing file. choose(creation, access) sets properties of H5P_FILE_CREATE
/// and H5P_FILE_ACCESS; by default, files have the oldest version of the format. Throws Error if the file
/// cannot be written.
///
/// If the environment variable SOURCE_DATE_EPOCH is set, the file contains no times of data sets, and dumps
/// have the time SOURCE_DATE_EPOCH, so that the bytes of the file are reproducible.
void WriteHdf5(const std::string& path, const Hdf5Draft& draft,
    const std::function<void(hid_t creation, hid_t access)>& choose = {});

// ---- dumps ----

/// A function that stores one component of a variable on a patch in `values`, which already has the right
/// length: one value per stored cell (or node), axis 0 fastest. `patch`: global number.
using ValueSource = std::function<void(int patch, int variable, int component, std::vector<double>& values)>;

/// The smallest and the largest value of one component on one patch. Ranks exchange objects of this type as
/// bytes.
struct ComponentMinMax
{
  int Patch;      ///< global number
  int Component;  ///< number among the components of all variables
  double Min, Max;
};

/// Returns the draft of the summary of a dump by `rankCount` ranks. `ranges`: ranges of the values;
/// components without a range get the range 0 to 1.
Hdf5Draft DraftSummary(const Catalog& catalog, int rankCount, const std::vector<ComponentMinMax>& ranges);

/// Returns the draft of the cluster file `file`, with the variables of Presence::Stored as 32-bit floats.
/// WriteHdf5() then calls `values` for each component, and adds the ranges of the unrounded values to
/// `ranges`. `ranges` may be null, and must exist until the file is written.
Hdf5Draft DraftCluster(
    const Catalog& catalog, int file, const ValueSource& values, std::vector<ComponentMinMax>* ranges);

/// Returns the path of the group of a patch in the patch's cluster file, with a slash at the end.
std::string PatchGroup(const Patch& patch);
/// Returns the path of a cluster file. `summary`: path of the summary file.
std::string ClusterPath(const std::string& summary, int file);

/// Writes a dump to directory/visit_dump.NNNNN: one cluster file per rank (also for ranks without patches)
/// and the summary. Adds a line to dumps.visit when the dump is complete. Throws Error on all ranks if a file
/// cannot be written. Collective: every rank of `ranks` calls it.
///
/// catalog: the same on all ranks. Dimension, Time, Step, Origin, Levels, Variables (without ghosts) and, of
///   the patches, Cells, Level, Number and Writer (the rank that has the values) are used. All patches have
///   all variables.
/// values: called for the patches of this rank only; must not communicate.
void WriteDump(Communicator& ranks, const std::string& directory, Catalog catalog, const ValueSource& values);

}  // namespace patchio::draft
