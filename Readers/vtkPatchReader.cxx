#include "vtkPatchReader.h"

#include "Exec/ProgressText.h"
#include "FilterThreads.h"
#include "Formats/TimeLookup.h"
#include "PatchAssembler.h"
#include "PatchUpdate.h"
#include "Plan/ThreadBudget.h"
#include "Prefetcher.h"
#include "Read/AutomaticThreads.h"
#include "Read/OpenedSteps.h"
#include "Read/ReportData.h"
#include "Read/SharedCatalog.h"
#include "Read/ValueCache.h"
#include "Support/Error.h"
#include "Support/Memory.h"
#include "Support/Stopwatch.h"
#include "Support/Together.h"
#include "ThreadData.h"

#include <vtkCommand.h>
#include <vtkDataArraySelection.h>
#include <vtkDataObject.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMPI.h>
#include <vtkMPICommunicator.h>
#include <vtkMPIController.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

using namespace patchio;

namespace {

std::unique_ptr<Communicator> MakeCommunicator(vtkMultiProcessController* controller)
{
  auto* mpi = vtkMPIController::SafeDownCast(controller);
  if (mpi && mpi->GetNumberOfProcesses() > 1) {
    auto* communicator = vtkMPICommunicator::SafeDownCast(mpi->GetCommunicator());
    return MakeMpiCommunicator(*communicator->GetMPIComm()->GetHandle());
  }
  return MakeSelfCommunicator();
}

/// The last part of a path that says which: dumps and plotfiles are folders of files that are all named
/// alike.
std::string ShortName(const std::string& path)
{
  const std::filesystem::path whole(path);
  const std::string name = whole.filename().string();
  const std::string folder = whole.parent_path().filename().string();
  return name == "summary.samrai" || name == "Header" ? folder : name;
}

// Where the stages of an update begin, of 1.
constexpr double ProgressLocate = 0.02;
constexpr double ProgressRead = 0.05;
constexpr double ProgressBuild = 0.9;

}  // namespace

/// What is kept between updates, and the steps of one update.
struct vtkPatchReader::Internals
{
  std::vector<std::string> FileNames;
  vtkNew<vtkDataArraySelection> CellArrays;
  vtkNew<vtkDataArraySelection> PointArrays;
  vtkSmartPointer<vtkMultiProcessController> Controller;
  std::unique_ptr<Communicator> Ranks = MakeSelfCommunicator();

  std::shared_ptr<SlabPool> Memory = std::make_shared<SlabPool>();
  std::shared_ptr<ValueCache> Cache = std::make_shared<ValueCache>();
  int RanksOnMachine = 0;  ///< 0: not known yet
  int Cores = 0;           ///< of this rank; 0: not known yet
  bool SeriesIsOpen = false;
  bool NewFiles = true;     ///< other files than before: their variables replace the old ones
  std::string NoSoundStep;  ///< why no step at all can be opened; empty while one may
  std::size_t LastStep = 0;
  Series Steps;
  std::vector<double> Times;
  OpenedSteps Opened;
  std::shared_ptr<OpenedStep> Step;  ///< null when there is none
  std::string CurrentPath;           ///< of Step; empty when there is none
  ChannelMode Channel = ChannelMode::On;
  KeptFrames Frames;              ///< of the update before
  std::set<std::string> Rebuilt;  ///< steps that need not be rebuilt again
  bool ChannelWarned = false;     ///< one warning about damaged sidecars is enough
  double OpenSeconds = 0;         ///< spent on opening since the last report
  double IndexSeconds = 0;        ///< spent on indexing and saving in this update
  ReadProgress Progress;          ///< of the last read, as last known
  AutomaticThreads Automatic;     ///< used in that thread mode
  Prefetcher Ahead;
  std::string Report;
  ReportData Data;         ///< the report in numbers, and those of the reads before
  std::string ReportJson;  ///< what was made of Data
  bool Opening = false;    ///< names found in files are no change by the user

  void Forget()
  {
    this->Ahead.Stop();
    this->SeriesIsOpen = false;
    this->CurrentPath.clear();
    this->NoSoundStep.clear();
    this->RangesKey.clear();
    this->Frames = KeptFrames();
    this->Opened.Clear();
    this->Cache->Clear();
    this->Rebuilt.clear();
    this->ChannelWarned = false;
  }

