// From the name of a plotfile to the time steps beside it.
#pragma once

#include "Formats/Format.h"

#include <string>

namespace patchio::amrex {

/// True for a plotfile's (or checkpoint's) folder or its Header: by the first line of that.
bool IsPlotfile(const std::string& path);
/// The same by the folder of level 0 alone, which lies beside the Header.
bool LiesInPlotfile(const std::string& path);

/// The plotfile and all beside it whose names differ in the digits at the end only.
Series OpenPlotSeries(const std::string& path, const SeriesOptions& options);

}  // namespace patchio::amrex
