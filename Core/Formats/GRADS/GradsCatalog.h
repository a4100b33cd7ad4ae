// The catalog of a GrADS data set, with latitudes of Gaussian grids.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Formats/GRADS/GradsDescriptor.h"

#include <string>
#include <vector>

namespace patchio::grads {

/// Latitudes of a grid that GrADS knows by a name in lower case, such as gaust62; 0 for another name.
int LatitudesOf(const std::string& grid);

/// Latitudes of a Gaussian grid in degrees, from south to north; count: 1 .. 10000.
std::vector<double> GaussianLatitudes(int count);

/// Variables of the catalog: those of the first member of the ensemble, then those of the second, ...
struct VariablePlace
{
  std::int64_t Member = 0;
  int Variable = 0;  ///< index into Descriptor::Variables
};
inline VariablePlace PlaceOfVariable(const Descriptor& descriptor, int variable)
{
  const auto count = static_cast<int>(descriptor.Variables.size());
  return {variable / count, variable % count};
}

/// True for fields with no level or one, and where the grid has a single level: they lie on a surface.
bool IsFlat(const Descriptor& descriptor, const GradsVariable& variable);

/// Step `index`, 0 the first.
TimeStep StepOf(const Descriptor& descriptor, std::int64_t index);

/// Notes for the user on how the grid is shown.
std::vector<std::string> NotesOnGrid(const Descriptor& descriptor);

}  // namespace patchio::grads
