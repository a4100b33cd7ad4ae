// Types of VTKHDF files, and the names of groups.
#pragma once

#include <cstdint>
#include <string>

namespace patchio::vtkhdf {

constexpr const char* Root = "VTKHDF";

enum class FileType : std::uint8_t
{
  None,  ///< no VTKHDF file, or of a type that is not read
  Image,
  Amr,
  Unstructured,
  Polygons
};

/// The type that a VTKHDF file says it has, whether that is read or not; empty for other files. Does not
/// throw.
std::string NameOfType(const std::string& path);
FileType TypeNamed(const std::string& name);

/// The group of a level: "VTKHDF/Level0" and so on of AMR, else "VTKHDF".
std::string GroupOfLevel(FileType type, int level);

}  // namespace patchio::vtkhdf
