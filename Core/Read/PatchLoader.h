// One rank's read from start to end: locate, plan, NT lanes, values in memory.
#pragma once

#include "Exec/IoReport.h"
#include "Exec/Lanes.h"
#include "Exec/ReadTask.h"
#include "Exec/Slab.h"
#include "Formats/Format.h"
#include "Plan/ReadPlan.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio {

/// A variable and the form in which it is wanted.
struct VariableRequest
{
  int Variable = 0;          ///< index in the catalog
  int OutputComponents = 1;  ///< >= stored components; the surplus is 0
  std::vector<int> Slots;    ///< place of each stored component among the output components
  Int3 Ghosts{0, 0, 0};      ///< layers to deliver; surplus ones repeat the nearest stored value
};

/// The variable as it is stored: its own components, its own ghosts.
VariableRequest RequestAsStored(const Catalog& catalog, int variable);

struct LoadRequest
{
  std::vector<int> Patches;  ///< global patch numbers
  std::vector<VariableRequest> Variables;
  int Threads = 1;           ///< NT >= 1
  bool StopAtFault = false;  ///< true: the first fault ends the read; false: everything sound is read
  StorageModel Storage;      ///< decides on the size of requests
  /// Memory of earlier reads to use again, and the limit on it; null: fresh memory, no limit.
  std::shared_ptr<SlabPool> Memory;
};

enum class ArrayStatus
{
  NotRead,
  Read,
  Absent,
  Failed
};

/// One variable on one patch.
struct LoadedArray
{
  ArrayStatus Status = ArrayStatus::NotRead;
  ElementType Type = ElementType::Float32;
  int Components = 0;
  std::int64_t Tuples = 0;
  Slice Values;  ///< Tuples x Components values, component fastest; null unless Read
};

struct LoadFault
{
  int Patch = 0;
  int Variable = 0;
  std::string Message;
};

struct LoadResult
{
  /// Patches x variables of the request; see At().
  std::vector<LoadedArray> Arrays;
  std::vector<LoadFault> Faults;
  bool Cancelled = false;
  IoReport Report;  ///< of this rank
  std::size_t VariableCount = 0;

  /// By position in LoadRequest::Patches and LoadRequest::Variables.
  LoadedArray& At(std::size_t patch, std::size_t variable)
  {
    return this->Arrays[patch * this->VariableCount + variable];
  }
};

/// Says where the bytes of each request lie; Format::Locate or the metadata channel.
using LocateFunction = std::function<LocationTable(const std::vector<PatchVariable>&)>;

/// One rank's read in two steps, so that ranks can agree in between on what was found and on the memory. The
/// catalog and the request must outlive it.
class PatchLoader
{
public:
  /// Finds out where the bytes lie. Throws Error only when even that is impossible; faults of files are in
  /// Faults().
  PatchLoader(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request);

  /// What is wrong so far.
  std::vector<LoadFault> Faults() const;
  /// Memory that the arrays of the request will take beyond what is kept from earlier reads.
  double BytesNeeded() const;

  /// Reads all <patch, variable> of the request, once. All tasks exist at once and NT threads take them in
  /// file order. Throws Error when the memory does not suffice; faults of files are in the result.
  LoadResult Read(const ProgressCallback& progress = {});

private:
  const VariableRequest& WantedForm(std::size_t request) const;
  ArrayShape ShapeOf(std::size_t request) const;
  std::size_t BytesOf(std::size_t request) const;
  double PayloadBytes() const;
  ReadTarget TargetOf(std::size_t request);
  std::vector<ByteRange> WantedRanges() const;
  void Allocate();
  void AllocateArray(SlabCutter& memory, std::size_t request);
  void Execute(const ProgressCallback& progress);
  std::size_t Units() const;
  bool ReadThroughLibrary(const ProgressCallback& progress);
  void ReadThroughLanes(const ProgressCallback& progress);
  bool ExecuteUnit(Lane& lane, std::size_t unit);
  bool ExecuteTransfer(Lane& lane, const Transfer& transfer);
  bool ExecutePieces(Lane& lane, const Transfer& transfer);
  bool ExecuteWhole(Lane& lane, std::uint32_t request);
  void PieceDone(const Piece& piece);
  void Failed(std::uint32_t request, const std::string& message);
  void FindUnread();
  void Finish();

  const Catalog& Data;
  const LoadRequest& Request;
  const std::vector<PatchVariable> Requests;
  LocationTable Table;
  ReadPlan Plan;
  std::vector<std::string> Messages;                   ///< per request, why it failed
  std::mutex MessagesLock;                             ///< taken only when something fails
  std::vector<std::atomic<std::uint32_t>> PiecesLeft;  ///< per request
  std::atomic<std::uint64_t> TasksDone{0};
  LoadResult Result;
};

/// Both steps at once.
LoadResult LoadPatches(const Format& format, const Catalog& catalog, const LoadRequest& request,
    const ProgressCallback& progress = {});

}  // namespace patchio
