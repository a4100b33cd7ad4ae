// The study of MPI-IO's functions on a storage: all measurements, in turn, with their results saved on the
// way.
#pragma once

#include "Probe/Result.h"
#include "Probe/Settings.h"

#include <string>

namespace patchio::tools {
class Session;
}

namespace patchio::probe {

class Progress;

/// The larger measurement that a study is a part of, if any.
struct StudyFrame
{
  Progress* Bar = nullptr;  ///< to show its progress on; null: one of its own
  FlightResult Flight;      ///< what was measured before, for its result
};

/// Collective. Measures what `settings` ask for and keeps result.json and matrices.csv in the folder `output`
/// up to date. Ends early, with a result that says so, when interrupted or when the time is over. Throws
/// Error, on all ranks, when test files or results cannot be written; the result says so too, if anything was
/// measured.
Result RunStudy(tools::Session& session, const Settings& settings, const std::string& output,
    const StudyFrame& frame = {});

}  // namespace patchio::probe
