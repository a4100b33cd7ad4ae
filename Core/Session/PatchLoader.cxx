#include "Session/PatchLoader.h"

#include "Io/LibraryRead.h"
#include "Session/ValueCache.h"
#include "Support/Error.h"
#include "Support/Memory.h"
#include "Support/RunOnAllRanks.h"
#include "Tuning/ReadControl.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

namespace patchio {
namespace {

/// Tasks at work get so long to end when the read is stopped, so that usually none is left behind.
constexpr std::chrono::milliseconds Grace(50);
/// Shorter reads take no longer than to start a thread and to wait for it.
constexpr std::uint64_t ShortBytes = 2 << 20;

}  // namespace

PatchLoader::PatchLoader(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
    std::shared_ptr<const LoadRequest> request)
    : Job(std::make_shared<ReadJob>(locate, catalog, request))
{
  if (!this->MakeRoom() && this->Job->Arrays().CopyCount() > 0 && !request->Ahead) {
    // There is no room for old and new arrays beside each other.
    this->Job.reset();
    request->Cache->Clear();
    this->Job = std::make_shared<ReadJob>(locate, std::move(catalog), std::move(request), false);
  }
  this->Job->Arrays().CountReused(this->Result.Report);
  this->Result.Report.LocateSeconds = this->Watch.Seconds();
  this->Result.Report.Notes = this->Job->Table().Notes;
  this->Result.VariableCount = this->Job->Request().Variables.size();
  this->BytesToRead = this->Job->BytesToRead();
}

PatchLoader::PatchLoader(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request)
    : PatchLoader(
          locate, std::make_shared<const Catalog>(catalog), std::make_shared<const LoadRequest>(request))
{
}

/// The cache gives way to the new arrays, so that they get its memory. False when that does not suffice.
bool PatchLoader::MakeRoom()
{
  const LoadRequest& request = this->Job->Request();
  if (!request.Cache) {
    return true;
  }
  MemoryPool none;
  MemoryPool& pool = request.Memory ? *request.Memory : none;
  this->SizePool(pool);
  return request.Cache->MakeRoom(
      pool, this->Job->Arrays().Bytes(), this->Job->Arrays().Used(), request.Ahead);
}

std::vector<std::string> PatchLoader::Files() const
{
  std::vector<std::string> files = this->Job->Table().Files;
  const std::shared_ptr<const FilesSeen> ofReused = this->Job->Arrays().JoinFiles({});
  for (const auto& file : *ofReused) {
    files.push_back(file.first);
  }
  return files;
}

double PatchLoader::BytesNeeded() const
{
  const auto& memory = this->Job->Request().Memory;
  const double kept = memory ? static_cast<double>(memory->KeptBytes()) : 0;
  return std::max(0.0, this->Job->Arrays().Bytes() - kept);
}

void PatchLoader::Start(const PatchLoader* before)
{
  assert(this->Tasks);
  if (before) {
    this->Tasks->SetLimitAfter(*before->Tasks, this->Threads());
  } else {
    this->Tasks->SetLimit(this->Threads());
  }
}

void PatchLoader::Cancel()
{
  if (this->Tasks) {
    this->Tasks->Cancel();
  }
}

LoadResult PatchLoader::Read(const ReadProgressCallback& progress)
{
  IoReport& report = this->Result.Report;
  this->Watch = Stopwatch();
  report.Ahead = this->Tasks && this->Tasks->HasBegun() ? 1 : 0;
  if (this->Job->Table().Problems.empty() || !this->Job->Request().StopAtFault) {
    report.BytesAhead = this->Job->Meter().Bytes();
    this->Allocate();
    this->Execute(progress);
    report.WaitSeconds = this->Watch.Seconds();
    report.ReadSeconds = report.WaitSeconds;
    if (report.Ahead) {
      report.ReadSeconds = this->Tasks->Seconds();
      report.Moments.clear();  // nobody looked on while most was read
    }
  }
  this->Finish();
  return std::move(this->Result);
}

/// The next step is of about this size; small surpluses come from rounding.
void PatchLoader::SizePool(MemoryPool& pool) const
{
  constexpr std::uint64_t MiB = 1 << 20;
  const auto wanted = static_cast<std::uint64_t>(std::min(this->Job->Arrays().Bytes(), 1e18));
  const std::uint64_t again = wanted + wanted / 4 + std::min(wanted, 64 * MiB) + MiB;
  pool.Keep(std::min(again, AvailableMemory() / 2));
}

/// Arrays lie in memory in the order in which they are read.
void PatchLoader::Allocate()
{
  if (this->Tasks) {
    return;
  }
  BlockArrays& arrays = this->Job->Arrays();
  const ReadPlan& plan = this->Job->Plan();
  const double wanted = arrays.Bytes();
  if (wanted > 1e18) {
    throw Error("The selected variables are larger than any memory. Select fewer variables or levels.");
  }
  MemoryPool fresh;
  MemoryPool& pool = this->Job->Request().Memory ? *this->Job->Request().Memory : fresh;
  this->SizePool(pool);
  std::vector<std::uint32_t> order;
  for (const Piece& piece : plan.Pieces) {
    order.push_back(piece.Task);
  }
  for (const auto* tasks : {&plan.Whole, &plan.Constant, &plan.Library}) {
    order.insert(order.end(), tasks->begin(), tasks->end());
  }
  arrays.Allocate(pool, order);
  // What is kept and was of no use now is none to the next step either.
  pool.Trim(static_cast<std::uint64_t>(wanted / 20));
  this->Job->GetReady();
  this->Tasks = std::make_unique<IoScheduler>(
      this->Job->Units(), [job = this->Job](std::size_t unit) { job->Execute(unit); },
      this->Job->Request().Ahead ? TaskPriority::Prefetch : TaskPriority::Read);
}

void PatchLoader::Execute(const ReadProgressCallback& progress)
{
  const double byLibrary = static_cast<double>(this->Job->Plan().Library.size());
  const double all = byLibrary + static_cast<double>(this->Job->Units());
  this->LibraryShare = all > 0 ? byLibrary / all : 0;
  if (this->ReadThroughLibrary(progress)) {
    this->ReadInTasks(progress);
  } else {
    this->Stop();
  }
  this->ReportTasks();
}

/// On this thread, as the library bears only one. False when the read must stop.
bool PatchLoader::ReadThroughLibrary(const ReadProgressCallback& progress)
{
  LibraryReader library;
  ReadJob& job = *this->Job;
  std::map<std::string, std::size_t> reasons;
  const std::vector<std::uint32_t>& tasks = job.Plan().Library;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Location& location = job.Table().Locations[tasks[i]];
    ++reasons[job.Table().LibraryArrays[location.First].Reason];
    const std::string fault =
        CatchError([&] { library.Read(job.Table(), location, job.Arrays().TargetOf(tasks[i])); });
    if (fault.empty()) {
      job.Done(tasks[i]);
    } else {
      job.Failed(tasks[i], fault);
      if (job.Request().StopAtFault) {
        return false;
      }
    }
    if (!this->GoesOn(progress, static_cast<double>(i + 1) / static_cast<double>(tasks.size()), 0)) {
      return false;
    }
  }
  for (const auto& [reason, count] : reasons) {
    this->Result.Report.Notes.push_back(
        std::to_string(count) + " arrays were read by the HDF5 library, on one thread: " + reason);
  }
  return true;
}

