// The automatic choice of the number of threads of one reader, and the refinement of storage profiles by its
// reads.
#pragma once

#include "Tuning/LoadSense.h"
#include "Tuning/RateFit.h"
#include "Tuning/ReadControl.h"
#include "Tuning/StorageProfile.h"
#include "Tuning/ThreadPolicy.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Collects the windows of one read as samples for a storage profile. Rates under load by other programs are
/// useless: a profile made from such rates would describe a loaded storage as idle.
class UnloadedRates
{
public:
  /// Adds a window of the read. threads: N; rate: bytes per second; load: the load known in this window;
  /// epoch: ThreadObservations::Epoch, which counts the changes of the storage that the ThreadController has
  /// noticed. A rate that is not positive gives no sample, but `load` still counts.
  void Add(int threads, double rate, const LoadEstimate& load, int epoch);

  /// Returns one sample per N: the mean rate of the windows with this N, up to the first change of the
  /// storage. Returns nothing if any window showed load. If `mustBeUnloaded` is true, also returns nothing
  /// unless the load of some window was known to be negligible.
  std::vector<RateSample> Samples(bool mustBeUnloaded) const;

private:
  struct RateWindow
  {
    int Threads;
    double Rate;
    int Epoch;
  };
  std::vector<RateWindow> Windows;
  bool AnyUnloaded = false, AnyLoaded = false;
};

/// The facts that determine the number of reads in flight, as numbers and as text.
struct ThreadChoice
{
  StorageKnowledge Storage;       ///< Storage.Load equals Load.Load
  std::string ConcurrencySource;  ///< origin of N*, see DescribeSource(); empty: N* is unknown
  /// NC before the read; after the read, the latest NC known during the read, if any.
  LoadEstimate Load;
  std::optional<StorageModel> CostOfRequest;  ///< cost of a request according to the profile
  bool HasUnusableProfiles = false;           ///< true: no profile is usable, and the notes have reasons
};

/// Returns the origin of a profile as text: "profile /home/me/.config/patchio/storage/scratch.json, measured,
/// 2026-11-21" (no date if unknown). If the profile has a table of threads, the text says so, and whether
/// `rankCount` is beyond the end of the table.
std::string DescribeSource(const StorageProfile& profile, int rankCount);
/// Returns N* of a profile. If the profile has a table of threads, returns the number of threads of all
/// `rankCount` ranks together.
int ConcurrencyFor(const StorageProfile& profile, int rankCount);
/// Returns the greatest number of threads, from 1 to `most`, whose requests of 16 MiB each fit into an eighth
/// of the free memory; the rest is for arrays.
int ThreadsThatFit(int most);

/// Chooses the number of threads: finds the profile of the storage before a read, adapts the number to the
/// rates and to the load by other programs during the read, and keeps the ThreadController for the next read.
/// All ranks get the same results: rank 0 observes the storage and informs the other ranks. Not thread-safe.
class AutomaticThreads
{
public:
  /// Prepares a read from the storage of `path`. mostThreadsOfRank: greatest number of threads of a rank; the
  /// least value of all ranks counts. Does not throw if the storage or the load is unknown. Collective: every
  /// rank of the communicator calls it.
  void Begin(Communicator& ranks, const std::string& path, ThreadPolicy policy, int mostThreadsOfRank);
  /// Returns the control of the current read, valid until the next Begin().
  ReadControl& Control() { return *this->Current; }
  /// Ends the read, successful or not. A read of at least 5 s may refine or create the profile of a network,
  /// parallel or FUSE file system. Collective: every rank of the communicator calls it.
  void End();

  /// Announces reads of this reader between End() and Begin(), so that these reads do not count as load by
  /// other programs.
  void IgnoreOwnReads() { this->ReadSinceSample = true; }

  const ThreadChoice& Choice() const { return this->CurrentChoice; }
  /// Returns lines for the report: the policy, N* and NC with their origins, and the reads in flight over
  /// time.
  std::string Text() const;
  /// Returns N*, NC and, on rank 0 and if the storage has a profile, F(N).
  StorageCurve Curve() const;
  /// Returns the errors in reading and saving profiles, and the reasons why PatchIO ignores profiles; empty
  /// on ranks other than 0.
  const std::vector<std::string>& Notes() const { return this->ProfileNotes; }

  /// Replaces the LoadSensor on rank 0; for tests.
  std::function<LoadEstimate(const OwnReads&)> SenseLoad;

private:
  struct Key
  {
    std::string Mount;
    int RankCount;
    ThreadPolicy Policy;
    bool operator==(const Key& other) const
    {
      return this->Mount == other.Mount && this->RankCount == other.RankCount && this->Policy == other.Policy;
    }
  };

  /// The arguments, the age and the notes of the last search for mount and profile.
  struct StorageSearch
  {
    std::string Path;
    int RankCount = 0;
    Stopwatch Age;
    std::vector<std::string> Notes;
  };

  void UpdateChoice(const std::string& path, int rankCount);
  void FindStorage(const std::string& path, int rankCount);
  void BroadcastStorage(Communicator& ranks, int mostThreadsOfRank);
  void StartController(Communicator& ranks);
  LoadEstimate EstimateLoad(const OwnReads& own);
  LoadEstimate LoadBeforeRead();
  void BeginIdleWindow();
  int OnWindow(const ReadWindow& window);
  void BroadcastLoad();
  void RefineProfile();

  // On rank 0 only:
  std::optional<Mount> StorageMount;
  std::optional<StorageProfile> Profile;
  std::optional<StorageSearch> LastSearch;  ///< origin of StorageMount and Profile
  std::unique_ptr<LoadSensor> Sensor;
  std::string SensorMount;
  std::optional<Stopwatch> SinceSample;  ///< time since the load was last sampled after a read; empty: never
  bool ReadSinceSample = false;  ///< true: this reader has read since SinceSample began, so the sensor would
                                 ///< count these reads as load
  std::vector<std::string> ProfileNotes;
  /// Latest estimate of the read with a confidence above 0, or else the latest estimate.
  std::optional<LoadEstimate> LatestLoad;
  UnloadedRates ReadRates;  ///< rates of the current read

  ThreadChoice CurrentChoice;
  ThreadPolicy Policy = ThreadPolicy::Balanced;
  ReadingJob Job;
  std::string MountPoint;
  std::optional<Key> ControllerKey;
  std::unique_ptr<ThreadController> Controller;
  std::unique_ptr<ReadControl> Current;
  Communicator* Ranks = nullptr;  ///< communicator of the current read
  bool IsRankZero = true;
  bool OnMachineOfRankZero = true;
  Stopwatch Watch;  ///< started with the read
};

}  // namespace patchio
