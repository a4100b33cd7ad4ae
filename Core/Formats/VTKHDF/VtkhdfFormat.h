// The format of VTKHDF files, VTK's HDF5 format, of the types ImageData, OverlappingAMR, UnstructuredGrid and
// PolyData. README.md in this folder documents the format.
#pragma once

#include "Formats/Format.h"

namespace patchio::vtkhdf {

class VtkhdfFormat : public Format
{
public:
  const char* Name() const override { return "VTKHDF"; }
  const char* SupportedFiles() const override { return "a VTKHDF file with an image, AMR levels or a mesh"; }
  bool Claims(const std::string& path) const override;
  bool SeemsBroken(const std::string& path) const override;
  std::string UnsupportedContents(const std::string& path) const override;
  Series OpenSeries(const std::string& path, const SeriesOptions& options) const override;
  Catalog ReadCatalog(const std::string& path) const override;
  Catalog ReadStep(const TimeStep& step) const override;
  bool NeedsIndex(const Catalog& catalog) const override;
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override;
};

}  // namespace patchio::vtkhdf
