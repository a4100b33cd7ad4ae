// Connections between the ranks of a run, over the network or within a machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace patchio::output {

/// A connection to another rank; none when it is made without a number.
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
  ~Socket();

  int Get() const { return this->Number; }
  bool IsOpen() const { return this->Number >= 0; }

  /// The longest wait of Put() and Take().
  void SetWait(double seconds) const;
  /// All of the bytes; false when the other side has ended or is too slow, and then errno is EAGAIN.
  bool Put(const void* data, std::size_t bytes) const;
  bool Take(void* data, std::size_t bytes) const;

private:
  int Number;
};

/// How to reach a rank.
struct Meeting
{
  std::vector<std::uint32_t> Addresses;  ///< of its machine, in network order
  std::uint16_t Port = 0;                ///< in network order
  std::array<char, 16> Secret{};         ///< which strangers do not know
  std::string Machine;

  auto Fields() { return std::tie(this->Addresses, this->Port, this->Secret, this->Machine); }
};

/// Where a rank is reached.
class Door
{
public:
  /// For so many ranks. Throws Error.
  explicit Door(int ranks);

  const Meeting& Place() const { return this->Here; }
  /// Takes in connections until `seconds` have passed or `count` ranks have come: accept(rank, socket) gets
  /// them, and says whether the rank was awaited. Returns how many are missing.
  template <typename Accept>
  int Await(int count, double seconds, Accept accept) const;

private:
  /// The next one to come, and its rank; none after a second.
  std::pair<Socket, int> Next() const;

  Socket Listening;
  Meeting Here;
};

/// A connection from a rank to another. Throws Error, which says why there is none.
Socket Connect(int from, int to, const Meeting& there);

template <typename Accept>
int Door::Await(int count, double seconds, Accept accept) const
{
  int rounds = static_cast<int>(seconds) + 1;
  while (count > 0 && rounds > 0) {
    auto [socket, rank] = this->Next();
    if (!socket.IsOpen()) {
      --rounds;
    } else if (accept(rank, std::move(socket))) {
      --count;
    }
  }
  return count;
}

}  // namespace patchio::output
