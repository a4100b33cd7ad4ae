// The shuffle of a two-phase write: ranks exchange pieces of values so that a few ranks can write long
// ranges.
#pragma once

#include "Base/Communicator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// A line of bytes: each rank holds pieces of it and receives one contiguous range. Successive lines use
/// the same memory, because page faults cost more than copying.
class LineExchange
{
public:
  explicit LineExchange(Communicator& ranks) : Ranks(ranks) {}

  /// Begins a line. `begins`: the begin of each rank's range, in rank order, and the end of the last; the
  /// same on all ranks.
  void Begin(std::vector<std::uint64_t> begins);

  /// Adds a piece of this rank at byte `at` of the line. The pieces of all ranks must fill the line without
  /// overlap.
  void Add(std::uint64_t at, const void* bytes, std::uint64_t count);
  /// Replaces this rank's pieces by a fault, which Mine() then throws on all ranks.
  void Fail(const std::string& fault);
  /// Exchanges the pieces after the last Add(). Collective: every rank of the communicator calls it.
  void Exchange();

  struct Range
  {
    const std::byte* Bytes = nullptr;
    std::uint64_t Count = 0;
  };
  /// Returns this rank's range after Exchange(). The bytes stay valid until the Begin() after the next one.
  /// Throws Error when the range is not complete, with the fault of a rank that called Fail().
  Range Mine();

private:
  struct Memory
  {
    std::unique_ptr<std::byte[]> Bytes;
    std::uint64_t Size = 0;
  };
  std::uint64_t First() const { return this->Begins[this->Ranks.Rank()]; }
  std::uint64_t Count() const { return this->Begins[this->Ranks.Rank() + 1] - this->First(); }
  void Put(std::uint64_t at, const void* bytes, std::uint64_t count);

  Communicator& Ranks;
  std::vector<std::uint64_t> Begins;
  std::vector<std::string> ToOthers, FromOthers;
  Memory Now, Before;
  std::uint64_t Filled = 0;  ///< bytes of this rank's range that have arrived
};

}  // namespace patchio::output
