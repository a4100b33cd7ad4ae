#include "vtkPatchReader.h"

#include "Exec/IoReport.h"
#include "PatchAssembler.h"
#include "Plan/Partition.h"
#include "Plan/ThreadBudget.h"
#include "Read/PatchLoader.h"
#include "Read/SharedCatalog.h"
#include "Support/Error.h"
#include "Support/Stopwatch.h"

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

using namespace patchio;

namespace
{

std::unique_ptr<Communicator> MakeCommunicator(vtkMultiProcessController* controller)
{
  auto* mpi = vtkMPIController::SafeDownCast(controller);
  if (mpi && mpi->GetNumberOfProcesses() > 1)
  {
    auto* communicator = vtkMPICommunicator::SafeDownCast(mpi->GetCommunicator());
    return MakeMpiCommunicator(*communicator->GetMPIComm()->GetHandle());
  }
  return MakeSelfCommunicator();
}

std::string Join(const std::vector<std::string>& texts)
{
  std::string joined;
  for (const std::string& text : texts)
  {
    joined += (joined.empty() ? "" : "\n") + text;
  }
  return joined;
}

} // namespace

/// What is kept between updates, and the steps of one update.
struct vtkPatchReader::Internals
{
  std::vector<std::string> FileNames;
  vtkNew<vtkDataArraySelection> CellArrays;
  vtkNew<vtkDataArraySelection> PointArrays;
  vtkSmartPointer<vtkMultiProcessController> Controller;
  std::unique_ptr<Communicator> Ranks;

  bool SeriesIsOpen = false;
  Series Steps;
  std::vector<double> Times;
  Catalog Current;          ///< of the time step CurrentPath
  std::string CurrentPath;  ///< empty when there is none
  double OpenSeconds = 0;
  std::string Report;

  Internals()
  {
    // A change of selection must reach the pipeline through the reader's modification time.
    this->Ranks = MakeSelfCommunicator();
  }

  void Forget()
  {
    this->SeriesIsOpen = false;
    this->CurrentPath.clear();
  }

  void OpenSeries(bool listedOnly);
  void OpenStep(std::size_t step);
  std::size_t StepAt(double time) const;
  bool Selected(const Variable& variable) const;
  Int3 GhostsToRead() const;
  std::vector<VariableRequest> SelectedVariables(const Int3& ghosts) const;
};

void vtkPatchReader::Internals::OpenSeries(bool listedOnly)
{
  SeriesOptions options;
  options.ListedOnly = listedOnly;
  this->Steps = OpenSharedSeries(*this->Ranks, this->FileNames, options);
  this->Times = TimeValues(this->Steps);
  this->SeriesIsOpen = true;
}

void vtkPatchReader::Internals::OpenStep(std::size_t step)
{
  this->OpenSeconds = 0;
  const std::string& path = this->Steps.Steps[step].Path;
  if (path == this->CurrentPath)
  {
    return;
  }
  const Stopwatch watch;
  this->CurrentPath.clear();
  this->Current = ReadSharedCatalog(*this->Ranks, path);
  this->CurrentPath = path;
  for (std::size_t v = 0; v < this->Current.Variables.size(); ++v)
  {
    const Variable& variable = this->Current.Variables[v];
    if (static_cast<int>(v) != this->Current.CoordinatesVariable)
    {
      // Known names keep their setting.
      (variable.Center == Centering::Cell ? this->CellArrays : this->PointArrays)->AddArray(variable.Name.c_str());
    }
  }
  this->OpenSeconds = watch.Seconds();
}

/// The last step at or before `time`, else the first.
std::size_t vtkPatchReader::Internals::StepAt(double time) const
{
  const auto after = std::upper_bound(this->Times.begin(), this->Times.end(), time);
  return after == this->Times.begin() ? 0 : static_cast<std::size_t>(after - this->Times.begin()) - 1;
}

bool vtkPatchReader::Internals::Selected(const Variable& variable) const
{
  vtkDataArraySelection* arrays = variable.Center == Centering::Cell ? this->CellArrays : this->PointArrays;
  return arrays->ArrayIsEnabled(variable.Name.c_str()) != 0;
}

Int3 vtkPatchReader::Internals::GhostsToRead() const
{
  const Catalog& catalog = this->Current;
  if (catalog.Grid == GridKind::Curvilinear)
  {
    return catalog.Variables[catalog.CoordinatesVariable].Ghosts;
  }
  Int3 ghosts{ 0, 0, 0 };
  for (const Variable& variable : catalog.Variables)
  {
    for (int axis = 0; axis < 3 && this->Selected(variable); ++axis)
    {
      ghosts[axis] = std::max(ghosts[axis], variable.Ghosts[axis]);
    }
  }
  return ghosts;
}

