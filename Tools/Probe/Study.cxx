#include "Probe/Study.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Memory.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Probe/Circumstances.h"
#include "Probe/Interrupt.h"
#include "Probe/Measure.h"
#include "Probe/Progress.h"
#include "Probe/Result.h"
#include "Probe/Settings.h"
#include "Probe/TestData.h"
#include "Probe/TestFiles.h"
#include "Session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace patchio::probe {
namespace {

/// Size of the file that shows whether files can be dropped from this machine's memory.
constexpr std::uint64_t CacheCheckBytes = 64u << 20;

// ---- simultaneous reads and writes
// --------------------------------------------------------------------------------------------------

/// A measurement of simultaneous reads and writes.
struct InfluenceTrial
{
  std::string ReadFile, WriteFile;
  std::uint64_t FileBytes = 0;  ///< size of each file
  std::uint64_t Block = 0;
  int Writers = 0;  ///< number of ranks that write, the last ranks; 0: half. A single rank uses two threads
  double Seconds = 0.5;  ///< duration of each of the three runs
};

/// Returns the number of ranks that write. wanted: requested number; 0: half of `ranks`.
int WritersOf(int ranks, int wanted)
{
  return wanted > 0 ? std::min(wanted, std::max(1, ranks - 1)) : std::max(1, ranks / 2);
}

/// A reader or writer, and its part of the file.
struct Worker
{
  bool Write = false;
  std::uint64_t Begin = 0, Bytes = 0;
};

Worker MakeWorker(bool write, int index, int count, const InfluenceTrial& trial)
{
  const std::uint64_t part = DivisibleSize(trial.FileBytes, count, trial.Block) / count;
  return {write, index * part, part};
}

/// Returns the readers and writers of this rank.
std::vector<Worker> WorkersOf(const Communicator& ranks, const InfluenceTrial& trial)
{
  if (ranks.Size() == 1) {
    return {MakeWorker(false, 0, 1, trial), MakeWorker(true, 0, 1, trial)};
  }
  const int writers = WritersOf(ranks.Size(), trial.Writers);
  const int readers = ranks.Size() - writers;
  const bool write = ranks.Rank() >= readers;
  return {write ? MakeWorker(true, ranks.Rank() - readers, writers, trial)
                : MakeWorker(false, ranks.Rank(), readers, trial)};
}

/// Reads or writes the worker's part repeatedly until the time is over. Returns the rate in bytes/s. Throws
/// Error.
double Act(const Worker& worker, const InfluenceTrial& trial, std::uint64_t seed)
{
  const PlainFile file(worker.Write ? trial.WriteFile : trial.ReadFile,
      worker.Write ? PlainFile::Purpose::Update : PlainFile::Purpose::Read);
  const Pattern values(seed);
  std::vector<std::byte> block(trial.Block);
  std::uint64_t moved = 0;
  double busy = 0;
  const auto timed = [&busy](const auto& work) {
    const double start = MPI_Wtime();
    work();
    busy += MPI_Wtime() - start;
  };
  const double begin = MPI_Wtime();
  const auto goesOn = [&] { return MPI_Wtime() - begin < trial.Seconds && !Interrupt::Received(); };
  while (goesOn()) {
    for (std::uint64_t done = 0; done < worker.Bytes && (done == 0 || goesOn()); done += trial.Block) {
      const std::uint64_t offset = worker.Begin + done;
      if (worker.Write) {
        values.Fill(offset, block.data(), block.size());
        timed([&] { file.Write(offset, block.data(), block.size()); });
      } else {
        timed([&] { file.Read(offset, block.data(), block.size()); });
        if (values.FindWrongByte(offset, block.data(), block.size())) {
          throw Error(fmt::format(
              "The measurement of simultaneous reads and writes read a wrong value at byte {} or later.",
              offset));
        }
      }
      moved += block.size();
    }
    if (worker.Write) {
      timed([&] { ::fdatasync(file.Descriptor()); });
    } else {
      ::posix_fadvise(file.Descriptor(), worker.Begin, worker.Bytes, POSIX_FADV_DONTNEED);
    }
  }
  return busy > 0 ? static_cast<double>(moved) / busy : 0;
}

struct TwoRates
{
  double Read = 0, Write = 0;
};

/// Collective: runs the readers, the writers or both at the same time. Throws Error, on all ranks.
TwoRates RunPhase(Communicator& ranks, const InfluenceTrial& trial, std::uint64_t seed, bool read, bool write)
{
  const std::vector<Worker> workers = WorkersOf(ranks, trial);
  RunOnAllRanks(ranks, [&] {
    if (!Interrupt::Received()) {
      DropFromMemory(trial.ReadFile);
      DropFromMemory(trial.WriteFile);
    }
  });
  double rates[2] = {0, 0};
  RunOnAllRanks(ranks, [&] {
    std::vector<std::future<void>> all;
    for (const Worker& worker : workers) {
      if ((worker.Write ? write : read) && !Interrupt::Received()) {
        all.push_back(
            std::async(std::launch::async, [&] { rates[worker.Write] = Act(worker, trial, seed); }));
      }
    }
    for (std::future<void>& each : all) {
      each.get();
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, rates, 2, MPI_DOUBLE, MPI_SUM, ranks.Mpi());
  return {rates[0], rates[1]};
}

/// Collective: writes both files, a part on each rank.
void WriteFiles(Communicator& ranks, const InfluenceTrial& trial, std::uint64_t seed)
{
  const std::uint64_t part = (trial.FileBytes / ranks.Size() + 7) / 8 * 8;
  const std::uint64_t begin = std::min(trial.FileBytes, part * ranks.Rank());
  const std::uint64_t bytes = std::min(part, trial.FileBytes - begin);
  RunOnAllRanks(ranks, [&] {
    WritePattern(trial.ReadFile, seed, begin, bytes);
    WritePattern(trial.WriteFile, ~seed, begin, bytes);
  });
}

/// Collective: measures the readers alone, the writers alone, and both at the same time, with pread and
/// pwrite on two files. Appends the rates to `result`, unless a signal has come. Checks the values that are
/// read. Throws Error, on all ranks.
void MeasureInfluence(
    Communicator& ranks, const InfluenceTrial& trial, std::uint64_t number, InfluenceResult& result)
{
  const std::uint64_t seed = SeedOf(number);
  const int writers = WritersOf(ranks.Size(), trial.Writers);
  result.FileBytes = trial.FileBytes;
  result.Block = trial.Block;
  result.Writers = writers;
  result.Readers = std::max(1, ranks.Size() - writers);
  WriteFiles(ranks, trial, seed);
  const TwoRates reading = RunPhase(ranks, trial, seed, true, false);
  const TwoRates writing = RunPhase(ranks, trial, seed, false, true);
  const TwoRates both = RunPhase(ranks, trial, seed, true, true);
  int interrupted = Interrupt::Received() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &interrupted, 1, MPI_INT, MPI_MAX, ranks.Mpi());
  if (!interrupted && reading.Read > 0 && writing.Write > 0 && both.Read > 0 && both.Write > 0) {
    result.ReadAlone.push_back(reading.Read);
    result.WriteAlone.push_back(writing.Write);
    result.ReadBoth.push_back(both.Read);
    result.WriteBoth.push_back(both.Write);
  }
}

// ---- the plan
// --------------------------------------------------------------------------------------------------

/// A point to measure, with its function.
struct Planned
{
  PointKey Key;
  Function What;
};

/// The points that a study measures, the same on all ranks.
class StudyPlan
{
public:
  /// Throws Error if the settings are invalid or leave nothing to measure. Keeps references to both
  /// arguments.
  StudyPlan(const Settings& settings, const Communicator& ranks);

  const Choice& Wanted() const { return this->Chosen; }
  const std::vector<Planned>& Points() const { return this->All; }
  /// Returns this rank's part of a file of about `size` bytes.
  Layout LayoutOf(View view, std::uint64_t size) const;
  /// Returns the bytes of all test files.
  std::uint64_t BytesOfFiles() const;
  /// Returns the greatest number of bytes of memory that a rank needs.
  double MostMemory() const;

private:
  void Consider(const Function& function, View view, std::uint64_t size, std::uint64_t block);

  const Settings& How;
  const Communicator& Ranks;
  Choice Chosen;
  std::vector<Planned> All;
};

StudyPlan::StudyPlan(const Settings& settings, const Communicator& ranks)
    : How(settings), Ranks(ranks), Chosen(CheckSettings(settings, ranks.Size()))
{
  for (const Function& function : this->Chosen.Functions) {
    for (const View view : this->Chosen.Views) {
      for (const std::uint64_t size : this->Chosen.Sizes) {
        for (const std::uint64_t block : this->Chosen.Blocks) {
          this->Consider(function, view, size, block);
        }
      }
    }
  }
  if (this->All.empty()) {
    throw Error(
        "The selected options leave nothing to measure. Functions with shared file pointers need the view "
        "\"own\", writes cannot use the view \"whole\", and a block must fit into one rank's part. Change "
        "--views or --blocks.");
  }
}

void StudyPlan::Consider(const Function& function, View view, std::uint64_t size, std::uint64_t block)
{
  const Layout layout = this->LayoutOf(view, size);
  if (Applies(function, view) && block <= layout.PartBytes()) {
    this->All.push_back({{function.Name, view, size, block}, function});
  }
}

Layout StudyPlan::LayoutOf(View view, std::uint64_t size) const
{
  const int count = this->Ranks.Size();
  return {view, this->Ranks.Rank(), count, DivisibleSize(size, count, this->How.Piece), this->How.Piece};
}

std::uint64_t StudyPlan::BytesOfFiles() const
{
  std::uint64_t bytes = std::min(CacheCheckBytes, this->Chosen.Sizes.back());
  for (const std::uint64_t size : this->Chosen.Sizes) {
    bytes += size;
  }
  return bytes + (this->How.InfluenceSeconds > 0 ? 2 * this->Chosen.Sizes.back() : 0);
}

double StudyPlan::MostMemory() const
{
  double most = 0;
  for (const Planned& point : this->All) {
    const Layout layout = this->LayoutOf(point.Key.Shape, point.Key.FileBytes);
    const auto ring = static_cast<double>(std::max(RingBytes, point.Key.Block * (this->How.Concurrency + 1)));
    most = std::max(most, std::min(ring, 2.0 * layout.ViewBytes()));
  }
  return most;
}

// ---- the study
// --------------------------------------------------------------------------------------------------

constexpr double FirstDoubt = 0.2;  ///< probability of noise; the study measures candidates again

/// Returns at most `most` features of all curves, the most certain first; the same on all ranks, because all
/// ranks have the same rates.
std::vector<FeatureResult> FeaturesToRefine(const Result& found, const Choice& wanted, int most)
{
  std::vector<FeatureResult> candidates;
  FeatureOptions options;
  options.Doubt = FirstDoubt;
  for (const Function& function : wanted.Functions) {
    for (const View view : wanted.Views) {
      for (const std::uint64_t size : wanted.Sizes) {
        for (const Feature& feature : FindFeatures(CurveOf(found, function.Name, view, size), options)) {
          FeatureResult candidate;
          candidate.Function = function.Name;
          candidate.Shape = view;
          candidate.FileBytes = size;
          candidate.First = feature;
          candidates.push_back(candidate);
        }
      }
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
      [](const auto& a, const auto& b) { return a.First.Certainty > b.First.Certainty; });
  candidates.resize(std::min<std::size_t>(candidates.size(), most));
  return candidates;
}

/// Returns warnings about errors, about rates of the page cache instead of the storage, and about
/// measurements that skipped a part of the file, because the whole file would take more than `mostSeconds`
/// seconds.
std::vector<std::string> WarningsOf(const Result& found, double mostSeconds)
{
  std::vector<std::string> warnings;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> texts;
  int cached = 0, read = 0, cut = 0;
  for (const auto& [key, point] : found.Points) {
    if (!point.Error.empty() && point.Error.rfind("not tried", 0) != 0) {
      auto& views = texts[{key.Function, point.Error}];
      if (views.empty() || views.back() != NameOf(key.Shape)) {
        views.push_back(NameOf(key.Shape));
      }
    }
    read += !point.Rates.empty() && !SelectFunctions({key.Function}).front().Write ? 1 : 0;
    cached += point.Cached ? 1 : 0;
    cut += point.Cut ? 1 : 0;
  }
  for (const auto& [what, views] : texts) {
    warnings.push_back(fmt::format("{} ({}): {}", what.first, fmt::join(views, ", "), what.second));
  }
  if (cached > 0) {
    warnings.push_back(
        fmt::format("{} of {} read measurements were as fast as memory, or had the file in memory, so their "
                    "rates say little about the storage.",
            cached, read));
  }
  if (cut > 0) {
    warnings.push_back(fmt::format(
        "{} measurements skipped a part of the file, because the whole file would take more than {:g} s.",
        cut, mostSeconds));
  }
  return warnings;
}

constexpr int MostFaults = 3;          // of a function in a view; the study then skips the other sizes
constexpr double SecondsOfSaving = 2;  // minimum time between two saves
constexpr int StepsPerSide = 2;        // block sizes between a feature and each of its neighbours
// Parts of the time limit after which the passes, and the simultaneous reads and writes, end.
constexpr double PartOfPasses = 0.7;
constexpr double PartOfInfluence = 0.85;

class Study
{
public:
  Study(tools::Session& session, const Settings& settings, const std::string& output, const StudyFrame& frame)
      : Out(session),
        Ranks(session.Ranks()),
        How(settings),
        Plan(settings, session.Ranks()),
        Output(output),
        OwnBar(session.Root()),
        Bar(frame.Bar ? *frame.Bar : this->OwnBar)
  {
    this->Found.Scan = frame.Scan;
  }

  Result Run()
  {
    this->Found.Label = this->How.Label;
    this->Found.Piece = this->How.Piece;
    this->Found.Repetitions = this->How.Repetitions;
    this->Found.Concurrency = this->How.Concurrency;
    this->Found.Sync = !this->How.NoSync;
    DescribeCircumstances(this->Ranks, this->How.Directory, this->Found);
    CheckMemoryOfMachines(this->Ranks, this->Plan.MostMemory());
    try {
      TestFolder folder(this->Ranks, this->How.Directory, this->Plan.BytesOfFiles());
      this->Folder = &folder;
      this->MeasureAll();
    } catch (const Error& error) {
      // A signal on one rank removes test files that other ranks still use, so these ranks fail.
      const bool interrupted = !this->GoesOn(2) && this->End == Interruption;
      this->Found.WhyIncomplete = interrupted ? Interruption : error.what();
      this->Found.Complete = false;
      if (this->Folder) {  // null: the study failed before any measurement
        this->Save();
      }
      if (!interrupted) {
        throw;
      }
    }
    this->Save();
    this->CheckSaved();
    return this->Found;
  }

private:
  /// Collective: returns whether to continue, the same on all ranks. part: part of the time limit after which
  /// the measurements stop.
  bool GoesOn(double part)
  {
    enum
    {
      Go,
      Late,
      Unsaved,
      Interrupted
    };
    int state = Go;
    if (Interrupt::Received()) {
      state = Interrupted;
    } else if (!this->SaveFault.empty()) {
      state = Unsaved;
    } else if (this->How.Budget > 0 && this->Out.Root() && this->Watch.Seconds() > part * this->How.Budget) {
      state = Late;
    }
    MPI_Allreduce(MPI_IN_PLACE, &state, 1, MPI_INT, MPI_MAX, this->Ranks.Mpi());
    if (state == Interrupted) {
      this->End = Interruption;
    } else if (state == Unsaved) {
      this->End = "saving its results failed";
    } else if (state == Late) {
      this->End = fmt::format("its time limit of {:g} s was reached", this->How.Budget);
    }
    return state == Go;
  }

  bool EndsNow() const { return this->End == Interruption || !this->SaveFault.empty(); }

  void Save()
  {
    if (!this->Out.Root()) {
      return;
    }
    this->Found.Seconds = this->Watch.Seconds();
    this->LastSaved = this->Found.Seconds;
    const std::string fault = CatchError([&] { SaveResult(this->Found, this->Output); });
    this->SaveFault = this->SaveFault.empty() ? fault : this->SaveFault;
  }

  void SaveNowAndThen()
  {
    if (this->Watch.Seconds() - this->LastSaved > SecondsOfSaving) {
      this->Save();
    }
  }

  /// Collective: throws Error on all ranks if the results could not be saved.
  void CheckSaved()
  {
    RunOnAllRanks(this->Ranks, [&] {
      if (!this->SaveFault.empty()) {
        throw Error(this->SaveFault);
      }
    });
  }

  void Warn(const std::string& text)
  {
    this->Found.Warnings.push_back(text);
    this->Out.Warn(text);
  }

  void MeasureAll()
  {
    this->Save();
    this->CheckSaved();
    this->Found.Cache = CheckCache(this->Ranks, this->Folder->File("cache"),
        std::min(
            CacheCheckBytes, this->Plan.LayoutOf(View::Own, this->Plan.Wanted().Sizes.back()).FileBytes));
    const std::string warning = CacheWarning(this->Found.Cache);
    if (!warning.empty() && !Interrupt::Received()) {
      this->Warn(warning);
    }
    this->MeasurePasses();
    if (!this->EndsNow()) {
      this->BeginPhase(PartOfInfluence);
      this->MeasureInfluences();
    }
    if (!this->EndsNow()) {
      this->BeginPhase(1);
      this->MeasureFeaturesAgain();
    }
    this->Found.Complete = this->End.empty();
    this->Found.WhyIncomplete = this->End;
    for (const std::string& text : WarningsOf(this->Found, this->How.MostSeconds)) {
      this->Warn(text);
    }
  }

  /// Begins a phase that ends when the whole progress is `to`, 0 to 1.
  void BeginPhase(double to)
  {
    this->PhaseFrom = this->PhaseTo;
    this->PhaseTo = to;
  }

  void Show(double part, double left, const std::string& what)
  {
    this->Bar.Show(this->PhaseFrom + part * (this->PhaseTo - this->PhaseFrom), left, what);
  }

  /// Measures all points once in each pass. Each pass has its own random order, so that other load on the
  /// storage affects all points alike.
  void MeasurePasses()
  {
    std::mt19937_64 random(this->How.Seed);
    std::vector<Planned> points = this->Plan.Points();
    this->PhaseTo = this->How.InfluenceSeconds > 0 || this->How.Features > 0 ? PartOfPasses : 1;
    const std::size_t all = points.size() * this->How.Repetitions;
    std::size_t done = 0;
    for (int pass = 0; pass < this->How.Repetitions; ++pass) {
      std::shuffle(points.begin(), points.end(), random);
      for (const Planned& point : points) {
        if (!this->GoesOn(this->How.InfluenceSeconds > 0 || this->How.Features > 0 ? PartOfPasses : 1)) {
          return;
        }
        this->ShowProgress(done++, all, this->MeasurePoint(point));
      }
    }
  }

  /// Collective: measures a point once. Returns a text for the progress.
  std::string MeasurePoint(const Planned& point)
  {
    PointResult result;
    const auto known = this->Found.Points.find(point.Key);
    if (known != this->Found.Points.end()) {
      result = known->second;
    }
    result.Key = point.Key;
    auto& [good, bad] = this->Fates[{point.Key.Function, point.Key.Shape}];
    if (!result.Error.empty()) {
      return point.Key.Function;
    }
    if (good == 0 && bad >= MostFaults) {
      result.Error = "not tried, because other sizes failed";
      this->Found.Points[point.Key] = result;
      return point.Key.Function;
    }
    const Outcome outcome = Measure(this->Ranks, this->TrialOf(point), this->Memory);
    if (outcome.Interrupted) {
      return point.Key.Function;
    }
    if (!outcome.Error.empty()) {
      ++bad;
      result = PointResult();
      result.Key = point.Key;
      result.Error = outcome.Error;
      result.WrongValues = outcome.Wrong;
    } else {
      ++good;
      this->Append(outcome, point, result);
    }
    this->Found.Points[point.Key] = result;
    this->SaveNowAndThen();
    return fmt::format("{} {}, {} in blocks of {}: {}", point.Key.Function, NameOf(point.Key.Shape),
        SizeText(point.Key.FileBytes), SizeText(point.Key.Block),
        outcome.Error.empty() ? ByteText(outcome.Rate) + "/s" : outcome.Error);
  }

  Trial TrialOf(const Planned& point)
  {
    Trial trial;
    trial.What = point.What;
    trial.Where = this->Plan.LayoutOf(point.Key.Shape, point.Key.FileBytes);
    trial.Block = point.Key.Block;
    trial.Concurrency = this->How.Concurrency;
    trial.Sync = !this->How.NoSync;
    trial.MostSeconds = this->How.MostSeconds;
    trial.Path = this->PathOf(point.Key.FileBytes);
    trial.Number = ++this->Trials;
    return trial;
  }

  const std::string& PathOf(std::uint64_t size)
  {
    std::string& path = this->Paths[size];
    if (path.empty()) {
      path = this->Folder->File(fmt::format("data_{}", size));
    }
    return path;
  }

  void Append(const Outcome& outcome, const Planned& point, PointResult& result)
  {
    result.Seconds.push_back(outcome.Seconds);
    result.SyncSeconds.push_back(outcome.SyncSeconds);
    result.Rates.push_back(outcome.Rate);
    result.OpenSeconds = outcome.OpenSeconds;
    result.ViewSeconds = outcome.ViewSeconds;
    result.Bytes = outcome.Bytes;
    result.Cut |= outcome.Cut;
    if (!point.What.Write) {
      // If all ranks read the whole file, the storage may deliver each byte only once.
      const double repeats = point.Key.Shape == View::Whole ? this->Ranks.Size() : 1;
      result.Cached |=
          LooksCached(this->Found.Cache, outcome.Rate / repeats, outcome.Resident, this->Ranks.Size());
    }
  }

  void ShowProgress(std::size_t done, std::size_t all, const std::string& what)
  {
    const double now = this->Watch.Seconds();
    double left = now / (done + 1) * (all - done - 1);
    left += this->How.InfluenceSeconds * 3.5 * this->Plan.Wanted().Blocks.size() * this->How.Repetitions;
    if (this->How.Budget > 0) {
      left = std::min(left, std::max(0.0, this->How.Budget - now));
    }
    this->Show(now / (now + left), left, what);
  }

  void MeasureInfluences()
  {
    if (this->How.InfluenceSeconds <= 0) {
      return;
    }
    InfluenceTrial trial;
    trial.ReadFile = this->Folder->File("read");
    trial.WriteFile = this->Folder->File("written");
    trial.FileBytes = this->Plan.LayoutOf(View::Own, this->Plan.Wanted().Sizes.back()).FileBytes;
    trial.Writers = this->How.Writers;
    trial.Seconds = this->How.InfluenceSeconds;
    std::vector<std::uint64_t> blocks;
    for (const std::uint64_t block : this->Plan.Wanted().Blocks) {
      if (block * this->Ranks.Size() <= trial.FileBytes) {
        blocks.push_back(block);
      }
    }
    this->Found.Influence.resize(blocks.size());
    for (int pass = 0; pass < this->How.Repetitions; ++pass) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!this->GoesOn(this->How.Features > 0 ? PartOfInfluence : 1)) {
          this->DropEmptyInfluences();
          return;
        }
        trial.Block = blocks[i];
        MeasureInfluence(this->Ranks, trial, ++this->Trials, this->Found.Influence[i]);
        const double part = (pass * blocks.size() + i + 1.0) / (this->How.Repetitions * blocks.size());
        this->Show(part, (1 - part) * 4 * trial.Seconds * this->How.Repetitions * blocks.size(),
            "simultaneous reads and writes");
        this->SaveNowAndThen();
      }
    }
    this->DropEmptyInfluences();
  }

