#include "Hdf5Draft.h"

namespace patchio::testing {

DraftDataset LittleEndianFloats(const std::vector<float>& values)
{
  return FloatsOfType(values, H5T_IEEE_F32LE);
}

DraftDataset ChunkedFloats(const std::vector<float>& values)
{
  return FloatsStoredAs(values, {values.size()}, InChunks({values.size()}));
}

DraftDataset FloatsStoredAs(const std::vector<float>& values, const std::vector<hsize_t>& shape,
    const std::function<void(hid_t creation)>& choose)
{
  return [=](hid_t file, const std::string& path) {
    WriteDataset(file, path, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, shape,
        values.empty() ? nullptr : values.data(), choose);
  };
}

DraftDataset FloatsOfType(const std::vector<float>& values, hid_t fileType, bool isScalar)
{
  return [=](hid_t file, const std::string& path) {
    const std::vector<hsize_t> shape(isScalar ? 0 : 1, values.size());
    WriteDataset(file, path, fileType, H5T_NATIVE_FLOAT, shape, values.data());
  };
}

DraftDataset ExternalLink(const std::string& file, const std::string& object)
{
  return [=](hid_t parent, const std::string& path) {
    const hdf5::Handle links = IntermediateGroupLinks();
    Checked(H5Lcreate_external(file.c_str(), object.c_str(), parent, path.c_str(), links, H5P_DEFAULT));
  };
}

DraftDataset SoftLink(const std::string& object)
{
  return [=](hid_t parent, const std::string& path) {
    const hdf5::Handle links = IntermediateGroupLinks();
    Checked(H5Lcreate_soft(object.c_str(), parent, path.c_str(), links, H5P_DEFAULT));
  };
}

std::function<void(hid_t creation)> InChunks(const std::vector<hsize_t>& dims)
{
  return [=](hid_t creation) { H5Pset_chunk(creation, static_cast<int>(dims.size()), dims.data()); };
}

void InNewStyle(hid_t /*creation*/, hid_t access)
{
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
}

}  // namespace patchio::testing
