// The arrays of one rank's blocks: their memory, the targets of values in them, and their completion.
#pragma once

#include "Catalog/Catalog.h"
#include "Io/MemoryPool.h"
#include "Io/ReadTask.h"
#include "Plan/BlockLayout.h"
#include "Read/LoadRequest.h"
#include "Read/ValueCache.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio {

/// The arrays of a read: one per block and variable. A request is a <patch, variable> that must be read.
/// Requests are in the order of the sources (the patches BlockLayout::Sources()), and of the variables within
/// a source.
class BlockArrays
{
public:
  /// Keeps references to `catalog` and `requested`. `reused` must be made from these two objects.
  BlockArrays(const Catalog& catalog, const RequestedArrays& requested, ReusedArrays reused);

  /// Returns the <patch, variable> of all requests.
  std::vector<PatchVariable> Requests() const;

  /// Returns the number of patches with values in the arrays.
  std::size_t PatchCount() const { return this->Layout->Sources().size(); }

  /// Sets the types and sizes of the arrays from the locations of their values. Removes locations and chunks
  /// that no array uses. A request becomes Missing, with an entry in the table's Problems, if its values have
  /// another type than other values of its array, or are absent although its array has other values.
  void SetTypes(LocationTable& table);

  /// Returns the number of bytes that Allocate() would allocate: arrays that have memory, also from the
  /// cache, do not count.
  double Bytes() const;

  std::size_t Count() const { return this->Arrays.size(); }

  /// Allocates memory for all arrays of the requests in `order`, then for arrays with copied values. Each
  /// variable has its own segments, so that dropping a variable returns memory to the pool; the arrays of one
  /// variable lie in the order of their allocation. Behind an array of cell values, memory is readable up to
  /// the size of an array of point values. Throws Error if there is not enough memory.
  void Allocate(MemoryPool& pool, const std::vector<std::uint32_t>& order);

  /// Returns the values that come from the cache. After Allocate(), call Copy() once for each of the copied
  /// arrays, in any order.
  const ReusedArrays& FromCache() const { return this->Reused; }
  /// Copies the values of FromCache().Copied()[number] into its array. Thread-safe.
  void Copy(std::size_t number);
  /// Adds `arrays`, the result of TakeArrays(), to the cache; see ReusedArrays::AddToCache(). `fingerprints`:
  /// fingerprints of the files that requests refer to. `isConstant` returns whether the values of a request
  /// are a constant instead of values in a file.
  void CacheArrays(const std::vector<LoadedArray>& arrays, const FileFingerprints& fingerprints,
      const std::function<bool(std::size_t request)>& isConstant) const;
  /// Returns the destinations of a request's values. Addresses are null before Allocate(). Thread-safe.
  ReadTarget TargetOf(std::size_t request) const;
  /// Records that the arrays have all values of a request. Completes the arrays that waited only for this
  /// request. Thread-safe.
  void CompleteRequest(std::size_t request);

  /// Marks the arrays that need a request's values as failed.
  void MarkFailed(std::size_t request);
  /// Returns whether an array that needs the request's values is not complete.
  bool IsOutstanding(std::size_t request) const;

  /// Moves the arrays out of this object, block by block and variable by variable. Arrays that are not
  /// complete or have failed have no values; arrays without stored values become Absent. Call this method
  /// once.
  std::vector<LoadedArray> TakeArrays();

private:
  /// A request: the number of its source in the layout and of its variable in RequestedArrays::Variables.
  struct SourceVariable
  {
    std::uint32_t Source = 0;
    std::uint32_t Variable = 0;
  };

  std::size_t IndexOf(std::size_t block, std::size_t variable) const
  {
    return block * this->Requested.Variables.size() + variable;
  }
  void ShareReusedArrays();
  void PrepareCopies();
  void ListRequests();
  void DropUnused(LocationTable& table) const;
  void SetType(LocationTable& table, std::size_t request);
  void Reject(LocationTable& table, std::size_t request, const std::string& found) const;
  void AllocateArray(std::size_t array, MemoryArena& memory);
  void CountDown(std::size_t array);
  void AddToRanges(std::size_t request);
  void ExtendRange(std::size_t array, const Dims& tuples, const Dims& first, const Dims& last);

  int PatchOf(std::size_t request) const
  {
    return this->Layout->Sources()[this->SourceVariables[request].Source];
  }
  const VariableRequest& VariableRequestOf(std::size_t request) const
  {
    return this->Requested.Variables[this->SourceVariables[request].Variable];
  }
  /// The placements of a request's values: Begin() .. End() - 1; none if no array needs the values.
  const Placement* Begin(std::size_t request) const;
  const Placement* End(std::size_t request) const;
  Centering CenteringOf(std::size_t variable) const
  {
    return this->Data.Variables[this->Requested.Variables[variable].Variable].Center;
  }
  /// Calls visit(index of the array) once for each array that gets values of a request.
  template <typename Visit>
  void ForEachArray(std::size_t request, Visit visit) const;
  Box OutputOf(std::size_t block, std::size_t variable) const;
  std::int64_t TuplesOf(std::size_t block, std::size_t variable) const;
  /// Returns the number of bytes that must be readable behind an array of cell values (0 for other arrays),
  /// because some filters, such as VTK's Warp By Scalar, read a cell array as if it were a point array.
  std::uint64_t PaddingOf(std::size_t index) const
  {
    const std::size_t block = index / this->Requested.Variables.size(),
                      variable = index % this->Requested.Variables.size();
    if (this->CenteringOf(variable) != Centering::Cell) {
      return 0;
    }
    const LoadedArray& array = this->Arrays[index];
    const Box nodes =
        Grow(this->Layout->ValueBox(block, Centering::Node), this->Requested.Variables[variable].Ghosts);
    const std::int64_t points = this->Data.IsMesh()
                                    ? this->Data.Meshes[this->Requested.Blocks[block].Parts[0].Owner].Points
                                    : nodes.CellCount();
    return std::max<std::int64_t>(points - array.Tuples, 0) * array.Components * SizeOf(array.Type);
  }
  ArrayMapping MappingOf(std::size_t request, const Placement& placement) const;
  void FillGapsOf(std::size_t array);
  void DropUnusedChunks(LocationTable& table, std::size_t request) const;

  const Catalog& Data;
  const RequestedArrays& Requested;
  const ReusedArrays Reused;
  const std::shared_ptr<const BlockLayout> Layout;
  std::vector<SourceVariable> SourceVariables;  ///< source and variable of each request
  std::vector<LoadedArray> Arrays;
  std::vector<std::atomic<std::uint32_t>>
      Outstanding;  ///< per array: number of incomplete requests and copies
  mutable std::vector<std::atomic<bool>> HasUndefined;  ///< per array; set by tasks
  std::mutex RangesLock;                                ///< held while a range is extended
};

}  // namespace patchio
