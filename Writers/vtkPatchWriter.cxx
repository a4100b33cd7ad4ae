#include "vtkPatchWriter.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Filters/BlockFilter.h"
#include "Formats/Container/ContainerLog.h"
#include "InputStep.h"
#include "Write/ChannelOutput.h"
#include "vtkPatchReader.h"

#include <vtkAlgorithmOutput.h>
#include <vtkDataArraySelection.h>
#include <vtkDataObject.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiProcessController.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkStringArray.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

namespace fs = std::filesystem;
using namespace patchio;

namespace {

/// Returns the canonical absolute path of a folder, without a slash at the end.
std::string CanonicalFolder(const std::string& path)
{
  std::error_code ignored;
  fs::path folder = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return folder.has_filename() ? folder.string() : folder.parent_path().string();
}

/// Returns whether the output of an algorithm depends on data from the container `folder`.
bool DependsOn(vtkAlgorithm* algorithm, const std::string& folder)
{
  if (auto* reader = vtkPatchReader::SafeDownCast(algorithm)) {
    for (int i = 0; i < reader->GetNumberOfFileNames(); ++i) {
      const std::string file = CanonicalFolder(reader->GetFileName(i));
      if (file == folder || BeginsWith(file, folder + "/")) {
        return true;
      }
    }
  }
  for (int port = 0; port < algorithm->GetNumberOfInputPorts(); ++port) {
    for (int i = 0; i < algorithm->GetNumberOfInputConnections(port); ++i) {
      if (DependsOn(algorithm->GetInputAlgorithm(port, i), folder)) {
        return true;
      }
    }
  }
  return false;
}

/// The number and the time of a step, if the data have a number or a time.
struct NumberAndTime
{
  std::int64_t Step = -1;                                  ///< -1: unknown
  double Time = std::numeric_limits<double>::quiet_NaN();  ///< NaN: unknown
};

/// Returns the number and the time of the step in the data of this rank, which may be null.
NumberAndTime NumberAndTimeOf(vtkDataObject* data)
{
  NumberAndTime found;
  if (data) {
    vtkInformation* const info = data->GetInformation();
    found.Step = static_cast<std::int64_t>(NumberInFieldData(data, "step", -1));
    found.Time = info->Has(vtkDataObject::DATA_TIME_STEP()) ? info->Get(vtkDataObject::DATA_TIME_STEP())
                                                            : NumberInFieldData(data, "time", found.Time);
  }
  return found;
}

/// Returns the number and the time of the step, each from the first rank whose data have the value.
/// Collective: every rank of the communicator calls it.
NumberAndTime NumberAndTimeOf(Communicator& ranks, vtkDataObject* data)
{
  NumberAndTime found;
  for (const NumberAndTime& one : GatherValues(ranks, std::vector<NumberAndTime>{NumberAndTimeOf(data)})) {
    found.Step = found.Step >= 0 ? found.Step : one.Step;
    found.Time = std::isnan(found.Time) ? one.Time : found.Time;
  }
  return found;
}

/// Returns the date of the step from the first rank whose data have a date; empty if no rank has a date.
/// Collective: every rank of the communicator calls it.
std::string DateOf(Communicator& ranks, vtkDataObject* data)
{
  vtkAbstractArray* const array =
      data && data->GetFieldData() ? data->GetFieldData()->GetAbstractArray("date") : nullptr;
  auto* const text = vtkStringArray::SafeDownCast(array);
  return FirstNonEmpty(ranks, text && text->GetNumberOfValues() == 1 ? text->GetValue(0) : std::string());
}

/// Returns whether the writer has an output configuration.
bool IsConfigured(vtkPatchWriter& writer)
{
  return writer.GetOutputConfiguration() && *writer.GetOutputConfiguration();
}

container::CompressionChoice CompressionOf(FilterType type)
{
  return type == FilterType::Deflate ? container::CompressionChoice::Deflate
         : type == FilterType::Zstd  ? container::CompressionChoice::Zstd
                                     : container::CompressionChoice::Off;
}

/// Returns the output configuration of the writer, with paths relative to the parent folder of `path`. If the
/// writer has no configuration, returns a configuration with one channel, which writes the container `path`.
/// `begins`: true if the output begins a new container. Throws Error.
output::OutputConfig OutputConfigOf(vtkPatchWriter& writer, const fs::path& path, bool begins)
{
  output::OutputConfig config;
  if (IsConfigured(writer)) {
    config = output::ReadOutputConfig(writer.GetOutputConfiguration());
    for (output::Channel& channel : config.Channels) {
      channel.Path = (path.parent_path() / channel.Path).string();
    }
    return config;
  }
  const bool inBackground = writer.GetWriteInBackground();
  config.WriteMode = inBackground ? output::Mode::Thread : output::Mode::Direct;
  output::Channel& channel = config.Channels.emplace_back();
  channel.Name = inBackground ? path.filename().string() : "";
  channel.Path = path.string();
  channel.StepRanges.emplace_back();
  channel.Overwrite = begins && writer.GetOverwrite();
  channel.RanksPerFile = writer.GetRanksAFile();
  return config;
}

}  // namespace

