#include "Formats/SAMRAI/SamraiFormat.h"

#include "Formats/SAMRAI/SamraiLocator.h"
#include "Formats/SAMRAI/SamraiSummary.h"

namespace patchio::samrai {

Catalog SamraiFormat::ReadCatalog(const std::string& path) const
{
  return ReadSummary(path);
}

std::vector<ValueRange> SamraiFormat::RangesOf(const Catalog& catalog, int variable) const
{
  return ReadValueRanges(catalog, variable);
}

LocationTable SamraiFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return LocateInClusters(catalog, requests, options);
}

}  // namespace patchio::samrai
