// A time step of any number of patches, without files.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::bench {

/// Number of patches in each file.
constexpr int PatchesOfFile = 20000;

/// Returns the number of patches along each edge of the cube of CubeOfPatches().
int EdgeOfCube(int patches);

/// Returns a catalog with one level of `patches` cubes of `side` cells per axis, row by row in a cube, and
/// variables v0, v1, ... that are stored on all patches. Rank r of `rankCount` writes the r-th of equal
/// parts.
Catalog CubeOfPatches(int patches, int side, int variables = 1, int rankCount = 1);

/// Returns the path of a file: data.0, data.1, ... beside the file that describes the step.
std::string FileOfCube(const Catalog& catalog, int file);

/// Returns the locations of these arrays, each of `arrayBytes` bytes. The arrays of a patch follow each
/// other, and so do the patches of a file.
LocationTable LocationsOf(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, std::uint64_t arrayBytes);

}  // namespace patchio::bench
