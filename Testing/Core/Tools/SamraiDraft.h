// Small SAMRAI dumps for tests, made from a catalog without the code under test; see SamraiDump.h.
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

/// Returns the data sets of summary.samrai. Both ends of each component's range are the number of the patch.
Hdf5Draft DraftSummary(const Catalog& catalog);
/// Returns the data sets of one cluster file.
Hdf5Draft DraftCluster(const Catalog& catalog, int file);

/// Writes a whole dump into folder/visit_dump.NNNNN and returns the path of its summary.
std::string WriteDump(const std::string& folder, const Catalog& catalog);

}  // namespace patchio::testing
