#include "Write/SocketCommunicator.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Stopwatch.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace patchio::output {
namespace {

/// A socket, which the destructor closes.
class Socket
{
public:
  /// Owns the file descriptor `number`; -1: the socket is closed.
  explicit Socket(int number = -1) : Number(number) {}
  Socket(Socket&& other) noexcept : Number(std::exchange(other.Number, -1)) {}
  Socket& operator=(Socket&& other) noexcept
  {
    std::swap(this->Number, other.Number);
    return *this;
  }
  ~Socket();

  int Get() const { return this->Number; }
  bool IsOpen() const { return this->Number >= 0; }

  /// Sets the time limit of Send() and Receive(), in seconds, and turns off Nagle's algorithm (TCP_NODELAY),
  /// which delays small messages.
  void SetOptions(double seconds) const;
  /// Sends or receives all bytes. Returns false if the other process has ended, or, with EAGAIN in errno,
  /// after the time limit.
  bool Send(const void* data, std::size_t bytes) const;
  bool Receive(void* data, std::size_t bytes) const;

private:
  int Number;
};

/// The data needed to connect to a rank.
struct Endpoint
{
  std::vector<std::uint32_t> Addresses;  ///< addresses of the rank's machine, in network order
  std::uint16_t Port = 0;                ///< in network order
  std::array<char, 16> Secret{};         ///< random bytes that only the ranks of this run know
  std::string Machine;

  auto Fields() { return std::tie(this->Addresses, this->Port, this->Secret, this->Machine); }
};

/// The listening socket of a rank.
class Listener
{
public:
  /// Listens on a port that the system chooses. `rankCount`: number of ranks that may connect. Throws Error.
  explicit Listener(int rankCount);

  const Endpoint& OwnEndpoint() const { return this->Local; }
  /// Accepts connections until `count` ranks have connected or `seconds` have passed. For each connection,
  /// calls accept(rank, socket), which returns whether the rank is expected. Returns the number of missing
  /// ranks.
  template <typename Handler>
  int Accept(int count, double seconds, Handler accept) const;

private:
  /// Accepts a connection. Returns the connection and the rank at the other end, or a closed socket if no
  /// program connects within a second, or if the program is not a rank of this run.
  std::pair<Socket, int> AcceptNext() const;

