#include "Probe/Measure.h"

#include "Base/Bytes.h"
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

/// A file, and the function that accesses the file. The methods return the text of an error, or an empty text
/// on success. The methods do not throw, because the other ranks would then wait in collective functions.
class Access
{
public:
  virtual ~Access() = default;

  /// Opens the file for reading and writing. Collective: every rank of the communicator calls it.
  virtual std::string Open(const std::string& path) = 0;
  /// Sets the view of the file. Collective: every rank of the communicator calls it.
  virtual std::string SetView() = 0;
  /// Reads or writes, or begins to read or write, `bytes` bytes at `offset` in the view. `slot` identifies
  /// the call until Finish(slot); 0 <= slot < `concurrency` of MakeAccess().
  virtual std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int slot) = 0;
  /// Waits for the end of the call that Begin() has begun in `slot`; does nothing for blocking functions.
  virtual std::string Finish(int slot) = 0;
  /// Waits until the storage has all written bytes. Collective: every rank of the communicator calls it.
  virtual std::string Sync() = 0;
  /// Closes the file. Collective: every rank of the communicator calls it.
  virtual std::string Close() = 0;

  /// Returns the seconds spent so far in the measured function, including the wait for its end.
  double Seconds() const { return this->SpentSeconds; }

protected:
  double SpentSeconds = 0;
};

class MpiAccess : public Access
{
public:
  MpiAccess(const Function& function, const Layout& layout, MPI_Comm comm, int concurrency)
      : MeasuredFunction(function), FileLayout(layout), Comm(comm), Calls(concurrency)
  {
  }

  std::string Open(const std::string& path) override
  {
    this->IsMissing = LibraryLacks(this->MeasuredFunction, path);
    return MpiMessage(MPI_File_open(this->Comm, path.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &this->File));
  }

  std::string SetView() override
  {
    MPI_Datatype type = MPI_BYTE;
    MPI_Offset begin = 0;
    // A shared pointer requires the same view on all ranks, and itself divides the file among the ranks.
    if (this->MeasuredFunction.Positioning != Pointer::Shared &&
        this->FileLayout.FileView == View::Interleaved) {
      begin = static_cast<MPI_Offset>(this->FileLayout.Rank * this->FileLayout.PieceBytes);
      const int code = this->MakeTypeWithHoles(&type);
      if (code != MPI_SUCCESS) {
        return MpiMessage(code);
      }
    } else if (this->MeasuredFunction.Positioning != Pointer::Shared &&
               this->FileLayout.FileView == View::Own) {
      begin = static_cast<MPI_Offset>(this->FileLayout.Rank * this->FileLayout.PartBytes());
    }
    const int code = MPI_File_set_view(this->File, begin, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (type != MPI_BYTE) {
      MPI_Type_free(&type);
    }
    return MpiMessage(code);
  }

  std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int slot) override
  {
    if (this->IsMissing) {
      return "the MPI library does not have this function";
    }
    Call& call = this->Calls[slot];
    call = {MPI_REQUEST_NULL, buffer, bytes};
    MPI_Status status;
    const double begin = MPI_Wtime();
    const int code = this->MeasuredFunction.Begin(
        this->File, static_cast<MPI_Offset>(offset), buffer, bytes, &call.Request, &status);
    this->SpentSeconds += MPI_Wtime() - begin;
    return this->MeasuredFunction.Synchronism == Completion::Blocking ? CheckCall(code, &status, bytes)
                                                                      : MpiMessage(code);
  }

  std::string Finish(int slot) override
  {
    Call& call = this->Calls[slot];
    if (this->MeasuredFunction.Synchronism == Completion::Blocking || this->IsMissing) {
      return {};
    }
    MPI_Status status;
    const double begin = MPI_Wtime();
    const int code = this->MeasuredFunction.Synchronism == Completion::Split
                         ? this->MeasuredFunction.End(this->File, call.Buffer, &status)
                         : MPI_Wait(&call.Request, &status);
    this->SpentSeconds += MPI_Wtime() - begin;
    return CheckCall(code, &status, call.Bytes);
  }

