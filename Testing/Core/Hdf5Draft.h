// Small HDF5 files for tests: a map from paths to data sets, which a test changes before it is written.
#pragma once

#include <hdf5.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace patchio::testing {

/// Writes one data set at a path of an open file.
using DraftDataset = std::function<void(hid_t file, const std::string& path)>;
using Hdf5Draft = std::map<std::string, DraftDataset>;

// Data sets as SAMRAI's database class stores them: big endian, one dimension.
DraftDataset Ints(const std::vector<int>& values);
DraftDataset Floats(const std::vector<float>& values);
DraftDataset Doubles(const std::vector<double>& values);
DraftDataset Texts(const std::vector<std::string>& values);

// Data sets as SAMRAI's VisIt writer stores them: native, rows of three.
DraftDataset NativeInts(const std::vector<int>& values);
DraftDataset NativeDoubles(const std::vector<double>& values);

/// Data sets in forms that SAMRAI does not use.
DraftDataset LittleEndianFloats(const std::vector<float>& values);
DraftDataset ChunkedFloats(const std::vector<float>& values);
/// Makes big-endian floats of a shape and with properties of H5P_DATASET_CREATE; without values, none are
/// written.
DraftDataset FloatsStoredAs(const std::vector<float>& values, const std::vector<hsize_t>& shape,
    const std::function<void(hid_t creation)>& choose);
/// Makes floats of the type `fileType` in the file; the type must exist until the file is written.
DraftDataset FloatsOfType(const std::vector<float>& values, hid_t fileType);
/// Makes a link to an object of another file.
DraftDataset ExternalLink(const std::string& file, const std::string& object);
/// Makes a link to an object of the same file.
DraftDataset SoftLink(const std::string& object);

struct PatchMapDraft
{
  int Cluster, Processor, Level, Patch;  // order in memory, as in SAMRAI; the order on disk differs
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
};
struct PointerDraft
{
  int Offset, Count;
};
DraftDataset Records(const std::vector<PatchMapDraft>& values);
DraftDataset Records(const std::vector<PatchExtentsDraft>& values);
DraftDataset Records(const std::vector<MinMaxDraft>& values);
DraftDataset Records(const std::vector<PointerDraft>& values);

/// Makes WriteHdf5() write files in the old style.
inline void InOldStyle(hid_t /*creation*/, hid_t /*access*/) {}
/// Makes WriteHdf5() write files in the new style, as HDF5 2 does.
void InNewStyle(hid_t creation, hid_t access);

/// Writes a file, with the groups on the way to the data sets.
void WriteHdf5(const std::string& path, const Hdf5Draft& draft);
/// Writes a file with properties of H5P_FILE_CREATE and H5P_FILE_ACCESS.
void WriteHdf5(const std::string& path, const Hdf5Draft& draft,
    const std::function<void(hid_t creation, hid_t access)>& choose);

}  // namespace patchio::testing
