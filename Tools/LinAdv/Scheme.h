// The numerics on one patch: no communication, no knowledge of other patches.
#pragma once

#include "LinAdv/Grid.h"

namespace patchio::linadv {

/// Advances `values` by one step of u_t + v . grad u = 0: one sweep an axis, each the second-order upwind
/// scheme with van Leer's limiter, which makes no new extrema. `values` has GhostWidth ghost layers, filled,
/// around `interior`; afterwards its interior is new and its ghosts are undefined.
/// `courant` = v dt / dx per axis, each in [-1, 1].
void Advance(Array& values, const Box& interior, const Double3& courant);

/// Gives cells outside `domain` the value of the nearest cell inside.
void FillOutside(Array& values, const Box& domain);

/// Sets all of `fine` from `coarse` by limited linear interpolation that keeps the mean of every coarse
/// cell. `coarse` must reach one layer of cells (in axes with a ratio above 1) beyond what lies under `fine`.
void Interpolate(const Array& coarse, const Int3& ratio, Array& fine);

/// Mean values of the coarse cells that `fine` consists of.
Array Average(const Array& fine, const Int3& ratio);

/// Mean of the cells around each node of `cells`, axis 0 fastest; `values` must reach one layer beyond
/// `cells` along the first `dimension` axes. `nodes` has the right length.
void NodeMeans(const Array& values, const Box& cells, int dimension, std::vector<double>& nodes);

/// Largest difference between the cell and its neighbours along the axes; `values` reaches beyond by one.
double Jump(const Array& values, int dimension, int i, int j, int k);

}  // namespace patchio::linadv
