#include "Support/Hdf5Output.h"

#include "Support/Error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

namespace patchio::hdf5 {

namespace {

// Memory of a file in memory: the library asks for it by these, and its owner keeps it when the file is closed.

void* Resize(void* owner, std::size_t bytes)
{
  auto& memory = *static_cast<std::vector<std::byte>*>(owner);
  try {
    memory.resize(bytes);
  } catch (const std::exception&) {
    return nullptr;
  }
  return memory.data();
}

void* Allocate(std::size_t bytes, H5FD_file_image_op_t /*why*/, void* owner)
{
  return Resize(owner, bytes);
}

void* Reallocate(void* /*memory*/, std::size_t bytes, H5FD_file_image_op_t /*why*/, void* owner)
{
  return Resize(owner, bytes);
}

void* Copy(void* to, const void* from, std::size_t bytes, H5FD_file_image_op_t /*why*/, void* /*owner*/)
{
  return std::memcpy(to, from, bytes);
}

herr_t Keep(void* /*memory*/, H5FD_file_image_op_t /*why*/, void* /*owner*/)
{
  return 0;
}

void* SameOwner(void* owner)
{
  return owner;
}

herr_t KeepOwner(void* /*owner*/)
{
  return 0;
}

}  // namespace

OutputFile::OutputFile(const std::string& path, std::uint64_t alignment, std::size_t objects)
    : Path(path), Creation(H5Pcreate(H5P_DATASET_CREATE))
{
  constexpr std::size_t growth = 4096;
  constexpr hsize_t fewest = 4096, ofObject = 1024;  // bytes that describe a group or a data set, at most
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5FD_file_image_callbacks_t callbacks = {
      Allocate, Copy, Reallocate, Keep, SameOwner, KeepOwner, &this->Memory};
  H5Pset_file_image_callbacks(access, &callbacks);
  H5Pset_fapl_core(access, growth, false);
  H5Pset_alignment(access, alignment, alignment);
  // All that describes lies before the first value: nothing of the room for values is in memory.
  H5Pset_meta_block_size(access, fewest + objects * ofObject);
  this->File = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  this->Check(this->File, "memory for the description of a file");
  H5Pset_obj_track_times(this->Creation, false);
}

FileImage OutputFile::TakeImage()
{
  hsize_t size = 0;
  this->Check(H5Fget_filesize(this->File, &size), "a size of the file");
  this->File = Handle();
  return {std::move(this->Memory), size};
}

OutputFile::OutputFile(const std::string& path)
    : Path(path), Creation(H5Pcreate(H5P_DATASET_CREATE))
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

std::uint64_t OutputFile::Reserve(
    const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape) const
{
  errno = 0;
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  const Handle links(H5Pcreate(H5P_LINK_CREATE)), creation(H5Pcopy(this->Creation));
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const Handle dataset(H5Dcreate2(this->File, name.c_str(), fileType, space, links, creation, H5P_DEFAULT));
  this->Check(dataset, "room for data set " + name);
  const haddr_t offset = H5Dget_offset(dataset);
  this->Check(offset == HADDR_UNDEF ? -1 : 0, "values in data set " + name);
  return offset;
}

void OutputFile::WriteText(hid_t object, const std::string& name, const std::string& value) const
{
  const Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, value.size());
  this->WriteAttribute(object, name, type, type, value.data());
}

void OutputFile::WriteNumbers(hid_t object, const std::string& name, const std::vector<double>& values) const
{
  this->WriteList(object, name, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

void OutputFile::WriteIntegers(
    hid_t object, const std::string& name, const std::vector<std::int64_t>& values) const
{
  this->WriteList(object, name, H5T_NATIVE_INT64, values.size(), values.data());
}

void OutputFile::WriteList(
    hid_t object, const std::string& name, hid_t type, hsize_t count, const void* values) const
{
  errno = 0;
  const Handle space(H5Screate_simple(1, &count, nullptr));
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  this->Check(attribute, "room for attribute " + name);
  this->Check(H5Awrite(attribute, type, values), "room for the values of attribute " + name);
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
