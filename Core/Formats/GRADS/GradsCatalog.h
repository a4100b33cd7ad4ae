// The catalog of a GrADS data set.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Formats/GRADS/GradsDescriptor.h"

#include <string>
#include <vector>

namespace patchio::grads {

/// The origin of a catalog's variable. The catalog has the variables of the ensemble's first member, then
/// those of the second, and so on.
struct MemberVariable
{
  std::int64_t Member = 0;
  int Variable = 0;  ///< index into Descriptor::Variables
};
inline MemberVariable MemberVariableOf(const Descriptor& descriptor, int variable)
{
  const auto count = static_cast<int>(descriptor.Variables.size());
  return {variable / count, variable % count};
}

/// Returns whether the variable lies on a surface: it has no level or one, or the grid has a single level.
bool IsFlat(const Descriptor& descriptor, const GradsVariable& variable);

/// Returns the head of step `index`, counted from 0.
TimeStep StepOf(const Descriptor& descriptor, std::int64_t index);

/// Returns notes for the user on the positions and the undefined values that PatchIO shows.
std::vector<std::string> NotesOnGrid(const Descriptor& descriptor);

}  // namespace patchio::grads
