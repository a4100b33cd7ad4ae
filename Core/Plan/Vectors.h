// Scalars that are the components of one vector, by their names.
#pragma once

#include "Catalog/Catalog.h"

#include <string>
#include <vector>

namespace patchio {

struct ComposedVector
{
  std::string Name;
  std::vector<int> Components;  ///< two or three, x first; indices into Catalog::Variables
};

/// Vectors whose components are all among the wanted variables, which are indices into Catalog::Variables:
/// names that differ in a word, or at the begin or end of one, that is x, y and z (`x_velocity`,
/// `velocity_x`, `ux`, `Bx`), or that have u, v and w as a word. In two dimensions x and y, or u and v,
/// suffice; so do u and v, whatever w, where the grid is geographic, as its vertical component has other
/// units. Names stay as they are but for that letter; of u, v and w it becomes "velocity". Maxima, minima and
/// the like over time are no vectors. A name that a variable has gets an underscore. No vector is composed if
/// the data have it: a variable of its name, at the same place, with as many components or with three.
std::vector<ComposedVector> VectorsAmong(const Catalog& catalog, const std::vector<int>& wanted);

}  // namespace patchio
