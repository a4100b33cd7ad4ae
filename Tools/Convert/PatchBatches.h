// The values of many patches, read by one rank with bounded memory: one batch of patches after another.
#pragma once

#include "Io/MemoryPool.h"
#include "Read/LoadRequest.h"
#include "Read/OpenedStep.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace patchio::tools {

class PatchBatches
{
public:
  /// Locates all values; failures are in Locations().Problems. Throws Error like OpenedStep::Locate().
  /// `patches`, `variables`: numbers in `step`, which must outlive this object. `threads`: number of threads
  /// that locate and read. `batchBytes`: bytes at which a batch ends, after a whole patch.
  /// `inThreeDimensions`: true to convert values to the form of RequestInThreeDimensions(), false to leave
  /// values as stored.
  PatchBatches(const OpenedStep& step, std::vector<int> patches, std::vector<int> variables, int threads,
      std::uint64_t batchBytes, bool inThreeDimensions = false);

  /// Returns the locations of all values, in rows: one row per patch, one location per variable.
  const LocationTable& Locations() const { return this->AllLocations; }
  /// Reads the next batch, without ghosts: the patches at positions First() .. End() - 1 of the constructor's
  /// `patches`. Returns false, and leaves `result` unchanged, if no patches are left. `result` also has the
  /// faults of files.
  bool Next(LoadResult& result);
  std::size_t First() const { return this->FirstRow; }
  std::size_t End() const { return this->EndRow; }

private:
  LocationTable LocationsOf(const std::vector<PatchVariable>& requests) const;
  std::uint64_t BytesOf(std::size_t row) const;

  const OpenedStep& Step;
  const std::vector<int> Patches, Variables;
  const int Threads;
  const std::uint64_t BatchBytes;
  const bool InThreeDimensions;
  std::vector<std::size_t> RowOf;  ///< for each patch of the step, its position in Patches, or 0
  LocationTable AllLocations;
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::size_t FirstRow = 0, EndRow = 0;
};

}  // namespace patchio::tools
