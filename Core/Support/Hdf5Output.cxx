#include "Support/Hdf5Output.h"

#include "Support/Error.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace patchio::hdf5 {

OutputFile::OutputFile(const std::string& path) : Path(path), Creation(H5Pcreate(H5P_DATASET_CREATE))
{
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  // Without a sieve buffer values are written, and fail, when we ask for it and not in some destructor.
  H5Pset_sieve_buf_size(access, 0);
  errno = 0;
  this->File = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  this->Check(this->File, "a file that can be created");
  const bool reproducible = std::getenv("SOURCE_DATE_EPOCH") != nullptr;
  H5Pset_obj_track_times(this->Creation, !reproducible);
}

Handle OutputFile::MakeGroup(hid_t parent, const std::string& name) const
{
  errno = 0;
  Handle group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  this->Check(group, "room for group " + name);
  return group;
}

Handle OutputFile::Write(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
    const std::vector<hsize_t>& shape, const void* values) const
{
  errno = 0;
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  Handle dataset(H5Dcreate2(group, name.c_str(), fileType, space, H5P_DEFAULT, this->Creation, H5P_DEFAULT));
  this->Check(dataset, "room for data set " + name);
  this->Check(
      H5Dwrite(dataset, memoryType, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "room for the values of " + name);
  return dataset;
}

void OutputFile::WriteAttribute(
    hid_t object, const std::string& name, hid_t fileType, hid_t memoryType, const void* value) const
{
  errno = 0;
  const Handle space(H5Screate(H5S_SCALAR));
  const Handle attribute(H5Acreate2(object, name.c_str(), fileType, space, H5P_DEFAULT, H5P_DEFAULT));
  this->Check(attribute, "room for attribute " + name);
  this->Check(H5Awrite(attribute, memoryType, value), "room for the value of attribute " + name);
}

void OutputFile::Finish() const
{
  errno = 0;
  this->Check(H5Fflush(this->File, H5F_SCOPE_GLOBAL), "room for the file");
}

void OutputFile::Check(hid_t result, const std::string& expected) const
{
  if (result < 0) {
    const std::string found = errno ? SystemMessage(errno) : LastMessage();
    // HDF5 crashes at the end of the program if it cannot close what it has open; this gives it the room.
    std::error_code ignored;
    std::filesystem::resize_file(this->Path, 0, ignored);
    throw FileError(this->Path, expected, found, "Check the free space and the permissions there");
  }
}

}  // namespace patchio::hdf5
