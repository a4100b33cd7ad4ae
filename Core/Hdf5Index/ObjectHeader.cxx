#include "Hdf5Index/ObjectHeader.h"

#include <fmt/format.h>

namespace patchio::hdf5index {
namespace {

constexpr std::size_t PrefixBytes = 16;
constexpr std::size_t MessageHeaderBytes = 8;
/// A sound header may be larger, with many attributes; the library reads it then.
constexpr std::size_t LargestBlock = 64 * 1024;
constexpr unsigned SharedFlag = 2;

}  // namespace

void ObjectHeader::Open(std::uint64_t address)
{
  std::byte prefix[PrefixBytes];
  this->Source.Read(address, prefix, PrefixBytes);
  const unsigned version = Load<std::uint8_t>(prefix);
  if (version != 1) {
    throw Unfamiliar(version == std::to_integer<unsigned>(std::byte{'O'})
                         ? std::string("object headers of the new style")
                         : fmt::format("an object header of version {}", version));
  }
  this->MessagesLeft = Load<std::uint16_t>(prefix + 2);
  this->Known = this->Done = 0;
  this->TurnTo(address + PrefixBytes, Load<std::uint32_t>(prefix + 8));
}

void ObjectHeader::TurnTo(std::uint64_t address, std::uint64_t bytes)
{
  if (bytes > LargestBlock) {
    throw Unfamiliar("a large object header");
  }
  if (this->Block.size() < bytes) {
    this->Block.resize(bytes);
  }
  this->Source.Read(address, this->Block.data(), bytes);
  this->BlockBytes = bytes;
  this->Position = 0;
}

bool ObjectHeader::Next(Message& message)
{
  while (this->MessagesLeft > 0) {
    while (this->BlockBytes - this->Position < MessageHeaderBytes) {
      if (this->Done == this->Known) {
        return false;
      }
      const Place& next = this->Continuations[this->Done++];
      this->TurnTo(next.Address, next.Bytes);
    }
    const std::byte* header = this->Block.data() + this->Position;
    const unsigned type = Load<std::uint16_t>(header);
    message.Type = static_cast<MessageType>(type);
    message.Bytes = Load<std::uint16_t>(header + 2);
    message.Data = header + MessageHeaderBytes;
    this->Position += MessageHeaderBytes;
    if (message.Bytes > this->BlockBytes - this->Position) {
      throw Unfamiliar("a message outside its object header");
    }
    this->Position += message.Bytes;
    --this->MessagesLeft;
    if (type > static_cast<unsigned>(MessageType::LastKnown)) {
      throw Unfamiliar(fmt::format("a message of type {}", type));
    }
    if (Load<std::uint8_t>(header + 4) & SharedFlag) {
      throw Unfamiliar("a shared message");
    }
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