TimelinePoint PatchLoader::MomentNow() const
{
  const ReadMeter& meter = this->Job->Meter();
  return {this->Watch.Seconds(), static_cast<double>(meter.Bytes()), double(meter.InFlightNow())};
}

/// Tells how far it is, in parts of what the library and what the tasks read. False when the read shall stop.
bool PatchLoader::GoesOn(const ReadProgressCallback& progress, double ofLibrary, double ofTasks)
{
  this->Moments.Add(this->MomentNow());
  if (!progress) {
    return true;
  }
  ReadProgress now;
  now.BytesToRead = this->BytesToRead;
  now.Bytes = std::min(this->Job->Meter().Bytes(), now.BytesToRead);
  now.Seconds = this->Watch.Seconds();
  now.Fraction = ofLibrary * this->LibraryShare + ofTasks * (1 - this->LibraryShare);
  this->Result.Cancelled = !progress(now);
  return !this->Result.Cancelled;
}

void PatchLoader::ReadInTasks(const ReadProgressCallback& progress)
{
  if (this->Tasks->HasBegun() || !this->IsShort()) {
    this->Tasks->SetLimit(this->Threads());
  }
  if (this->Tasks->Width() == 0) {
    this->ReadHere(progress);
  }
  this->Wait(progress);
}

