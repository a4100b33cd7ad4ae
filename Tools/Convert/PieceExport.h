// One time step from any format into files of VTK's XML formats, a file a patch, by all ranks together and
// with bounded memory.
#pragma once

#include "Convert/StepConversion.h"
#include "Formats/Format.h"

#include <functional>
#include <string>

namespace patchio::tools {

/// Collective; options: AsShown. Makes `name`.vtm in the folder, and the folder `name` with the pieces;
/// replaces what has these names. Nothing is left where it fails. All pieces have the same arrays, with NaN,
/// or 0 where the type has no NaN, for those that a patch lacks; cells that finer patches hide have the flags
/// of such cells. progress: told on each rank what part of its values is done. Throws Error, the same on all
/// ranks.
ConversionResult ExportPieces(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    const std::string& folder, const std::string& name, const std::function<void(double)>& progress);

/// What the files of an exported step are called, without folder and extension.
std::string ExportName(const TimeStep& step);

/// Makes `steps.pvd` in the folder, which says at what times the steps are; replaces it. Not collective.
void WriteTimesOfPieces(const Series& series, const std::string& folder);

}  // namespace patchio::tools
