// Gradients of cell data of several levels.
#ifndef Filters_CellGradient_h
#define Filters_CellGradient_h

#include "Filters/CellLattice.h"

#include <array>

namespace patchio::filters {

/// The gradient at the centre of a cell: the least squares through the differences to one visible cell beyond
/// each face, over the true distance of the centres. It is that of central differences where the neighbours
/// are of the same level, and exact for linear functions at all borders of levels. Along an axis without a
/// neighbour it is zero. `hint`: see CellLattice::Find().
std::array<double, 3> GradientAt(const CellLattice& lattice, const CellRef& cell, int& hint);

}  // namespace patchio::filters

#endif
