#include "Write/Shuffle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace patchio::output {

void FragmentExchange::Clear()
{
  for (std::string& text : this->Outgoing) {
    text.clear();
  }
}

void FragmentExchange::Send(int rank, std::uint64_t position, const void* bytes, std::uint64_t count)
{
  const Header header{position, count};
  std::string& text = this->Outgoing[rank];
  text.append(reinterpret_cast<const char*>(header.data()), sizeof header);
  text.append(static_cast<const char*>(bytes), count);
}

void FragmentExchange::Exchange(const std::function<void()>& add)
{
  const std::string fault = CatchError(add);
  if (!fault.empty()) {
    this->Clear();
    for (int rank = 0; rank < this->Ranks.Size(); ++rank) {
      this->Send(rank, FaultPosition, fault.data(), fault.size());
    }
  }
  this->Ranks.Exchange(this->Outgoing, this->Incoming);
}

void Shuffle::Begin(std::vector<std::uint64_t> begins)
{
  this->Begins = std::move(begins);
  this->Filled = 0;
  std::swap(this->Current, this->Previous);
  if (this->Current.Size < this->Count()) {
    this->Current = {};
    this->Current = {
        std::unique_ptr<std::byte[]>(new std::byte[this->Count()]), this->Count()};  // not initialized
  }
  this->Clear();
}

void Shuffle::Add(std::uint64_t offset, const void* bytes, std::uint64_t count)
{
  const auto* next = static_cast<const char*>(bytes);
  while (count > 0) {
    // If the parts of several ranks begin at the same byte, only the last of these parts is not empty.
    const auto end = std::upper_bound(this->Begins.begin(), this->Begins.end() - 1, offset);
    const auto rank = static_cast<int>(end - this->Begins.begin()) - 1;
    const std::uint64_t length = std::min(count, this->Begins[rank + 1] - offset);
    if (rank == this->Ranks.Rank()) {
      this->Store(offset, next, length);
    } else {
      this->Send(rank, offset, next, length);
    }
    offset += length;
    next += length;
    count -= length;
  }
}

Shuffle::Part Shuffle::ReceivedPart()
{
  this->ForReceived([this](std::uint64_t offset, const std::byte* bytes, std::uint64_t count) {
    this->Store(offset, bytes, count);
  });
  if (this->Filled != this->Count()) {
    throw Error(fmt::format("Rank {} received {} of {} bytes to write. Please report this error.",
        this->Ranks.Rank(), this->Filled, this->Count()));
  }
  return {this->Current.Bytes.get(), this->Count()};
}

void Shuffle::Store(std::uint64_t offset, const void* bytes, std::uint64_t count)
{
  if (offset < this->First() || offset + count > this->First() + this->Count()) {
    throw Error(
        fmt::format("Rank {} received bytes of another rank. Please report this error.", this->Ranks.Rank()));
  }
  std::memcpy(this->Current.Bytes.get() + (offset - this->First()), bytes, count);
  this->Filled += count;
}

}  // namespace patchio::output
