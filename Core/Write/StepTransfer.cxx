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
      Values(roles.All()),
      Commands(roles.All())
{
}

StepSender::~StepSender()
{
  if (!this->Ended) {
    CatchError([this] { this->End(); });
  }
}

/// Receives the reports that have arrived.
void StepSender::Listen()
{
  this->Values.Test();
  this->Commands.Test();
  Credit credit;
  while (TryReceive(this->Roles.All(), CreditTag, credit)) {
    this->IsSilent = false;
    this->Faults += (this->Faults.empty() || credit.Faults.empty() ? "" : "\n") + credit.Faults;
    if (credit.Rooms >= this->Last.Rooms) {  // reports of a former I/O rank may arrive late
      this->Last = credit;
    }
  }
  while (static_cast<std::int64_t>(this->Unacknowledged.size()) > this->Steps - this->Last.Steps) {
    this->Unacknowledged.pop_front();
  }
  while (static_cast<std::int64_t>(this->Unwritten.size()) > this->Steps - this->Last.Written) {
    this->Unwritten.pop_front();
  }
}

/// Waits until `holds` returns true. Returns false if that took longer than `wait seconds`.
bool StepSender::WaitUntil(const std::function<bool()>& holds)
{
  const bool held = Await(this->IsSilent ? 0 : this->WaitSeconds, [&] {
    this->Listen();
    return holds();
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
  return fmt::format("The I/O rank has written {} of {}, but not {}.", this->Last.Written,
      CountText(this->Steps, "step"),
      first == last ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last));
}

/// Returns the water mark minus the bytes that are being sent.
std::uint64_t StepSender::Room() const
{
  const std::uint64_t sent =
      std::accumulate(this->Unacknowledged.begin(), this->Unacknowledged.end(), std::uint64_t(0));
  return this->Last.Rooms == this->Rooms && this->Last.Room > sent ? this->Last.Room - sent : 0;
}

/// Returns the number of this rank's I/O rank among all ranks.
int StepSender::Server() const
{
  return this->Roles.IoRanks()[this->Map[this->Compute.Rank()]];
}

void StepSender::MakeRoom(std::uint64_t bytes)
{
  const auto fits = [&] { return this->Values.Bytes() + bytes <= this->Memory; };
  if (bytes <= this->Memory && !this->WaitUntil(fits)) {
    throw Error(fmt::format("Rank {} waited {} s for I/O rank {} to receive {} of earlier steps. {}",
        this->Roles.Rank(), this->WaitSeconds, this->Server(),
        ByteText(static_cast<double>(this->Values.Bytes())), this->TextOfUnwritten()));
  }
}

void StepSender::Send(Command step, const std::shared_ptr<const Declaration>& declared, std::uint64_t bytes,
    const std::function<void(std::byte*)>& pack)
{
  this->Listen();
  const bool room = declared == this->Declared && this->Room() >= bytes;
  const auto lists = GatherValues(this->Compute, std::vector<std::uint64_t>{bytes, room ? 1u : 0u});
  std::vector<std::uint64_t> needs;
  bool all = true;
  for (std::size_t rank = 0; rank < lists.size() / 2; ++rank) {
    needs.push_back(lists[2 * rank]);
    all = all && lists[2 * rank + 1] != 0;
  }
  const std::string fault = all ? "" : CatchError([&] { this->RequestRoom(declared, needs, step); });
  if (!fault.empty()) {
    this->Lose(step.Step);
    throw Error(fault);
  }
  step.Lost = std::exchange(this->Lost, {});
  this->Unwritten.push_back(step.Step);
  this->ToServers(step);
  ++this->Steps;
  this->Unacknowledged.push_back(bytes);
  if (bytes > 0) {
    Buffer buffer(bytes);
    pack(buffer.Data());
    this->Values.Add(std::move(buffer), this->Server(), ValuesTag);
  }
}

void StepSender::RequestRoom(const std::shared_ptr<const Declaration>& declared,
    const std::vector<std::uint64_t>& needs, const Command& step)
{
  Command command;
  command.Needs = needs;
  if (declared != this->Declared) {
    this->Map = this->Roles.Map(*declared);
    command.Map = this->Map;
    command.Declared = declared->Encode();
  }
  this->CheckFits(needs, step);
  this->Declared = declared;
  this->ToServers(command);
  ++this->Rooms;
  RunOnAllRanks(this->Compute, [&] {
    const std::uint64_t mine = needs[this->Compute.Rank()];
    if (!this->WaitUntil([&] { return this->Last.Rooms == this->Rooms; })) {
      throw Error(fmt::format(
          "Step {} was not written. Rank {} waited {} s for I/O rank {} to free memory for {}. {}", step.Step,
          this->Roles.Rank(), this->WaitSeconds, this->Server(), ByteText(static_cast<double>(mine)),
          this->TextOfUnwritten()));
    }
  });
}

/// Throws Error, the same on all ranks, if a step needs more room than an I/O rank has.
void StepSender::CheckFits(const std::vector<std::uint64_t>& needs, const Command& step) const
{
  std::vector<std::uint64_t> sums(this->Roles.IoRanks().size());
  for (std::size_t rank = 0; rank < needs.size(); ++rank) {
    std::uint64_t& sum = sums[this->Map[rank]];
    sum += needs[rank];
    if (sum > RoomIn(this->Memory)) {
      throw Error(
          fmt::format("Step {} needs {} or more on I/O rank {}, but the limit is {}. Raise \"memory\" or "
                      "\"io ranks\" in the output configuration.",
              step.Step, ByteText(static_cast<double>(sum)), this->Roles.IoRanks()[this->Map[rank]],
              ByteText(static_cast<double>(RoomIn(this->Memory)))));
    }
  }
}

/// Sends a command to all I/O ranks. Usually, only rank 0 sends the command. If ranks have given up waiting
/// for each other, every rank sends it, because rank 0 may have stopped.
void StepSender::ToServers(const Command& command)
{
  if (this->Compute.Rank() == 0 || this->Compute.IsBroken()) {
    for (const int server : this->Roles.IoRanks()) {
      this->Commands.Add(command, server, CommandTag);
    }
  }
}

void StepSender::Finish()
{
  if (!this->WaitUntil([this] { return this->Last.Written == this->Steps; })) {
    throw Error(fmt::format("Rank {} waited {} s for I/O rank {}. {}", this->Roles.Rank(), this->WaitSeconds,
        this->Server(), this->TextOfUnwritten()));
  }
}

void StepSender::End()
{
  this->Ended = true;
  Command last;
  last.Code = EndMark();
  this->ToServers(last);
  MPI_Request everybody = MPI_REQUEST_NULL;
  MPI_Ibarrier(this->Roles.All(), &everybody);
  const auto ended = [&] {
    int complete = 0;
    MPI_Test(&everybody, &complete, MPI_STATUS_IGNORE);
    return complete != 0;
  };
  if (!this->WaitUntil(ended)) {
    this->Roles.Keep();
    throw Error(fmt::format(
        "Rank {} waited {} s for the I/O ranks to finish.", this->Roles.Rank(), this->WaitSeconds));
  }
}

std::string StepSender::TakeFaults()
{
  this->Listen();
  return std::exchange(this->Faults, {});
}

StepReceiver::StepReceiver(IoRoles& roles, int number, const OutputConfig& config)
    : Roles(roles),
      Number(number),
      Most(RoomIn(config.Memory)),
      WaitSeconds(config.WaitSeconds),
      Credits(roles.All())
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
    const bool hasCommands = this->TakeCommands();
    const bool hasDone = this->CarryOut();
    const bool hasHanded = this->HandOver(write);
    const bool hasWritten = this->CountWritten();
    if (hasDone || hasWritten) {
      this->Promise();
      this->SendCredits();
    }
    this->Credits.Test();
    if (this->Ends) {
      sinceEnd = sinceEnd ? sinceEnd : Stopwatch();
      const bool all = this->Receiving.empty() && this->Writing.empty();
      if (all || sinceEnd->Seconds() > this->WaitSeconds) {
        return all;
      }
    }
    if (hasCommands || hasDone || hasHanded || hasWritten || !this->Receiving.empty()) {
      backoff.Restart();  // MPI makes progress with long messages when it is called
    }
    backoff.Rest();
  }
}

