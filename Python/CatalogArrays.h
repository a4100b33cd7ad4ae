// What is known of a step, as numpy arrays and plain Python values.
#pragma once

#include "Catalog/Catalog.h"

#include <pybind11/pybind11.h>

namespace patchio {

/// Makes the rows of `levels` and `patches` known to numpy; once, when the module is loaded.
void RegisterRows();

/// The fields of a catalog by name, for Step in __init__.py, which says what they mean.
pybind11::dict CatalogAsDict(const Catalog& catalog);

}  // namespace patchio
