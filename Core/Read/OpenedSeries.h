// The series of time steps that a reader has open: the steps behind its paths, the displayed step, and steps
// that are added later.
#pragma once

#include "Catalog/Catalog.h"
#include "Formats/Format.h"
#include "Read/FileFingerprints.h"
#include "Read/OpenedStep.h"
#include "Store/StepIndexFile.h"

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

/// Opens the series of all paths and joins them in ascending order of steps, each step of a file once. Cleans
/// each path with NormalizedPath(); `paths` must not be empty. Adds a warning if different paths have steps
/// in common. With SeriesOptions::LaterFiles, if each path is a file of one step, adds the steps of later
/// files in the same folder that can be opened. In the modes that use index files, does not open steps whose
/// time and number an index file contains. Throws Error, also if the paths have several formats (unless
/// SeriesOptions::KnownHead is set). Not collective.
Series OpenSeriesOfPaths(std::vector<std::string> paths, const SeriesOptions& options, IndexMode mode);

/// A cache of the steps that were opened last. Displaying an unchanged cached step again reads no metadata.
class RecentSteps
{
public:
  /// Limits on the number of cached steps, and on the approximate bytes of all cached steps except the latest
  /// step.
  static constexpr std::size_t MostSteps = 64;
  static constexpr std::uint64_t MostBytes = std::uint64_t(64) << 20;

  /// Returns the cached step of this path. Opens the step if it is not in the cache, its describing file has
  /// changed, or arrays of the step were missing. Collective: every rank of the communicator calls it. Throws
  /// Error like OpenedStep's constructor, the same on all ranks.
  std::shared_ptr<OpenedStep> Open(Communicator& ranks, const std::string& path, IndexMode mode);
  /// Adds a step that was opened elsewhere, and removes the cached step of this path.
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

/// The series of one reader. All ranks of the reader call the same methods in the same order. Methods with
/// the argument `ranks` are collective: every rank of the communicator calls them. These methods throw Error,
/// the same on all ranks.
class OpenedSeries
{
public:
  /// Adds a file to open. Open() joins several files into one series. The call takes effect at the next
  /// Open().
  void AddFile(const std::string& name) { this->FileNames.push_back(name); }
  /// Removes all files. OpenAny() then tries the first step of the next series first.
  void ClearFiles();
  const std::vector<std::string>& Files() const { return this->FileNames; }
  /// Sets the use of index files from now on.
  void SetIndexMode(IndexMode mode) { this->Mode = mode; }

  /// Opens the series of the files.
  void Open(Communicator& ranks, const SeriesOptions& options);
  bool IsOpen() const { return this->SeriesIsOpen; }
  /// Forgets the contents of the files, but not the names of the files and the number of the displayed step,
  /// so that the next Open() examines the files again.
  void Close();

  /// Removes the last step of a growing series if this step is incomplete and not the only step.
  void RemoveIncompleteLastStep(Communicator& ranks, int threads);
  /// Adds the complete steps that have appeared since the last call. Returns whether it added steps. Does
  /// nothing if no path in Series::Watched has changed. A step that cannot be opened yet is not an error: a
  /// later call tries to open the step again. Adds no steps after another run has replaced the files.
  bool AddNewSteps(Communicator& ranks, int threads);
  /// Returns the warnings of AddNewSteps(), each text once, and clears them.
  std::string TakeGrowthWarning() { return std::exchange(this->GrowthWarning, {}); }

  /// The steps of the series, and the warnings and notes for the user.
  const Series& Contents() const { return this->SeriesOfFiles; }
  /// Time values of the steps, in increasing order. An open series has at least one time value.
  const std::vector<double>& Times() const { return this->TimesOfSteps; }

  /// Does nothing if a step is displayed. Otherwise displays the step that was displayed last or, if that
  /// step is not readable, the next readable step (the first step follows the last), so that variables are
  /// known. SetStep() then checks the requested step. Throws Error if no step is readable. Further calls
  /// then throw the same error, without another try, until SetStep() succeeds or AddNewSteps() adds steps.
  void OpenAny(Communicator& ranks);
  /// Makes `step` the displayed step, and opens it if it is not cached. Throws Error, the same on all ranks,
  /// if the step cannot be read.
  void SetStep(Communicator& ranks, std::size_t step);
  /// Prepares the displayed step; see OpenedStep::Prepare(). Returns false if `progress` stops the work.
  bool Prepare(Communicator& ranks, int threads, const ProgressCallback& progress);

