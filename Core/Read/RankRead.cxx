#include "Read/RankRead.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Text.h"
#include "Hdf5/LibraryFile.h"
#include "Io/FileSource.h"
#include "Io/ReadTask.h"
#include "Read/ValueCache.h"
#include "Tuning/ReadControl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace patchio {

namespace {

/// Time for which a stopped read waits for active tasks, so that usually no task is left behind.
constexpr std::chrono::milliseconds Grace(50);
/// Greatest number of bytes of a short read, which takes no longer than starting a thread and waiting for the
/// thread.
constexpr std::uint64_t ShortBytes = 2 << 20;

}  // namespace

RankRead::RankRead(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
    std::shared_ptr<const LoadRequest> request)
    : Shared(std::make_shared<RankTasks>(locate, catalog, request))
{
  if (!this->MakeRoom() && !this->Shared->Arrays.FromCache().Copied().empty() && !request->IsPrefetch) {
    // There is not enough memory for old and new arrays at the same time.
    this->Shared.reset();
    request->Cache->Clear();
    this->Shared = std::make_shared<RankTasks>(locate, std::move(catalog), std::move(request), false);
  }
  this->Shared->Arrays.FromCache().AddToReport(this->Result.Report);
  this->Result.Report.LocateSeconds = this->Watch.Seconds();
  this->Result.Report.Notes = this->Shared->Table.Notes;
  this->Result.VariableCount = this->Shared->Request->Variables.size();
  this->BytesToRead = this->Shared->BytesToRead();
}

RankRead::RankRead(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request)
    : RankRead(locate, std::make_shared<const Catalog>(catalog), std::make_shared<const LoadRequest>(request))
{
}

/// Drops cached values to make room for the new arrays. Returns false if the memory is still not enough.
bool RankRead::MakeRoom()
{
  const LoadRequest& request = *this->Shared->Request;
  if (!request.Cache) {
    return true;
  }
  this->SizePool(*request.Memory);
  return request.Cache->MakeRoom(*request.Memory, this->Shared->Arrays.Bytes(),
      this->Shared->Arrays.FromCache().UsedValues(), request.IsPrefetch);
}

std::vector<std::string> RankRead::Files() const
{
  std::vector<std::string> files = this->Shared->Table.Files;
  const std::shared_ptr<const FileFingerprints> ofReused = this->Shared->Arrays.FromCache().JoinFiles({});
  for (const auto& file : *ofReused) {
    files.push_back(file.first);
  }
  return files;
}

double RankRead::BytesNeeded() const
{
  const auto kept = static_cast<double>(this->Shared->Request->Memory->KeptBytes());
  return std::max(0.0, this->Shared->Arrays.Bytes() - kept);
}

void RankRead::Start(const RankRead* previous)
{
  assert(this->Tasks);
  if (previous) {
    this->Tasks->SetLimitAfter(*previous->Tasks, this->ThreadLimit());
  } else {
    this->Tasks->SetLimit(this->ThreadLimit());
  }
}

void RankRead::Cancel()
{
  if (this->Tasks) {
    this->Tasks->Cancel();
  }
}

LoadResult RankRead::Read(const ReadProgressCallback& progress)
{
  IoReport& report = this->Result.Report;
  this->Watch = Stopwatch();
  report.Prefetches = this->Tasks && this->Tasks->HasBegun() ? 1 : 0;
  if (this->Shared->Table.Problems.empty() || !this->Shared->Request->StopAtFault) {
    report.PrefetchedBytes = this->Shared->Meter.Bytes();
    this->Allocate();
    const double byLibrary = static_cast<double>(this->Shared->Plan.LibraryTasks.size());
    const double all = byLibrary + static_cast<double>(this->Shared->TaskCount());
    this->LibraryShare = all > 0 ? byLibrary / all : 0;
    if (this->ReadThroughLibrary(progress)) {
      this->ReadInTasks(progress);
    } else {
      this->Stop();
    }
    this->Tasks->Rethrow();
    this->ReportTasks();
    report.WaitSeconds = this->Watch.Seconds();
    report.ReadSeconds = report.WaitSeconds;
    if (report.Prefetches) {
      report.ReadSeconds = this->Tasks->Seconds();
      report.Timeline.clear();  // nothing observed the progress while most values were read
    }
  }
  this->Finish();
  return std::move(this->Result);
}