  const Catalog& Current() const { return this->Step->Data(); }
  ChannelMode ModeFor(const std::string& path) const;
  void PrepareStep(int threads);
  std::string ChannelWarning();
  void OpenSeries(bool listedOnly);
  void OpenAnyStep();
  void OpenStep(std::size_t step);
  void OfferVariables();
  void DropStrangers(vtkDataArraySelection* arrays, Centering centering) const;
  bool Selected(const Variable& variable) const;
  Int3 GhostsToRead(const Catalog& catalog) const;
  std::vector<VariableRequest> SelectedVariables(const Catalog& catalog, const Int3& ghosts) const;
  std::size_t WantedStep(vtkInformation* info) const;
  LoadRequest MakeRequest(const vtkPatchReader& settings, const Catalog& catalog, const Int3& ghosts) const;
  UpdateOptions MakeOptions(
      const vtkPatchReader& settings, const Catalog& catalog, vtkInformation* info) const;
  std::shared_ptr<OpenedStep> OpenAhead(std::size_t step, int threads);
  void Adopt(StepAhead& ahead);
  void SizeCache(int megabytes);
  std::string NothingIsShown(const int levelRange[2]) const;
  const std::vector<patchio::ValueRange>& RangesOf(int variable);
  void MakeReport(IoReport mine, const ThreadsUsed& threads, const std::string& warning, bool cancelled);

  std::string RangesKey;  ///< step and variable of Ranges
  std::vector<patchio::ValueRange> Ranges;
};

void vtkPatchReader::Internals::OpenSeries(bool listedOnly)
{
  const Stopwatch watch;
  SeriesOptions options;
  options.ListedOnly = listedOnly;
  this->Steps = OpenSharedSeries(*this->Ranks, this->FileNames, options, this->Channel);
  this->Times = TimeValues(this->Steps);
  this->SeriesIsOpen = true;
  this->OpenSeconds += watch.Seconds();
}

/// Opens the step that is shown or, at first, the first sound one: its variables fill the selections. Whether
/// the wanted step is sound is RequestData's business.
void vtkPatchReader::Internals::OpenAnyStep()
{
  if (!this->NoSoundStep.empty()) {
    throw Error(this->NoSoundStep);
  }
  const std::size_t steps = this->Steps.Steps.size();
  for (std::size_t i = 0; this->CurrentPath.empty() && i < steps; ++i) {
    try {
      this->OpenStep((this->LastStep + i) % steps);
    } catch (const Error& error) {
      if (i + 1 == steps) {
        this->NoSoundStep = error.what();
        throw;
      }
    }
  }
}

void vtkPatchReader::Internals::OpenStep(std::size_t step)
{
  const std::string& path = this->Steps.Steps[step].Path;
  if (path == this->CurrentPath) {
    // All ranks have the same catalog, so all of them throw or none.
    this->Step->TurnTo(this->Steps.Steps[step]);
    this->LastStep = step;
    return;
  }
  const Stopwatch watch;
  this->CurrentPath.clear();
  this->Step.reset();
  this->Step = this->Opened.Open(*this->Ranks, path, this->ModeFor(path));
  this->Step->TurnTo(this->Steps.Steps[step]);
  this->CurrentPath = path;
  this->LastStep = step;
  this->OfferVariables();
  this->OpenSeconds += watch.Seconds();
}

/// Opens a step that is not shown yet, and leaves all else as it is.
std::shared_ptr<OpenedStep> vtkPatchReader::Internals::OpenAhead(std::size_t step, int threads)
{
  const Stopwatch watch;
  const std::string& path = this->Steps.Steps[step].Path;
  std::shared_ptr<OpenedStep> opened =
      path == this->CurrentPath ? this->Step : this->Opened.Open(*this->Ranks, path, this->ModeFor(path));
  opened->Prepare(*this->Ranks, threads);
  if (opened->Data().StepsInFile > 1) {
    // Others are turned to other steps of the file meanwhile.
    opened = std::make_shared<OpenedStep>(*opened);
  }
  opened->TurnTo(this->Steps.Steps[step]);
  if (!opened->Saved().Path.empty()) {
    this->Rebuilt.insert(path);
  }
  this->OpenSeconds += watch.Seconds();
  return opened;
}

/// A step that was opened ahead becomes the one that is shown.
void vtkPatchReader::Internals::Adopt(StepAhead& ahead)
{
  this->CurrentPath = this->Steps.Steps[ahead.Step].Path;
  this->LastStep = ahead.Step;
  this->Step = std::move(ahead.Opened);
  this->OfferVariables();
}

/// A step is rebuilt once, not each time that it is shown.
ChannelMode vtkPatchReader::Internals::ModeFor(const std::string& path) const
{
  const bool rebuilt = this->Channel == ChannelMode::Rebuild && this->Rebuilt.count(path) > 0;
  return rebuilt ? ChannelMode::On : this->Channel;
}

/// Makes sure that all ranks know where the bytes of the open step lie.
void vtkPatchReader::Internals::PrepareStep(int threads)
{
  const Stopwatch watch;
  this->Step->Prepare(*this->Ranks, threads);
  this->IndexSeconds = watch.Seconds();
  if (!this->Step->Saved().Path.empty()) {
    this->Rebuilt.insert(this->CurrentPath);
  }
}

/// What is wrong with the sidecar of the open step, the first time.
std::string vtkPatchReader::Internals::ChannelWarning()
{
  if (this->ChannelWarned || this->Step->Warning().empty()) {
    return {};
  }
  this->ChannelWarned = true;
  return this->Step->Warning();
}

