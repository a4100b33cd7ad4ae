// Output through I/O ranks, after B. Yang et al., "Input/Output analysis and optimization for GRAPES regional
// model" (2022): the compute rank's side (section on sending) and the I/O rank's side (section on the
// asynchronous I/O module).
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

/// Sends a step as soon as the I/O rank has room for the step (water mark X >= D). If the last report of some
/// I/O rank shows too little room, all I/O ranks get the command to make room, and the simulation waits for
/// them.
///
/// Each wait ends after the configuration's `wait seconds` with an Error that names both ranks. After such a
/// wait, further waits end at once until the I/O rank sends a message: if an I/O rank has died, the
/// simulation must not wait at each step.
class StepSender
{
public:
  /// `roles` and `compute` must outlive the sender.
  StepSender(IoRoles& roles, BoundedCommunicator& compute, const OutputConfig& config);
  /// Calls End() if the caller has not done so.
  ~StepSender();
  StepSender(const StepSender&) = delete;
  StepSender& operator=(const StepSender&) = delete;

  /// Waits until there is memory for a buffer of `bytes` bytes in addition to the buffers that are being
  /// sent.
  void MakeRoom(std::uint64_t bytes);
  /// Sends a step. `step`: the command without Needs, Declared and Map. `pack` fills this rank's buffer of
  /// `bytes` bytes. Collective: every compute rank calls it.
  void Send(Command step, const std::shared_ptr<const Declaration>& declared, std::uint64_t bytes,
      const std::function<void(std::byte*)>& pack);
  /// Records a lost step. The command for the next step informs the I/O ranks.
  void Lose(std::int64_t step) { this->Lost.push_back(step); }
  /// Waits until all sent steps are written or lost.
  void Finish();
  /// Sends the command to end after the last write to the I/O ranks, and waits until they have ended. Do not
  /// send steps afterwards. Collective: every compute rank calls it.
  void End();

  /// Returns the faults of I/O ranks since the last call, one per line; empty: none.
  std::string TakeFaults();
  /// The largest number of bytes that were being sent at any time.
  std::uint64_t Peak() const { return this->Values.Peak(); }

private:
  void Listen();
  bool WaitUntil(const std::function<bool()>& holds);
  std::string TextOfUnwritten() const;
  std::uint64_t Room() const;
  int Server() const;
  void RequestRoom(const std::shared_ptr<const Declaration>& declared,
      const std::vector<std::uint64_t>& needs, const Command& step);
  void CheckFits(const std::vector<std::uint64_t>& needs, const Command& step) const;
  void ToServers(const Command& command);

  IoRoles& Roles;
  BoundedCommunicator& Compute;
  const std::uint64_t Memory;
  const double WaitSeconds;
  std::shared_ptr<const Declaration> Declared;  ///< the declaration that the I/O ranks have
  std::vector<int> Map;
  std::int64_t Rooms = 0;  ///< number of commands to make room
  std::int64_t Steps = 0;  ///< number of steps sent
  std::deque<std::uint64_t>
      Unacknowledged;                  ///< bytes of the last steps, which the last report does not include
  std::deque<std::int64_t> Unwritten;  ///< numbers of the last steps, which are not written yet
  std::vector<std::int64_t> Lost;      ///< steps lost since the last step that was sent
  Credit Last;
  std::string Faults;
  PendingSends Values, Commands;
  bool IsSilent = false;  ///< true: the I/O rank has sent no message since a wait that was too long
  bool Ended = false;
};

/// A step that compute ranks send to this I/O rank.
struct ReceivedStep
{
  Command What;
  std::vector<bool> Wanted;  ///< one flag per variable: whether it is written
  std::shared_ptr<const Declaration> Declared;
  std::vector<int> Map;             ///< the I/O rank of each compute rank
  std::vector<ArrayOfStep> Arrays;  ///< arrays of the compute ranks that this rank serves; in Buffers
  std::map<int, Buffer> Buffers;    ///< by compute rank
  std::uint64_t Bytes = 0;          ///< size of all buffers

  std::vector<MPI_Request> Coming;
  Stopwatch Since;
  bool IsLate = false;
};

/// Receives the steps of the compute ranks that this I/O rank serves. The buffers of all steps never exceed
/// 0.9 of the configuration's memory: a compute rank sends only as many bytes as this rank has promised.
class StepReceiver
{
public:
  /// `roles` must outlive the receiver. `number`: number of this rank among the I/O ranks.
  StepReceiver(IoRoles& roles, int number, const OutputConfig& config);
  /// Leaks the memory of messages in progress, because MPI may still write to it.
  ~StepReceiver();
  StepReceiver(const StepReceiver&) = delete;
  StepReceiver& operator=(const StepReceiver&) = delete;

  /// Receives steps until the end mark. `write` begins to write a step and returns at once; the writer must
  /// call Done() when the step is written. Returns whether all steps were written within `wait seconds` after
  /// the end mark.
  bool Serve(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write);
  /// Records the end of the oldest step's write, after the release of its buffers. `fault`: reason why the
  /// step was not written, or an empty text. Thread-safe.
  void Done(const std::string& fault);
  /// Releases the compute ranks, which wait for the I/O ranks to end.
  void End();

  /// The largest number of bytes that were in use or promised at any time.
  std::uint64_t Peak() const { return this->MostUsed; }

private:
  bool TakeCommands();
  bool CarryOut();
  bool MakeRoom(const Command& command);
  void BeginStep(Command command);
  bool HandOver(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write);
  bool CountWritten();
  void Promise();
  void SendCredits();
  void ReportLateRanks(ReceivedStep& step);

  IoRoles& Roles;
  const int Number;
  const std::uint64_t Most;
  const double WaitSeconds;
  std::deque<Command> Commands;
  std::shared_ptr<const Declaration> Declared;
  std::vector<int> Map;
  std::map<int, std::uint64_t> Promised;  ///< bytes promised to each compute rank that this rank serves
  std::uint64_t Used = 0, MostUsed = 0;
  std::deque<std::shared_ptr<ReceivedStep>> Receiving;
  std::deque<std::uint64_t> Writing;  ///< bytes of each step that is being written
  Credit Now;                         ///< the next report to the compute ranks, without the room
  PendingSends Credits;
  bool Ends = false;

  std::mutex Lock;  ///< guards the members below
  std::int64_t Written = 0;
  std::string Faults;
};

}  // namespace patchio::output
