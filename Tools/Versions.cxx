#include "Versions.h"

#include "Hdf5/Library.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <mpi.h>
#include <oneapi/tbb/version.h>
#include <zstd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace patchio::tools {
namespace {

std::string MpiVersion()
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  // "Open MPI v4.1.4, package: ..."; MPICH's goes on in further lines.
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

}  // namespace

std::string Versions()
{
  return fmt::format(
      "patchio {}\nHDF5 {}, {}, oneTBB {}, libdeflate {}, zstd {}, fmt {}.{}.{}, CLI11 {}, nlohmann-json "
      "{}.{}.{}",
      PATCHIO_VERSION, hdf5::LibraryVersion(), MpiVersion(), TBB_runtime_version(), LIBDEFLATE_VERSION_STRING,
      ZSTD_versionString(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, CLI11_VERSION,
      NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace patchio::tools
