// The catalog of a step, as its descriptor implies it, and what patches and variables of it stand for.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Formats/GRADS/GradsDescriptor.h"

namespace patchio::grads {

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

/// True for fields without a level, with one only, and where there is but one: they lie on a surface.
bool IsFlat(const Descriptor& descriptor, const GradsVariable& variable);

/// The catalog of all steps, turned to the first. Looks at no data file.
Catalog MakeCatalog(const Descriptor& descriptor);

/// Step `index`, 0 the first.
TimeStep StepOf(const Descriptor& descriptor, std::int64_t index);

/// What the user should know of how the grid is shown.
std::vector<std::string> NotesOnGrid(const Descriptor& descriptor);

}  // namespace patchio::grads
