#include "Formats/VTKHDF/VtkhdfTypes.h"

#include "Hdf5/File.h"

#include <fmt/format.h>

#include <exception>

namespace patchio::vtkhdf {

FileType TypeNamed(const std::string& name)
{
  return name == "ImageData"          ? FileType::Image
         : name == "OverlappingAMR"   ? FileType::Amr
         : name == "UnstructuredGrid" ? FileType::Unstructured
         : name == "PolyData"         ? FileType::Polygons
                                      : FileType::None;
}

std::string NameOfType(const std::string& path)
{
  try {
    if (!hdf5::HasSignature(path)) {
      return {};
    }
    return hdf5::File(path).Text(Root, "Type");
  } catch (const std::exception&) {
    return {};
  }
}

std::string GroupOfLevel(FileType type, int level)
{
  return type == FileType::Amr ? fmt::format("{}/Level{}", Root, level) : Root;
}

}  // namespace patchio::vtkhdf