bool StepReceiver::TakeCommands()
{
  Command command;
  if (!TryReceive(this->Roles.All(), CommandTag, command)) {
    return false;
  }
  this->Commands.push_back(std::move(command));
  return true;
}

/// Executes the first command if that is possible now. Returns whether the command was executed.
bool StepReceiver::CarryOut()
{
  if (this->Commands.empty()) {
    return false;
  }
  Command& command = this->Commands.front();
  if (!command.Needs.empty()) {
    if (!this->MakeRoom(command)) {
      return false;
    }
    ++this->Now.Rooms;
  } else if (command.Code == EndMark()) {
    this->Ends = true;
  } else {
    this->BeginStep(std::move(command));
    ++this->Now.Steps;
  }
  this->Commands.pop_front();
  return true;
}

/// Makes room. Returns false if there is not enough free memory yet. If another command follows, the compute
/// ranks have given up waiting for this command, and the result is true.
bool StepReceiver::MakeRoom(const Command& command)
{
  if (!command.Declared.empty()) {
    this->Declared = std::make_shared<Declaration>(Declaration::Decode(command.Declared));
    this->Map = command.Map;
  }
  this->Promised.clear();
  std::uint64_t all = 0;
  for (std::size_t rank = 0; rank < this->Map.size(); ++rank) {
    if (this->Map[rank] == this->Number) {
      this->Promised[static_cast<int>(rank)] = 0;
      all += command.Needs[rank];
    }
  }
  if (this->Used + all > this->Most) {
    return this->Commands.size() > 1;
  }
  for (auto& [rank, bytes] : this->Promised) {
    bytes = command.Needs[rank];
  }
  return true;
}

