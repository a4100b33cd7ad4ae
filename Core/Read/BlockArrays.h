// The arrays of one rank's blocks: their memory, what goes where in them, and when they are complete.
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

/// One array per block and variable. Requests, the <patch, variable> that must be read, come source by source
/// (BlockLayout::Sources()), and within a source variable by variable.
class BlockArrays
{
public:
  /// Keeps references to catalog and `wanted`, which `reused` was made of.
  BlockArrays(const Catalog& catalog, const WantedArrays& wanted, ReusedArrays reused);

  /// All <patch, variable> that the arrays need from files.
  std::vector<PatchVariable> Requests() const;

  /// Patches that the arrays have values of.
  std::size_t PatchCount() const { return this->Layout->Sources().size(); }

  /// Takes the types from where the values lie. What does not fit together in one array is added to the
  /// table's Problems, as Missing.
  void Describe(LocationTable& table);

  /// The bytes of all arrays that get values and need memory for them.
  double Bytes() const;

  std::size_t Count() const { return this->Arrays.size(); }

  /// Makes memory for these arrays; they lie in it in the order of the requests that their values come with.
  /// Behind an array of cells there is room for as many values as its block has points.
  /// Each variable has segments of its own, so that dropping it gives memory back. Throws Error when the
  /// memory does not suffice.
  void Allocate(MemoryPool& pool, const std::vector<std::uint32_t>& order);

  /// What is taken from the cache. Its copies are to be done after Allocate(), each once, in any order.
  const ReusedArrays& FromCache() const { return this->Reused; }
  /// Thread-safe.
  void Copy(std::size_t number);
  /// Puts the arrays that were taken from here into the request's cache. `seen`: the files that requests lead
  /// to; `constant` says of a request whether its values are in no file.
  void KeepArrays(const std::vector<LoadedArray>& taken, const FilesSeen& seen,
      const std::function<bool(std::size_t request)>& constant) const;
  /// Where the values of a request go. Addresses are null before Allocate(). Thread-safe.
  ReadTarget TargetOf(std::size_t request) const;
  /// All values of a request are in place. Thread-safe; completes the arrays that waited for this one only.
  void Done(std::size_t request);

  /// Marks the arrays that need a request's values.
  void Fail(std::size_t request);
  /// True where some array waits for the request still.
  bool Waits(std::size_t request) const;

  /// Block by block, variable by variable; arrays that are not complete have no values. Once.
  std::vector<LoadedArray> Take();

private:
  /// A source and a variable, by their numbers in layout and request.
  struct Wanted
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
  /// Where the values of a request go.
  const Placement* Begin(std::size_t request) const;
  const Placement* End(std::size_t request) const;
  Centering CenteringOf(std::size_t variable) const
  {
    return this->Data.Variables[this->Request.Variables[variable].Variable].Center;
  }
  /// Calls visit(index of the array) for each array that a request's values go to, once each.
  template <typename Visit>
  void ForEachArray(std::size_t request, Visit visit) const;
  Box OutputOf(std::size_t block, std::size_t variable) const;
  std::int64_t TuplesOf(std::size_t block, std::size_t variable) const;
  /// Bytes behind an array of cells that filters may read because they take its values for those of points,
  /// as VTK's Warp By Scalar does.
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
  std::vector<Wanted> Tasks;  ///< of each request
  std::vector<LoadedArray> Arrays;
  std::vector<std::atomic<std::uint32_t>> TasksLeft;    ///< per array
  mutable std::vector<std::atomic<bool>> HasUndefined;  ///< per array; tasks set it
  std::mutex RangesLock;                                ///< taken to add to the arrays' ranges
};

}  // namespace patchio
