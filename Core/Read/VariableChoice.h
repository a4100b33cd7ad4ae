// Which variables of a step are read, by their names, and in which form.
#pragma once

#include "Catalog/Catalog.h"
#include "Read/LoadRequest.h"

#include <set>
#include <string>
#include <vector>

namespace patchio {

/// What the user does not want to read. Steps of a series may have variables of their own, so all others are
/// read.
struct VariableChoice
{
  std::set<std::string> CellsOff;   ///< variables at cells
  std::set<std::string> PointsOff;  ///< variables at nodes

  bool Has(const Variable& variable) const
  {
    return (variable.Center == Centering::Cell ? this->CellsOff : this->PointsOff).count(variable.Name) == 0;
  }
};

/// The largest ghost width among the chosen variables; of curvilinear grids that of the coordinates.
Int3 GhostsOf(const Catalog& catalog, const VariableChoice& choice);

/// A variable in the form in which visualization wants it: vectors of 2-D data get a third component, 2-D
/// tensors (four components, row by row) become 3 x 3; all else stays as it is.
VariableRequest RequestInThreeDimensions(const Catalog& catalog, int variable, const Int3& ghosts);

/// The chosen variables, and those that say where things lie, in that form.
std::vector<VariableRequest> RequestsFor(
    const Catalog& catalog, const VariableChoice& choice, const Int3& ghosts);

}  // namespace patchio