  std::string Sync() override { return MpiMessage(MPI_File_sync(this->File)); }
  std::string Close() override { return MpiMessage(MPI_File_close(&this->File)); }

private:
  /// A non-blocking or split call of MPI in progress.
  struct Call
  {
    MPI_Request Request = MPI_REQUEST_NULL;
    std::byte* Buffer = nullptr;
    int Bytes = 0;
  };

  static std::string CheckCall(int code, MPI_Status* status, int bytes)
  {
    if (code != MPI_SUCCESS) {
      return MpiMessage(code);
    }
    int moved = 0;
    MPI_Get_count(status, MPI_BYTE, &moved);
    return moved == bytes ? std::string() : fmt::format("the function moved {} of {} bytes", moved, bytes);
  }

  /// Makes the type of a piece of this rank, followed by a hole for the pieces of the other ranks. Returns an
  /// MPI error code.
  int MakeTypeWithHoles(MPI_Datatype* type) const
  {
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    const auto bytes = static_cast<int>(this->FileLayout.PieceBytes);
    const auto extent = static_cast<MPI_Aint>(this->FileLayout.PieceBytes * this->FileLayout.Ranks);
    int code = MPI_Type_vector(1, bytes, bytes, MPI_BYTE, &piece);
    if (code == MPI_SUCCESS) {
      code = MPI_Type_create_resized(piece, 0, extent, type);
      MPI_Type_free(&piece);
    }
    return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
  }

  const Function& MeasuredFunction;
  const Layout& FileLayout;
  MPI_Comm Comm;
  MPI_File File = MPI_FILE_NULL;
  std::vector<Call> Calls;
  bool IsMissing = false;  ///< the MPI library does not have the function
};

class PosixAccess : public Access
{
public:
  PosixAccess(const Function& function, const Layout& layout) : MeasuredFunction(function), FileLayout(layout)
  {
  }

  std::string Open(const std::string& path) override
  {
    this->File.emplace(path, O_RDWR | (this->MeasuredFunction.Direct ? O_DIRECT : 0));
    return this->File->IsOpen() ? std::string() : SystemMessage(errno);
  }

  std::string SetView() override { return {}; }

  std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int) override
  {
    std::string fault;
    const double begin = MPI_Wtime();
    this->FileLayout.ForEachRun(offset, bytes, [&](const Layout::Run& run) {
      if (fault.empty()) {
        fault = this->Transfer(run, buffer);
      }
    });
    this->SpentSeconds += MPI_Wtime() - begin;
    return fault;
  }

  std::string Finish(int) override { return {}; }
  std::string Sync() override { return ::fsync(*this->File) == 0 ? std::string() : SystemMessage(errno); }
  std::string Close() override { return this->File->Close() ? std::string() : SystemMessage(errno); }

private:
  std::string Transfer(const Layout::Run& run, std::byte* buffer) const
  {
    for (std::uint64_t done = 0; done < run.Bytes;) {
      std::byte* const memory = buffer + run.Begin + done;
      const ssize_t now = this->MeasuredFunction.Write
                              ? ::pwrite(*this->File, memory, run.Bytes - done, run.FileOffset + done)
                              : ::pread(*this->File, memory, run.Bytes - done, run.FileOffset + done);
      if (now == 0) {
        return "the file ends too early";
      }
      if (now < 0 && errno != EINTR) {
        return SystemMessage(errno) +
               (this->MeasuredFunction.Direct
                       ? " (O_DIRECT requires whole sectors on some storages and is not supported on others)"
                       : "");
      }
      done += now > 0 ? now : 0;
    }
    return {};
  }

  const Function& MeasuredFunction;
  const Layout& FileLayout;
  std::optional<RawFile> File;
};

/// Returns the access for `function`, not yet open. `function` and `layout` must outlive the result.
/// concurrency: maximum number of calls that have begun but not finished.
std::unique_ptr<Access> MakeAccess(
    const Function& function, const Layout& layout, MPI_Comm comm, int concurrency)
{
  if (function.Positioning == Pointer::Posix) {
    return std::make_unique<PosixAccess>(function, layout);
  }
  return std::make_unique<MpiAccess>(function, layout, comm, concurrency);
}

