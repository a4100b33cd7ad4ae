// One rank's read from start to end: it locates values, plans requests, and runs the tasks that read the
// values into memory.
#pragma once

#include "Base/Stopwatch.h"
#include "Io/IoScheduler.h"
#include "Io/Progress.h"
#include "Io/ReadTask.h"
#include "Io/Source.h"
#include "Plan/ReadPlan.h"
#include "Read/BlockArrays.h"
#include "Read/LoadRequest.h"
#include "Tuning/Timeline.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio {

/// A function that returns the locations of requests, from Format::Locate() or from an index.
using LocateFunction = std::function<LocationTable(const std::vector<PatchVariable>&)>;

/// All data that read tasks use. Tasks that a stopped read leaves behind share this object until the last of
/// them has ended.
class RankTasks
{
public:
  /// Locates the values and plans the requests. `reuse`: whether to use values in the request's cache. Throws
  /// Error if the values cannot be located at all.
  RankTasks(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
      std::shared_ptr<const LoadRequest> request, bool reuse = true);

  /// The number of tasks for Execute(): one for each storage request, for each <patch, variable> in
  /// ReadPlan::WholeTasks and ReadPlan::ConstantTasks, and for each array with values from cached arrays.
  std::size_t TaskCount() const;
  /// The bytes that tasks read from the storage.
  std::uint64_t BytesToRead() const;

  /// Opens the source of the files and prepares the checksums and counters. The arrays must have memory.
  void Prepare();
  /// Executes task `task`, 0 to TaskCount() - 1. Faults() returns the faults. Does nothing after a fault if
  /// LoadSettings::StopAtFault is true. Thread-safe.
  void Execute(std::size_t task);

  /// Records that a request is complete. This method and the following methods are thread-safe unless they
  /// say otherwise.
  void CompleteRequest(std::uint32_t request);
  /// Records the fault of a request; keeps the first fault of each request.
  void RecordFault(std::uint32_t request, const std::string& message);
  /// Returns the faults of the requests that failed.
  std::vector<LoadFault> Faults() const;
  /// Marks the arrays that need the values of failed requests as failed. No task may be running.
  void MarkFailedArrays();
  std::uint64_t CompletedRequests() const { return this->CompletedCount; }
  /// Adds `arrays`, the arrays of this read, to the request's cache, if the request has a cache.
  void CacheArrays(const std::vector<LoadedArray>& arrays) const;

  const std::shared_ptr<const Catalog> Data;
  const std::shared_ptr<const LoadRequest> Request;
  BlockArrays Arrays;
  /// The <patch, variable> that the arrays need from files. A `request` is an index into this list.
  const std::vector<PatchVariable> PatchVariables;
  LocationTable Table;  ///< locations of PatchVariables
  ReadPlan Plan;
  ReadMeter Meter;

private:
  std::vector<ComponentRange> NeededRanges() const;
  bool ExecuteTask(TaskReader& reader, std::size_t task);
  bool ExecuteRequest(TaskReader& reader, const StorageRequest& storageRequest);
  bool ExecuteSegments(TaskReader& reader, const StorageRequest& storageRequest);
  bool ExecuteWholeTask(TaskReader& reader, std::uint32_t request);
  bool CompleteSegment(const Segment& segment);
  void RecordWrongChecksum(std::uint32_t request);

  FileFingerprints Fingerprints;  ///< of the table's files and the describing file, if there is a cache
  std::unique_ptr<Source> Storage;
  std::function<TaskReader&()> ReaderOfThisThread;
  StoredSums Sums;
  std::atomic<bool> Stopped{false};   ///< a fault has stopped the tasks
  std::vector<std::string> Messages;  ///< per request: its first fault, or empty
  mutable std::mutex MessagesLock;    ///< protects Messages while tasks run
  std::vector<std::atomic<std::uint32_t>>
      OutstandingSegments;                       ///< per request: segments that are not read yet
  std::atomic<std::uint64_t> CompletedCount{0};  ///< number of complete requests
};

/// One rank's read in two steps: the constructor locates the values, Read() reads them. Between the two
/// steps, the ranks can exchange their faults and check their memory. For a prefetch, Start() begins to read
/// while the calling thread does other work.
class RankRead
{
public:
  /// Locates the values. Faults() returns the faults of files. Drops values from the request's cache if
  /// memory is short. Throws Error if the values cannot be located at all.
  RankRead(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
      std::shared_ptr<const LoadRequest> request);
  /// Copies `catalog` and `request`.
  RankRead(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request);

  /// The faults so far.
  std::vector<LoadFault> Faults() const { return this->Shared->Faults(); }
  /// The bytes of memory that the arrays still need beyond the memory kept from earlier reads.
  double BytesNeeded() const;

  /// Allocates memory for the arrays and makes the tasks, unless they exist already. Throws Error when there
  /// is not enough memory.
  void Allocate();
  /// Begins to read and returns at once. Call Allocate() first. If `previous` is not null, this read begins
  /// when all tasks of `previous` have ended, and never if `previous` is cancelled. Tasks run in the
  /// background. When this object is destroyed, no further tasks begin; running tasks end by themselves, and
  /// keep the data that they need. Arrays that only the HDF5 library can read are left to Read().
  void Start(const RankRead* previous = nullptr);
  /// Prevents further tasks from beginning. Does not wait for running tasks.
  void Cancel();
  /// The fraction of RankTasks::TaskCount() that has ended, 0..1. Call Allocate() first.
  double Fraction() const { return this->Tasks->Fraction(); }
  /// Returns the files that are read, and the files from which reused values came.
  std::vector<std::string> Files() const;

  /// Reads all values of the request, or the values that Start() has left. Call this method once. At most NT
  /// tasks run at a time, in the order of the files. The calling thread reads the arrays that need the HDF5
  /// library, and waits for the tasks; it runs the tasks itself if the read is short or TBB provides no
  /// threads. Throws Error when there is not enough memory; faults of files are in the result. Reads nothing
  /// if some values were not located and LoadSettings::StopAtFault is true.
  ///
  /// After `progress` has returned false, Read() returns within a tenth of a second, even if the storage
  /// hangs. Tasks that still wait for the storage are left behind (see Start()), and the arrays of the result
  /// are then empty.
  LoadResult Read(const ReadProgressCallback& progress = {});

private:
  bool MakeRoom();
  void SizePool(MemoryPool& pool) const;
  bool ReadThroughLibrary(const ReadProgressCallback& progress);
  void ReadInTasks(const ReadProgressCallback& progress);
  void ReadOnThisThread(const ReadProgressCallback& progress);
  void WaitForTasks(const ReadProgressCallback& progress);
  bool ReportProgress(const ReadProgressCallback& progress, double ofLibrary, double ofTasks);
  void UpdateControl();
  TimelinePoint CurrentPoint() const;
  void Stop();
  bool IsShort() const;
  int ThreadLimit() const;
  void ReportTasks();
  void ReportUnread();
  void Finish();

  Stopwatch Watch;                    ///< time since the read began
  std::shared_ptr<RankTasks> Shared;  ///< shared with tasks that a stopped read leaves behind
  std::uint64_t BytesToRead = 0;
  std::unique_ptr<IoScheduler> Tasks;  ///< null before Allocate()
  bool HasRunningTasks = false;        ///< tasks still run, on arrays that are not in the result
  double LibraryShare = 0;             ///< fraction of all tasks that the HDF5 library reads
  Timeline ProgressTimeline;           ///< observed progress over time
  LoadResult Result;
};

}  // namespace patchio