/// Puts the step's variables into the selections. Names that are known already keep their setting.
void vtkPatchReader::Internals::OfferVariables()
{
  this->Opening = true;
  if (this->NewFiles) {
    this->DropStrangers(this->CellArrays, Centering::Cell);
    this->DropStrangers(this->PointArrays, Centering::Node);
    this->NewFiles = false;
  }
  for (std::size_t v = 0; v < this->Current().Variables.size(); ++v) {
    const Variable& variable = this->Current().Variables[v];
    if (static_cast<int>(v) != this->Current().CoordinatesVariable && !variable.Positions) {
      (variable.Center == Centering::Cell ? this->CellArrays : this->PointArrays)
          ->AddArray(variable.Name.c_str());
    }
  }
  this->Opening = false;
}

/// Takes names out of a selection that the step does not have.
void vtkPatchReader::Internals::DropStrangers(vtkDataArraySelection* arrays, Centering centering) const
{
  for (int i = arrays->GetNumberOfArrays() - 1; i >= 0; --i) {
    const int variable = this->Current().FindVariable(arrays->GetArrayName(i));
    if (variable < 0 || this->Current().Variables[variable].Center != centering) {
      arrays->RemoveArrayByIndex(i);
    }
  }
}

bool vtkPatchReader::Internals::Selected(const Variable& variable) const
{
  vtkDataArraySelection* arrays = variable.Center == Centering::Cell ? this->CellArrays : this->PointArrays;
  // What is not offered yet will be on.
  return !arrays->ArrayExists(variable.Name.c_str()) || arrays->ArrayIsEnabled(variable.Name.c_str());
}

Int3 vtkPatchReader::Internals::GhostsToRead(const Catalog& catalog) const
{
  if (catalog.Grid == GridKind::Curvilinear) {
    return catalog.Variables[catalog.CoordinatesVariable].Ghosts;
  }
  Int3 ghosts{0, 0, 0};
  for (const Variable& variable : catalog.Variables) {
    for (int axis = 0; axis < 3 && this->Selected(variable); ++axis) {
      ghosts[axis] = std::max(ghosts[axis], variable.Ghosts[axis]);
    }
  }
  return ghosts;
}

std::vector<VariableRequest> vtkPatchReader::Internals::SelectedVariables(
    const Catalog& catalog, const Int3& ghosts) const
{
  std::vector<VariableRequest> requests;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    if (v == catalog.CoordinatesVariable || catalog.Variables[v].Positions ||
        this->Selected(catalog.Variables[v])) {
      requests.push_back(RequestForVtk(catalog, v, ghosts));
    }
  }
  return requests;
}

std::size_t vtkPatchReader::Internals::WantedStep(vtkInformation* info) const
{
  return info->Has(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP())
             ? StepAtTime(this->Times, info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP()))
             : 0;
}

/// What this rank reads, but for its blocks.
LoadRequest vtkPatchReader::Internals::MakeRequest(
    const vtkPatchReader& settings, const Catalog& catalog, const Int3& ghosts) const
{
  LoadRequest request;
  request.Variables = this->SelectedVariables(catalog, ghosts);
  request.Threads = settings.ThreadsOf(this->Ranks->Rank());
  request.StopAtFault = !settings.SkipBrokenPatches;
  request.Storage = {settings.StorageLatency * 1e-3, settings.StorageBandwidth * 1e6};
  request.Memory = this->Memory;
  request.Memory->SetLimit(std::uint64_t(settings.MemoryLimit) * 1000 * 1000);
  request.Cache = settings.CacheMemory == 0 ? nullptr : this->Cache;
  return request;
}

/// Collective.
void vtkPatchReader::Internals::SizeCache(int megabytes)
{
  if (this->RanksOnMachine == 0) {
    this->RanksOnMachine = patchio::RanksOnMachine(*this->Ranks);
  }
  this->Cache->SetLimit(std::int64_t(megabytes) * 1000 * 1000, this->RanksOnMachine);
  if (megabytes == 0) {
    this->Cache->Clear();
  }
}

