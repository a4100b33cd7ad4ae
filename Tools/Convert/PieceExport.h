// Exports a time step of any format to files of VTK's XML formats, one file per patch, by all ranks together
// and with bounded memory.
#pragma once

#include "Convert/StepConversion.h"
#include "Formats/Format.h"

#include <functional>
#include <string>

namespace patchio::tools {

/// Writes `name`.vtm and the folder `name` with the pieces into `folder`, and replaces files of these names.
/// After a failure, no unfinished pieces remain. `options`: InThreeDimensions must be true. All pieces have
/// the same arrays; arrays that a patch lacks are filled with NaN, or 0 if the type has no NaN. VTK's flags
/// mark the cells that other patches replace. `progress`: called on each rank with the finished fraction of
/// the rank's patches. Returns ResultOf() the selected step. Throws Error, the same on all ranks, if values
/// cannot be read or files cannot be written. Collective: every rank of the communicator calls it.
ConversionResult ExportPieces(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    const std::string& folder, const std::string& name, const std::function<void(double)>& progress);

/// Returns the name of an exported step's files, without folder and extension.
std::string StepFileName(const TimeStep& step);

/// Writes the file `steps.pvd` with the TimeValues() of the steps into `folder`, and replaces an older file.
/// Throws Error if the file cannot be written. Not collective.
void WritePvdFile(const Series& series, const std::string& folder);

}  // namespace patchio::tools
