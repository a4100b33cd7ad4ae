// The transfer of steps from compute ranks to I/O ranks, after B. Yang et al., "Input/Output analysis and
// optimization for GRAPES regional model" (2022). StepSender implements the section on sending, StepReceiver
// the section on the asynchronous I/O module.
#pragma once

#include "Base/Stopwatch.h"
#include "Write/BoundedCommunicator.h"
#include "Write/IoMessages.h"
#include "Write/IoRoles.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio::output {

/// Sends the steps of a compute rank. A step is sent as soon as the I/O ranks have room for the step: the
/// water mark X is at least the bytes D of the step. If the water mark of any compute rank is smaller, or if
/// the declaration has changed, all I/O ranks get the command to make room, and the simulation waits for the
/// I/O ranks.
///
/// A wait that exceeds OutputConfig::WaitSeconds ends with an Error. Further waits then end at once until the
/// I/O rank sends a message, so that a simulation does not wait at each step for an I/O rank that has died.
class StepSender
{
public:
  /// `roles` and `compute` must outlive the sender.
  StepSender(IoRoles& roles, BoundedCommunicator& compute, const OutputConfig& config);
  /// Calls End() unless End() was called before.
  ~StepSender();
  StepSender(const StepSender&) = delete;
  StepSender& operator=(const StepSender&) = delete;

  /// Waits until a buffer of `bytes` bytes fits into the memory limit together with the buffers that are
  /// being sent. Throws Error after the time limit. Does not wait if `bytes` exceeds the memory limit. Not
  /// collective.
  void WaitForMemory(std::uint64_t bytes);
  /// Sends a step. `step`: the command to receive the step. `declared`: the current declaration. `bytes`:
  /// size of this rank's values. pack(buffer) copies the values into a buffer. Throws Error, the same on all
  /// ranks, if an I/O rank has too little memory or does not make room in time; the step is then lost.
  /// Collective: every compute rank calls it.
  void Send(Command step, const std::shared_ptr<const Declaration>& declared, std::uint64_t bytes,
      const std::function<void(std::byte*)>& pack);
  /// Records a lost step. The command to receive the next step informs the I/O ranks.
  void MarkLost(std::int64_t step) { this->Lost.push_back(step); }
  /// Waits until, on this rank's I/O rank, all sent steps are written or lost. Throws Error after the time
  /// limit. Not collective.
  void Finish();
  /// Commands the I/O ranks to end after the last write, and waits until the I/O ranks have ended. Throws
  /// Error after the time limit. Do not send steps afterwards. Collective: every compute rank calls it.
  void End();

  /// Returns the faults of this rank's I/O rank since the last call, one per line; an empty text if no fault
  /// has occurred.
  std::string TakeFaults();
  /// Returns the largest number of bytes that were being sent at any time.
  std::uint64_t PeakMemory() const { return this->Values.PeakMemory(); }

private:
  void ReceiveCredits();
  bool WaitUntil(const std::function<bool()>& condition);
  std::string TextOfUnwritten() const;
  std::uint64_t FreeBytes() const;
  int IoRank() const;
  void RequestRoom(const std::shared_ptr<const Declaration>& declared,
      const std::vector<std::uint64_t>& neededBytes, const Command& step);
  void CheckFits(const std::vector<std::uint64_t>& neededBytes, const Command& step) const;
  void SendToIoRanks(const Command& command);

  IoRoles& Roles;
  BoundedCommunicator& Compute;
  const std::uint64_t Memory;
  const double WaitSeconds;
  std::shared_ptr<const Declaration> Declared;  ///< the declaration that the I/O ranks have
  std::vector<int> Map;
  std::int64_t RoomCommands = 0;  ///< number of sent commands to make room
  std::int64_t Steps = 0;         ///< number of sent steps
  /// Bytes of each sent step that the last report does not include.
  std::deque<std::uint64_t> Unacknowledged;
  std::deque<std::int64_t> Unwritten;  ///< numbers of the sent steps that are not written yet
  std::vector<std::int64_t> Lost;      ///< numbers of the steps that were lost since the last sent step
  Credit LastCredit;                   ///< the last report of this rank's I/O rank
  std::string Faults;
  PendingSends Values, Commands;
  bool IsSilent = false;  ///< true: the I/O rank has sent no report since a wait that exceeded the time limit
  bool Ended = false;
};

/// A step that compute ranks send to this I/O rank.
struct ReceivedStep
{
  Command StepCommand;
  std::vector<bool> Selected;  ///< one flag per variable: whether a channel writes the variable
  std::shared_ptr<const Declaration> Declared;
  std::vector<int> Map;             ///< the I/O rank of each compute rank
  std::vector<ArrayOfStep> Arrays;  ///< arrays in Buffers, of the compute ranks that this rank serves
  std::map<int, Buffer> Buffers;    ///< by compute rank
  std::uint64_t Bytes = 0;          ///< size of all buffers

  std::vector<MPI_Request> Requests;
  Stopwatch SinceBegin;
  bool IsLate = false;
};

/// Receives the steps of the compute ranks that this I/O rank serves. The buffers of all steps never exceed
/// StepMemoryLimit(), because a compute rank sends only the bytes that this rank has promised.
class StepReceiver
{
public:
  /// Makes a receiver. `roles` must outlive the receiver. `number`: number of this rank among the I/O ranks.
  StepReceiver(IoRoles& roles, int number, const OutputConfig& config);
  /// Does not free the memory of messages in progress, because MPI may still write to the memory.
  ~StepReceiver();
  StepReceiver(const StepReceiver&) = delete;
  StepReceiver& operator=(const StepReceiver&) = delete;

  /// Receives steps until the command to end and the end of all writes. write(step) begins to write a step
  /// and returns at once; the writer must call MarkWritten() when the step is written. Returns whether all
  /// steps were written within OutputConfig::WaitSeconds after the command to end.
  bool Serve(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write);
  /// Records that the write of the oldest step has ended and that the step's buffers are free. `fault`:
  /// reason why the write failed, or an empty text. Thread-safe.
  void MarkWritten(const std::string& fault);
  /// Ends the wait of the compute ranks in StepSender::End(), after all reports are sent. Gives up after
  /// OutputConfig::WaitSeconds. Collective: every I/O rank calls it, while every compute rank calls
  /// StepSender::End().
  void End();

  /// Returns the largest number of bytes that were in use or promised at any time.
  std::uint64_t PeakMemory() const { return this->PeakBytes; }

private:
  bool ReceiveCommand();
  bool ExecuteCommand();
  bool MakeRoom(const Command& command);
  void BeginStep(Command command);
  bool BeginWrite(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write);
  bool CountWritten();
  void PromiseMemory();
  void SendCredits();
  void ReportLateRanks(ReceivedStep& step);

  IoRoles& Roles;
  const int Number;
  const std::uint64_t MemoryLimit;
  const double WaitSeconds;
  std::deque<Command> Commands;
  std::shared_ptr<const Declaration> Declared;
  std::vector<int> Map;
  std::map<int, std::uint64_t> Promised;  ///< bytes promised to each compute rank that this rank serves
  std::uint64_t UsedBytes = 0, PeakBytes = 0;
  std::deque<std::shared_ptr<ReceivedStep>> Receiving;
  std::deque<std::uint64_t> Writing;  ///< bytes of each step that is being written
  Credit NextCredit;                  ///< the next report to the compute ranks, without the water mark
  PendingSends Credits;
  bool EndReceived = false;

  std::mutex Lock;  ///< guards the members below
  std::int64_t Written = 0;
  std::string Faults;
};

}  // namespace patchio::output