UpdateOptions vtkPatchReader::Internals::MakeOptions(
    const vtkPatchReader& settings, const Catalog& catalog, vtkInformation* info) const
{
  UpdateOptions options;
  options.FirstLevel = settings.LevelRange[0];
  options.LastLevel = settings.LevelRange[1];
  options.Ghosts = settings.ReadGhostCells ? this->GhostsToRead(catalog) : Int3{0, 0, 0};
  options.HideRefined = settings.BlankRefinedCells;
  options.SkipBroken = settings.SkipBrokenPatches;
  options.GhostLayer = settings.AddGhostLayer;
  options.PatchIds = settings.AddPatchIds;
  options.PointsAsImage = settings.PointLists == POINTS_AS_IMAGE;
  options.HideUndefined = settings.HideUndefined;
  options.Sphere = settings.Placement == ON_SPHERE;
  options.Region.Kind = settings.Region == IN_BOX                 ? RegionOfInterest::Shape::InBox
                        : settings.Region == ON_PLANE_OF_INTEREST ? RegionOfInterest::Shape::OnPlane
                                                                  : RegionOfInterest::Shape::Everything;
  for (int axis = 0; axis < 3; ++axis) {
    options.Region.Lower[axis] = settings.RegionBounds[2 * axis];
    options.Region.Upper[axis] = settings.RegionBounds[2 * axis + 1];
    options.Region.Origin[axis] = settings.RegionOrigin[axis];
    options.Region.Normal[axis] = settings.RegionNormal[axis];
  }
  options.Blocks.Merge = settings.Blocks != AS_PATCHES;
  if (settings.Blocks == MERGED_UP_TO) {
    options.Blocks.Cover.MostCells = settings.MaximumBlockCells;
  }
  options.Piece = info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_PIECE_NUMBER());
  options.Pieces = std::max(1, info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_PIECES()));
  return options;
}

/// Collective. What the files say of a variable at the open step.
const std::vector<patchio::ValueRange>& vtkPatchReader::Internals::RangesOf(int variable)
{
  const Catalog& catalog = this->Current();
  const std::string key =
      std::to_string(variable) + " " + std::to_string(catalog.StepInFile) + " " + this->CurrentPath;
  if (key != this->RangesKey) {
    this->Ranges = ReadSharedRanges(*this->Ranks, catalog, variable);
    this->RangesKey = key;
  }
  return this->Ranges;
}

std::string vtkPatchReader::Internals::NothingIsShown(const int levelRange[2]) const
{
  return "Nothing is shown: none of the " + std::to_string(this->Current().Levels.size()) +
         " levels of this time step lies within LevelRange " + std::to_string(levelRange[0]) + " to " +
         std::to_string(levelRange[1]) + ".";
}

/// Adds up the reports of all ranks.
void vtkPatchReader::Internals::MakeReport(
    IoReport mine, const ThreadsUsed& threads, const std::string& warning, bool cancelled)
{
  mine.Threads = threads.Text;
  mine.OpenSeconds = this->OpenSeconds;
  mine.LocateSeconds += this->IndexSeconds;
  mine.Metadata = this->Step->Origin();
  mine.Notes.insert(mine.Notes.end(), this->Steps.Notes.begin(), this->Steps.Notes.end());
  if (!warning.empty()) {
    mine.Notes.push_back(warning);
  }
  if (mine.ThreadsMax == MaximumThreads) {
    mine.Notes.push_back("a rank uses " + std::to_string(MaximumThreads) + " threads at most");
  }
  this->Data.Last = Combine(mine, *this->Ranks);
  this->Data.File = this->CurrentPath;
  this->Data.Time = this->Times[this->LastStep];
  this->Data.Threads = threads.Changes;
  this->Data.Storage = threads.Storage;
  this->Data.Cancelled = cancelled;
  this->Data.WantedBytes = static_cast<double>(this->Progress.BytesToRead);
  this->Data.Remember();
  this->Report = this->Data.Text();
  this->OpenSeconds = 0;
}

vtkStandardNewMacro(vtkPatchReader);

