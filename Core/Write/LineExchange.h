// Values that all ranks hold in pieces, put together by those that write them.
#pragma once

#include "Base/Communicator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// A line of bytes, of which each rank gets a range and gives pieces. So a few ranks write long ranges where
/// many hold short pieces. One after another may be exchanged, in the same memory: page faults cost more
/// than copying.
class LineExchange
{
public:
  explicit LineExchange(Communicator& ranks) : Ranks(ranks) {}

  /// begins: of each rank's range, in rank order, and the end of the last; the same on all ranks.
  void Begin(std::vector<std::uint64_t> begins);

  /// A piece of this rank; the pieces of all ranks fill the line and do not overlap.
  void Add(std::uint64_t at, const void* bytes, std::uint64_t count);
  /// In place of pieces: why this rank has none; all ranks will be told by Mine().
  void Fail(const std::string& fault);
  /// Collective, when all pieces were added.
  void Exchange();

  struct Range
  {
    const std::byte* Bytes = nullptr;
    std::uint64_t Count = 0;
  };
  /// What this rank got, at last; stays until the Begin() after the next one. Throws Error when it is not
  /// all, with the reason of the rank that failed.
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
  std::uint64_t Filled = 0;  ///< bytes of this rank's range
};

}  // namespace patchio::output