/// A step of the input on this rank.
struct vtkPatchWriter::SourceStep
{
  vtkDataObject* Data = nullptr;  ///< data of this rank
  std::string Date;
  std::int64_t Number = 0;
  double Time = 0;

  /// Sets the date, the number and the time of `input`, and adds its notes to `notes`.
  void ApplyTo(InputStep& input, std::set<std::string>& notes) const
  {
    notes.insert(input.Notes().begin(), input.Notes().end());
    input.GetCatalog().Date = this->Date;
    input.GetCatalog().Step = this->Number;
    input.GetCatalog().Time = this->Time;
  }
};

/// The state of the writer, which lasts from call to call.
struct vtkPatchWriter::Internals
{
  /// Waits until the background output has written all its steps, and ends the output. Throws Error.
  /// Collective: every rank of the controller calls it.
  void EndBackground()
  {
    if (const auto ended = std::move(this->Background)) {
      ended->Finish();
    }
  }

  /// Returns a function that accepts arrays: all arrays or, if `chooses` is true, only arrays that are
  /// enabled in the selections; and only arrays in `names`, unless `names` is empty.
  ArrayChoice MakeArrayChoice(bool chooses, const std::vector<std::string>& names) const
  {
    return [=](const char* name, Centering center) {
      vtkDataArraySelection* const chosen = center == Centering::Cell ? this->Cells : this->Points;
      return (!chooses || chosen->ArrayIsEnabled(name)) &&
             (names.empty() || std::find(names.begin(), names.end(), name) != names.end());
    };
  }

  vtkSmartPointer<vtkMultiProcessController> Controller;
  vtkNew<vtkDataArraySelection> Cells, Points;
  std::string Folder;  ///< folder of the last written container
  /// Numbers and times of the steps in Folder that this writer has written.
  std::map<std::int64_t, double> Steps;
  std::unique_ptr<Communicator> BackgroundRanks;  ///< the ranks of Background
  /// Writes steps while the next step is computed; null: no output is written in the background.
  std::unique_ptr<output::ChannelOutput> Background;
};

vtkStandardNewMacro(vtkPatchWriter);

vtkPatchWriter::vtkPatchWriter() : Internal(new Internals)
{
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

/// Waits until this rank's thread has written all steps. Rank 0 reports the errors of its thread.
vtkPatchWriter::~vtkPatchWriter()
{
  if (this->Internal->Background) {
    const std::string fault = this->Internal->Background->FinishLocally();
    if (!fault.empty() && this->Internal->BackgroundRanks->Rank() == 0) {
      vtkErrorMacro(<< fault);
    }
  }
  this->SetFileName(nullptr);
  this->SetOutputConfiguration(nullptr);
}

void vtkPatchWriter::SetController(vtkMultiProcessController* controller)
{
  this->Internal->Controller = controller;
}

vtkMultiProcessController* vtkPatchWriter::GetController()
{
  return this->Internal->Controller;
}

vtkDataArraySelection* vtkPatchWriter::GetPointDataArraySelection()
{
  return this->Internal->Points;
}

vtkDataArraySelection* vtkPatchWriter::GetCellDataArraySelection()
{
  return this->Internal->Cells;
}

int vtkPatchWriter::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataObject");
  return 1;
}

int vtkPatchWriter::Write()
{
  try {
    this->WriteSteps();
    this->WriteTime.Modified();
    return 1;
  } catch (const std::exception&) {
    const std::string fault = CaughtError();
    const std::unique_ptr<Communicator> ranks = MakeCommunicator(this->Internal->Controller);
    if (ranks->Rank() == 0) {
      vtkErrorMacro(<< fault);
    }
    return 0;
  }
}

