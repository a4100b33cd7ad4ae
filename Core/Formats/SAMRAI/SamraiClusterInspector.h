// What SamraiPatchLocator asks of a reader of cluster files.
#pragma once

#include "Catalog/Catalog.h"
#include "Hdf5Index/Dataset.h"

#include <cstdint>
#include <string>

namespace patchio::samrai {

/// Looks into one cluster file, at one patch after another. All methods throw Error, with the file and what
/// is wrong in it.
class ClusterInspector
{
public:
  virtual ~ClusterInspector() = default;
  virtual const std::string& Path() const = 0;
  virtual std::uint64_t FileBytes() const = 0;

  virtual void OpenPatch(const Patch& patch) = 0;
  // Names count from the patch that was opened last.
  virtual bool Has(const std::string& name) = 0;
  virtual hdf5index::Dataset Describe(const std::string& name) = 0;
  /// Whether so many chunks more may be listed: lists that no sound file needs must not fill the memory.
  virtual bool MayList(std::uint64_t chunks) = 0;
  /// Fills ChunksOf(dataset) chunks.
  virtual void ListChunks(const std::string& name, const hdf5index::Dataset& dataset, Chunk* chunks) = 0;
};

/// Why no more chunks may be listed.
constexpr const char* MoreChunksThanFit = "more chunks than the file can hold";

/// "/processor.00000/level.00001/patch.00002"
std::string PatchGroupName(const Patch& patch);

}  // namespace patchio::samrai
