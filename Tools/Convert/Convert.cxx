#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Convert/PieceExport.h"
#include "Convert/StepConversion.h"
#include "Formats/Container/ContainerLog.h"
#include "Formats/Container/StepLayout.h"
#include "Formats/Format.h"
#include "Info/StepFacts.h"
#include "Probe/Progress.h"
#include "Read/CollectiveCalls.h"
#include "Session.h"
#include "Subcommands.h"
#include "Verify/ContainerCheck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

namespace fs = std::filesystem;

namespace patchio::tools {
namespace {

constexpr double SecondsWithoutBar = 1;

struct ConvertArguments : ConversionOptions
{
  std::string From, To;
  std::vector<std::string> Names;
  std::vector<std::int64_t> Steps;  ///< empty: all steps
  std::vector<int> Levels;
  std::vector<double> RegionBounds;
  std::string CompressionName = "off";
  bool Overwrite = false;
  bool CheckValues = false;  ///< compare the values of existing steps with their checksums
  int RanksPerFile = 0;
  bool Export = false;  ///< export to files in the folder To
  std::string Format = "vtkhdf";

  bool WritesPieces() const { return this->Export && this->Format == "vtm"; }
};

void ResolveOptions(ConvertArguments& options)
{
  options.Variables = {options.Names.begin(), options.Names.end()};
  options.InThreeDimensions = options.WritesPieces();
  if (!options.Levels.empty()) {
    options.FirstLevel = options.Levels[0];
    options.LastLevel = options.Levels[1];
  }
  if (options.FirstLevel < 0 || options.FirstLevel > options.LastLevel) {
    throw UsageError("--levels: expected the first and the last level, counted from 0, in this order.");
  }
  if (!options.RegionBounds.empty()) {
    options.Region.Type = RegionOfInterest::Shape::InBox;
    for (int axis = 0; axis < 3; ++axis) {
      options.Region.Lower[axis] = options.RegionBounds[2 * axis];
      options.Region.Upper[axis] = options.RegionBounds[2 * axis + 1];
      if (!(options.Region.Lower[axis] <= options.Region.Upper[axis])) {
        throw UsageError(
            "--region: expected, for each axis, a lower bound that is not above the upper bound.");
      }
    }
  }
  options.Compression = *ValueNamed(options.CompressionName, container::LastCompressionChoice);
  while (!options.To.empty() && options.To.back() == '/') {
    options.To.pop_back();
  }
  std::error_code ignored;
  for (const fs::path& place : {fs::path(options.From), fs::path(options.From).parent_path()}) {
    if (fs::equivalent(place, options.To, ignored)) {
      throw UsageError("The output must not be the data themselves or their folder. Choose another name.");
    }
  }
}

class Conversion
{
public:
  Conversion(const ConvertArguments& options, Session& session)
      : Settings(options), CommandSession(session), ProgressBar(session.IsRoot())
  {
  }

  void Run();

private:
  /// Returns the path of the container to write; for an export, the path of a temporary container.
  std::string Container() const
  {
    return this->Settings.Export ? this->Settings.To + "/unfinished.pio" : this->Settings.To;
  }
  std::string SizeText(const ConversionResult& result) const;
  void CheckTargets(const std::vector<TimeStep>& steps) const;
  void MoveOutOfContainer(const container::StepRecord& record) const;
  void RemoveUnfinished() const
  {
    std::error_code ignored;
    if (this->Settings.Export && this->CommandSession.IsRoot()) {
      fs::remove_all(this->Container(), ignored);
      if (this->CreatedFolder) {
        fs::remove(this->Settings.To, ignored);  // fails unless the folder is empty
      }
    }
  }
  void CheckSameRun(const TimeStep& step, double time) const;
  void CheckSameVariables(const TimeStep& step);
  void MarkDamaged(const std::vector<std::int64_t>& known, container::ContainerWriter& into);
  std::size_t ConvertSteps(const Series& series, const std::vector<TimeStep>& steps);
  std::size_t ExportSteps(const std::vector<TimeStep>& steps);
  void Open(const TimeStep& step);
  /// A function that converts or exports the open step, and calls `progress` with the finished fraction.
  using Work = std::function<ConversionResult(const std::function<void(double)>& progress)>;
  void WriteStep(const TimeStep& step, std::size_t index, std::size_t count, const Work& work);

