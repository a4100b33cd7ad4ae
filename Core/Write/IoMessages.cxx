#include "Write/IoMessages.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Stopwatch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace patchio::output {
namespace {

constexpr int MostMicroseconds = 200;

/// Divides the bytes into parts that an MPI call can count, and calls begin(data, count, request) for each
/// part. Returns the requests.
template <typename Begin>
std::vector<MPI_Request> RequestsFor(const Buffer& bytes, Begin begin)
{
  std::vector<MPI_Request> requests;
  ForEachMessage(bytes.Size(),
      [&](std::uint64_t done, int count) { begin(bytes.Data() + done, count, &requests.emplace_back()); });
  return requests;
}

}  // namespace

bool AreComplete(std::vector<MPI_Request>& requests)
{
  int complete = 0;
  MPI_Testall(static_cast<int>(requests.size()), requests.data(), &complete, MPI_STATUSES_IGNORE);
  return complete != 0;
}

PendingSends::~PendingSends()
{
  if (!this->Test()) {
    new std::vector<PendingSend>(std::move(this->Pending));
  }
}

void PendingSends::Add(Buffer bytes, int to, MessageTag tag, bool synchronous)
{
  PendingSend& send = this->Pending.emplace_back();
  send.Bytes = std::move(bytes);
  send.Requests = RequestsFor(send.Bytes, [&](const std::byte* data, int count, MPI_Request* request) {
    synchronous ? MPI_Issend(data, count, MPI_BYTE, to, tag, this->Comm, request)
                : MPI_Isend(data, count, MPI_BYTE, to, tag, this->Comm, request);
  });
  this->PeakBytes = std::max(this->PeakBytes, this->Bytes());
}

template <typename Message>
void PendingSends::Add(Message message, int to, MessageTag tag, bool synchronous)
{
  ByteWriter out;
  out.Append(message.Fields());
  const std::vector<std::byte> bytes = out.Release();
  Buffer buffer(bytes.size());
  std::memcpy(buffer.Data(), bytes.data(), bytes.size());
  this->Add(std::move(buffer), to, tag, synchronous);
}

bool PendingSends::Test()
{
  this->Pending.erase(std::remove_if(this->Pending.begin(), this->Pending.end(),
                          [](PendingSend& send) { return AreComplete(send.Requests); }),
      this->Pending.end());
  return this->Pending.empty();
}

std::uint64_t PendingSends::Bytes() const
{
  std::uint64_t bytes = 0;
  for (const PendingSend& send : this->Pending) {
    bytes += send.Bytes.Size();
  }
  return bytes;
}

std::vector<MPI_Request> BeginReceive(MPI_Comm comm, const Buffer& buffer, int source)
{
  return RequestsFor(buffer, [&](std::byte* data, int count, MPI_Request* request) {
    MPI_Irecv(data, count, MPI_BYTE, source, ValuesTag, comm, request);
  });
}

template <typename Message>
bool TryReceive(MPI_Comm comm, MessageTag tag, Message& message, int& from)
{
  int arrived = 0, count = 0;
  MPI_Status status;
  MPI_Iprobe(from, tag, comm, &arrived, &status);
  if (!arrived) {
    return false;
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::vector<std::byte> bytes(count);
  MPI_Recv(bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, tag, comm, MPI_STATUS_IGNORE);
  ByteReader in(bytes);
  message = {};
  from = status.MPI_SOURCE;
  in.Get(message.Fields());
  return true;
}

template void PendingSends::Add(Command, int, MessageTag, bool);
template void PendingSends::Add(Credit, int, MessageTag, bool);
template void PendingSends::Add(Position, int, MessageTag, bool);
template bool TryReceive(MPI_Comm, MessageTag, Command&, int&);
template bool TryReceive(MPI_Comm, MessageTag, Credit&, int&);
template bool TryReceive(MPI_Comm, MessageTag, Position&, int&);

void Backoff::Sleep()
{
  std::this_thread::sleep_for(std::chrono::microseconds(this->Microseconds));
  this->Microseconds = std::min(2 * this->Microseconds, MostMicroseconds);
}

bool WaitFor(double seconds, const std::function<bool()>& condition)
{
  const Stopwatch watch;
  Backoff backoff;
  while (!condition()) {
    if (watch.Seconds() > seconds) {
      return false;
    }
    backoff.Sleep();
  }
  return true;
}

}  // namespace patchio::output