vtkPatchReader::vtkPatchReader() : Internal(new Internals)
{
  this->SetNumberOfInputPorts(0);
  this->Internal->CellArrays->AddObserver(
      vtkCommand::ModifiedEvent, this, &vtkPatchReader::OnSelectionModified);
  this->Internal->PointArrays->AddObserver(
      vtkCommand::ModifiedEvent, this, &vtkPatchReader::OnSelectionModified);
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

vtkPatchReader::~vtkPatchReader() = default;

void vtkPatchReader::AddFileName(const char* name)
{
  if (name && *name) {
    this->Internal->FileNames.emplace_back(name);
    this->Internal->NewFiles = true;
    this->Reload();
  }
}

void vtkPatchReader::ClearFileNames()
{
  if (!this->Internal->FileNames.empty()) {
    this->Internal->FileNames.clear();
    this->Internal->NewFiles = true;
    this->Internal->LastStep = 0;
    this->Reload();
  }
}

int vtkPatchReader::GetNumberOfFileNames() const
{
  return static_cast<int>(this->Internal->FileNames.size());
}

const char* vtkPatchReader::GetFileName(int index) const
{
  const std::vector<std::string>& names = this->Internal->FileNames;
  return index >= 0 && index < static_cast<int>(names.size()) ? names[index].c_str() : nullptr;
}

int vtkPatchReader::CanReadFile(const char* name)
{
  const std::vector<const Format*>& formats = AllFormats();
  return name && std::any_of(
                     formats.begin(), formats.end(), [name](const Format* f) { return f->Claims(name); })
             ? 1
             : 0;
}

vtkDataArraySelection* vtkPatchReader::GetCellArraySelection()
{
  return this->Internal->CellArrays;
}

vtkDataArraySelection* vtkPatchReader::GetPointArraySelection()
{
  return this->Internal->PointArrays;
}

void vtkPatchReader::OnSelectionModified()
{
  if (!this->Internal->Opening) {
    this->Modified();
  }
}

void vtkPatchReader::SetListedDumpsOnly(bool on)
{
  if (on != this->ListedDumpsOnly) {
    this->ListedDumpsOnly = on;
    this->Reload();
  }
}

void vtkPatchReader::SetMetadataChannel(int mode)
{
  mode = std::clamp<int>(mode, CHANNEL_OFF, CHANNEL_REBUILD);
  if (mode != this->MetadataChannel) {
    this->MetadataChannel = mode;
    this->Internal->Channel = mode == CHANNEL_OFF  ? ChannelMode::Off
                              : mode == CHANNEL_ON ? ChannelMode::On
                                                   : ChannelMode::Rebuild;
    this->Reload();
  }
}

void vtkPatchReader::SetStorageLatency(double milliseconds)
{
  this->SetWithin(this->StorageLatency, milliseconds, 0, 1e6);
}

void vtkPatchReader::SetStorageBandwidth(double megabytesPerSecond)
{
  this->SetWithin(this->StorageBandwidth, megabytesPerSecond, 1e-3, 1e9);
}

void vtkPatchReader::SetWithin(double& member, double value, double least, double most)
{
  // In this order NaN, which vtkSetClampMacro lets pass, becomes the least.
  const double within = std::fmin(std::fmax(value, least), most);
  if (within != member) {
    member = within;
    this->Modified();
  }
}

const char* vtkPatchReader::GetIoReport() const
{
  return this->Internal->Report.c_str();
}

const char* vtkPatchReader::GetIoReportData()
{
  this->Internal->ReportJson = this->Internal->Data.Past.empty() ? "" : this->Internal->Data.Json();
  return this->Internal->ReportJson.c_str();
}

void vtkPatchReader::Reload()
{
  this->Internal->Forget();
  this->Modified();
}

void vtkPatchReader::SetController(vtkMultiProcessController* controller)
{
  if (controller != this->Internal->Controller) {
    this->Internal->Ahead.Clear();
    this->Internal->Controller = controller;
    this->Internal->Ranks = MakeCommunicator(controller);
    this->Internal->RanksOnMachine = 0;
    this->Internal->Cores = 0;
    this->Modified();
  }
}

void vtkPatchReader::SetPrefetch(bool on)
{
  if (on != this->Prefetch) {
    this->Prefetch = on;
    this->Modified();
  }
}

/// The user does something else than to play.
void vtkPatchReader::Modified()
{
  if (this->Internal && !this->Internal->Opening) {
    this->Internal->Ahead.Stop();
  }
  this->Superclass::Modified();
}

vtkMultiProcessController* vtkPatchReader::GetController()
{
  return this->Internal->Controller;
}

int vtkPatchReader::RequestInformation(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  Internals& self = *this->Internal;
  vtkInformation* info = outputVector->GetInformationObject(0);
  info->Set(vtkAlgorithm::CAN_HANDLE_PIECE_REQUEST(), 1);
  if (self.FileNames.empty()) {
    if (self.Ranks->Rank() == 0) {
      vtkErrorMacro("No file name is set. Set FileName, to a dumps.visit or a plotfile for example.");
    }
    return 0;
  }
  try {
    if (!self.SeriesIsOpen) {
      this->Say(0, "Opening " + ShortName(self.FileNames.front()));
      self.OpenSeries(this->ListedDumpsOnly);
      this->Warn(JoinLines(self.Steps.Warnings));
    }
    self.OpenAnyStep();
  } catch (const std::exception& error) {
    info->Remove(vtkStreamingDemandDrivenPipeline::TIME_STEPS());
    info->Remove(vtkStreamingDemandDrivenPipeline::TIME_RANGE());
    self.Report.clear();
    if (self.Ranks->Rank() == 0) {
      vtkErrorMacro(<< error.what());
    }
    return 0;
  }
  const double range[2] = {self.Times.front(), self.Times.back()};
  info->Set(
      vtkStreamingDemandDrivenPipeline::TIME_STEPS(), self.Times.data(), static_cast<int>(self.Times.size()));
  info->Set(vtkStreamingDemandDrivenPipeline::TIME_RANGE(), range, 2);
  return 1;
}

int vtkPatchReader::RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  Internals& self = *this->Internal;
  vtkInformation* info = outputVector->GetInformationObject(0);
  auto* output = vtkMultiBlockDataSet::GetData(info);
  if (!self.SeriesIsOpen) {
    return 0;
  }
  // Who aborts means the read that runs, not all later ones; VTK does not take it back.
  this->AbortExecute = 0;
  // The arrays of the step before give their memory to this one.
  output->Initialize();
  try {
    if (this->ReadStep(info, output)) {
      this->ReadAhead(info);
    } else {
      // Nothing is shown of a read that was stopped. Filters shall not take the abort for theirs.
      output->Initialize();
      this->Say(1, "Cancelled");
      this->AbortExecute = 0;
      return 1;
    }
  } catch (const std::exception& error) {
    output->Initialize();
    self.Report.clear();
    if (self.Ranks->Rank() == 0) {
      vtkErrorMacro(<< error.what());
    }
    return 0;
  }
  this->Say(1, "");
  return 1;
}