std::vector<VariableRequest> vtkPatchReader::Internals::SelectedVariables(const Int3& ghosts) const
{
  std::vector<VariableRequest> requests;
  for (int v = 0; v < static_cast<int>(this->Current.Variables.size()); ++v)
  {
    if (v == this->Current.CoordinatesVariable || this->Selected(this->Current.Variables[v]))
    {
      requests.push_back(RequestForVtk(this->Current, v, ghosts));
    }
  }
  return requests;
}

namespace
{

/// One update: from the wanted patches to the output. Collective.
class PatchUpdate
{
public:
  PatchUpdate(Communicator& ranks, const Catalog& catalog, int firstLevel, int lastLevel)
    : Ranks(ranks)
    , Data(catalog)
    , FirstLevel(firstLevel)
    , LastLevel(lastLevel)
    , Shown(catalog.Patches.size(), false)
  {
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p)
    {
      this->Shown[p] = catalog.Patches[p].Level >= firstLevel && catalog.Patches[p].Level <= lastLevel;
    }
  }

  /// Level one: the patches of this piece.
  std::vector<int> PatchesOfPiece(const std::vector<VariableRequest>& variables, int piece, int pieces) const
  {
    std::vector<int> shown;
    std::vector<std::int64_t> weights;
    for (int p = 0; p < static_cast<int>(this->Shown.size()); ++p)
    {
      if (this->Shown[p])
      {
        shown.push_back(p);
        weights.push_back(this->StoredValues(variables, p));
      }
    }
    const std::vector<int> parts = PartitionPatches(this->Data, shown, weights, pieces);
    std::vector<int> mine;
    for (std::size_t i = 0; i < shown.size(); ++i)
    {
      if (parts[i] == piece)
      {
        mine.push_back(shown[i]);
      }
    }
    return mine;
  }

  /// Level two: NT threads. A fault on this rank alone becomes part of the result, so that all ranks go on
  /// to agree on what to do.
  void Load(const std::string& path, const LoadRequest& request, const ProgressCallback& progress)
  {
    try
    {
      this->Loaded = LoadPatches(FormatOf(path), this->Data, request, progress);
      this->CheckCoordinates(request);
    }
    catch (const std::exception& error)
    {
      this->Fatal = error.what();
    }
    for (const LoadFault& fault : this->Loaded.Faults)
    {
      this->Broken.push_back(fault.Patch);
    }
  }

  /// Agrees on faults over all ranks. Throws Error, the same on all ranks, when there is something that must
  /// not be shown; else returns a warning, or an empty text.
  std::string AgreeOnFaults(bool skipBroken)
  {
    const std::vector<std::string> fatal =
      GatherFaults(this->Ranks, this->Fatal.empty() ? std::vector<std::string>() : std::vector<std::string>{ this->Fatal });
    std::vector<std::string> texts;
    for (const LoadFault& fault : this->Loaded.Faults)
    {
      texts.push_back(fault.Message);
    }
    texts = GatherFaults(this->Ranks, texts);
    std::vector<int> broken = this->Ranks.AllGather(this->Broken);
    std::sort(broken.begin(), broken.end());
    broken.erase(std::unique(broken.begin(), broken.end()), broken.end());
    if (!fatal.empty())
    {
      throw Error(Join(fatal));
    }
    if (broken.empty())
    {
      return {};
    }
    const std::string count =
      std::to_string(broken.size()) + " of " + std::to_string(this->Shown.size()) + " patches cannot be read";
    const std::string details = ":\n" + Join(texts);
    if (!skipBroken)
    {
      throw Error("At least " + count + ", so nothing is shown. Turn on 'Skip Broken Patches' to see the others" + details);
    }
    for (const int patch : broken)
    {
      this->Shown[patch] = false;
    }
    return count + " and are left out" + details;
  }

  /// True when any rank was told to stop.
  bool AnyCancelled() const
  {
    const std::vector<int> flags = this->Ranks.AllGather(std::vector<int>{ this->Loaded.Cancelled ? 1 : 0 });
    return std::find(flags.begin(), flags.end(), 1) != flags.end();
  }

