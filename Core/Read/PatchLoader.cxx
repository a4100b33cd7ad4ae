#include "Read/PatchLoader.h"

#include "Exec/ReadTask.h"
#include "Plan/ReadPlan.h"
#include "Source/FileSource.h"
#include "Support/Error.h"
#include "Support/Stopwatch.h"
#include "Support/Together.h"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace patchio {
namespace {

std::vector<PatchVariable> MakeRequests(const LoadRequest& request)
{
  std::vector<PatchVariable> result;
  result.reserve(request.Patches.size() * request.Variables.size());
  for (const int patch : request.Patches) {
    for (const VariableRequest& variable : request.Variables) {
      result.push_back({patch, variable.Variable});
    }
  }
  return result;
}

}  // namespace

PatchLoader::PatchLoader(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request)
    : Data(catalog), Request(request), Requests(MakeRequests(request))
{
  const Stopwatch watch;
  this->Table = locate(this->Requests);
  this->Result.Report.LocateSeconds = watch.Seconds();
  this->Result.Report.Notes = this->Table.Notes;
  this->Result.VariableCount = request.Variables.size();
  this->Result.Arrays.resize(this->Requests.size());
  this->Messages.resize(this->Requests.size());
  for (const LocationProblem& problem : this->Table.Problems) {
    this->Messages[problem.Request] = problem.Message;
  }
  this->Plan = PlanReads(this->Table);
}

std::vector<LoadFault> PatchLoader::Faults() const
{
  std::vector<LoadFault> faults;
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    if (!this->Messages[i].empty()) {
      faults.push_back({this->Requests[i].Patch, this->Requests[i].Variable, this->Messages[i]});
    }
  }
  return faults;
}

double PatchLoader::BytesNeeded() const
{
  double bytes = 0;  // a double cannot overflow where hostile sizes are added up
  for (const std::size_t request : this->Plan) {
    bytes += static_cast<double>(this->BytesOf(request));
  }
  return bytes;
}

LoadResult PatchLoader::Read(const ProgressCallback& progress)
{
  if (this->Table.Problems.empty() || !this->Request.StopAtFault) {
    const Stopwatch watch;
    this->Allocate();
    this->Execute(progress);
    this->Result.Report.ReadSeconds = watch.Seconds();
  }
  this->Finish();
  return std::move(this->Result);
}

const VariableRequest& PatchLoader::WantedForm(std::size_t request) const
{
  return this->Request.Variables[request % this->Request.Variables.size()];
}

ArrayShape PatchLoader::ShapeOf(std::size_t request) const
{
  const VariableRequest& wanted = this->WantedForm(request);
  const Variable& variable = this->Data.Variables[wanted.Variable];
  ArrayShape shape;
  shape.Interior = this->Data.ArrayDims(this->Requests[request].Patch, variable.Center, {0, 0, 0});
  shape.StoredGhosts = variable.Ghosts;
  shape.OutputGhosts = wanted.Ghosts;
  shape.OutputComponents = wanted.OutputComponents;
  return shape;
}

std::size_t PatchLoader::BytesOf(std::size_t request) const
{
  const ArrayShape shape = this->ShapeOf(request);
  return shape.OutputTuples() * shape.OutputComponents *
         SizeOf(TypeOf(this->Table, this->Table.Locations[request]));
}

void PatchLoader::Allocate()
{
  const double wanted = this->BytesNeeded();
  if (wanted > 1e18) {
    throw Error("The selected variables are larger than any memory. Select fewer variables or levels.");
  }
  Slab slab(static_cast<std::size_t>(wanted), this->Plan.size());
  for (const std::size_t request : this->Plan) {
    const ArrayShape shape = this->ShapeOf(request);
    LoadedArray& array = this->Result.Arrays[request];
    array.Type = TypeOf(this->Table, this->Table.Locations[request]);
    array.Components = shape.OutputComponents;
    array.Tuples = shape.OutputTuples();
    array.Values = slab.Cut(this->BytesOf(request));
  }
}

void PatchLoader::Execute(const ProgressCallback& progress)
{
  const std::unique_ptr<Source> source = MakeFileSource(this->Table.Files);
  ReadMeter meter;
  std::vector<Lane> lanes;
  for (int i = 0; i < this->Request.Threads; ++i) {
    lanes.emplace_back(*source, meter);
  }
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> executed{0};
  const auto body = [&](std::size_t task, int lane) {
    if (stop) {
      return;
    }
    ++executed;
    if (!this->ExecuteOne(lanes[lane], this->Plan[task]) && this->Request.StopAtFault) {
      stop = true;
    }
  };
  const LanesOutcome outcome = RunLanes(this->Plan.size(), this->Request.Threads, body, progress);
  this->Result.Cancelled = outcome.Cancelled;
  IoReport& report = this->Result.Report;
  if (outcome.Lanes < std::min<int>(this->Request.Threads, static_cast<int>(this->Plan.size()))) {
    report.Notes.push_back("the system granted a rank only " + std::to_string(outcome.Lanes) + " of " +
                           std::to_string(this->Request.Threads) + " threads");
  }
  report.Tasks = executed;
  report.Requests = meter.Requests();
  report.Bytes = meter.Bytes();
  report.PeakInFlight = meter.PeakInFlight();
}

bool PatchLoader::ExecuteOne(Lane& lane, std::size_t request)
{
  LoadedArray& array = this->Result.Arrays[request];
  this->Messages[request] = FaultOf([&] {
    const ReadTarget target{array.Values.get(), this->ShapeOf(request), &this->WantedForm(request).Slots};
    ExecuteReadTask(lane, this->Table, this->Table.Locations[request], target);
  });
  array.Status = this->Messages[request].empty() ? ArrayStatus::Read : ArrayStatus::Failed;
  return array.Status == ArrayStatus::Read;
}

void PatchLoader::Finish()
{
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    LoadedArray& array = this->Result.Arrays[i];
    if (!this->Messages[i].empty()) {
      array.Status = ArrayStatus::Failed;
    } else if (this->Table.Locations[i].Kind == Encoding::Absent) {
      array.Status = ArrayStatus::Absent;
    }
    if (array.Status != ArrayStatus::Read) {
      array.Values.reset();
    }
  }
  this->Result.Faults = this->Faults();
  IoReport& report = this->Result.Report;
  report.Patches = this->Request.Patches.size();
  report.ThreadsMin = report.ThreadsMax = this->Request.Threads;
}

VariableRequest RequestAsStored(const Catalog& catalog, int variable)
{
  const Variable& info = catalog.Variables[variable];
  VariableRequest request{variable, info.Components, std::vector<int>(info.Components), info.Ghosts};
  std::iota(request.Slots.begin(), request.Slots.end(), 0);
  return request;
}

LoadResult LoadPatches(const Format& format, const Catalog& catalog, const LoadRequest& request,
    const ProgressCallback& progress)
{
  const auto locate = [&](const std::vector<PatchVariable>& requests) {
    return format.Locate(catalog, requests, {request.Threads, false});
  };
  return PatchLoader(locate, catalog, request).Read(progress);
}

}  // namespace patchio
