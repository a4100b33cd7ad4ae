// Which tiles the finer levels should have.
#pragma once

#include "Base/Communicator.h"
#include "LinAdv/Hierarchy.h"
#include "LinAdv/Options.h"

namespace patchio::linadv {

/// Collective. Tiles for levels 1, 2, ... around the fronts as they are now, nested; at most one level more
/// than there is, and at most `options.Levels` in all. The same on all ranks.
std::vector<TileList> ChooseTiles(const Hierarchy& hierarchy, const Options& options, Communicator& ranks);

}  // namespace patchio::linadv
