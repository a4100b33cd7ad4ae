// A file driver of the HDF5 library that creates files in memory. The files in memory lack the values that
// the caller of OutputFile writes to the storage.
#include "Hdf5/Output.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

namespace patchio::hdf5 {
namespace {

/// A file of the driver. The HDF5 library uses the first member only.
struct ImageFile
{
  H5FD_t Public{};
  FileImage* Image = nullptr;
  haddr_t End = 0;  ///< end of the space that the library has allocated
};

/// Returns the ImageFile whose first member is `file`.
ImageFile& ImageFileOf(H5FD_t* file)
{
  return *reinterpret_cast<ImageFile*>(file);
}

const ImageFile& ImageFileOf(const H5FD_t* file)
{
  return *reinterpret_cast<const ImageFile*>(file);
}

H5FD_t* Open(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*most*/)
{
  const auto* image = static_cast<FileImage* const*>(H5Pget_driver_info(access));
  auto* const file = image ? new (std::nothrow) ImageFile : nullptr;
  if (!file) {
    return nullptr;
  }
  file->Image = *image;
  return &file->Public;
}

herr_t Close(H5FD_t* file)
{
  delete &ImageFileOf(file);
  return 0;
}

herr_t Query(const H5FD_t* /*file*/, unsigned long* flags)
{
  // The library aggregates metadata in blocks of H5Pset_meta_block_size() bytes.
  *flags = H5FD_FEAT_AGGREGATE_METADATA;
  return 0;
}

haddr_t GetEnd(const H5FD_t* file, H5FD_mem_t /*type*/)
{
  return ImageFileOf(file).End;
}

herr_t SetEnd(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end)
{
  ImageFileOf(file).End = end;
  return 0;
}

haddr_t GetSize(const H5FD_t* file, H5FD_mem_t /*type*/)
{
  return ImageFileOf(file).Image->Bytes.size();
}

herr_t Read(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*how*/, haddr_t at, std::size_t bytes, void* into)
{
  const std::vector<std::byte>& from = ImageFileOf(file).Image->Bytes;
  const std::size_t there = at < from.size() ? std::min<std::size_t>(bytes, from.size() - at) : 0;
  std::memset(into, 0, bytes);
  if (there > 0) {
    std::memcpy(into, from.data() + at, there);
  }
  return 0;
}

herr_t Write(H5FD_t* file, H5FD_mem_t type, hid_t /*how*/, haddr_t at, std::size_t bytes, const void* from)
{
  FileImage& image = *ImageFileOf(file).Image;
  if (type == H5FD_MEM_DRAW && image.DiscardValues) {
    image.DiscardedOffset = at;
    return 0;
  }
  try {
    if (image.Bytes.size() < at + bytes) {
      image.Bytes.resize(at + bytes);
    }
  } catch (const std::exception&) {
    return -1;
  }
  std::memcpy(image.Bytes.data() + at, from, bytes);
  return 0;
}

/// Returns the file driver. Sets members by name, because newer versions of the library have more members.
H5FD_class_t MakeDriver()
{
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);  // needs no registration
#endif
  driver.name = "patchio_image";
  driver.maxaddr = haddr_t(1) << 62;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(FileImage*);
  driver.open = Open;
  driver.close = Close;
  driver.query = Query;
  driver.get_eoa = GetEnd;
  driver.set_eoa = SetEnd;
  driver.get_eof = GetSize;
  driver.read = Read;
  driver.write = Write;
  const H5FD_mem_t types[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(types), std::end(types), driver.fl_map);
  return driver;
}

}  // namespace

bool SetImageDriver(FileImage& image, hid_t access)
{
  static const H5FD_class_t driver = MakeDriver();
  const hid_t number = H5FDregister(&driver);
  FileImage* const info = &image;
  const bool done = number >= 0 && H5Pset_driver(access, number, &info) >= 0;
  if (number >= 0) {
    H5FDunregister(number);  // the property list and the file keep references
  }
  return done;
}

}  // namespace patchio::hdf5
