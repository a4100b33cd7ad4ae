#include "Probe/Measure.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Probe/Circumstances.h"
#include "Probe/Functions.h"
#include "Probe/Interrupt.h"
#include "Probe/TestData.h"
#include "Probe/TestFiles.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace patchio::probe {
namespace {

/// Returns the text of an MPI error code; empty for MPI_SUCCESS.
std::string MpiMessage(int code)
{
  return code == MPI_SUCCESS ? std::string() : MpiErrorText(code);
}

/// A file and the function that accesses it. The methods return the text of an error, or an empty text on
/// success. The methods do not throw, because the other ranks would then wait in collective functions.
class Access
{
public:
  virtual ~Access() = default;

  /// Collective: opens the file for reading and writing.
  virtual std::string Open(const std::string& path) = 0;
  /// Collective: sets the view of the file.
  virtual std::string SetView() = 0;
  /// Moves, or begins to move, `bytes` bytes at `offset` in the view. `slot` identifies the call until
  /// Finish(slot); 0 <= slot < `concurrency` of the constructor.
  virtual std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int slot) = 0;
  /// Waits for the end of the call that Begin() has begun in `slot`; does nothing for blocking functions.
  virtual std::string Finish(int slot) = 0;
  /// Collective: waits until the storage has all written bytes.
  virtual std::string Sync() = 0;
  /// Collective: closes the file.
  virtual std::string Close() = 0;

  /// Returns the seconds spent so far in the measured function, including the wait for its end.
  double Seconds() const { return this->Spent; }

protected:
  double Spent = 0;
};

class MpiAccess : public Access
{
public:
  MpiAccess(const Function& function, const Layout& layout, MPI_Comm comm, int concurrency)
      : What(function), Where(layout), Comm(comm), Calls(concurrency)
  {
  }

  std::string Open(const std::string& path) override
  {
    this->Lacking = LibraryLacks(this->What, path);
    return MpiMessage(MPI_File_open(this->Comm, path.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &this->File));
  }

  std::string SetView() override
  {
    MPI_Datatype type = MPI_BYTE;
    MPI_Offset begin = 0;
    // A shared pointer requires the same view on all ranks, and itself divides the file among the ranks.
    if (this->What.Where != Pointer::Shared && this->Where.Shape == View::Interleaved) {
      begin = static_cast<MPI_Offset>(this->Where.Rank * this->Where.Piece);
      const int code = this->MakeTypeWithHoles(&type);
      if (code != MPI_SUCCESS) {
        return MpiMessage(code);
      }
    } else if (this->What.Where != Pointer::Shared && this->Where.Shape == View::Own) {
      begin = static_cast<MPI_Offset>(this->Where.Rank * this->Where.PartBytes());
    }
    const int code = MPI_File_set_view(this->File, begin, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (type != MPI_BYTE) {
      MPI_Type_free(&type);
    }
    return MpiMessage(code);
  }

  std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int slot) override
  {
    if (this->Lacking) {
      return "the MPI library does not have this function";
    }
    Call& call = this->Calls[slot];
    call = {MPI_REQUEST_NULL, buffer, bytes};
    MPI_Status status;
    const double begin = MPI_Wtime();
    const int code =
        this->What.Begin(this->File, static_cast<MPI_Offset>(offset), buffer, bytes, &call.Request, &status);
    this->Spent += MPI_Wtime() - begin;
    return this->What.How == Completion::Blocking ? Judge(code, &status, bytes) : MpiMessage(code);
  }

  std::string Finish(int slot) override
  {
    Call& call = this->Calls[slot];
    if (this->What.How == Completion::Blocking || this->Lacking) {
      return {};
    }
    MPI_Status status;
    const double begin = MPI_Wtime();
    const int code = this->What.How == Completion::Split ? this->What.End(this->File, call.Buffer, &status)
                                                         : MPI_Wait(&call.Request, &status);
    this->Spent += MPI_Wtime() - begin;
    return Judge(code, &status, call.Bytes);
  }

  std::string Sync() override { return MpiMessage(MPI_File_sync(this->File)); }
  std::string Close() override { return MpiMessage(MPI_File_close(&this->File)); }

private:
  /// A non-blocking call of MPI in progress.
  struct Call
  {
    MPI_Request Request = MPI_REQUEST_NULL;
    std::byte* Buffer = nullptr;
    int Bytes = 0;
  };

  static std::string Judge(int code, MPI_Status* status, int bytes)
  {
    if (code != MPI_SUCCESS) {
      return MpiMessage(code);
    }
    int moved = 0;
    MPI_Get_count(status, MPI_BYTE, &moved);
    return moved == bytes ? std::string() : fmt::format("moved {} of {} bytes", moved, bytes);
  }