/// Writes the steps of StepsToWrite(). Throws Error. Collective: every rank of the controller calls it.
void vtkPatchWriter::WriteSteps()
{
  Internals& self = *this->Internal;
  const std::unique_ptr<Communicator> ranks = MakeCommunicator(self.Controller);
  std::string folder;
  RunOnAllRanks(*ranks, [&] { folder = this->FolderToWrite(); });
  if (folder != self.Folder) {
    self.Folder = folder;
    self.Steps.clear();
  }
  std::unique_ptr<output::ChannelOutput> directOutput;  // the output ends with this call, also after an error
  std::set<std::string> notes;
  const std::vector<int> indices = this->StepsToWrite();
  if (this->RepeatsLaterStep(indices)) {
    self.Steps.clear();
  }
  const bool inBackground = this->WriteInBackground || IsConfigured(*this);
  bool isFirst = true;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    this->UpdateProgress(static_cast<double>(i) / static_cast<double>(indices.size()));
    SourceStep step{this->UpdateInput(indices[i], ranks->Rank(), ranks->Size()), {}, -1, 0};
    step.Date = DateOf(*ranks, step.Data);
    const NumberAndTime found = NumberAndTimeOf(*ranks, step.Data);
    step.Time = std::isnan(found.Time) ? 0 : found.Time;
    step.Number = this->ChooseStepNumber(found.Step, step.Time, isFirst);
    if (step.Number < 0) {
      continue;
    }
    isFirst = false;
    const bool begins = self.Steps.empty();
    const bool opens = inBackground ? begins || !self.Background : !directOutput;
    const std::string earlierError = opens ? CatchError([&] { self.EndBackground(); }) : "";
    if (opens) {
      output::OutputConfig config;
      RunOnAllRanks(*ranks, [&] { config = OutputConfigOf(*this, self.Folder, begins); });
      if (inBackground) {
        self.BackgroundRanks = MakeCommunicator(self.Controller);
      }
      (inBackground ? self.Background : directOutput)
          .reset(new output::ChannelOutput(config, inBackground ? *self.BackgroundRanks : *ranks));
    }
    this->WriteStep(inBackground ? *self.Background : *directOutput, *ranks, step, notes);
    ThrowFault(earlierError);
  }
  if (ranks->Rank() == 0 && !notes.empty()) {
    vtkWarningMacro(<< JoinLines({notes.begin(), notes.end()}));
  }
  if (self.Background && this->WriteAllTimeSteps) {
    self.Background->Finish();
  }
  this->UpdateProgress(1);
}

/// Writes a step to the channels that select the step, and adds the step to Internals::Steps. Throws Error.
/// Collective: every rank of the controller calls it.
void vtkPatchWriter::WriteStep(
    output::ChannelOutput& to, Communicator& ranks, const SourceStep& step, std::set<std::string>& notes)
{
  Internals& self = *this->Internal;
  for (std::size_t c = 0; c < to.Channels().size(); ++c) {
    const output::Channel& channel = to.Channels()[c];
    if (!channel.WritesStep(step.Number)) {
      continue;
    }
    InputStep input(ranks, step.Data, self.MakeArrayChoice(this->ChooseArrays, channel.Variables));
    step.ApplyTo(input, notes);
    for (const std::string& name : channel.Variables) {
      if (input.GetCatalog().FindVariable(name) < 0) {
        throw Error(
            fmt::format("Channel '{}' selects the array '{}', which the data do not have or Choose "
                        "Arrays To Write excludes. Correct \"variables\" in the output configuration.",
                channel.Name, PlainText(name)));
      }
    }
    input.WriteTo(to, c,
        IsConfigured(*this) ? CompressionOf(channel.Compression)
                            : static_cast<container::CompressionChoice>(this->Compression));
    if (to.Thread().IsAsynchronous()) {  // the thread writes the step, also after faults of earlier steps
      self.Steps[step.Number] = step.Time;
    }
    to.ThrowNewFaults();
  }
  self.Steps[step.Number] = step.Time;
}

/// Returns the folder of the container. Throws Error if FileName or the input is missing, if the folder lies
/// in a container, or if the input depends on data from the folder.
std::string vtkPatchWriter::FolderToWrite()
{
  if (!this->FileName || !*this->FileName) {
    throw Error("No file name is set. Set the name of the container to write, for example 'run.pio'.");
  }
  if (this->GetNumberOfInputConnections(0) == 0) {
    throw Error(fmt::format("{}: the writer has no input. Set an input.", this->FileName));
  }
  const std::string folder = CanonicalFolder(this->FileName);
  if (container::IsContainer(fs::path(folder).parent_path().string())) {
    throw Error(fmt::format(
        "{}: this name is within a container. Choose another folder, or delete the container to replace it.",
        this->FileName));
  }
  if (DependsOn(this->GetInputAlgorithm(0, 0), folder)) {
    throw Error(
        fmt::format("{}: the data to write come from this container. Choose another name.", this->FileName));
  }
  return folder;
}

/// Returns the indices of the time steps of the input to write; a single -1 for the current step. Throws
/// Error if no step is selected.
std::vector<int> vtkPatchWriter::StepsToWrite()
{
  vtkAlgorithmOutput* const from = this->GetInputConnection(0, 0);
  from->GetProducer()->UpdateInformation();
  const int steps = static_cast<int>(this->TimesOfInput().size());
  const int last = this->MaxTimeStep < this->MinTimeStep ? steps - 1 : std::min(this->MaxTimeStep, steps - 1);
  std::vector<int> indices;
  for (std::int64_t i = this->MinTimeStep; this->WriteAllTimeSteps && i <= last; i += this->TimeStepStride) {
    indices.push_back(static_cast<int>(i));
  }
  if (this->WriteAllTimeSteps && steps > 0 && indices.empty()) {
    throw Error(fmt::format("{}: Min Time Step is {}, but the data have {} time steps, numbered 0 to {}.",
        this->FileName, this->MinTimeStep, steps, steps - 1));
  }
  return indices.empty() ? std::vector<int>{-1} : indices;
}

