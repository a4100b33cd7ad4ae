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

/// What lanes get to end in when the read is stopped, so that usually none is left behind.
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

void PatchLoader::Start()
{
  assert(this->Allocated);
  const std::lock_guard<std::mutex> lock(this->TeamLock);
  if (!this->HasBegun && !this->IsCancelled) {
    this->HasBegun = true;
    this->StartLanes();
  }
}

void PatchLoader::Cancel()
{
  const std::lock_guard<std::mutex> lock(this->TeamLock);
  this->IsCancelled = true;
  if (this->Team) {
    this->Team->Cancel();
  }
}

LoadResult PatchLoader::Read(const ReadProgressCallback& progress)
{
  IoReport& report = this->Result.Report;
  this->Watch = Stopwatch();
  {
    const std::lock_guard<std::mutex> lock(this->TeamLock);
    report.Ahead = this->HasBegun ? 1 : 0;
  }
  if (this->Job->Table().Problems.empty() || !this->Job->Request().StopAtFault) {
    report.BytesAhead = this->Job->Meter().Bytes();
    this->Allocate();
    this->Execute(progress);
    report.WaitSeconds = this->Watch.Seconds();
    report.ReadSeconds = report.WaitSeconds;
    if (report.Ahead && this->Team) {
      report.ReadSeconds = this->Team->Seconds();
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
  if (this->Allocated) {
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
  this->Allocated = true;
}

void PatchLoader::Execute(const ReadProgressCallback& progress)
{
  const double byLibrary = static_cast<double>(this->Job->Plan().Library.size());
  const double all = byLibrary + static_cast<double>(this->Job->Units());
  this->LibraryShare = all > 0 ? byLibrary / all : 0;
  if (this->ReadThroughLibrary(progress)) {
    this->ReadThroughLanes(progress);
  } else {
    this->Stop();
  }
  this->ReportLanes();
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

/// Tells how far it is, in shares of what the library and what the lanes do. False when the read shall stop.
TimelinePoint PatchLoader::MomentNow() const
{
  const ReadMeter& meter = this->Job->Meter();
  return {this->Watch.Seconds(), static_cast<double>(meter.Bytes()), double(meter.InFlightNow())};
}

bool PatchLoader::GoesOn(const ReadProgressCallback& progress, double ofLibrary, double ofLanes)
{
  this->Moments.Add(this->MomentNow());
  if (!progress) {
    return true;
  }
  ReadProgress now = this->Progress();
  now.Fraction = ofLibrary * this->LibraryShare + ofLanes * (1 - this->LibraryShare);
  this->Result.Cancelled = !progress(now);
  return !this->Result.Cancelled;
}

ReadProgress PatchLoader::Progress() const
{
  ReadProgress now;
  now.BytesToRead = this->BytesToRead;
  now.Bytes = std::min(this->Job->Meter().Bytes(), now.BytesToRead);
  const std::lock_guard<std::mutex> lock(this->TeamLock);
  now.Fraction = this->Team ? this->Team->Fraction() : 0;
  now.Seconds = this->Watch.Seconds();
  return now;
}

void PatchLoader::ReadThroughLanes(const ReadProgressCallback& progress)
{
  {
    const std::lock_guard<std::mutex> lock(this->TeamLock);
    if (!this->HasBegun && !this->IsShort()) {
      this->StartLanes();
    }
    this->HasBegun = true;
  }
  if (this->Team && (this->Team->Lanes() > 0 || this->Job->Units() == 0)) {
    this->LookOn(progress);
  } else {
    this->ReadHere(progress);
  }
}

/// One request, or one after another.
bool PatchLoader::IsShort() const
{
  return this->BytesToRead < ShortBytes && (this->Job->Units() <= 1 || this->MostLanes() <= 1);
}

int PatchLoader::MostLanes() const
{
  const ReadControl* const control = this->Job->Request().Control;
  return control ? control->Goal().Most() : this->Job->Request().Threads;
}

int PatchLoader::LanesWanted() const
{
  const ReadControl* const control = this->Job->Request().Control;
  return control ? control->Goal().Lanes() : this->Job->Request().Threads;
}

void PatchLoader::StartLanes()
{
  this->Job->GetReady(this->MostLanes());
  if (this->Job->Units() == 0 && this->WhenRead) {
    std::exchange(this->WhenRead, nullptr)();  // no lane will
  }
  this->Team.emplace(
      this->Job->Units(), this->MostLanes(),
      [job = this->Job](std::size_t unit, int lane) { job->Execute(unit, lane); }, std::move(this->WhenRead));
  this->Team->SetLanes(this->LanesWanted());
}

/// The lanes read; this thread says how far they are.
void PatchLoader::LookOn(const ReadProgressCallback& progress)
{
  ReadControl* const control = this->Job->Request().Control;
  while (!this->Team->WaitFor(LookOnInterval)) {
    if (control) {
      control->Step(this->Job->Meter());
    }
    if (!this->GoesOn(progress, 1, this->Team->Fraction())) {
      this->Stop();
      return;
    }
    this->Team->SetLanes(this->LanesWanted());
  }
  if (this->Job->Units() > 0) {
    this->GoesOn(progress, 1, 1);
  }
}

void PatchLoader::Stop()
{
  const std::lock_guard<std::mutex> lock(this->TeamLock);
  if (this->Team) {
    this->Team->Cancel();
    this->LeftBehind = !this->Team->WaitFor(Grace);
  }
}

/// This thread reads.
void PatchLoader::ReadHere(const ReadProgressCallback& progress)
{
  ReadControl* const control = this->Job->Request().Control;
  if (!this->Team) {
    this->Job->GetReady(1);
  }
  RunLanes(
      this->Job->Units(), 1, [this](std::size_t unit, int lane) { this->Job->Execute(unit, lane); },
      [&](double fraction) {
        if (control) {
          control->Step(this->Job->Meter());
        }
        return this->GoesOn(progress, 1, fraction);
      });
  if (this->WhenRead && !this->Result.Cancelled) {
    this->WhenRead();
  }
}

void PatchLoader::ReportLanes()
{
  IoReport& report = this->Result.Report;
  // A short read may end before all lanes have begun, and then has had no need of the others.
  if (this->Team && this->Team->RefusedLanes() > 0) {
    report.Notes.push_back("the system granted a rank only " +
                           std::to_string(std::max(this->Team->Lanes(), 1)) + " of " +
                           std::to_string(this->Team->RefusedLanes()) + " threads");
  }
  report.Requests = this->Job->Meter().Requests();
  report.Bytes = this->Job->Meter().Bytes();
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
      control ? static_cast<int>(std::lround(control->MeanLanes())) : job.Request().Threads;
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
