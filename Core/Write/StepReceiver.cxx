#include "Write/StepReceiver.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace patchio::output {
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
  Backoff nap;
  std::optional<Stopwatch> sinceEnd;
  for (;;) {
    const bool hasOrders = this->TakeOrders();
    const bool hasDone = this->CarryOut();
    const bool hasHanded = this->HandOver(write);
    const bool hasWritten = this->CountWritten();
    if (hasDone || hasWritten) {
      this->Promise();
      this->Tell();
    }
    this->Credits.Test();
    if (this->Ends) {
      sinceEnd = sinceEnd ? sinceEnd : Stopwatch();
      const bool all = this->Receiving.empty() && this->Writing.empty();
      if (all || sinceEnd->Seconds() > this->WaitSeconds) {
        return all;
      }
    }
    if (hasOrders || hasDone || hasHanded || hasWritten || !this->Receiving.empty()) {
      nap.Restart();  // MPI makes progress with long messages when it is called
    }
    nap.Rest();
  }
}

bool StepReceiver::TakeOrders()
{
  Command command;
  if (!output::Take(this->Roles.All(), CommandTag, command)) {
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
    this->Take(std::move(command));
    ++this->Now.Steps;
  }
  this->Commands.pop_front();
  return true;
}

/// Makes room. Returns false if that is not possible now. If another command follows, the compute ranks have
/// given up waiting for this command, and the result is true.
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

/// Begins to receive a step. The code and the lists of arrays in the command determine the messages to come.
void StepReceiver::Take(Command command)
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
    const auto coming = BeginReceive(this->Roles.All(), buffer, this->Roles.Computing()[rank]);
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
    this->TellWhoIsLate(*step);
    return false;
  }
  this->Receiving.pop_front();
  this->Writing.push_back(step->Bytes);
  write(step);
  return true;
}

/// Reports once that a step is late. This rank continues to wait for the step, because compute ranks may have
/// sent a part of it.
void StepReceiver::TellWhoIsLate(ReceivedStep& step)
{
  if (step.IsLate || step.Since.Seconds() < this->WaitSeconds) {
    return;
  }
  step.IsLate = true;
  this->Now.Faults =
      fmt::format("I/O rank {} has waited {} s for its compute ranks to send step {}, and continues to wait.",
          this->Roles.Rank(), this->WaitSeconds, step.What.Step);
  this->Tell();
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

void StepReceiver::Tell()
{
  for (const auto& [rank, bytes] : this->Promised) {
    this->Now.Room = bytes;
    this->Credits.Add(this->Now, this->Roles.Computing()[rank], CreditTag, true);
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
