// Small HDF5 files for tests: a map from paths to data sets, which a test changes before it is written.
#pragma once

#include "SamraiDump.h"

namespace patchio::testing {

using namespace draft;

// Makes little-endian floats, which SAMRAI does not write.
DraftDataset LittleEndianFloats(const std::vector<float>& values);
DraftDataset ChunkedFloats(const std::vector<float>& values);
/// Makes big-endian floats of a shape and with properties of H5P_DATASET_CREATE; without values, none are
/// written.
DraftDataset FloatsStoredAs(const std::vector<float>& values, const std::vector<hsize_t>& shape,
    const std::function<void(hid_t creation)>& choose);
/// Makes floats of the type `fileType` in the file; the type must exist until the file is written.
DraftDataset FloatsOfType(const std::vector<float>& values, hid_t fileType, bool isScalar = false);
/// Makes a link to an object of another file.
DraftDataset ExternalLink(const std::string& file, const std::string& object);
/// Makes a link to an object of the same file.
DraftDataset SoftLink(const std::string& object);

/// Returns the property of H5P_DATASET_CREATE for chunks of these dimensions, for FloatsStoredAs().
std::function<void(hid_t creation)> InChunks(const std::vector<hsize_t>& dims);

/// Makes WriteHdf5() write files in the old style, which is the default.
inline void InOldStyle(hid_t /*creation*/, hid_t /*access*/) {}
/// Makes WriteHdf5() write files in the new style, as HDF5 2 does.
void InNewStyle(hid_t creation, hid_t access);

}  // namespace patchio::testing