/// Returns whether an earlier call has written any of the steps `indices` (see StepsToWrite()) except the
/// first one, so that this call begins a new container. ChooseStepNumber() decides about the first step.
bool vtkPatchWriter::RepeatsLaterStep(const std::vector<int>& indices)
{
  const std::map<std::int64_t, double>& steps = this->Internal->Steps;
  const std::vector<double> times = this->TimesOfInput();
  return std::any_of(indices.begin() + 1, indices.end(), [&](int index) {
    return std::any_of(
        steps.begin(), steps.end(), [&](const auto& step) { return step.second == times[index]; });
  });
}

/// Returns the times of all time steps of the input.
std::vector<double> vtkPatchWriter::TimesOfInput()
{
  vtkInformation* const info = this->GetInputInformation(0, 0);
  const double* const times = info->Get(vtkStreamingDemandDrivenPipeline::TIME_STEPS());
  return times ? std::vector<double>(
                     times, times + info->Length(vtkStreamingDemandDrivenPipeline::TIME_STEPS()))
               : std::vector<double>();
}

/// Updates the input to the time step with the index `index`, or to the current step if `index` is negative,
/// and returns the data of this rank, the piece `piece` of `pieces`, without ghost cells.
vtkDataObject* vtkPatchWriter::UpdateInput(int index, int piece, int pieces)
{
  vtkAlgorithmOutput* const from = this->GetInputConnection(0, 0);
  vtkAlgorithm* const producer = from->GetProducer();
  vtkNew<vtkInformationVector> requests;
  requests->SetNumberOfInformationObjects(producer->GetNumberOfOutputPorts());
  vtkInformation* const request = requests->GetInformationObject(from->GetIndex());
  request->Set(vtkStreamingDemandDrivenPipeline::UPDATE_PIECE_NUMBER(), piece);
  request->Set(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_PIECES(), pieces);
  request->Set(vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
  if (index >= 0) {
    request->Set(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP(), this->TimesOfInput()[index]);
  }
  producer->Update(from->GetIndex(), requests);
  return producer->GetOutputDataObject(from->GetIndex());
}

/// Returns the number of a step: `numberInData` if the data have a number; otherwise the index of `time` in
/// the times of the input; otherwise, or if a later step of a call has a number that is already written, the
/// number after the last written number. If an earlier call has written the first step of this call, clears
/// the list of written steps, so that the writer begins a new container. But returns -1 for the last of
/// several written steps, because ParaView writes this step again while it plays the times of other data.
/// `isFirst`: true for the first step of a call.
std::int64_t vtkPatchWriter::ChooseStepNumber(std::int64_t numberInData, double time, bool isFirst)
{
  std::map<std::int64_t, double>& steps = this->Internal->Steps;
  const std::vector<double> times = this->TimesOfInput();
  const auto found = std::find(times.begin(), times.end(), time);
  const std::int64_t next = steps.empty() ? 0 : steps.rbegin()->first + 1;
  const std::int64_t number = numberInData >= 0      ? numberInData
                              : found != times.end() ? found - times.begin()
                                                     : next;
  const bool isKnown = std::any_of(steps.begin(), steps.end(),
      [&](const auto& step) { return step.first == number || (numberInData < 0 && step.second == time); });
  if (!isKnown || !isFirst) {
    return steps.count(number) > 0 ? next : number;
  }
  if (steps.size() > 1 && steps.rbegin()->second == time) {
    return -1;
  }
  steps.clear();
  return number == next ? 0 : number;
}

void vtkPatchWriter::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "FileName: " << (this->FileName ? this->FileName : "(none)") << endl;
  os << indent << "Overwrite: " << this->Overwrite << endl;
  os << indent << "ChooseArrays: " << this->ChooseArrays << endl;
  os << indent << "WriteAllTimeSteps: " << this->WriteAllTimeSteps << endl;
  os << indent << "MinTimeStep: " << this->MinTimeStep << endl;
  os << indent << "MaxTimeStep: " << this->MaxTimeStep << endl;
  os << indent << "TimeStepStride: " << this->TimeStepStride << endl;
  os << indent << "RanksAFile: " << this->RanksAFile << endl;
  os << indent << "Compression: " << this->Compression << endl;
  os << indent << "WriteInBackground: " << this->WriteInBackground << endl;
  os << indent
     << "OutputConfiguration: " << (this->OutputConfiguration ? this->OutputConfiguration : "(none)") << endl;
}
