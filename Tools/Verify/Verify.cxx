#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Info/StepFacts.h"
#include "Read/CollectiveCalls.h"
#include "Session.h"
#include "Store/SeriesIndexFile.h"
#include "Subcommands.h"
#include "Verify/ContainerCheck.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

namespace patchio::tools {
namespace {

/// Prints a line for each fault, and counts the faults.
class Verification
{
public:
  Verification(const SeriesArguments& options, const Session& session)
      : Arguments(options), CommandSession(session)
  {
  }

  /// Runs all checks. Throws Error if a check finds a fault.
  void Run();

private:
  void CheckSteps(const Series& series);
  void CheckContainer(const Series& series);
  void ReportStep(const StepFacts& facts);
  void ReportFault(const std::string& text)
  {
    this->CommandSession.Print(text);
    ++this->Faults;
  }
  /// Reports a fault outside the steps, as a warning if the user has selected one step.
  void ReportOtherFault(const std::string& text)
  {
    if (this->Arguments.Step) {
      this->CommandSession.Warn(text);
    } else {
      this->ReportFault(text);
    }
  }

  const SeriesArguments& Arguments;
  const Session& CommandSession;
  std::set<std::string> Files;
  std::set<std::string> Printed;  ///< faults of steps that have been printed
  std::uint64_t Steps = 0, Arrays = 0, Faults = 0;
};

void Verification::Run()
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  const Series series = OpenSeries(*alone, {this->Arguments.Path}, {this->Arguments.ListedOnly});
  for (const std::string& warning : series.Warnings) {
    const bool ofStep = series.Steps.size() == 1 || BeginsWith(warning, series.Steps.front().Path + ": ");
    ofStep ? this->ReportFault(warning) : this->ReportOtherFault(warning);
  }
  const std::string indexFile = SeriesIndexFile(this->Arguments.Path, IndexMode::ReadOnly).Warning();
  // The index file of a single step is checked with that step.
  if (!indexFile.empty() && series.Steps.back().Path != AbsolutePath(this->Arguments.Path)) {
    this->ReportOtherFault(indexFile);
  }
  this->CheckSteps(series);
  if (IsInContainer(this->Arguments.Path)) {
    this->CheckContainer(series);
  }
  const std::string checked = fmt::format("{}, {} in {}", CountText(this->Steps, "step"),
      CountText(this->Arrays, "array"), CountText(this->Files.size(), "file"));
  if (this->Faults > 0) {
    throw Error(
        fmt::format("{}: {} in {}.", this->Arguments.Path, CountText(this->Faults, "fault"), checked));
  }
  this->CommandSession.Print("intact: " + checked);
}

void Verification::CheckSteps(const Series& series)
{
  const Format& format = FormatOf(this->Arguments.Path);
  std::set<std::string> seen;
  bool indexed = false;
  for (const TimeStep& step : SelectSteps(series, this->Arguments.Path, this->Arguments.Numbers())) {
    ++this->Steps;
    // Steps with the same path that need no index file may have different data files. Their check is fast.
    if (seen.insert(step.Path).second || !indexed) {
      const StepFacts facts = InspectStep(format, step, false, this->Arguments.Threads);
      indexed = facts.NeedsIndexFile;
      this->ReportStep(facts);
    }
  }
}

void Verification::CheckContainer(const Series& series)
{
  const LogFindings log = CheckLog(this->Arguments.Path);
  for (const std::string& fault : log.Faults) {
    this->ReportOtherFault(fault);
  }
  for (const std::string& note : log.Notes) {
    this->CommandSession.Print("note: " + note);
  }
  for (const TimeStep& step : SelectSteps(series, this->Arguments.Path, this->Arguments.Numbers())) {
    std::vector<std::string> faults;
    const std::string broken = CatchError([&] { faults = FaultsOfValues(step, this->Arguments.Threads); });
    for (const std::string& fault : broken.empty() ? faults : std::vector<std::string>{broken}) {
      if (this->Printed.insert(fault).second) {
        this->ReportFault(fmt::format("step {}: {}", step.Step, fault));
      }
    }
  }
}

void Verification::ReportStep(const StepFacts& facts)
{
  const std::string name = fmt::format("step {}: ", facts.Step.Step);
  if (!facts.OpenError.empty()) {
    this->ReportFault(name + facts.OpenError);
    this->Printed.insert(facts.OpenError);
  }
  for (const FileFaults& fault : facts.Faults) {
    this->ReportFault(
        fmt::format("{}{} cannot be read. {}", name, CountText(fault.Arrays, "array"), fault.FirstMessage));
    this->Printed.insert(fault.FirstMessage);
  }
  const RejectedIndexFile* const indexFile = FaultyIndexFile(facts.IndexFile);
  if (indexFile && indexFile->Fault != FileFault::Foreign) {  // an index file of another version is harmless
    this->ReportFault(
        fmt::format("{}the index file {} is {}: {} Run 'patchio index' to write a new index file.", name,
            indexFile->File.Path, NameOf(indexFile->Fault), ReasonOf(*indexFile)));
  }
  this->Arrays += facts.Arrays;
  this->Files.insert(facts.Files.begin(), facts.Files.end());
}

}  // namespace

void AddVerify(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("verify",
      "Check that data are complete: all files, all arrays in full length, and valid index files. In "
      "containers, the command also compares the values with their checksums. Exit code 0: no faults, 1: "
      "faults found, 2: wrong arguments");
  const auto options = std::make_shared<SeriesArguments>();
  AddSeriesArguments(*command, *options);
  command->callback([options, &session] { session.OnRoot([&] { Verification(*options, session).Run(); }); });
}

}  // namespace patchio::tools