/// Begins to receive a step. The code and the lists of arrays in the command determine the messages that
/// follow.
void StepReceiver::BeginStep(Command command)
{
  auto step = std::make_shared<ReceivedStep>();
  step->Declared = this->Declared;
  step->Map = this->Map;
  step->Wanted = Decode(command.Code, this->Declared->Names());
  for (auto& [rank, promised] : this->Promised) {
    std::vector<ArrayOfStep> arrays = DecodeArrays(command.Lists[rank], rank, *this->Declared, step->Wanted);
    std::uint64_t bytes = 0;
    for (const ArrayOfStep& array : arrays) {
      bytes += this->Declared->RoomFor(array.Variable, array.Patch);
    }
    Buffer buffer(bytes);
    const std::byte* next = buffer.Data();
    for (ArrayOfStep& array : arrays) {
      array.Values = next;
      next += this->Declared->RoomFor(array.Variable, array.Patch);
    }
    const auto coming = BeginReceive(this->Roles.All(), buffer, this->Roles.ComputeRanks()[rank]);
    step->Coming.insert(step->Coming.end(), coming.begin(), coming.end());
    step->Arrays.insert(step->Arrays.end(), arrays.begin(), arrays.end());
    step->Buffers[rank] = std::move(buffer);
    step->Bytes += bytes;
    promised -= bytes;
  }
  this->Used += step->Bytes;
  step->What = std::move(command);
  this->Receiving.push_back(std::move(step));
}

/// Passes the oldest step to `write` if the step has arrived. Returns whether the step has arrived.
bool StepReceiver::HandOver(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write)
{
  if (this->Receiving.empty()) {
    return false;
  }
  const std::shared_ptr<ReceivedStep> step = this->Receiving.front();
  int complete = 0;
  MPI_Testall(static_cast<int>(step->Coming.size()), step->Coming.data(), &complete, MPI_STATUSES_IGNORE);
  if (!complete) {
    this->ReportLateRanks(*step);
    return false;
  }
  this->Receiving.pop_front();
  this->Writing.push_back(step->Bytes);
  write(step);
  return true;
}

/// Reports once that a step is late. This rank continues to wait for the step, because compute ranks may have
/// sent a part of it.
void StepReceiver::ReportLateRanks(ReceivedStep& step)
{
  if (step.IsLate || step.Since.Seconds() < this->WaitSeconds) {
    return;
  }
  step.IsLate = true;
  this->Now.Faults =
      fmt::format("I/O rank {} has waited {} s for its compute ranks to send step {}, and continues to wait.",
          this->Roles.Rank(), this->WaitSeconds, step.What.Step);
  this->SendCredits();
}

void StepReceiver::Done(const std::string& fault)
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  ++this->Written;
  this->Faults += (this->Faults.empty() || fault.empty() ? "" : "\n") + fault;
}

bool StepReceiver::CountWritten()
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  if (this->Now.Written == this->Written) {
    return false;
  }
  for (; this->Now.Written < this->Written; ++this->Now.Written) {
    this->Used -= this->Writing.front();
    this->Writing.pop_front();
  }
  this->Now.Faults = std::exchange(this->Faults, {});
  return true;
}

/// Promises more room: X = (0.9 X_total - X_used) / number of served ranks; less if other ranks still have
/// promises.
void StepReceiver::Promise()
{
  std::uint64_t free = this->Most - this->Used;
  const std::uint64_t credit = this->Promised.empty() ? 0 : free / this->Promised.size();
  for (const auto& [rank, bytes] : this->Promised) {
    free -= bytes;
  }
  const bool waits = !this->Commands.empty() && !this->Commands.front().Needs.empty();
  for (auto& [rank, bytes] : this->Promised) {
    const std::uint64_t more = waits || bytes >= credit ? 0 : std::min(free, credit - bytes);
    bytes += more;
    free -= more;
  }
  this->MostUsed = std::max(this->MostUsed, this->Most - free);
}

void StepReceiver::SendCredits()
{
  for (const auto& [rank, bytes] : this->Promised) {
    this->Now.Room = bytes;
    this->Credits.Add(this->Now, this->Roles.ComputeRanks()[rank], CreditTag, true);
  }
  this->Now.Faults.clear();
}

void StepReceiver::End()
{
  MPI_Request everybody = MPI_REQUEST_NULL;
  bool begun = false;
  const bool ended = Await(this->WaitSeconds, [&] {
    int complete = 0;
    if (this->Credits.Test() && !begun) {
      begun = MPI_Ibarrier(this->Roles.All(), &everybody) == MPI_SUCCESS;
    }
    if (begun) {
      MPI_Test(&everybody, &complete, MPI_STATUS_IGNORE);
    }
    return complete != 0;
  });
  if (!ended) {
    this->Roles.Keep();
  }
}

}  // namespace patchio::output
