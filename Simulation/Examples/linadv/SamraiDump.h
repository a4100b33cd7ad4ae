// SAMRAI VisIt dumps ("VDR" 2.0) as SAMRAI 4 writes them: for linadv, for measurements and for tests. This is
// a reading of the format of its own, which shares no code with the reader in Core/Formats/SAMRAI.
//
// A file is drafted before it is written, so that tests can change a part of it.
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

/// Writes one object at a path of an open file, and the groups on the way to it.
using DraftDataset = std::function<void(hid_t file, const std::string& path)>;
/// The objects of a file by their paths.
using Hdf5Draft = std::map<std::string, DraftDataset>;

/// Throws Error if an HDF5 call has failed; otherwise returns its result.
hid_t Checked(hid_t result);
/// Properties of H5P_LINK_CREATE: groups on the way to a new object are made as needed.
hdf5::Handle MakeGroupsOnTheWay();
/// Writes a data set; without values if `values` is null. choose: sets properties of H5P_DATASET_CREATE.
/// Returns the data set for attributes.
hdf5::Handle WriteDataset(hid_t file, const std::string& path, hid_t fileType, hid_t memoryType,
    const std::vector<hsize_t>& shape, const void* values,
    const std::function<void(hid_t creation)>& choose = {});

// Data sets of SAMRAI's database class: big endian, one dimension, an attribute with the type.
DraftDataset Ints(const std::vector<int>& values);
DraftDataset Floats(const std::vector<float>& values);
DraftDataset Doubles(const std::vector<double>& values);
DraftDataset Texts(const std::vector<std::string>& values);

// Data sets of SAMRAI's VisIt writer: native, rows of three.
DraftDataset NativeInts(const std::vector<int>& values);
DraftDataset NativeDoubles(const std::vector<double>& values);

struct PatchMapDraft
{
  int Cluster, Processor, Level, Patch;  // in memory as in SAMRAI; on disk in another order
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
  char Padding[7] = {};  ///< so that no chance bytes reach the file
};
/// The children, or the parents, of one patch: a part of an array of global patch numbers.
struct PointerDraft
{
  int Offset, Count;
};
DraftDataset Records(const std::vector<PatchMapDraft>& values);
DraftDataset Records(const std::vector<PatchExtentsDraft>& values);
DraftDataset Records(const std::vector<MinMaxDraft>& values);
DraftDataset Records(const std::vector<PointerDraft>& values, const char* countName = "number_children");

/// Replaces the file. choose: sets properties of H5P_FILE_CREATE and H5P_FILE_ACCESS; files are of the old
/// style unless it chooses another. Throws Error if the file cannot be written.
///
/// When the environment variable SOURCE_DATE_EPOCH is set, no present time goes into the file.
void WriteHdf5(const std::string& path, const Hdf5Draft& draft,
    const std::function<void(hid_t creation, hid_t access)>& choose = {});

// ---- dumps ----

/// Puts one component of a variable on a patch into `values`, which has the right length already: one per
/// cell (or node) as stored, axis 0 fastest. `patch` is a global number.
using PatchValues = std::function<void(int patch, int variable, int component, std::vector<double>& values)>;

/// Smallest and largest value of one component on one patch. Travels between ranks as bytes.
struct ComponentRange
{
  int Patch;      ///< global number
  int Component;  ///< number among the components of all variables
  double Min, Max;
};

/// The summary of a dump by `ranks` ranks. Used of the catalog: all but Path and materials.
Hdf5Draft DraftSummary(const Catalog& catalog, int ranks, const std::vector<ComponentRange>& ranges);

/// A cluster file: the variables that are Stored, as 32-bit floats. Calls `values` when the file is written,
/// and adds the ranges before rounding to `ranges`, unless null, which must still exist then.
Hdf5Draft DraftCluster(
    const Catalog& catalog, int file, const PatchValues& values, std::vector<ComponentRange>* ranges);

/// The group of a patch in its cluster file, with a slash at the end.
std::string PatchGroup(const Patch& patch);
std::string ClusterPath(const std::string& summary, int file);

/// Collective. Writes a dump into directory/visit_dump.NNNNN: a cluster file a rank (also for ranks without
/// patches) and the summary; and a line in dumps.visit when the dump is complete. catalog: the same on all
/// ranks. Used of it: Dimension, Time, Step, Origin, Levels, Variables (without ghosts), and of the patches
/// Cells, Level, Number and Writer, the rank that has the values. All patches have all variables. values:
/// called for the patches of this rank only; must not communicate. Throws Error, on all ranks, if a file
/// cannot be written.
void WriteDump(Communicator& comm, const std::string& directory, Catalog catalog, const PatchValues& values);

}  // namespace patchio::draft
