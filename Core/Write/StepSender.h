// A compute rank's side of output through I/O ranks. Paper 5, section on sending.
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

/// Sends a step as soon as its I/O rank has room for it: the water mark X >= D. Where the last mark of one of
/// the I/O ranks is too low, all are ordered to make room, and the simulation waits until they have.
///
/// Methods marked collective are called by all compute ranks. Each wait ends after the configuration's
/// `wait seconds` with an Error that names both ranks. After such a wait, further waits end at once until the
/// I/O rank sends a message: if an I/O rank has died, the simulation must not wait at each step.
class StepSender
{
public:
  /// roles, compute: must outlive the sender.
  StepSender(IoRoles& roles, BoundedCommunicator& compute, const OutputConfig& config);
  /// Ends as End() does, unless that was called.
  ~StepSender();
  StepSender(const StepSender&) = delete;
  StepSender& operator=(const StepSender&) = delete;

  /// Returns when there is room for a buffer of so many bytes beside those that are not sent yet.
  void MakeRoom(std::uint64_t bytes);
  /// Collective. step: without Needs, Declared and Map. pack: fills this rank's buffer of so many bytes.
  void Send(Order step, const std::shared_ptr<const Declaration>& declared, std::uint64_t bytes,
      const std::function<void(std::byte*)>& pack);
  /// Records a lost step. The next step that is sent tells the I/O ranks.
  void Lose(std::int64_t step) { this->Lost.push_back(step); }
  /// Returns when all steps that were sent are written, or lost.
  void Finish();
  /// Collective: the I/O ranks end, when all is written. They are called no more.
  void End();

  /// What went wrong on I/O ranks since the last call, a line each; empty: nothing.
  std::string TakeFaults();
  /// The most bytes of buffers that were not sent yet.
  std::uint64_t Peak() const { return this->Values.Peak(); }

private:
  void Listen();
  bool WaitUntil(const std::function<bool()>& holds);
  std::string TextOfUnwritten() const;
  std::uint64_t Room() const;
  int Server() const;
  void OrderRoom(const std::shared_ptr<const Declaration>& declared, const std::vector<std::uint64_t>& needs,
      const Order& step);
  void CheckThatItFits(const std::vector<std::uint64_t>& needs, const Order& step) const;
  void ToServers(const Order& order);

  IoRoles& Roles;
  BoundedCommunicator& Compute;
  const std::uint64_t Memory;
  const double WaitSeconds;
  std::shared_ptr<const Declaration> Declared;  ///< that the I/O ranks have
  std::vector<int> Map;
  std::int64_t Rooms = 0;              ///< ordered
  std::int64_t Steps = 0;              ///< sent
  std::deque<std::uint64_t> Unmarked;  ///< bytes of the last steps, which the last mark does not know of
  std::deque<std::int64_t> Unwritten;  ///< numbers of the last steps, which are not written yet
  std::vector<std::int64_t> Lost;      ///< since the last step sent
  Mark Last;
  std::string Faults;
  Sends Values, Orders;
  bool IsSilent = false;  ///< the I/O rank has sent nothing since a wait that was too long
  bool Ended = false;
};

}  // namespace patchio::output
