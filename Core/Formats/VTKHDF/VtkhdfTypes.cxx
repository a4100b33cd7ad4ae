#include "Formats/VTKHDF/VtkhdfTypes.h"

#include "Support/Hdf5.h"

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
    const hdf5::File file(path);
    const hdf5::Handle root = file.OpenGroup(file.Id(), Root);
    return root.Valid() ? hdf5::TextAttribute(root, "Type") : std::string();
  } catch (const std::exception&) {
    return {};
  }
}

std::string GroupOfLevel(FileType type, int level)
{
  return type == FileType::Amr ? fmt::format("{}/Level{}", Root, level) : Root;
}

std::optional<ElementType> TypeOfValues(const hdf5index::Dataset& info)
{
  using hdf5index::NumberClass;
  struct Known
  {
    NumberClass Class;
    bool Signed;
    std::uint32_t Bytes;
    ElementType Type;
  };
  constexpr Known types[] = {{NumberClass::Float, true, 4, ElementType::Float32},
      {NumberClass::Float, true, 8, ElementType::Float64}, {NumberClass::Integer, true, 1, ElementType::Int8},
      {NumberClass::Integer, true, 2, ElementType::Int16},
      {NumberClass::Integer, true, 4, ElementType::Int32},
      {NumberClass::Integer, true, 8, ElementType::Int64},
      {NumberClass::Integer, false, 1, ElementType::UInt8},
      {NumberClass::Integer, false, 2, ElementType::UInt16},
      {NumberClass::Integer, false, 4, ElementType::UInt32},
      {NumberClass::Integer, false, 8, ElementType::UInt64}};
  for (const Known& known : types) {
    if (known.Class == info.Class && known.Bytes == info.ElementBytes &&
        (known.Signed == info.Signed || known.Class == NumberClass::Float)) {
      return known.Type;
    }
  }
  return std::nullopt;
}

}  // namespace patchio::vtkhdf
