// Makes the catalog of a step to be written from the pieces of all ranks: a pure function.
#ifndef StepCatalog_h
#define StepCatalog_h

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "InputTree.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// The key of a variable. Arrays of several pieces with the same key are one variable.
using ArrayKey = std::pair<std::string, Centering>;
inline ArrayKey KeyOf(const ArrayForm& array)
{
  return {array.Name + (array.Positions || array.Role != MeshRole::Values ? "\n" : ""), array.Center};
}

struct StepCatalog
{
  Catalog Data;
  std::vector<ElementType> Types;  ///< types of the variables
  std::vector<int> PieceOf;        ///< by patch: index into the pieces
  std::map<ArrayKey, int> VariableOf;
};

/// Returns the catalog of all pieces. Levels are those of an AMR data set or of PatchIO's reader. Otherwise
/// blocks of one cell size are a level, if flags say that finer blocks hide coarser ones, if blocks do not
/// overlap, or if there are many blocks. In all other cases each block of the tree is a level beside the
/// others. Uniform blocks get indices on one common lattice; node positions do not change.
///
/// Throws Error if the pieces do not fit into one catalog.
StepCatalog MakeStepCatalog(const std::vector<PieceForm>& pieces);

}  // namespace patchio

#endif