bool vtkPatchReader::ReadStep(vtkInformation* info, vtkMultiBlockDataSet* output)
{
  Internals& self = *this->Internal;
  const std::size_t step = self.WantedStep(info);
  this->Say(0, "Opening " + ShortName(self.Steps.Steps[step].Path));
  self.IndexSeconds = 0;
  std::unique_ptr<StepAhead> ahead = self.Ahead.Take(*self.Ranks, step);
  if (ahead) {
    self.Adopt(*ahead);
  } else {
    self.OpenStep(step);
  }
  self.SizeCache(this->CacheMemory);
  UpdateOptions options;
  LoadRequest request;
  bool holds = false;
  Together(*self.Ranks, [&] {
    options = self.MakeOptions(*this, self.Current(), info);
    request = self.MakeRequest(*this, self.Current(), options.Ghosts);
    holds = ahead && ahead->Update->StillHolds(options, request);
  });
  std::string note;
  this->ChooseByValue(options, note);
  std::unique_ptr<PatchUpdate> update;
  if (ahead && AllOf(*self.Ranks, holds)) {
    update = this->JoinStep(*ahead);
    request = update ? ahead->Request : request;
  } else if (ahead) {
    self.Ahead.Drop();
  }
  ahead.reset();
  if (!update) {
    this->ChooseThreads(request);
    update = std::make_unique<PatchUpdate>(*self.Ranks, *self.Step, options, self.Frames);
    this->Say(ProgressLocate, "Locating");
    self.PrepareStep(request.Threads);
  }
  this->Warn(update->Empty() ? self.NothingIsShown(this->LevelRange) : "");
  this->Warn(self.ChannelWarning());
  if (update->Stopped() || (!update->IsRead() && !this->ReadBlocks(*update, request))) {
    self.MakeReport(update->Report(), this->UsedThreads(request), "", true);
    return false;
  }
  this->Say(ProgressBuild, "Building blocks");
  Together(*self.Ranks, [&] {
    update->Assemble(output);
    AddThreadData(this->UsedThreads(request), output->GetFieldData());
  });
  output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), self.Times[step]);
  for (const std::string& text : {note, update->LeftOutText()}) {
    if (!text.empty()) {
      update->Report().Notes.push_back(text);
    }
  }
  update->Report().FilterThreads = this->ChooseFilterThreads(update->CellsOfBlock());
  if (request.Control) {
    for (const std::string& note : self.Automatic.Notes()) {
      update->Report().Notes.push_back(note);
    }
  }
  self.MakeReport(update->Report(), this->UsedThreads(request), update->Warning(), false);
  this->Warn(update->Warning());
  self.Ahead.Shown(step);
  return true;
}

/// Collective. Throws Error when there is no such variable.
void vtkPatchReader::ChooseByValue(UpdateOptions& options, std::string& note)
{
  if (!this->SkipByValue) {
    return;
  }
  Internals& self = *this->Internal;
  const int variable = self.Current().FindVariable(this->ValueArray);
  if (variable < 0) {
    throw Error("Skip By Value needs the name of a variable of the data in Value Array; there is no '" +
                this->ValueArray + "'. Name one, or turn Skip By Value off.");
  }
  const std::vector<patchio::ValueRange>& ranges = self.RangesOf(variable);
  if (ranges.empty()) {
    note =
        "Skip By Value has no effect: the files do not say which values '" + this->ValueArray + "' has where";
    return;
  }
  const auto [low, high] = std::minmax(this->ValueRange[0], this->ValueRange[1]);
  options.WithValues = PatchesWithValues(self.Current(), ranges, {low, high}, options.GhostLayer);
}

/// Progress for the screen; false when the user stops the read.
bool vtkPatchReader::GoesOn(const ReadProgress& now)
{
  this->Internal->Progress = now;
  const std::string text = ReadingText(now.Bytes, now.BytesToRead, now.BytesPerSecond());
  this->Say(ProgressRead + (ProgressBuild - ProgressRead) * now.Fraction, text);
  return !this->AbortExecute;
}

/// Collective. Waits for the rest of a step that is read ahead. Null when anything is wrong with it: whether
/// that still is so, and what to say of it, a read at its own turn finds out.
std::unique_ptr<PatchUpdate> vtkPatchReader::JoinStep(StepAhead& ahead)
{
  this->Internal->Progress = ReadProgress();
  ahead.Update->Read([this](const ReadProgress& now) { return this->GoesOn(now); });
  if (!ahead.Update->Stopped() && !ahead.Update->SoundEverywhere()) {
    return nullptr;
  }
  return std::move(ahead.Update);
}

