// The arrays of one rank's blocks: their memory, what goes where in them, and when they are complete.
#pragma once

#include "Catalog/Catalog.h"
#include "Exec/ReadTask.h"
#include "Exec/Slab.h"
#include "Plan/BlockLayout.h"
#include "Read/LoadRequest.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// One array per block and variable. Requests are numbered source by source (BlockLayout::Sources()), and
/// within a source variable by variable.
class BlockArrays
{
public:
  /// Keeps references to both.
  BlockArrays(const Catalog& catalog, const LoadRequest& request);

  /// All <patch, variable> that the arrays need.
  std::vector<PatchVariable> Requests() const;

  /// Takes the types from where the values lie. What does not fit together in one array is added to the
  /// table's Problems, as Missing.
  void Describe(LocationTable& table);

  /// Of all arrays that get values.
  double Bytes() const;
  std::size_t Count() const { return this->Arrays.size(); }

  /// Makes memory for the arrays that a request's values go to, unless they have some.
  void Allocate(SlabCutter& memory, std::size_t request);
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
  const VariableRequest& WantedOf(std::size_t request) const
  {
    return this->Request.Variables[request % this->Request.Variables.size()];
  }
  Centering CenteringOf(std::size_t variable) const
  {
    return this->Data.Variables[this->Request.Variables[variable].Variable].Center;
  }
  /// Calls visit(index of the array) for each array that a request's values go to, once each.
  template <typename Visit>
  void ForEachArray(std::size_t request, Visit visit) const;
  Box OutputOf(std::size_t block, std::size_t variable) const;
  Window WindowOf(std::size_t request, const Placement& placement) const;
  void FillGapsOf(std::size_t array);
  void DropUnusedChunks(LocationTable& table, std::size_t request) const;

  const Catalog& Data;
  const LoadRequest& Request;
  const BlockLayout Layout;
  std::vector<LoadedArray> Arrays;
  std::vector<std::atomic<std::uint32_t>> TasksLeft;    ///< per array
  mutable std::vector<std::atomic<bool>> HasUndefined;  ///< per array; lanes set it
};

}  // namespace patchio
