#include "Tuning/AutomaticThreads.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

namespace patchio {

void UnloadedRates::Add(int threads, double rate, const LoadEstimate& load, int epoch)
{
  // The greatest load by other programs whose effect is less than the usual variation of rates.
  const double negligible = std::max(1.0, 0.1 * threads);
  const bool isKnown = load.Confidence > 0;
  this->AnyUnloaded = this->AnyUnloaded || (isKnown && load.Load <= negligible);
  this->AnyLoaded = this->AnyLoaded || (isKnown && load.Load > negligible);
  if (rate > 0) {
    this->Windows.push_back({threads, rate, epoch});
  }
}

std::vector<RateSample> UnloadedRates::Samples(bool mustBeUnloaded) const
{
  if (this->AnyLoaded || (mustBeUnloaded && !this->AnyUnloaded)) {
    return {};
  }
  struct RateSum
  {
    double Rate = 0;
    int Windows = 0;
  };
  std::map<int, RateSum> sums;
  for (const RateWindow& window : this->Windows) {
    if (window.Epoch == this->Windows.front().Epoch) {
      RateSum& sum = sums[window.Threads];
      sum.Rate += window.Rate;
      ++sum.Windows;
    }
  }
  std::vector<RateSample> samples;
  for (const auto& [threads, sum] : sums) {
    samples.push_back({threads, sum.Rate / sum.Windows, 0});
  }
  return samples;
}

namespace {

/// Seconds from the beginning of a read to its first window, in which the controller begins to adapt N; see
/// ReadControlOptions::FirstWindow. Without a profile, the initial N is a guess, so the read adapts N
/// earlier.
constexpr double FirstWindowUnknown = 0.1;
constexpr double FirstWindowKnown = 1;
/// Least duration in seconds of a read that refines a profile: shorter reads tell too little about a storage.
constexpr double LeastRefiningSeconds = 5;
/// Lifetimes in seconds of a search for mount and profile, and of an estimate of the load. Time steps may
/// follow each other within less than a millisecond, but a search or an estimate takes much longer.
constexpr double SearchLifetime = 2;
constexpr double SampleLifetime = 0.1;
/// Least pause between reads, in seconds, in which the sensor can observe other readers.
constexpr double LeastIdleSeconds = 0.02;
/// Reason why the load is unknown if this reader has read while the sensor expected no reads.
constexpr const char* OwnReadsReason = "the measurement includes previous reads of PatchIO";

/// Returns whether rates of this class of storage are repeatable. Local disks sometimes answer from the page
/// cache, on which later reads cannot rely.
bool AreRatesRepeatable(MountClass mountClass)
{
  return mountClass == MountClass::Network || mountClass == MountClass::Parallel ||
         mountClass == MountClass::Fuse;
}

/// Returns a line for the report, without line end: "NC = 6: 10 requests in flight read at ...".
std::string TextOf(const LoadEstimate& load)
{
  return load.Confidence > 0 ? fmt::format("NC = {:.0f}: {}", load.Load, load.Source)
                             : "NC unknown (counts as 0): " + load.Source;
}

/// Returns a list of changes for the report: " 64, ... 57 from 3.1 s, 40 from 20.2 s". Shortens a long list
/// to the first change and the last changes.
std::string TextOf(const std::vector<ThreadChange>& changes)
{
  constexpr std::size_t most = 12;
  std::string text = fmt::format(" {}", changes.front().Threads);
  const std::size_t first = changes.size() > most ? changes.size() - (most - 1) : 1;
  for (std::size_t i = first; i < changes.size(); ++i) {
    text += fmt::format("{} {} from {:.1f} s", i == first && first > 1 ? ", ..." : ",", changes[i].Threads,
        changes[i].Seconds);
  }
  return text;
}

}  // namespace

int ThreadsThatFit(int most)
{
  constexpr std::uint64_t requestBytes = 16 << 20;
  const std::uint64_t fit = std::max<std::uint64_t>(AvailableMemory() / 8 / requestBytes, 1);
  return static_cast<int>(std::min<std::uint64_t>(fit, std::max(most, 1)));
}

std::string DescribeSource(const StorageProfile& profile, int rankCount)
{
  std::string text =
      fmt::format("profile {}, {}{}", profile.File, profile.Source, profile.FromReads ? " during reads" : "");
  if (profile.MeasuredAt > 0) {
    text += fmt::format(", {:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(profile.MeasuredAt)));
  }
  if (!profile.ThreadsOfRanks.empty()) {
    const int last = profile.ThreadsOfRanks.rbegin()->first;
    text += ", table of threads" + (rankCount > last ? ", beyond its end at " + CountText(last, "rank") : "");
  }
  return text;
}

int ConcurrencyFor(const StorageProfile& profile, int rankCount)
{
  return profile.ThreadsOfRanks.empty() ? profile.Concurrency : rankCount * profile.ThreadsFor(rankCount);
}

void AutomaticThreads::Begin(
    Communicator& ranks, const std::string& path, ThreadPolicy policy, int mostThreadsOfRank)
{
  this->Ranks = &ranks;
  this->IsRankZero = ranks.Rank() == 0;
  this->LatestLoad.reset();
  this->ReadRates = UnloadedRates();
  this->Policy = policy;
  if (this->IsRankZero) {
    this->UpdateChoice(path, ranks.Size());
  }
  this->BroadcastStorage(ranks, mostThreadsOfRank);
  this->StartController(ranks);
  this->Watch = Stopwatch();
}

/// Finds mount and profile. Reuses the result for the same path and number of ranks for SearchLifetime.
/// Called on rank 0 only.
void AutomaticThreads::FindStorage(const std::string& path, int rankCount)
{
  const bool fresh = this->LastSearch && this->LastSearch->Path == path &&
                     this->LastSearch->RankCount == rankCount &&
                     this->LastSearch->Age.Seconds() < SearchLifetime;
  if (!fresh) {
    this->LastSearch = StorageSearch{path, rankCount, {}, {}};
    const std::string fault = CatchError([&] {
      this->StorageMount = MountOf(path);
      this->Profile = FindProfile(path, &this->LastSearch->Notes, rankCount);
    });
    if (!fault.empty()) {
      this->LastSearch->Notes.push_back(fault);
    }
  }
  this->ProfileNotes = this->LastSearch->Notes;
}

/// Updates CurrentChoice: finds the mount and its profile, and estimates the current load. Called on rank 0
/// only.
void AutomaticThreads::UpdateChoice(const std::string& path, int rankCount)
{
  this->FindStorage(path, rankCount);
  ThreadChoice choice;
  const Mount mount = this->StorageMount.value_or(Mount());
  choice.Storage.Class = mount.Class;
  if (this->Profile) {
    choice.Storage.Concurrency = ConcurrencyFor(*this->Profile, rankCount);
    choice.ConcurrencySource = DescribeSource(*this->Profile, rankCount);
    choice.CostOfRequest = this->Profile->CostOfRequest;
  }
  if (!this->Sensor || this->SensorMount != mount.Point) {
    this->Sensor = std::make_unique<LoadSensor>(mount);
    this->SensorMount = mount.Point;
    this->SinceSample.reset();
    this->ReadSinceSample = false;
  }
  this->Sensor->SetCurve(this->Profile ? CurveOf(*this->Profile) : std::nullopt);
  choice.Load = this->LoadBeforeRead();
  choice.Storage.Load = choice.Load.Load;
  if (this->Profile && this->Profile->HasReliableFit()) {
    SetInitialReads(choice.Storage, this->Profile->Fit);
  }
  choice.HasUnusableProfiles = !this->Profile && !this->ProfileNotes.empty();
  this->CurrentChoice = choice;
}

LoadEstimate AutomaticThreads::EstimateLoad(const OwnReads& own)
{
  return this->SenseLoad ? this->SenseLoad(own) : this->Sensor->Sample(own);
}

/// Returns the load by other programs between the previous read of this reader and now. If this reader has
/// read since SinceSample began, returns the load of the current choice for 2 x SampleLifetime, and later an
/// unknown load. Also returns an unknown load if less than LeastIdleSeconds have passed.
LoadEstimate AutomaticThreads::LoadBeforeRead()
{
  const double passed = this->SinceSample ? this->SinceSample->Seconds() : LeastIdleSeconds;
  if (this->ReadSinceSample && passed < 2 * SampleLifetime) {
    return this->CurrentChoice.Load;
  }
  if (!this->ReadSinceSample && passed < LeastIdleSeconds) {
    return {0, 0, "the time since the previous read was too short"};
  }
  const LoadEstimate load = this->EstimateLoad(OwnReads());
  return std::exchange(this->ReadSinceSample, false) ? LoadEstimate{0, 0, OwnReadsReason} : load;
}

/// Begins a window of the sensor in which this reader does not read, unless the previous window began less
/// than SampleLifetime ago.
void AutomaticThreads::BeginIdleWindow()
{
  this->ReadSinceSample = this->SinceSample && this->SinceSample->Seconds() < SampleLifetime;
  if (!this->ReadSinceSample) {
    this->EstimateLoad(OwnReads());
    this->SinceSample = Stopwatch();
  }
}

/// Broadcasts the facts about the storage from rank 0, and finds the least limit on the threads of a rank.
/// Uses few messages, because a short read loses more time by waiting for messages than by a poor number of
/// threads. Collective: every rank of the communicator calls it.
void AutomaticThreads::BroadcastStorage(Communicator& ranks, int mostThreadsOfRank)
{
  // The variable is static because hardware_concurrency() asks the kernel.
  static const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const auto known = [this] {
    ThreadChoice& choice = this->CurrentChoice;
    return std::tie(choice.Storage, choice.ConcurrencySource, choice.Load.Load, choice.Load.Confidence,
        choice.Load.Source, choice.CostOfRequest, choice.HasUnusableProfiles, this->MountPoint);
  };
  const std::vector<std::byte> bytes = ProduceOnRankZero(ranks, [&] {
    this->MountPoint = this->StorageMount ? this->StorageMount->Point : "";
    ByteWriter writer;
    writer.Append(MachineName());
    writer.Append(std::max(cores, 1));
    writer.Append(known());
    return writer.Release();
  });
  ByteReader reader(bytes);
  std::string machine;
  reader.Get(machine);
  this->OnMachineOfRankZero = machine == MachineName();
  const int coresThere = reader.Get<int>();
  reader.Get(known());
  const int least = static_cast<int>(ranks.Min({double(mostThreadsOfRank)})[0]);
  this->Job = {ranks.Size(), coresThere, least};
}

/// Creates the control of the read. Keeps the controller of the previous read if storage, number of ranks and
/// policy are the same.
void AutomaticThreads::StartController(Communicator& ranks)
{
  const Key key{this->MountPoint, ranks.Size(), this->Policy};
  const bool fresh = !this->Controller || !(this->ControllerKey == key);
  if (fresh) {
    this->Controller = std::make_unique<ThreadController>(
        ControllerOptionsFor(this->CurrentChoice.Storage, this->Policy, this->Job));
    this->ControllerKey = key;
  }
  const MountClass mountClass = this->CurrentChoice.Storage.Class;
  const bool guessed = fresh && this->CurrentChoice.Storage.Concurrency == 0 &&
                       mountClass != MountClass::LocalDisk && mountClass != MountClass::Memory;
  ReadControlOptions options;
  options.MostThreadsOfRank = this->Job.MostThreadsOfRank;
  options.FirstWindow = guessed ? FirstWindowUnknown : FirstWindowKnown;
  options.OnMachineOfRankZero = this->OnMachineOfRankZero;
  this->Current = std::make_unique<ReadControl>(ranks, *this->Controller, options);
  this->Current->ReportLoad(this->CurrentChoice.Storage.Load);
  this->Current->OnWindow = [this](const ReadWindow& window) { return this->OnWindow(window); };
}

int AutomaticThreads::OnWindow(const ReadWindow& window)
{
  if (this->IsRankZero) {
    const bool mixed = std::exchange(this->ReadSinceSample, false);
    LoadEstimate load = this->EstimateLoad(mixed ? OwnReads() : window.Reads);
    if (mixed) {
      load = {0, 0, OwnReadsReason};
    }
    this->Current->ReportLoad(load.Load);
    if (load.Confidence > 0 || !this->LatestLoad || this->LatestLoad->Confidence <= 0) {
      this->LatestLoad = load;
    }
    const std::vector<ThreadObservations>& tried = this->Controller->History();
    this->ReadRates.Add(window.Threads, window.Rate, load, tried.empty() ? 0 : tried.back().Epoch);
  }
  // All ranks must make the same decision, so the limit uses the load that rank 0 knew one window ago.
  StorageKnowledge now = this->CurrentChoice.Storage;
  now.Load = window.Load;
  return MostInFlight(now, this->Policy, this->Job);
}

void AutomaticThreads::End()
{
  this->Current->Finish();
  if (this->IsRankZero) {
    if (this->Watch.Seconds() >= LeastRefiningSeconds &&
        AreRatesRepeatable(this->CurrentChoice.Storage.Class)) {
      this->RefineProfile();
    }
    this->BeginIdleWindow();
  }
  this->BroadcastLoad();
}

/// Broadcasts the latest known load from rank 0. Does nothing if the read had no windows. Collective: every
/// rank of the communicator calls it.
void AutomaticThreads::BroadcastLoad()
{
  if (this->Current->Windows().empty()) {
    return;
  }
  if (this->LatestLoad && (this->LatestLoad->Confidence > 0 || this->CurrentChoice.Load.Confidence <= 0)) {
    this->CurrentChoice.Load = *this->LatestLoad;
  }
  const auto tie = [](LoadEstimate& load) { return std::tie(load.Load, load.Confidence, load.Source); };
  const std::vector<std::byte> bytes = ProduceOnRankZero(*this->Ranks, [&] {
    ByteWriter writer;
    writer.Append(tie(this->CurrentChoice.Load));
    return writer.Release();
  });
  ByteReader reader(bytes);
  reader.Get(tie(this->CurrentChoice.Load));
  this->CurrentChoice.Storage.Load = this->CurrentChoice.Load.Load;
}

/// Merges the measured rates into the profile, or into a new profile if the storage has no profile, and saves
/// a changed profile. Called on rank 0 only.
void AutomaticThreads::RefineProfile()
{
  // A profile made from reads may describe a loaded storage, so later reads must be able to correct it.
  const bool mustBeUnloaded = this->Profile && this->Profile->Fit.Known() && !this->Profile->FromReads;
  const std::vector<RateSample> samples = this->ReadRates.Samples(mustBeUnloaded);
  const std::string fault = CatchError([&] {
    StorageProfile profile = this->Profile.value_or(StorageProfile());
    if (!this->Profile) {
      profile.StorageMount = *this->StorageMount;
      profile.Source = MeasuredSource;
      profile.Node = NodeClass();
      profile.Ranks = this->Job.RankCount;
      profile.FromReads = true;
    }
    if (MergeSamples(profile, samples)) {
      // All numbers tried lie close to the controller's best number, which is more reliable than N* of a fit
      // to so few numbers.
      profile.Concurrency = profile.FromReads ? this->Controller->BestSoFar() : profile.Concurrency;
      SaveProfile(profile);
      this->LastSearch.reset();
    }
  });
  if (!fault.empty()) {
    this->ProfileNotes.push_back(fault);
  }
}

StorageCurve AutomaticThreads::Curve() const
{
  StorageCurve curve;
  if (this->Profile) {
    curve.Samples = this->Profile->Samples;
    curve.Fit = this->Profile->Fit;
  }
  curve.Concurrency = this->CurrentChoice.Storage.Concurrency;
  curve.Load = this->CurrentChoice.Storage.Load;
  curve.Source = this->CurrentChoice.ConcurrencySource;
  return curve;
}

std::string AutomaticThreads::Text() const
{
  const StorageKnowledge& storage = this->CurrentChoice.Storage;
  std::string text = fmt::format("Threads: automatic, {}\n", NameOf(this->Policy));
  text +=
      storage.Concurrency > 0
          ? fmt::format("  N* = {}: {}\n", storage.Concurrency, this->CurrentChoice.ConcurrencySource)
          : fmt::format("  N* unknown: {} ({}) has {}; run 'patchio probe'\n", this->MountPoint,
                NameOf(storage.Class),
                this->CurrentChoice.HasUnusableProfiles ? "no usable profile (see the notes)" : "no profile");
  text += "  " + TextOf(this->CurrentChoice.Load) + "\n";
  return text + "  Reads in flight:" + TextOf(this->Current->Changes()) + "\n";
}

}  // namespace patchio
