#include "Write/StepTransfer.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace patchio::output {

StepSender::StepSender(IoRoles& roles, BoundedCommunicator& compute, const OutputConfig& config)
    : Roles(roles),
      Compute(compute),
      Memory(config.Memory),
      WaitSeconds(config.WaitSeconds),
      Values(roles.WorldCommunicator()),
      Commands(roles.WorldCommunicator())
{
}

StepSender::~StepSender()
{
  if (!this->Ended) {
    CatchError([this] { this->End(); });
  }
}

/// Receives the reports of the I/O rank that have arrived.
void StepSender::ReceiveCredits()
{
  this->Values.Test();
  this->Commands.Test();
  Credit credit;
  while (TryReceive(this->Roles.WorldCommunicator(), CreditTag, credit)) {
    this->IsSilent = false;
    AppendText(this->Faults, credit.Faults);
    if (credit.RoomCommands >=
        this->LastCredit.RoomCommands) {  // reports of a former I/O rank may arrive late
      this->LastCredit = credit;
    }
  }
  while (static_cast<std::int64_t>(this->Unacknowledged.size()) > this->Steps - this->LastCredit.Steps) {
    this->Unacknowledged.pop_front();
  }
  while (static_cast<std::int64_t>(this->Unwritten.size()) > this->Steps - this->LastCredit.Written) {
    this->Unwritten.pop_front();
  }
}

/// Waits until `condition` returns true. Returns false after the time limit or, if IsSilent is set, at once.
bool StepSender::WaitUntil(const std::function<bool()>& condition)
{
  const bool held = WaitFor(this->IsSilent ? 0 : this->WaitSeconds, [&] {
    this->ReceiveCredits();
    return condition();
  });
  this->IsSilent = this->IsSilent || !held;
  return held;
}

std::string StepSender::TextOfUnwritten() const
{
  if (this->Unwritten.empty()) {
    return "The I/O rank has written all steps so far.";
  }
  const std::int64_t first = this->Unwritten.front(), last = this->Unwritten.back();
  return fmt::format("The I/O rank has written {} of {}, but not {}.", this->LastCredit.Written,
      CountText(this->Steps, "step"),
      first == last ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last));
}

/// Returns the water mark minus the bytes of the steps that the last report does not include, or 0 if the I/O
/// rank has not yet executed the last command to make room.
std::uint64_t StepSender::FreeBytes() const
{
  const std::uint64_t sent =
      std::accumulate(this->Unacknowledged.begin(), this->Unacknowledged.end(), std::uint64_t(0));
  return this->LastCredit.RoomCommands == this->RoomCommands && this->LastCredit.WaterMark > sent
             ? this->LastCredit.WaterMark - sent
             : 0;
}

/// Returns the number, among all ranks, of this rank's I/O rank.
int StepSender::IoRank() const
{
  return this->Roles.IoRanks()[this->Map[this->Compute.Rank()]];
}

void StepSender::WaitForMemory(std::uint64_t bytes)
{
  const auto fits = [&] { return this->Values.Bytes() + bytes <= this->Memory; };
  if (bytes <= this->Memory && !this->WaitUntil(fits)) {
    throw Error(fmt::format("Rank {} waited {} s for I/O rank {} to receive {} of earlier steps. {}",
        this->Roles.Rank(), this->WaitSeconds, this->IoRank(),
        ByteText(static_cast<double>(this->Values.Bytes())), this->TextOfUnwritten()));
  }
}

void StepSender::Send(Command step, const std::shared_ptr<const Declaration>& declared, std::uint64_t bytes,
    const std::function<void(std::byte*)>& pack)
{
  this->ReceiveCredits();
  const bool room = declared == this->Declared && this->FreeBytes() >= bytes;
  const auto lists = GatherValues(this->Compute, std::vector<std::uint64_t>{bytes, room ? 1u : 0u});
  std::vector<std::uint64_t> neededBytes;
  bool all = true;
  for (std::size_t rank = 0; rank < lists.size() / 2; ++rank) {
    neededBytes.push_back(lists[2 * rank]);
    all = all && lists[2 * rank + 1] != 0;
  }
  const std::string fault = all ? "" : CatchError([&] { this->RequestRoom(declared, neededBytes, step); });
  if (!fault.empty()) {
    this->MarkLost(step.Step);
    throw Error(fault);
  }
  step.Lost = std::exchange(this->Lost, {});
  this->Unwritten.push_back(step.Step);
  this->SendToIoRanks(step);
  ++this->Steps;
  this->Unacknowledged.push_back(bytes);
  if (bytes > 0) {
    Buffer buffer(bytes);
    pack(buffer.Data());
    this->Values.Add(std::move(buffer), this->IoRank(), ValuesTag);
  }
}

