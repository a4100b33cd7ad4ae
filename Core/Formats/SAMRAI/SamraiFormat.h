// The format of SAMRAI's VisIt dumps: dumps.visit, summary.samrai and processor_cluster.*.samrai. README.md
// in this folder documents the format.
#pragma once

#include "Formats/Format.h"

namespace patchio::samrai {

class SamraiFormat : public Format
{
public:
  const char* Name() const override { return "SAMRAI"; }
  const char* SupportedFiles() const override { return "a SAMRAI dumps.visit or summary.samrai"; }
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  Catalog ReadCatalog(const std::string& path) const override;
  std::vector<ValueRange> RangesOf(const Catalog& catalog, int variable) const override;
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

/// Reads only the time and the step of a dump. Throws Error when the file is not a summary
/// or lacks the time or the step.
TimeStep ReadSummaryHead(const std::string& path);

}  // namespace patchio::samrai
