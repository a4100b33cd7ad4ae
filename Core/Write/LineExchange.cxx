#include "Write/LineExchange.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace patchio::output {
namespace {

/// The header of each piece: its place in the line and its length.
using Head = std::array<std::uint64_t, 2>;

/// The place in the header of a fault's text.
constexpr std::uint64_t Nowhere = ~std::uint64_t(0);

void Append(std::string& to, std::uint64_t at, const char* bytes, std::uint64_t count)
{
  const Head head{at, count};
  to.append(reinterpret_cast<const char*>(head.data()), sizeof head);
  to.append(bytes, count);
}

}  // namespace

void LineExchange::Begin(std::vector<std::uint64_t> begins)
{
  this->Begins = std::move(begins);
  this->Filled = 0;
  std::swap(this->Now, this->Before);
  if (this->Now.Size < this->Count()) {
    this->Now = {};
    this->Now = {std::unique_ptr<std::byte[]>(new std::byte[this->Count()]), this->Count()};  // not set to 0
  }
  this->ToOthers.resize(this->Ranks.Size());
  for (std::string& text : this->ToOthers) {
    text.clear();
  }
}

void LineExchange::Add(std::uint64_t at, const void* bytes, std::uint64_t count)
{
  const auto* next = static_cast<const char*>(bytes);
  while (count > 0) {
    // The last rank whose range begins there: earlier ones have empty ranges.
    const auto end = std::upper_bound(this->Begins.begin(), this->Begins.end() - 1, at);
    const auto rank = static_cast<int>(end - this->Begins.begin()) - 1;
    const std::uint64_t part = std::min(count, this->Begins[rank + 1] - at);
    if (rank == this->Ranks.Rank()) {
      this->Put(at, next, part);
    } else {
      Append(this->ToOthers[rank], at, next, part);
    }
    at += part;
    next += part;
    count -= part;
  }
}

void LineExchange::Fail(const std::string& fault)
{
  for (std::string& text : this->ToOthers) {
    text.clear();
    Append(text, Nowhere, fault.data(), fault.size());
  }
}

void LineExchange::Exchange()
{
  this->Ranks.Exchange(this->ToOthers, this->FromOthers);
}

LineExchange::Range LineExchange::Mine()
{
  for (const std::string& text : this->FromOthers) {
    for (std::size_t at = 0; at + sizeof(Head) <= text.size();) {
      Head head;
      std::memcpy(head.data(), text.data() + at, sizeof head);
      at += sizeof head;
      if (head[0] == Nowhere) {
        throw Error(text.substr(at));
      }
      this->Put(head[0], text.data() + at, std::min<std::uint64_t>(head[1], text.size() - at));
      at += head[1];
    }
  }
  if (this->Filled != this->Count()) {
    throw Error(fmt::format("Rank {} received {} of {} bytes to write. Please report this error.",
        this->Ranks.Rank(), this->Filled, this->Count()));
  }
  return {this->Now.Bytes.get(), this->Count()};
}

void LineExchange::Put(std::uint64_t at, const void* bytes, std::uint64_t count)
{
  if (at < this->First() || at + count > this->First() + this->Count()) {
    throw Error(
        fmt::format("Rank {} received bytes of another rank. Please report this error.", this->Ranks.Rank()));
  }
  std::memcpy(this->Now.Bytes.get() + (at - this->First()), bytes, count);
  this->Filled += count;
}

}  // namespace patchio::output
