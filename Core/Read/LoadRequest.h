// What one rank wants to read, and what it gets.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Io/ArrayRange.h"
#include "Io/MemoryPool.h"
#include "Plan/Blocks.h"
#include "Plan/ReadPlan.h"
#include "Read/FilesSeen.h"
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

/// A variable and the form in which it is wanted.
struct VariableRequest
{
  int Variable = 0;          ///< index in the catalog
  int OutputComponents = 1;  ///< >= stored components; the surplus is 0
  std::vector<int> Slots;    ///< place of each stored array's first component among the output components
  /// Layers of ghosts to deliver as they are stored; surplus ones repeat the nearest stored value. All blocks
  /// must be whole patches then.
  Int3 Ghosts{0, 0, 0};

  bool operator==(const VariableRequest& other) const
  {
    return this->Variable == other.Variable && this->OutputComponents == other.OutputComponents &&
           this->Slots == other.Slots && this->Ghosts == other.Ghosts;
  }
};

/// The variable as it is stored: its own components, its own ghosts.
VariableRequest RequestAsStored(const Catalog& catalog, int variable);

/// What is read.
struct WantedArrays
{
  std::vector<Block> Blocks;
  std::vector<VariableRequest> Variables;
  bool FindRanges = false;  ///< fills LoadedArray::Range
  /// The file that describes the step, for the cache.
  FilesSeen DescribedBy;
};

/// How it is read.
struct LoadSettings
{
  int Threads = 1;           ///< NT >= 1
  bool StopAtFault = false;  ///< true: the first fault ends the read; false: everything sound is read
  bool Verify = false;       ///< compare values with what the files have for that, see LocateOptions
  StorageModel Storage;      ///< decides on the size of requests
  /// Nobody has asked for it yet: the values that are shown, and some memory within the pool's limit, stay.
  bool Ahead = false;
  double SettleSeconds = 2;  ///< values of files that changed so shortly before are not reused
};

/// What helps to read it; all may be null.
struct LoadServices
{
  /// Adapts the number of threads during the read; null: it stays what `Threads` says. Its Finish() is the
  /// caller's.
  ReadControl* Control = nullptr;
  /// Where the files of the table are read from; null: MakeFileSource().
  std::function<std::unique_ptr<Source>(const LocationTable&)> Files;
  /// Memory of earlier reads to use again, and the limit on it; null: fresh memory, no limit.
  std::shared_ptr<MemoryPool> Memory;
  /// What is in it is not read, and what is read is put into it; null: all is read.
  std::shared_ptr<ValueCache> Cache;
};

/// One rank's read.
struct LoadRequest : WantedArrays, LoadSettings, LoadServices
{
};

enum class ArrayStatus
{
  NotRead,
  Read,
  Absent,
  Failed
};

/// One variable on one block.
struct LoadedArray
{
  ArrayStatus Status = ArrayStatus::NotRead;
  ElementType Type = ElementType::Float32;
  int Components = 0;
  std::int64_t Tuples = 0;
  bool HasUndefined = false;  ///< some values are NaN because their stored numbers stand for none
  ArrayRange Range;           ///< of the values, if the request wants it
  Buffer Values;              ///< Tuples x Components values, component fastest; null unless Read
};

/// The same array; both have the values' memory in common.
inline LoadedArray ShareArray(const LoadedArray& array)
{
  return {array.Status, array.Type, array.Components, array.Tuples, array.HasUndefined, array.Range,
      array.Values ? ShareBuffer(array.Values.get()) : nullptr};
}

struct LoadFault
{
  int Patch = 0;
  int Variable = 0;
  std::string Message;
};

struct LoadResult
{
  /// Blocks x variables of the request; see At().
  std::vector<LoadedArray> Arrays;
  std::vector<LoadFault> Faults;
  bool Cancelled = false;
  IoReport Report;  ///< of this rank
  std::size_t VariableCount = 0;

  /// By position in WantedArrays::Blocks and WantedArrays::Variables.
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
