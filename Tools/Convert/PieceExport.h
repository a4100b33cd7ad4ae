// Exports a time step of any format to files of VTK's XML formats, one file per patch, by all ranks together
// and with bounded memory.
#pragma once

#include "Convert/StepConversion.h"
#include "Formats/Format.h"

#include <functional>
#include <string>

namespace patchio::tools {

/// Collective: writes `name`.vtm and the folder `name` with the pieces into the folder, and replaces files of
/// these names. After a failure, no unfinished pieces remain. options: AsShown must be set. All pieces have
/// the same arrays; arrays that a patch lacks are filled with NaN, or 0 if the type has no NaN. Cells under
/// finer patches get VTK's flags of hidden cells. progress: called on each rank with the finished fraction of
/// its values. Throws Error, the same on all ranks.
ConversionResult ExportPieces(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    const std::string& folder, const std::string& name, const std::function<void(double)>& progress);

/// Returns the name of an exported step's files, without folder and extension.
std::string ExportName(const TimeStep& step);

/// Writes `steps.pvd`, which has the times of the steps, into the folder; replaces an older one. Not
/// collective.
void WriteTimesOfPieces(const Series& series, const std::string& folder);

}  // namespace patchio::tools
