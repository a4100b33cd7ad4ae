// What is known of a step, as plain Python values.
#pragma once

#include "Catalog/Catalog.h"

#include <pybind11/pybind11.h>

namespace patchio {

/// The fields of a catalog by name, for Step in __init__.py, which says what they mean and makes arrays of
/// them.
pybind11::dict CatalogAsDict(const Catalog& catalog);

}  // namespace patchio
