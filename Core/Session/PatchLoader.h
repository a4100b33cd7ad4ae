// One rank's read from start to end: locate, plan, NT lanes, values in memory.
#pragma once

#include "Formats/Format.h"
#include "Io/Lanes.h"
#include "Io/ReadProgress.h"
#include "Report/Timeline.h"
#include "Session/LoadRequest.h"
#include "Session/ReadJob.h"
#include "Support/Stopwatch.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// One rank's read in two steps, so that ranks can agree in between on what was found and on the memory; or
/// in three, where the lanes begin ahead, while the calling thread has other things to do.
class PatchLoader
{
public:
  /// Finds out where the bytes lie. Throws Error only when even that is impossible; faults of files are in
  /// Faults().
  PatchLoader(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
      std::shared_ptr<const LoadRequest> request);
  /// The same with copies of both.
  PatchLoader(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request);

  /// What is wrong so far.
  std::vector<LoadFault> Faults() const { return this->Job->Faults(); }
  /// Memory that the arrays of the request will take beyond what is kept from earlier reads.
  double BytesNeeded() const;

  /// Takes memory for the arrays, unless it has some. Throws Error when it does not suffice.
  void Allocate();
  /// Called once when the last value is there, by whoever brings it; before Start() and Read().
  void CallWhenRead(std::function<void()> whenRead) { this->WhenRead = std::move(whenRead); }
  /// After Allocate(): begins to read and returns. Lanes go on by themselves until the loader is destroyed;
  /// then each finishes the request that it is at, and keeps what it needs. What only the HDF5 library can
  /// read is left to Read(). May be called on any thread, also while another one calls Read(). Without effect
  /// when the read has begun.
  void Start();
  /// No more requests are begun; waits for nobody.
  void Cancel();
  /// How far the lanes are.
  ReadProgress Progress() const;
  /// The files that are read, and those that were, of values that are reused.
  std::vector<std::string> Files() const;

  /// Reads all <patch, variable> of the request, or what Start() has left of them, once. All tasks exist at
  /// once and NT threads take them in file order; the calling thread looks on, and carries out only reads
  /// that are shorter than starting a thread. Throws Error when the memory does not suffice; faults of files
  /// are in the result.
  ///
  /// Once `progress` says stop, it returns within a tenth of a second, whatever the storage does; lanes that
  /// wait for it are left behind as described at Start(), and the result has no arrays then.
  LoadResult Read(const ReadProgressCallback& progress = {});

private:
  bool MakeRoom();
  void SizePool(MemoryPool& pool) const;
  void Execute(const ReadProgressCallback& progress);
  bool ReadThroughLibrary(const ReadProgressCallback& progress);
  void StartLanes();
  void ReadThroughLanes(const ReadProgressCallback& progress);
  void ReadHere(const ReadProgressCallback& progress);
  void LookOn(const ReadProgressCallback& progress);
  bool GoesOn(const ReadProgressCallback& progress, double ofLibrary, double ofLanes);
  TimelinePoint MomentNow() const;
  void Stop();
  bool IsShort() const;
  int MostLanes() const;
  int LanesWanted() const;
  void ReportLanes();
  void FindUnread();
  void Finish();

  Stopwatch Watch;  ///< since the read began
  std::shared_ptr<ReadJob> Job;
  std::uint64_t BytesToRead = 0;
  std::function<void()> WhenRead;
  bool Allocated = false;
  mutable std::mutex TeamLock;   ///< taken to start the lanes, and by who does not know whether they are
  std::optional<LaneTeam> Team;  ///< null before they start
  bool HasBegun = false;         ///< to read, on this thread or on lanes; under TeamLock
  bool IsCancelled = false;      ///< under TeamLock
  bool LeftBehind = false;       ///< lanes are still at work, on arrays that nobody will see
  double LibraryShare = 0;       ///< of all tasks, those that the HDF5 library reads
  Timeline Moments;              ///< as far as somebody looked on
  LoadResult Result;
};

/// Both steps at once.
LoadResult LoadPatches(const Format& format, const Catalog& catalog, const LoadRequest& request,
    const ReadProgressCallback& progress = {});

}  // namespace patchio
