#include "Probe/Study.h"

#include "Base/Bytes.h"
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

/// Size in bytes of the file that shows whether files can be dropped from this machine's page cache.
constexpr std::uint64_t CacheCheckBytes = 64u << 20;

// ---- simultaneous reads and writes
// --------------------------------------------------------------------------------------------------

/// A measurement of simultaneous reads and writes.
struct InfluenceTrial
{
  std::string ReadFile, WriteFile;
  std::uint64_t FileBytes = 0;  ///< size of each file
  std::uint64_t Block = 0;
  int Writers = 0;  ///< number of ranks that write; the last ranks write; 0: half of the ranks; a single rank
                    ///< uses two threads
  double Seconds = 0.5;  ///< duration of each of the three runs
};

/// Returns the number of ranks that write, at least 1. requested: requested number; 0: half of `rankCount`.
int WritersOf(int rankCount, int requested)
{
  return requested > 0 ? std::min(requested, std::max(1, rankCount - 1)) : std::max(1, rankCount / 2);
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
/// Error if a file cannot be read or written, or if a read value is wrong.
double RunWorker(const Worker& worker, const InfluenceTrial& trial, std::uint64_t seed)
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

/// Runs the readers, the writers or both at the same time. Throws Error, on all ranks, if a worker fails.
/// Collective: every rank of the communicator calls it.
TwoRates RunPhase(Communicator& ranks, const InfluenceTrial& trial, std::uint64_t seed, bool read, bool write)
{
  const std::vector<Worker> workers = WorkersOf(ranks, trial);
  RunOnAllRanks(ranks, [&] {
    if (!Interrupt::Received()) {
      DropFromPageCache(trial.ReadFile);
      DropFromPageCache(trial.WriteFile);
    }
  });
  double rates[2] = {0, 0};
  RunOnAllRanks(ranks, [&] {
    std::vector<std::future<void>> all;
    for (const Worker& worker : workers) {
      if ((worker.Write ? write : read) && !Interrupt::Received()) {
        all.push_back(
            std::async(std::launch::async, [&] { rates[worker.Write] = RunWorker(worker, trial, seed); }));
      }
    }
    for (std::future<void>& each : all) {
      each.get();
    }
  });
  const std::vector<double> sums = ranks.Sum({rates[0], rates[1]});
  return {sums[0], sums[1]};
}

/// Writes both files, a part on each rank. Throws Error, on all ranks, if a file cannot be written.
/// Collective: every rank of the communicator calls it.
void WriteFiles(Communicator& ranks, const InfluenceTrial& trial, std::uint64_t seed)
{
  const std::uint64_t part = RoundUp(trial.FileBytes / ranks.Size(), 8);
  const std::uint64_t begin = std::min(trial.FileBytes, part * ranks.Rank());
  const std::uint64_t bytes = std::min(part, trial.FileBytes - begin);
  RunOnAllRanks(ranks, [&] {
    WritePattern(trial.ReadFile, seed, begin, bytes);
    WritePattern(trial.WriteFile, ~seed, begin, bytes);
  });
}

/// Measures the readers alone, the writers alone, and both at the same time, with pread and pwrite on two
/// files. Appends the rates to `result`, unless a signal has arrived. number: unique number of the trial.
/// Throws Error, on all ranks, if a worker fails. Collective: every rank of the communicator calls it.
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
  const bool uninterrupted = AllOf(ranks, !Interrupt::Received());
  if (uninterrupted && reading.Read > 0 && writing.Write > 0 && both.Read > 0 && both.Write > 0) {
    result.ReadAlone.push_back(reading.Read);
    result.WriteAlone.push_back(writing.Write);
    result.ReadBoth.push_back(both.Read);
    result.WriteBoth.push_back(both.Write);
  }
}

// ---- the plan
// --------------------------------------------------------------------------------------------------

/// A point to measure, with its function.
struct PlannedPoint
{
  PointKey Key;
  Function MeasuredFunction;
};

/// The points that a study measures, the same on all ranks.
class StudyPlan
{
public:
  /// Selects the points. Throws Error if the settings are invalid or leave nothing to measure. Keeps
  /// references to both arguments.
  StudyPlan(const Settings& settings, const Communicator& ranks);

  const StudySelection& Selection() const { return this->Selected; }
  const std::vector<PlannedPoint>& Points() const { return this->All; }
  /// Returns this rank's layout of a file of at most `size` bytes.
  Layout LayoutOf(View view, std::uint64_t size) const;
  /// Returns the number of bytes of all test files together.
  std::uint64_t BytesOfFiles() const;
  /// Returns the greatest number of bytes of memory that a rank needs.
  double MostMemory() const;

private:
  void AddIfMeasurable(const Function& function, View view, std::uint64_t size, std::uint64_t block);

