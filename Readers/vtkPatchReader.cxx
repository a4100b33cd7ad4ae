#include "vtkPatchReader.h"

#include "AmrOutput.h"
#include "ArraySelections.h"
#include "Base/Communicator.h"
#include "FilterThreads.h"
#include "Filters/VtkVersions.h"
#include "Formats/FindSteps.h"
#include "Read/ReadSession.h"
#include "SeriesFacts.h"
#include "UpdateOutput.h"
#include "Write/ChannelOutput.h"

#include <vtkCommand.h>
#include <vtkDataArraySelection.h>
#include <vtkDataObject.h>
#include <vtkExecutive.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiProcessController.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkStringArray.h>

#include <algorithm>
#include <cstring>

using namespace patchio;

/// The state of the reader, which lasts from update to update.
struct vtkPatchReader::Internals
{
  ReaderRanks Ranks;
  ArraySelections Arrays;
  ReadSession Session{MaximumThreads};
  FrameCache Frames;  ///< frames of the step that was read last
  SeriesFacts Facts;
  bool SurfaceFirst = true;  ///< true: ParaView first shows a surface, see DecideSurfaceFirst()
  std::string ReportJson;    ///< result of the last GetIoReportData()
};

vtkStandardNewMacro(vtkPatchReader);

vtkPatchReader::vtkPatchReader() : Internal(new Internals)
{
  this->SetNumberOfInputPorts(0);
  for (vtkDataArraySelection* arrays : {this->GetCellArraySelection(), this->GetPointArraySelection()}) {
    arrays->AddObserver(vtkCommand::ModifiedEvent, this, &vtkPatchReader::OnSelectionModified);
  }
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

vtkPatchReader::~vtkPatchReader() = default;

void vtkPatchReader::SetExecutive(vtkExecutive* executive)
{
  this->Superclass::SetExecutive(executive);
  if (executive && !executive->HasObserver(vtkCommand::ErrorEvent)) {
    executive->AddObserver(vtkCommand::ErrorEvent, this, &vtkPatchReader::OnExecutiveError);
  }
}

/// Suppresses the executive's message about a failed request, because ReportError() has reported the reason.
/// Displays all other messages.
void vtkPatchReader::OnExecutiveError(vtkObject*, unsigned long, void* text)
{
  const auto* message = static_cast<const char*>(text);
  if (!message || !std::strstr(message, "returned failure for request")) {
    vtkOutputWindowDisplayErrorText(message ? message : "");
  }
}

void vtkPatchReader::AddFileName(const char* name)
{
  if (name && *name) {
    this->Internal->Session.Series.AddFile(name);
    this->Internal->Arrays.ExpectNewFiles();
    this->Reload();
  }
}

void vtkPatchReader::ClearFileNames()
{
  if (!this->Internal->Session.Series.Files().empty()) {
    this->Internal->Session.Series.ClearFiles();
    this->Internal->Arrays.ExpectNewFiles();
    this->Reload();
  }
}

int vtkPatchReader::GetNumberOfFileNames() const
{
  return static_cast<int>(this->Internal->Session.Series.Files().size());
}

const char* vtkPatchReader::GetFileName(int index) const
{
  const std::vector<std::string>& names = this->Internal->Session.Series.Files();
  return index >= 0 && index < static_cast<int>(names.size()) ? names[index].c_str() : nullptr;
}

int vtkPatchReader::CanReadFile(const char* name)
{
  return name && FindFormat(name) ? 1 : 0;
}

vtkDataArraySelection* vtkPatchReader::GetCellArraySelection()
{
  return this->Internal->Arrays.CellSelection();
}

vtkDataArraySelection* vtkPatchReader::GetPointArraySelection()
{
  return this->Internal->Arrays.PointSelection();
}

void vtkPatchReader::OnSelectionModified()
{
  if (!this->Internal->Arrays.IsAddingArrays()) {
    this->Modified();
  }
}

vtkStringArray* vtkPatchReader::GetGridNames()
{
  return this->Internal->Facts.Grids;
}

vtkStringArray* vtkPatchReader::GetArraysOfGrids()
{
  return this->Internal->Facts.ArraysOfGrids;
}

const char* vtkPatchReader::GetIoReport() const
{
  return this->Internal->Session.Reports.Text().c_str();
}

const char* vtkPatchReader::GetIoReportData()
{
  this->Internal->ReportJson = this->Internal->Session.Reports.Json();
  return this->Internal->ReportJson.c_str();
}

const char* vtkPatchReader::GetFormatName() const
{
  return this->Internal->Facts.FormatName.c_str();
}

const char* vtkPatchReader::GetLikeFormat() const
{
  return this->Internal->Facts.EquivalentFormat.c_str();
}

int* vtkPatchReader::GetLevels()
{
  return this->Internal->Facts.Levels;
}

double* vtkPatchReader::GetDomainBounds()
{
  return this->Internal->Facts.Bounds;
}

vtkStringArray* vtkPatchReader::GetScalarNames()
{
  return this->Internal->Facts.Scalars;
}

const char* vtkPatchReader::GetFirstPicture() const
{
  return this->Internal->SurfaceFirst ? "Surface" : "Outline";
}

void vtkPatchReader::Reload()
{
  if (this->Internal->Session.Series.Times().size() == 1) {
    this->Internal->Arrays.ForgetKnownArrays();
  }
  this->Internal->Session.Forget();
  this->Internal->Facts.Reset();
  this->Internal->Frames = FrameCache();
  this->Modified();
}

bool vtkPatchReader::LookForNewSteps()
{
  Internals& self = *this->Internal;
  if (!this->Follow || !self.Session.Series.IsOpen()) {
    return false;
  }
  try {
    const bool found = self.Session.AddNewSteps(*self.Ranks);
    this->ReportWarning(self.Session.Series.TakeGrowthWarning());
    if (found) {
      this->Superclass::Modified();  // unlike Modified(), this function does not stop the prefetch
    }
    return found;
  } catch (const std::exception&) {
    this->ReportError(CaughtError());
    return false;
  }
}

void vtkPatchReader::UpdateInformation()
{
  this->LookForNewSteps();
  this->Superclass::UpdateInformation();
}

void vtkPatchReader::SetController(vtkMultiProcessController* controller)
{
  if (controller != this->Internal->Ranks.Controller()) {
    this->Internal->Session.ClearPrefetch();
    this->Internal->Ranks.SetController(controller);
    this->Modified();
  }
}

void vtkPatchReader::Modified()
{
  if (this->Internal && !this->Internal->Arrays.IsAddingArrays()) {
    this->Internal->Session.StopPrefetch();
  }
  this->Superclass::Modified();
}

vtkMultiProcessController* vtkPatchReader::GetController()
{
  return this->Internal->Ranks.Controller();
}

/// Opens the series if the series is not open, and a step of the series. Throws std::exception. Collective:
/// every rank of the controller calls it.
void vtkPatchReader::Open()
{
  Internals& self = *this->Internal;
  if (!self.Session.Series.IsOpen()) {
    this->ReportProgress(0, "Opening " + ShortName(self.Session.Series.Files().front()));
    for (const std::string& file : self.Session.Series.Files()) {
      output::ChannelOutput::WaitForWrites(file);
    }
    self.Session.Series.SetIndexMode(this->IndexModeFromProperties());
    self.Session.Open(*self.Ranks, {this->ListedDumpsOnly, this->Follow});
    this->ReportWarning(JoinLines(self.Session.Series.Contents().Warnings));
  }
  self.Session.Series.OpenAny(*self.Ranks);
}

int vtkPatchReader::FillOutputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkCompositeDataSet");
  return 1;
}

