#include "Read/PatchLoader.h"

#include "Exec/LibraryRead.h"
#include "Read/ReadControl.h"
#include "Source/FileSource.h"
#include "Support/Error.h"
#include "Support/Memory.h"
#include "Support/Stopwatch.h"
#include "Support/Together.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

namespace patchio {
namespace {

/// For a part of the work, which takes the whole from the fraction `begin` to `end`. Refers to `progress`.
ProgressCallback StretchOf(const ProgressCallback& progress, double begin, double end)
{
  if (!progress) {
    return {};
  }
  return [&progress, begin, end](double fraction) { return progress(begin + fraction * (end - begin)); };
}

}  // namespace

PatchLoader::PatchLoader(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request)
    : Data(catalog), Request(request), Arrays(catalog, request), Requests(this->Arrays.Requests())
{
  const Stopwatch watch;
  this->Table = locate(this->Requests);
  this->Result.Report.LocateSeconds = watch.Seconds();
  this->Result.Report.Notes = this->Table.Notes;
  this->Result.VariableCount = request.Variables.size();
  this->Arrays.Describe(this->Table);
  this->Messages.resize(this->Requests.size());
  for (const LocationProblem& problem : this->Table.Problems) {
    this->Messages[problem.Request] = problem.Message;
  }
  this->Plan = PlanReads(this->Table, this->WantedRanges(), request.Storage, request.Threads);
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

/// The parts of raw arrays that are worth reading.
std::vector<ByteRange> PatchLoader::WantedRanges() const
{
  std::vector<ByteRange> ranges(this->Requests.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (this->Table.Locations[i].Kind == Encoding::Raw) {
      ranges[i] = WantedBytes(this->Arrays.TargetOf(i));
    }
  }
  return ranges;
}

double PatchLoader::BytesNeeded() const
{
  const double kept = this->Request.Memory ? static_cast<double>(this->Request.Memory->KeptBytes()) : 0;
  return std::max(0.0, this->Arrays.Bytes() - kept);
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

/// Arrays lie in memory in the order in which they are read.
void PatchLoader::Allocate()
{
  const double wanted = this->Arrays.Bytes();
  if (wanted > 1e18) {
    throw Error("The selected variables are larger than any memory. Select fewer variables or levels.");
  }
  SlabPool fresh;
  SlabPool& pool = this->Request.Memory ? *this->Request.Memory : fresh;
  // The next step is of about this size; small surpluses come from rounding.
  const std::uint64_t again = static_cast<std::uint64_t>(wanted * 1.25) + (std::uint64_t(64) << 20);
  pool.Keep(std::min(again, AvailableMemory() / 2));
  SlabCutter memory(pool, static_cast<std::uint64_t>(wanted), this->Arrays.Count());
  for (const Piece& piece : this->Plan.Pieces) {
    this->Arrays.Allocate(memory, piece.Task);
  }
  for (const auto* tasks : {&this->Plan.Whole, &this->Plan.Constant, &this->Plan.Library}) {
    for (const std::uint32_t task : *tasks) {
      this->Arrays.Allocate(memory, task);
    }
  }
}

void PatchLoader::Execute(const ProgressCallback& progress)
{
  this->PiecesLeft = std::vector<std::atomic<std::uint32_t>>(this->Requests.size());
  for (const Piece& piece : this->Plan.Pieces) {
    this->PiecesLeft[piece.Task].fetch_add(1, std::memory_order_relaxed);
  }
  const double byLibrary = static_cast<double>(this->Plan.Library.size());
  const double all = byLibrary + static_cast<double>(this->Units());
  const double share = all > 0 ? byLibrary / all : 0;
  if (this->ReadThroughLibrary(StretchOf(progress, 0, share))) {
    this->ReadThroughLanes(StretchOf(progress, share, 1));
  }
  this->Result.Report.Tasks = this->TasksDone;
}

/// What lanes take one by one.
std::size_t PatchLoader::Units() const
{
  return this->Plan.Transfers.size() + this->Plan.Whole.size() + this->Plan.Constant.size();
}

void PatchLoader::ReadThroughLanes(const ProgressCallback& progress)
{
  const std::unique_ptr<Source> source = MakeFileSource(this->Table.Files, this->Plan.Sequential);
  ReadControl* const control = this->Request.Control;
  const int most = control ? control->Goal().Most() : this->Request.Threads;
  ReadMeter meter;
  const std::size_t units = this->Units();
  std::deque<Lane> lanes;  // a lane cannot be moved
  for (std::size_t i = 0; i < std::min<std::size_t>(most, std::max<std::size_t>(units, 1)); ++i) {
    lanes.emplace_back(*source, meter);
  }
  std::atomic<bool> stop{false};
  const auto body = [&](std::size_t unit, int lane) {
    const ReadMeter::Task task(meter);
    if (!stop && !this->ExecuteUnit(lanes[lane], unit) && this->Request.StopAtFault) {
      stop = true;
    }
  };
  const Stopwatch watch;
  Timeline moments;
  const auto now = [&] {
    return TimelinePoint{watch.Seconds(), static_cast<double>(meter.Bytes()), double(meter.InFlightNow())};
  };
  const auto between = [&](double fraction) {
    moments.Add(now());
    if (control) {
      control->Step(meter);
    }
    return !progress || progress(fraction);
  };
  const LanesOutcome outcome = control ? RunLanes(units, control->Goal(), body, between)
                                       : RunLanes(units, this->Request.Threads, body, between);
  moments.End(now());
  this->Result.Cancelled = outcome.Cancelled;
  IoReport& report = this->Result.Report;
  if (!control && static_cast<std::size_t>(outcome.Lanes) < std::min<std::size_t>(most, units)) {
    report.Notes.push_back("the system granted a rank only " + std::to_string(outcome.Lanes) + " of " +
                           std::to_string(most) + " threads");
  }
  report.Requests = meter.Requests();
  report.Bytes = meter.Bytes();
  report.PeakInFlight = meter.PeakInFlight();
  report.Moments = moments.Points();
  report.StorageSeconds = meter.BusySeconds();
  report.DecodeSeconds = std::max(0.0, meter.WorkSeconds() - meter.BusySeconds());
}

/// On this thread, as the library bears only one. False when the read must stop.
bool PatchLoader::ReadThroughLibrary(const ProgressCallback& progress)
{
  LibraryReader library;
  std::map<std::string, std::size_t> reasons;
  const std::vector<std::uint32_t>& tasks = this->Plan.Library;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Location& location = this->Table.Locations[tasks[i]];
    ++reasons[this->Table.LibraryArrays[location.First].Reason];
    const std::string fault =
        FaultOf([&] { library.Read(this->Table, location, this->Arrays.TargetOf(tasks[i])); });
    if (fault.empty()) {
      this->Arrays.Done(tasks[i]);
      ++this->TasksDone;
    } else {
      this->Failed(tasks[i], fault);
      if (this->Request.StopAtFault) {
        return false;
      }
    }
    if (progress && !progress(static_cast<double>(i + 1) / static_cast<double>(tasks.size()))) {
      this->Result.Cancelled = true;
      return false;
    }
  }
  for (const auto& [reason, count] : reasons) {
    this->Result.Report.Notes.push_back(
        std::to_string(count) + " arrays were read by the HDF5 library, on one thread: " + reason);
  }
  return true;
}

bool PatchLoader::ExecuteUnit(Lane& lane, std::size_t unit)
{
  const ReadPlan& plan = this->Plan;
  if (unit < plan.Transfers.size()) {
    return this->ExecuteTransfer(lane, plan.Transfers[unit]);
  }
  unit -= plan.Transfers.size();
  return this->ExecuteWhole(
      lane, unit < plan.Whole.size() ? plan.Whole[unit] : plan.Constant[unit - plan.Whole.size()]);
}

bool PatchLoader::ExecuteTransfer(Lane& lane, const Transfer& transfer)
{
  const std::string fault = FaultOf([&] {
    ReadTransfer(lane, this->Table, this->Plan, transfer,
        [this](std::uint32_t task) { return this->Arrays.TargetOf(task); });
  });
  if (!fault.empty() && transfer.PieceCount > 1) {
    return this->ExecutePieces(lane, transfer);
  }
  const Piece& first = this->Plan.Pieces[transfer.FirstPiece];
  if (!fault.empty()) {
    this->Failed(first.Task, fault);
    return false;
  }
  for (const Piece* piece = &first; piece != &first + transfer.PieceCount; ++piece) {
    this->PieceDone(*piece);
  }
  return true;
}

/// A request of several pieces has failed: each by itself, so that a fault costs only its own array.
bool PatchLoader::ExecutePieces(Lane& lane, const Transfer& transfer)
{
  bool sound = true;
  const std::size_t end = transfer.FirstPiece + transfer.PieceCount;
  for (std::size_t i = transfer.FirstPiece; i < end && (sound || !this->Request.StopAtFault); ++i) {
    const Piece& piece = this->Plan.Pieces[i];
    sound = this->ExecuteTransfer(lane, {piece.Offset, piece.Bytes, transfer.File, 1, i}) && sound;
  }
  return sound;
}

bool PatchLoader::ExecuteWhole(Lane& lane, std::uint32_t request)
{
  const std::string fault = FaultOf(
      [&] { ReadWhole(lane, this->Table, this->Table.Locations[request], this->Arrays.TargetOf(request)); });
  if (!fault.empty()) {
    this->Failed(request, fault);
    return false;
  }
  this->Arrays.Done(request);
  ++this->TasksDone;
  return true;
}

/// The lane that brings the last piece of a task finishes the task.
void PatchLoader::PieceDone(const Piece& piece)
{
  if (this->PiecesLeft[piece.Task].fetch_sub(1, std::memory_order_acq_rel) == 1) {
    FinishTask(this->Arrays.TargetOf(piece.Task));
    this->Arrays.Done(piece.Task);
    ++this->TasksDone;
  }
}

void PatchLoader::Failed(std::uint32_t request, const std::string& message)
{
  const std::lock_guard<std::mutex> lock(this->MessagesLock);
  if (this->Messages[request].empty()) {
    this->Messages[request] = message;
  }
}

/// An array that should have come and did not must not vanish without a word.
void PatchLoader::FindUnread()
{
  const bool complete = !this->Result.Cancelled && this->Faults().empty();
  for (std::size_t i = 0; complete && i < this->Requests.size(); ++i) {
    const Encoding kind = this->Table.Locations[i].Kind;
    if (kind == Encoding::Missing || (kind != Encoding::Absent && this->Arrays.Waits(i))) {
      const Error error = FileError(this->Data.Path,
          "values of '" + this->Data.Variables[this->Requests[i].Variable].Name + "' on patch " +
              std::to_string(this->Requests[i].Patch),
          "none", "What is known of the dump is incomplete");
      this->Failed(static_cast<std::uint32_t>(i), error.what());
    }
  }
}

void PatchLoader::Finish()
{
  this->FindUnread();
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    if (!this->Messages[i].empty()) {
      this->Arrays.Fail(i);
    }
  }
  this->Result.Arrays = this->Arrays.Take();
  this->Result.Faults = this->Faults();
  IoReport& report = this->Result.Report;
  report.Patches = this->Requests.size() / std::max<std::size_t>(this->Request.Variables.size(), 1);
  const ReadControl* const control = this->Request.Control;
  report.ThreadsMin = report.ThreadsMax =
      control ? static_cast<int>(std::lround(control->MeanLanes())) : this->Request.Threads;
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
