// The values of many patches, read by one rank with bounded memory: a batch of patches after another.
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
  /// patches, variables: numbers in the step, which must outlive this. Finds out where all values lie; what
  /// cannot be found is in Places().Problems. batchBytes: of values, about. asShown: in the form of
  /// RequestInThreeDimensions(), else as they are stored.
  PatchBatches(const OpenedStep& step, std::vector<int> patches, std::vector<int> variables, int threads,
      std::uint64_t batchBytes, bool asShown = false);

  /// Patches x variables.
  const LocationTable& Places() const { return this->All; }
  /// Reads the next patches, and says which: positions First .. End - 1 in `patches`. Values without ghosts.
  /// False when there are no more. Faults of files are in the result.
  bool Next(LoadResult& result);
  std::size_t First() const { return this->Begin; }
  std::size_t End() const { return this->Behind; }

private:
  LocationTable PlacesOf(const std::vector<PatchVariable>& requests) const;
  std::uint64_t BytesOf(std::size_t row) const;

  const OpenedStep& Step;
  const std::vector<int> Patches, Variables;
  const int Threads;
  const std::uint64_t BatchBytes;
  const bool AsShown;
  std::vector<std::size_t> RowOf;  ///< position in Patches, by patch
  LocationTable All;
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::size_t Begin = 0, Behind = 0;
};

}  // namespace patchio::tools