  /// Makes the type of a piece of this rank, followed by a hole for the pieces of the other ranks.
  int MakeTypeWithHoles(MPI_Datatype* type) const
  {
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    const auto bytes = static_cast<int>(this->Where.Piece);
    const auto extent = static_cast<MPI_Aint>(this->Where.Piece * this->Where.Ranks);
    int code = MPI_Type_vector(1, bytes, bytes, MPI_BYTE, &piece);
    if (code == MPI_SUCCESS) {
      code = MPI_Type_create_resized(piece, 0, extent, type);
      MPI_Type_free(&piece);
    }
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
  }

  const Function& What;
  const Layout& Where;
  MPI_Comm Comm;
  MPI_File File = MPI_FILE_NULL;
  std::vector<Call> Calls;
  bool Lacking = false;  ///< the MPI library does not have the function
};

class PosixAccess : public Access
{
public:
  PosixAccess(const Function& function, const Layout& layout) : What(function), Where(layout) {}

  std::string Open(const std::string& path) override
  {
    this->File.emplace(path, O_RDWR | (this->What.Direct ? O_DIRECT : 0));
    return this->File->IsOpen() ? std::string() : SystemMessage(errno);
  }

  std::string SetView() override { return {}; }

  std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int) override
  {
    std::string fault;
    const double begin = MPI_Wtime();
    this->Where.ForRuns(offset, bytes, [&](const Layout::Run& run) {
      if (fault.empty()) {
        fault = this->Move(run, buffer);
      }
    });
    this->Spent += MPI_Wtime() - begin;
    return fault;
  }

  std::string Finish(int) override { return {}; }
  std::string Sync() override { return ::fsync(*this->File) == 0 ? std::string() : SystemMessage(errno); }
  std::string Close() override { return this->File->Close() ? std::string() : SystemMessage(errno); }

private:
  std::string Move(const Layout::Run& run, std::byte* buffer) const
  {
    for (std::uint64_t done = 0; done < run.Bytes;) {
      std::byte* const memory = buffer + run.Begin + done;
      const ssize_t now = this->What.Write
                              ? ::pwrite(*this->File, memory, run.Bytes - done, run.FileOffset + done)
                              : ::pread(*this->File, memory, run.Bytes - done, run.FileOffset + done);
      if (now == 0) {
        return "the file ends too early";
      }
      if (now < 0 && errno != EINTR) {
        return SystemMessage(errno) +
               (this->What.Direct
                       ? " (O_DIRECT requires whole sectors on some storages and is not supported on others)"
                       : "");
      }
      done += now > 0 ? now : 0;
    }
    return {};
  }

  const Function& What;
  const Layout& Where;
  std::optional<RawFile> File;
};

/// Returns the access for `function`, not yet open. `function` and `layout` must outlive the result.
std::unique_ptr<Access> MakeAccess(
    const Function& function, const Layout& layout, MPI_Comm comm, int concurrency)
{
  if (function.Where == Pointer::Posix) {
    return std::make_unique<PosixAccess>(function, layout);
  }
  return std::make_unique<MpiAccess>(function, layout, comm, concurrency);
}

constexpr std::uint64_t Page = 4096;
constexpr int CallsBetweenAgreements = 64;
constexpr std::uint64_t MostCalls = std::uint64_t(1) << 29;  // of all ranks; MPI counts gathered data in int

