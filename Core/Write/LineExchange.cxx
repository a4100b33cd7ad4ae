#include "Write/LineExchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace patchio::output {

void PieceExchange::Clear()
{
  for (std::string& text : this->ToOthers) {
    text.clear();
  }
}

void PieceExchange::Send(int rank, std::uint64_t at, const void* bytes, std::uint64_t count)
{
  const Head head{at, count};
  std::string& text = this->ToOthers[rank];
  text.append(reinterpret_cast<const char*>(head.data()), sizeof head);
  text.append(static_cast<const char*>(bytes), count);
}

void PieceExchange::Fail(const std::string& fault)
{
  this->Clear();
  for (int rank = 0; rank < this->Ranks.Size(); ++rank) {
    this->Send(rank, Nowhere, fault.data(), fault.size());
  }
}

void Shuffle::Begin(std::vector<std::uint64_t> begins)
{
  this->Begins = std::move(begins);
  this->Filled = 0;
  std::swap(this->Now, this->Before);
  if (this->Now.Size < this->Count()) {
    this->Now = {};
    this->Now = {std::unique_ptr<std::byte[]>(new std::byte[this->Count()]), this->Count()};  // not set to 0
  }
  this->Clear();
}

void Shuffle::Add(std::uint64_t at, const void* bytes, std::uint64_t count)
{
  const auto* next = static_cast<const char*>(bytes);
  while (count > 0) {
    // If the ranges of several ranks begin at the same byte, only the last of these ranges is not empty.
    const auto end = std::upper_bound(this->Begins.begin(), this->Begins.end() - 1, at);
    const auto rank = static_cast<int>(end - this->Begins.begin()) - 1;
    const std::uint64_t part = std::min(count, this->Begins[rank + 1] - at);
    if (rank == this->Ranks.Rank()) {
      this->Put(at, next, part);
    } else {
      this->Send(rank, at, next, part);
    }
    at += part;
    next += part;
    count -= part;
  }
}

Shuffle::Range Shuffle::OwnRange()
{
  this->ForReceived(
      [this](std::uint64_t at, const std::byte* bytes, std::uint64_t count) { this->Put(at, bytes, count); });
  if (this->Filled != this->Count()) {
    throw Error(fmt::format("Rank {} received {} of {} bytes to write. Please report this error.",
        this->Ranks.Rank(), this->Filled, this->Count()));
  }
  return {this->Now.Bytes.get(), this->Count()};
}

void Shuffle::Put(std::uint64_t at, const void* bytes, std::uint64_t count)
{
  if (at < this->First() || at + count > this->First() + this->Count()) {
    throw Error(
        fmt::format("Rank {} received bytes of another rank. Please report this error.", this->Ranks.Rank()));
  }
  std::memcpy(this->Now.Bytes.get() + (at - this->First()), bytes, count);
  this->Filled += count;
}

}  // namespace patchio::output
