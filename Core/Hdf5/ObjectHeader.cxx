#include "Hdf5/ObjectHeader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace patchio::hdf5 {
namespace {

/// Greatest size of the messages in the first block of a version 2 header, in bytes. Other blocks may be
/// twice as large. Objects with many attributes have large blocks.
constexpr std::size_t LargestBlock = 16 << 20;
constexpr std::size_t MostBlocks = 4096;
constexpr std::size_t SignatureBytes = 4;

}  // namespace

void ObjectHeader::Open(std::uint64_t address)
{
  this->Continuations.clear();
  this->ContinuationsRead = 0;
  this->BytesLeft = this->Source.EndAddress();
  if (this->OpenAddress == address) {
    this->Position = this->FirstPosition;
    this->MessagesLeft = this->MessageCount;
    return;
  }
  this->OpenAddress = NoAddress;  // in case of an exception
  // Reads as many bytes as the largest prefix has. Bytes after the end of the file are 0 here; reading the
  // block later reports that these bytes are missing.
  Prefix prefix{};
  const std::uint64_t end = this->Source.EndAddress();
  this->Source.Read(
      address, prefix.data(), std::min<std::uint64_t>(prefix.size(), end - std::min(address, end)));
  this->IsVersion2 = Begins(prefix.data(), "OHDR");
  this->IsVersion2 ? this->OpenVersion2(address, prefix) : this->OpenVersion1(address, prefix);
  this->FirstPosition = this->Position;
  this->MessageCount = this->MessagesLeft;
  this->OpenAddress = address;
}

void ObjectHeader::OpenVersion1(std::uint64_t address, const Prefix& prefix)
{
  constexpr std::size_t prefixBytes = 16;
  const unsigned version = Load<std::uint8_t>(prefix.data());
  Require(version == 1, "no object header at the address of an object");
  this->MessagesLeft = Load<std::uint16_t>(&prefix[2]);
  this->HeadBytes = 8;
  this->SetBlock(address + prefixBytes, Load<std::uint32_t>(&prefix[8]));
}

/// Parses a prefix of version 2 (section IV.A.1.b of the specification): signature, version, flags, optional
/// times and limits, and the size of the messages in the first block. Then reads this block.
void ObjectHeader::OpenVersion2(std::uint64_t address, const Prefix& prefix)
{
  constexpr unsigned hasOrders = 4, hasLimits = 0x10, hasTimes = 0x20, known = 0x3f;
  const unsigned version = Load<std::uint8_t>(&prefix[4]), flags = Load<std::uint8_t>(&prefix[5]);
  if (version != 2 || (flags & ~known) != 0) {
    throw Unsupported(fmt::format("object header of version {} with flags {}", version, flags));
  }
  std::size_t prefixBytes = 6;
  prefixBytes += (flags & hasTimes) != 0 ? 16 : 0;
  prefixBytes += (flags & hasLimits) != 0 ? 4 : 0;
  const std::size_t sizeBytes = std::size_t(1) << (flags & 3);
  const std::uint64_t messageBytes = LoadBytes(&prefix[prefixBytes], sizeBytes);
  prefixBytes += sizeBytes;
  Require(messageBytes <= LargestBlock, "an object header that is too large");
  this->MessagesLeft = std::numeric_limits<unsigned>::max();  // only the size is stated
  this->HeadBytes = (flags & hasOrders) != 0 ? 6 : 4;
  this->SetBlock(address, prefixBytes + messageBytes + ChecksumBytes);
  this->Position = prefixBytes;
}

/// Reads the block of `bytes` bytes at `address`, and makes it the current block. Throws Corrupt if the block
/// is too large.
void ObjectHeader::SetBlock(std::uint64_t address, std::uint64_t bytes)
{
  // The limit BytesLeft stops cycles of continuation blocks.
  Require(bytes <= 2 * LargestBlock && bytes <= this->BytesLeft, "an object header that is too large");
  this->BytesLeft -= bytes;
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

/// Switches to the next continuation block. Returns false after the last block.
bool ObjectHeader::OpenNextBlock()
{
  if (this->ContinuationsRead == this->Continuations.size()) {
    return false;
  }
  const BlockLocation next = this->Continuations[this->ContinuationsRead++];
  this->OpenAddress = NoAddress;
  this->SetBlock(next.Address, next.Bytes);
  if (this->IsVersion2) {
    Require(
        this->BlockBytes >= SignatureBytes && Begins(this->Block.data(), "OCHK"), "a damaged object header");
    this->Position = SignatureBytes;
  }
  return true;
}

/// Parses the type, size and flags of the message at Position, and moves Position to the next message.
void ObjectHeader::ParseHead(Message& message)
{
  constexpr unsigned shared = 2, failIfUnknown = 0x80;
  const std::byte* const head = this->Block.data() + this->Position;
  const unsigned type = this->IsVersion2 ? Load<std::uint8_t>(head) : Load<std::uint16_t>(head);
  message.Type = static_cast<MessageType>(type);
  message.Bytes = Load<std::uint16_t>(head + (this->IsVersion2 ? 1 : 2));
  const unsigned flags = Load<std::uint8_t>(head + (this->IsVersion2 ? 3 : 4));
  message.Shared = (flags & shared) != 0;
  this->Position += this->HeadBytes;
  message.Data = head + this->HeadBytes;
  message.Address = this->BlockAddress + this->Position;
  Require(message.Bytes <= this->BlockBytes - this->Position, "a message outside its object header");
  this->Position += message.Bytes;
  if (type > static_cast<unsigned>(MessageType::LastKnown) && (flags & failIfUnknown) != 0) {
    throw Unsupported(fmt::format("header message of type {}", type));
  }
}

bool ObjectHeader::Next(Message& message)
{
  while (this->MessagesLeft > 0) {
    while (this->BlockBytes - this->Position < this->HeadBytes) {
      if (!this->OpenNextBlock()) {
        return false;
      }
    }
    --this->MessagesLeft;
    this->ParseHead(message);
    if (message.Type != MessageType::Continuation) {
      return true;
    }
    this->AddContinuation(message);
  }
  return false;
}

void ObjectHeader::AddContinuation(const Message& message)
{
  Require(this->Continuations.size() < MostBlocks, "an object header that is too large");
  this->Continuations.push_back({message.At<std::uint64_t>(0), message.At<std::uint64_t>(8)});
}

}  // namespace patchio::hdf5
