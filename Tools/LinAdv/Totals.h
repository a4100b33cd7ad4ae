// Sums over the whole hierarchy that tell whether the solution is right.
#pragma once

#include "LinAdv/Hierarchy.h"

namespace patchio::linadv {

struct Totals
{
  double Mean = 0.0;   ///< of the first scalar over the domain, finest values
  double Error = 0.0;  ///< mean of |value - exact|; periodic boundaries wrap the exact profile
};

/// Collective; the result is rank 0's, the others get zeros. Does not depend on the number of ranks.
Totals MakeTotals(const Hierarchy& hierarchy, double time, MPI_Comm comm);

}  // namespace patchio::linadv
