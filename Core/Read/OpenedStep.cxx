#include "Read/OpenedStep.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Read/CollectiveCalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace patchio {

OpenedStep::OpenedStep(
    Communicator& ranks, const std::string& path, IndexMode mode, const IndexSettings& settings)
    : Mode(mode), Settings(settings), Describing(StateOfDescribingFile(path))
{
  if (ReadsIndexFiles(mode)) {
    IndexFileSearch search = FindStepIndexFile(ranks, path, settings);
    this->WarningText = search.Warning();
    if (search.Found) {
      this->Description = std::make_shared<const Catalog>(std::move(search.Found->Data));
      this->KnownIndex = std::make_shared<const StepIndex>(std::move(search.Found->Index));
      this->IsFromFile = true;
      this->IndexFile = search.Found->Path;
      this->OriginText = "from the index file " + this->IndexFile;
      return;
    }
  }
  this->Description = std::make_shared<const Catalog>(ReadCatalog(ranks, path));
}

void OpenedStep::SetStep(Communicator& ranks, const TimeStep& step)
{
  if (step.StepInFile < 0 || step.StepInFile >= this->Description->StepsInFile) {
    throw FileError(this->Description->Path, fmt::format("step {} of the file", step.StepInFile + 1),
        fmt::format("{} steps", this->Description->StepsInFile),
        "Use File > Reload Files, or Reload() in scripts");
  }
  const Catalog& now = *this->Description;
  if (std::tie(now.Time, now.Step, now.Date, now.StepInFile) ==
      std::tie(step.Time, step.Step, step.Date, step.StepInFile)) {
    return;
  }
  if (now.PatchesChange && now.StepInFile != step.StepInFile) {
    RunOnAllRanks(ranks, [this] { this->CheckUnchanged(); });  // a rank may see the change before other ranks
    this->Description = std::make_shared<const Catalog>(ReadCatalog(ranks, step));
    return;
  }
  auto changed = std::make_shared<Catalog>(*this->Description);
  patchio::SetStep(*changed, step);
  this->Description = std::move(changed);
}

bool OpenedStep::Prepare(Communicator& ranks, int threads, const ProgressCallback& progress)
{
  const bool several = this->Mode == IndexMode::Off && this->Description->StepsInFile > 1;
  if (this->KnownIndex || this->BuildTried || !(WritesIndexFiles(this->Mode) || several)) {
    return true;
  }
  try {
    this->BuildTried = this->Build(ranks, threads, progress);
    return this->BuildTried;
  } catch (const Error& error) {
    // All ranks have the same error.
    this->BuildTried = true;
    this->KnownIndex.reset();
    this->OriginText = fmt::format("not indexed: {}", error.what());
  }
  return true;
}

/// Builds the index if the format needs an index, and saves it if the mode writes index files. Returns false
/// if `progress` stopped the ranks. Collective: every rank of the communicator calls it.
bool OpenedStep::Build(Communicator& ranks, int threads, const ProgressCallback& progress)
{
  const Stopwatch watch;
  const Format* found = nullptr;
  RunOnAllRanks(ranks, [&] { found = &FormatOf(this->Description->Path); });
  const Format& format = *found;
  this->IndexNeeded = format.NeedsIndex(*this->Description);
  if (!this->IndexNeeded) {
    this->OriginText = fmt::format("{} lists the locations of all values", this->Description->Path);
    return true;
  }
  this->Settings.Threads = threads;
  std::optional<BuiltIndex> index =
      patchio::BuildIndex(ranks, format, *this->Description, this->Settings, progress);
  if (!index) {
    return false;
  }
  BuiltIndex& built = *index;
  const double seconds = watch.Seconds();
  if (built.MissingArrays > 0) {
    this->MissingArrays = built.MissingText();
  }
  if (WritesIndexFiles(this->Mode)) {
    this->Outcome =
        SaveStepIndexFile(ranks, format, *this->Description, built, this->Describing, this->Settings);
    this->IndexFile = this->Outcome.Path;
    this->OriginText = fmt::format("indexed by {} in {:.3f} s, ", CountText(ranks.Size(), "rank"), seconds) +
                       (this->Outcome.Path.empty() ? "not saved: " + this->Outcome.Reason
                                                   : "saved to " + this->Outcome.Path);
  }
  InvalidateRecentFingerprints(built, this->Describing, this->Settings.SettleSeconds);
  this->KnownIndex = std::make_shared<const StepIndex>(std::move(built.Index));
  this->Notes = std::move(built.Notes);
  return true;
}

bool OpenedStep::IsComplete(Communicator& ranks, int threads)
{
  this->Prepare(ranks, threads);
  if (this->KnownIndex) {
    return this->MissingArrays.empty();
  }
  return BoolOfRankZero(ranks, [&] {
    std::vector<PatchVariable> all;
    for (int variable = 0; variable < static_cast<int>(this->Description->Variables.size()); ++variable) {
      for (int patch = 0; patch < static_cast<int>(this->Description->Patches.size()); ++patch) {
        all.push_back({patch, variable});
      }
    }
    const LocationTable table = this->Locate(all, threads);
    return std::none_of(table.Locations.begin(), table.Locations.end(),
        [](const Location& location) { return location.Kind == Encoding::Missing; });
  });
}

bool OpenedStep::IsUnchanged() const
{
  const std::optional<FileState> now = StateOf(this->Description->Path);
  return !now || !this->Describing.Before || now->Print == this->Describing.Before->Print;
}

/// Throws Error if the describing file has changed, because the catalog would no longer match the values.
void OpenedStep::CheckUnchanged() const
{
  if (!this->IsUnchanged()) {
    throw FileError(this->Description->Path, "the file that was opened", "a newer file",
        "Use File > Reload Files, or Reload() in scripts");
  }
}

FileFingerprints OpenedStep::DescribingFingerprint() const
{
  return {{this->Description->Path,
      TrustedFingerprint(this->Describing.Before, this->Describing.Now, this->Settings.SettleSeconds)}};
}

LocationTable OpenedStep::Locate(const std::vector<PatchVariable>& requests, int threads,
    const ProgressCallback& progress, bool verify) const
{
  this->CheckUnchanged();
  if (requests.empty()) {
    return {};
  }
  if (this->KnownIndex && !verify) {
    IndexAnswer answer = this->KnownIndex->Index.Find(*this->Description, requests);
    const auto states = StatesOf(answer.Table.Files, threads);
    bool holds = answer.Complete;
    for (std::size_t i = 0; i < states.size(); ++i) {
      holds = holds && states[i] && states[i]->Print == this->KnownIndex->Prints[answer.Files[i]];
    }
    if (holds) {
      answer.Table.Notes = this->Notes;
      return std::move(answer.Table);
    }
  }
  return FormatOf(this->Description->Path)
      .Locate(*this->Description, requests, {threads, false, progress, verify});
}

}  // namespace patchio