double Most(double value, MPI_Comm comm)
{
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

/// Collective: returns the fault of the first rank that has one; empty if no rank has a fault.
std::string Agree(Communicator& ranks, const std::string& fault)
{
  const std::vector<std::string> faults = ranks.AllGather(fault);
  for (std::size_t rank = 0; rank < faults.size(); ++rank) {
    if (!faults[rank].empty()) {
      return ranks.Size() > 1 ? fmt::format("rank {}: {}", rank, faults[rank]) : faults[rank];
    }
  }
  return {};
}

/// The loop over the blocks of one rank. Blocks lie in a ring of slots. When the ring is full, the loop
/// checks the read values, or makes new values to write, outside the measured time.
class Mover
{
public:
  Mover(const Trial& trial, Access& access, MPI_Comm comm, BlockMemory& memory)
      : How(trial), File(access), Comm(comm), Values(SeedOf(trial.Number))
  {
    const Layout& where = trial.Where;
    this->Total = this->ByShared() ? where.PartBytes() : where.ViewBytes();
    this->Blocks = (this->Total + trial.Block - 1) / trial.Block;
    const std::uint64_t most = MostCalls / where.Ranks;
    this->Shortened = this->Blocks > most;
    this->Blocks = std::min(this->Blocks, most);
    this->Stride = (trial.Block + Page - 1) / Page * Page;
    this->Depth = trial.What.How == Completion::NonBlocking ? trial.Concurrency : 1;
    this->Slots =
        std::clamp<std::uint64_t>(RingBytes / this->Stride, this->Depth, this->Blocks + this->Depth);
    this->Ring = memory.Get(this->Slots * this->Stride);
  }

  void Run()
  {
    std::uint64_t block = 0;
    for (; block < this->Blocks; ++block) {
      if (block % this->Slots == 0) {
        this->RefillRing(block);
      }
      if (!this->GoesOn(block)) {
        break;
      }
      this->Begin(block);
    }
    this->FinishUntil(block);
    this->Check(block);
    this->Done = block;
  }

  /// Returns the number of bytes moved.
  std::uint64_t Bytes() const { return std::min(this->Total, this->Done * this->How.Block); }
  const std::string& Fault() const { return this->Problem; }
  bool Wrong() const { return this->WrongValues; }
  /// Returns whether the rest of the file was left out.
  bool Cut() const { return this->Shortened || this->Late(); }
  /// Returns the ranges of the file that were read through a shared pointer, in this rank's order.
  const std::vector<Tile>& Taken() const { return this->Tiles; }

private:
  bool Late() const { return this->File.Seconds() > this->How.MostSeconds; }
  bool ByShared() const { return this->How.What.Where == Pointer::Shared; }
  std::byte* SlotOf(std::uint64_t block) const { return this->Ring + block % this->Slots * this->Stride; }
  std::uint64_t OffsetOf(std::uint64_t block) const { return block * this->How.Block; }
  std::uint64_t BytesOf(std::uint64_t block) const
  {
    return std::min(this->How.Block, this->Total - this->OffsetOf(block));
  }

  void Begin(std::uint64_t block)
  {
    if (block - this->Finished >= static_cast<std::uint64_t>(this->Depth)) {
      this->FinishUntil(this->Finished + 1);
    }
    this->Note(this->File.Begin(this->OffsetOf(block), this->SlotOf(block),
        static_cast<int>(this->BytesOf(block)), static_cast<int>(block % this->Depth)));
  }

  void FinishUntil(std::uint64_t block)
  {
    for (; this->Finished < block; ++this->Finished) {
      this->Note(this->File.Finish(static_cast<int>(this->Finished % this->Depth)));
    }
  }

  void RefillRing(std::uint64_t block)
  {
    this->FinishUntil(block);
    this->Check(block);
    if (this->How.What.Write) {
      this->MakeValues(block);
    }
    if (this->How.What.Collective) {
      MPI_Barrier(this->Comm);
    }
  }

  /// Returns whether to move another block. With collective functions, the ranks agree on the result from
  /// time to time, outside the measured time.
  bool GoesOn(std::uint64_t block)
  {
    const bool stops = !this->Problem.empty() || this->Late() || Interrupt::Received();
    if (!this->How.What.Collective) {
      return !stops;
    }
    const bool asks = (block & (block - 1)) == 0 || block % CallsBetweenAgreements == 0;
    return !asks || Most(stops ? 1 : 0, this->Comm) == 0;
  }

  void Note(const std::string& fault)
  {
    if (this->Problem.empty()) {
      this->Problem = fault;
    }
  }

  void MakeValues(std::uint64_t first)
  {
    const Layout& where = this->How.Where;
    for (std::uint64_t block = first; block < std::min(this->Blocks, first + this->Slots); ++block) {
      std::byte* const slot = this->SlotOf(block);
      if (this->ByShared()) {
        // The offset of the block in the file is unknown before the call, so the values identify the block.
        const std::uint64_t name = where.Rank * where.PartBytes() + this->OffsetOf(block);
        this->Values.Fill(name, slot, this->BytesOf(block));
        continue;
      }
      where.ForRuns(this->OffsetOf(block), this->BytesOf(block),
          [&](const Layout::Run& run) { this->Values.Fill(run.FileOffset, slot + run.Begin, run.Bytes); });
    }
  }

  /// Checks the blocks in the ring that are finished and not checked yet.
  void Check(std::uint64_t end)
  {
    for (; this->Checked < end; ++this->Checked) {
      if (!this->How.What.Write && this->Problem.empty()) {
        this->CheckBlock(this->Checked);
      }
    }
  }

  void CheckBlock(std::uint64_t block)
  {
    const std::byte* const slot = this->SlotOf(block);
    const std::uint64_t bytes = this->BytesOf(block);
    if (this->ByShared()) {
      const std::uint64_t from = this->Values.OffsetOf(slot);
      this->Tiles.push_back({from, bytes});
      const bool inside = from < this->How.Where.FileBytes && bytes <= this->How.Where.FileBytes - from;
      if (!inside || this->Values.FindWrongByte(from, slot, bytes)) {
        this->SayWrong(fmt::format("read block {} has values that the file does not have", block + 1));
      }
      return;
    }
    this->How.Where.ForRuns(this->OffsetOf(block), bytes, [&](const Layout::Run& run) {
      const auto wrong = this->Values.FindWrongByte(run.FileOffset, slot + run.Begin, run.Bytes);
      if (wrong && this->Problem.empty()) {
        this->SayWrong(fmt::format("read a wrong value at byte {} of the file", run.FileOffset + *wrong));
      }
    });
  }

  void SayWrong(const std::string& what)
  {
    this->WrongValues = true;
    this->Note(what);
  }

  const Trial& How;
  Access& File;
  MPI_Comm Comm;
  Pattern Values;
  std::byte* Ring = nullptr;
  std::uint64_t Total, Blocks, Stride, Slots;
  int Depth;
  std::uint64_t Finished = 0, Checked = 0, Done = 0;
  std::string Problem;
  bool WrongValues = false;
  bool Shortened = false;
  std::vector<Tile> Tiles;
};

void Rewrite(Communicator& ranks, const Trial& trial)
{
  const Layout& where = trial.Where;
  // Before a write, the file must not have the values that will be written.
  const std::uint64_t seed = SeedOf(trial.Number) ^ (trial.What.Write ? ~std::uint64_t{0} : 0);
  RunOnAllRanks(
      ranks, [&] { WritePattern(trial.Path, seed, where.Rank * where.PartBytes(), where.PartBytes()); });
  // Every machine drops the file from its own memory after all ranks have written.
  RunOnAllRanks(ranks, [&] {
    if (!Interrupt::Received()) {
      DropFromMemory(trial.Path);
    }
  });
}

/// Collective: returns an error text, on rank 0, unless the blocks that all ranks read through a shared
/// pointer cover the file from its beginning, each byte once.
std::string CheckTaken(Communicator& ranks, const std::vector<Tile>& own)
{
  const std::vector<Tile> all = ValuesInTexts<Tile>(ranks.Gather(TextOfValues(own)));
  return TilesFromZero(all) ? "" : "the ranks read some blocks twice and missed others";
}

/// Collective: checks all written values, a part of the file on each rank. Returns the text of an error of
/// this rank.
std::string CheckWritten(Communicator& ranks, const Trial& trial, std::uint64_t own)
{
  const Layout& where = trial.Where;
  const std::uint64_t seed = SeedOf(trial.Number);
  if (trial.What.Where == Pointer::Shared) {
    double total = static_cast<double>(own);
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, ranks.Mpi());
    const BlockNames names{where.PartBytes(), trial.Block, where.FileBytes};
    return ranks.Rank() == 0 ? CatchError([&] {
      CheckShuffled(trial.Path, seed, names, static_cast<std::uint64_t>(total));
    })
                             : "";
  }
  if (where.Shape == View::Own) {
    return CatchError([&] { CheckStretch(trial.Path, seed, where.Rank * where.PartBytes(), own); });
  }
  // The file has no holes before the end of the part that the slowest rank has written.
  double least = static_cast<double>(own);
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, ranks.Mpi());
  const auto part = static_cast<std::uint64_t>(least) / where.Piece * where.Piece;
  return CatchError([&] { CheckStretch(trial.Path, seed, where.Rank * part, part); });
}