constexpr int CallsBetweenReductions = 64;
constexpr std::uint64_t MostCalls = std::uint64_t(1) << 29;  // of all ranks; MPI counts gathered data in int

/// Returns, on all ranks, the fault of the first rank with a fault; empty if all ranks succeeded. Collective:
/// every rank of the communicator calls it.
std::string FirstFaultOfRanks(Communicator& ranks, const std::string& fault)
{
  const bool named = ranks.Size() > 1 && !fault.empty();
  return FirstNonEmpty(ranks, named ? fmt::format("rank {}: {}", ranks.Rank(), fault) : fault);
}

/// The loop over the blocks of one rank. Blocks lie in a ring of slots. When the ring is full, the loop
/// checks the read values, or makes new values to write, outside the measured time.
class BlockLoop
{
public:
  BlockLoop(const Trial& trial, Access& access, Communicator& ranks, BlockMemory& memory)
      : CurrentTrial(trial), File(access), Ranks(ranks), Values(SeedOf(trial.Number))
  {
    const Layout& layout = trial.FileLayout;
    this->Total = this->UsesSharedPointer() ? layout.PartBytes() : layout.ViewBytes();
    this->Blocks = (this->Total + trial.Block - 1) / trial.Block;
    const std::uint64_t most = MostCalls / layout.Ranks;
    this->Blocks = std::min(this->Blocks, most);
    this->Stride = RoundUp(trial.Block, PageBytes);
    this->CallsInFlight =
        trial.MeasuredFunction.Synchronism == Completion::NonBlocking ? trial.Concurrency : 1;
    this->Slots = std::clamp<std::uint64_t>(
        RingBytes / this->Stride, this->CallsInFlight, this->Blocks + this->CallsInFlight);
    this->Ring = memory.Get(this->Slots * this->Stride);
  }

  void Run()
  {
    std::uint64_t block = 0;
    for (; block < this->Blocks; ++block) {
      if (block % this->Slots == 0) {
        this->RefillRing(block);
      }
      if (!this->ShouldContinue(block)) {
        break;
      }
      this->Begin(block);
    }
    this->FinishUntil(block);
    this->CheckBlocks(block);
    this->Done = block;
  }

  /// Returns the number of bytes that were read or written.
  std::uint64_t Bytes() const { return std::min(this->Total, this->Done * this->CurrentTrial.Block); }
  const std::string& Fault() const { return this->FirstFault; }
  bool HasWrongValues() const { return this->WrongValues; }
  /// Returns whether the loop left out the rest of the file.
  bool IsCut() const { return this->Bytes() < this->Total; }
  /// Returns the ranges of the file that were read through a shared pointer, in this rank's order.
  const std::vector<FileRange>& ReadRanges() const { return this->RangesRead; }

private:
  bool IsLate() const { return this->File.Seconds() > this->CurrentTrial.MostSeconds; }
  bool UsesSharedPointer() const
  {
    return this->CurrentTrial.MeasuredFunction.Positioning == Pointer::Shared;
  }
  std::byte* SlotOf(std::uint64_t block) const { return this->Ring + block % this->Slots * this->Stride; }
  std::uint64_t OffsetOf(std::uint64_t block) const { return block * this->CurrentTrial.Block; }
  std::uint64_t BytesOf(std::uint64_t block) const
  {
    return std::min(this->CurrentTrial.Block, this->Total - this->OffsetOf(block));
  }

  void Begin(std::uint64_t block)
  {
    if (block - this->Finished >= static_cast<std::uint64_t>(this->CallsInFlight)) {
      this->FinishUntil(this->Finished + 1);
    }
    this->RecordFault(this->File.Begin(this->OffsetOf(block), this->SlotOf(block),
        static_cast<int>(this->BytesOf(block)), static_cast<int>(block % this->CallsInFlight)));
  }