/// Makes a vtkOverlappingAMR if OutputsAmr() is true and vtkOverlappingAMR can represent the data, otherwise
/// a vtkMultiBlockDataSet. Collective: every rank of the controller calls it.
int vtkPatchReader::RequestDataObject(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  Internals& self = *this->Internal;
  bool isAmr = false;
  if (this->OutputsAmr() && !self.Session.Series.Files().empty()) {
    // RequestInformation() will report the error.
    const std::string fault = CatchError([&] { this->Open(); });
    isAmr = fault.empty() && AmrUnsupportedReason(self.Session.Series.Current()).empty();
  }
  SetOutputType(isAmr, outputVector->GetInformationObject(0));
  return 1;
}

int vtkPatchReader::RequestInformation(
    vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  Internals& self = *this->Internal;
  vtkInformation* info = outputVector->GetInformationObject(0);
  info->Set(vtkAlgorithm::CAN_HANDLE_PIECE_REQUEST(), 1);
  if (self.Session.Series.Files().empty()) {
    this->ReportError("No file name is set. Set FileName, for example to a dumps.visit or a plotfile.");
    return 0;
  }
  try {
    this->Open();
    self.Arrays.AddArrays(self.Session.Series.Current());
    self.Facts.Update(self.Session.Series, self.Ranks.IsRankZero());
  } catch (const std::exception&) {
    this->ReportError(CaughtError());
    info->Remove(vtkStreamingDemandDrivenPipeline::TIME_STEPS());
    info->Remove(vtkStreamingDemandDrivenPipeline::TIME_RANGE());
    self.Session.Reports.ClearText();
    return 0;
  }
  DescribeAmr(self.Session.Series.Current(), this->RequestFromProperties().Options, info);
  const std::vector<double>& times = self.Session.Series.Times();
  const double range[2] = {times.front(), times.back()};
  info->Set(vtkStreamingDemandDrivenPipeline::TIME_STEPS(), times.data(), static_cast<int>(times.size()));
  info->Set(vtkStreamingDemandDrivenPipeline::TIME_RANGE(), range, 2);
  return 1;
}

