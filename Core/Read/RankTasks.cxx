#include "Read/RankTasks.h"

#include "Base/Error.h"
#include "Base/RunOnAllRanks.h"
#include "Io/FileSource.h"
#include "Io/ReadTask.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace patchio {

RankTasks::RankTasks(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
    std::shared_ptr<const LoadRequest> request, bool reuse)
    : Data(std::move(catalog)),
      Request(std::move(request)),
      Arrays(*Data, *Request, {*Data, *Request, Request->Cache, Request->Threads, reuse}),
      Wanted(Arrays.Requests())
{
  this->Table = locate(this->Wanted);
  if (this->Request->Cache) {
    this->Seen = LookAtFiles(this->Table.Files, this->Request->Threads, this->Request->SettleSeconds);
    this->Seen.insert(this->Request->DescribedBy.begin(), this->Request->DescribedBy.end());
  }
  this->Arrays.Describe(this->Table);
  this->Messages.resize(this->Wanted.size());
  for (const LocationProblem& problem : this->Table.Problems) {
    this->Messages[problem.Request] = problem.Message;
  }
  this->Plan = PlanReads(this->Table, this->WantedRanges(), this->Request->Storage, this->Request->Threads);
}

/// The parts of raw arrays that are worth reading.
std::vector<ByteRange> RankTasks::WantedRanges() const
{
  std::vector<ByteRange> ranges(this->Wanted.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (this->Table.Locations[i].Kind == Encoding::Raw) {
      ranges[i] = WantedBytes(this->Arrays.TargetOf(i));
    }
  }
  return ranges;
}

std::size_t RankTasks::Units() const
{
  return this->Plan.Transfers.size() + this->Plan.Whole.size() + this->Plan.Constant.size() +
         this->Arrays.FromCache().Copied().size();
}

std::uint64_t RankTasks::BytesToRead() const
{
  std::uint64_t bytes = 0;
  for (const Transfer& transfer : this->Plan.Transfers) {
    bytes += transfer.Bytes;
  }
  for (const std::uint32_t request : this->Plan.Whole) {
    const Location& location = this->Table.Locations[request];
    const Extent* const extents = this->Table.Extents.data() + location.First;
    bytes = std::accumulate(extents, extents + location.Count, bytes,
        [](std::uint64_t sum, const Extent& extent) { return sum + extent.Bytes; });
  }
  return bytes;
}

void RankTasks::GetReady()
{
  const auto& files = this->Request->Files;
  this->Storage = files ? files(this->Table) : MakeFileSource(this->Table.Files, this->Plan.Sequential);
  this->Readers.emplace(*this->Storage, this->Meter);
  this->Sums = StoredSums(this->Table, this->Plan);
  this->PiecesLeft = std::vector<std::atomic<std::uint32_t>>(this->Wanted.size());
  for (const Piece& piece : this->Plan.Pieces) {
    this->PiecesLeft[piece.Task].fetch_add(1, std::memory_order_relaxed);
  }
}

void RankTasks::Execute(std::size_t unit)
{
  const ReadMeter::Task task(this->Meter);
  if (!this->Stopped && !this->ExecuteUnit(this->Readers->OfThisThread(), unit) &&
      this->Request->StopAtFault) {
    this->Stopped = true;
  }
}

bool RankTasks::ExecuteUnit(TaskReader& reader, std::size_t unit)
{
  const ReadPlan& plan = this->Plan;
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
  this->Arrays.Copy(unit - plan.Constant.size());
  return true;
}

bool RankTasks::ExecuteTransfer(TaskReader& reader, const Transfer& transfer)
{
  const std::string fault = CatchError([&] {
    ReadTransfer(
        reader, this->Table, this->Plan, transfer,
        [this](std::uint32_t task) { return this->Arrays.TargetOf(task); }, &this->Sums);
  });
  if (!fault.empty() && transfer.PieceCount > 1) {
    return this->ExecutePieces(reader, transfer);
  }
  const Piece& first = this->Plan.Pieces[transfer.FirstPiece];
  if (!fault.empty()) {
    this->Failed(first.Task, fault);
    return false;
  }
  bool sound = true;
  for (const Piece* piece = &first; piece != &first + transfer.PieceCount; ++piece) {
    sound = this->PieceDone(*piece) && sound;
  }
  return sound;
}

