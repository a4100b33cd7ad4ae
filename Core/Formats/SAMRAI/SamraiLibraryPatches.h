// A cluster file as the HDF5 library sees it.
#pragma once

#include "Formats/SAMRAI/SamraiClusterInspector.h"
#include "Support/Hdf5.h"

namespace patchio::samrai {

/// For the thread that calls HDF5.
class SamraiLibraryPatches : public ClusterInspector
{
public:
  /// Throws Error when the file cannot be opened.
  explicit SamraiLibraryPatches(const std::string& path);
  const std::string& Path() const override { return this->File.Path(); }
  std::uint64_t FileBytes() const override { return this->Bytes; }
  void OpenPatch(const Patch& patch) override;
  bool Has(const std::string& name) override { return this->File.HasLink(this->Group, name); }
  hdf5index::Dataset Describe(const std::string& name) override;
  bool MayList(std::uint64_t chunks) override;
  void ListChunks(const std::string& name, const hdf5index::Dataset& dataset, Chunk* chunks) override;

private:
  hdf5::Handle Open(const std::string& name) const;

  hdf5::File File;
  std::uint64_t Bytes = 0;
  std::uint64_t Listed = 0;  ///< chunks
  hdf5::Handle Group;
  std::string GroupName;
};

}  // namespace patchio::samrai
