#include "Output/Socket.h"

#include "Support/Error.h"
#include "Support/MachineName.h"

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
#include <cerrno>
#include <cmath>
#include <ctime>

namespace patchio::output {
namespace {

/// Strangers, and machines that cannot be reached, must not keep ranks waiting.
constexpr double FirstWait = 10;

/// What a rank says when it joins.
struct Greeting
{
  std::array<char, 16> Secret{};
  std::int32_t Rank = 0;
};

template <typename Transfer>
bool ForAll(std::size_t bytes, Transfer transfer)
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

sockaddr_in PlaceOf(std::uint32_t address, std::uint16_t port)
{
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = address;
  place.sin_port = port;
  return place;
}

/// A rank may have more neighbours than files that a process may have open by default.
void AllowFiles(int count)
{
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, count + 1024));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Socket::~Socket()
{
  if (this->Number >= 0) {
    ::close(this->Number);
  }
}

void Socket::SetWait(double seconds) const
{
  const timeval most{static_cast<time_t>(seconds), static_cast<suseconds_t>(std::fmod(seconds, 1) * 1e6)};
  ::setsockopt(this->Number, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  ::setsockopt(this->Number, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
  const int on = 1;
  ::setsockopt(this->Number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool Socket::Put(const void* data, std::size_t bytes) const
{
  const auto* next = static_cast<const char*>(data);
  return ForAll(
      bytes, [&](std::size_t done) { return ::send(this->Number, next + done, bytes - done, MSG_NOSIGNAL); });
}

bool Socket::Take(void* data, std::size_t bytes) const
{
  auto* next = static_cast<char*>(data);
  return ForAll(bytes, [&](std::size_t done) { return ::recv(this->Number, next + done, bytes - done, 0); });
}

Door::Door(int ranks) : Listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
  AllowFiles(ranks);
  sockaddr_in place = PlaceOf(INADDR_ANY, 0);
  socklen_t bytes = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  const int number = this->Listening.Get();
  if (!this->Listening.IsOpen() || ::bind(number, address, bytes) != 0 || ::listen(number, ranks) != 0 ||
      ::getsockname(number, address, &bytes) != 0) {
    throw Error("Connecting the ranks by sockets failed: " + SystemMessage(errno) + ".");
  }
  this->Here = {AddressesOfMachine(), place.sin_port, {}, MachineName()};
  if (::getrandom(this->Here.Secret.data(), this->Here.Secret.size(), 0) !=
      static_cast<ssize_t>(this->Here.Secret.size())) {
    throw Error("Connecting the ranks by sockets failed: the system provides no random numbers.");
  }
}

std::pair<Socket, int> Door::Next() const
{
  pollfd event = {this->Listening.Get(), POLLIN, 0};
  Socket guest(::poll(&event, 1, 1000) > 0 ? ::accept4(event.fd, nullptr, nullptr, SOCK_CLOEXEC) : -1);
  Greeting greeting;
  guest.SetWait(FirstWait);
  if (!guest.IsOpen() || !guest.Take(&greeting, sizeof greeting) || greeting.Secret != this->Here.Secret) {
    return {Socket(), -1};
  }
  return {std::move(guest), greeting.Rank};
}

Socket Connect(int from, int to, const Meeting& there)
{
  std::vector<std::uint32_t> addresses = there.Addresses;
  if (there.Machine == MachineName()) {
    addresses.insert(addresses.begin(), htonl(INADDR_LOOPBACK));
  }
  std::string fault = "it has no address";
  for (const std::uint32_t address : addresses) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    socket.SetWait(FirstWait);
    const sockaddr_in place = PlaceOf(address, there.Port);
    const Greeting greeting{there.Secret, from};
    if (::connect(socket.Get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
        socket.Put(&greeting, sizeof greeting)) {
      return socket;
    }
    fault = SystemMessage(errno);
  }
  throw Error(fmt::format(
      "Rank {} cannot reach rank {} on {} over the network: {}.", from, to, there.Machine, fault));
}

}  // namespace patchio::output