/// A request of several pieces has failed: each by itself, so that a fault costs only its own array.
bool RankTasks::ExecutePieces(TaskReader& reader, const Transfer& transfer)
{
  bool sound = true;
  const std::size_t end = transfer.FirstPiece + transfer.PieceCount;
  for (std::size_t i = transfer.FirstPiece; i < end && (sound || !this->Request->StopAtFault); ++i) {
    const Piece& piece = this->Plan.Pieces[i];
    sound = this->ExecuteTransfer(reader, {piece.Offset, piece.Bytes, transfer.File, 1, i}) && sound;
  }
  return sound;
}

bool RankTasks::ExecuteWhole(TaskReader& reader, std::uint32_t request)
{
  const std::string fault = CatchError([&] {
    ReadWhole(reader, this->Table, this->Table.Locations[request], this->Arrays.TargetOf(request));
  });
  if (!fault.empty()) {
    this->Failed(request, fault);
    return false;
  }
  this->Done(request);
  return true;
}

/// The task that brings the last piece of an array finishes the array. False where its values are not those
/// that were written.
bool RankTasks::PieceDone(const Piece& piece)
{
  const bool summed = this->Sums.Wants(piece);
  if (summed) {
    this->Sums.Add(&piece - this->Plan.Pieces.data(), piece.Task);
  }
  if (this->PiecesLeft[piece.Task].fetch_sub(1, std::memory_order_acq_rel) > 1) {
    return true;
  }
  if (summed && !this->Sums.Agrees(piece.Task)) {
    this->Differs(piece.Task);
    return false;
  }
  FinishTask(this->Arrays.TargetOf(piece.Task));
  this->Done(piece.Task);
  return true;
}

void RankTasks::Differs(std::uint32_t request)
{
  const PatchVariable& wanted = this->Wanted[request];
  const Patch& patch = this->Data->Patches[wanted.Patch];
  const Location& location = this->Table.Locations[request];
  const int file = location.Kind == Encoding::Chunked ? this->Table.ChunkedArrays[location.First].File
                                                      : this->Table.Extents[location.First].File;
  this->Failed(request, FileError(this->Table.Files[file],
                            fmt::format("the values of '{}' on patch {} of {} as they were written",
                                PlainText(this->Data->Variables[wanted.Variable].Name), patch.Number,
                                this->Data->NameOfLevel(patch.Level)),
                            "values with another checksum",
                            "The file is damaged; run 'patchio convert --check' to write its steps again")
                            .what());
}

void RankTasks::Done(std::uint32_t request)
{
  this->Arrays.Done(request);
  ++this->Finished;
}

void RankTasks::Failed(std::uint32_t request, const std::string& message)
{
  const std::lock_guard<std::mutex> lock(this->MessagesLock);
  if (this->Messages[request].empty()) {
    this->Messages[request] = message;
  }
}

void RankTasks::FailArrays()
{
  for (std::size_t i = 0; i < this->Messages.size(); ++i) {
    if (!this->Messages[i].empty()) {
      this->Arrays.Fail(i);
    }
  }
}

void RankTasks::Keep(const std::vector<LoadedArray>& taken) const
{
  if (this->Request->Cache) {
    this->Arrays.KeepArrays(taken, this->Seen,
        [this](std::size_t r) { return this->Table.Locations[r].Kind == Encoding::Constant; });
  }
}

std::vector<LoadFault> RankTasks::Faults() const
{
  const std::lock_guard<std::mutex> lock(this->MessagesLock);
  std::vector<LoadFault> faults;
  for (std::size_t i = 0; i < this->Wanted.size(); ++i) {
    if (!this->Messages[i].empty()) {
      faults.push_back({this->Wanted[i].Patch, this->Wanted[i].Variable, this->Messages[i]});
    }
  }
  return faults;
}

}  // namespace patchio
