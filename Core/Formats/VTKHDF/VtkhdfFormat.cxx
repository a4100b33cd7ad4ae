#include "Formats/VTKHDF/VtkhdfFormat.h"

#include "Base/Error.h"
#include "Formats/VTKHDF/VtkhdfAccess.h"
#include "Hdf5/File.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace patchio::vtkhdf {

bool VtkhdfFormat::Claims(const std::string& path) const
{
  return TypeNamed(NameOfType(path)) != FileType::None;
}

/// Returns whether HDF5 cannot open a file that has the name of such a file.
bool VtkhdfFormat::SeemsBroken(const std::string& path) const
{
  std::error_code ignored;
  return fs::path(path).extension() == ".vtkhdf" && fs::is_regular_file(path, ignored) &&
         !hdf5::CanOpen(path);
}

std::string VtkhdfFormat::Declines(const std::string& path) const
{
  const std::string type = NameOfType(path);
  return type.empty() ? type : "VTKHDF file of type '" + PlainText(type) + "'";
}

}  // namespace patchio::vtkhdf
