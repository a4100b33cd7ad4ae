// The I/O rank's side of output through I/O ranks, after B. Yang et al., "Input/Output analysis and
// optimization for GRAPES regional model" (2022), section on the asynchronous I/O module.
#pragma once

#include "Base/Stopwatch.h"
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

/// A step that compute ranks send to this I/O rank.
struct ReceivedStep
{
  Command What;
  std::vector<bool> Wanted;  ///< of each variable: whether it is written
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
  /// Records that the oldest step is written and its buffers are freed. `fault`: reason why the step was not
  /// written, or an empty text. Thread-safe.
  void Done(const std::string& fault);
  /// Releases the compute ranks, which wait for the I/O ranks to end.
  void End();

  /// The largest number of bytes that were in use or promised at any time.
  std::uint64_t Peak() const { return this->MostUsed; }

private:
  bool TakeOrders();
  bool CarryOut();
  bool MakeRoom(const Command& command);
  void Take(Command command);
  bool HandOver(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write);
  bool CountWritten();
  void Promise();
  void Tell();
  void TellWhoIsLate(ReceivedStep& step);

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
