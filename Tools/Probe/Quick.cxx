#include "Probe/Quick.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Probe/Circumstances.h"
#include "Probe/Interrupt.h"
#include "Probe/Progress.h"
#include "Probe/QuickProbe.h"
#include "Probe/Result.h"
#include "Probe/Study.h"
#include "Session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchio::probe {
namespace {

// ---- the profile that is kept
// --------------------------------------------------------------------------------------------------

std::string DateText(double seconds)
{
  return seconds > 0 ? fmt::format("on {:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)))
                     : "at an unknown date";
}

std::string DescribeProfile(const StorageProfile& old)
{
  return old.Source == MeasuredSource
             ? fmt::format("N* = {}, measured {}", old.Concurrency, DateText(old.MeasuredAt))
             : fmt::format("N* = {}, {}", old.Concurrency, old.Source);
}

/// Returns the relative standard error of the mean rate at an N with the average number of samples.
double RelativeErrorOf(const StorageProfile& profile)
{
  std::set<int> different;
  for (const RateSample& sample : profile.Samples) {
    different.insert(sample.Concurrency);
  }
  const double each = static_cast<double>(profile.Samples.size()) / static_cast<double>(different.size());
  return std::max(profile.Fit.Noise(), profile.Fit.Residual()) / std::sqrt(each);
}

/// Returns why the rates of the new profile are less certain than the rates of the old profile; empty if the
/// new rates are certain enough, or cannot be compared with the old rates.
std::string WhyLessCertain(const StorageProfile& old, const StorageProfile& profile)
{
  constexpr double sure = 0.05;
  constexpr double clearly = 1.25;
  if (old.FromReads || !old.Fit.Known() || !profile.Fit.Known()) {
    return {};
  }
  const double before = RelativeErrorOf(old), now = RelativeErrorOf(profile);
  return now > sure && now > clearly * before
             ? fmt::format(
                   "its rates are uncertain by {:.0f} %, because the time was short or the storage busy, and "
                   "the rates of the last probe only by {:.0f} %",
                   100 * now, 100 * before)
             : std::string();
}

/// Returns why N* may be no better than the reader's own guess; empty if N* is certain enough.
std::string WhyTooUncertain(const ConcurrencyRange& interval)
{
  constexpr int wide = 4;
  return interval.Most > wide * interval.Least
             ? fmt::format("the 90 % confidence interval of N* is {} to {}", interval.Least, interval.Most)
             : std::string();
}

/// Returns a text about the profile that the reader uses while the new profile is not saved.
std::string DescribeExistingProfile(const std::optional<StorageProfile>& old)
{
  if (!old) {
    return "This storage has no profile yet, so the reader starts with a guess";
  }
  return fmt::format("The existing profile stays: {} ({})", DescribeProfile(*old), old->File);
}

// ---- the measurement
// --------------------------------------------------------------------------------------------------

constexpr std::uint64_t MostFunctionsBytes = 64u << 20;  // maximum size of the file for the comparison
constexpr std::uint64_t LeastOfRank = 128u << 10;        // minimum size of a rank's part of this file
constexpr std::uint64_t UsualBlock = 1u << 20;           // block size if the best block size is unknown
constexpr std::uint64_t MostFunctionsBlock = 4u << 20;   // many ranks with large blocks need large files
constexpr double PartOfTime = 0.3;  // time of the comparison / time of all other measurements

const std::vector<std::string> FunctionsToCompare{"read_at", "read_at_all", "read", "read_all", "pread"};

/// Returns the name of the function with the best mean rate; empty if a function was not tried.
std::string FastestFunction(const Result& result)
{
  if (result.Points.size() < FunctionsToCompare.size()) {
    return {};
  }
  std::string name;
  double best = 0;
  for (const auto& [key, point] : result.Points) {
    const double rate = SpreadOf(point.Rates).Mean;
    if (rate > best) {
      best = rate;
      name = key.Function;
    }
  }
  return name;
}

std::string DescribeResult(const QuickProbeResult& found, const ConcurrencyRange& interval)
{
  const StorageProfile& profile = found.Profile;
  std::map<int, std::vector<double>> rates;
  for (const RateSample& sample : profile.Samples) {
    rates[sample.Concurrency].push_back(sample.Rate);
  }
  std::string text = "concurrent requests   measured        fitted\n";
  for (const auto& [concurrency, values] : rates) {
    text += fmt::format("{:>18}  {:>8}/s  {:>10}/s\n", concurrency, ByteText(SpreadOf(values).Mean),
        profile.Fit.Known() ? ByteText(profile.Fit.At(concurrency)) : "?");
  }
  text += fmt::format("best: {} concurrent requests on the whole system", profile.Concurrency);
  text += profile.BlockBytes > 0 ? fmt::format(", of {} or more\n", SizeText(profile.BlockBytes)) : "\n";
  if (profile.Fit.Known()) {
    text += fmt::format(
        "90 % confidence interval: {} to {}\n{}\n", interval.Least, interval.Most, profile.Fit.Text());
  }
  if (found.CostAtBest.Known) {
    text += fmt::format(
        "at the best concurrency, a request takes {:.3g} ms, plus the time of its bytes at {}/s\n",
        1000 * found.CostAtBest.Requests.Latency, ByteText(found.CostAtBest.Requests.Bandwidth));
  }
  text += profile.BestFunction.empty() ? "" : "fastest function: " + profile.BestFunction + "\n";
  return text;
}

/// Returns why the profile is not reliable; empty if the profile is reliable.
std::string WhyUnreliable(const QuickProbeResult& found)
{
  if (found.CacheAnswered && found.Profile.StorageMount.Class != MountClass::Memory) {
    return "the data came from this machine's memory, not from the storage";
  }
  std::map<int, int> times;
  for (const RateSample& sample : found.Profile.Samples) {
    ++times[sample.Concurrency];
  }
  const bool twice =
      std::any_of(times.begin(), times.end(), [](const auto& entry) { return entry.second > 1; });
  return twice ? std::string() : "the time was too short for repeated measurements";
}

class QuickRun
{
public:
  QuickRun(const Settings& settings, const std::string& output, tools::Session& session)
      : Options(settings),
        Output(output),
        CurrentSession(session),
        Ranks(session.Ranks()),
        Bar(session.IsRoot())
  {
  }

  void Run()
  {
    this->StudyResult.Label = this->Options.Label;
    this->StudyResult.Repetitions = 1;
    DescribeCircumstances(this->Ranks, this->Options.Directory, this->StudyResult);
    this->ProbeConcurrency();
    if (!this->ProbeResult.Cancelled && this->Options.Existing.empty()) {
      this->CompareFunctions();
    }
    this->Finish();
  }

private:
  void ProbeConcurrency()
  {
    QuickProbeOptions options;
    options.Seconds = this->Options.QuickSeconds;
    options.TestBytes = this->Options.QuickBytes;
    options.ExistingFiles = this->Options.Existing;
    options.Seed = static_cast<unsigned>(this->Options.Seed);
    options.Cancel = &Interrupt::Flag();
    const bool alone = !this->Options.Existing.empty();
    this->Bar.SetRange(
        0, alone ? 1 : 1 / (1 + PartOfTime), alone ? 0 : PartOfTime * this->Options.QuickSeconds);
    try {
      this->ProbeResult = RunQuickProbe(this->Ranks, this->Options.Directory, options,
          [this](const ProbeProgress& now) { return this->Show(now); });
    } catch (const Error& error) {
      // A signal on one rank removes test files that other ranks still read, so these ranks fail.
      if (AllOf(this->Ranks, !Interrupt::Received())) {
        this->SaveIncomplete(error.what());
        throw;
      }
      this->ProbeResult.Cancelled = true;
      this->ProbeResult.Profile.Samples = this->StudyResult.Scan.Samples;
    }
    this->DescribeScan();
  }

  /// Shows the progress on rank 0, and saves the results repeatedly, because the user may stop the run at any
  /// time. Returns false if the results cannot be saved.
  bool Show(const ProbeProgress& now)
  {
    this->Bar.Show(now.Fraction, now.SecondsLeft, now.Activity);
    if (now.Samples->size() > this->StudyResult.Scan.Samples.size()) {
      this->StudyResult.Scan.Samples = *now.Samples;
      if (this->Watch.Seconds() - this->LastSaved > LeastSaveInterval) {
        this->Save();
      }
    }
    return this->SaveFault.empty();
  }

  void DescribeScan()
  {
    ConcurrencyScan& scan = this->StudyResult.Scan;
    const StorageProfile& profile = this->ProbeResult.Profile;
    scan.Samples = profile.Samples;
    scan.RequestBytes = this->ProbeResult.RequestBytes;
    if (!profile.Fit.Known() || !this->CurrentSession.IsRoot()) {
      return;
    }
    scan.Best = profile.Concurrency;
    scan.Interval = EstimateBestRange(profile.Samples);
    scan.Law = profile.Fit.Text();
    for (int n = profile.Fit.Least(); n <= profile.Fit.Most(); n += 1 + n / 16) {
      scan.Fitted.push_back({n, profile.Fit.At(n), 0});
    }
    scan.Fitted.push_back({profile.Fit.Most(), profile.Fit.At(profile.Fit.Most()), 0});
  }

  /// Returns the size of the file for the comparison of functions; 0 if the rate is unknown or the time too
  /// short. The size is at most MostFunctionsBytes, half of the bytes of the test files (because the study
  /// has a second file), and the bytes that the study can write, read and check in the time.
  std::uint64_t BytesForFunctions() const
  {
    const int rankCount = this->Ranks.Size();
    const double times = 3.0 * static_cast<double>(FunctionsToCompare.size());
    const double rate = this->ProbeResult.Profile.Fit.At(rankCount);
    const double inTime = rate * PartOfTime * this->Options.QuickSeconds / times;
    const auto most = static_cast<double>(std::min(MostFunctionsBytes, this->Options.QuickBytes / 2));
    const double bytes = rate > 0 ? std::min(inTime, most) : 0;
    return bytes >= static_cast<double>(LeastOfRank) * rankCount ? static_cast<std::uint64_t>(bytes) : 0;
  }

  /// Compares the functions that read a rank's own part of a file, with a small study.
  void CompareFunctions()
  {
    const std::uint64_t bytes = this->BytesForFunctions();
    if (bytes == 0) {
      this->StudyResult.WhyIncomplete =
          "the time was too short to compare the read functions on this storage";
      return;
    }
    Settings few = this->Options;
    few.Quick = false;
    few.GivenQuickOptions.clear();
    few.Functions = FunctionsToCompare;
    few.Views = {NameOf(View::Own)};
    const std::uint64_t block =
        this->ProbeResult.Profile.BlockBytes > 0 ? this->ProbeResult.Profile.BlockBytes : UsualBlock;
    const std::uint64_t most = std::min(MostFunctionsBlock, bytes / this->Ranks.Size() / 2);
    few.Blocks = {std::clamp<std::uint64_t>(block, 8, most) / 8 * 8};
    few.Sizes = {bytes};
    few.Budget = PartOfTime * this->Options.QuickSeconds;
    few.MostSeconds = few.Budget / static_cast<double>(FunctionsToCompare.size());
    few.Repetitions = 3;
    few.InfluenceSeconds = 0;
    few.Features = 0;
    this->Bar.SetRange(1 / (1 + PartOfTime), 1);
    const ConcurrencyScan scan = this->StudyResult.Scan;
    this->StudyResult = RunStudy(this->CurrentSession, few, this->Output, {&this->Bar, scan});
    this->ProbeResult.Profile.BestFunction = FastestFunction(this->StudyResult);
    this->ProbeResult.Cancelled = this->StudyResult.WhyIncomplete == Interruption;
  }

  void Save()
  {
    if (this->CurrentSession.IsRoot()) {
      this->StudyResult.Seconds = this->Watch.Seconds();
      this->LastSaved = this->StudyResult.Seconds;
      const std::string fault = CatchError([&] { SaveResult(this->StudyResult, this->Output); });
      this->SaveFault = this->SaveFault.empty() ? fault : this->SaveFault;
    }
  }

  /// Saves the measurements so far, if any, before the error `fault` ends the probe.
  void SaveIncomplete(const std::string& fault)
  {
    if (!this->StudyResult.Scan.Samples.empty()) {
      this->StudyResult.WhyIncomplete = fault;
      this->Save();
    }
  }

  void Finish()
  {
    const bool tooShort = !this->ProbeResult.Cancelled && this->ProbeResult.Profile.Concurrency < 1;
    if (this->ProbeResult.Cancelled) {
      this->StudyResult.WhyIncomplete = Interruption;
    } else if (tooShort) {
      this->StudyResult.WhyIncomplete =
          "the time was too short to find the best number of concurrent requests";
    } else if (!this->Options.Existing.empty()) {
      this->StudyResult.WhyIncomplete.clear();
    }
    this->StudyResult.Complete = this->StudyResult.WhyIncomplete.empty();
    this->Save();
    RunOnAllRanks(this->Ranks, [&] {
      ThrowFault(this->SaveFault);
      if (this->ProbeResult.Cancelled) {
        throw Error(
            fmt::format("A signal has interrupted the probe. The measurements so far are in {}/result.json. "
                        "PatchIO has not saved a profile.",
                this->Output));
      }
      if (tooShort) {
        throw Error(
            fmt::format("The time was too short to find the best number of concurrent requests. The "
                        "measurements so far are in {}/result.json. Give more --seconds.",
                this->Output));
      }
      if (this->CurrentSession.IsRoot()) {
        this->PrintResults();
      }
    });
  }

  void PrintResults()
  {
    const StorageProfile& profile = this->ProbeResult.Profile;
    this->CurrentSession.Print(DescribeResult(this->ProbeResult, this->StudyResult.Scan.Interval));
    for (const std::string& note : profile.Notes) {
      this->CurrentSession.Print("note: " + note);
    }
    if (!this->StudyResult.Complete) {
      this->CurrentSession.Warn("result.json is incomplete: " + this->StudyResult.WhyIncomplete + ".");
    }
    ReplaceFile(this->Output + "/profile.json", TextOf(profile));
    this->CurrentSession.Print(fmt::format("profile: {}/profile.json", this->Output));
    if (!this->Options.NoSave) {
      const SaveReport report = SaveIfReliable(profile, this->Options.Directory,
          this->StudyResult.Scan.Interval, WhyUnreliable(this->ProbeResult), this->Options.Force);
      for (const std::string& line : report.Lines) {
        this->CurrentSession.Print(line);
      }
    }
  }

  const Settings& Options;
  const std::string& Output;
  tools::Session& CurrentSession;
  Communicator& Ranks;
  Progress Bar;
  Stopwatch Watch;
  QuickProbeResult ProbeResult;
  Result StudyResult;
  std::string SaveFault;
  double LastSaved = 0;
};

}  // namespace

SaveReport SaveIfReliable(const StorageProfile& profile, const std::string& path,
    const ConcurrencyRange& interval, const std::string& whyUnreliable, bool force)
{
  SaveReport report;
  const std::optional<StorageProfile> old = FindProfile(path, nullptr, std::max(profile.Ranks, 1));
  const bool measured = old && old->Source == MeasuredSource;
  std::string against = WhyTooUncertain(interval);
  if (against.empty() && measured) {
    against = whyUnreliable.empty() ? WhyLessCertain(*old, profile) : whyUnreliable;
  }
  if (!against.empty() && !force) {
    report.Lines.push_back(
        fmt::format("The profile is not saved, because {}. {}.", against, DescribeExistingProfile(old)));
    report.Lines.push_back("Give more --seconds, or save the new profile anyway with --force.");
    return report;
  }
  report.File = SaveProfile(profile);
  report.Lines.push_back("PatchIO has saved the profile: " + report.File);
  if (!whyUnreliable.empty()) {
    report.Lines.push_back(fmt::format("The profile is not reliable, because {}.", whyUnreliable));
  }
  if (measured) {
    report.Lines.push_back(fmt::format(
        "The profile replaces a profile with {}. Now N* = {}.", DescribeProfile(*old), profile.Concurrency));
  }
  const std::optional<StorageProfile> used = FindProfile(path);
  std::error_code fault;
  if (used && !std::filesystem::equivalent(used->File, report.File, fault)) {
    report.Lines.push_back(
        fmt::format("The reader still uses {} (N* = {}, {}), because that profile takes precedence.",
            used->File, used->Concurrency, used->Source));
  }
  return report;
}

void RunQuick(const Settings& settings, const std::string& output, tools::Session& session)
{
  const Interrupt interrupt;
  QuickRun(settings, output, session).Run();
}

}  // namespace patchio::probe