  void FinishUntil(std::uint64_t block)
  {
    for (; this->Finished < block; ++this->Finished) {
      this->RecordFault(this->File.Finish(static_cast<int>(this->Finished % this->CallsInFlight)));
    }
  }

  void RefillRing(std::uint64_t block)
  {
    this->FinishUntil(block);
    this->CheckBlocks(block);
    if (this->CurrentTrial.MeasuredFunction.Write) {
      this->MakeValues(block);
    }
    if (this->CurrentTrial.MeasuredFunction.Collective) {
      MPI_Barrier(this->Ranks.Mpi());
    }
  }

  /// Returns whether to read or write another block. With collective functions, the ranks decide together
  /// from time to time, outside the measured time.
  bool ShouldContinue(std::uint64_t block)
  {
    const bool stops = !this->FirstFault.empty() || this->IsLate() || Interrupt::Received();
    if (!this->CurrentTrial.MeasuredFunction.Collective) {
      return !stops;
    }
    const bool reduces = (block & (block - 1)) == 0 || block % CallsBetweenReductions == 0;
    return !reduces || AllOf(this->Ranks, !stops);
  }

  void RecordFault(const std::string& fault)
  {
    if (this->FirstFault.empty()) {
      this->FirstFault = fault;
    }
  }

  void MakeValues(std::uint64_t first)
  {
    const Layout& layout = this->CurrentTrial.FileLayout;
    for (std::uint64_t block = first; block < std::min(this->Blocks, first + this->Slots); ++block) {
      std::byte* const slot = this->SlotOf(block);
      if (this->UsesSharedPointer()) {
        // The offset of the block in the file is unknown before the call, so the values identify the block.
        const std::uint64_t patternOffset = layout.Rank * layout.PartBytes() + this->OffsetOf(block);
        this->Values.Fill(patternOffset, slot, this->BytesOf(block));
        continue;
      }
      layout.ForEachRun(this->OffsetOf(block), this->BytesOf(block),
          [&](const Layout::Run& run) { this->Values.Fill(run.FileOffset, slot + run.Begin, run.Bytes); });
    }
  }

  /// Checks the read blocks in the ring up to `end` that are not checked yet.
  void CheckBlocks(std::uint64_t end)
  {
    for (; this->Checked < end; ++this->Checked) {
      if (!this->CurrentTrial.MeasuredFunction.Write && this->FirstFault.empty()) {
        this->CheckBlock(this->Checked);
      }
    }
  }

  void CheckBlock(std::uint64_t block)
  {
    const std::byte* const slot = this->SlotOf(block);
    const std::uint64_t bytes = this->BytesOf(block);
    if (this->UsesSharedPointer()) {
      const std::uint64_t from = this->Values.OffsetOf(slot);
      this->RangesRead.push_back({from, bytes});
      const bool inside = from < this->CurrentTrial.FileLayout.FileBytes &&
                          bytes <= this->CurrentTrial.FileLayout.FileBytes - from;
      if (!inside || this->Values.FindWrongByte(from, slot, bytes)) {
        this->RecordWrongValues(
            fmt::format("read block {} has values that the file does not have", block + 1));
      }
      return;
    }
    this->CurrentTrial.FileLayout.ForEachRun(this->OffsetOf(block), bytes, [&](const Layout::Run& run) {
      const auto wrong = this->Values.FindWrongByte(run.FileOffset, slot + run.Begin, run.Bytes);
      if (wrong && this->FirstFault.empty()) {
        this->RecordWrongValues(
            fmt::format("the function read a wrong value at byte {} of the file", run.FileOffset + *wrong));
      }
    });
  }

  void RecordWrongValues(const std::string& what)
  {
    this->WrongValues = true;
    this->RecordFault(what);
  }

  const Trial& CurrentTrial;
  Access& File;
  Communicator& Ranks;
  Pattern Values;
  std::byte* Ring = nullptr;
  std::uint64_t Total, Blocks, Stride, Slots;
  int CallsInFlight;
  std::uint64_t Finished = 0, Checked = 0, Done = 0;
  std::string FirstFault;
  bool WrongValues = false;
  std::vector<FileRange> RangesRead;
};