  /// Opens and prepares a step that is not displayed yet; does not change the displayed step. Returns null if
  /// `progress` stops the work.
  std::shared_ptr<OpenedStep> OpenForPrefetch(
      Communicator& ranks, std::size_t step, int threads, const ProgressCallback& progress);
  /// Makes `opened`, which OpenForPrefetch() has returned for `step`, the displayed step.
  void Adopt(std::size_t step, std::shared_ptr<OpenedStep> opened);

  /// The displayed step. The methods below return the catalog, number, time and describing file of the
  /// displayed step.
  const OpenedStep& Step() const { return *this->Displayed; }
  std::shared_ptr<OpenedStep> SharedStep() const { return this->Displayed; }
  const Catalog& Current() const { return this->Displayed->Data(); }
  std::size_t CurrentStep() const { return this->DisplayedNumber; }
  double CurrentTime() const { return this->TimesOfSteps[this->DisplayedNumber]; }
  const std::string& CurrentPath() const { return this->DisplayedPath; }

  /// Returns the warning about the displayed step's index file, once per series; otherwise an empty text.
  std::string TakeIndexWarning();
  /// Returns the warning that the displayed step has broken parts (OpenedStep::MissingText()), once per
  /// describing file; otherwise an empty text.
  std::string TakeMissingWarning();
  /// Returns the seconds spent on opening series and steps since the last call.
  double TakeOpenSeconds();
  /// The seconds spent in Prepare() for the displayed step.
  double PrepareSeconds() const { return this->SecondsOfPrepare; }

private:
  IndexMode ModeFor(const std::string& path) const;
  bool MayGrow(const std::string& path) const;
  std::optional<Series> Reopen(Communicator& ranks);
  bool CheckContinuation(Communicator& ranks, const Series& now);
  std::vector<TimeStep> CompleteSteps(Communicator& ranks, Series& now, int threads);
  std::string ReasonIncomplete(
      Communicator& ranks, const TimeStep& step, int threads, std::shared_ptr<OpenedStep>& opened);
  void AddSteps(const std::vector<TimeStep>& added);
  void ReportLeftOut(const std::vector<std::string>& texts);
  void WarnOnce(const std::string& text);

  std::vector<std::string> FileNames;
  IndexMode Mode = IndexMode::On;
  bool SeriesIsOpen = false;
  Series SeriesOfFiles;
  SeriesOptions Options;  ///< options of the last Open()
  std::vector<double> TimesOfSteps;
  std::string NoReadableStep;  ///< reason why no step is readable; empty if a step may be readable
  RecentSteps Recent;
  std::size_t DisplayedNumber = 0;
  std::shared_ptr<OpenedStep> Displayed;  ///< the step displayed last; null before the first step
  std::string DisplayedPath;              ///< empty: the next SetStep() opens the step
  std::set<std::string> RebuiltPaths;     ///< paths of the steps whose index was rebuilt
  bool IndexWarned = false;               ///< true after one warning about index files
  std::set<std::string> ReportedMissing;  ///< describing files that TakeMissingWarning() has reported
  // Members for a growing series. Only rank 0 checks files.
  WatchedFiles Watched;                ///< SeriesOfFiles.Watched
  std::optional<FileState> FirstFile;  ///< state of the first step's file when the series was opened
  bool IsOtherRun = false;             ///< true: the files now belong to another run
  int FailedAttempts = 0;              ///< successive attempts at which the series could not be opened
  /// Warnings, with the reasons why steps were left out, of the last AddNewSteps() that added steps.
  std::vector<std::string> LeftOut;
  std::set<std::string> ReportedWarnings;
  std::string GrowthWarning;
  double OpenSeconds = 0;
  double SecondsOfPrepare = 0;
};

}  // namespace patchio
