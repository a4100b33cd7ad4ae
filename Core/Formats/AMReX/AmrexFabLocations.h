// What the catalog cannot say and the locator needs: Catalog::FormatData of a plotfile.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/AMReX/AmrexFab.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio::amrex {

/// Where the FAB of one patch is.
struct FabLocation
{
  std::uint64_t Offset = 0;  ///< of its header or, without headers, of its numbers
  std::uint64_t Next = 0;    ///< where the FAB behind it in the file begins; 0: it is the last
};

/// How the FABs of a level are stored.
struct FabStyle
{
  RealKind Kind;  ///< without headers only
  bool Headers = true;
  bool Nodes = false;  ///< at nodes, not in cells
};

struct FabLocations
{
  std::vector<std::string> Files;  ///< by Patch::File, from the plotfile's folder
  std::vector<FabStyle> Levels;
  std::vector<FabLocation> Fabs;  ///< by patch
};

std::vector<std::byte> Pack(const FabLocations& locations);

/// Throws Error when they are none of this catalog.
FabLocations FabLocationsOf(const Catalog& catalog);

}  // namespace patchio::amrex
