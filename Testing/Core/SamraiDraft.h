// SAMRAI dumps for tests, made from a catalog by a short implementation of the format that does not depend on
// the code under test.
#pragma once

#include "Catalog/Catalog.h"
#include "Hdf5Draft.h"

#include <string>
#include <vector>

namespace patchio::testing {

/// Two levels in 2-D, three patches in two cluster files:
///   density    cell-centred scalar, everywhere
///   velocity   node-centred vector, everywhere
///   pressure   cell-centred scalar with one ghost layer along axis 0, everywhere
///   fine only  cell-centred scalar, on patch 2 only
Catalog SmallCatalog();

/// Returns the value that DraftCluster() stores; different for all arguments in small dumps.
float DraftValue(int patch, int variable, int component, std::int64_t index);
/// Returns all values of one component as stored.
std::vector<float> DraftValues(const Catalog& catalog, int patch, int variable, int component);

/// Returns the data sets of summary.samrai. All of the catalog is used but Path and materials.
Hdf5Draft DraftSummary(const Catalog& catalog);
/// Returns the data sets of one cluster file: variables that are Stored.
Hdf5Draft DraftCluster(const Catalog& catalog, int file);

/// Returns the group of a patch in its cluster file, with a slash at the end.
std::string PatchGroup(const Patch& patch);

/// Writes a whole dump into folder/visit_dump.NNNNN and returns the path of its summary.
std::string WriteDump(const std::string& folder, const Catalog& catalog);
std::string ClusterPath(const std::string& summary, int file);

}  // namespace patchio::testing
