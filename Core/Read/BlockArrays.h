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
/// Requests have the order of the sources (BlockLayout::Sources()), and of the variables within a source.
class BlockArrays
{
public:
  /// Keeps references to `catalog` and `wanted`. `reused` must be made from the same two objects.
  BlockArrays(const Catalog& catalog, const WantedArrays& wanted, ReusedArrays reused);

  /// Returns the <patch, variable> of all requests.
  std::vector<PatchVariable> Requests() const;

  /// Returns the number of patches with values in the arrays.
  std::size_t PatchCount() const { return this->Layout->Sources().size(); }

  /// Sets the types of the arrays from the locations of their values. Removes locations that no array uses. A
  /// request whose values do not fit into its array becomes Missing, with an entry in the table's Problems.
  void Describe(LocationTable& table);

  /// Returns the bytes of memory that Allocate() must take for all arrays with values, except for the arrays
  /// that share memory with the cache.
  double Bytes() const;

  std::size_t Count() const { return this->Arrays.size(); }

  /// Allocates memory for all arrays of the requests in `order`. Arrays lie in memory in that order. The
  /// memory of an array of cell values has room for as many values as the block has points. Each variable has
  /// its own segments, so that dropping a variable returns memory to the pool. Throws Error if there is not
  /// enough memory.
  void Allocate(MemoryPool& pool, const std::vector<std::uint32_t>& order);

  /// Returns the values that come from the cache. After Allocate(), call Copy() once for each of the copied
  /// arrays, in any order.
  const ReusedArrays& FromCache() const { return this->Reused; }
  /// Copies the values of FromCache().Copied()[number] into its array. Thread-safe.
  void Copy(std::size_t number);
  /// Puts `taken`, the result of Take(), into the cache. `seen`: fingerprints of the files that requests
  /// refer to. `constant` returns whether the values of a request are a constant instead of values in a file.
  void KeepArrays(const std::vector<LoadedArray>& taken, const FileFingerprints& seen,
      const std::function<bool(std::size_t request)>& constant) const;
  /// Returns the destinations of a request's values. Addresses are null before Allocate(). Thread-safe.
  ReadTarget TargetOf(std::size_t request) const;
  /// Records that all values of a request are in place. Completes the arrays that waited only for this
  /// request. Thread-safe.
  void Done(std::size_t request);

  /// Marks the arrays that need a request's values as failed.
  void Fail(std::size_t request);
  /// Returns whether an array still waits for the request.
  bool Waits(std::size_t request) const;

  /// Returns the arrays, block by block and variable by variable. Arrays that are not complete have no
  /// values. Call it once.
  std::vector<LoadedArray> Take();

private:
  /// A request: the number of its source in the layout and of its variable in WantedArrays::Variables.
  struct SourceVariable
  {
    std::uint32_t Source = 0;
    std::uint32_t Variable = 0;
  };

  std::size_t IndexOf(std::size_t block, std::size_t variable) const
  {
    return block * this->Request.Variables.size() + variable;
  }
  void TakeSame();
  void PrepareCopies();
  void ListRequests();
  void DropUnused(LocationTable& table) const;
  void TakeType(LocationTable& table, std::size_t request);
  void Reject(LocationTable& table, std::size_t request, const std::string& found) const;
  void AllocateArray(std::size_t array, MemoryArena& memory);
  void ArrayDone(std::size_t array);
  void FindRanges(std::size_t request);
  void AddToRange(std::size_t array, const Dims& tuples, const Dims& first, const Dims& last);

  int PatchOf(std::size_t request) const { return this->Layout->Sources()[this->Tasks[request].Source]; }
  const VariableRequest& WantedOf(std::size_t request) const
  {
    return this->Request.Variables[this->Tasks[request].Variable];
  }
  /// Return the placements of a request's values: one per block that uses the patch.
  const Placement* Begin(std::size_t request) const;
  const Placement* End(std::size_t request) const;
  Centering CenteringOf(std::size_t variable) const
  {
    return this->Data.Variables[this->Request.Variables[variable].Variable].Center;
  }
  /// Calls visit(index of the array) once for each array that gets values of a request.
  template <typename Visit>
  void ForEachArray(std::size_t request, Visit visit) const;
  Box OutputOf(std::size_t block, std::size_t variable) const;
  std::int64_t TuplesOf(std::size_t block, std::size_t variable) const;
  /// Returns the bytes to reserve behind an array of cell values, because some filters, such as VTK's Warp By
  /// Scalar, read a cell array as if it were a point array.
  std::uint64_t RoomBehind(std::size_t a) const
  {
    const std::size_t block = a / this->Request.Variables.size(),
                      variable = a % this->Request.Variables.size();
    if (this->CenteringOf(variable) != Centering::Cell) {
      return 0;
    }
    const LoadedArray& array = this->Arrays[a];
    const Box nodes =
        Grown(this->Layout->ValuesOf(block, Centering::Node), this->Request.Variables[variable].Ghosts);
    const std::int64_t points = this->Data.IsMesh()
                                    ? this->Data.Meshes[this->Request.Blocks[block].Parts[0].Owner].Points
                                    : nodes.Cells();
    return std::max<std::int64_t>(points - array.Tuples, 0) * array.Components * SizeOf(array.Type);
  }
  Window WindowOf(std::size_t request, const Placement& placement) const;
  void FillGapsOf(std::size_t array);
  void DropUnusedChunks(LocationTable& table, std::size_t request) const;

  const Catalog& Data;
  const WantedArrays& Request;
  const ReusedArrays Reused;
  const std::shared_ptr<const BlockLayout> Layout;
  std::vector<SourceVariable> Tasks;  ///< source and variable of each request
  std::vector<LoadedArray> Arrays;
  std::vector<std::atomic<std::uint32_t>> TasksLeft;    ///< per array: outstanding requests and copies
  mutable std::vector<std::atomic<bool>> HasUndefined;  ///< per array; set by tasks
  std::mutex RangesLock;                                ///< held while a range is extended
};

}  // namespace patchio