void RewriteFile(Communicator& ranks, const Trial& trial)
{
  const Layout& layout = trial.FileLayout;
  // Before a write, the file must not have the values that will be written.
  const std::uint64_t seed = SeedOf(trial.Number) ^ (trial.MeasuredFunction.Write ? ~std::uint64_t{0} : 0);
  RunOnAllRanks(
      ranks, [&] { WritePattern(trial.Path, seed, layout.Rank * layout.PartBytes(), layout.PartBytes()); });
  // Every machine drops the file from its own page cache after all ranks have written.
  RunOnAllRanks(ranks, [&] {
    if (!Interrupt::Received()) {
      DropFromPageCache(trial.Path);
    }
  });
}

/// Checks, on rank 0, that the blocks that all ranks read through a shared pointer follow one another from
/// the beginning of the file without gaps or overlaps. Returns the error text; empty on success and on the
/// other ranks. Collective: every rank of the communicator calls it.
std::string CheckReadRanges(Communicator& ranks, const std::vector<FileRange>& own)
{
  const std::vector<FileRange> all = UnpackValues<FileRange>(ranks.Gather(PackValues(own)));
  return AreContiguousFromZero(all) ? "" : "the blocks that the ranks read overlap or leave gaps";
}

/// Checks the written values: on each rank a part of the file or, for a shared pointer, on rank 0 the values
/// of all ranks. In an interleaved view, values beyond the end of the slowest rank are not checked. own:
/// number of bytes that this rank has written. Returns the error text of this rank; empty on success.
/// Collective: every rank of the communicator calls it.
std::string CheckWritten(Communicator& ranks, const Trial& trial, std::uint64_t own)
{
  const Layout& layout = trial.FileLayout;
  const std::uint64_t seed = SeedOf(trial.Number);
  if (trial.MeasuredFunction.Positioning == Pointer::Shared) {
    const double total = ranks.Sum({static_cast<double>(own)})[0];
    const PatternBlocks blocks{layout.PartBytes(), trial.Block, layout.FileBytes};
    return ranks.Rank() == 0 ? CatchError([&] {
      CheckShuffledBlocks(trial.Path, seed, blocks, static_cast<std::uint64_t>(total));
    })
                             : "";
  }
  if (layout.FileView == View::Own) {
    return CatchError([&] { CheckRange(trial.Path, seed, layout.Rank * layout.PartBytes(), own); });
  }
  // The file has no holes before the end of the part that the slowest rank has written.
  const double least = ranks.Min({static_cast<double>(own)})[0];
  const auto part = static_cast<std::uint64_t>(least) / layout.PieceBytes * layout.PieceBytes;
  return CatchError([&] { CheckRange(trial.Path, seed, layout.Rank * part, part); });
}

/// Opens the file, and sets outcome.OpenSeconds. Returns the fault, the same on all ranks; empty on success.
/// Collective: every rank of the communicator calls it.
std::string OpenFile(Communicator& ranks, const Trial& trial, Access& access, Outcome& outcome)
{
  // A rank that does not find the file leaves MPI_File_open early, and the other ranks then wait forever. So
  // no signal may remove the file during the call. A file that was removed before is missing on all ranks.
  const RemovalDelay delay;
  MPI_Barrier(ranks.Mpi());
  const double begin = MPI_Wtime();
  const std::string notOpen = access.Open(trial.Path);
  outcome.OpenSeconds = MPI_Wtime() - begin;
  return FirstFaultOfRanks(ranks, notOpen);
}

/// Opens the file and sets the view. Returns the fault, the same on all ranks; empty on success. Collective:
/// every rank of the communicator calls it.
std::string OpenAndSetView(Communicator& ranks, const Trial& trial, Access& access, Outcome& outcome)
{
  const std::string fault = OpenFile(ranks, trial, access, outcome);
  if (!fault.empty()) {
    // Closing the file would wait for ranks that could not open it.
    return "open: " + fault;
  }
  const double begin = MPI_Wtime();
  const std::string noView = access.SetView();
  outcome.ViewSeconds = MPI_Wtime() - begin;
  const std::string viewFault = FirstFaultOfRanks(ranks, noView);
  if (!viewFault.empty()) {
    access.Close();
    return "set_view: " + viewFault;
  }
  return {};
}

