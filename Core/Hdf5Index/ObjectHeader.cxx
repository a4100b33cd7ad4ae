#include "Hdf5Index/ObjectHeader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace patchio::hdf5index {
namespace {

/// A sound header may be larger, with many attributes; the library reads it then.
constexpr std::size_t LargestBlock = 64 * 1024;
constexpr std::size_t SignatureBytes = 4;

}  // namespace

void ObjectHeader::Open(std::uint64_t address)
{
  this->Known = this->Done = 0;
  if (this->Opened == address) {
    this->Position = this->FirstPosition;
    this->MessagesLeft = this->AllMessages;
    return;
  }
  this->Opened = NoAddress;  // in case of an exception
  // As much as there can be before the messages; what is not in the file is 0, and found missing later.
  Prefix prefix{};
  const std::uint64_t end = this->Source.EndAddress();
  this->Source.Read(
      address, prefix.data(), std::min<std::uint64_t>(prefix.size(), end - std::min(address, end)));
  this->IsVersion2 = Begins(prefix.data(), "OHDR");
  this->IsVersion2 ? this->OpenVersion2(address, prefix) : this->OpenVersion1(address, prefix);
  this->FirstPosition = this->Position;
  this->AllMessages = this->MessagesLeft;
  this->Opened = address;
}

void ObjectHeader::OpenVersion1(std::uint64_t address, const Prefix& prefix)
{
  constexpr std::size_t prefixBytes = 16;
  const unsigned version = Load<std::uint8_t>(prefix.data());
  if (version != 1) {
    throw Unfamiliar(fmt::format("an object header of version {}", version));
  }
  this->MessagesLeft = Load<std::uint16_t>(&prefix[2]);
  this->HeadBytes = 8;
  this->TurnTo(address + prefixBytes, Load<std::uint32_t>(&prefix[8]));
}

/// Section IV.A.1.b of the specification: signature, version, flags, times and limits that may be left out,
/// and the number of bytes of messages in this block.
void ObjectHeader::OpenVersion2(std::uint64_t address, const Prefix& prefix)
{
  constexpr unsigned hasOrders = 4, hasLimits = 0x10, hasTimes = 0x20, known = 0x3f;
  const unsigned version = Load<std::uint8_t>(&prefix[4]), flags = Load<std::uint8_t>(&prefix[5]);
  if (version != 2 || (flags & ~known) != 0) {
    throw Unfamiliar(fmt::format("an object header of version {} with flags {}", version, flags));
  }
  std::size_t prefixBytes = 6;
  prefixBytes += (flags & hasTimes) != 0 ? 16 : 0;
  prefixBytes += (flags & hasLimits) != 0 ? 4 : 0;
  const std::size_t sizeBytes = std::size_t(1) << (flags & 3);
  const std::uint64_t messageBytes = LoadBytes(&prefix[prefixBytes], sizeBytes);
  prefixBytes += sizeBytes;
  if (messageBytes > LargestBlock) {
    throw Unfamiliar("a large object header");
  }
  this->MessagesLeft = std::numeric_limits<unsigned>::max();  // as many as fit
  this->HeadBytes = (flags & hasOrders) != 0 ? 6 : 4;
  this->TurnTo(address, prefixBytes + messageBytes + ChecksumBytes);
  this->Position = prefixBytes;
}

void ObjectHeader::TurnTo(std::uint64_t address, std::uint64_t bytes)
{
  if (bytes > 2 * LargestBlock) {
    throw Unfamiliar("a large object header");
  }
  if (this->Block.size() < bytes) {
    this->Block.resize(bytes);
  }
  this->BlockAddress = address;
  this->BlockBytes = bytes;
  this->Position = 0;
  if (this->IsVersion2) {
    this->Source.ReadChecked(address, this->Block.data(), bytes);
    this->BlockBytes -= ChecksumBytes;
  } else {
    this->Source.Read(address, this->Block.data(), bytes);
  }
}

/// False after the last block.
bool ObjectHeader::TurnToNextBlock()
{
  if (this->Done == this->Known) {
    return false;
  }
  const Place& next = this->Continuations[this->Done++];
  this->Opened = NoAddress;
  this->TurnTo(next.Address, next.Bytes);
  if (this->IsVersion2) {
    if (this->BlockBytes < SignatureBytes || !Begins(this->Block.data(), "OCHK")) {
      throw Unfamiliar("a damaged object header");
    }
    this->Position = SignatureBytes;
  }
  return true;
}

/// Type, bytes and flags of the message at hand.
void ObjectHeader::TakeHead(Message& message)
{
  constexpr unsigned shared = 2;
  const std::byte* const head = this->Block.data() + this->Position;
  const unsigned type = this->IsVersion2 ? Load<std::uint8_t>(head) : Load<std::uint16_t>(head);
  message.Type = static_cast<MessageType>(type);
  message.Bytes = Load<std::uint16_t>(head + (this->IsVersion2 ? 1 : 2));
  message.Shared = (Load<std::uint8_t>(head + (this->IsVersion2 ? 3 : 4)) & shared) != 0;
  this->Position += this->HeadBytes;
  message.Data = head + this->HeadBytes;
  message.Address = this->BlockAddress + this->Position;
  if (message.Bytes > this->BlockBytes - this->Position) {
    throw Unfamiliar("a message outside its object header");
  }
  this->Position += message.Bytes;
  if (type > static_cast<unsigned>(MessageType::LastKnown)) {
    throw Unfamiliar(fmt::format("a message of type {}", type));
  }
}

bool ObjectHeader::Next(Message& message)
{
  while (this->MessagesLeft > 0) {
    while (this->BlockBytes - this->Position < this->HeadBytes) {
      if (!this->TurnToNextBlock()) {
        return false;
      }
    }
    --this->MessagesLeft;
    this->TakeHead(message);
    if (message.Type != MessageType::Continuation) {
      return true;
    }
    this->NoteContinuation(message);
  }
  return false;
}

void ObjectHeader::NoteContinuation(const Message& message)
{
  if (this->Known == MostBlocks) {
    throw Unfamiliar("an object header in many blocks");
  }
  this->Continuations[this->Known++] = {message.At<std::uint64_t>(0), message.At<std::uint64_t>(8)};
}

}  // namespace patchio::hdf5index
