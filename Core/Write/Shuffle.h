// The shuffle of a two-phase write: ranks exchange fragments of a range of a file, so that each writer gets
// one contiguous part of the range.
#pragma once

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// An exchange of fragments between ranks. A fragment consists of bytes and a position, whose meaning the
/// caller defines.
class FragmentExchange
{
public:
  explicit FragmentExchange(Communicator& ranks) : Ranks(ranks), Outgoing(ranks.Size()) {}

  /// Removes the fragments that this rank has added. The memory is reused for the next fragments.
  void Clear();
  /// Adds a fragment for rank `rank`: `count` bytes at the position `position`. Copies the bytes.
  void Send(int rank, std::uint64_t position, const void* bytes, std::uint64_t count);
  /// Runs `add`, which adds fragments, and exchanges the fragments of all ranks. If `add` fails, its fault
  /// replaces this rank's fragments, and ForReceived() throws the fault on all ranks. Collective: every rank
  /// of the communicator calls it.
  void Exchange(const std::function<void()>& add);

  /// Calls visit(position, bytes, count) for each fragment that this rank has received. The bytes stay valid
  /// until the next exchange. Throws Error if Exchange() has failed on a rank.
  template <typename Visit>
  void ForReceived(Visit visit) const;

protected:
  Communicator& Ranks;

private:
  /// Header of a fragment: position and number of bytes.
  using Header = std::array<std::uint64_t, 2>;
  /// Position that marks the text of a fault.
  static constexpr std::uint64_t FaultPosition = ~std::uint64_t(0);

  std::vector<std::string> Outgoing, Incoming;
};

template <typename Visit>
void FragmentExchange::ForReceived(Visit visit) const
{
  for (const std::string& text : this->Incoming) {
    for (std::size_t at = 0; at + sizeof(Header) <= text.size();) {
      Header header;
      std::memcpy(header.data(), text.data() + at, sizeof header);
      at += sizeof header;
      if (header[0] == FaultPosition) {
        throw Error(text.substr(at));
      }
      const std::uint64_t count = header[1] < text.size() - at ? header[1] : text.size() - at;
      visit(header[0], reinterpret_cast<const std::byte*>(text.data()) + at, count);
      at += count;
    }
  }
}

/// The shuffle of contiguous ranges of a file, one range after another: each rank adds fragments of the
/// range, and receives one contiguous part. Every second range uses the same memory, because page faults cost
/// more than copying.
class Shuffle : public FragmentExchange
{
public:
  explicit Shuffle(Communicator& ranks) : FragmentExchange(ranks) {}

  /// Begins the shuffle of a range. `begins`: offset of each rank's part, in rank order, and then the end of
  /// the last part; in bytes, the same on all ranks.
  void Begin(std::vector<std::uint64_t> begins);

  /// Adds `count` bytes at the offset `offset`. The fragments of all ranks must fill the range without
  /// overlap.
  void Add(std::uint64_t offset, const void* bytes, std::uint64_t count);

  /// The part of the range that this rank receives.
  struct Part
  {
    const std::byte* Bytes = nullptr;
    std::uint64_t Count = 0;
  };
  /// Returns this rank's part after Exchange(). The bytes stay valid until Begin() has been called twice.
  /// Throws Error if the part is incomplete, or if Exchange() has failed on a rank.
  Part ReceivedPart();

private:
  struct Memory
  {
    std::unique_ptr<std::byte[]> Bytes;
    std::uint64_t Size = 0;
  };
  std::uint64_t First() const { return this->Begins[this->Ranks.Rank()]; }
  std::uint64_t Count() const { return this->Begins[this->Ranks.Rank() + 1] - this->First(); }
  void Store(std::uint64_t offset, const void* bytes, std::uint64_t count);

  std::vector<std::uint64_t> Begins;
  Memory Current, Previous;
  std::uint64_t Filled = 0;  ///< number of bytes of this rank's part that have arrived
};

}  // namespace patchio::output
