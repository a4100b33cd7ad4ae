// Messages between compute ranks and I/O ranks, and between the ranks of a BoundedCommunicator. Only the
// simulation's thread calls MPI, and no MPI call blocks: receivers poll for messages.
//
// Compute rank 0 sends commands to all I/O ranks: to make room, to receive a step, or to end. Each compute
// rank sends its values of a step to its I/O rank in one message. The I/O rank sends reports to its compute
// ranks: the water mark (the bytes that a compute rank may send), the number of written steps, and the
// faults. The method is that of B. Yang et al., "Input/Output analysis and optimization for GRAPES regional
// model" (2022).
#pragma once

#include "Write/OutputConfig.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace patchio::output {

/// The tags of MPI messages, one for each kind of message.
enum MessageTag
{
  CommandTag = 1,
  ValuesTag,
  CreditTag,
  ArrivalTag,  ///< see BoundedCommunicator
  NoticeTag
};

/// Returns the limit on the bytes of all steps on an I/O rank: 0.9 X_total of B. Yang et al. (see the top of
/// this file). `memory`: X_total, the memory limit in bytes.
inline std::uint64_t StepMemoryLimit(std::uint64_t memory)
{
  return memory / 10 * 9;
}

/// A command to an I/O rank: to make room, to receive a step, or to end.
struct Command
{
  /// Bytes that each compute rank needs. If the list is not empty, the command is to make room. The new room
  /// replaces the room that the I/O rank has promised before.
  std::vector<std::uint64_t> NeededBytes;
  /// Declaration::Encode(), and the I/O rank of each compute rank. The commands to make room contain both if
  /// the declaration has changed; otherwise both are empty.
  std::vector<std::byte> DeclarationBytes;
  std::vector<int> Map;
  /// Variables of the step that follows, or EndMark(). Ignored in commands to make room.
  VariableCode Code;
  std::int64_t Step = 0;
  double Time = 0;
  std::vector<std::string> Lists;  ///< the list of arrays of each compute rank; see EncodeArrays()
  std::vector<std::int64_t> Lost;  ///< numbers of the steps that were lost since the last step

  auto Fields()
  {
    return std::tie(this->NeededBytes, this->DeclarationBytes, this->Map, this->Code, this->Step, this->Time,
        this->Lists, this->Lost);
  }
};

/// A report of an I/O rank to a compute rank.
struct Credit
{
  std::int64_t RoomCommands = 0;  ///< number of executed commands to make room
  std::int64_t Steps = 0;         ///< number of steps that the I/O rank has begun to receive
  std::int64_t Written = 0;       ///< number of steps that are on the storage, or lost
  std::uint64_t WaterMark = 0;    ///< bytes of further steps that the compute rank may send
  std::string Faults;             ///< faults since the last report

  auto Fields()
  {
    return std::tie(this->RoomCommands, this->Steps, this->Written, this->WaterMark, this->Faults);
  }
};

/// The call in which a rank of a BoundedCommunicator is, and the wait within the call.
struct Position
{
  std::string Call, Subject;
  double Waited = 0;        ///< seconds of a wait that exceeded the limit; otherwise 0
  std::int64_t Number = 0;  ///< number of waits since the communicator was made

  auto Fields() { return std::tie(this->Call, this->Subject, this->Waited, this->Number); }
  std::string Text() const
  {
    return this->Subject.empty() ? this->Call : this->Call + " of " + this->Subject;
  }
};

/// Memory for a message, which may have more bytes than an MPI call can count.
class Buffer
{
public:
  Buffer() = default;
  explicit Buffer(std::uint64_t size) : Bytes(new std::byte[size]), Count(size) {}  // not initialized
  std::byte* Data() const { return this->Bytes.get(); }
  std::uint64_t Size() const { return this->Count; }

private:
  std::unique_ptr<std::byte[]> Bytes;
  std::uint64_t Count = 0;
};

/// Messages that are being sent.
class PendingSends
{
public:
  explicit PendingSends(MPI_Comm comm) : Comm(comm) {}
  /// Does not free the memory of pending messages, because MPI may still read the memory.
  ~PendingSends();
  PendingSends(const PendingSends&) = delete;
  PendingSends& operator=(const PendingSends&) = delete;

  /// Begins to send a message to rank `to`. `synchronous`: true if the message is complete when the receiver
  /// has begun to receive (MPI_Issend), false if the message may be complete when MPI has buffered the
  /// message (MPI_Isend).
  void Add(Buffer bytes, int to, MessageTag tag, bool synchronous = false);
  template <typename Message>
  void Add(Message message, int to, MessageTag tag, bool synchronous = false);
  /// Removes the complete messages. Returns whether all messages were complete.
  bool Test();
  /// Returns the number of bytes of all pending messages.
  std::uint64_t Bytes() const;
  /// Returns the largest number of bytes that were pending at any time.
  std::uint64_t PeakMemory() const { return this->PeakBytes; }

private:
  struct PendingSend
  {
    Buffer Bytes;
    std::vector<MPI_Request> Requests;
  };

  const MPI_Comm Comm;
  std::vector<PendingSend> Pending;
  std::uint64_t PeakBytes = 0;
};

/// Returns whether all requests are complete; does not wait.
bool AreComplete(std::vector<MPI_Request>& requests);
/// Begins to receive a message of buffer.Size() bytes with the tag ValuesTag from rank `source`. `buffer`
/// must exist until the returned requests are complete.
std::vector<MPI_Request> BeginReceive(MPI_Comm comm, const Buffer& buffer, int source);
/// Receives a message with the tag `tag`, if such a message has arrived; does not wait. `from`: rank of the
/// sender, or MPI_ANY_SOURCE; receives the rank of the actual sender. Returns whether a message has arrived.
template <typename Message>
bool TryReceive(MPI_Comm comm, MessageTag tag, Message& message, int& from);
template <typename Message>
bool TryReceive(MPI_Comm comm, MessageTag tag, Message& message)
{
  int anyRank = MPI_ANY_SOURCE;
  return TryReceive(comm, tag, message, anyRank);
}

/// An exponential back-off between polls.
class Backoff
{
public:
  /// Sleeps for a time that doubles from call to call, up to a limit.
  void Sleep();
  void Reset() { this->Microseconds = 1; }

private:
  int Microseconds = 1;
};

/// Polls `condition` until it returns true or `seconds` have passed. Returns whether `condition` returned
/// true.
bool WaitFor(double seconds, const std::function<bool()>& condition);

}  // namespace patchio::output
