// Messages between compute ranks and I/O ranks. Only the simulation's thread calls MPI, and no call blocks:
// the receivers poll for messages.
//
// Compute rank 0 sends commands to all I/O ranks: make room, receive a step, end. Each compute rank sends its
// values of a step to its I/O rank in one message. The I/O rank answers with reports: the room that it has
// for further steps, the number of written steps, and the faults. The method is that of B. Yang et al.,
// "Input/Output analysis and optimization for GRAPES regional model" (2022).
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

/// The tags of MPI messages.
enum MessageTag
{
  CommandTag = 1,
  ValuesTag,
  CreditTag,
  ArrivalTag,  ///< see BoundedCommunicator
  NoticeTag
};

/// Returns the bytes that an I/O rank uses for steps: 0.9 X_total. `memory`: X_total, the bytes of its memory
/// limit.
inline std::uint64_t RoomIn(std::uint64_t memory)
{
  return memory / 10 * 9;
}

/// A command to an I/O rank.
struct Command
{
  /// Bytes of room to make for each compute rank. A list that is not empty makes this the command to make
  /// room, which replaces the room promised before.
  std::vector<std::uint64_t> Needs;
  /// Declaration::Encode(), and the I/O rank of each compute rank. Sent together with Needs if they have
  /// changed.
  std::vector<std::byte> Declared;
  std::vector<int> Map;
  /// If Needs is empty: the variables of the step that follows, or the end mark.
  VariableCode Code;
  std::int64_t Step = 0;
  double Time = 0;
  std::vector<std::string> Lists;  ///< messages of compute ranks about their arrays; see EncodeArrays()
  std::vector<std::int64_t> Lost;  ///< numbers of steps lost since the last step

  auto Fields()
  {
    return std::tie(
        this->Needs, this->Declared, this->Map, this->Code, this->Step, this->Time, this->Lists, this->Lost);
  }
};

/// The state of an I/O rank, as reported to a compute rank.
struct Credit
{
  std::int64_t Rooms = 0;    ///< number of executed commands to make room
  std::int64_t Steps = 0;    ///< number of steps that the I/O rank has begun to receive
  std::int64_t Written = 0;  ///< number of steps that are on the storage, or lost
  std::uint64_t Room = 0;    ///< the water mark: bytes of later steps that the compute rank may send
  std::string Faults;        ///< faults since the last report

  auto Fields() { return std::tie(this->Rooms, this->Steps, this->Written, this->Room, this->Faults); }
};

/// The position of a rank of a BoundedCommunicator in its calls, as sent to the other ranks.
struct Position
{
  std::string Call, About;
  double Waited = 0;        ///< seconds of a wait that was too long; otherwise 0
  std::int64_t Number = 0;  ///< number of the wait, counted over the life of the communicator

  auto Fields() { return std::tie(this->Call, this->About, this->Waited, this->Number); }
  std::string Text() const { return this->About.empty() ? this->Call : this->Call + " of " + this->About; }
};

/// Memory for the bytes of MPI messages, which may be longer than MPI can count.
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

/// Messages that other ranks have not received yet.
class PendingSends
{
public:
  explicit PendingSends(MPI_Comm comm) : Comm(comm) {}
  /// Leaks the memory of pending messages, because MPI may still read it.
  ~PendingSends();
  PendingSends(const PendingSends&) = delete;
  PendingSends& operator=(const PendingSends&) = delete;

  /// Begins to send a message. `synchronous`: true if the request completes when the receiver has begun to
  /// receive (MPI_Issend), false if it may complete when MPI has buffered the message (MPI_Isend).
  void Add(Buffer bytes, int to, MessageTag tag, bool synchronous = false);
  template <typename Message>
  void Add(Message message, int to, MessageTag tag, bool synchronous = false);
  /// Removes the complete messages. Returns whether all were complete.
  bool Test();
  /// Returns the number of pending bytes.
  std::uint64_t Bytes() const;
  /// The largest number of bytes that were pending at any time.
  std::uint64_t Peak() const { return this->MostBytes; }

private:
  struct One
  {
    Buffer Bytes;
    std::vector<MPI_Request> Requests;
  };

  const MPI_Comm Comm;
  std::vector<One> Pending;
  std::uint64_t MostBytes = 0;
};

/// Begins to receive a message of into.Size() bytes from rank `from`.
std::vector<MPI_Request> BeginReceive(MPI_Comm comm, const Buffer& into, int from);
/// Receives a message with this tag if a message has arrived; does not wait. Returns whether a message had
/// arrived. `from`: rank of the sender, or MPI_ANY_SOURCE; receives the rank of the actual sender.
template <typename Message>
bool TryReceive(MPI_Comm comm, MessageTag tag, Message& message, int& from);
template <typename Message>
bool TryReceive(MPI_Comm comm, MessageTag tag, Message& message)
{
  int anyRank = MPI_ANY_SOURCE;
  return TryReceive(comm, tag, message, anyRank);
}

/// Exponential back-off between polls.
class Backoff
{
public:
  /// Sleeps for a time that doubles from call to call, up to a limit.
  void Rest();
  void Restart() { this->Microseconds = 1; }

private:
  int Microseconds = 1;
};

/// Polls `holds` until it returns true or `seconds` have passed. Returns whether it returned true.
bool Await(double seconds, const std::function<bool()>& holds);

}  // namespace patchio::output
