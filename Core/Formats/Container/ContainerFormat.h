// The format of PatchIO's own containers: folders with a log. Documentation/Container.md describes the files.
#pragma once

#include "Formats/Container/StepRecord.h"
#include "Formats/Format.h"

#include <vector>

namespace patchio::container {

/// The locations of a step's values.
struct StepLocations
{
  StepRecord Record;
  std::vector<int> Rows;  ///< patch of each row in the files; see RowsOf()
};

/// Returns the locations in the FormatData of a catalog from ContainerFormat. Throws Error for any other
/// catalog.
StepLocations StepLocationsOf(const Catalog& catalog);

class ContainerFormat : public Format
{
public:
  const char* Name() const override { return "Container"; }
  const char* SupportedFiles() const override { return "a PatchIO container (folder NAME.pio)"; }
  /// Returns whether the path is a container's folder, its log, or a file of one of its steps.
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  Catalog ReadCatalog(const std::string& path) const override;
  std::vector<ValueRange> RangesOf(const Catalog& catalog, int variable) const override;
  /// Returns false: the log serves as an index.
  bool NeedsIndex(const Catalog& /*catalog*/) const override { return false; }
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

}  // namespace patchio::container
