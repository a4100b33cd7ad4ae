// The shuffle of a two-phase write: ranks exchange pieces of values, so that a few ranks can write long
// contiguous ranges.
#pragma once

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// Pieces of bytes that ranks send to each other, each with its position.
class PieceExchange
{
public:
  explicit PieceExchange(Communicator& ranks) : Ranks(ranks), ToOthers(ranks.Size()) {}

  /// Removes the pieces of this rank, and keeps their memory for the next pieces.
  void Clear();
  /// Adds a piece of `count` bytes at position `at` for a rank. Copies the bytes.
  void Send(int rank, std::uint64_t at, const void* bytes, std::uint64_t count);
  /// Replaces this rank's pieces by a fault, which ForReceived() then throws on all ranks.
  void Fail(const std::string& fault);
  /// Exchanges the pieces of all ranks. Collective: every rank of the communicator calls it.
  void Exchange() { this->Ranks.Exchange(this->ToOthers, this->FromOthers); }

  /// Calls visit(at, bytes, count) for all pieces that this rank has received. The bytes stay valid until the
  /// next exchange. Throws Error with the fault of a rank that called Fail().
  template <typename Visit>
  void ForReceived(Visit visit) const;

protected:
  Communicator& Ranks;

private:
  /// The header of each piece: its position and its length.
  using Head = std::array<std::uint64_t, 2>;
  /// The position in the header of a fault's text.
  static constexpr std::uint64_t Nowhere = ~std::uint64_t(0);

  std::vector<std::string> ToOthers, FromOthers;
};

template <typename Visit>
void PieceExchange::ForReceived(Visit visit) const
{
  for (const std::string& text : this->FromOthers) {
    for (std::size_t at = 0; at + sizeof(Head) <= text.size();) {
      Head head;
      std::memcpy(head.data(), text.data() + at, sizeof head);
      at += sizeof head;
      if (head[0] == Nowhere) {
        throw Error(text.substr(at));
      }
      const std::uint64_t count = head[1] < text.size() - at ? head[1] : text.size() - at;
      visit(head[0], reinterpret_cast<const std::byte*>(text.data()) + at, count);
      at += count;
    }
  }
}

/// A line of bytes: each rank holds pieces of the line, and receives one contiguous range. Successive lines
/// use the same memory, because page faults cost more than copying.
class Shuffle : public PieceExchange
{
public:
  explicit Shuffle(Communicator& ranks) : PieceExchange(ranks) {}

  /// Begins a line. `begins`: the begin of each rank's range, in rank order, and the end of the last range;
  /// in bytes, the same on all ranks.
  void Begin(std::vector<std::uint64_t> begins);

  /// Adds a piece of `count` bytes at byte `at` of the line. The pieces of all ranks must fill the line
  /// without overlap.
  void Add(std::uint64_t at, const void* bytes, std::uint64_t count);

  struct Range
  {
    const std::byte* Bytes = nullptr;
    std::uint64_t Count = 0;
  };
  /// Returns this rank's range after Exchange(). The bytes stay valid until Begin() is called twice. Throws
  /// Error if the range is incomplete, or with the fault of a rank that called Fail().
  Range OwnRange();

private:
  struct Memory
  {
    std::unique_ptr<std::byte[]> Bytes;
    std::uint64_t Size = 0;
  };
  std::uint64_t First() const { return this->Begins[this->Ranks.Rank()]; }
  std::uint64_t Count() const { return this->Begins[this->Ranks.Rank() + 1] - this->First(); }
  void Put(std::uint64_t at, const void* bytes, std::uint64_t count);

  std::vector<std::uint64_t> Begins;
  Memory Now, Before;
  std::uint64_t Filled = 0;  ///< bytes of this rank's range that have arrived
};

}  // namespace patchio::output
