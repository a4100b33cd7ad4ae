// The format of GrADS: a descriptor (.ctl) and flat binary files, as GRAPES / CMA-MESO write them.
#pragma once

#include "Formats/Format.h"

namespace patchio::grads {

class GradsFormat : public Format
{
public:
  const char* Name() const override { return "GrADS"; }
  const char* SupportedFiles() const override { return "a GrADS descriptor (*.ctl, post.ctl_2017...)"; }
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  /// Returns false: the descriptor determines the locations of all values.
  bool NeedsIndex(const Catalog&) const override { return false; }
  Catalog ReadCatalog(const std::string& path) const override;
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

}  // namespace patchio::grads
