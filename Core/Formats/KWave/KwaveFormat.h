// The format of k-Wave's HDF5 files: outputs with the values at the sensor, and inputs. README.md in this
// folder documents the format.
#pragma once

#include "Formats/Format.h"

namespace patchio::kwave {

class KwaveFormat : public Format
{
public:
  const char* Name() const override { return "k-Wave"; }
  const char* SupportedFiles() const override { return "a k-Wave output or input file (HDF5)"; }
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  Catalog ReadCatalog(const std::string& path) const override;
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

}  // namespace patchio::kwave
