// From the data sets of a patch to locations, with all checks.
#pragma once

#include "Catalog/Extent.h"
#include "Formats/SAMRAI/SamraiClusterFile.h"

#include <cstddef>
#include <string>
#include <vector>

namespace patchio::samrai {

/// Names of all variables' data sets, one for each component.
using ComponentNames = std::vector<std::vector<std::string>>;
ComponentNames NamesOfComponents(const Catalog& catalog);

/// For one thread. What it is given must outlive it.
class SamraiPatchLocator
{
public:
  SamraiPatchLocator(
      const Catalog& catalog, const std::vector<PatchVariable>& requests, const ComponentNames& names)
      : Data(catalog), Requests(requests), Names(names)
  {
  }

  /// Appends the locations of requests *begin .. *(end - 1), all of one patch, to `found`. Extents get the
  /// file number `file`, problems the index of their location in `found`.
  void Locate(
      ClusterFile& cluster, int file, const std::size_t* begin, const std::size_t* end, LocationTable& found);

private:
  using Dataset = hdf5::Dataset;

  /// The one request that is being located.
  struct Task
  {
    ClusterFile& Cluster;
    int File;
    PatchVariable Request;
    LocationTable& Found;
  };

  Location LocateVariable(const Task& task);
  Location LocateSparse(const Task& task);
  Dataset Find(const Task& task, const std::string& name, ElementType type) const;
  Dataset FindContiguous(const Task& task, const std::string& name, ElementType type) const;
  std::string FullName(const Task& task, const std::string& name) const;
  Location AddExtents(const Task& task);
  Location AddChunked(const Task& task, const std::vector<std::string>& names);
  Location AddLibrary(const Task& task, const std::vector<std::string>& names, const std::string& reason);

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  const ComponentNames& Names;
  std::vector<Dataset> Datasets;  ///< of the request at hand, one for each component
};

}  // namespace patchio::samrai
