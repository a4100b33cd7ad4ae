#include "Output/LineExchange.h"

#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace patchio::output {
namespace {

/// Before each piece: where it goes, and how long it is.
using Head = std::array<std::uint64_t, 2>;

}  // namespace

LineExchange::LineExchange(Communicator& ranks, std::vector<std::uint64_t> begins)
    : Ranks(ranks), Begins(std::move(begins)), ToOthers(ranks.Size()), Bytes(new std::byte[this->Count()])
{
}

void LineExchange::Add(std::uint64_t at, const void* bytes, std::uint64_t count)
{
  const auto* next = static_cast<const char*>(bytes);
  while (count > 0) {
    // The last one that begins there: those before it have nothing.
    const auto end = std::upper_bound(this->Begins.begin(), this->Begins.end() - 1, at);
    const auto rank = static_cast<int>(end - this->Begins.begin()) - 1;
    const std::uint64_t part = std::min(count, this->Begins[rank + 1] - at);
    if (rank == this->Ranks.Rank()) {
      this->Put(at, next, part);
    } else {
      const Head head{at, part};
      this->ToOthers[rank].append(reinterpret_cast<const char*>(head.data()), sizeof head);
      this->ToOthers[rank].append(next, part);
    }
    at += part;
    next += part;
    count -= part;
  }
}

void LineExchange::Exchange()
{
  if (this->Ranks.Size() > 1) {
    this->FromOthers = this->Ranks.Exchange(this->ToOthers);
    this->ToOthers.clear();
  }
}

LineExchange::Range LineExchange::Mine()
{
  for (const std::string& text : this->FromOthers) {
    for (std::size_t at = 0; at + sizeof(Head) <= text.size();) {
      Head head;
      std::memcpy(head.data(), text.data() + at, sizeof head);
      at += sizeof head;
      this->Put(head[0], text.data() + at, std::min<std::uint64_t>(head[1], text.size() - at));
      at += head[1];
    }
  }
  this->FromOthers.clear();
  if (this->Filled != this->Count()) {
    throw Error(
        fmt::format("Rank {} got {} of {} bytes to write.", this->Ranks.Rank(), this->Filled, this->Count()));
  }
  return {this->Bytes.get(), this->Count()};
}

void LineExchange::Put(std::uint64_t at, const void* bytes, std::uint64_t count)
{
  if (at < this->Begin() || at + count > this->Begin() + this->Count()) {
    throw Error(fmt::format("Rank {} got bytes that another rank writes.", this->Ranks.Rank()));
  }
  std::memcpy(this->Bytes.get() + (at - this->Begin()), bytes, count);
  this->Filled += count;
}

}  // namespace patchio::output
