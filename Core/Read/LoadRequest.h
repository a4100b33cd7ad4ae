// The request of one rank's read, and its result.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Io/ArrayRange.h"
#include "Io/MemoryPool.h"
#include "Plan/Blocks.h"
#include "Plan/ReadPlan.h"
#include "Read/FileFingerprints.h"
#include "Tuning/IoReport.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

class ReadControl;
class Source;
class ValueCache;

/// A variable and the form of the delivered values.
struct VariableRequest
{
  int Variable = 0;          ///< index in the catalog
  int OutputComponents = 1;  ///< >= stored components; the additional components are 0
  std::vector<int> Slots;    ///< index of each stored array's first component in the output components
  /// Ghost layers to deliver, per axis. Layers that the file does not have repeat the nearest stored value.
  /// If any number is not 0, all blocks must be whole patches.
  Int3 Ghosts{0, 0, 0};

  bool operator==(const VariableRequest& other) const
  {
    return this->Variable == other.Variable && this->OutputComponents == other.OutputComponents &&
           this->Slots == other.Slots && this->Ghosts == other.Ghosts;
  }
};

/// Returns a request for the variable as it is stored, with its own components and ghost layers.
VariableRequest RequestAsStored(const Catalog& catalog, int variable);

/// The arrays to read: each variable on each block.
struct RequestedArrays
{
  std::vector<Block> Blocks;
  std::vector<VariableRequest> Variables;
  bool FindRanges = false;  ///< fills LoadedArray::Range
  /// Fingerprint of the file that describes the step, for the cache.
  FileFingerprints DescribingFingerprint;
};

/// The settings of one rank's read: threads, checks and request sizes.
struct LoadSettings
{
  int Threads = 1;           ///< number of threads (NT), >= 1
  bool StopAtFault = false;  ///< true: the first fault ends the read; false: all sound arrays are read
  bool Verify = false;       ///< compare values with the checksums in the files; see LocateOptions
  StorageModel Storage;      ///< determines the size of read requests
  /// True for a prefetch, which must not evict the values of the displayed step, and must leave some memory
  /// below the pool's limit.
  bool IsPrefetch = false;
  /// Later reads do not reuse values of files that changed less than this number of seconds before the read.
  double SettleSeconds = 2;
};

/// Objects that a read uses. All but Memory may be null.
struct LoadServices
{
  /// Adapts the number of threads during the read; null: the number stays `Threads`. The caller must call
  /// ReadControl::Finish().
  ReadControl* Control = nullptr;
  /// Makes the source that reads the files of the table; null: MakeFileSource().
  std::function<std::unique_ptr<Source>(const LocationTable&)> MakeSource;
  /// Memory of earlier reads for reuse, with a limit.
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  /// Cache of values. Arrays found in it are not read; arrays that are read are added to it. Null: no cache.
  std::shared_ptr<ValueCache> Cache;
};

/// The arrays, settings and services (memory, cache) of one rank's read.
struct LoadRequest : RequestedArrays, LoadSettings, LoadServices
{
};

enum class ArrayStatus
{
  NotRead,
  Read,
  Absent,
  Failed
};

/// The values of one variable on one block.
struct LoadedArray
{
  ArrayStatus Status = ArrayStatus::NotRead;
  ElementType Type = ElementType::Float32;
  int Components = 0;
  std::int64_t Tuples = 0;
  bool HasUndefined = false;  ///< some values are NaN, for example because the file marks them as undefined
  ArrayRange Range;           ///< range of the values, if RequestedArrays::FindRanges
  Buffer Values;              ///< Tuples x Components values, component fastest; null unless Read
};

/// Returns a copy of `array` that shares the memory of the values.
inline LoadedArray ShareArray(const LoadedArray& array)
{
  return {array.Status, array.Type, array.Components, array.Tuples, array.HasUndefined, array.Range,
      array.Values ? ShareBuffer(array.Values.get()) : nullptr};
}

/// A variable that could not be read on a patch.
struct LoadFault
{
  int Patch = 0;
  int Variable = 0;
  std::string Message;
};

/// The result of one rank's read.
struct LoadResult
{
  /// One array per block and variable of the request; see At().
  std::vector<LoadedArray> Arrays;
  std::vector<LoadFault> Faults;
  bool Cancelled = false;
  IoReport Report;  ///< report of this rank
  std::size_t VariableCount = 0;

  /// Returns the array for the positions `block` in RequestedArrays::Blocks and `variable` in
  /// RequestedArrays::Variables.
  LoadedArray& At(std::size_t block, std::size_t variable)
  {
    return this->Arrays[block * this->VariableCount + variable];
  }
  const LoadedArray& At(std::size_t block, std::size_t variable) const
  {
    return this->Arrays[block * this->VariableCount + variable];
  }
};

}  // namespace patchio