/// Collective. Begins to read the steps that come next while this one is shown.
void vtkPatchReader::ReadAhead(vtkInformation* info)
{
  Internals& self = *this->Internal;
  // Which patches have the values is not known before a step is open for the user.
  const int most = this->Prefetch && !this->SkipByValue ? this->PrefetchSteps : 0;
  if (!self.Ahead.Agree(*self.Ranks, most)) {
    self.Ahead.Clear();
    return;
  }
  for (const std::size_t step : self.Ahead.Next(self.Steps.Steps.size(), most)) {
    if (!self.Ahead.Has(step)) {
      try {
        self.Ahead.Add(this->PrepareAhead(step, info));
        self.Automatic.ReadsGoOn();
      } catch (const std::exception&) {
        // All ranks have got it. It is no fault of the step that is shown: the other one is read, or said to
        // be broken, at its own turn.
        return;
      }
    }
  }
}

/// Collective. All of a read but reading.
std::unique_ptr<StepAhead> vtkPatchReader::PrepareAhead(std::size_t step, vtkInformation* info)
{
  Internals& self = *this->Internal;
  auto ahead = std::make_unique<StepAhead>();
  LoadRequest& request = ahead->Request;
  UpdateOptions options;
  ahead->Step = step;
  ahead->Opened = self.OpenAhead(step, this->ThreadsOf(self.Ranks->Rank()));
  Together(*self.Ranks, [&] {
    options = self.MakeOptions(*this, ahead->Opened->Data(), info);
    request = self.MakeRequest(*this, ahead->Opened->Data(), options.Ghosts);
    request.Ahead = true;
    if (this->ThreadMode == AUTOMATIC) {
      // Nobody is there to adapt them.
      const int inFlight = self.Automatic.Control().Changes().back().Threads;
      request.Threads =
          std::min(ThreadsFromStorage(inFlight, 0, self.Ranks->Size(), self.Ranks->Rank()), MaximumThreads);
      request.Storage = self.Automatic.Choice().Requests.value_or(request.Storage);
    }
  });
  ahead->Update = std::make_unique<PatchUpdate>(*self.Ranks, *ahead->Opened, options, self.Frames);
  PatchUpdate& update = *ahead->Update;
  do {
    Together(*self.Ranks, [&] { update.Plan(request); });
    update.Locate();
    update.AgreeOnFaults();
  } while (update.Outdated());
  update.PrepareAhead();
  return ahead;
}

/// Reads what can be read; false when the user stops it. Broken patches, once known, change the blocks.
bool vtkPatchReader::ReadBlocks(PatchUpdate& update, LoadRequest& request)
{
  for (;;) {
    this->Internal->Progress = ReadProgress();
    this->Say(ProgressLocate, "Locating");
    Together(*this->Internal->Ranks, [&] { update.Plan(request); });
    update.Locate();
    update.AgreeOnFaults();
    if (!update.Outdated()) {
      update.CheckMemory();
      update.Read([this](const ReadProgress& now) { return this->GoesOn(now); });
      this->EndRead(request);
      update.AgreeOnFaults();
      if (update.Stopped() || !update.Outdated()) {
        return !update.Stopped();
      }
      this->ChooseThreads(request);
    }
  }
}

/// What happens now, for the status bar.
void vtkPatchReader::Say(double fraction, const std::string& text)
{
  this->SetProgressText(text.c_str());
  this->UpdateProgress(fraction);
}

/// Collective. In the mode AUTOMATIC: the threads of this rank, and who adapts them.
void vtkPatchReader::ChooseThreads(LoadRequest& request)
{
  if (this->ThreadMode != AUTOMATIC) {
    return;
  }
  AutomaticThreads& automatic = this->Internal->Automatic;
  automatic.Begin(*this->Internal->Ranks, this->Internal->CurrentPath,
      static_cast<patchio::ThreadPolicy>(this->ThreadPolicy), LanesThatFit(MaximumThreads));
  request.Control = &automatic.Control();
  request.Threads = request.Control->Goal().Lanes();
  request.Storage = automatic.Choice().Requests.value_or(request.Storage);
}

/// Collective.
void vtkPatchReader::EndRead(const LoadRequest& request)
{
  if (request.Control) {
    this->Internal->Automatic.End();
  }
}

std::string vtkPatchReader::ChooseFilterThreads(double cellsOfBlock) const
{
  int& cores = this->Internal->Cores;
  if (cores == 0) {
    cores = CoresOfRank(*this->Internal->Ranks);
  }
  if (this->FilterThreading == FILTERS_AS_SET) {
    return {};
  }
  const bool worthIt = this->FilterThreading == FILTERS_ALWAYS || cellsOfBlock >= CellsWorthThreads;
  const int wanted = this->FilterThreadsPerRank > 0 ? this->FilterThreadsPerRank : cores;
  return SetFilterThreads(worthIt ? wanted : 1);
}

