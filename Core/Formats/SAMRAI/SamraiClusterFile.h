// A cluster file: the data sets of one patch after another.
#pragma once

#include "Catalog/Catalog.h"
#include "Hdf5/Structure.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace patchio::samrai {

/// State of a file that several threads look into.
struct SharedFile
{
  std::string Path;
  std::atomic<std::uint64_t> Listed{0};  ///< chunks, by all threads
  /// More chunks than hdf5::MostChunks(): from now on none are listed, and what was located is void.
  std::atomic<bool> TooMany{false};
};

/// "/processor.00000/level.00001/patch.00002"
std::string PatchGroupName(const Patch& patch);

/// For one thread; several may look into one file. All methods throw Error, with the file and what is wrong
/// in it.
class ClusterFile
{
public:
  /// Turns to a file of so many bytes; `shared` must outlive that.
  void Open(SharedFile& shared, hdf5::ReadAt read, std::uint64_t bytes);
  const std::string& Path() const { return this->Shared->Path; }

  void OpenPatch(const Patch& patch);
  // Names count from the patch that was opened last.
  bool Has(const std::string& name);
  hdf5::Dataset Describe(const std::string& name);
  /// Returns whether so many chunks more may be listed: lists that no sound file needs must not fill the
  /// memory.
  bool MayList(std::uint64_t chunks);
  /// Fills ChunksOf(dataset) chunks.
  void ListChunks(const std::string& name, const hdf5::Dataset& dataset, Chunk* chunks);

private:
  template <typename Work>
  auto Guarded(const std::string& name, const Work& work) const;
  hdf5::Group GroupIn(const hdf5::Group& group, const std::string& name);
  std::string FullName(const std::string& name) const;

  SharedFile* Shared = nullptr;
  hdf5::Structure Reader;
  Patch Current;                ///< the patch at hand
  int Writer = -1, Level = -1;  ///< of the level at hand
  hdf5::Group LevelGroup, PatchGroup;
};

}  // namespace patchio::samrai
