// From requests to values in place: what read tasks do.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Io/Decode.h"
#include "Io/StoredSums.h"
#include "Io/TaskReader.h"
#include "Plan/ReadPlan.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace patchio {

/// One of the places where the values of a task go.
struct Destination
{
  void* Data = nullptr;  ///< Output tuples x OutputComponents elements
  Window Place;
  ElementType Type =
      ElementType::Float32;  ///< of the elements; stored values that are not constant have it too
  std::atomic<bool>* HasUndefined = nullptr;  ///< becomes true when some value is undefined; may be null
};

/// Where the values of a task go: to the patch's own array, or to one or more blocks that it is part of.
struct ReadTarget
{
  Destination One;
  std::vector<Destination> More;
  const Variable* Info = nullptr;           ///< says which stored numbers stand for no value; null: none
  const std::vector<int>* Slots = nullptr;  ///< output component of each stored array; the rest become 0

  template <typename Visit>
  void ForEach(Visit visit) const
  {
    visit(this->One);
    for (const Destination& destination : this->More) {
      visit(destination);
    }
  }
};

/// The target of a task, by its index in the LocationTable. Called by several threads at once.
using TargetFunction = std::function<ReadTarget(std::uint32_t)>;

/// One request: fetches the bytes of its pieces and brings the values to their places. Values that no
/// decoding moves are read straight to where they stay. Throws Error when the storage fails or the bytes make
/// no sense; then any of its pieces may be the reason. sums: are set for its pieces, where they are wanted;
/// null: they are not.
void ReadTransfer(TaskReader& reader, const LocationTable& table, const ReadPlan& plan,
    const Transfer& transfer, const TargetFunction& targetOf, StoredSums* sums = nullptr);

/// What remains when all pieces of a task are in place: output components that no stored one goes to become
/// 0, and layers that are not stored repeat the nearest value.
void FinishTask(const ReadTarget& target);

/// A task that is not made of pieces: SparseMaterials or Constant. FinishTask() is included. Throws like
/// ReadTransfer().
void ReadWhole(
    TaskReader& reader, const LocationTable& table, const Location& location, const ReadTarget& target);

/// The stored bytes of each component that the target needs: planes at both ends that no output has room for
/// are not even read.
ByteRange WantedBytes(const ReadTarget& target);

/// Element type of the values that a location delivers.
ElementType TypeOf(const LocationTable& table, const Location& location);

}  // namespace patchio
