#include "Formats/SAMRAI/SamraiFormat.h"

#include "Formats/SAMRAI/SamraiLocator.h"
#include "Formats/SAMRAI/SamraiSummary.h"

#include <fmt/format.h>

namespace patchio::samrai {

Catalog SamraiFormat::ReadCatalog(const std::string& path) const
{
  return ReadSummary(path);
}

LocationTable SamraiFormat::Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests) const
{
  return LocateInClusters(catalog, requests);
}

std::string ComponentName(const Variable& variable, int component)
{
  return variable.Components == 1 ? variable.StoredName
                                  : fmt::format("{}.{:02d}", variable.StoredName, component);
}

}  // namespace patchio::samrai
