// The format of AMReX plotfiles: the folder plt00010, or the file Header in it. README.md in this folder
// documents the format.
#pragma once

#include "Formats/Format.h"

namespace patchio::amrex {

class AmrexFormat : public Format
{
public:
  const char* Name() const override { return "AMReX"; }
  const char* SupportedFiles() const override { return "an AMReX plotfile folder (plt00010) or its Header"; }
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  Catalog ReadCatalog(const std::string& path) const override;
  std::vector<ValueRange> RangesOf(const Catalog& catalog, int variable) const override;
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

}  // namespace patchio::amrex
