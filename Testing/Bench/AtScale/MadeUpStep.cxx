#include "MadeUpStep.h"

#include <cmath>

namespace patchio::atscale {
namespace {

constexpr int PatchesOfFile = 20000;

}  // namespace

Catalog MakeCatalog(int patches, int side)
{
  const int edge = static_cast<int>(std::ceil(std::cbrt(patches) - 1e-9));
  Catalog catalog;
  catalog.Path = "made up";
  catalog.Levels.emplace_back();
  catalog.Levels[0].PatchCount = patches;
  catalog.Patches.resize(patches);
  for (int p = 0; p < patches; ++p) {
    Patch& patch = catalog.Patches[p];
    const int position[3] = {p % edge, p / edge % edge, p / edge / edge};
    for (int axis = 0; axis < 3; ++axis) {
      patch.Cells.Lower[axis] = position[axis] * side;
      patch.Cells.Upper[axis] = patch.Cells.Lower[axis] + side - 1;
    }
    patch.Number = p;
    patch.File = p / PatchesOfFile;
  }
  catalog.Variables.emplace_back();
  catalog.Variables[0].Name = "density";
  catalog.ResetPresence();
  for (int p = 0; p < patches; ++p) {
    catalog.SetPresence(0, p, Presence::Stored);
  }
  return catalog;
}

LocationTable LocationsOf(const Catalog& catalog, const std::vector<int>& patches, std::uint64_t arrayBytes)
{
  LocationTable table;
  for (int file = 0; file <= catalog.Patches.back().File; ++file) {
    table.Files.push_back("data." + std::to_string(file));
  }
  for (const int patch : patches) {
    table.Locations.push_back({Encoding::Raw, static_cast<std::uint32_t>(table.ByteRanges.size()), 1, 0, 0});
    table.ByteRanges.push_back({std::uint64_t(patch % PatchesOfFile) * arrayBytes, arrayBytes,
        catalog.Patches[patch].File, ElementType::Float32, true});
  }
  return table;
}

}  // namespace patchio::atscale