  Socket Listening;
  Endpoint Local;
};

template <typename Handler>
int Listener::Accept(int count, double seconds, Handler accept) const
{
  const Stopwatch watch;
  while (count > 0 && watch.Seconds() <= seconds) {
    auto [socket, rank] = this->AcceptNext();
    count -= socket.IsOpen() && accept(rank, std::move(socket)) ? 1 : 0;
  }
  return count;
}

/// Time limit in seconds of an attempt to connect, so that other programs and unreachable machines do not
/// delay the ranks for long.
constexpr double ConnectSeconds = 10;

/// The first message of a rank that connects.
struct Handshake
{
  std::array<char, 16> Secret{};
  std::int32_t Rank = 0;
};

template <typename Operation>
bool TransferAll(std::size_t bytes, Operation transfer)
{
  for (std::size_t done = 0; done < bytes;) {
    errno = 0;
    const ssize_t now = transfer(done);
    if (now > 0) {
      done += static_cast<std::size_t>(now);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::vector<std::uint32_t> AddressesOfMachine()
{
  std::vector<std::uint32_t> addresses;
  ifaddrs* all = nullptr;
  ::getifaddrs(&all);
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_LOOPBACK) == 0) {
      addresses.push_back(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
    }
  }
  if (all) {
    ::freeifaddrs(all);
  }
  return addresses;
}

sockaddr_in SocketAddress(std::uint32_t address, std::uint16_t port)
{
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = address;
  place.sin_port = port;
  return place;
}

/// Raises this process's limit on open files to `count` + 1024, as far as the system allows, because a rank
/// may have more connections than the default limit allows.
void RaiseFileLimit(int count)
{
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, count + 1024));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Socket::~Socket()
{
  if (this->Number >= 0) {
    ::close(this->Number);
  }
}

void Socket::SetOptions(double seconds) const
{
  const timeval most{static_cast<time_t>(seconds), static_cast<suseconds_t>(std::fmod(seconds, 1) * 1e6)};
  ::setsockopt(this->Number, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  ::setsockopt(this->Number, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  const int on = 1;
  ::setsockopt(this->Number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool Socket::Send(const void* data, std::size_t bytes) const
{
  const auto* next = static_cast<const char*>(data);
  return TransferAll(
      bytes, [&](std::size_t done) { return ::send(this->Number, next + done, bytes - done, MSG_NOSIGNAL); });
}

bool Socket::Receive(void* data, std::size_t bytes) const
{
  auto* next = static_cast<char*>(data);
  return TransferAll(
      bytes, [&](std::size_t done) { return ::recv(this->Number, next + done, bytes - done, 0); });
}

Listener::Listener(int rankCount) : Listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
  RaiseFileLimit(rankCount);
  sockaddr_in place = SocketAddress(INADDR_ANY, 0);
  socklen_t bytes = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  const int number = this->Listening.Get();
  if (!this->Listening.IsOpen() || ::bind(number, address, bytes) != 0 || ::listen(number, rankCount) != 0 ||
      ::getsockname(number, address, &bytes) != 0) {
    throw Error("Connecting the ranks by sockets failed: " + SystemMessage(errno) + ".");
  }
  this->Local = {AddressesOfMachine(), place.sin_port, {}, MachineName()};
  if (::getrandom(this->Local.Secret.data(), this->Local.Secret.size(), 0) !=
      static_cast<ssize_t>(this->Local.Secret.size())) {
    throw Error("Connecting the ranks by sockets failed: the system provides no random numbers.");
  }
}

std::pair<Socket, int> Listener::AcceptNext() const
{
  pollfd event = {this->Listening.Get(), POLLIN, 0};
  Socket socket(::poll(&event, 1, 1000) > 0 ? ::accept4(event.fd, nullptr, nullptr, SOCK_CLOEXEC) : -1);
  Handshake handshake;
  socket.SetOptions(ConnectSeconds);
  if (!socket.IsOpen() || !socket.Receive(&handshake, sizeof handshake) ||
      handshake.Secret != this->Local.Secret) {
    return {Socket(), -1};
  }
  return {std::move(socket), handshake.Rank};
}

/// Connects rank `from` to rank `to`, which has the endpoint `endpoint`. Throws Error if all addresses of the
/// endpoint are unreachable.
Socket Connect(int from, int to, const Endpoint& endpoint)
{
  std::vector<std::uint32_t> addresses = endpoint.Addresses;
  if (endpoint.Machine == MachineName()) {
    addresses.insert(addresses.begin(), htonl(INADDR_LOOPBACK));
  }
  std::string fault = "the rank has no network address";
  for (const std::uint32_t address : addresses) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    socket.SetOptions(ConnectSeconds);
    const sockaddr_in place = SocketAddress(address, endpoint.Port);
    const Handshake handshake{endpoint.Secret, from};
    if (::connect(socket.Get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
        socket.Send(&handshake, sizeof handshake)) {
      return socket;
    }
    fault = SystemMessage(errno);
  }
  throw Error(fmt::format(
      "Rank {} cannot reach rank {} on {} over the network: {}.", from, to, endpoint.Machine, fault));
}

/// Largest length of a text. A larger length shows that the message does not come from a rank.
constexpr std::uint64_t LargestMessage = std::uint64_t(1) << 40;
/// Value in place of a text's length. The text that follows is the reason why rank 0 has given up.
constexpr std::uint64_t FaultMark = ~std::uint64_t(0);

/// The texts that this rank and the rank `Rank` send to each other.
struct Transfer
{
  int Rank = 0;
  const std::string* Out = nullptr;
  std::string* In = nullptr;
  std::size_t Sent = 0, Received = 0;

  bool HasUnsent() const { return this->Sent < this->Out->size(); }
  bool HasUnreceived() const { return this->Received < this->In->size(); }
};

class SocketCommunicator : public Communicator
{
public:
  SocketCommunicator(Communicator& ranks, double waitSeconds)
      : RankValue(ranks.Rank()),
        SizeValue(ranks.Size()),
        // The other ranks wait longer than rank 0, so that rank 0 can report which rank is late.
        WaitSeconds(ranks.Rank() == 0 ? waitSeconds : waitSeconds + std::max(1.0, 0.05 * waitSeconds)),
        Sockets(ranks.Size())
  {
    RunOnAllRanks(ranks, [&] { this->Acceptor = std::make_unique<Listener>(this->SizeValue); });
    this->ExchangeEndpoints(ranks);
    RunOnAllRanks(ranks,
        [&] { this->RankValue == 0 ? this->AcceptRanks(this->SizeValue - 1) : this->ConnectToRank(0); });
  }

  int Rank() const override { return this->RankValue; }
  int Size() const override { return this->SizeValue; }

  void Broadcast(std::vector<std::byte>& bytes) override
  {
    if (this->RankValue == 0) {
      const std::string text = PackValues(bytes);
      for (int rank = 1; rank < this->SizeValue; ++rank) {
        this->Send(rank, text);
      }
    } else {
      bytes = UnpackValues<std::byte>({this->Receive(0)});
    }
  }

  std::vector<std::string> Gather(const std::string& text) override
  {
    if (this->RankValue != 0) {
      this->Send(0, text);
      return {};
    }
    std::vector<std::string> all{text};
    for (int rank = 1; rank < this->SizeValue; ++rank) {
      all.push_back(this->Receive(rank));
    }
    return all;
  }

  std::vector<std::string> AllGather(const std::string& text) override
  {
    std::vector<std::byte> bytes;
    const std::vector<std::string> gathered = this->Gather(text);
    if (this->RankValue == 0) {
      ByteWriter out;
      out.Append(gathered);
      bytes = out.Release();
    }
    this->Broadcast(bytes);
    return ByteReader(bytes).Get<std::vector<std::string>>();
  }

  using Communicator::AllGather;
  using Communicator::Exchange;
  void Exchange(std::vector<std::string>& texts, std::vector<std::string>& into) override;

private:
  void ExchangeEndpoints(Communicator& ranks);
  void AcceptRanks(int count);
  void ConnectToRank(int rank);
  void ConnectToRanks(const std::vector<bool>& needed);
  void RunOrStop(const std::function<void()>& work);
  void Run(std::vector<Transfer>& transfers);
  void Advance(Transfer& transfer, short events);
  void Send(int rank, const std::string& text);
  std::string Receive(int rank);
  void ReceiveFault(int rank);
  [[noreturn]] void Fail(int rank);

  const int RankValue;
  const int SizeValue;
  const double WaitSeconds;
  std::unique_ptr<Listener> Acceptor;
  std::vector<Endpoint> Endpoints;  ///< endpoint of each rank
  std::vector<Socket> Sockets;      ///< by rank: connections to rank 0 and to partners of Exchange()
  std::string Fault;                ///< text of the Error that all methods throw; empty: no Error
};

/// Exchanges the addresses and secrets of all ranks. Collective: every rank of `ranks` calls it.
void SocketCommunicator::ExchangeEndpoints(Communicator& ranks)
{
  ByteWriter out;
  Endpoint here = this->Acceptor->OwnEndpoint();
  out.Append(here.Fields());
  for (const std::string& text : ranks.AllGather(PackValues(out.Release()))) {
    ByteReader in(text);
    in.Get(this->Endpoints.emplace_back().Fields());
  }
}

/// Waits until `count` further ranks have connected. Throws Error after the time limit.
void SocketCommunicator::AcceptRanks(int count)
{
  const int missing = this->Acceptor->Accept(count, this->WaitSeconds, [this](int rank, Socket socket) {
    if (rank < 0 || rank >= this->SizeValue || this->Sockets[rank].IsOpen()) {
      return false;
    }
    socket.SetOptions(this->WaitSeconds);
    this->Sockets[rank] = std::move(socket);
    return true;
  });
  if (missing > 0) {
    throw Error(
        fmt::format("Rank {} on {} waited {} s for {} of {} ranks to connect over the network. Check that "
                    "the ranks can reach each other.",
            this->RankValue, this->Endpoints[this->RankValue].Machine, this->WaitSeconds, missing, count));
  }
}

void SocketCommunicator::ConnectToRank(int rank)
{
  this->Sockets[rank] = Connect(this->RankValue, rank, this->Endpoints[rank]);
  this->Sockets[rank].SetOptions(this->WaitSeconds);
}

/// Makes the missing connections to the ranks for which needed[rank] is true. Of two ranks, the rank with the
/// smaller number connects to the rank with the larger number.
void SocketCommunicator::ConnectToRanks(const std::vector<bool>& needed)
{
  int expected = 0;
  for (int rank = 0; rank < this->SizeValue; ++rank) {
    if (needed[rank] && rank != this->RankValue && !this->Sockets[rank].IsOpen()) {
      rank > this->RankValue ? this->ConnectToRank(rank) : static_cast<void>(++expected);
    }
  }
  this->AcceptRanks(expected);
}

void SocketCommunicator::Exchange(std::vector<std::string>& texts, std::vector<std::string>& into)
{
  std::vector<std::uint64_t> mine;
  for (const std::string& text : texts) {
    mine.push_back(text.size());
  }
  const std::vector<std::uint64_t> sizes =
      GatherValues(*this, mine);  // index: sender x number of ranks + receiver
  const auto sizeOf = [&](int from, int to) { return sizes[std::size_t(from) * this->SizeValue + to]; };
  std::vector<Transfer> transfers;
  this->RunOrStop([&] {
    into.resize(this->SizeValue);
    std::vector<bool> needed(this->SizeValue);
    for (int rank = 0; rank < this->SizeValue; ++rank) {
      const std::uint64_t size = sizeOf(rank, this->RankValue);
      if (rank == this->RankValue) {
        into[rank] = texts[rank];
        continue;
      }
      into[rank].resize(size);
      if (size > 0 || mine[rank] > 0) {
        needed[rank] = true;
        transfers.push_back({rank, &texts[rank], &into[rank]});
      }
    }
    this->ConnectToRanks(needed);
  });
  this->Run(transfers);
}

/// Runs `work`. If `work` fails, closes all connections, so that other ranks need not wait for this rank, and
/// throws Error.
void SocketCommunicator::RunOrStop(const std::function<void()>& work)
{
  const std::string fault = CatchError(work);
  if (!fault.empty()) {
    this->Fault = fault;
    this->Sockets.clear();
    throw Error(fault);
  }
}

/// Sends and receives all texts concurrently, because a rank that sends all texts before receiving any could
/// cause a deadlock.
void SocketCommunicator::Run(std::vector<Transfer>& transfers)
{
  Stopwatch sinceMoved;
  for (;;) {
    std::vector<pollfd> events;
    std::vector<Transfer*> active;
    for (Transfer& transfer : transfers) {
      const int requested = (transfer.HasUnsent() ? POLLOUT : 0) | (transfer.HasUnreceived() ? POLLIN : 0);
      if (requested != 0) {
        events.push_back({this->Sockets[transfer.Rank].Get(), static_cast<short>(requested), 0});
        active.push_back(&transfer);
      }
    }
    if (active.empty()) {
      return;
    }
    if (::poll(events.data(), events.size(), 100) > 0) {
      sinceMoved = Stopwatch();
    } else if (sinceMoved.Seconds() > this->WaitSeconds) {
      errno = EAGAIN;
      this->Fail(active[0]->Rank);
    }
    for (std::size_t i = 0; i < active.size(); ++i) {
      this->Advance(*active[i], events[i].revents);
    }
  }
}

/// Sends and receives as many bytes as possible without waiting. `events`: the events of poll() for the
/// socket.
void SocketCommunicator::Advance(Transfer& transfer, short events)
{
  const int socket = this->Sockets[transfer.Rank].Get();
  const auto check = [&](ssize_t moved) {
    if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EINTR)) {
      errno = 0;
      this->Fail(transfer.Rank);
    }
    return moved < 0 ? 0 : static_cast<std::size_t>(moved);
  };
  if (transfer.HasUnreceived() && (events & (POLLIN | POLLHUP | POLLERR)) != 0) {
    transfer.Received += check(::recv(socket, transfer.In->data() + transfer.Received,
        transfer.In->size() - transfer.Received, MSG_DONTWAIT));
  }
  if (transfer.HasUnsent() && (events & (POLLOUT | POLLHUP | POLLERR)) != 0) {
    transfer.Sent += check(::send(socket, transfer.Out->data() + transfer.Sent,
        transfer.Out->size() - transfer.Sent, MSG_DONTWAIT | MSG_NOSIGNAL));
  }
}

void SocketCommunicator::Send(int rank, const std::string& text)
{
  const std::uint64_t size = text.size();
  if (!this->Fault.empty() || !this->Sockets[rank].Send(&size, sizeof size) ||
      !this->Sockets[rank].Send(text.data(), text.size())) {
    this->Fail(rank);
  }
}

std::string SocketCommunicator::Receive(int rank)
{
  std::uint64_t size = 0;
  if (!this->Fault.empty() || !this->Sockets[rank].Receive(&size, sizeof size)) {
    this->Fail(rank);
  }
  if (size == FaultMark) {
    this->ReceiveFault(rank);
  }
  if (size > LargestMessage) {
    this->Fail(rank);
  }
  std::string text;
  this->RunOrStop([&] { text.resize(size); });
  if (!this->Sockets[rank].Receive(text.data(), size)) {
    this->Fail(rank);
  }
  return text;
}

/// Receives the reason why rank `rank` has given up, and throws Error with the reason.
void SocketCommunicator::ReceiveFault(int rank)
{
  constexpr std::uint64_t most = 1 << 16;
  const std::string text = this->Receive(rank);
  this->Fault = text.substr(0, most);
  this->Sockets.clear();
  throw Error(this->Fault);
}

/// Closes all connections, so that other ranks need not wait for this rank, and throws Error. Rank 0 first
/// sends the Error's text to the other ranks. `rank`: the rank that this rank has waited for. The value
/// EAGAIN of errno means that the wait has exceeded the time limit.
void SocketCommunicator::Fail(int rank)
{
  if (this->Fault.empty()) {
    this->Fault = errno == EAGAIN
                      ? fmt::format("Rank {} waited {} s for rank {} without an answer.", this->RankValue,
                            this->WaitSeconds, rank)
                      : fmt::format("Rank {} waited for rank {}, which has stopped.", this->RankValue, rank);
    const std::uint64_t head[] = {FaultMark, this->Fault.size()};
    std::string last(reinterpret_cast<const char*>(head), sizeof head);
    last += this->Fault;
    for (const Socket& other : this->Sockets) {
      if (this->RankValue == 0 && other.IsOpen()) {
        static_cast<void>(::send(other.Get(), last.data(), last.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
      }
    }
    this->Sockets.clear();
  }
  throw Error(this->Fault);
}

}  // namespace

std::unique_ptr<Communicator> MakeSocketCommunicator(Communicator& ranks, double waitSeconds)
{
  return std::make_unique<SocketCommunicator>(ranks, waitSeconds);
}

}  // namespace patchio::output