  void DropEmptyInfluences()
  {
    auto& rows = this->Found.Influence;
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const auto& row) { return row.ReadBoth.empty(); }),
        rows.end());
  }

  void MeasureFeaturesAgain()
  {
    std::vector<FeatureResult> candidates =
        FeaturesToRefine(this->Found, this->Plan.Wanted(), this->How.Features);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      FeatureResult& candidate = candidates[i];
      this->Show(static_cast<double>(i) / candidates.size(),
          static_cast<double>(candidates.size() - i) * 4 * this->How.FeatureRepetitions, "peaks and dips");
      if (!this->MeasureAgain(candidate)) {
        return;
      }
      this->Found.Features.push_back(candidate);
      this->SaveNowAndThen();
    }
  }

  /// Measures around a feature with smaller steps of the block size. Only these measurements decide whether
  /// the feature is stable. Returns false if the study must end.
  bool MeasureAgain(FeatureResult& feature)
  {
    const std::vector<CurvePoint> before =
        CurveOf(this->Found, feature.Function, feature.Shape, feature.FileBytes);
    for (const std::uint64_t block : RefinedBlocks(before, feature.First, StepsPerSide)) {
      feature.Refined.push_back({block, {}});
    }
    Planned point;
    point.What = SelectFunctions({feature.Function}).front();
    point.Key.Function = feature.Function;
    point.Key.Shape = feature.Shape;
    point.Key.FileBytes = feature.FileBytes;
    for (int pass = 0; pass < this->How.FeatureRepetitions; ++pass) {
      for (CurvePoint& refined : feature.Refined) {
        if (!this->GoesOn(1)) {
          return false;
        }
        point.Key.Block = refined.Block;
        const Outcome outcome = Measure(this->Ranks, this->TrialOf(point), this->Memory);
        if (outcome.Error.empty() && !outcome.Interrupted && outcome.Rate > 0) {
          refined.Rates.push_back(outcome.Rate);
        }
      }
    }
    auto& points = feature.Refined;
    points.erase(std::remove_if(points.begin(), points.end(), [](const auto& p) { return p.Rates.empty(); }),
        points.end());
    for (const Feature& again : FindFeatures(points)) {
      if (again.Peak == feature.First.Peak &&
          (!feature.Stable || again.Certainty > feature.Again.Certainty)) {
        feature.Stable = true;
        feature.Again = again;
      }
    }
    return true;
  }

  tools::Session& Out;
  Communicator& Ranks;
  const Settings& How;
  const StudyPlan Plan;
  std::string Output;
  Progress OwnBar;
  Progress& Bar;
  Stopwatch Watch;
  TestFolder* Folder = nullptr;
  std::map<std::uint64_t, std::string> Paths;
  std::map<std::pair<std::string, View>, std::pair<int, int>>
      Fates;  ///< numbers of successful and of failed measurements
  BlockMemory Memory;
  Result Found;
  std::string End;  ///< why the study ends early; empty otherwise
  std::string SaveFault;
  double LastSaved = 0;
  double PhaseFrom = 0;  ///< progress at the begin of the phase
  double PhaseTo = 1;
  std::uint64_t Trials = 0;
};

}  // namespace

Result RunStudy(
    tools::Session& session, const Settings& settings, const std::string& output, const StudyFrame& frame)
{
  const Interrupt interrupt;
  return Study(session, settings, output, frame).Run();
}

}  // namespace patchio::probe