  const ConvertArguments& Settings;
  Session& CommandSession;
  probe::Progress ProgressBar;
  const Stopwatch Timer;
  std::shared_ptr<OpenedStep> Opened;
  std::string OpenedPath;
  ConversionResult Total;      ///< bytes of all steps; the other members are empty
  bool CreatedFolder = false;  ///< true if this run created the folder of the export; on rank 0
};

void Conversion::Run()
{
  Communicator& ranks = this->CommandSession.Ranks();
  const Series series = OpenSeries(ranks, {this->Settings.From}, {}, IndexMode::ReadOnly);
  for (const std::string& warning : series.Warnings) {
    this->CommandSession.Warn(warning);
  }
  const std::vector<TimeStep> steps = SelectSteps(series, this->Settings.From, this->Settings.Steps);
  const bool isIncomplete = !series.Warnings.empty() && this->Settings.Steps.empty();
  if (isIncomplete && this->Settings.Overwrite && !this->Settings.Export &&
      container::IsContainer(this->Settings.To)) {
    throw Error(
        fmt::format("{} is incomplete, so {} was not replaced. Restore the missing data, or select existing "
                    "steps with --steps.",
            this->Settings.From, this->Settings.To));
  }
  if (this->Settings.Export) {
    this->CommandSession.OnRoot([&] {
      std::error_code fault;
      this->CreatedFolder = fs::create_directory(this->Settings.To, fault);
      if (fault) {
        throw SystemError(this->Settings.To, "a folder that can be created", fault.value(),
            "Check that the parent folder exists and is writable");
      }
      this->CheckTargets(steps);
    });
  }
  std::size_t done = 0;
  try {
    done = this->Settings.WritesPieces() ? this->ExportSteps(steps) : this->ConvertSteps(series, steps);
  } catch (const Error&) {
    this->RemoveUnfinished();
    throw;
  }
  this->RemoveUnfinished();
  this->CommandSession.Print(
      fmt::format("{}: {} written{}, {}, {:.2f} s", this->Settings.To, CountText(done, "step"),
          done < steps.size() ? fmt::format(" ({} already complete)", CountText(steps.size() - done, "step"))
                              : "",
          this->SizeText(this->Total), this->Timer.Seconds()));
  if (isIncomplete) {
    throw Error(this->Settings.From + " is incomplete. Restore the missing data, and repeat the command.");
  }
}

/// Returns the number of bytes of the values and, with --compress, of the files, as text.
std::string Conversion::SizeText(const ConversionResult& result) const
{
  const std::string values = ByteText(static_cast<double>(result.Bytes));
  return this->Settings.CompressionName == "off" ? values
                                                 : fmt::format("{} of values, stored in {}", values,
                                                       ByteText(static_cast<double>(result.FileBytes)));
}

/// Throws Error if `time`, the time of the container's step, differs from the time of `step`. An unknown time
/// (NaN) of `step` causes no error.
void Conversion::CheckSameRun(const TimeStep& step, double time) const
{
  if (step.Time != time && !std::isnan(step.Time)) {
    throw FileError(this->Settings.To,
        fmt::format("step {} of {}, at time {}", step.Step, this->Settings.From, step.Time),
        fmt::format("a step at time {}", time),
        "The container holds another run: choose another name, or replace the container with --overwrite");
  }
}

/// Throws Error unless the container's step with the number of `step` has the variables that a conversion of
/// `step` would write.
/// Collective: every rank of the communicator calls it.
void Conversion::CheckSameVariables(const TimeStep& step)
{
  this->Open(step);
  const VariableTexts wanted = VariablesToWrite(this->CommandSession.Ranks(), *this->Opened, this->Settings);
  this->CommandSession.OnRoot([&] {
    const auto log = container::ReadLog(this->Settings.To);
    for (const container::LoggedStep& logged : log->Steps) {
      if (logged.Head.Step != step.Step) {
        continue;
      }
      const container::StepRecord record = container::RecordOf(this->Settings.To, logged);
      const VariableTexts found = DescribeVariables(record.Data.Variables, record.Types);
      if (found != wanted) {
        throw FileError(this->Settings.To,
            fmt::format("step {} with the selected variables: {}", step.Step, fmt::join(wanted, ", ")),
            fmt::format("the step with {}", fmt::join(found, ", ")),
            "Select the same variables (--variables), choose another name, or replace the container with "
            "--overwrite");
      }
    }
  });
}

/// Marks and reports the damaged steps among `known`, numbers of steps of the container, so that this run
/// writes the damaged steps again. Collective: every rank of the communicator calls it.
void Conversion::MarkDamaged(const std::vector<std::int64_t>& known, container::ContainerWriter& into)
{
  const std::vector<std::string> faults = FaultsOfSteps(this->CommandSession.Ranks(), this->Settings.To,
      known, this->Settings.CheckValues, this->Settings.Threads);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!faults[i].empty()) {
      into.MarkForReplacement(known[i]);
      this->CommandSession.Print(
          fmt::format("Step {} is damaged, and the run writes the step again: {}", known[i], faults[i]));
    }
  }
}

