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

namespace {

/// Returns the number of requests by others whose effect is less than the usual variation of rates.
double Negligible(double concurrency)
{
  return std::max(1.0, 0.1 * concurrency);
}

}  // namespace

bool IsClearlyAlone(const LoadEstimate& load, double concurrency)
{
  return load.Confidence > 0 && load.Load <= Negligible(concurrency);
}

bool IsClearlyLoaded(const LoadEstimate& load, double concurrency)
{
  return load.Confidence > 0 && load.Load > Negligible(concurrency);
}

void UnloadedRates::Add(int threads, double rate, const LoadEstimate& load, int epoch)
{
  this->Alone = this->Alone || IsClearlyAlone(load, threads);
  this->Loaded = this->Loaded || IsClearlyLoaded(load, threads);
  if (rate > 0) {
    this->Windows.push_back({threads, rate, epoch});
  }
}

std::vector<RateSample> UnloadedRates::Samples(bool mustBeAlone) const
{
  if (this->Loaded || (mustBeAlone && !this->Alone)) {
    return {};
  }
  struct Sum
  {
    double Rate = 0;
    int Windows = 0;
  };
  std::map<int, Sum> sums;
  for (const Window& window : this->Windows) {
    if (window.Epoch == this->Windows.front().Epoch) {
      Sum& sum = sums[window.Threads];
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

/// Seconds until the first window if the storage is unknown: such a read must not wait a second before it
/// searches for a better number.
constexpr double FirstWindowUnknown = 0.1;
constexpr double FirstWindowKnown = 1;
/// Least duration of a read that refines a profile: shorter reads tell too little about a storage.
constexpr double LeastSecondsToLearn = 5;
/// Lifetime of a result in seconds. Steps may follow each other within less than a millisecond, and finding
/// mount and profile, or asking the kernel for other readers, takes much longer.
constexpr double LookAgainSeconds = 2;
constexpr double SenseAgainSeconds = 0.1;
/// Least pause between reads in which other readers can be observed.
constexpr double LeastSecondsToSense = 0.02;

/// Returns whether rates of this class of storage are worth keeping. Local disks sometimes answer from
/// memory, which later reads cannot rely on.
bool AreRatesRepeatable(MountClass kind)
{
  return kind == MountClass::Network || kind == MountClass::Parallel || kind == MountClass::Fuse;
}

/// Returns a line for the report: "NC = 6: 10 requests in flight give ...".
std::string TextOf(const LoadEstimate& load)
{
  return load.Confidence > 0 ? fmt::format("NC = {:.0f}: {}", load.Load, load.Source)
                             : "NC unknown (counts as 0): " + load.Source;
}

/// Returns a list of changes for the report: " 64, 57 from 3.1 s, ... 40 from 20.2 s". Shortens a long list
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

std::string DescribeSource(const StorageProfile& profile, int ranks)
{
  std::string text =
      fmt::format("profile {}, {}{}", profile.File, profile.Source, profile.FromReads ? " during reads" : "");
  if (profile.MeasuredAt > 0) {
    text += fmt::format(", {:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(profile.MeasuredAt)));
  }
  if (!profile.ThreadsOfRanks.empty()) {
    const int last = profile.ThreadsOfRanks.rbegin()->first;
    text += ", table of threads" + (ranks > last ? ", beyond its end at " + CountText(last, "rank") : "");
  }
  return text;
}

int ConcurrencyFor(const StorageProfile& profile, int ranks)
{
  return profile.ThreadsOfRanks.empty() ? profile.Concurrency : ranks * profile.ThreadsFor(ranks);
}

void AutomaticThreads::Begin(
    Communicator& ranks, const std::string& path, ThreadPolicy policy, int mostOfRank)
{
  this->Ranks = &ranks;
  this->IsRankZero = ranks.Rank() == 0;
  this->SeenLoad.reset();
  this->SeenRates = UnloadedRates();
  this->Policy = policy;
  if (this->IsRankZero) {
    this->LookAtStorage(path, ranks.Size());
  }
  this->Agree(ranks, mostOfRank);
  this->StartController(ranks);
  this->Watch = Stopwatch();
}

/// Finds mount and profile. Reuses the previous result for LookAgainSeconds. Called on rank 0 only.
void AutomaticThreads::FindStorage(const std::string& path, int ranks)
{
  const bool fresh = this->Found && this->Found->Path == path && this->Found->Ranks == ranks &&
                     this->Found->Since.Seconds() < LookAgainSeconds;
  if (!fresh) {
    this->Found = Finding{path, ranks, {}, {}};
    const std::string fault = CatchError([&] {
      this->Where = MountOf(path);
      this->Profile = FindProfile(path, &this->Found->Notes, ranks);
    });
    if (!fault.empty()) {
      this->Found->Notes.push_back(fault);
    }
  }
  this->ProfileNotes = this->Found->Notes;
}

/// Finds the storage, its profile and the current load by others. Called on rank 0 only.
void AutomaticThreads::LookAtStorage(const std::string& path, int ranks)
{
  this->FindStorage(path, ranks);
  ThreadChoice choice;
  const Mount where = this->Where.value_or(Mount());
  choice.Storage.Class = where.Class;
  if (this->Profile) {
    choice.Storage.Concurrency = ConcurrencyFor(*this->Profile, ranks);
    choice.ConcurrencySource = DescribeSource(*this->Profile, ranks);
    choice.Requests = this->Profile->Requests;
  }
  if (!this->Sensor || this->SensedMount != where.Point) {
    this->Sensor = std::make_unique<LoadSensor>(where);
    this->SensedMount = where.Point;
    this->Sensed.reset();
    this->ReadSinceSensed = false;
  }
  this->Sensor->UseCurve(this->Profile ? CurveOf(*this->Profile) : std::nullopt);
  choice.Load = this->LoadBeforeRead();
  choice.Storage.Load = choice.Load.Load;
  if (this->Profile && this->Profile->HasReliableFit()) {
    SetStarts(choice.Storage, this->Profile->Fit);
  }
  choice.HasUnusableProfiles = !this->Profile && !this->ProfileNotes.empty();
  this->Known = choice;
}

LoadEstimate AutomaticThreads::EstimateLoad(const OwnReads& own)
{
  return this->SenseLoad ? this->SenseLoad(own) : this->Sensor->Sample(own);
}

/// Returns the load by others since the last read of this reader.
LoadEstimate AutomaticThreads::LoadBeforeRead()
{
  const LoadEstimate tooShort{0, 0, "the time since the previous read was too short"};
  const double passed = this->Sensed ? this->Sensed->Seconds() : LeastSecondsToSense;
  if (this->ReadSinceSensed && passed < 2 * SenseAgainSeconds) {
    return this->Known.Load;
  }
  if (!this->ReadSinceSensed && passed < LeastSecondsToSense) {
    return tooShort;
  }
  const LoadEstimate load = this->EstimateLoad(OwnReads());
  return std::exchange(this->ReadSinceSensed, false) ? tooShort : load;
}

/// Starts a window of the sensor in which this reader does not read.
void AutomaticThreads::BeginIdleWindow()
{
  this->ReadSinceSensed = this->Sensed && this->Sensed->Seconds() < SenseAgainSeconds;
  if (!this->ReadSinceSensed) {
    this->EstimateLoad(OwnReads());
    this->Sensed = Stopwatch();
  }
}

/// Shares rank 0's knowledge of the storage, and the least limit of threads, with all ranks. Uses few
/// messages, because a short read loses more time by waiting for other ranks than it gains. Collective: every
/// rank of the communicator calls it.
void AutomaticThreads::Agree(Communicator& ranks, int mostOfRank)
{
  static const int cores = static_cast<int>(std::thread::hardware_concurrency());  // the call asks the kernel
  const auto known = [this] {
    ThreadChoice& choice = this->Known;
    return std::tie(choice.Storage, choice.ConcurrencySource, choice.Load.Load, choice.Load.Confidence,
        choice.Load.Source, choice.Requests, choice.HasUnusableProfiles, this->MountPoint);
  };
  const std::vector<std::byte> bytes = BytesOfRankZero(ranks, [&] {
    this->MountPoint = this->Where ? this->Where->Point : "";
    ByteWriter writer;
    writer.Put(MachineName());
    writer.Put(std::max(cores, 1));
    writer.Put(known());
    return writer.Take();
  });
  ByteReader reader(bytes);
  std::string machine;
  reader.Get(machine);
  this->OnMachineOfRankZero = machine == MachineName();
  const int coresThere = reader.Get<int>();
  reader.Get(known());
  const int least = -static_cast<int>(ranks.Largest({-double(mostOfRank)})[0]);
  this->Job = {ranks.Size(), coresThere, least};
}

/// Creates the control of the read. Keeps the controller of the previous read if storage, number of ranks and
/// policy are the same.
void AutomaticThreads::StartController(Communicator& ranks)
{
  const Key key{this->MountPoint, ranks.Size(), this->Policy};
  const bool fresh = !this->Controller || !(this->ControllerKey == key);
  if (fresh) {
    this->Controller =
        std::make_unique<ThreadController>(ControllerFor(this->Known.Storage, this->Policy, this->Job));
    this->ControllerKey = key;
  }
  const MountClass kind = this->Known.Storage.Class;
  const bool guessed = fresh && this->Known.Storage.Concurrency == 0 && kind != MountClass::LocalDisk &&
                       kind != MountClass::Memory;
  ReadControlOptions options;
  options.MostOfRank = this->Job.MostOfRank;
  options.FirstWindow = guessed ? FirstWindowUnknown : FirstWindowKnown;
  options.OnMachineOfRankZero = this->OnMachineOfRankZero;
  this->Current = std::make_unique<ReadControl>(ranks, *this->Controller, options);
  this->Current->ReportLoad(this->Known.Storage.Load);
  this->Current->OnWindow = [this](const ReadWindow& window) { return this->OnWindow(window); };
}

int AutomaticThreads::OnWindow(const ReadWindow& window)
{
  if (this->IsRankZero) {
    const bool mixed = std::exchange(this->ReadSinceSensed, false);
    LoadEstimate load = this->EstimateLoad(mixed ? OwnReads() : window.Own);
    if (mixed) {
      load = {0, 0, "the measurement includes previous reads of PatchIO"};
    }
    this->Current->ReportLoad(load.Load);
    if (load.Confidence > 0 || !this->SeenLoad || this->SeenLoad->Confidence <= 0) {
      this->SeenLoad = load;
    }
    const std::vector<ThreadsTried>& tried = this->Controller->History();
    this->SeenRates.Add(window.Threads, window.Rate, load, tried.empty() ? 0 : tried.back().Epoch);
  }
  // All ranks must make the same decision, so the limit uses the load that rank 0 knew one window ago.
  StorageKnowledge now = this->Known.Storage;
  now.Load = window.Load;
  return MostInFlight(now, this->Policy, this->Job);
}

void AutomaticThreads::End()
{
  this->Current->Finish();
  if (this->IsRankZero) {
    if (this->Watch.Seconds() >= LeastSecondsToLearn && AreRatesRepeatable(this->Known.Storage.Class)) {
      this->Refine();
    }
    this->BeginIdleWindow();
  }
  this->ShareLoad();
}

/// Shares the load that rank 0 has seen with all ranks. Without windows there is nothing new to share.
/// Collective: every rank of the communicator calls it.
void AutomaticThreads::ShareLoad()
{
  if (this->Current->Windows().empty()) {
    return;
  }
  if (this->SeenLoad && (this->SeenLoad->Confidence > 0 || this->Known.Load.Confidence <= 0)) {
    this->Known.Load = *this->SeenLoad;
  }
  const auto tie = [](LoadEstimate& load) { return std::tie(load.Load, load.Confidence, load.Source); };
  const std::vector<std::byte> bytes = BytesOfRankZero(*this->Ranks, [&] {
    ByteWriter writer;
    writer.Put(tie(this->Known.Load));
    return writer.Take();
  });
  ByteReader reader(bytes);
  reader.Get(tie(this->Known.Load));
  this->Known.Storage.Load = this->Known.Load.Load;
}

/// Merges the measured rates into the profile, and creates a profile if there is none. Called on rank 0 only.
void AutomaticThreads::Refine()
{
  // A profile made from reads may describe a loaded storage, so later reads must be able to correct it.
  const bool mustBeAlone = this->Profile && this->Profile->Fit.Known() && !this->Profile->FromReads;
  const std::vector<RateSample> samples = this->SeenRates.Samples(mustBeAlone);
  const std::string fault = CatchError([&] {
    StorageProfile profile = this->Profile.value_or(StorageProfile());
    if (!this->Profile) {
      profile.Where = *this->Where;
      profile.Source = MeasuredSource;
      profile.Node = NodeClass();
      profile.Ranks = this->Job.Ranks;
      profile.FromReads = true;
    }
    if (MergeSamples(profile, samples)) {
      // All numbers tried lie close to the controller's best number, which is more reliable than N* of a fit
      // to so few numbers.
      profile.Concurrency = profile.FromReads ? this->Controller->BestSoFar() : profile.Concurrency;
      SaveProfile(profile);
      this->Found.reset();
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
  curve.Concurrency = this->Known.Storage.Concurrency;
  curve.Load = this->Known.Storage.Load;
  curve.Source = this->Known.ConcurrencySource;
  return curve;
}

std::string AutomaticThreads::Text() const
{
  const StorageKnowledge& storage = this->Known.Storage;
  std::string text = fmt::format("Threads: automatic, {}\n", NameOf(this->Policy));
  text += storage.Concurrency > 0
              ? fmt::format("  N* = {}: {}\n", storage.Concurrency, this->Known.ConcurrencySource)
              : fmt::format("  N* unknown: {} ({}) has {}; measure it with 'patchio probe'\n",
                    this->MountPoint, NameOf(storage.Class),
                    this->Known.HasUnusableProfiles ? "no usable profile (see the notes)" : "no profile");
  text += "  " + TextOf(this->Known.Load) + "\n";
  return text + "  Reads in flight:" + TextOf(this->Current->Changes()) + "\n";
}

}  // namespace patchio