int vtkPatchReader::RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  Internals& self = *this->Internal;
  vtkInformation* info = outputVector->GetInformationObject(0);
  auto* output = vtkDataObject::GetData(info);
  // The output of the last step releases its memory before this read.
  output->Initialize();
  if (!self.Session.Series.IsOpen()) {
    return 1;  // RequestInformation() has reported the reason; see below for the result 1
  }
  // An abort stops only the current read, but VTK does not reset AbortExecute.
  this->AbortExecute = 0;
  try {
    ReadRequest request = this->MakeReadRequest(info);
    const ReadObserver observer{[this](double fraction, const std::string& text) {
                                  this->ReportProgress(fraction, text);
                                  return !this->AbortExecute;
                                },
        [this](const std::string& text) { this->ReportWarning(text); }};
    if (this->ReadStep(this->RequestedStep(info), request, observer, output)) {
      request.KeptGrids = self.Frames.Key;
      self.Session.Prefetch(*self.Ranks, request, observer);
      this->AbortExecute = 0;  // an abort of the prefetch does not apply to this step
    } else {
      // After a stopped read, the output is empty, and the abort must not stop later filters.
      output->Initialize();
      this->ReportProgress(1, "Cancelled");
      this->AbortExecute = 0;
      return 1;
    }
  } catch (const std::exception&) {
    this->ReportError(CaughtError());
    output->Initialize();
    self.Session.Reports.ClearText();
    // If the result were 0, Plot Selection Over Time and similar filters would request this step forever.
    return 1;
  }
  this->ReportProgress(1, "");
  return 1;
}

/// Returns the index of the time step that an update requests.
std::size_t vtkPatchReader::RequestedStep(vtkInformation* info) const
{
  return info->Has(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP())
             ? StepAtTime(this->Internal->Session.Series.Times(),
                   info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP()))
             : 0;
}