/// Converts the steps that are missing or damaged in the container. Returns the number of converted steps.
/// Collective: every rank of the communicator calls it.
std::size_t Conversion::ConvertSteps(const Series& series, const std::vector<TimeStep>& steps)
{
  container::ContainerWriter into(this->CommandSession.Ranks(), this->Container(),
      {this->Settings.Overwrite || this->Settings.Export, this->Settings.RanksPerFile});
  std::vector<std::int64_t> existing;
  for (const TimeStep& step : steps) {
    if (into.Has(step.Step)) {
      this->CheckSameRun(step, into.TimeOf(step.Step));
      existing.push_back(step.Step);
    }
  }
  const auto known = std::find_if(
      series.Steps.rbegin(), series.Steps.rend(), [&](const TimeStep& step) { return into.Has(step.Step); });
  if (known != series.Steps.rend()) {
    this->CheckSameVariables(*known);
  }
  this->MarkDamaged(existing, into);
  std::size_t done = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!into.Has(steps[i].Step)) {
      this->WriteStep(steps[i], i, steps.size(), [&](const auto& progress) {
        return ConvertStep(this->CommandSession.Ranks(), *this->Opened, this->Settings, into, progress);
      });
      ++done;
    }
  }
  return done;
}

/// Exports all steps in VTK's XML formats, and writes `steps.pvd`. Returns the number of steps. Collective:
/// every rank of the communicator calls it.
std::size_t Conversion::ExportSteps(const std::vector<TimeStep>& steps)
{
  Series series;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    this->WriteStep(steps[i], i, steps.size(), [&](const auto& progress) {
      return ExportPieces(this->CommandSession.Ranks(), *this->Opened, this->Settings, this->Settings.To,
          StepFileName(steps[i]), progress);
    });
    series.Steps.push_back(steps[i]);
    series.Steps.back().Time = this->Opened->Data().Time;
  }
  this->CommandSession.OnRoot([&] { WritePvdFile(series, this->Settings.To); });
  return steps.size();
}

void Conversion::Open(const TimeStep& step)
{
  if (!this->Opened || this->OpenedPath != step.Path) {
    this->Opened = std::make_shared<OpenedStep>(this->CommandSession.Ranks(), step.Path, IndexMode::ReadOnly);
    this->OpenedPath = step.Path;
    this->CommandSession.Warn(this->Opened->Warning());
  }
  this->Opened->SetStep(this->CommandSession.Ranks(), step);
}

void Conversion::WriteStep(const TimeStep& step, std::size_t index, std::size_t count, const Work& work)
{
  this->Open(step);
  const auto progress = [&](double part) {
    const double all = (static_cast<double>(index) + part) / static_cast<double>(count);
    if (this->Timer.Seconds() < SecondsWithoutBar) {
      return;
    }
    this->ProgressBar.Show(
        all, all > 0 ? this->Timer.Seconds() * (1 - all) / all : 0, fmt::format("step {}", step.Step));
  };
  ConversionResult result = work(progress);
  for (const std::string& file : result.Record.Files) {
    result.FileBytes += SizeOfFile(this->Container() + "/" + file).value_or(0);
  }
  this->Total.Bytes += result.Bytes;
  this->Total.FileBytes += result.FileBytes;
  if (this->Settings.Export && !this->Settings.WritesPieces()) {
    this->CommandSession.OnRoot([&] { this->MoveOutOfContainer(result.Record); });
  }
  this->CommandSession.Print(
      fmt::format("step {}: {}, {}, {}", step.Step, CountText(result.Patches, "patch", "patches"),
          CountText(result.Arrays, "array"), this->SizeText(result)));
}

/// Throws Error if a file exists that the user does not want to replace, or if the folder for the pieces of a
/// step exists without the .vtm file, so that the folder may have other contents.
void Conversion::CheckTargets(const std::vector<TimeStep>& steps) const
{
  for (const TimeStep& step : steps) {
    const std::string name = this->Settings.To + "/" + StepFileName(step);
    const std::string file = name + (this->Settings.WritesPieces() ? ".vtm" : ".hdf");
    if (fs::exists(file) && !this->Settings.Overwrite) {
      throw FileError(file, "an unused name", "an existing file",
          "Choose another folder, or replace files with --overwrite");
    }
    if (this->Settings.WritesPieces() && fs::exists(name) && !fs::exists(file)) {
      throw FileError(name, "an unused name, or the pieces of " + file, "other files",
          "Choose another folder, or remove these files");
    }
  }
}

