// Messages between compute ranks and I/O ranks. Only the simulation's thread calls MPI, and no call blocks:
// the receivers poll for messages.
//
// Compute rank 0 sends commands to all I/O ranks: make room, take a step, end. Each compute rank sends its
// values of a step to its I/O rank in one message. The I/O rank answers with credits: how much room it has,
// which steps are written, and the faults. After B. Yang et al., Input/Output analysis and optimization for
// GRAPES regional model (2022).
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

enum MessageTag
{
  CommandTag = 1,
  ValuesTag,
  CreditTag,
  ArrivalTag,  ///< see BoundedCommunicator
  NoticeTag
};

/// Returns the bytes of its memory that an I/O rank uses for steps: 0.9 X_total.
inline std::uint64_t RoomIn(std::uint64_t memory)
{
  return memory / 10 * 9;
}

/// A command to an I/O rank.
struct Command
{
  /// Bytes of room to make for each compute rank. If not empty, this is the command to make room, and
  /// replaces the room promised before.
  std::vector<std::uint64_t> Needs;
  /// Sent together with Needs if they have changed: Declaration::Encode(), and the I/O rank of each compute
  /// rank.
  std::vector<std::byte> Declared;
  std::vector<int> Map;
  /// Otherwise, if Needs is empty: the variables of the step that comes, or the end mark.
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
  std::int64_t Rooms = 0;    ///< number of commands to make room that are carried out
  std::int64_t Steps = 0;    ///< number of steps that the I/O rank has begun to take
  std::int64_t Written = 0;  ///< number of steps that are on the storage, or lost
  std::uint64_t Room = 0;    ///< the water mark: bytes that the compute rank may send, of steps after these
  std::string Faults;        ///< faults since the last report

  auto Fields() { return std::tie(this->Rooms, this->Steps, this->Written, this->Room, this->Faults); }
};

/// The position of a rank of a BoundedCommunicator in its calls, as sent to the others.
struct Position
{
  std::string Call, About;
  double Waited = 0;        ///< seconds of the wait, if it was too long; else 0
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
  /// Leaks the memory that MPI still reads.
  ~PendingSends();
  PendingSends(const PendingSends&) = delete;
  PendingSends& operator=(const PendingSends&) = delete;

  /// Begins to send a message. `taken`: the request completes when the receiver has received the message, not
  /// when MPI has buffered it.
  void Add(Buffer bytes, int to, MessageTag tag, bool taken = false);
  template <typename Message>
  void Add(Message message, int to, MessageTag tag, bool taken = false);
  /// Removes the complete messages. Returns whether all were complete.
  bool Test();
  std::uint64_t Bytes() const;
  /// The largest number of bytes that were pending at a time.
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
/// Receives a message with this tag if there is one, and returns whether there was. `from`: the rank to
/// receive from, or MPI_ANY_SOURCE; set to the sender.
template <typename Message>
bool Take(MPI_Comm comm, MessageTag tag, Message& message, int& from);
template <typename Message>
bool Take(MPI_Comm comm, MessageTag tag, Message& message)
{
  int anybody = MPI_ANY_SOURCE;
  return Take(comm, tag, message, anybody);
}

/// Exponential back-off between polls.
class Backoff
{
public:
  void Rest();
  void Restart() { this->Microseconds = 1; }

private:
  int Microseconds = 1;
};

/// Polls `holds` until it returns true or `seconds` have passed. Returns whether it returned true.
bool Await(double seconds, const std::function<bool()>& holds);

}  // namespace patchio::output
