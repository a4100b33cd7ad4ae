#include "Session/ReadJob.h"

#include "Io/FileSource.h"
#include "Io/ReadTask.h"
#include "Support/RunOnAllRanks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace patchio {

ReadJob::ReadJob(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
    std::shared_ptr<const LoadRequest> request, bool reuse)
    : SharedData(std::move(catalog)),
      SharedRequest(std::move(request)),
      Values(*SharedData, *SharedRequest, reuse),
      Pairs(Values.Requests())
{
  this->Places = locate(this->Pairs);
  if (this->SharedRequest->Cache) {
    this->Seen =
        LookAtFiles(this->Places.Files, this->SharedRequest->Threads, this->SharedRequest->SettleSeconds);
    this->Seen.insert(this->SharedRequest->DescribedBy.begin(), this->SharedRequest->DescribedBy.end());
  }
  this->Values.Describe(this->Places);
  this->Messages.resize(this->Pairs.size());
  for (const LocationProblem& problem : this->Places.Problems) {
    this->Messages[problem.Request] = problem.Message;
  }
  this->Reads = PlanReads(
      this->Places, this->WantedRanges(), this->SharedRequest->Storage, this->SharedRequest->Threads);
}

/// The parts of raw arrays that are worth reading.
std::vector<ByteRange> ReadJob::WantedRanges() const
{
  std::vector<ByteRange> ranges(this->Pairs.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (this->Places.Locations[i].Kind == Encoding::Raw) {
      ranges[i] = WantedBytes(this->Values.TargetOf(i));
    }
  }
  return ranges;
}

std::size_t ReadJob::Units() const
{
  return this->Reads.Transfers.size() + this->Reads.Whole.size() + this->Reads.Constant.size() +
         this->Values.FromCache().Copied().size();
}

std::uint64_t ReadJob::BytesToRead() const
{
  std::uint64_t bytes = 0;
  for (const Transfer& transfer : this->Reads.Transfers) {
    bytes += transfer.Bytes;
  }
  for (const std::uint32_t request : this->Reads.Whole) {
    const Location& location = this->Places.Locations[request];
    const Extent* const extents = this->Places.Extents.data() + location.First;
    bytes = std::accumulate(extents, extents + location.Count, bytes,
        [](std::uint64_t sum, const Extent& extent) { return sum + extent.Bytes; });
  }
  return bytes;
}

void ReadJob::GetReady()
{
  const auto& files = this->SharedRequest->Files;
  this->Storage = files ? files(this->Places) : MakeFileSource(this->Places.Files, this->Reads.Sequential);
  this->Readers.emplace(*this->Storage, this->Counts);
  this->PiecesLeft = std::vector<std::atomic<std::uint32_t>>(this->Pairs.size());
  for (const Piece& piece : this->Reads.Pieces) {
    this->PiecesLeft[piece.Task].fetch_add(1, std::memory_order_relaxed);
  }
}

void ReadJob::Execute(std::size_t unit)
{
  const ReadMeter::Task task(this->Counts);
  if (!this->Stopped && !this->ExecuteUnit(this->Readers->OfThisThread(), unit) &&
      this->SharedRequest->StopAtFault) {
    this->Stopped = true;
  }
}

bool ReadJob::ExecuteUnit(TaskReader& reader, std::size_t unit)
{
  const ReadPlan& plan = this->Reads;
  if (unit < plan.Transfers.size()) {
    return this->ExecuteTransfer(reader, plan.Transfers[unit]);
  }
  unit -= plan.Transfers.size();
  if (unit < plan.Whole.size()) {
    return this->ExecuteWhole(reader, plan.Whole[unit]);
  }
  unit -= plan.Whole.size();
  if (unit < plan.Constant.size()) {
    return this->ExecuteWhole(reader, plan.Constant[unit]);
  }
  this->Values.Copy(unit - plan.Constant.size());
  return true;
}

bool ReadJob::ExecuteTransfer(TaskReader& reader, const Transfer& transfer)
{
  const std::string fault = CatchError([&] {
    ReadTransfer(reader, this->Places, this->Reads, transfer,
        [this](std::uint32_t task) { return this->Values.TargetOf(task); });
  });
  if (!fault.empty() && transfer.PieceCount > 1) {
    return this->ExecutePieces(reader, transfer);
  }
  const Piece& first = this->Reads.Pieces[transfer.FirstPiece];
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
bool ReadJob::ExecutePieces(TaskReader& reader, const Transfer& transfer)
{
  bool sound = true;
  const std::size_t end = transfer.FirstPiece + transfer.PieceCount;
  for (std::size_t i = transfer.FirstPiece; i < end && (sound || !this->SharedRequest->StopAtFault); ++i) {
    const Piece& piece = this->Reads.Pieces[i];
    sound = this->ExecuteTransfer(reader, {piece.Offset, piece.Bytes, transfer.File, 1, i}) && sound;
  }
  return sound;
}

bool ReadJob::ExecuteWhole(TaskReader& reader, std::uint32_t request)
{
  const std::string fault = CatchError([&] {
    ReadWhole(reader, this->Places, this->Places.Locations[request], this->Values.TargetOf(request));
  });
  if (!fault.empty()) {
    this->Failed(request, fault);
    return false;
  }
  this->Done(request);
  return true;
}

/// The task that brings the last piece of an array finishes the array.
void ReadJob::PieceDone(const Piece& piece)
{
  if (this->PiecesLeft[piece.Task].fetch_sub(1, std::memory_order_acq_rel) == 1) {
    FinishTask(this->Values.TargetOf(piece.Task));
    this->Done(piece.Task);
  }
}

void ReadJob::Done(std::uint32_t request)
{
  this->Values.Done(request);
  ++this->Finished;
}

void ReadJob::Failed(std::uint32_t request, const std::string& message)
{
  const std::lock_guard<std::mutex> lock(this->MessagesLock);
  if (this->Messages[request].empty()) {
    this->Messages[request] = message;
  }
}

void ReadJob::FailArrays()
{
  for (std::size_t i = 0; i < this->Messages.size(); ++i) {
    if (!this->Messages[i].empty()) {
      this->Values.Fail(i);
    }
  }
}

void ReadJob::Keep(const std::vector<LoadedArray>& taken) const
{
  if (this->SharedRequest->Cache) {
    this->Values.KeepArrays(taken, this->Seen,
        [this](std::size_t r) { return this->Places.Locations[r].Kind == Encoding::Constant; });
  }
}

std::vector<LoadFault> ReadJob::Faults() const
{
  const std::lock_guard<std::mutex> lock(this->MessagesLock);
  std::vector<LoadFault> faults;
  for (std::size_t i = 0; i < this->Pairs.size(); ++i) {
    if (!this->Messages[i].empty()) {
      faults.push_back({this->Pairs[i].Patch, this->Pairs[i].Variable, this->Messages[i]});
    }
  }
  return faults;
}

}  // namespace patchio
