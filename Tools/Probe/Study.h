// The study of MPI-IO's functions on a storage: makes all measurements, and saves their results repeatedly.
#pragma once

#include "Probe/Result.h"
#include "Probe/Settings.h"

#include <string>

namespace patchio::tools {
class Session;
}

namespace patchio::probe {

class Progress;

/// The larger measurement, if any, that contains the study.
struct StudyFrame
{
  Progress* Bar = nullptr;  ///< shows the progress; null: the study shows its own progress
  ConcurrencyScan Scan;     ///< earlier results of the quick mode, which the result of the study includes
};

/// Makes the measurements of `settings`, and keeps result.json and matrices.csv in the folder `output` up to
/// date. A signal or the end of the time ends the study early; WhyIncomplete then has the reason. Throws
/// Error, on all ranks, if the settings are invalid, if memory or space is insufficient, or if test files or
/// results cannot be written. If the test folder exists by then, `why_incomplete` in result.json has the
/// reason of the error. Collective: every rank of the communicator calls it.
Result RunStudy(tools::Session& session, const Settings& settings, const std::string& output,
    const StudyFrame& frame = {});

}  // namespace patchio::probe
