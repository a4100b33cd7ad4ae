// What compute ranks and I/O ranks send each other. MPI is called on the simulation's thread alone, and no
// call waits: messages are looked for again and again.
//
// Compute rank 0 sends orders to all I/O ranks: to make room, to take a step, to end. Each compute rank sends
// the values of a step in one message to its I/O rank. That one sends marks: how much it has room for, which
// steps are written, and what went wrong.
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
  OrderTag = 1,
  ValuesTag,
  MarkTag,
  ArrivalTag,  ///< see BoundedCommunicator
  NoticeTag
};

/// What an I/O rank uses of its memory: 0.9 X_total.
inline std::uint64_t RoomIn(std::uint64_t memory)
{
  return memory / 10 * 9;
}

/// What an I/O rank shall do.
struct Order
{
  /// Not empty: make room for so many bytes of each compute rank; room that was promised before is not used
  /// any more.
  std::vector<std::uint64_t> Needs;
  /// Beside Needs, where they have changed: Declaration::Encode(), and the I/O rank of each compute rank.
  std::vector<std::byte> Declared;
  std::vector<int> Map;
  /// Otherwise a step comes: its variables, or the end mark.
  VariableCode Code;
  std::int64_t Step = 0;
  double Time = 0;
  std::vector<std::string> Told;   ///< by compute ranks, of their arrays
  std::vector<std::int64_t> Lost;  ///< numbers of steps lost since the last step

  auto Fields()
  {
    return std::tie(
        this->Needs, this->Declared, this->Map, this->Code, this->Step, this->Time, this->Told, this->Lost);
  }
};

/// What a compute rank gets to know of its I/O rank.
struct Mark
{
  std::int64_t Rooms = 0;    ///< orders to make room that it has carried out
  std::int64_t Steps = 0;    ///< that it has begun to take
  std::int64_t Written = 0;  ///< that are on the storage, or lost
  std::uint64_t Room = 0;    ///< the water mark: bytes that this rank may send, of steps after these
  std::string Faults;        ///< since the last mark

  auto Fields() { return std::tie(this->Rooms, this->Steps, this->Written, this->Room, this->Faults); }
};

/// Where a rank of a BoundedCommunicator is, as it tells the others.
struct Position
{
  std::string Call, About;
  double Waited = 0;        ///< seconds, if that was too long
  std::int64_t Number = 0;  ///< of the wait, among all of this communicator

  auto Fields() { return std::tie(this->Call, this->About, this->Waited, this->Number); }
  std::string Text() const { return this->About.empty() ? this->Call : this->Call + " of " + this->About; }
};

/// Bytes of MPI messages, each of which may be longer than MPI can count.
class Buffer
{
public:
  Buffer() = default;
  explicit Buffer(std::uint64_t size) : Bytes(new std::byte[size]), Count(size) {}  // not set to 0
  std::byte* Data() const { return this->Bytes.get(); }
  std::uint64_t Size() const { return this->Count; }

private:
  std::unique_ptr<std::byte[]> Bytes;
  std::uint64_t Count = 0;
};

/// Messages that others have not taken yet.
class Sends
{
public:
  explicit Sends(MPI_Comm comm) : Comm(comm) {}
  /// Memory that MPI still reads is not given back.
  ~Sends();
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;

  /// taken: complete when the other rank has taken it, not when MPI has.
  void Add(Buffer bytes, int to, MessageTag tag, bool taken = false);
  template <typename Message>
  void Add(Message message, int to, MessageTag tag, bool taken = false);
  /// Forgets those that are complete, and says whether all are.
  bool Test();
  std::uint64_t Bytes() const;
  /// The most bytes that they had together.
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

/// Begins to receive a buffer's bytes.
std::vector<MPI_Request> BeginReceive(MPI_Comm comm, const Buffer& into, int from);
/// Takes a message of this kind that is there; false where there is none. from: its rank, before and after.
template <typename Message>
bool Take(MPI_Comm comm, MessageTag tag, Message& message, int& from);
template <typename Message>
bool Take(MPI_Comm comm, MessageTag tag, Message& message)
{
  int anybody = MPI_ANY_SOURCE;
  return Take(comm, tag, message, anybody);
}

/// Rests in between looks, the longer the longer nothing happens.
class Nap
{
public:
  void Rest();
  void Restart() { this->Microseconds = 1; }

private:
  int Microseconds = 1;
};

/// Looks until it holds; false after so many seconds.
bool Await(double seconds, const std::function<bool()>& holds);

}  // namespace patchio::output
