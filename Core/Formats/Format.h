// The interface of file formats: from a path to time steps, from a time step to its catalog, from the catalog
// to the locations of values. Reading the values is the same for all formats.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Io/IoScheduler.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// One time step of a series.
struct TimeStep
{
  std::string Path;  ///< absolute path of the file that describes the step, for ReadCatalog()
  double Time = 0;   ///< in the unit of the file; GrADS: in hours since 1970
  std::int64_t Step = 0;
  int StepInFile = 0;  ///< number of the step among the steps in the file, from 0
  std::string Date{};  ///< the time as a date; empty if Time is sufficient
  /// Notes on data of the step that PatchIO does not show. HasNotes is true if the format has searched the
  /// step for such data. Index files contain the notes, so the notes must depend only on the file `Path`.
  bool HasNotes = false;
  std::vector<std::string> Notes{};
};

/// The time steps that a path refers to, in ascending order of Step.
struct Series
{
  std::vector<TimeStep> Steps;
  std::vector<std::string> Warnings;  ///< messages for the user, such as the reasons for skipped dumps
  std::vector<std::string> Notes;     ///< other information for the user
  /// Files and folders to watch: at least one of them changes when a step is added or becomes readable.
  /// Examples: the list of dumps, the folder of the dumps, a skipped dump. The paths need not exist yet.
  /// Empty if the format expects no further steps.
  std::vector<std::string> Watched;
};

/// Options of Format::OpenSeries().
struct SeriesOptions
{
  /// True: the series has only the steps in the list of dumps (SAMRAI's dumps.visit), or only the opened
  /// plotfile (AMReX). False: the series also has the other steps in the same folder. Other formats and
  /// single summaries of SAMRAI ignore this option.
  bool ListedOnly = false;
  /// True: if each path is a file of one step, OpenSeriesOfPaths() adds the files of the same folder with
  /// higher numbers in their names. Formats ignore this option.
  bool LaterFiles = false;
  /// Returns the head of the step with this TimeStep::Path if the head is known, for example from an index
  /// file. Null: no heads are known.
  std::function<std::optional<TimeStep>(const std::string&)> KnownHead = nullptr;
};

/// Options of Format::Locate().
struct LocateOptions
{
  int Threads = 1;  ///< limit on the threads that read metadata
  /// True, for an index: the locations are for all steps of the file (see ChunkedArray::StepStride), not only
  /// for step Catalog::StepInFile.
  bool AllSteps = false;
  /// Callback for the progress, called often on the thread that calls Locate(). After the callback has
  /// returned false, Locate() throws Error as soon as the requests in flight have ended (see LocateTask).
  /// Null: no progress is reported.
  ProgressCallback Progress = nullptr;
  /// True: Locate() also returns the checksums of the values (see LocationTable) if the format has checksums,
  /// and checks all headers in the data files.
  bool Verify = false;
};

/// A file format. An object has no state: all methods may be called for any path, from one thread at a time.
class Format
{
public:
  virtual ~Format() = default;
  /// Returns the name of the format for the user, such as "SAMRAI".
  virtual const char* Name() const = 0;
  /// Returns a phrase for the files that the format opens, such as "a PatchIO container (folder NAME.pio)".
  virtual const char* SupportedFiles() const = 0;

  /// Returns whether the path belongs to this format, according to its name and contents. The file may be
  /// sound or broken.
  virtual bool Claims(const std::string& path) const = 0;

  /// Returns whether the path seems to be a broken file of this format (empty, truncated or overwritten): the
  /// name or the neighbouring files belong to this format, but the contents belong neither to this format nor
  /// to another program. OpenSeries() then throws Error with the reason.
  virtual bool SeemsBroken(const std::string& /*path*/) const { return false; }

  /// Returns a phrase for the contents of a file of this format that PatchIO does not support, or an empty
  /// text. FormatOf() calls this method if FindFormat() returns null.
  virtual std::string UnsupportedContents(const std::string& /*path*/) const { return {}; }

  /// Opens the series that a path refers to. The call is cheap: it reads only the head of each step and the
  /// data for notes, or the description of a file with several steps. Throws Error when there is no sound
  /// step.
  virtual Series OpenSeries(const std::string& path, const SeriesOptions& options) const = 0;

  /// Reads the description of a file: everything except field data and their locations. The catalog describes
  /// all steps of the file; its current step is the first. `path` is TimeStep::Path. Throws Error when the
  /// description is broken.
  virtual Catalog ReadCatalog(const std::string& path) const = 0;
  /// Reads the description of a file like ReadCatalog(), with `step` as the current step. Formats whose steps
  /// have different patches (Catalog::PatchesChange) override this method.
  virtual Catalog ReadStep(const TimeStep& step) const;

  /// Returns the least and greatest values of a variable at Catalog::StepInFile, as stated in the files: one
  /// range per patch, perhaps wider than the values, or an empty list if the files state no ranges. Throws
  /// Error for broken files.
  virtual std::vector<ValueRange> RangesOf(const Catalog& /*catalog*/, int /*variable*/) const { return {}; }

  /// Returns whether PatchIO should build an index. An index is useless if Locate() is as fast as a look-up
  /// in the index, and impossible if the steps of the file are not stored at equal distances.
  virtual bool NeedsIndex(const Catalog& /*catalog*/) const { return true; }

  /// Returns the locations of the requests at Catalog::StepInFile, or at all steps (LocateOptions::AllSteps).
  /// Requests in a broken data file become Missing, with the reason, and cause no error. Every byte range
  /// lies inside its file and has the size that the catalog states. Throws Error if the catalog is not from
  /// this format, and after options.Progress has returned false.
  virtual LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const = 0;
};

/// Returns all formats in the order of the list in Formats/CMakeLists.txt, in which FindFormat() tries them.
const std::vector<const Format*>& AllFormats();

/// Returns the format that claims the path or, if no format does, the format for which the path seems to be a
/// broken file. Returns null if there is no such format.
const Format* FindFormat(const std::string& path);
/// Returns the format of the path, like FindFormat(). Throws Error if no format fits, or if the path cannot
/// be read.
const Format& FormatOf(const std::string& path);

/// Makes `step` the current step of a catalog. The catalog must describe that step.
void SetStep(Catalog& catalog, const TimeStep& step);

/// Returns strictly increasing values for ParaView's time controls: the times of the steps if they are finite
/// and increase, otherwise the step numbers if they increase, otherwise 0, 1, 2, ...
std::vector<double> TimeValues(const Series& series);
/// Returns Series::Notes, with an additional note if TimeValues() are not the times in the files.
std::vector<std::string> NotesOf(const Series& series);

}  // namespace patchio