/// Combines the outcomes of all ranks. bytes: number of bytes that this rank has read or written; sync: true
/// if the time includes the sync. Collective: every rank of the communicator calls it.
void CombineOutcomes(Outcome& outcome, std::uint64_t bytes, bool sync, Communicator& ranks)
{
  const std::vector<double> most =
      ranks.Max({outcome.Seconds, outcome.SyncSeconds, outcome.OpenSeconds, outcome.ViewSeconds,
          outcome.Cut ? 1.0 : 0.0, outcome.WrongValues ? 1.0 : 0.0, Interrupt::Received() ? 1.0 : 0.0});
  const double total = ranks.Sum({static_cast<double>(bytes)})[0];
  outcome.Seconds = most[0];
  outcome.SyncSeconds = most[1];
  outcome.OpenSeconds = most[2];
  outcome.ViewSeconds = most[3];
  outcome.Cut = most[4] > 0;
  outcome.WrongValues = most[5] > 0;
  outcome.Interrupted = most[6] > 0;
  outcome.Bytes = static_cast<std::uint64_t>(total);
  const double seconds = outcome.Seconds + (sync ? outcome.SyncSeconds : 0);
  // The time of a very short run is at most one tick of the clock.
  outcome.Rate = total / std::max(seconds, MPI_Wtick());
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

bool AreCompatible(const Function& function, View view)
{
  // A shared pointer gives each rank an arbitrary part of the file.
  return !(function.Write && view == View::Whole) &&
         !(function.Positioning == Pointer::Shared && view != View::Own);
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
  assert(AreCompatible(trial.MeasuredFunction, trial.FileLayout.FileView));
  Outcome outcome;
  RewriteFile(ranks, trial);
  const std::unique_ptr<Access> access =
      MakeAccess(trial.MeasuredFunction, trial.FileLayout, ranks.Mpi(), trial.Concurrency);
  std::optional<BlockLoop> loop;
  RunOnAllRanks(ranks, [&] {
    loop.emplace(trial, *access, ranks, memory);
    outcome.Resident = ranks.Rank() == 0 && !Interrupt::Received() ? ResidentFraction(trial.Path) : -1;
  });
  outcome.Error = OpenAndSetView(ranks, trial, *access, outcome);
  if (!outcome.Error.empty()) {
    CombineOutcomes(outcome, 0, false, ranks);
    return outcome;
  }
  MPI_Barrier(ranks.Mpi());
  loop->Run();
  outcome.Seconds = access->Seconds();
  outcome.Cut = loop->IsCut();
  std::string fault = loop->Fault();
  if (trial.MeasuredFunction.Write) {
    const double begin = MPI_Wtime();
    const std::string notSynced = access->Sync();
    outcome.SyncSeconds = MPI_Wtime() - begin;
    fault = fault.empty() ? notSynced : fault;
  }
  const std::string notClosed = access->Close();
  outcome.WrongValues = loop->HasWrongValues();
  outcome.Error = FirstFaultOfRanks(ranks, fault.empty() ? notClosed : fault);
  if (outcome.Error.empty() && AllOf(ranks, !Interrupt::Received())) {
    std::string wrong;
    if (trial.MeasuredFunction.Write) {
      wrong = CheckWritten(ranks, trial, loop->Bytes());
    } else if (trial.MeasuredFunction.Positioning == Pointer::Shared) {
      wrong = CheckReadRanges(ranks, loop->ReadRanges());
    }
    outcome.WrongValues = !wrong.empty();
    outcome.Error = FirstFaultOfRanks(ranks, wrong);
  }
  CombineOutcomes(outcome, loop->Bytes(), trial.Sync, ranks);
  return outcome;
}

}  // namespace patchio::probe
