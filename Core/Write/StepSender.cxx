#include "Write/StepSender.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <numeric>
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
  while (Take(this->Roles.All(), CreditTag, credit)) {
    this->IsSilent = false;
    this->Faults += (this->Faults.empty() || credit.Faults.empty() ? "" : "\n") + credit.Faults;
    if (credit.Rooms >= this->Last.Rooms) {  // reports of a former I/O rank may arrive late
      this->Last = credit;
    }
  }
  while (static_cast<std::int64_t>(this->Unmarked.size()) > this->Steps - this->Last.Steps) {
    this->Unmarked.pop_front();
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
    return "It has written all steps so far.";
  }
  const std::int64_t first = this->Unwritten.front(), last = this->Unwritten.back();
  return fmt::format("It has written {} of {} so far: {} not written.", this->Last.Written,
      CountText(this->Steps, "step"),
      first == last ? fmt::format("step {} is", first) : fmt::format("steps {} to {} are", first, last));
}

/// Returns the water mark minus the bytes that are being sent.
std::uint64_t StepSender::Room() const
{
  const std::uint64_t sent = std::accumulate(this->Unmarked.begin(), this->Unmarked.end(), std::uint64_t(0));
  return this->Last.Rooms == this->Rooms && this->Last.Room > sent ? this->Last.Room - sent : 0;
}

/// Returns the number of this rank's I/O rank among all ranks.
int StepSender::Server() const
{
  return this->Roles.Serving()[this->Map[this->Compute.Rank()]];
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
  const std::string fault = all ? "" : CatchError([&] { this->OrderRoom(declared, needs, step); });
  if (!fault.empty()) {
    this->Lose(step.Step);
    throw Error(fault);
  }
  step.Lost = std::exchange(this->Lost, {});
  this->Unwritten.push_back(step.Step);
  this->ToServers(step);
  ++this->Steps;
  this->Unmarked.push_back(bytes);
  if (bytes > 0) {
    Buffer buffer(bytes);
    pack(buffer.Data());
    this->Values.Add(std::move(buffer), this->Server(), ValuesTag);
  }
}

void StepSender::OrderRoom(const std::shared_ptr<const Declaration>& declared,
    const std::vector<std::uint64_t>& needs, const Command& step)
{
  Command command;
  command.Needs = needs;
  if (declared != this->Declared) {
    this->Map = this->Roles.Map(*declared);
    command.Map = this->Map;
    command.Declared = declared->Encode();
  }
  this->CheckThatItFits(needs, step);
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
void StepSender::CheckThatItFits(const std::vector<std::uint64_t>& needs, const Command& step) const
{
  std::vector<std::uint64_t> sums(this->Roles.Serving().size());
  for (std::size_t rank = 0; rank < needs.size(); ++rank) {
    std::uint64_t& sum = sums[this->Map[rank]];
    sum += needs[rank];
    if (sum > RoomIn(this->Memory)) {
      throw Error(
          fmt::format("Raise \"memory\" or \"io ranks\" in the output configuration: step {} needs {} or "
                      "more on I/O rank {}, and the limit is {}.",
              step.Step, ByteText(static_cast<double>(sum)), this->Roles.Serving()[this->Map[rank]],
              ByteText(static_cast<double>(RoomIn(this->Memory)))));
    }
  }
}

/// Sends a command to all I/O ranks. Usually, only rank 0 sends the command. If ranks have given up waiting
/// for each other, every rank sends it, because rank 0 may have stopped.
void StepSender::ToServers(const Command& command)
{
  if (this->Compute.Rank() == 0 || this->Compute.IsBroken()) {
    for (const int server : this->Roles.Serving()) {
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

}  // namespace patchio::output
