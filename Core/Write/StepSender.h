// The compute rank's side of output through I/O ranks, after B. Yang et al., "Input/Output analysis and
// optimization for GRAPES regional model" (2022), section on sending.
#pragma once

#include "Write/BoundedCommunicator.h"
#include "Write/IoMessages.h"
#include "Write/IoRoles.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
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
  /// Records a lost step. The next step that is sent informs the I/O ranks.
  void Lose(std::int64_t step) { this->Lost.push_back(step); }
  /// Waits until all sent steps are written or lost.
  void Finish();
  /// Sends the command to end after the last write to the I/O ranks, and waits until they have ended. No step
  /// may be sent afterwards. Collective: every compute rank calls it.
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
  void OrderRoom(const std::shared_ptr<const Declaration>& declared, const std::vector<std::uint64_t>& needs,
      const Command& step);
  void CheckThatItFits(const std::vector<std::uint64_t>& needs, const Command& step) const;
  void ToServers(const Command& command);

  IoRoles& Roles;
  BoundedCommunicator& Compute;
  const std::uint64_t Memory;
  const double WaitSeconds;
  std::shared_ptr<const Declaration> Declared;  ///< the declaration that the I/O ranks have
  std::vector<int> Map;
  std::int64_t Rooms = 0;              ///< number of commands to make room
  std::int64_t Steps = 0;              ///< number of steps sent
  std::deque<std::uint64_t> Unmarked;  ///< bytes of the last steps, which the last report does not include
  std::deque<std::int64_t> Unwritten;  ///< numbers of the last steps, which are not written yet
  std::vector<std::int64_t> Lost;      ///< steps lost since the last step that was sent
  Credit Last;
  std::string Faults;
  PendingSends Values, Commands;
  bool IsSilent = false;  ///< true: the I/O rank has sent no message since a wait that was too long
  bool Ended = false;
};

}  // namespace patchio::output
