// The number of threads of a reader that finds it by itself, and what its reads teach about the storage.
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

/// Whether others had, for all that matters, nothing in flight beside `inFlight` reads of ours: known, and
/// less than one request or a tenth of ours.
bool IsClearlyAlone(const LoadEstimate& load, double inFlight);
/// Whether others are known to have had more.
bool IsClearlyLoaded(const LoadEstimate& load, double inFlight);

/// Gathers the windows of one read. Rates that others had their share of are none of the storage alone, and a
/// profile that took them in would take the next load for none.
class UnloadedRates
{
public:
  /// A window of the read: N, bytes a second, and what was known of others at that time. epoch: of the
  /// ThreadController, which counts the changes of the storage that it has noticed.
  void Add(int threads, double rate, const LoadEstimate& load, int epoch);

  /// One sample for each N, the mean of its windows up to the first change of the storage. None where others
  /// were seen at any time. mustBeAlone: none either unless it was clear at least once that there were no
  /// others; for storages of which a rate can tell.
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

/// What the reads in flight follow from, in numbers and in words.
struct ThreadChoice
{
  StorageKnowledge Storage;       ///< its Load is that of `Load`
  std::string ConcurrencySource;  ///< "profile /home/me/.config/patchio/storage/scratch.json, measured"
  /// NC: before the read; after it the newest that was known while it ran, if anything was.
  LoadEstimate Load;
  std::optional<StorageModel> Requests;  ///< what a request costs, from the profile
  bool ProfilesPassedOver = false;       ///< there is none, but there are some that cannot be used
};

/// "profile /home/me/.config/patchio/storage/scratch.json, measured, 2026-11-21"; of a table of threads also
/// which of its entries serves so many ranks.
std::string DescribeSource(const StorageProfile& profile, int ranks);
/// N* of a profile; where it is a table of threads, those of so many ranks.
int ConcurrencyFor(const StorageProfile& profile, int ranks);
/// How many threads may hold a large request each, besides the arrays, in an eighth of the memory that is
/// free: 1 to `most`.
int ThreadsThatFit(int most);

/// Before a read it finds the profile of the storage and decides; while the read runs it watches rates and
/// the load of others, and adapts; afterwards it remembers. The same on all ranks: rank 0 looks, the others
/// are told.
class AutomaticThreads
{
public:
  /// Collective. Gets ready for a read of files beside `path`. mostOfRank: threads of a rank at most; the
  /// least of all ranks counts. Does not throw for what it cannot find out.
  void Begin(Communicator& ranks, const std::string& path, ThreadPolicy policy, int mostOfRank);
  /// The control of the read that has begun; valid until the next Begin().
  ReadControl& Control() { return *this->Current; }
  /// Collective, after the read, whatever its outcome. Long reads refine the profile of network storages.
  void End();

  /// Reads of ours go on between End() and Begin(): what is seen there is not the load of others.
  void ReadsGoOn() { this->ReadSinceSensed = true; }

  const ThreadChoice& Choice() const { return this->Known; }
  /// Several lines: N*, NC, reads in flight over time, and where each is from.
  std::string Text() const;
  /// On rank 0 alone: F(N) of the profile of the storage.
  StorageCurve Curve() const;
  /// On rank 0 alone: what is wrong with profiles, and why some were passed over.
  const std::vector<std::string>& Notes() const { return this->ProfileNotes; }

  /// On rank 0, who estimates the load of others, in place of a LoadSensor; for tests.
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

  /// What was found for a path, and when.
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
  LoadEstimate Sense(const OwnReads& own);
  LoadEstimate SenseBefore();
  void SenseAfter();
  int OnWindow(const ReadWindow& window);
  void ShareLoad();
  void Refine();

  // On rank 0 alone:
  std::optional<Mount> Where;
  std::optional<StorageProfile> Profile;
  std::optional<Finding> Found;  ///< Where and Profile
  std::unique_ptr<LoadSensor> Sensor;
  std::string SensedMount;
  std::optional<Stopwatch> Sensed;  ///< since the load was last asked for after a read; none: never
  bool ReadSinceSensed = false;     ///< by us, which a sensor asked now would take for others
  std::vector<std::string> ProfileNotes;
  std::optional<LoadEstimate> SeenLoad;  ///< while the read runs: the newest that is known, else the newest
  UnloadedRates SeenRates;               ///< by the read

  ThreadChoice Known;
  ThreadPolicy Policy = ThreadPolicy::Balanced;
  ReadingJob Job;
  std::string MountPoint;
  std::optional<Key> ControllerKey;
  std::unique_ptr<ThreadController> Controller;
  std::unique_ptr<ReadControl> Current;
  Communicator* Ranks = nullptr;  ///< of the read that has begun
  bool IsRankZero = true;
  bool OnMachineOfRankZero = true;
  Stopwatch Watch;  ///< since the read began
};

}  // namespace patchio