  void Assemble(vtkMultiBlockDataSet* output, const LoadRequest& request, const Int3& ghosts, bool blank)
  {
    const PatchAssembler assembler(this->Data, this->Shown, ghosts, blank, this->Ranks.Rank());
    assembler.BuildTree(output, this->FirstLevel, this->LastLevel);
    for (std::size_t i = 0; i < request.Patches.size(); ++i)
    {
      if (this->Shown[request.Patches[i]])
      {
        assembler.AddPatch(output, request, this->Loaded, i);
      }
    }
  }

  IoReport& Report() { return this->Loaded.Report; }

private:
  std::int64_t StoredValues(const std::vector<VariableRequest>& variables, int patch) const
  {
    std::int64_t values = 0;
    for (const VariableRequest& wanted : variables)
    {
      if (this->Data.PresenceOf(wanted.Variable, patch) == Presence::Stored)
      {
        values += this->Data.StoredTuples(wanted.Variable, patch) * this->Data.Variables[wanted.Variable].Components;
      }
    }
    return values;
  }

  /// A curvilinear patch without coordinates cannot be shown.
  void CheckCoordinates(const LoadRequest& request)
  {
    for (std::size_t v = 0; v < request.Variables.size(); ++v)
    {
      if (request.Variables[v].Variable != this->Data.CoordinatesVariable)
      {
        continue;
      }
      for (std::size_t p = 0; p < request.Patches.size(); ++p)
      {
        if (this->Loaded.At(p, v).Status == ArrayStatus::Absent)
        {
          this->Loaded.Faults.push_back({ request.Patches[p], request.Variables[v].Variable,
            FileError(this->Data.Path, "coordinates for patch " + std::to_string(request.Patches[p]), "none").what() });
        }
      }
    }
  }

  Communicator& Ranks;
  const Catalog& Data;
  int FirstLevel, LastLevel;
  std::vector<bool> Shown;
  LoadResult Loaded;
  std::vector<int> Broken;
  std::string Fatal;
};

} // namespace

vtkStandardNewMacro(vtkPatchReader);

