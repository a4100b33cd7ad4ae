// Checks of a catalog that was made from files, which may hold anything.
#pragma once

#include "Catalog/Catalog.h"

#include <string>

namespace patchio {

/// Returns the first and the last cell of a box, for messages.
std::string TextOf(const Box& box);

/// Returns the fault of a patch's box on a grid of `dimension` (2 or 3) dimensions, as a phrase for messages.
/// Null: the box has no fault.
const char* FaultOfBox(int dimension, const Box& box);

/// Throws Error, which names the first thing that is impossible, unless all holds that the rest of Core
/// relies on: levels partition the patches; boxes, ratios, spacings, ghosts and components are of sensible
/// size (see the .cxx); the coordinates of a curvilinear grid are a node-centred variable; axes of a
/// rectilinear grid have increasing positions for all nodes; the child table leads to patches of the next
/// finer level; presences exist.
void CheckCatalog(const Catalog& catalog);

}  // namespace patchio
