#include "Read/ReadRequest.h"

#include <algorithm>

namespace patchio {

VariableRequest RequestInThreeDimensions(const Catalog& catalog, int variable, const Int3& ghosts)
{
  VariableRequest request = RequestAsStored(catalog, variable);
  request.Ghosts = ghosts;
  if (catalog.Dimension == 2 && request.OutputComponents == 2) {
    request.OutputComponents = 3;
  } else if (catalog.Dimension == 2 && request.OutputComponents == 4) {
    request.OutputComponents = 9;
    request.Slots = catalog.Variables[variable].Interleaved ? request.Slots : std::vector<int>{0, 1, 3, 4};
  }
  return request;
}

Int3 GhostsOf(const Catalog& catalog, const VariableChoice& choice)
{
  if (catalog.Grid == GridType::Curvilinear) {
    return catalog.Variables[catalog.CoordinatesVariable].Ghosts;
  }
  Int3 ghosts{0, 0, 0};
  for (const Variable& variable : catalog.Variables) {
    for (int axis = 0; axis < 3 && choice.Has(variable); ++axis) {
      ghosts[axis] = std::max(ghosts[axis], variable.Ghosts[axis]);
    }
  }
  return ghosts;
}

std::vector<VariableRequest> RequestsFor(
    const Catalog& catalog, const VariableChoice& choice, const Int3& ghosts)
{
  std::vector<VariableRequest> requests;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    const Variable& variable = catalog.Variables[v];
    if (catalog.IsGeometry(v) || variable.Role == MeshRole::Flags || choice.Has(variable)) {
      requests.push_back(RequestInThreeDimensions(catalog, v, ghosts));
    }
  }
  return requests;
}

}  // namespace patchio
