// An I/O rank's side of output through I/O ranks. Paper 5, section on the asynchronous I/O module.
#pragma once

#include "Base/Stopwatch.h"
#include "Write/ArraysOfStep.h"
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

/// A step as the compute ranks sent it.
struct ReceivedStep
{
  Order What;
  std::vector<bool> Wanted;  ///< of each variable
  std::shared_ptr<const Declaration> Declared;
  std::vector<int> Map;             ///< the I/O rank of each compute rank
  std::vector<ArrayOfStep> Arrays;  ///< of the compute ranks that this one serves; they lie in the buffers
  std::map<int, Buffer> Buffers;    ///< by compute rank
  std::uint64_t Bytes = 0;          ///< of all buffers

  std::vector<MPI_Request> Coming;
  Stopwatch Since;
  bool IsLate = false;
};

/// Takes the steps of the compute ranks that it serves. Their buffers never have more than 0.9 of the
/// configuration's memory: each byte is promised to a compute rank before it may come, and a promise is kept.
class StepReceiver
{
public:
  /// roles: must outlive the receiver. number: of this I/O rank among them.
  StepReceiver(IoRoles& roles, int number, const OutputConfig& config);
  /// Memory that MPI may still fill is not given back.
  ~StepReceiver();
  StepReceiver(const StepReceiver&) = delete;
  StepReceiver& operator=(const StepReceiver&) = delete;

  /// Until the end mark. write: begins to write a step and returns; calls Done() when it is written. Returns
  /// whether all were written within `wait seconds` after the end mark.
  bool Serve(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write);
  /// The oldest step is written, and its buffers are freed; or why not. Any thread may call.
  void Done(const std::string& fault);
  /// Lets the compute ranks go.
  void End();

  /// The most bytes that were in use or promised.
  std::uint64_t Peak() const { return this->MostUsed; }

private:
  bool TakeOrders();
  bool CarryOut();
  bool MakeRoom(const Order& order);
  void Take(Order order);
  bool HandOver(const std::function<void(const std::shared_ptr<ReceivedStep>&)>& write);
  bool CountWritten();
  void Promise();
  void Tell();
  void TellWhoIsLate(ReceivedStep& step);

  IoRoles& Roles;
  const int Number;
  const std::uint64_t Most;
  const double WaitSeconds;
  std::deque<Order> Orders;
  std::shared_ptr<const Declaration> Declared;
  std::vector<int> Map;
  std::map<int, std::uint64_t> Promised;  ///< to each compute rank that this one serves
  std::uint64_t Used = 0, MostUsed = 0;
  std::deque<std::shared_ptr<ReceivedStep>> Receiving;
  std::deque<std::uint64_t> Writing;  ///< bytes of steps
  Mark Now;                           ///< what the compute ranks are told next, but for the room
  Sends Marks;
  bool Ends = false;

  std::mutex Lock;  ///< of what follows
  std::int64_t Written = 0;
  std::string Faults;
};

}  // namespace patchio::output
