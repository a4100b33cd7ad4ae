// PatchIO's own containers, NAME.pio. Documentation/Container.md describes the format, Core/Container encodes
// and decodes it.
#pragma once

#include "Formats/Format.h"

namespace patchio::container {

class ContainerFormat : public Format
{
public:
  const char* Name() const override { return "Container"; }
  const char* Opens() const override { return "a container of PatchIO (a folder NAME.pio)"; }
  /// The folder, its log, or the first file of a step.
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  Catalog ReadCatalog(const std::string& path) const override;
  std::vector<ValueRange> RangesOf(const Catalog& catalog, int variable) const override;
  /// The log is one.
  bool NeedsIndex(const Catalog& /*catalog*/) const override { return false; }
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

}  // namespace patchio::container
