#include "Base/Communicator.h"
#include "Base/Error.h"
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

/// Prints a line for each fault, and counts them.
class Verification
{
public:
  Verification(const SeriesArguments& options, const Session& session) : How(options), Out(session) {}

  /// Throws Error if the check finds any fault.
  void Run();

private:
  void CheckSteps(const Series& series);
  void CheckContainer(const Series& series);
  void Judge(const StepFacts& facts);
  void Fault(const std::string& text)
  {
    this->Out.Print(text);
    ++this->Faults;
  }
  /// Reports a fault outside the steps, as a warning if the user has selected one step.
  void FaultElsewhere(const std::string& text)
  {
    if (this->How.Step) {
      this->Out.Warn(text);
    } else {
      this->Fault(text);
    }
  }

  const SeriesArguments& How;
  const Session& Out;
  std::set<std::string> Files;
  std::set<std::string> Printed;  ///< faults of steps that have been printed
  std::uint64_t Steps = 0, Arrays = 0, Faults = 0;
};

void Verification::Run()
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  SeriesOptions options;
  options.ListedOnly = this->How.ListedOnly;
  const Series series = OpenSeries(*alone, {this->How.Path}, options);
  for (const std::string& warning : series.Warnings) {
    const bool ofStep = series.Steps.size() == 1 || warning.rfind(series.Steps.front().Path + ": ", 0) == 0;
    ofStep ? this->Fault(warning) : this->FaultElsewhere(warning);
  }
  const std::string indexFile = SeriesIndexFile(this->How.Path, IndexMode::ReadOnly).Warning();
  // The index file of a single step is checked with that step.
  if (!indexFile.empty() && series.Steps.back().Path != AbsolutePath(this->How.Path)) {
    this->FaultElsewhere(indexFile);
  }
  this->CheckSteps(series);
  if (IsInContainer(this->How.Path)) {
    this->CheckContainer(series);
  }
  const std::string looked = fmt::format("{}, {} in {}", CountText(this->Steps, "step"),
      CountText(this->Arrays, "array"), CountText(this->Files.size(), "file"));
  if (this->Faults > 0) {
    throw Error(fmt::format("{}: {} in {}.", this->How.Path, CountText(this->Faults, "fault"), looked));
  }
  this->Out.Print("intact: " + looked);
}

void Verification::CheckSteps(const Series& series)
{
  const Format& format = FormatOf(this->How.Path);
  std::set<std::string> seen;
  bool indexed = false;
  for (const TimeStep& step : SelectSteps(series, this->How.Path, this->How.Step)) {
    ++this->Steps;
    // A step that needs no index may have its own files, and its check is quick.
    if (seen.insert(step.Path).second || !indexed) {
      const StepFacts facts = InspectStep(format, step, false, this->How.Threads);
      indexed = facts.NeedsIndexFile;
      this->Judge(facts);
    }
  }
}

void Verification::CheckContainer(const Series& series)
{
  const LogFindings log = CheckLog(this->How.Path);
  for (const std::string& fault : log.Faults) {
    this->FaultElsewhere(fault);
  }
  for (const std::string& note : log.Notes) {
    this->Out.Print("note: " + note);
  }
  for (const TimeStep& step : SelectSteps(series, this->How.Path, this->How.Step)) {
    std::vector<std::string> faults;
    const std::string broken = CatchError([&] { faults = FaultsOfValues(step, this->How.Threads); });
    for (const std::string& fault : broken.empty() ? faults : std::vector<std::string>{broken}) {
      if (this->Printed.insert(fault).second) {
        this->Fault(fmt::format("step {}: {}", step.Step, fault));
      }
    }
  }
}

void Verification::Judge(const StepFacts& facts)
{
  const std::string name = fmt::format("step {}: ", facts.Step.Step);
  if (!facts.NotOpened.empty()) {
    this->Fault(name + facts.NotOpened);
    this->Printed.insert(facts.NotOpened);
  }
  for (const FileFaults& fault : facts.Faults) {
    this->Fault(fmt::format("{}{} cannot be read. {}", name, CountText(fault.Arrays, "array"), fault.First));
    this->Printed.insert(fault.First);
  }
  const IndexFileState* const indexFile = FaultyIndexFile(facts.IndexFile);
  if (indexFile && indexFile->Fault != FileFault::Foreign) {  // an index file of another version is harmless
    this->Fault(fmt::format("{}the index file {} is {}: {} Run 'patchio index' to write it again.", name,
        indexFile->Where.Path, NameOf(indexFile->Fault), ReasonOf(*indexFile)));
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
