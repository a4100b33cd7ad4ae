#include "Formats/AMReX/AmrexFormat.h"

#include "Formats/AMReX/AmrexCatalog.h"
#include "Formats/AMReX/AmrexLocator.h"
#include "Formats/AMReX/AmrexSeries.h"

namespace patchio::amrex {

bool AmrexFormat::Claims(const std::string& path) const
{
  return IsPlotfile(path);
}

bool AmrexFormat::SeemsBroken(const std::string& path) const
{
  return LiesInPlotfile(path);
}

Series AmrexFormat::OpenSeries(const std::string& path, const SeriesOptions& options) const
{
  return OpenPlotSeries(path, options);
}

Catalog AmrexFormat::ReadCatalog(const std::string& path) const
{
  return ReadPlotCatalog(path);
}

std::vector<ValueRange> AmrexFormat::RangesOf(const Catalog& catalog, int variable) const
{
  return ReadPlotRanges(catalog, variable);
}

LocationTable AmrexFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return LocateInFabs(catalog, requests, options);
}

}  // namespace patchio::amrex
