// The series of time steps that a reader has open: the steps behind its paths, the step that is shown, steps
// that are added.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Read/FilesSeen.h"
#include "Read/OpenedStep.h"
#include "Store/StepSidecar.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// Opens the series of all paths, tidied by TidyPath(), and joins them in ascending order of steps, each step
/// once. A warning says where different paths have steps in common. `paths` must not be empty. With
/// SeriesOptions::LaterFiles, steps of files beside them follow, unless those cannot be opened. In the modes
/// that read or write sidecars, steps that are known there are not opened. Throws Error, also where the paths
/// are of several formats.
Series OpenSeriesOfPaths(std::vector<std::string> paths, const SeriesOptions& options, ChannelMode mode);

/// The steps that were opened last, so that going back to one costs nothing.
class RecentSteps
{
public:
  /// Most steps that are kept, and about how much memory those before the latest may take.
  static constexpr std::size_t MostSteps = 64;
  static constexpr std::uint64_t MostBytes = std::uint64_t(64) << 20;

  /// Collective: the step that was opened before under this path, unless its describing file has changed
  /// since, or something was missing; else opens it, see OpenedStep. Throws Error like that, the same on all
  /// ranks.
  std::shared_ptr<OpenedStep> Open(const RankAgreement& ranks, const std::string& path, ChannelMode mode);
  /// A step that was opened elsewhere takes the place of what is known under its path.
  void Add(const std::string& path, std::shared_ptr<OpenedStep> step);
  void Clear() { this->Steps.clear(); }

private:
  struct Entry
  {
    std::string Path;
    std::shared_ptr<OpenedStep> Step;
  };

  void Trim();

  std::deque<Entry> Steps;  ///< the latest first; the same on all ranks
};

/// Belongs to one reader, whose ranks call the same methods in the same order. Methods that take ranks are
/// collective and throw Error, the same on all of them.
class OpenedSeries
{
public:
  /// Files to open; several are joined into one series. They take effect with the next Open().
  void AddFile(const std::string& name) { this->FileNames.push_back(name); }
  /// The next series begins with its first step.
  void ClearFiles();
  const std::vector<std::string>& Files() const { return this->FileNames; }
  /// What is done with sidecars from now on.
  void SetChannel(ChannelMode mode) { this->Channel = mode; }

  /// Opens the series of the files.
  void Open(const RankAgreement& ranks, const SeriesOptions& options);
  bool IsOpen() const { return this->SeriesIsOpen; }
  /// Forgets all but the files, and which step is shown: the files are looked at again.
  void Close();

  /// For a series that grows: takes out the last step, unless it is the only one, while it is not complete.
  void HoldBackUnfinished(const RankAgreement& ranks, int threads);
  /// Adds the steps that have come since and are complete; true where there are such. The others stay as they
  /// are. Where no file has changed, this costs a look at Series::Watched by rank 0. A step that cannot be
  /// opened yet is no error: it is looked at again the next time.
  bool LookForNewSteps(const RankAgreement& ranks, int threads);
  /// What LookForNewSteps() has to tell, each text once; else empty.
  std::string TakeGrowthWarning() { return std::exchange(this->GrowthWarning, {}); }

  const Series& Steps() const { return this->Found; }
  /// The times of the steps; they increase. Not empty once the series is open.
  const std::vector<double>& Times() const { return this->TimesOfSteps; }

  /// Makes sure that some step is shown: the last one that was or else the first sound one, so that its
  /// variables are known. Whether the wanted step is sound shows when it is turned to. Throws where there is
  /// no sound step.
  void OpenAny(const RankAgreement& ranks);
  /// Shows this step.
  void TurnTo(const RankAgreement& ranks, std::size_t step);
  /// Makes sure that all ranks know where the bytes of the shown step lie; see OpenedStep::Prepare().
  bool Prepare(const RankAgreement& ranks, int threads, const ProgressCallback& progress);

  /// Opens and prepares a step that is not shown yet, and leaves all else as it is. Null where `progress`
  /// stops that.
  std::shared_ptr<OpenedStep> OpenAhead(
      const RankAgreement& ranks, std::size_t step, int threads, const ProgressCallback& progress);
  /// A step that was opened ahead is shown.
  void Adopt(std::size_t step, std::shared_ptr<OpenedStep> opened);

  /// The step that is shown, its catalog, its number, its time and what describes it.
  const OpenedStep& Step() const { return *this->Shown; }
  std::shared_ptr<OpenedStep> SharedStep() const { return this->Shown; }
  const Catalog& Current() const { return this->Shown->Data(); }
  std::size_t CurrentStep() const { return this->LastStep; }
  double CurrentTime() const { return this->TimesOfSteps[this->LastStep]; }
  const std::string& CurrentPath() const { return this->PathOfShown; }

  /// What is wrong with the sidecar of the shown step, the first time; else empty.
  std::string TakeChannelWarning();
  /// That the shown step is broken somewhere (OpenedStep::Lost()), the first time; else empty.
  std::string TakeLostWarning();
  /// Spent on opening since this was last asked.
  double TakeOpenSeconds();
  /// Spent on Prepare() for the shown step since it is shown.
  double PrepareSeconds() const { return this->SecondsOfPrepare; }

private:
  ChannelMode ModeFor(const std::string& path) const;
  bool MayGrow(const std::string& path) const;
  std::optional<Series> OpenAgain(const RankAgreement& ranks);
  bool GoesOn(const RankAgreement& ranks, const Series& now);
  std::vector<TimeStep> CompleteSteps(const RankAgreement& ranks, Series& now, int threads);
  std::string WhyIncomplete(
      const RankAgreement& ranks, const TimeStep& step, int threads, std::shared_ptr<OpenedStep>& opened);
  void AddSteps(const std::vector<TimeStep>& added);
  void TellOfLeftOut(const std::vector<std::string>& texts);
  void TellOnce(const std::string& text);

  std::vector<std::string> FileNames;
  ChannelMode Channel = ChannelMode::On;
  bool SeriesIsOpen = false;
  Series Found;
  SeriesOptions Options;  ///< that it was opened with
  std::vector<double> TimesOfSteps;
  std::string NoSoundStep;  ///< why no step at all can be opened; empty while one may
  RecentSteps Recent;
  std::size_t LastStep = 0;
  std::shared_ptr<OpenedStep> Shown;  ///< null when there is none
  std::string PathOfShown;            ///< empty when there is none
  std::set<std::string> Rebuilt;      ///< steps that need not be rebuilt again
  bool ChannelWarned = false;         ///< one warning about damaged sidecars is enough
  std::set<std::string> ToldOfLost;   ///< steps of which TakeLostWarning() has told
  // For a series that grows. Rank 0 alone looks at files.
  WatchedFiles Watched;                ///< Found.Watched
  std::optional<FileState> FirstFile;  ///< of the first step, as it was when the series was opened
  bool IsAnother = false;              ///< the files have become those of another run
  int LooksInVain = 0;                 ///< one after another in which the series could not be opened
  std::vector<std::string> LeftOut;    ///< why, of steps that were not there when others were added
  std::set<std::string> Told;
  std::string GrowthWarning;
  double OpenSeconds = 0;
  double SecondsOfPrepare = 0;
};

}  // namespace patchio
