#include "Formats/GRADS/GradsFormat.h"

#include "Formats/GRADS/GradsCatalog.h"
#include "Formats/GRADS/GradsLocator.h"

namespace patchio::grads {

Catalog GradsFormat::ReadCatalog(const std::string& path) const
{
  return MakeCatalog(ReadDescriptor(path));
}

LocationTable GradsFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return LocateFields(catalog, requests, options);
}

}  // namespace patchio::grads