void StepSender::RequestRoom(const std::shared_ptr<const Declaration>& declared,
    const std::vector<std::uint64_t>& neededBytes, const Command& step)
{
  Command command;
  command.NeededBytes = neededBytes;
  if (declared != this->Declared) {
    this->Map = this->Roles.MapComputeRanks(*declared);
    command.Map = this->Map;
    command.DeclarationBytes = declared->Encode();
  }
  this->CheckFits(neededBytes, step);
  this->Declared = declared;
  this->SendToIoRanks(command);
  ++this->RoomCommands;
  RunOnAllRanks(this->Compute, [&] {
    const std::uint64_t mine = neededBytes[this->Compute.Rank()];
    if (!this->WaitUntil([&] { return this->LastCredit.RoomCommands == this->RoomCommands; })) {
      throw Error(fmt::format(
          "Step {} was not written. Rank {} waited {} s for I/O rank {} to free memory for {}. {}", step.Step,
          this->Roles.Rank(), this->WaitSeconds, this->IoRank(), ByteText(static_cast<double>(mine)),
          this->TextOfUnwritten()));
    }
  });
}

/// Throws Error, the same on all ranks, if a step needs more room than an I/O rank has.
void StepSender::CheckFits(const std::vector<std::uint64_t>& neededBytes, const Command& step) const
{
  std::vector<std::uint64_t> sums(this->Roles.IoRanks().size());
  for (std::size_t rank = 0; rank < neededBytes.size(); ++rank) {
    std::uint64_t& sum = sums[this->Map[rank]];
    sum += neededBytes[rank];
    if (sum > StepMemoryLimit(this->Memory)) {
      throw Error(
          fmt::format("Step {} needs {} or more on I/O rank {}, but the limit is {}. Raise \"memory\" or "
                      "\"io ranks\" in the output configuration.",
              step.Step, ByteText(static_cast<double>(sum)), this->Roles.IoRanks()[this->Map[rank]],
              ByteText(static_cast<double>(StepMemoryLimit(this->Memory)))));
    }
  }
}

/// Sends a command to all I/O ranks. Usually, only compute rank 0 sends the command. If ranks have given up
/// waiting for each other, every compute rank sends the command, because rank 0 may have stopped.
void StepSender::SendToIoRanks(const Command& command)
{
  if (this->Compute.Rank() == 0 || this->Compute.IsBroken()) {
    for (const int ioRank : this->Roles.IoRanks()) {
      this->Commands.Add(command, ioRank, CommandTag);
    }
  }
}

void StepSender::Finish()
{
  if (!this->WaitUntil([this] { return this->LastCredit.Written == this->Steps; })) {
    throw Error(fmt::format("Rank {} waited {} s for I/O rank {}. {}", this->Roles.Rank(), this->WaitSeconds,
        this->IoRank(), this->TextOfUnwritten()));
  }
}

void StepSender::End()
{
  this->Ended = true;
  Command last;
  last.Code = EndMark();
  this->SendToIoRanks(last);
  std::vector<MPI_Request> barrier(1);
  MPI_Ibarrier(this->Roles.WorldCommunicator(), barrier.data());
  if (!this->WaitUntil([&] { return AreComplete(barrier); })) {
    this->Roles.LeakCommunicators();
    throw Error(fmt::format("The I/O ranks have not finished: rank {} stopped waiting after {} s.",
        this->Roles.Rank(), this->WaitSeconds));
  }
}

std::string StepSender::TakeFaults()
{
  this->ReceiveCredits();
  return std::exchange(this->Faults, {});
}

