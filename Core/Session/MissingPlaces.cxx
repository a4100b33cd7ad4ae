#include "Session/MissingPlaces.h"

#include "Support/Error.h"

#include <string>

namespace patchio {
namespace {

/// Whether the block lies where this variable says.
bool IsPlacedBy(const Catalog& catalog, const Block& block, int variable)
{
  return variable == catalog.CoordinatesVariable ||
         (catalog.Variables[variable].Positions && catalog.RoleOf(block.Level) == LevelRole::Points &&
             catalog.PositionsOf(block.Level) == variable);
}

LoadFault FaultOfBlock(const Catalog& catalog, const Block& block, int variable)
{
  const int patch = block.Parts[0].Owner;
  const Error error = catalog.Variables[variable].Positions
                          ? FileError(catalog.Path, "the places of points", "none", "The file is damaged")
                          : FileError(catalog.Path, "node positions for patch " + std::to_string(patch),
                                "none", "The dump is damaged");
  return {patch, variable, error.what()};
}

}  // namespace

std::vector<LoadFault> MissingPlaces(
    const Catalog& catalog, const LoadRequest& request, const LoadResult& loaded)
{
  std::vector<LoadFault> faults;
  for (std::size_t v = 0; v < request.Variables.size(); ++v) {
    const int variable = request.Variables[v].Variable;
    for (std::size_t b = 0; b < request.Blocks.size(); ++b) {
      if (IsPlacedBy(catalog, request.Blocks[b], variable) && loaded.At(b, v).Status == ArrayStatus::Absent) {
        faults.push_back(FaultOfBlock(catalog, request.Blocks[b], variable));
      }
    }
  }
  return faults;
}

}  // namespace patchio
