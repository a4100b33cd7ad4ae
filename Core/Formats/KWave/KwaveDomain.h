// The grid of a k-Wave run.
#pragma once

#include "Formats/KWave/KwaveDescription.h"
#include "Formats/KWave/KwaveFile.h"

namespace patchio::kwave {

/// Reads grid points, distances and the time step into `to`, with notes on unusual grids. Throws Error when a
/// file cannot have them.
void ReadDomain(const KwaveFile& file, KwaveDescription& to);

/// The times of the description's steps, where PatchIO has written the file: they need not be dt apart.
void ReadTimes(const KwaveFile& file, KwaveDescription& to);

}  // namespace patchio::kwave
