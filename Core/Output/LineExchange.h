// Values that all ranks hold in pieces, put together by those that write them.
#pragma once

#include "Support/Communicator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// A line of bytes, of which each rank gets a range and gives pieces. So a few ranks write long ranges where
/// many hold short pieces.
class LineExchange
{
public:
  /// begins: of each rank's range, in rank order, and the end of the last; the same on all ranks.
  LineExchange(Communicator& ranks, std::vector<std::uint64_t> begins);

  /// A piece of this rank; the pieces of all ranks fill the line and do not overlap.
  void Add(std::uint64_t at, const void* bytes, std::uint64_t count);
  /// Collective, when all pieces were added.
  void Exchange();

  struct Range
  {
    const std::byte* Bytes = nullptr;
    std::uint64_t Count = 0;
  };
  /// What this rank got, at last. Throws Error when it is not all.
  Range Mine();

private:
  std::uint64_t Begin() const { return this->Begins[this->Ranks.Rank()]; }
  std::uint64_t Count() const { return this->Begins[this->Ranks.Rank() + 1] - this->Begin(); }
  void Put(std::uint64_t at, const void* bytes, std::uint64_t count);

  Communicator& Ranks;
  const std::vector<std::uint64_t> Begins;
  std::vector<std::string> ToOthers, FromOthers;
  std::unique_ptr<std::byte[]> Bytes;
  std::uint64_t Filled = 0;  ///< of them
};

}  // namespace patchio::output