/// Sets the memory that the pool keeps for the next step: about the size of this step and a surplus for
/// rounding, but at most half of the free memory.
void RankRead::SizePool(MemoryPool& pool) const
{
  const auto wanted = static_cast<std::uint64_t>(std::min(this->Shared->Arrays.Bytes(), 1e18));
  const std::uint64_t again = wanted + wanted / 4 + std::min(wanted, 64 * MiB) + MiB;
  pool.SetKeptLimit(std::min(again, AvailableMemory() / 2));
}

/// Allocates memory for the arrays, in the order in which they are read.
void RankRead::Allocate()
{
  if (this->Tasks) {
    return;
  }
  BlockArrays& arrays = this->Shared->Arrays;
  const ReadPlan& plan = this->Shared->Plan;
  const double wanted = arrays.Bytes();
  if (wanted > 1e18) {
    throw Error("The selected variables exceed the memory. Select fewer variables or levels.");
  }
  MemoryPool& pool = *this->Shared->Request->Memory;
  this->SizePool(pool);
  std::vector<std::uint32_t> order;
  for (const Segment& segment : plan.Segments) {
    order.push_back(segment.Task);
  }
  for (const auto* tasks : {&plan.WholeTasks, &plan.ConstantTasks, &plan.LibraryTasks}) {
    order.insert(order.end(), tasks->begin(), tasks->end());
  }
  arrays.Allocate(pool, order);
  // Kept memory that this step did not need will not serve the next step either.
  pool.Trim(static_cast<std::uint64_t>(wanted / 20));
  this->Shared->Prepare();
  this->Tasks = std::make_unique<IoScheduler>(
      this->Shared->TaskCount(), [tasks = this->Shared](std::size_t task) { tasks->Execute(task); },
      this->Shared->Request->IsPrefetch ? TaskPriority::Prefetch : TaskPriority::Read);
}

/// Reads the arrays that need the HDF5 library, on this thread, because the library is not thread-safe.
/// Returns false if the read must stop.
bool RankRead::ReadThroughLibrary(const ReadProgressCallback& progress)
{
  LibraryReader library;
  RankTasks& shared = *this->Shared;
  std::map<std::string, std::size_t> reasons;
  const std::vector<std::uint32_t>& tasks = shared.Plan.LibraryTasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Location& location = shared.Table.Locations[tasks[i]];
    ++reasons[shared.Table.LibraryArrays[location.First].Reason];
    const std::string fault =
        CatchError([&] { library.Read(shared.Table, location, shared.Arrays.TargetOf(tasks[i])); });
    if (fault.empty()) {
      shared.CompleteRequest(tasks[i]);
    } else {
      shared.RecordFault(tasks[i], fault);
      if (shared.Request->StopAtFault) {
        return false;
      }
    }
    if (!this->ReportProgress(progress, static_cast<double>(i + 1) / static_cast<double>(tasks.size()), 0)) {
      return false;
    }
  }
  for (const auto& [reason, count] : reasons) {
    this->Result.Report.Notes.push_back(
        "the HDF5 library read " + CountText(count, "array") + " with one thread: " + reason);
  }
  return true;
}

TimelinePoint RankRead::CurrentPoint() const
{
  const ReadMeter& meter = this->Shared->Meter;
  return {this->Watch.Seconds(), static_cast<double>(meter.Bytes()), double(meter.InFlightNow())};
}

/// Reports the progress, from the fractions of the library's and of the tasks' work. Returns false if the
/// read must stop.
bool RankRead::ReportProgress(const ReadProgressCallback& progress, double ofLibrary, double ofTasks)
{
  this->ProgressTimeline.Add(this->CurrentPoint());
  if (!progress) {
    return true;
  }
  ReadProgress now;
  now.BytesToRead = this->BytesToRead;
  now.Bytes = std::min(this->Shared->Meter.Bytes(), now.BytesToRead);
  now.Seconds = this->Watch.Seconds();
  now.Fraction = ofLibrary * this->LibraryShare + ofTasks * (1 - this->LibraryShare);
  this->Result.Cancelled = !progress(now);
  return !this->Result.Cancelled;
}

void RankRead::ReadInTasks(const ReadProgressCallback& progress)
{
  if (this->Tasks->HasBegun() || !this->IsShort()) {
    this->Tasks->SetLimit(this->ThreadLimit());
  }
  if (this->Tasks->PeakConcurrency() == 0) {
    this->ReadOnThisThread(progress);
  }
  this->WaitForTasks(progress);
}

