// One rank's read from start to end: locate, plan, read tasks, values in memory.
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
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Says where the bytes of each request lie; Format::Locate or the metadata channel.
using LocateFunction = std::function<LocationTable(const std::vector<PatchVariable>&)>;

/// All that read tasks touch. Those that a stopped read leaves behind own it together, until the last of them
/// has ended.
class RankTasks
{
public:
  /// Finds out where the bytes lie and plans the requests. reuse: takes what it can from the request's cache,
  /// if it has one. Throws Error only when even that is impossible.
  RankTasks(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
      std::shared_ptr<const LoadRequest> request, bool reuse = true);

  /// Transfers, tasks that are none, and arrays made of others: one read task each.
  std::size_t Units() const;
  /// From the storage, in tasks.
  std::uint64_t BytesToRead() const;

  /// Opens the way to the files. Memory for the arrays must be there.
  void GetReady();
  /// Carries out one unit; faults are kept. Thread-safe.
  void Execute(std::size_t unit);

  /// A task is complete. Thread-safe, like all below.
  void Done(std::uint32_t request);
  void Failed(std::uint32_t request, const std::string& message);
  /// Why a request failed, where it did.
  std::vector<LoadFault> Faults() const;
  /// Marks the arrays that need what failed. No task may be at work.
  void FailArrays();
  std::uint64_t TasksDone() const { return this->Finished; }
  /// Puts the arrays that were taken from here into the request's cache, if it has one.
  void Keep(const std::vector<LoadedArray>& taken) const;

  const std::shared_ptr<const Catalog> Data;
  const std::shared_ptr<const LoadRequest> Request;
  BlockArrays Arrays;
  const std::vector<PatchVariable>
      Wanted;           ///< that the arrays need from files; what `request` is an index of
  LocationTable Table;  ///< where they lie
  ReadPlan Plan;
  ReadMeter Meter;

private:
  std::vector<ByteRange> WantedRanges() const;
  bool ExecuteUnit(TaskReader& reader, std::size_t unit);
  bool ExecuteTransfer(TaskReader& reader, const Transfer& transfer);
  bool ExecutePieces(TaskReader& reader, const Transfer& transfer);
  bool ExecuteWhole(TaskReader& reader, std::uint32_t request);
  bool PieceDone(const Piece& piece);
  void Differs(std::uint32_t request);

  FilesSeen Seen;  ///< what the table leads to, where there is a cache
  std::unique_ptr<Source> Storage;
  std::optional<TaskReaders> Readers;
  StoredSums Sums;
  std::atomic<bool> Stopped{false};                    ///< by a fault
  std::vector<std::string> Messages;                   ///< per request, why it failed
  mutable std::mutex MessagesLock;                     ///< taken only when something fails, and at the end
  std::vector<std::atomic<std::uint32_t>> PiecesLeft;  ///< per request
  std::atomic<std::uint64_t> Finished{0};              ///< tasks
};

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