StepReceiver::StepReceiver(IoRoles& roles, int number, const OutputConfig& config)
    : Roles(roles),
      Number(number),
      MemoryLimit(StepMemoryLimit(config.Memory)),
      WaitSeconds(config.WaitSeconds),
      Credits(roles.WorldCommunicator())
{
}

StepReceiver::~StepReceiver()
{
  if (!this->Receiving.empty()) {
    new std::deque<std::shared_ptr<ReceivedStep>>(std::move(this->Receiving));
  }
}

bool StepReceiver::Serve(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write)
{
  Backoff backoff;
  std::optional<Stopwatch> sinceEnd;
  for (;;) {
    const bool hasCommand = this->ReceiveCommand();
    const bool hasDone = this->ExecuteCommand();
    const bool hasBegun = this->BeginWrite(write);
    const bool hasWritten = this->CountWritten();
    if (hasDone || hasWritten) {
      this->PromiseMemory();
      this->SendCredits();
    }
    this->Credits.Test();
    if (this->EndReceived) {
      sinceEnd = sinceEnd ? sinceEnd : Stopwatch();
      const bool all = this->Receiving.empty() && this->Writing.empty();
      if (all || sinceEnd->Seconds() > this->WaitSeconds) {
        return all;
      }
    }
    if (hasCommand || hasDone || hasBegun || hasWritten || !this->Receiving.empty()) {
      backoff.Reset();  // MPI transfers long messages only during MPI calls
    }
    backoff.Sleep();
  }
}

bool StepReceiver::ReceiveCommand()
{
  Command command;
  if (!TryReceive(this->Roles.WorldCommunicator(), CommandTag, command)) {
    return false;
  }
  this->Commands.push_back(std::move(command));
  return true;
}

/// Executes the first command, unless the command is to make room and the memory does not suffice yet.
/// Returns whether the command was executed.
bool StepReceiver::ExecuteCommand()
{
  if (this->Commands.empty()) {
    return false;
  }
  Command& command = this->Commands.front();
  if (!command.NeededBytes.empty()) {
    if (!this->MakeRoom(command)) {
      return false;
    }
    ++this->NextCredit.RoomCommands;
  } else if (command.Code == EndMark()) {
    this->EndReceived = true;
  } else {
    this->BeginStep(std::move(command));
    ++this->NextCredit.Steps;
  }
  this->Commands.pop_front();
  return true;
}

/// Promises the bytes that `command` requests. If the free memory does not suffice yet, returns false. But if
/// another command has arrived, the compute ranks have given up waiting for `command`; the method then
/// returns true without a promise.
bool StepReceiver::MakeRoom(const Command& command)
{
  if (!command.DeclarationBytes.empty()) {
    this->Declared = std::make_shared<Declaration>(Declaration::Decode(command.DeclarationBytes));
    this->Map = command.Map;
  }
  this->Promised.clear();
  std::uint64_t all = 0;
  for (std::size_t rank = 0; rank < this->Map.size(); ++rank) {
    if (this->Map[rank] == this->Number) {
      this->Promised[static_cast<int>(rank)] = 0;
      all += command.NeededBytes[rank];
    }
  }
  if (this->UsedBytes + all > this->MemoryLimit) {
    return this->Commands.size() > 1;
  }
  for (auto& [rank, bytes] : this->Promised) {
    bytes = command.NeededBytes[rank];
  }
  return true;
}

