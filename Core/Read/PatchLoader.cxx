#include "Read/PatchLoader.h"

#include "Exec/ReadTask.h"
#include "Plan/ReadPlan.h"
#include "Source/FileSource.h"
#include "Support/Error.h"
#include "Support/Stopwatch.h"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace patchio {
namespace {

class Loader
{
public:
  Loader(const Format& format, const Catalog& catalog, const LoadRequest& request)
      : Data(catalog), Request(request), Requests(MakeRequests(request))
  {
    const Stopwatch watch;
    this->Table = format.Locate(catalog, this->Requests);
    this->Result.Report.LocateSeconds = watch.Seconds();
    this->Result.VariableCount = request.Variables.size();
    this->Result.Arrays.resize(this->Requests.size());
    this->Messages.resize(this->Requests.size());
    for (const LocationProblem& problem : this->Table.Problems) {
      this->Messages[problem.Request] = problem.Message;
    }
  }

  LoadResult Run(const ProgressCallback& progress)
  {
    if (this->Table.Problems.empty() || !this->Request.StopAtFault) {
      const Stopwatch watch;
      this->Plan = PlanReads(this->Table);
      this->Allocate();
      this->Execute(progress);
      this->Result.Report.ReadSeconds = watch.Seconds();
    }
    this->Finish();
    return std::move(this->Result);
  }

private:
  static std::vector<PatchVariable> MakeRequests(const LoadRequest& request)
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

  const VariableRequest& WantedForm(std::size_t request) const
  {
    return this->Request.Variables[request % this->Request.Variables.size()];
  }

  ArrayShape ShapeOf(std::size_t request) const
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

  std::size_t BytesOf(std::size_t request) const
  {
    const ArrayShape shape = this->ShapeOf(request);
    return shape.OutputTuples() * shape.OutputComponents *
           SizeOf(TypeOf(this->Table, this->Table.Locations[request]));
  }

  void Allocate();
  void Execute(const ProgressCallback& progress);
  bool ExecuteOne(Lane& lane, std::size_t request);
  void Finish();

  const Catalog& Data;
  const LoadRequest& Request;
  const std::vector<PatchVariable> Requests;
  LocationTable Table;
  std::vector<std::size_t> Plan;
  std::vector<std::string> Messages;  ///< per request, why it failed; each written by one lane only
  LoadResult Result;
};

void Loader::Allocate()
{
  double wanted = 0;  // a double cannot overflow where hostile sizes are added up
  for (const std::size_t request : this->Plan) {
    wanted += static_cast<double>(this->BytesOf(request));
  }
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

void Loader::Execute(const ProgressCallback& progress)
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
  report.Tasks = executed;
  report.Requests = meter.Requests();
  report.Bytes = meter.Bytes();
  report.PeakInFlight = meter.PeakInFlight();
}

bool Loader::ExecuteOne(Lane& lane, std::size_t request)
{
  LoadedArray& array = this->Result.Arrays[request];
  try {
    const ReadTarget target{array.Values.get(), this->ShapeOf(request), &this->WantedForm(request).Slots};
    ExecuteReadTask(lane, this->Table, this->Table.Locations[request], target);
    array.Status = ArrayStatus::Read;
    return true;
  } catch (const std::exception& error) {
    this->Messages[request] = error.what();
    return false;
  }
}

void Loader::Finish()
{
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    LoadedArray& array = this->Result.Arrays[i];
    if (!this->Messages[i].empty()) {
      array.Status = ArrayStatus::Failed;
      this->Result.Faults.push_back({this->Requests[i].Patch, this->Requests[i].Variable, this->Messages[i]});
    } else if (this->Table.Locations[i].Kind == Encoding::Absent) {
      array.Status = ArrayStatus::Absent;
    }
    if (array.Status != ArrayStatus::Read) {
      array.Values.reset();
    }
  }
  IoReport& report = this->Result.Report;
  report.Patches = this->Request.Patches.size();
  report.ThreadsMin = report.ThreadsMax = this->Request.Threads;
}

}  // namespace

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
  return Loader(format, catalog, request).Run(progress);
}

}  // namespace patchio
