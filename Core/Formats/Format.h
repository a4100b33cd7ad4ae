// What PatchIO knows about a file format: from a path to time steps, from a time step to its catalog, from
// the catalog to the locations of the bytes. Reading the bytes is the same for all formats.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Io/IoScheduler.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// One time step of a series.
struct TimeStep
{
  std::string Path;  ///< the file that describes it, for Format::ReadCatalog
  double Time = 0;
  std::int64_t Step = 0;
  int InFile = 0;      ///< which of the steps that this file describes, from 0
  std::string Date{};  ///< the time as people write it; empty where Time says all
  /// Notes on data of the step that PatchIO does not show; HasNotes is true if the format has looked for
  /// them. Index files keep the notes, so the notes may depend on the file `Path` alone.
  bool HasNotes = false;
  std::vector<std::string> Notes{};
};

/// The time steps behind a path, in ascending order of Step.
struct Series
{
  std::vector<TimeStep> Steps;
  std::vector<std::string> Warnings;  ///< dumps that had to be left out, and why
  std::vector<std::string> Notes;     ///< what else the user may want to know
  /// Files and folders, also such as are not there yet, one of which changes when a step is added or becomes
  /// readable: an index, the folder of the dumps, a dump that was left out. Empty where nothing is added.
  std::vector<std::string> Watched;
};

struct SeriesOptions
{
  /// True: only steps that the index file lists. False: also those found beside it.
  bool ListedOnly = false;
  /// True: where each path is a file of one step, files beside the last one with higher numbers in their
  /// names follow. For OpenSeriesOfPaths(); formats ignore it.
  bool LaterFiles = false;
  /// Heads that are known already, by TimeStep::Path: the metadata channel's answer, if it has one. Null:
  /// none.
  std::function<std::optional<TimeStep>(const std::string&)> Known = nullptr;
};

struct LocateOptions
{
  int Threads = 1;  ///< that may read metadata at once
  /// For an index: not where the values of Catalog::StepInFile lie, but those of all steps of the file, by
  /// ChunkedArray::StepValues and the like.
  bool AllSteps = false;
  /// Told how far it is, often, on the calling thread. Where that says false, Locate() throws Error as soon
  /// as the requests in flight have ended (see LocateTask). Null: no progress is told.
  ProgressCallback Progress = nullptr;
  /// With all that files have to compare values with: their checksums (see LocationTable), and what stands in
  /// front of them.
  bool Verify = false;
};

/// A file format. Without state: all methods may be called for any path, from one thread at a time.
class Format
{
public:
  virtual ~Format() = default;
  virtual const char* Name() const = 0;
  /// The files that it opens, as a phrase for a sentence: "a this or that of X".
  virtual const char* Opens() const = 0;

  /// True when the path, by its name and first bytes, is this format's to open, be it sound or broken.
  virtual bool Claims(const std::string& path) const = 0;

  /// True when the path is where files of this format are, by its name or what lies beside it, though not by
  /// its contents, and no other program wrote them: a file that is empty, cut off or overwritten.
  /// OpenSeries() says what is wrong.
  virtual bool SeemsBroken(const std::string& /*path*/) const { return false; }

  /// Where neither is so: what there is instead that belongs to this format, as a phrase; empty where it
  /// belongs to none.
  virtual std::string Declines(const std::string& /*path*/) const { return {}; }

  /// Cheap: looks at each step's head only. Throws Error when there is not a single good step.
  virtual Series OpenSeries(const std::string& path, const SeriesOptions& options) const = 0;

  /// Everything but field data and where it lies, for all steps of the file, turned to the first. `path` is
  /// TimeStep::Path. Throws Error when the description is broken.
  virtual Catalog ReadCatalog(const std::string& path) const = 0;
  /// The same, turned to a step; also where each step has patches of its own (Catalog::PatchesChange).
  virtual Catalog ReadStep(const TimeStep& step) const;

  /// What the files say about the least and greatest values of a variable at Catalog::StepInFile: one range
  /// per patch, perhaps wider than the values, or empty where they say nothing. Throws Error for broken
  /// files.
  virtual std::vector<ValueRange> RangesOf(const Catalog& /*catalog*/, int /*variable*/) const { return {}; }

  /// False where none is made or kept: Locate() costs no more than a look into an index, or the steps of the
  /// file do not lie at equal distances.
  virtual bool NeedsIndex(const Catalog& /*catalog*/) const { return true; }

  /// Where the bytes of each request lie, at Catalog::StepInFile. Never throws for a broken data file: its
  /// requests become Missing, with the reason. Every extent returned lies inside its file and has the size
  /// that the catalog asks for.
  virtual LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const = 0;
};

/// All formats, in the order in which they are asked: that of the list in Formats/CMakeLists.txt.
const std::vector<const Format*>& AllFormats();

/// The format that claims the path, or a broken file of which it seems to be; null when there is none.
const Format* FindFormat(const std::string& path);
/// The same. Throws Error when there is none or the path cannot be read.
const Format& FormatOf(const std::string& path);

/// Turns a catalog to another of the steps that it describes.
void TurnTo(Catalog& catalog, const TimeStep& step);

/// Values for ParaView's time controls, strictly increasing: the steps' times where they increase, else their
/// step numbers (times may repeat or be 0 throughout), else 0, 1, 2, ...
std::vector<double> TimeValues(const Series& series);
/// Series::Notes, and one more where TimeValues() are other times than those in the files.
std::vector<std::string> NotesOf(const Series& series);

}  // namespace patchio