/// Collective: opens the file. Returns the fault, the same on all ranks.
std::string Open(Communicator& ranks, const Trial& trial, Access& access, Outcome& outcome)
{
  // A rank that does not find the file leaves MPI_File_open early, and the other ranks wait for it forever.
  // So no signal may remove the file during the call. A file that was removed before is missing on all ranks.
  const KeepFiles keep;
  MPI_Barrier(ranks.Mpi());
  const double begin = MPI_Wtime();
  const std::string notOpen = access.Open(trial.Path);
  outcome.OpenSeconds = MPI_Wtime() - begin;
  return Agree(ranks, notOpen);
}

/// Collective: opens the file and sets the view. Returns the fault, the same on all ranks.
std::string Prepare(Communicator& ranks, const Trial& trial, Access& access, Outcome& outcome)
{
  const std::string fault = Open(ranks, trial, access, outcome);
  if (!fault.empty()) {
    // Closing the file would wait for ranks that could not open it.
    return "open: " + fault;
  }
  const double begin = MPI_Wtime();
  const std::string noView = access.SetView();
  outcome.ViewSeconds = MPI_Wtime() - begin;
  const std::string viewFault = Agree(ranks, noView);
  if (!viewFault.empty()) {
    access.Close();
    return "set_view: " + viewFault;
  }
  return {};
}