vtkPatchReader::vtkPatchReader()
  : Internal(new Internals)
{
  this->SetNumberOfInputPorts(0);
  this->Internal->CellArrays->AddObserver(vtkCommand::ModifiedEvent, this, &vtkPatchReader::Modified);
  this->Internal->PointArrays->AddObserver(vtkCommand::ModifiedEvent, this, &vtkPatchReader::Modified);
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

vtkPatchReader::~vtkPatchReader() = default;

void vtkPatchReader::AddFileName(const char* name)
{
  if (name && *name)
  {
    this->Internal->FileNames.emplace_back(name);
    this->Reload();
  }
}

void vtkPatchReader::ClearFileNames()
{
  if (!this->Internal->FileNames.empty())
  {
    this->Internal->FileNames.clear();
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
  return name && std::any_of(formats.begin(), formats.end(), [name](const Format* f) { return f->Claims(name); }) ? 1 : 0;
}

vtkDataArraySelection* vtkPatchReader::GetCellArraySelection()
{
  return this->Internal->CellArrays;
}

vtkDataArraySelection* vtkPatchReader::GetPointArraySelection()
{
  return this->Internal->PointArrays;
}

void vtkPatchReader::SetListedDumpsOnly(bool on)
{
  if (on != this->ListedDumpsOnly)
  {
    this->ListedDumpsOnly = on;
    this->Reload();
  }
}

const char* vtkPatchReader::GetIoReport() const
{
  return this->Internal->Report.c_str();
}

void vtkPatchReader::Reload()
{
  this->Internal->Forget();
  this->Modified();
}

void vtkPatchReader::SetController(vtkMultiProcessController* controller)
{
  if (controller != this->Internal->Controller)
  {
    this->Internal->Controller = controller;
    this->Internal->Ranks = MakeCommunicator(controller);
    this->Modified();
  }
}

vtkMultiProcessController* vtkPatchReader::GetController()
{
  return this->Internal->Controller;
}

int vtkPatchReader::RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  Internals& self = *this->Internal;
  vtkInformation* info = outputVector->GetInformationObject(0);
  info->Set(vtkAlgorithm::CAN_HANDLE_PIECE_REQUEST(), 1);
  if (self.FileNames.empty())
  {
    vtkErrorMacro("No file name is set. Set FileName to a dumps.visit or a summary.samrai.");
    return 0;
  }
  try
  {
    if (!self.SeriesIsOpen)
    {
      self.OpenSeries(this->ListedDumpsOnly);
      if (self.Ranks->Rank() == 0 && !self.Steps.Warnings.empty())
      {
        vtkWarningMacro(<< Join(self.Steps.Warnings));
      }
    }
    // The names of variables are those of the step that is shown, at first of the first one.
    if (self.CurrentPath.empty())
    {
      self.OpenStep(0);
    }
  }
  catch (const Error& error)
  {
    if (self.Ranks->Rank() == 0)
    {
      vtkErrorMacro(<< error.what());
    }
    return 0;
  }
  const double range[2] = { self.Times.front(), self.Times.back() };
  info->Set(vtkStreamingDemandDrivenPipeline::TIME_STEPS(), self.Times.data(), static_cast<int>(self.Times.size()));
  info->Set(vtkStreamingDemandDrivenPipeline::TIME_RANGE(), range, 2);
  return 1;
}

int vtkPatchReader::RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  Internals& self = *this->Internal;
  vtkInformation* info = outputVector->GetInformationObject(0);
  auto* output = vtkMultiBlockDataSet::GetData(info);
  if (!self.SeriesIsOpen)
  {
    return 0;
  }
  const std::size_t step = info->Has(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP())
    ? self.StepAt(info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP()))
    : 0;
  const int piece = info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_PIECE_NUMBER());
  const int pieces = std::max(1, info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_PIECES()));
  const ProgressCallback progress = [this](double fraction) {
    this->UpdateProgress(0.9 * fraction);
    return this->GetAbortExecute() == 0;
  };
  try
  {
    self.OpenStep(step);
    PatchUpdate update(*self.Ranks, self.Current, this->LevelRange[0], this->LevelRange[1]);
    const Int3 ghosts = this->ReadGhostCells ? self.GhostsToRead() : Int3{ 0, 0, 0 };
    LoadRequest request;
    request.Variables = self.SelectedVariables(ghosts);
    request.Patches = update.PatchesOfPiece(request.Variables, piece, pieces);
    const patchio::ThreadMode mode = this->ThreadMode == FROM_STORAGE ? patchio::ThreadMode::FromStorage : patchio::ThreadMode::Fixed;
    const ThreadSettings threads{ mode, this->ThreadsPerRank, this->StorageConcurrency, this->OtherLoad };
    request.Threads = std::min(ThreadsOfRank(threads, self.Ranks->Size(), self.Ranks->Rank()), MaximumThreads);
    request.StopAtFault = !this->SkipBrokenPatches;

    update.Load(self.CurrentPath, request, progress);
    const std::string warning = update.AgreeOnFaults(this->SkipBrokenPatches);
    if (update.AnyCancelled())
    {
      return 1; // nothing is shown of a read that was stopped
    }
    const Stopwatch watch;
    update.Assemble(output, request, ghosts, this->BlankRefinedCells);
    output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), self.Times[step]);

    IoReport& report = update.Report();
    report.AssembleSeconds = watch.Seconds();
    report.OpenSeconds = self.OpenSeconds;
    report.Notes = self.Steps.Notes;
    if (!warning.empty())
    {
      report.Notes.push_back(warning);
    }
    self.Report = Combine(report, *self.Ranks).Text();
    if (!warning.empty() && self.Ranks->Rank() == 0)
    {
      vtkWarningMacro(<< warning);
    }
  }
  catch (const Error& error)
  {
    output->Initialize();
    self.Report.clear();
    if (self.Ranks->Rank() == 0)
    {
      vtkErrorMacro(<< error.what());
    }
    return 0;
  }
  this->UpdateProgress(1);
  return 1;
}

void vtkPatchReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  for (const std::string& name : this->Internal->FileNames)
  {
    os << indent << "FileName: " << name << endl;
  }
  os << indent << "LevelRange: " << this->LevelRange[0] << " " << this->LevelRange[1] << endl;
  os << indent << "ReadGhostCells: " << this->ReadGhostCells << endl;
  os << indent << "BlankRefinedCells: " << this->BlankRefinedCells << endl;
  os << indent << "ListedDumpsOnly: " << this->ListedDumpsOnly << endl;
  os << indent << "SkipBrokenPatches: " << this->SkipBrokenPatches << endl;
  os << indent << "ThreadMode: " << this->ThreadMode << endl;
  os << indent << "ThreadsPerRank: " << this->ThreadsPerRank << endl;
  os << indent << "StorageConcurrency: " << this->StorageConcurrency << endl;
  os << indent << "OtherLoad: " << this->OtherLoad << endl;
}
