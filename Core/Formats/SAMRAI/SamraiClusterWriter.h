// One rank's cluster file of a dump: the values.
#pragma once

#include "Formats/SAMRAI/SamraiWriter.h"

#include <string>
#include <vector>

namespace patchio::samrai {

/// Smallest and largest value of one component on one patch. Travels between ranks as bytes.
struct ComponentRange
{
  int Patch;      ///< global number
  int Component;  ///< number among the components of all variables
  double Min, Max;
};

/// Writes the cluster file of `rank` into the dump's directory: the patches that `rank` writes, with all
/// variables. Returns their ranges, taken before values are rounded to floats.
std::vector<ComponentRange> WriteCluster(
    const std::string& directory, int rank, const Catalog& catalog, const PatchValues& values);

}  // namespace patchio::samrai
