#include "Output/FloatFile.h"

#include "Support/Error.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace patchio::output {
namespace {

template <typename T>
void CopyFloats(const void* from, std::size_t first, std::int64_t count, float* to)
{
  const T* values = static_cast<const T*>(from) + first;
  std::transform(values, values + count, to, [](T value) { return static_cast<float>(value); });
}

}  // namespace

void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to)
{
  switch (type) {
    case ElementType::Float32:
      return CopyFloats<float>(from, first, count, to);
    case ElementType::Float64:
      return CopyFloats<double>(from, first, count, to);
    case ElementType::Int8:
      return CopyFloats<std::int8_t>(from, first, count, to);
    case ElementType::Int16:
      return CopyFloats<std::int16_t>(from, first, count, to);
    case ElementType::Int32:
      return CopyFloats<std::int32_t>(from, first, count, to);
    case ElementType::Int64:
      return CopyFloats<std::int64_t>(from, first, count, to);
    case ElementType::UInt8:
      return CopyFloats<std::uint8_t>(from, first, count, to);
    case ElementType::UInt16:
      return CopyFloats<std::uint16_t>(from, first, count, to);
    case ElementType::UInt32:
      return CopyFloats<std::uint32_t>(from, first, count, to);
    case ElementType::UInt64:
      return CopyFloats<std::uint64_t>(from, first, count, to);
  }
}

void ClearPlace(const std::string& path, bool overwrite)
{
  std::error_code ignored;
  if (overwrite) {
    fs::remove(path, ignored);
  } else if (fs::exists(path, ignored)) {
    throw FileError(path, "an unused path", "an existing file",
        "Choose another path, or set \"overwrite\" in the output configuration");
  }
  if (fs::path(path).has_parent_path()) {
    fs::create_directories(fs::path(path).parent_path(), ignored);
  }
}

}  // namespace patchio::output