/// One request, or one after another.
bool PatchLoader::IsShort() const
{
  const ReadControl* const control = this->Job->Request().Control;
  const int most = control ? control->MostThreads() : this->Job->Request().Threads;
  return this->BytesToRead < ShortBytes && (this->Job->Units() <= 1 || most <= 1);
}

/// The concurrency limit for now.
int PatchLoader::Threads() const
{
  const ReadControl* const control = this->Job->Request().Control;
  return control ? control->Threads() : this->Job->Request().Threads;
}

/// This thread reads, as the read is short or no other thread is granted.
void PatchLoader::ReadHere(const ReadProgressCallback& progress)
{
  while (this->Tasks->TakeTask()) {
    this->StepControl();
    if (!this->GoesOn(progress, 1, this->Tasks->Fraction())) {
      this->Tasks->Cancel();
    }
  }
}

/// The tasks read; this thread says how far they are.
void PatchLoader::Wait(const ReadProgressCallback& progress)
{
  while (!this->Tasks->WaitFor(PollInterval)) {
    this->StepControl();
    if (!this->GoesOn(progress, 1, this->Tasks->Fraction())) {
      this->Stop();
      return;
    }
    this->Tasks->SetLimit(this->Threads());
  }
  if (this->Tasks->Width() > 0 && !this->Result.Cancelled) {
    this->GoesOn(progress, 1, 1);
  }
}

void PatchLoader::StepControl()
{
  if (ReadControl* const control = this->Job->Request().Control) {
    control->Step(this->Job->Meter());
  }
}

void PatchLoader::Stop()
{
  this->Tasks->Cancel();
  this->LeftBehind = !this->Tasks->WaitFor(Grace);
}

void PatchLoader::ReportTasks()
{
  IoReport& report = this->Result.Report;
  if (this->Tasks->Refused() > 0) {
    report.Notes.push_back("TBB and the system granted a rank only " +
                           std::to_string(std::max(this->Tasks->Width(), 1)) + " of " +
                           std::to_string(this->Tasks->Refused()) + " threads");
  }
  report.Requests = this->Job->Meter().Requests();
  report.Bytes = this->Job->Meter().Bytes();
  report.ArenaWidth = this->Tasks->Width();
  report.PeakInFlight = this->Job->Meter().PeakInFlight();
  this->Moments.End(this->MomentNow());
  report.Moments = this->Moments.Points();
  report.StorageSeconds = this->Job->Meter().BusySeconds();
  report.DecodeSeconds = std::max(0.0, this->Job->Meter().WorkSeconds() - report.StorageSeconds);
  report.Tasks = this->Job->TasksDone();
}

/// An array that should have come and did not must not vanish without a word.
void PatchLoader::FindUnread()
{
  ReadJob& job = *this->Job;
  const std::vector<PatchVariable>& requests = job.Requests();
  const bool complete = !this->Result.Cancelled && job.Faults().empty();
  for (std::size_t i = 0; complete && i < requests.size(); ++i) {
    const Encoding kind = job.Table().Locations[i].Kind;
    if (kind == Encoding::Missing || (kind != Encoding::Absent && job.Arrays().Waits(i))) {
      const Error error = FileError(job.Data().Path,
          "values of '" + job.Data().Variables[requests[i].Variable].Name + "' on patch " +
              std::to_string(requests[i].Patch),
          "none", "What is known of the dump is incomplete");
      job.Failed(static_cast<std::uint32_t>(i), error.what());
    }
  }
}

void PatchLoader::Finish()
{
  ReadJob& job = *this->Job;
  this->FindUnread();
  if (this->LeftBehind) {
    this->Result.Arrays.resize(job.Arrays().Count());
  } else {
    job.FailArrays();
    this->Result.Arrays = job.Arrays().Take();
    job.Keep(this->Result.Arrays);
  }
  this->Result.Faults = job.Faults();
  IoReport& report = this->Result.Report;
  report.Patches = job.Arrays().PatchCount();
  const ReadControl* const control = job.Request().Control;
  report.ThreadsMin = report.ThreadsMax =
      control ? static_cast<int>(std::lround(control->MeanThreads())) : job.Request().Threads;
}

LoadResult LoadPatches(const Format& format, const Catalog& catalog, const LoadRequest& request,
    const ReadProgressCallback& progress)
{
  const auto locate = [&](const std::vector<PatchVariable>& requests) {
    return format.Locate(catalog, requests, {request.Threads, false});
  };
  return PatchLoader(locate, catalog, request).Read(progress);
}

}  // namespace patchio