/// Reads the step and fills `output`. Returns false if the user has stopped the read. Throws std::exception.
/// Collective: every rank of the controller calls it.
bool vtkPatchReader::ReadStep(
    std::size_t step, const ReadRequest& request, const ReadObserver& observer, vtkDataObject* output)
{
  Internals& self = *this->Internal;
  this->ReportProgress(0, "Opening " + ShortName(self.Session.Series.Contents().Steps[step].Path));
  std::optional<LocatedStep> located = self.Session.Locate(*self.Ranks, step, request, observer);
  if (!located) {
    return false;
  }
  self.Arrays.AddArrays(located->Data());
  this->ReportWarning(self.Arrays.MissingArraysMessage(located->Data()));
  self.Facts.Update(self.Session.Series, self.Ranks.IsRankZero());
  // Frames of other blocks release their memory before this read.
  self.Frames.DiscardUnlessKey(located->GridsKey());
  std::optional<LoadedStep> loaded = self.Session.Load(std::move(*located), request, observer);
  if (loaded) {
    this->MakeOutput(*loaded, output);
  }
  return loaded.has_value();
}

/// Fills `output` from the loaded values, and makes the report. Throws std::exception. Collective: every rank
/// of the controller calls it.
void vtkPatchReader::MakeOutput(LoadedStep& loaded, vtkDataObject* output)
{
  Internals& self = *this->Internal;
  this->ReportProgress(0, "Building blocks");
  const bool images = DecidePointImages(*self.Ranks, loaded, self.Frames);
  const int cores = self.Ranks.Cores();
  RunOnAllRanks(
      *self.Ranks, [&] { AssembleOutput(loaded, (*self.Ranks).Rank(), cores, images, self.Frames, output); });
  if (loaded.Options.Slice) {
    this->ReportWarning(SliceOutput(*self.Ranks, loaded, vtkMultiBlockDataSet::SafeDownCast(output)));
  }
  this->ReportWarning(this->OutputsAmr() ? AmrUnsupportedMessage(loaded.Data()) : "");
  output->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), self.Session.Series.CurrentTime());
  loaded.Report().FilterThreads = this->ChooseFilterThreads(loaded.MeanCellsPerBlock());
  self.SurfaceFirst = DecideSurfaceFirst(loaded);
  self.Session.Report(loaded);
  this->ReportWarning(loaded.Warning());
}

/// Returns the request for an update of VTK's pipeline. Collective: every rank of the controller calls it.
ReadRequest vtkPatchReader::MakeReadRequest(vtkInformation* info)
{
  Internals& self = *this->Internal;
  ReadRequest request = this->RequestFromProperties();
  request.Options.Piece = info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_PIECE_NUMBER());
  request.Options.Pieces =
      std::max(1, info->Get(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_PIECES()));
  request.Variables = self.Arrays.Choice();
  request.FindRanges = true;
  request.RanksOnMachine = self.Ranks.RanksOnMachine();
  request.KeptGrids = self.Frames.Key;
  return request;
}

/// Sets the number of threads of VTK's filters. Returns the number of threads, as text for the report; empty
/// if ParaView's setting stays. `cellsOfBlock`: mean number of cells per block. Collective: every rank of the
/// controller calls it.
std::string vtkPatchReader::ChooseFilterThreads(double cellsOfBlock) const
{
  const int cores = this->Internal->Ranks.Cores();
  if (this->FilterThreading == FILTERS_AS_SET) {
    return {};
  }
  const bool smallBlocks = this->FilterThreading != FILTERS_ALWAYS && cellsOfBlock < LeastCellsForThreads;
  return SetFilterThreads(this->FilterThreadsPerRank > 0 ? this->FilterThreadsPerRank : cores, smallBlocks);
}

/// Shows `text`, the current activity, and the finished fraction of this activity in the status bar.
void vtkPatchReader::ReportProgress(double fraction, const std::string& text)
{
  this->SetProgressText(AsProgressText(text).c_str());
  this->UpdateProgress(fraction);
}

void vtkPatchReader::ReportWarning(const std::string& text)
{
  if (!text.empty() && this->Internal->Ranks.IsRankZero()) {
    vtkWarningMacro(<< text);
  }
}

void vtkPatchReader::ReportError(const std::string& text)
{
  if (this->Internal->Ranks.IsRankZero()) {
    vtkErrorMacro(<< text);
  }
}

void vtkPatchReader::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Follow: " << this->Follow << endl;
  for (const std::string& name : this->Internal->Session.Series.Files()) {
    os << indent << "FileName: " << name << endl;
  }
}