  const Settings& Options;
  const Communicator& Ranks;
  StudySelection Selected;
  std::vector<PlannedPoint> All;
};

StudyPlan::StudyPlan(const Settings& settings, const Communicator& ranks)
    : Options(settings), Ranks(ranks), Selected(CheckSettings(settings, ranks.Size()))
{
  for (const Function& function : this->Selected.Functions) {
    for (const View view : this->Selected.Views) {
      for (const std::uint64_t size : this->Selected.Sizes) {
        for (const std::uint64_t block : this->Selected.Blocks) {
          this->AddIfMeasurable(function, view, size, block);
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

void StudyPlan::AddIfMeasurable(const Function& function, View view, std::uint64_t size, std::uint64_t block)
{
  const Layout layout = this->LayoutOf(view, size);
  if (AreCompatible(function, view) && block <= layout.PartBytes()) {
    this->All.push_back({{function.Name, view, size, block}, function});
  }
}

Layout StudyPlan::LayoutOf(View view, std::uint64_t size) const
{
  const int count = this->Ranks.Size();
  return {view, this->Ranks.Rank(), count, DivisibleSize(size, count, this->Options.PieceBytes),
      this->Options.PieceBytes};
}

std::uint64_t StudyPlan::BytesOfFiles() const
{
  std::uint64_t bytes = std::min(CacheCheckBytes, this->Selected.Sizes.back());
  for (const std::uint64_t size : this->Selected.Sizes) {
    bytes += size;
  }
  return bytes + (this->Options.InfluenceSeconds > 0 ? 2 * this->Selected.Sizes.back() : 0);
}

double StudyPlan::MostMemory() const
{
  double most = 0;
  for (const PlannedPoint& point : this->All) {
    const Layout layout = this->LayoutOf(point.Key.FileView, point.Key.FileBytes);
    const auto ring =
        static_cast<double>(std::max(RingBytes, point.Key.Block * (this->Options.Concurrency + 1)));
    most = std::max(most, std::min(ring, 2.0 * layout.ViewBytes()));
  }
  return most;
}

// ---- the study
// --------------------------------------------------------------------------------------------------

constexpr double FirstSignificanceLevel = 0.2;  ///< of features that the study measures again

/// Returns at most `most` features of all curves, the most certain first; the same on all ranks, because all
/// ranks have the same rates.
std::vector<FeatureResult> FeaturesToRefine(const Result& found, const StudySelection& selection, int most)
{
  std::vector<FeatureResult> candidates;
  FeatureOptions options;
  options.SignificanceLevel = FirstSignificanceLevel;
  for (const Function& function : selection.Functions) {
    for (const View view : selection.Views) {
      for (const std::uint64_t size : selection.Sizes) {
        for (const Feature& feature : FindFeatures(CurveOf(found, function.Name, view, size), options)) {
          FeatureResult candidate;
          candidate.Function = function.Name;
          candidate.FileView = view;
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
    if (!point.Error.empty() && !BeginsWith(point.Error, "not tried")) {
      auto& views = texts[{key.Function, point.Error}];
      if (views.empty() || views.back() != NameOf(key.FileView)) {
        views.push_back(NameOf(key.FileView));
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
        fmt::format("At {} of {}, reads were as fast as memory, or the file was in memory, so the rates "
                    "say little about the storage.",
            cached, CountText(read, "point")));
  }
  if (cut > 0) {
    warnings.push_back(fmt::format(
        "At {}, a measurement skipped a part of the file, because the whole file would take more than "
        "{:g} s.",
        CountText(cut, "point"), mostSeconds));
  }
  return warnings;
}

constexpr int MostFaults = 3;    // of a function in a view; the study then skips the other sizes
constexpr int StepsPerSide = 2;  // block sizes between a feature and each of its neighbours
// Parts of the time limit after which the passes, and the simultaneous reads and writes, end.
constexpr double PartOfPasses = 0.7;
constexpr double PartOfInfluence = 0.85;

class Study
{
public:
  Study(tools::Session& session, const Settings& settings, const std::string& output, const StudyFrame& frame)
      : CurrentSession(session),
        Ranks(session.Ranks()),
        Options(settings),
        Plan(settings, session.Ranks()),
        Output(output),
        OwnBar(session.IsRoot()),
        Bar(frame.Bar ? *frame.Bar : this->OwnBar)
  {
    this->StudyResult.Scan = frame.Scan;
  }

  Result Run()
  {
    this->StudyResult.Label = this->Options.Label;
    this->StudyResult.PieceBytes = this->Options.PieceBytes;
    this->StudyResult.Repetitions = this->Options.Repetitions;
    this->StudyResult.Concurrency = this->Options.Concurrency;
    this->StudyResult.Sync = !this->Options.NoSync;
    DescribeCircumstances(this->Ranks, this->Options.Directory, this->StudyResult);
    CheckMemoryOfMachines(this->Ranks, this->Plan.MostMemory(), 1,
        "Choose smaller --blocks, less --in-flight, or fewer ranks per machine");
    try {
      TestFolder folder(this->Ranks, this->Options.Directory, this->Plan.BytesOfFiles());
      this->Folder = &folder;
      this->MeasureAll();
    } catch (const Error& error) {
      // A signal on one rank removes test files that other ranks still use, so these ranks fail.
      const bool interrupted = !this->ShouldContinue(2) && this->EndReason == Interruption;
      this->StudyResult.WhyIncomplete = interrupted ? Interruption : error.what();
      this->StudyResult.Complete = false;
      if (this->Folder) {  // null: the study failed before any measurement
        this->Save();
      }
      if (!interrupted) {
        throw;
      }
    }
    this->Save();
    this->CheckSaved();
    return this->StudyResult;
  }

private:
  /// Returns whether to continue, the same on all ranks, and sets EndReason if not. fraction: part of the
  /// time limit after which the measurements stop. Collective: every rank of the communicator calls it.
  bool ShouldContinue(double fraction)
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
    } else if (this->Options.Budget > 0 && this->CurrentSession.IsRoot() &&
               this->Watch.Seconds() > fraction * this->Options.Budget) {
      state = Late;
    }
    state = static_cast<int>(this->Ranks.Max({static_cast<double>(state)})[0]);
    if (state == Interrupted) {
      this->EndReason = Interruption;
    } else if (state == Unsaved) {
      this->EndReason = "saving its results failed";
    } else if (state == Late) {
      this->EndReason = fmt::format("its time limit of {:g} s was reached", this->Options.Budget);
    }
    return state == Go;
  }

  bool MustEnd() const { return this->EndReason == Interruption || !this->SaveFault.empty(); }

  void Save()
  {
    if (!this->CurrentSession.IsRoot()) {
      return;
    }
    this->StudyResult.Seconds = this->Watch.Seconds();
    this->LastSaved = this->StudyResult.Seconds;
    const std::string fault = CatchError([&] { SaveResult(this->StudyResult, this->Output); });
    this->SaveFault = this->SaveFault.empty() ? fault : this->SaveFault;
  }

  void SaveIfDue()
  {
    if (this->Watch.Seconds() - this->LastSaved > LeastSaveInterval) {
      this->Save();
    }
  }

  /// Throws Error, on all ranks, if the results could not be saved. Collective: every rank of the
  /// communicator calls it.
  void CheckSaved()
  {
    RunOnAllRanks(this->Ranks, [&] { ThrowFault(this->SaveFault); });
  }

  void Warn(const std::string& text)
  {
    this->StudyResult.Warnings.push_back(text);
    this->CurrentSession.Warn(text);
  }

  void MeasureAll()
  {
    this->Save();
    this->CheckSaved();
    this->StudyResult.Cache = CheckCache(this->Ranks, this->Folder->File("cache"),
        std::min(
            CacheCheckBytes, this->Plan.LayoutOf(View::Own, this->Plan.Selection().Sizes.back()).FileBytes));
    const std::string warning = CacheWarning(this->StudyResult.Cache);
    if (!warning.empty() && !Interrupt::Received()) {
      this->Warn(warning);
    }
    this->MeasurePasses();
    if (!this->MustEnd()) {
      this->BeginPhase(PartOfInfluence);
      this->MeasureInfluences();
    }
    if (!this->MustEnd()) {
      this->BeginPhase(1);
      this->MeasureFeaturesAgain();
    }
    this->StudyResult.Complete = this->EndReason.empty();
    this->StudyResult.WhyIncomplete = this->EndReason;
    for (const std::string& text : WarningsOf(this->StudyResult, this->Options.MostSeconds)) {
      this->Warn(text);
    }
  }

  /// Begins a phase that ends at the fraction `to` of the whole progress, 0 to 1.
  void BeginPhase(double to)
  {
    this->PhaseFrom = this->PhaseTo;
    this->PhaseTo = to;
  }

  void Show(double fraction, double secondsLeft, const std::string& activity)
  {
    this->Bar.Show(this->PhaseFrom + fraction * (this->PhaseTo - this->PhaseFrom), secondsLeft, activity);
  }

  /// Measures all points once in each pass. Each pass has its own random order, so that other load on the
  /// storage affects all points alike.
  void MeasurePasses()
  {
    std::mt19937_64 random(this->Options.Seed);
    std::vector<PlannedPoint> points = this->Plan.Points();
    this->PhaseTo = this->Options.InfluenceSeconds > 0 || this->Options.Features > 0 ? PartOfPasses : 1;
    const std::size_t all = points.size() * this->Options.Repetitions;
    std::size_t done = 0;
    for (int pass = 0; pass < this->Options.Repetitions; ++pass) {
      std::shuffle(points.begin(), points.end(), random);
      for (const PlannedPoint& point : points) {
        if (!this->ShouldContinue(this->PhaseTo)) {
          return;
        }
        this->ShowProgress(done++, all, this->MeasurePoint(point));
      }
    }
  }

  /// Measures a point once. Skips the point if it has failed before. Also skips the point if at least
  /// MostFaults measurements of its function and view have failed, and none has succeeded. Returns a text for
  /// the progress. Collective: every rank of the communicator calls it.
  std::string MeasurePoint(const PlannedPoint& point)
  {
    PointResult result;
    const auto known = this->StudyResult.Points.find(point.Key);
    if (known != this->StudyResult.Points.end()) {
      result = known->second;
    }
    result.Key = point.Key;
    auto& [good, bad] = this->OutcomeCounts[{point.Key.Function, point.Key.FileView}];
    if (!result.Error.empty()) {
      return point.Key.Function;
    }
    if (good == 0 && bad >= MostFaults) {
      result.Error = "not tried, because other sizes failed";
      this->StudyResult.Points[point.Key] = result;
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
      result.WrongValues = outcome.WrongValues;
    } else {
      ++good;
      this->AppendOutcome(outcome, point, result);
    }
    this->StudyResult.Points[point.Key] = result;
    this->SaveIfDue();
    return fmt::format("{} {}, {} in blocks of {}: {}", point.Key.Function, NameOf(point.Key.FileView),
        SizeText(point.Key.FileBytes), SizeText(point.Key.Block),
        outcome.Error.empty() ? ByteText(outcome.Rate) + "/s" : outcome.Error);
  }

  Trial TrialOf(const PlannedPoint& point)
  {
    Trial trial;
    trial.MeasuredFunction = point.MeasuredFunction;
    trial.FileLayout = this->Plan.LayoutOf(point.Key.FileView, point.Key.FileBytes);
    trial.Block = point.Key.Block;
    trial.Concurrency = this->Options.Concurrency;
    trial.Sync = !this->Options.NoSync;
    trial.MostSeconds = this->Options.MostSeconds;
    trial.Path = this->PathOf(point.Key.FileBytes);
    trial.Number = ++this->TrialCount;
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

  void AppendOutcome(const Outcome& outcome, const PlannedPoint& point, PointResult& result)
  {
    result.Seconds.push_back(outcome.Seconds);
    result.SyncSeconds.push_back(outcome.SyncSeconds);
    result.Rates.push_back(outcome.Rate);
    result.OpenSeconds = outcome.OpenSeconds;
    result.ViewSeconds = outcome.ViewSeconds;
    result.Bytes = outcome.Bytes;
    result.Cut |= outcome.Cut;
    if (!point.MeasuredFunction.Write) {
      // If all ranks read the whole file, the storage may deliver each byte only once.
      const double repeats = point.Key.FileView == View::Whole ? this->Ranks.Size() : 1;
      result.Cached |= IsProbablyCached(
          this->StudyResult.Cache, outcome.Rate / repeats, outcome.Resident, this->Ranks.Size());
    }
  }

  void ShowProgress(std::size_t done, std::size_t all, const std::string& activity)
  {
    const double now = this->Watch.Seconds();
    double left = now / (done + 1) * (all - done - 1);
    left += this->Options.InfluenceSeconds * 3.5 * this->Plan.Selection().Blocks.size() *
            this->Options.Repetitions;
    if (this->Options.Budget > 0) {
      left = std::min(left, std::max(0.0, this->Options.Budget - now));
    }
    this->Show(now / (now + left), left, activity);
  }

  void MeasureInfluences()
  {
    if (this->Options.InfluenceSeconds <= 0) {
      return;
    }
    InfluenceTrial trial;
    trial.ReadFile = this->Folder->File("read");
    trial.WriteFile = this->Folder->File("written");
    trial.FileBytes = this->Plan.LayoutOf(View::Own, this->Plan.Selection().Sizes.back()).FileBytes;
    trial.Writers = this->Options.Writers;
    trial.Seconds = this->Options.InfluenceSeconds;
    std::vector<std::uint64_t> blocks;
    for (const std::uint64_t block : this->Plan.Selection().Blocks) {
      if (block * this->Ranks.Size() <= trial.FileBytes) {
        blocks.push_back(block);
      }
    }
    this->StudyResult.Influence.resize(blocks.size());
    for (int pass = 0; pass < this->Options.Repetitions; ++pass) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (!this->ShouldContinue(this->Options.Features > 0 ? PartOfInfluence : 1)) {
          this->DropEmptyInfluences();
          return;
        }
        trial.Block = blocks[i];
        MeasureInfluence(this->Ranks, trial, ++this->TrialCount, this->StudyResult.Influence[i]);
        const double part = (pass * blocks.size() + i + 1.0) / (this->Options.Repetitions * blocks.size());
        this->Show(part, (1 - part) * 4 * trial.Seconds * this->Options.Repetitions * blocks.size(),
            "simultaneous reads and writes");
        this->SaveIfDue();
      }
    }
    this->DropEmptyInfluences();
  }

  void DropEmptyInfluences()
  {
    auto& rows = this->StudyResult.Influence;
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const auto& row) { return row.ReadBoth.empty(); }),
        rows.end());
  }

  void MeasureFeaturesAgain()
  {
    std::vector<FeatureResult> candidates =
        FeaturesToRefine(this->StudyResult, this->Plan.Selection(), this->Options.Features);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      FeatureResult& candidate = candidates[i];
      this->Show(static_cast<double>(i) / candidates.size(),
          static_cast<double>(candidates.size() - i) * 4 * this->Options.FeatureRepetitions,
          "peaks and dips");
      if (!this->MeasureAgain(candidate)) {
        return;
      }
      this->StudyResult.Features.push_back(candidate);
      this->SaveIfDue();
    }
  }

  /// Measures around a feature with smaller steps of the block size. Only these measurements decide whether
  /// the feature is stable. Returns false if the study must end.
  bool MeasureAgain(FeatureResult& feature)
  {
    const std::vector<CurvePoint> before =
        CurveOf(this->StudyResult, feature.Function, feature.FileView, feature.FileBytes);
    for (const std::uint64_t block : RefinedBlocks(before, feature.First, StepsPerSide)) {
      feature.Refined.push_back({block, {}});
    }
    PlannedPoint point;
    point.MeasuredFunction = SelectFunctions({feature.Function}).front();
    point.Key.Function = feature.Function;
    point.Key.FileView = feature.FileView;
    point.Key.FileBytes = feature.FileBytes;
    for (int pass = 0; pass < this->Options.FeatureRepetitions; ++pass) {
      for (CurvePoint& refined : feature.Refined) {
        if (!this->ShouldContinue(1)) {
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
          (!feature.Stable || again.Certainty > feature.Reproduced.Certainty)) {
        feature.Stable = true;
        feature.Reproduced = again;
      }
    }
    return true;
  }

  tools::Session& CurrentSession;
  Communicator& Ranks;
  const Settings& Options;
  const StudyPlan Plan;
  std::string Output;
  Progress OwnBar;
  Progress& Bar;
  Stopwatch Watch;
  TestFolder* Folder = nullptr;
  std::map<std::uint64_t, std::string> Paths;
  /// Numbers of successful and of failed measurements, by function and view.
  std::map<std::pair<std::string, View>, std::pair<int, int>> OutcomeCounts;
  BlockMemory Memory;
  Result StudyResult;
  std::string EndReason;  ///< why the study ends early; empty otherwise
  std::string SaveFault;
  double LastSaved = 0;
  double PhaseFrom = 0;  ///< progress at the beginning of the phase
  double PhaseTo = 1;
  std::uint64_t TrialCount = 0;
};

}  // namespace

Result RunStudy(
    tools::Session& session, const Settings& settings, const std::string& output, const StudyFrame& frame)
{
  const Interrupt interrupt;
  return Study(session, settings, output, frame).Run();
}

}  // namespace patchio::probe