/// Returns whether the read is short and consists of one task or of tasks one after another.
bool RankRead::IsShort() const
{
  const ReadControl* const control = this->Shared->Request->Control;
  const int most = control ? control->MostThreads() : this->Shared->Request->Threads;
  return this->BytesToRead < ShortBytes && (this->Shared->TaskCount() <= 1 || most <= 1);
}

/// Returns the current limit on reads in flight.
int RankRead::ThreadLimit() const
{
  const ReadControl* const control = this->Shared->Request->Control;
  return control ? control->Threads() : this->Shared->Request->Threads;
}

/// Reads on this thread, because the read is short or the scheduler has no other thread.
void RankRead::ReadOnThisThread(const ReadProgressCallback& progress)
{
  while (this->Tasks->RunNextTask()) {
    this->UpdateControl();
    if (!this->ReportProgress(progress, 1, this->Tasks->Fraction())) {
      this->Tasks->Cancel();
    }
  }
}

/// Waits for the tasks and reports their progress.
void RankRead::WaitForTasks(const ReadProgressCallback& progress)
{
  while (!this->Tasks->WaitFor(PollInterval)) {
    this->UpdateControl();
    if (!this->ReportProgress(progress, 1, this->Tasks->Fraction())) {
      this->Stop();
      return;
    }
    this->Tasks->SetLimit(this->ThreadLimit());
  }
  if (this->Tasks->PeakConcurrency() > 0 && !this->Result.Cancelled) {
    this->ReportProgress(progress, 1, 1);
  }
}

void RankRead::UpdateControl()
{
  if (ReadControl* const control = this->Shared->Request->Control) {
    control->Update(this->Shared->Meter);
  }
}

void RankRead::Stop()
{
  this->Tasks->Cancel();
  this->HasRunningTasks = !this->Tasks->WaitFor(Grace);
}

void RankRead::ReportTasks()
{
  IoReport& report = this->Result.Report;
  if (this->Tasks->RefusedLimit() > 0) {
    report.Notes.push_back("TBB and the system gave a rank only " +
                           std::to_string(std::max(this->Tasks->PeakConcurrency(), 1)) + " of " +
                           std::to_string(this->Tasks->RefusedLimit()) + " threads");
  }
  report.Requests = this->Shared->Meter.Requests();
  report.Bytes = this->Shared->Meter.Bytes();
  report.ArenaWidth = this->Tasks->PeakConcurrency();
  report.PeakInFlight = this->Shared->Meter.PeakInFlight();
  this->ProgressTimeline.End(this->CurrentPoint());
  report.Timeline = this->ProgressTimeline.Points();
  report.StorageSeconds = this->Shared->Meter.BusySeconds();
  report.DecodeSeconds = std::max(0.0, this->Shared->Meter.WorkSeconds() - report.StorageSeconds);
  report.Tasks = this->Shared->CompletedRequests();
}

/// Adds a fault for each <patch, variable> that was not read, so that the user learns of all missing values.
/// Does nothing if the read was cancelled or has faults.
void RankRead::ReportUnread()
{
  RankTasks& shared = *this->Shared;
  const std::vector<PatchVariable>& requests = shared.PatchVariables;
  const bool complete = !this->Result.Cancelled && shared.Faults().empty();
  for (std::size_t i = 0; complete && i < requests.size(); ++i) {
    const Encoding kind = shared.Table.Locations[i].Kind;
    if (kind == Encoding::Missing || (kind != Encoding::Absent && shared.Arrays.IsOutstanding(i))) {
      const Error error = FileError(shared.Data->Path,
          "values of '" + shared.Data->Variables[requests[i].Variable].Name + "' on patch " +
              std::to_string(requests[i].Patch),
          "none", "The description of the time step is incomplete");
      shared.RecordFault(static_cast<std::uint32_t>(i), error.what());
    }
  }
}

void RankRead::Finish()
{
  RankTasks& shared = *this->Shared;
  this->ReportUnread();
  if (this->HasRunningTasks) {
    this->Result.Arrays.resize(shared.Arrays.Count());
  } else {
    shared.MarkFailedArrays();
    this->Result.Arrays = shared.Arrays.TakeArrays();
    shared.CacheArrays(this->Result.Arrays);
  }
  this->Result.Faults = shared.Faults();
  IoReport& report = this->Result.Report;
  report.Patches = shared.Arrays.PatchCount();
  const ReadControl* const control = shared.Request->Control;
  report.ThreadsMin = report.ThreadsMax =
      control ? static_cast<int>(std::lround(control->MeanThreads())) : shared.Request->Threads;
}

