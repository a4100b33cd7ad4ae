#include "Hdf5/Output.h"

#include "Base/Error.h"

#include <cerrno>

namespace patchio::hdf5 {

std::mutex& OutputLock()
{
  static std::mutex lock;
  return lock;
}

OutputFile::OutputFile(
    const std::string& path, std::uint64_t alignment, std::size_t objects, std::uint64_t listBytes)
    : Path(path), Creation(H5Pcreate(H5P_DATASET_CREATE))
{
  // The greatest size of the metadata of a file without objects, and of an object.
  constexpr hsize_t fileBytes = 4096, objectBytes = 1024;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  // The old style of files is not the default of HDF5 2.
  H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  // Without a sieve buffer, the library writes values at once, so that errors occur in the call and not in a
  // destructor.
  H5Pset_sieve_buf_size(access, 0);
  this->Check(SetImageDriver(this->Image, access) ? 0 : -1, "memory for the description of a file");
  H5Pset_alignment(access, alignment, alignment);
  // A single block of metadata lies before the first value, so that the image needs no memory for the values.
  H5Pset_meta_block_size(access, fileBytes + objects * objectBytes + listBytes);
  this->File = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  this->Check(this->File, "memory for the description of a file");
  H5Pset_obj_track_times(this->Creation, false);
}

std::uint64_t OutputFile::Size() const
{
  hsize_t size = 0;
  this->Check(H5Fget_filesize(this->File, &size), "a valid file size");
  return size;
}

FileImage OutputFile::CloseAndGetImage()
{
  this->Image.Size = this->Size();
  this->File = Handle();
  return std::move(this->Image);
}

Handle OutputFile::CreateGroup(hid_t parent, const std::string& name) const
{
  errno = 0;
  Handle group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  this->Check(group, "space for group " + name);
  return group;
}

Handle OutputFile::Write(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
    const std::vector<hsize_t>& shape, const void* values) const
{
  errno = 0;
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  Handle dataset(H5Dcreate2(group, name.c_str(), fileType, space, H5P_DEFAULT, this->Creation, H5P_DEFAULT));
  this->Check(dataset, "space for data set " + name);
  this->Check(H5Dwrite(dataset, memoryType, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
      "space for the values of " + name);
  return dataset;
}

Handle OutputFile::CreateDataset(
    const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape, hid_t creation) const
{
  errno = 0;
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  const Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  Handle dataset(H5Dcreate2(this->File, name.c_str(), fileType, space, links, creation, H5P_DEFAULT));
  if (dataset < 0 && errno == 0) {
    throw FileError(this->Path, "a data set that can be named '" + name + "'", LastMessage(),
        "If the name is in use, give the variable another name");
  }
  this->Check(dataset, "space for data set " + name);
  return dataset;
}

std::uint64_t OutputFile::Reserve(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape)
{
  const Handle creation(H5Pcopy(this->Creation));
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  const Handle dataset = this->CreateDataset(name, fileType, shape, creation);
  const haddr_t offset = H5Dget_offset(dataset);
  this->Check(offset == HADDR_UNDEF ? -1 : 0, "values in data set " + name);
  this->Image.ValueRanges.emplace_back(offset, offset + H5Dget_storage_size(dataset));
  return offset;
}

Handle OutputFile::CreateChunked(const std::string& name, hid_t fileType, const std::vector<hsize_t>& shape,
    const std::vector<hsize_t>& chunk, const ChunkFilter& filter) const
{
  const Handle creation(H5Pcopy(this->Creation));
  H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  H5Pset_shuffle(creation);
  // The filter is optional, so that a library without the filter can also create the data set.
  this->Check(
      H5Pset_filter(creation, filter.Number, H5Z_FLAG_OPTIONAL, 1, &filter.Level), "a filter for " + name);
  return this->CreateDataset(name, fileType, shape, creation);
}

std::uint64_t OutputFile::ReserveChunk(
    hid_t dataset, const std::vector<hsize_t>& begin, std::uint64_t bytes, std::uint32_t skippedFilters)
{
  this->Image.DiscardValues = true;
  const char nothing = 0;
  this->Check(H5Dwrite_chunk(dataset, H5P_DEFAULT, skippedFilters, begin.data(), bytes, &nothing),
      "space for a chunk");
  this->Image.ValueRanges.emplace_back(this->Image.DiscardedOffset, this->Image.DiscardedOffset + bytes);
  return this->Image.DiscardedOffset;
}

void OutputFile::WriteText(hid_t object, const std::string& name, const std::string& value) const
{
  const Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, value.size());
  this->WriteValues(object, name, type, Handle(H5Screate(H5S_SCALAR)), value.data());
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
  this->WriteValues(object, name, type, Handle(H5Screate_simple(1, &count, nullptr)), values);
}

void OutputFile::WriteValues(
    hid_t object, const std::string& name, hid_t type, hid_t space, const void* values) const
{
  errno = 0;
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  this->Check(attribute, "space for attribute " + name);
  this->Check(H5Awrite(attribute, type, values), "space for the values of attribute " + name);
}

void OutputFile::Check(hid_t result, const std::string& expected) const
{
  if (result < 0) {
    const int fault = errno;
    const std::string found = LastMessage();
    const char* const advice = "Check that the folder exists and is writable, and that enough space is free";
    throw fault ? SystemError(this->Path, expected, fault, advice)
                : FileError(this->Path, expected, found, advice);
  }
}

}  // namespace patchio::hdf5
