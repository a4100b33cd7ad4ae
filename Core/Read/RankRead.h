// One rank's read from start to end: locate, plan, read tasks, values in memory.
#pragma once

#include "Base/Stopwatch.h"
#include "Io/IoScheduler.h"
#include "Io/ReadProgress.h"
#include "Read/LoadRequest.h"
#include "Read/RankTasks.h"
#include "Tuning/Timeline.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// One rank's read in two steps, so that ranks can agree in between on what was found and on the memory; or
/// in three, where reading begins ahead, while the calling thread has other things to do.
class RankRead
{
public:
  /// Finds out where the bytes lie. Throws Error only when even that is impossible; faults of files are in
  /// Faults().
  RankRead(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
      std::shared_ptr<const LoadRequest> request);
  /// The same with copies of both.
  RankRead(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request);

  /// What is wrong so far.
  std::vector<LoadFault> Faults() const { return this->Shared->Faults(); }
  /// Memory that the arrays of the request will take beyond what is kept from earlier reads.
  double BytesNeeded() const;

  /// Takes memory for the arrays, unless it has some. Throws Error when it does not suffice.
  void Allocate();
  /// After Allocate(): begins to read and returns; or, where `before` is given, as soon as that has read all.
  /// Tasks go on by themselves until the loader is destroyed; then each finishes the request that it is at,
  /// and keeps what it needs. What only the HDF5 library can read is left to Read().
  void Start(const RankRead* before = nullptr);
  /// No more requests are begun; waits for nobody.
  void Cancel();
  /// Read tasks that are through, of all, 0..1. After Allocate().
  double Fraction() const { return this->Tasks->Fraction(); }
  /// The files that are read, and those that were, of values that are reused.
  std::vector<std::string> Files() const;

  /// Reads all <patch, variable> of the request, or what Start() has left of them, once. At most NT tasks are
  /// at work at once, in the order of the files; the calling thread waits, and carries out only reads that
  /// are shorter than starting a thread. Throws Error when the memory does not suffice; faults of files are
  /// in the result.
  ///
  /// Once `progress` says stop, it returns within a tenth of a second, whatever the storage does; tasks that
  /// wait for it are left behind as described at Start(), and the result has no arrays then.
  LoadResult Read(const ReadProgressCallback& progress = {});

private:
  bool MakeRoom();
  void SizePool(MemoryPool& pool) const;
  void Execute(const ReadProgressCallback& progress);
  bool ReadThroughLibrary(const ReadProgressCallback& progress);
  void ReadInTasks(const ReadProgressCallback& progress);
  void ReadHere(const ReadProgressCallback& progress);
  void Wait(const ReadProgressCallback& progress);
  bool GoesOn(const ReadProgressCallback& progress, double ofLibrary, double ofTasks);
  void StepControl();
  TimelinePoint MomentNow() const;
  void Stop();
  bool IsShort() const;
  int Threads() const;
  void ReportTasks();
  void FindUnread();
  void Finish();

  Stopwatch Watch;                    ///< since the read began
  std::shared_ptr<RankTasks> Shared;  ///< with tasks that a stopped read leaves behind
  std::uint64_t BytesToRead = 0;
  std::unique_ptr<IoScheduler> Tasks;  ///< null before there is memory
  bool LeftBehind = false;             ///< tasks are still at work, on arrays that nobody will see
  double LibraryShare = 0;             ///< of all tasks, those that the HDF5 library reads
  Timeline Moments;                    ///< as far as somebody looked on
  LoadResult Result;
};

}  // namespace patchio