void vtkPatchReader::Warn(const std::string& text)
{
  if (!text.empty() && this->Internal->Ranks->Rank() == 0) {
    vtkWarningMacro(<< text);
  }
}

/// What the number of threads was, and why.
ThreadsUsed vtkPatchReader::UsedThreads(const LoadRequest& request) const
{
  const AutomaticThreads& automatic = this->Internal->Automatic;
  ThreadsUsed used;
  if (request.Control) {
    used.Concurrency = automatic.Choice().Storage.Concurrency;
    used.Load = automatic.Choice().Storage.Load;
    used.Changes = request.Control->Changes();
    used.Text = automatic.Text();
    used.Storage = automatic.Curve();
    return used;
  }
  if (this->ThreadMode == AUTOMATIC) {
    used.Concurrency = automatic.Choice().Storage.Concurrency;
    used.Load = automatic.Choice().Storage.Load;
    used.Changes = {{0, this->Internal->Automatic.Control().Changes().back().Threads}};
    used.Text = automatic.Text() + "  Read ahead with the threads of the read before\n";
    return used;
  }
  const int ranks = this->Internal->Ranks->Size();
  if (this->ThreadMode == FROM_STORAGE) {
    used.Concurrency = this->StorageConcurrency;
    used.Load = this->OtherLoad;
    used.Text = "Threads: from N* = " + std::to_string(this->StorageConcurrency) +
                " and NC = " + std::to_string(this->OtherLoad) + ", both given\n";
    used.Storage.Concurrency = this->StorageConcurrency;
    used.Storage.Load = this->OtherLoad;
    used.Storage.Source = "given";
  } else {
    used.Text = "Threads: fixed\n";
  }
  int all = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    all += this->ThreadsOf(rank);
  }
  used.Changes = {{0, all}};
  return used;
}

int vtkPatchReader::ThreadsOf(int rank) const
{
  ThreadSettings settings;
  settings.Mode =
      this->ThreadMode == FROM_STORAGE ? patchio::ThreadMode::FromStorage : patchio::ThreadMode::Fixed;
  settings.ThreadsPerRank = this->ThreadsPerRank;
  settings.StorageConcurrency = this->StorageConcurrency;
  settings.OtherLoad = this->OtherLoad;
  return std::min(ThreadsOfRank(settings, this->Internal->Ranks->Size(), rank), MaximumThreads);
}

void vtkPatchReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  for (const std::string& name : this->Internal->FileNames) {
    os << indent << "FileName: " << name << endl;
  }
  os << indent << "LevelRange: " << this->LevelRange[0] << " " << this->LevelRange[1] << endl;
  os << indent << "Blocks: " << this->Blocks << endl;
  os << indent << "MaximumBlockCells: " << this->MaximumBlockCells << endl;
  os << indent << "AddGhostLayer: " << this->AddGhostLayer << endl;
  os << indent << "AddPatchIds: " << this->AddPatchIds << endl;
  os << indent << "PointLists: " << this->PointLists << endl;
  os << indent << "HideUndefined: " << this->HideUndefined << endl;
  os << indent << "Placement: " << this->Placement << endl;
  os << indent << "ReadGhostCells: " << this->ReadGhostCells << endl;
  os << indent << "BlankRefinedCells: " << this->BlankRefinedCells << endl;
  os << indent << "ListedDumpsOnly: " << this->ListedDumpsOnly << endl;
  os << indent << "SkipBrokenPatches: " << this->SkipBrokenPatches << endl;
  os << indent << "Region: " << this->Region << endl;
  os << indent << "SkipByValue: " << this->SkipByValue << " " << this->ValueArray << endl;
  os << indent << "MetadataChannel: " << this->MetadataChannel << endl;
  os << indent << "ThreadMode: " << this->ThreadMode << endl;
  os << indent << "ThreadPolicy: " << this->ThreadPolicy << endl;
  os << indent << "ThreadsPerRank: " << this->ThreadsPerRank << endl;
  os << indent << "StorageConcurrency: " << this->StorageConcurrency << endl;
  os << indent << "OtherLoad: " << this->OtherLoad << endl;
  os << indent << "StorageLatency: " << this->StorageLatency << endl;
  os << indent << "StorageBandwidth: " << this->StorageBandwidth << endl;
  os << indent << "MemoryLimit: " << this->MemoryLimit << endl;
  os << indent << "FilterThreading: " << this->FilterThreading << endl;
  os << indent << "FilterThreadsPerRank: " << this->FilterThreadsPerRank << endl;
  os << indent << "Prefetch: " << this->Prefetch << endl;
  os << indent << "PrefetchSteps: " << this->PrefetchSteps << endl;
  os << indent << "CacheMemory: " << this->CacheMemory << endl;
}
