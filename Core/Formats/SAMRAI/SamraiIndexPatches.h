// A cluster file as PatchIO's own index reader sees it.
#pragma once

#include "Formats/SAMRAI/SamraiClusterInspector.h"
#include "Hdf5Index/IndexReader.h"

#include <atomic>
#include <memory>

namespace patchio::samrai {

/// What the threads that look into one file share.
struct SharedFile
{
  std::string Path;
  std::atomic<std::uint64_t> Listed{0};  ///< chunks, by all threads
  std::atomic<bool> TooMany{false};      ///< more chunks than MostChunks(): all results are void
};

/// For one thread; several may look into one file. Methods also throw hdf5index::Unfamiliar; its errors
/// are not shown, as the library is asked wherever there is one.
class SamraiIndexPatches : public ClusterInspector
{
public:
  /// Turns to a file, which must outlive that.
  void Open(SharedFile& shared, std::shared_ptr<Source::File> file, std::uint64_t bytes);
  const std::string& Path() const override { return this->Shared->Path; }
  std::uint64_t FileBytes() const override { return this->Reader.FileBytes(); }
  void OpenPatch(const Patch& patch) override;
  bool Has(const std::string& name) override;
  hdf5index::Dataset Describe(const std::string& name) override;
  bool MayList(std::uint64_t chunks) override;
  void ListChunks(const std::string& name, const hdf5index::Dataset& dataset, Chunk* chunks) override;

private:
  hdf5index::Group GroupIn(const hdf5index::Group& group, const std::string& name);
  std::optional<std::uint64_t> Find(const std::string& path);

  SharedFile* Shared = nullptr;
  hdf5index::IndexReader Reader;
  int Writer = -1, Level = -1;  ///< of the level at hand
  hdf5index::Group LevelGroup, PatchGroup;
};

}  // namespace patchio::samrai
