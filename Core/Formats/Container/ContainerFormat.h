// PatchIO's own containers: folders with a log. Documentation/Container.md describes the format,
// Core/Container encodes and decodes it.
#pragma once

#include "Formats/Container/StepRecord.h"
#include "Formats/Format.h"

#include <vector>

namespace patchio::container {

/// Where the values of a step lie.
struct Places
{
  StepRecord Record;
  std::vector<int> Rows;  ///< see RowsOf(); as they lie in the files
};

/// Those in the FormatData of a catalog that ContainerFormat has read. Throws Error for another one.
Places PlacesOf(const Catalog& catalog);

class ContainerFormat : public Format
{
public:
  const char* Name() const override { return "Container"; }
  const char* Opens() const override { return "a PatchIO container (folder NAME.pio)"; }
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
