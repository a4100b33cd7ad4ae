// The messages of an object header, across all its blocks.
#pragma once

#include "Hdf5/FileBytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::hdf5 {

/// The types of messages that PatchIO uses.
enum class MessageType : std::uint16_t
{
  Dataspace = 0x01,
  LinkInfo = 0x02,
  Datatype = 0x03,
  OldFill = 0x04,
  Fill = 0x05,
  Link = 0x06,
  ExternalFiles = 0x07,
  Layout = 0x08,
  Filters = 0x0b,
  Attribute = 0x0c,
  Continuation = 0x10,
  SymbolTable = 0x11,
  TreeSizes = 0x13,
  Driver = 0x14,
  AttributeInfo = 0x15,
  LastKnown = 0x18
};

/// One message of an object header.
struct Message
{
  MessageType Type = MessageType::Dataspace;
  const std::byte* Data = nullptr;
  std::size_t Bytes = 0;
  std::uint64_t Address = 0;  ///< address of the data in the file
  bool Shared = false;        ///< the data give the location of the actual message, in another object

  /// Returns the number at `offset` of the data. Throws Corrupt if the message ends before.
  template <typename T>
  T At(std::size_t offset) const
  {
    this->Need(offset, sizeof(T));
    return Load<T>(this->Data + offset);
  }
  /// Throws Corrupt unless the data contain `bytes` bytes from `offset` on.
  void Need(std::size_t offset, std::size_t bytes) const
  {
    Require(offset <= this->Bytes && bytes <= this->Bytes - offset, "a message that ends early");
  }
};

/// Reads the messages of one object header after another. Not thread-safe.
class ObjectHeader
{
public:
  explicit ObjectHeader(FileBytes& bytes) : Source(bytes) {}
  /// Switches to the header at `address`, before its first message. A header that is open already is not read
  /// again. Throws Corrupt if there is no header.
  void Open(std::uint64_t address);
  /// Forgets the open header. Call it for each new file.
  void Forget() { this->Opened = NoAddress; }
  /// Sets `message` to the next message, following continuations. Returns false after the last one. The
  /// message is valid until the next call. Throws Corrupt, and Unsupported for an unknown message that
  /// readers must understand.
  bool Next(Message& message);

private:
  using Prefix = std::array<std::byte, 34>;
  void OpenVersion1(std::uint64_t address, const Prefix& prefix);
  void OpenVersion2(std::uint64_t address, const Prefix& prefix);
  void SetBlock(std::uint64_t address, std::uint64_t bytes);
  bool OpenNextBlock();
  void TakeHead(Message& message);
  void NoteContinuation(const Message& message);

  struct BlockLocation
  {
    std::uint64_t Address, Bytes;
  };

  FileBytes& Source;
  std::vector<std::byte> Block;  ///< current block
  std::size_t BlockBytes = 0;    ///< size without the checksum
  std::uint64_t BlockAddress = 0;
  std::uint64_t Opened = NoAddress;  ///< address of the header whose first block is in memory
  std::size_t FirstPosition = 0;
  unsigned AllMessages = 0;
  std::size_t Position = 0;   ///< offset in the block
  unsigned MessagesLeft = 0;  ///< upper bound for all blocks
  bool IsVersion2 = false;
  std::size_t HeadBytes = 0;  ///< size of a message's head
  std::vector<BlockLocation> Continuations;
  std::size_t Done = 0;         ///< number of continuations that were read
  std::uint64_t BytesLeft = 0;  ///< bytes that further blocks may have
};

}  // namespace patchio::hdf5
