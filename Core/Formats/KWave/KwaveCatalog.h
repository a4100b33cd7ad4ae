// From what a k-Wave file means to a catalog.
#pragma once

#include "Formats/KWave/KwaveDescription.h"

namespace patchio::kwave {

/// Turned to the first step. Large parts are cut into several patches, so that ranks can share them.
Catalog MakeCatalog(const KwaveDescription& description);

}  // namespace patchio::kwave
