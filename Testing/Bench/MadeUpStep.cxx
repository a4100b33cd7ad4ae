#include "MadeUpStep.h"

#include <cmath>
#include <filesystem>

namespace patchio::bench {

int EdgeOfCube(int patches)
{
  return static_cast<int>(std::ceil(std::cbrt(patches) - 1e-9));
}

Catalog CubeOfPatches(int patches, int side, int variables, int rankCount)
{
  const int edge = EdgeOfCube(patches);
  Catalog catalog;
  catalog.Levels.emplace_back().PatchCount = patches;
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
    patch.Writer = static_cast<int>(std::int64_t(p) * rankCount / patches);
  }
  for (int v = 0; v < variables; ++v) {
    catalog.Variables.emplace_back().Name = "v" + std::to_string(v);
  }
  catalog.ResetPresence();
  for (int v = 0; v < variables; ++v) {
    for (int p = 0; p < patches; ++p) {
      catalog.SetPresence(v, p, Presence::Stored);
    }
  }
  return catalog;
}

std::string FileOfCube(const Catalog& catalog, int file)
{
  return std::filesystem::path(catalog.Path).replace_filename("data." + std::to_string(file)).string();
}

LocationTable LocationsOf(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, std::uint64_t arrayBytes)
{
  LocationTable table;
  for (int file = 0; file <= catalog.Patches.back().File; ++file) {
    table.Files.push_back(FileOfCube(catalog, file));
  }
  for (const PatchVariable& request : requests) {
    const std::uint64_t array =
        std::uint64_t(request.Patch % PatchesOfFile) * catalog.Variables.size() + request.Variable;
    table.Locations.push_back({Encoding::Raw, static_cast<std::uint32_t>(table.ByteRanges.size()), 1, 0, 0});
    table.ByteRanges.push_back(
        {array * arrayBytes, arrayBytes, catalog.Patches[request.Patch].File, ElementType::Float32, true});
  }
  return table;
}

}  // namespace patchio::bench
