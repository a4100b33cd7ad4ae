// Checks of catalogs, which come from files and may therefore be invalid.
#pragma once

#include "Catalog/Catalog.h"

#include <string>

namespace patchio {

/// Formats the first and the last cell of a box, for messages.
std::string TextOf(const Box& box);

/// Returns the fault of a patch's box on a grid of `dimension` (2 or 3) dimensions, as a phrase for messages,
/// or null if the box has no fault.
const char* FaultOfBox(int dimension, const Box& box);

/// Checks all properties of a catalog that the rest of Core relies on, and throws Error about the first
/// violation: levels partition the patches; boxes, ratios, spacings, ghosts and numbers of components are
/// within the limits of CheckCatalog.cxx; a curvilinear grid has node-centred coordinates; the axes of a
/// rectilinear grid have increasing positions for all nodes; mesh arrays fit their meshes; the child table
/// refers to patches of the next finer level; presences are valid.
void CheckCatalog(const Catalog& catalog);

}  // namespace patchio