/// Collective: combines the outcomes of all ranks. bytes: number of bytes that this rank has moved.
void Sum(Outcome& outcome, std::uint64_t bytes, bool sync, MPI_Comm comm)
{
  double times[] = {outcome.Seconds, outcome.SyncSeconds, outcome.OpenSeconds, outcome.ViewSeconds,
      outcome.Cut ? 1.0 : 0.0, outcome.Wrong ? 1.0 : 0.0, Interrupt::Received() ? 1.0 : 0.0};
  MPI_Allreduce(MPI_IN_PLACE, times, 7, MPI_DOUBLE, MPI_MAX, comm);
  std::uint64_t total = bytes;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
  outcome.Seconds = times[0];
  outcome.SyncSeconds = times[1];
  outcome.OpenSeconds = times[2];
  outcome.ViewSeconds = times[3];
  outcome.Cut = times[4] > 0;
  outcome.Wrong = times[5] > 0;
  outcome.Interrupted = times[6] > 0;
  outcome.Bytes = total;
  const double seconds = outcome.Seconds + (sync ? outcome.SyncSeconds : 0);
  // The time of a very short run is at most one tick of the clock.
  outcome.Rate = static_cast<double>(total) / std::max(seconds, MPI_Wtick());
}

}  // namespace

std::byte* BlockMemory::Get(std::size_t bytes)
{
  if (bytes > this->Bytes) {
    this->Memory.reset();
    this->Bytes = 0;
    this->Memory = MakeAlignedMemory(bytes);
    this->Bytes = bytes;
  }
  return this->Memory.get();
}

bool Applies(const Function& function, View view)
{
  // A shared pointer gives each rank an arbitrary part of the file.
  return !(function.Write && view == View::Whole) &&
         !(function.Where == Pointer::Shared && view != View::Own);
}

std::uint64_t SeedOf(std::uint64_t number)
{
  // Mixes all bits, so that the values of two trials differ everywhere.
  std::uint64_t seed = (number + 1) * 0xd1342543de82ef95u;
  seed ^= seed >> 32;
  seed *= 0xaef17502108ef2d9u;
  return seed ^ (seed >> 29);
}

Outcome Measure(Communicator& ranks, const Trial& trial, BlockMemory& memory)
{
  assert(Applies(trial.What, trial.Where.Shape));
  const MPI_Comm comm = ranks.Mpi();
  Outcome outcome;
  Rewrite(ranks, trial);
  const std::unique_ptr<Access> access = MakeAccess(trial.What, trial.Where, comm, trial.Concurrency);
  std::optional<Mover> mover;
  RunOnAllRanks(ranks, [&] {
    mover.emplace(trial, *access, comm, memory);
    outcome.Resident = ranks.Rank() == 0 && !Interrupt::Received() ? ResidentPart(trial.Path) : -1;
  });
  outcome.Error = Prepare(ranks, trial, *access, outcome);
  if (!outcome.Error.empty()) {
    Sum(outcome, 0, false, comm);
    return outcome;
  }
  MPI_Barrier(comm);
  mover->Run();
  outcome.Seconds = access->Seconds();
  outcome.Cut = mover->Cut();
  std::string fault = mover->Fault();
  if (trial.What.Write) {
    const double begin = MPI_Wtime();
    const std::string notSynced = access->Sync();
    outcome.SyncSeconds = MPI_Wtime() - begin;
    fault = fault.empty() ? notSynced : fault;
  }
  const std::string notClosed = access->Close();
  outcome.Wrong = mover->Wrong();
  outcome.Error = Agree(ranks, fault.empty() ? notClosed : fault);
  if (outcome.Error.empty() && !Most(Interrupt::Received() ? 1 : 0, comm)) {
    std::string wrong;
    if (trial.What.Write) {
      wrong = CheckWritten(ranks, trial, mover->Bytes());
    } else if (trial.What.Where == Pointer::Shared) {
      wrong = CheckTaken(ranks, mover->Taken());
    }
    outcome.Wrong = !wrong.empty();
    outcome.Error = Agree(ranks, wrong);
  }
  Sum(outcome, mover->Bytes(), trial.Sync, comm);
  return outcome;
}

}  // namespace patchio::probe
