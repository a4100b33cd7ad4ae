#include "Formats/AMReX/AmrexFabLocations.h"

#include "Base/Bytes.h"
#include "Base/Error.h"

#include <algorithm>

namespace patchio::amrex {

std::vector<std::byte> Pack(const FabLocations& locations)
{
  ByteWriter out;
  out.Put(locations.Files);
  for (const FabStyle& style : locations.Levels) {
    out.Put(style.Kind.Type);
    out.Put<std::uint8_t>(style.Kind.BigEndian);
    out.Put<std::uint8_t>(style.Headers);
    out.Put<std::uint8_t>(style.Nodes);
  }
  out.Put(locations.Fabs);
  return out.Take();
}

FabLocations FabLocationsOf(const Catalog& catalog)
{
  constexpr Requirement Require("The description of the plotfile");
  FabLocations locations;
  ByteReader in(catalog.FormatData);
  in.Get(locations.Files);
  for (std::size_t level = 0; level < catalog.Levels.size(); ++level) {
    FabStyle& style = locations.Levels.emplace_back();
    in.Get(style.Kind.Type);
    style.Kind.BigEndian = in.Get<std::uint8_t>() != 0;
    style.Headers = in.Get<std::uint8_t>() != 0;
    style.Nodes = in.Get<std::uint8_t>() != 0;
    Require(style.Kind.Type == ElementType::Float32 || style.Kind.Type == ElementType::Float64,
        "an impossible number type");
  }
  in.Get(locations.Fabs);
  Require(locations.Fabs.size() == catalog.Patches.size(), "a wrong number of patches");
  const int fileCount = static_cast<int>(locations.Files.size());
  Require(std::all_of(catalog.Patches.begin(), catalog.Patches.end(),
              [fileCount](const Patch& patch) { return patch.File >= 0 && patch.File < fileCount; }),
      "patches in files without names");
  return locations;
}

}  // namespace patchio::amrex