/// Moves the file of a step out of the temporary container. Warns about variables that other programs do not
/// show. Throws Error if other programs show nothing.
void Conversion::MoveOutOfContainer(const container::StepRecord& record) const
{
  std::set<std::string> hidden;
  for (const container::DataSet& set : record.DataSets) {
    if (!BeginsWith(set.Name, "VTKHDF/")) {
      hidden.insert("'" + record.Data.Variables[set.Variable].Name + "'");
    }
  }
  const bool hidesAll = !hidden.empty() && hidden.size() == record.Data.Variables.size();
  if (hidesAll || container::ProfileOf(record.Data, 1) == container::FileProfile::Custom) {
    throw FileError(this->Settings.From,
        "uniform boxes on refinement levels, or a mesh whose partitions all have points and the same lists "
        "of cells",
        "data that no VTKHDF type can represent", "Use --format vtm");
  }
  if (!hidden.empty()) {
    this->CommandSession.Warn(
        fmt::format("Step {}: programs without PatchIO do not show {}, which some patches lack.",
            record.Data.Step, PlainText(fmt::format("{}", fmt::join(hidden, ", ")))));
  }
  fs::rename(this->Container() + "/" + record.Files[0],
      this->Settings.To + "/" + container::RenamedFile(record.Files[0], container::FileNames::Usual));
}

/// Adds the options that `convert` and `export` share.
void AddOptions(CLI::App& command, ConvertArguments& options)
{
  command.add_option("--variables", options.Names, "Names of the variables to write (default: all)")
      ->delimiter(',');
  command.add_option("--steps", options.Steps, "Numbers of the time steps to write (default: all)")
      ->delimiter(',');
  command.add_option("--levels", options.Levels, "First and last level to write (default: all)")->expected(2);
  command
      .add_option("--region", options.RegionBounds,
          "Write only patches that touch this box: XMIN,XMAX,YMIN,YMAX,ZMIN,ZMAX")
      ->expected(6);
  command.add_option("--threads", options.Threads, "Number of threads per rank, for reading and for writing")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void SetCallback(CLI::App& command, const std::shared_ptr<ConvertArguments>& options, Session& session)
{
  command.callback([options, &session] {
    ResolveOptions(*options);
    Conversion(*options, session).Run();
  });
}

}  // namespace

void AddExport(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("export",
      "Write time steps for programs without PatchIO into a folder, as VTKHDF files or in VTK's XML formats. "
      "Run this command under mpirun to use several ranks");
  const auto options = std::make_shared<ConvertArguments>();
  options->Export = true;
  AddPath(*command, options->From);
  command
      ->add_option(
          "folder", options->To, "Folder for the files step.000010.hdf or step.000010.vtm; created if needed")
      ->required();
  command
      ->add_option("--format", options->Format,
          "vtkhdf: one file per time step, for meshes and for uniform grids on refinement levels; vtm: all "
          "data that PatchIO reads, one .vti, .vtr, .vts, .vtu or .vtp file per patch, and steps.pvd to open "
          "all time steps")
      ->check(CLI::IsMember({"vtkhdf", "vtm"}))
      ->capture_default_str();
  command->add_flag("--overwrite", options->Overwrite, "Replace time steps that exist in the folder");
  AddOptions(*command, *options);
  SetCallback(*command, options, session);
}

void AddConvert(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("convert",
      "Convert data of any supported format into a container (NAME.pio), which opens at once and reads fast. "
      "An interrupted conversion resumes: the command converts only the time steps that the container lacks, "
      "and those whose files are missing, truncated or damaged. Run this command under mpirun to use several "
      "ranks");
  const auto options = std::make_shared<ConvertArguments>();
  AddPath(*command, options->From);
  command->add_option("container", options->To, "The container to write: a folder, usually NAME.pio")
      ->required();
  AddOptions(*command, *options);
  command
      ->add_option("--ranks-a-file", options->RanksPerFile,
          "Number of ranks that share one file per time step; 0: all ranks write one file. Programs without "
          "PatchIO can open a time step only if it is a single file")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--compress", options->CompressionName,
          "deflate: readable by every program that uses HDF5; zstd: faster to read, but other programs need "
          "the HDF5 plugin for zstd; auto: deflate for variables that shrink by at least a tenth. A "
          "compressed time step stays in memory until it is written")
      ->check(CLI::IsMember({"off", "deflate", "zstd", "auto"}))
      ->capture_default_str();
  command->add_flag("--check", options->CheckValues,
      "Compare the values of all existing time steps with their checksums, and write damaged steps again");
  command
      ->add_flag("--overwrite", options->Overwrite,
          "Replace an existing container when the new container has its first time step")
      ->excludes("--check");
  SetCallback(*command, options, session);
}

}  // namespace patchio::tools