RankTasks::RankTasks(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
    std::shared_ptr<const LoadRequest> request, bool reuse)
    : Data(std::move(catalog)),
      Request(std::move(request)),
      Arrays(*Data, *Request, {*Data, *Request, Request->Cache, Request->Threads, reuse}),
      PatchVariables(Arrays.Requests())
{
  this->Table = locate(this->PatchVariables);
  if (this->Request->Cache) {
    this->Fingerprints =
        CheckFingerprints(this->Table.Files, this->Request->Threads, this->Request->SettleSeconds);
    this->Fingerprints.insert(
        this->Request->DescribingFingerprint.begin(), this->Request->DescribingFingerprint.end());
  }
  this->Arrays.SetTypes(this->Table);
  this->Messages.resize(this->PatchVariables.size());
  for (const LocationProblem& problem : this->Table.Problems) {
    this->Messages[problem.Request] = problem.Message;
  }
  this->Plan = PlanReads(this->Table, this->NeededRanges(), this->Request->Storage, this->Request->Threads);
}

/// Returns, per request, the range of bytes of a raw array that the arrays of this read use.
std::vector<ComponentRange> RankTasks::NeededRanges() const
{
  std::vector<ComponentRange> ranges(this->PatchVariables.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (this->Table.Locations[i].Kind == Encoding::Raw) {
      ranges[i] = NeededBytes(this->Arrays.TargetOf(i));
    }
  }
  return ranges;
}

std::size_t RankTasks::TaskCount() const
{
  return this->Plan.Requests.size() + this->Plan.WholeTasks.size() + this->Plan.ConstantTasks.size() +
         this->Arrays.FromCache().Copied().size();
}

std::uint64_t RankTasks::BytesToRead() const
{
  std::uint64_t bytes = 0;
  for (const StorageRequest& storageRequest : this->Plan.Requests) {
    bytes += storageRequest.Bytes;
  }
  for (const std::uint32_t request : this->Plan.WholeTasks) {
    const Location& location = this->Table.Locations[request];
    const ByteRange* const ranges = this->Table.ByteRanges.data() + location.First;
    bytes = std::accumulate(ranges, ranges + location.Count, bytes,
        [](std::uint64_t sum, const ByteRange& range) { return sum + range.Bytes; });
  }
  return bytes;
}

void RankTasks::Prepare()
{
  const auto& makeSource = this->Request->MakeSource;
  this->Storage =
      makeSource ? makeSource(this->Table) : MakeFileSource(this->Table.Files, this->Plan.SequentialFiles);
  this->ReaderOfThisThread = MakeTaskReaders(*this->Storage, this->Meter);
  this->Sums = StoredSums(this->Table, this->Plan);
  this->OutstandingSegments = std::vector<std::atomic<std::uint32_t>>(this->PatchVariables.size());
  for (const Segment& segment : this->Plan.Segments) {
    this->OutstandingSegments[segment.Task].fetch_add(1, std::memory_order_relaxed);
  }
}

void RankTasks::Execute(std::size_t task)
{
  const ReadMeter::Task measured(this->Meter);
  if (!this->Stopped && !this->ExecuteTask(this->ReaderOfThisThread(), task) && this->Request->StopAtFault) {
    this->Stopped = true;
  }
}

bool RankTasks::ExecuteTask(TaskReader& reader, std::size_t task)
{
  const ReadPlan& plan = this->Plan;
  if (task < plan.Requests.size()) {
    return this->ExecuteRequest(reader, plan.Requests[task]);
  }
  task -= plan.Requests.size();
  if (task < plan.WholeTasks.size()) {
    return this->ExecuteWholeTask(reader, plan.WholeTasks[task]);
  }
  task -= plan.WholeTasks.size();
  if (task < plan.ConstantTasks.size()) {
    return this->ExecuteWholeTask(reader, plan.ConstantTasks[task]);
  }
  this->Arrays.Copy(task - plan.ConstantTasks.size());
  return true;
}

bool RankTasks::ExecuteRequest(TaskReader& reader, const StorageRequest& storageRequest)
{
  const std::string fault = CatchError([&] {
    ReadSegments(
        reader, this->Table, this->Plan, storageRequest,
        [this](std::uint32_t task) { return this->Arrays.TargetOf(task); }, &this->Sums);
  });
  if (!fault.empty() && storageRequest.SegmentCount > 1) {
    return this->ExecuteSegments(reader, storageRequest);
  }
  const Segment& first = this->Plan.Segments[storageRequest.FirstSegment];
  if (!fault.empty()) {
    this->RecordFault(first.Task, fault);
    return false;
  }
  bool sound = true;
  for (const Segment* segment = &first; segment != &first + storageRequest.SegmentCount; ++segment) {
    sound = this->CompleteSegment(*segment) && sound;
  }
  return sound;
}

