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

/// Returns whether the load by others is known and negligible: at most one request, or a tenth of
/// `concurrency`, the requests that this reader has in flight.
bool IsClearlyAlone(const LoadEstimate& load, double concurrency);
/// Returns whether the load by others is known and not negligible.
bool IsClearlyLoaded(const LoadEstimate& load, double concurrency);

/// Collects the windows of one read as samples for a storage profile. Rates under load by others are useless:
/// a profile made from such rates would describe a loaded storage as idle.
class UnloadedRates
{
public:
  /// Adds a window of the read: N, rate in bytes per second, and the load known at that time. epoch:
  /// ThreadsTried::Epoch, which counts the changes of the storage that the ThreadController has noticed.
  void Add(int threads, double rate, const LoadEstimate& load, int epoch);

  /// Returns one sample per N: the mean of its windows up to the first change of the storage. Returns nothing
  /// if any window showed load. mustBeAlone: also returns nothing unless the load was clearly negligible at
  /// some time; for storages whose load is inferred from the rate.
  std::vector<RateSample> Samples(bool mustBeAlone) const;

private:
  struct Window
  {
    int Threads;
    double Rate;
    int Epoch;
  };
  std::vector<Window> Windows;
  bool Alone = false, Loaded = false;
};

/// The basis for the number of reads in flight, in numbers and in words.
struct ThreadChoice
{
  StorageKnowledge Storage;       ///< Storage.Load equals Load.Load
  std::string ConcurrencySource;  ///< "profile /home/me/.config/patchio/storage/scratch.json, measured"
  /// NC before the read; after the read the latest value known while it ran, if there was one.
  LoadEstimate Load;
  std::optional<StorageModel> Requests;  ///< cost of a request according to the profile
  bool HasUnusableProfiles = false;      ///< true: profiles for this storage exist, but all are unusable
};

/// Describes the origin of a profile: "profile /home/me/.config/patchio/storage/scratch.json, measured,
/// 2026-11-21". For a table of threads, the text also names the entry for `ranks`.
std::string DescribeSource(const StorageProfile& profile, int ranks);
/// Returns N* of a profile. For a table of threads, returns the number of threads of all `ranks` together.
int ConcurrencyFor(const StorageProfile& profile, int ranks);
/// Returns the number of threads, 1 to `most`, whose requests of 16 MiB each fit into an eighth of the free
/// memory; the rest is for arrays.
int ThreadsThatFit(int most);

/// Chooses the number of threads: finds the profile of the storage before a read, adapts the number to rates
/// and to the load by others during the read, and keeps the controller's state for the next read. All ranks
/// get the same results: rank 0 observes and informs the other ranks. Not thread-safe.
class AutomaticThreads
{
public:
  /// Prepares a read of files next to `path`. mostOfRank: greatest number of threads of a rank; the least
  /// value of all ranks counts. Does not throw if the storage or the load is unknown. Collective: every rank
  /// of the communicator calls it.
  void Begin(Communicator& ranks, const std::string& path, ThreadPolicy policy, int mostOfRank);
  /// Returns the control of the current read, valid until the next Begin().
  ReadControl& Control() { return *this->Current; }
  /// Ends the read, successful or not. Long reads refine the profile of network storages. Collective: every
  /// rank of the communicator calls it.
  void End();

  /// Announces reads of this reader between End() and Begin(), so that they do not count as load by others.
  void IgnoreOwnReads() { this->ReadSinceSensed = true; }

  const ThreadChoice& Choice() const { return this->Known; }
  /// Returns several lines for the report: N*, NC, reads in flight over time, and the origin of each.
  std::string Text() const;
  /// Returns F(N) of the storage's profile. Call it on rank 0 only.
  StorageCurve Curve() const;
  /// Returns the errors in profiles, and the reasons why profiles were ignored. Call it on rank 0 only.
  const std::vector<std::string>& Notes() const { return this->ProfileNotes; }

  /// Replaces the LoadSensor on rank 0; for tests.
  std::function<LoadEstimate(const OwnReads&)> SenseLoad;

private:
  struct Key
  {
    std::string Mount;
    int Ranks;
    ThreadPolicy Policy;
    bool operator==(const Key& other) const
    {
      return this->Mount == other.Mount && this->Ranks == other.Ranks && this->Policy == other.Policy;
    }
  };

  /// The last search for mount and profile: its arguments, its age and its notes.
  struct Finding
  {
    std::string Path;
    int Ranks = 0;
    Stopwatch Since;
    std::vector<std::string> Notes;
  };

  void LookAtStorage(const std::string& path, int ranks);
  void FindStorage(const std::string& path, int ranks);
  void Agree(Communicator& ranks, int mostOfRank);
  void StartController(Communicator& ranks);
  LoadEstimate EstimateLoad(const OwnReads& own);
  LoadEstimate LoadBeforeRead();
  void BeginIdleWindow();
  int OnWindow(const ReadWindow& window);
  void ShareLoad();
  void Refine();

  // On rank 0 only:
  std::optional<Mount> Where;
  std::optional<StorageProfile> Profile;
  std::optional<Finding> Found;  ///< origin of Where and Profile
  std::unique_ptr<LoadSensor> Sensor;
  std::string SensedMount;
  std::optional<Stopwatch> Sensed;  ///< time since the load was last sampled after a read; empty: never
  bool ReadSinceSensed = false;  ///< this reader has read since then; a sensor would take its reads for load
  std::vector<std::string> ProfileNotes;
  std::optional<LoadEstimate> SeenLoad;  ///< latest known load of the read, or else the latest estimate
  UnloadedRates SeenRates;               ///< rates of the current read

  ThreadChoice Known;
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
