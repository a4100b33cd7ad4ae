// The catalog of a step as plain Python values.
#pragma once

#include "Catalog/Catalog.h"

#include <pybind11/pybind11.h>

namespace patchio {

/// The fields of a catalog by name. Step in _step.py says what they mean, and makes arrays of them.
pybind11::dict CatalogAsDict(const Catalog& catalog);

}  // namespace patchio