/// Reads each segment of a failed request by itself, so that a fault affects only its own array.
bool RankTasks::ExecuteSegments(TaskReader& reader, const StorageRequest& storageRequest)
{
  bool sound = true;
  const std::size_t end = storageRequest.FirstSegment + storageRequest.SegmentCount;
  for (std::size_t i = storageRequest.FirstSegment; i < end && (sound || !this->Request->StopAtFault); ++i) {
    const Segment& segment = this->Plan.Segments[i];
    sound = this->ExecuteRequest(reader, {segment.Offset, segment.Bytes, storageRequest.File, 1, i}) && sound;
  }
  return sound;
}

bool RankTasks::ExecuteWholeTask(TaskReader& reader, std::uint32_t request)
{
  const std::string fault = CatchError([&] {
    ReadWholeTask(reader, this->Table, this->Table.Locations[request], this->Arrays.TargetOf(request));
  });
  if (!fault.empty()) {
    this->RecordFault(request, fault);
    return false;
  }
  this->CompleteRequest(request);
  return true;
}

/// Decrements the number of a task's outstanding segments, and finishes the task's values after the last
/// segment. Returns false if the values do not match their checksum.
bool RankTasks::CompleteSegment(const Segment& segment)
{
  const bool summed = this->Sums.Includes(segment);
  if (summed) {
    this->Sums.Add(&segment - this->Plan.Segments.data(), segment.Task);
  }
  if (this->OutstandingSegments[segment.Task].fetch_sub(1, std::memory_order_acq_rel) > 1) {
    return true;
  }
  if (summed && !this->Sums.Matches(segment.Task)) {
    this->RecordWrongChecksum(segment.Task);
    return false;
  }
  FinishTask(this->Arrays.TargetOf(segment.Task));
  this->CompleteRequest(segment.Task);
  return true;
}

void RankTasks::RecordWrongChecksum(std::uint32_t request)
{
  const PatchVariable& wanted = this->PatchVariables[request];
  const Patch& patch = this->Data->Patches[wanted.Patch];
  const Location& location = this->Table.Locations[request];
  const int file = location.Kind == Encoding::Chunked ? this->Table.ChunkedArrays[location.First].File
                                                      : this->Table.ByteRanges[location.First].File;
  this->RecordFault(
      request, FileError(this->Table.Files[file],
                   fmt::format("values of '{}' on patch {} of {} that match their checksum",
                       PlainText(this->Data->Variables[wanted.Variable].Name), patch.Number,
                       this->Data->NameOfLevel(patch.Level)),
                   "values with another checksum",
                   "The file is damaged; run 'patchio convert --check' to write its steps again")
                   .what());
}

void RankTasks::CompleteRequest(std::uint32_t request)
{
  this->Arrays.CompleteRequest(request);
  ++this->CompletedCount;
}

void RankTasks::RecordFault(std::uint32_t request, const std::string& message)
{
  const std::lock_guard<std::mutex> lock(this->MessagesLock);
  if (this->Messages[request].empty()) {
    this->Messages[request] = message;
  }
}

void RankTasks::MarkFailedArrays()
{
  for (std::size_t i = 0; i < this->Messages.size(); ++i) {
    if (!this->Messages[i].empty()) {
      this->Arrays.MarkFailed(i);
    }
  }
}

void RankTasks::CacheArrays(const std::vector<LoadedArray>& arrays) const
{
  if (this->Request->Cache) {
    this->Arrays.CacheArrays(arrays, this->Fingerprints,
        [this](std::size_t r) { return this->Table.Locations[r].Kind == Encoding::Constant; });
  }
}

std::vector<LoadFault> RankTasks::Faults() const
{
  const std::lock_guard<std::mutex> lock(this->MessagesLock);
  std::vector<LoadFault> faults;
  for (std::size_t i = 0; i < this->PatchVariables.size(); ++i) {
    if (!this->Messages[i].empty()) {
      faults.push_back({this->PatchVariables[i].Patch, this->PatchVariables[i].Variable, this->Messages[i]});
    }
  }
  return faults;
}

}  // namespace patchio
