#include "Output/SocketCommunicator.h"

#include "Support/Bytes.h"
#include "Support/Error.h"
#include "Support/MachineName.h"
#include "Support/RunOnAllRanks.h"
#include "Support/Stopwatch.h"

#include <fmt/format.h>

#include <arpa/inet.h>
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
#include <ctime>

namespace patchio::output {
namespace {

/// A text that a rank sends has no more bytes; a longer one is none of ours.
constexpr std::uint64_t MostBytes = std::uint64_t(1) << 36;

/// A connection to another rank.
class Socket
{
public:
  explicit Socket(int number = -1) : Number(number) {}
  Socket(Socket&& other) noexcept : Number(std::exchange(other.Number, -1)) {}
  Socket& operator=(Socket&& other) noexcept
  {
    std::swap(this->Number, other.Number);
    return *this;
  }
  ~Socket()
  {
    if (this->Number >= 0) {
      ::close(this->Number);
    }
  }

  int Get() const { return this->Number; }
  bool IsOpen() const { return this->Number >= 0; }

  /// For the waits of Put() and Take().
  void SetWait(double seconds) const
  {
    const timeval most{static_cast<time_t>(seconds), static_cast<suseconds_t>(std::fmod(seconds, 1) * 1e6)};
    ::setsockopt(this->Number, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ::setsockopt(this->Number, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const int on = 1;
    ::setsockopt(this->Number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  /// False when the other side has ended, or is too slow: then errno is EAGAIN.
  bool Put(const void* data, std::size_t bytes) const
  {
    const auto* next = static_cast<const char*>(data);
    return ForAll(bytes,
        [&](std::size_t done) { return ::send(this->Number, next + done, bytes - done, MSG_NOSIGNAL); });
  }
  bool Take(void* data, std::size_t bytes) const
  {
    auto* next = static_cast<char*>(data);
    return ForAll(
        bytes, [&](std::size_t done) { return ::recv(this->Number, next + done, bytes - done, 0); });
  }

private:
  template <typename Transfer>
  static bool ForAll(std::size_t bytes, Transfer transfer)
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

  int Number;
};

/// How to reach rank 0.
struct Meeting
{
  std::vector<std::uint32_t> Addresses;  ///< of its machine, in network order
  std::uint16_t Port = 0;                ///< in network order
  std::array<char, 16> Secret{};
  std::string Machine;

  auto Fields() { return std::tie(this->Addresses, this->Port, this->Secret, this->Machine); }
};

/// What a rank says when it joins.
struct Greeting
{
  std::array<char, 16> Secret{};
  std::int32_t Rank = 0;
};

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

sockaddr_in PlaceOf(std::uint32_t address, std::uint16_t port)
{
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = address;
  place.sin_port = port;
  return place;
}

/// Rank 0 may have more neighbours than files that a process may have open by default.
void AllowFiles(int count)
{
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, count + 1024));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

class SocketCommunicator : public Communicator
{
public:
  SocketCommunicator(Communicator& ranks, double waitSeconds)
      : RankValue(ranks.Rank()), SizeValue(ranks.Size()), WaitSeconds(waitSeconds)
  {
    Socket door;
    const std::vector<std::byte> bytes = BytesOfRankZero(ranks, [&] {
      ByteWriter out;
      Meeting here = this->OpenDoor(door);
      out.Put(here.Fields());
      return out.Take();
    });
    Meeting meeting;
    ByteReader in(bytes);
    in.Get(meeting.Fields());
    RunOnAllRanks(
        ranks, [&] { this->RankValue == 0 ? this->AwaitOthers(door, meeting) : this->Join(meeting); });
  }

  int Rank() const override { return this->RankValue; }
  int Size() const override { return this->SizeValue; }

  void Broadcast(std::vector<std::byte>& bytes) override
  {
    if (this->RankValue == 0) {
      this->ToAll(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    } else {
      const std::string text = this->Take(0);
      const auto* begin = reinterpret_cast<const std::byte*>(text.data());
      bytes.assign(begin, begin + text.size());
    }
  }

  std::vector<std::string> Gather(const std::string& text) override
  {
    if (this->RankValue != 0) {
      this->Put(0, text);
      return {};
    }
    std::vector<std::string> all{text};
    for (int rank = 1; rank < this->SizeValue; ++rank) {
      all.push_back(this->Take(rank));
    }
    return all;
  }

  std::vector<std::string> AllGather(const std::string& text) override
  {
    std::vector<std::byte> bytes;
    const std::vector<std::string> gathered = this->Gather(text);
    if (this->RankValue == 0) {
      ByteWriter out;
      out.Put(gathered);
      bytes = out.Take();
    }
    this->Broadcast(bytes);
    ByteReader in(bytes);
    std::vector<std::string> all;
    in.Get(all);
    return all;
  }

  std::vector<double> AllGather(const std::vector<double>& values) override
  {
    return GatherValues(*this, values);
  }
  std::vector<int> AllGather(const std::vector<int>& values) override { return GatherValues(*this, values); }

private:
  Meeting OpenDoor(Socket& door) const;
  void AwaitOthers(const Socket& door, const Meeting& meeting);
  void Join(const Meeting& meeting);
  void ToAll(const std::string& text)
  {
    for (int rank = 1; rank < this->SizeValue; ++rank) {
      this->Put(rank, text);
    }
  }
  void Put(int rank, const std::string& text);
  std::string Take(int rank);
  [[noreturn]] void Fail(int rank);

  const int RankValue;
  const int SizeValue;
  const double WaitSeconds;
  std::vector<Socket> Others;  ///< on rank 0 by rank, elsewhere rank 0 alone
  std::string Broken;          ///< why it is
};

Meeting SocketCommunicator::OpenDoor(Socket& door) const
{
  AllowFiles(this->SizeValue);
  door = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place = PlaceOf(INADDR_ANY, 0);
  socklen_t bytes = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  if (!door.IsOpen() || ::bind(door.Get(), address, bytes) != 0 ||
      ::listen(door.Get(), this->SizeValue) != 0 || ::getsockname(door.Get(), address, &bytes) != 0) {
    throw Error("The ranks cannot be joined by sockets: " + SystemMessage(errno) + ".");
  }
  Meeting meeting{AddressesOfMachine(), place.sin_port, {}, MachineName()};
  if (::getrandom(meeting.Secret.data(), meeting.Secret.size(), 0) !=
      static_cast<ssize_t>(meeting.Secret.size())) {
    throw Error("The ranks cannot be joined by sockets: the system gives no random numbers.");
  }
  return meeting;
}

void SocketCommunicator::AwaitOthers(const Socket& door, const Meeting& meeting)
{
  this->Others.resize(this->SizeValue);
  const Stopwatch watch;
  for (int missing = this->SizeValue - 1; missing > 0;) {
    pollfd event = {door.Get(), POLLIN, 0};
    const double left = this->WaitSeconds - watch.Seconds();
    if (left <= 0 || ::poll(&event, 1, static_cast<int>(std::min(left, 1.0) * 1000) + 1) < 0) {
      throw Error(fmt::format("Rank 0 waited {} s for {} to join it over the network (port {} of {}).",
          this->WaitSeconds, missing == 1 ? "another rank" : fmt::format("{} other ranks", missing),
          ntohs(meeting.Port), meeting.Machine));
    }
    Socket guest(event.revents ? ::accept4(door.Get(), nullptr, nullptr, SOCK_CLOEXEC) : -1);
    Greeting greeting;
    guest.SetWait(std::min(this->WaitSeconds, 10.0));  // strangers must not keep the others waiting
    if (guest.IsOpen() && guest.Take(&greeting, sizeof greeting) && greeting.Secret == meeting.Secret &&
        greeting.Rank > 0 && greeting.Rank < this->SizeValue && !this->Others[greeting.Rank].IsOpen()) {
      guest.SetWait(this->WaitSeconds);
      this->Others[greeting.Rank] = std::move(guest);
      --missing;
    }
  }
}

void SocketCommunicator::Join(const Meeting& meeting)
{
  std::vector<std::uint32_t> addresses = meeting.Addresses;
  if (meeting.Machine == MachineName()) {
    addresses.insert(addresses.begin(), htonl(INADDR_LOOPBACK));
  }
  std::string fault = "it has no address";
  for (const std::uint32_t address : addresses) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    socket.SetWait(std::min(this->WaitSeconds, 10.0));
    const sockaddr_in place = PlaceOf(address, meeting.Port);
    const Greeting greeting{meeting.Secret, this->RankValue};
    if (::connect(socket.Get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
        socket.Put(&greeting, sizeof greeting)) {
      socket.SetWait(this->WaitSeconds);
      this->Others.push_back(std::move(socket));
      return;
    }
    fault = SystemMessage(errno);
  }
  throw Error(fmt::format(
      "Rank {} cannot reach rank 0 on {} over the network: {}.", this->RankValue, meeting.Machine, fault));
}

void SocketCommunicator::Put(int rank, const std::string& text)
{
  const std::uint64_t size = text.size();
  if (!this->Broken.empty() || !this->Others[rank].Put(&size, sizeof size) ||
      !this->Others[rank].Put(text.data(), text.size())) {
    this->Fail(rank);
  }
}

std::string SocketCommunicator::Take(int rank)
{
  std::uint64_t size = 0;
  if (!this->Broken.empty() || !this->Others[rank].Take(&size, sizeof size) || size > MostBytes) {
    this->Fail(rank);
  }
  std::string text(size, '\0');
  if (!this->Others[rank].Take(text.data(), size)) {
    this->Fail(rank);
  }
  return text;
}

/// Closes all connections, so that the others need not wait either.
void SocketCommunicator::Fail(int rank)
{
  if (this->Broken.empty()) {
    this->Broken = errno == EAGAIN ? fmt::format("Rank {} waited {} s for rank {}, in vain.", this->RankValue,
                                         this->WaitSeconds, rank)
                                   : fmt::format("Rank {} waited for rank {}, which has ended or given up.",
                                         this->RankValue, rank);
    this->Others.clear();
  }
  throw Error(this->Broken);
}

}  // namespace

std::unique_ptr<Communicator> MakeSocketCommunicator(Communicator& ranks, double waitSeconds)
{
  return std::make_unique<SocketCommunicator>(ranks, waitSeconds);
}

}  // namespace patchio::output