/// Begins to receive a step. The variables and the lists of arrays in `command` determine the sizes of the
/// messages.
void StepReceiver::BeginStep(Command command)
{
  auto step = std::make_shared<ReceivedStep>();
  step->Declared = this->Declared;
  step->Map = this->Map;
  step->Selected = Decode(command.Code, this->Declared->Names());
  for (auto& [rank, promised] : this->Promised) {
    std::vector<ArrayOfStep> arrays =
        DecodeArrays(command.Lists[rank], rank, *this->Declared, step->Selected);
    std::uint64_t bytes = 0;
    for (const ArrayOfStep& array : arrays) {
      bytes += this->Declared->AlignedBytesOf(array.Variable, array.Patch);
    }
    Buffer buffer(bytes);
    const std::byte* next = buffer.Data();
    for (ArrayOfStep& array : arrays) {
      array.Values = next;
      next += this->Declared->AlignedBytesOf(array.Variable, array.Patch);
    }
    const auto coming =
        BeginReceive(this->Roles.WorldCommunicator(), buffer, this->Roles.ComputeRanks()[rank]);
    step->Requests.insert(step->Requests.end(), coming.begin(), coming.end());
    step->Arrays.insert(step->Arrays.end(), arrays.begin(), arrays.end());
    step->Buffers[rank] = std::move(buffer);
    step->Bytes += bytes;
    promised -= bytes;
  }
  this->UsedBytes += step->Bytes;
  step->StepCommand = std::move(command);
  this->Receiving.push_back(std::move(step));
}

/// Calls write(step) for the oldest step if the step has arrived. Returns whether the step has arrived.
bool StepReceiver::BeginWrite(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write)
{
  if (this->Receiving.empty()) {
    return false;
  }
  const std::shared_ptr<ReceivedStep> step = this->Receiving.front();
  if (!AreComplete(step->Requests)) {
    this->ReportLateRanks(*step);
    return false;
  }
  this->Receiving.pop_front();
  this->Writing.push_back(step->Bytes);
  write(step);
  return true;
}

/// Reports once that a step is late. This rank continues to wait for the step, because compute ranks may have
/// sent a part of the step.
void StepReceiver::ReportLateRanks(ReceivedStep& step)
{
  if (step.IsLate || step.SinceBegin.Seconds() < this->WaitSeconds) {
    return;
  }
  step.IsLate = true;
  this->NextCredit.Faults =
      fmt::format("I/O rank {} has waited {} s for its compute ranks to send step {}, and continues to wait.",
          this->Roles.Rank(), this->WaitSeconds, step.StepCommand.Step);
  this->SendCredits();
}

void StepReceiver::MarkWritten(const std::string& fault)
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  ++this->Written;
  AppendText(this->Faults, fault);
}

bool StepReceiver::CountWritten()
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  if (this->NextCredit.Written == this->Written) {
    return false;
  }
  for (; this->NextCredit.Written < this->Written; ++this->NextCredit.Written) {
    this->UsedBytes -= this->Writing.front();
    this->Writing.pop_front();
  }
  this->NextCredit.Faults = std::exchange(this->Faults, {});
  return true;
}

/// Promises more bytes to each compute rank: up to X = (0.9 X_total - X_used) / number of served ranks, and
/// less if the free memory does not suffice for all promises. Promises nothing while a command to make room
/// waits.
void StepReceiver::PromiseMemory()
{
  std::uint64_t free = this->MemoryLimit - this->UsedBytes;
  const std::uint64_t credit = this->Promised.empty() ? 0 : free / this->Promised.size();
  for (const auto& [rank, bytes] : this->Promised) {
    free -= bytes;
  }
  const bool waits = !this->Commands.empty() && !this->Commands.front().NeededBytes.empty();
  for (auto& [rank, bytes] : this->Promised) {
    const std::uint64_t more = waits || bytes >= credit ? 0 : std::min(free, credit - bytes);
    bytes += more;
    free -= more;
  }
  this->PeakBytes = std::max(this->PeakBytes, this->MemoryLimit - free);
}

void StepReceiver::SendCredits()
{
  for (const auto& [rank, bytes] : this->Promised) {
    this->NextCredit.WaterMark = bytes;
    this->Credits.Add(this->NextCredit, this->Roles.ComputeRanks()[rank], CreditTag, true);
  }
  this->NextCredit.Faults.clear();
}

void StepReceiver::End()
{
  std::vector<MPI_Request> barrier(1);
  bool begun = false;
  const bool ended = WaitFor(this->WaitSeconds, [&] {
    if (this->Credits.Test() && !begun) {
      begun = MPI_Ibarrier(this->Roles.WorldCommunicator(), barrier.data()) == MPI_SUCCESS;
    }
    return begun && AreComplete(barrier);
  });
  if (!ended) {
    this->Roles.LeakCommunicators();
  }
}

}  // namespace patchio::output
