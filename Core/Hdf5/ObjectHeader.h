// Iteration over the messages of an object header, across all blocks of the header.
#pragma once

#include "Hdf5/FileBytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::hdf5 {

/// The types of the header messages that PatchIO uses. The values are the numbers in files.
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
  std::uint64_t Address = 0;  ///< address of Data in the file
  bool Shared = false;        ///< Data is the location of the actual message, which is in another object

  /// Returns the number of type T at byte `offset` of Data. Throws Corrupt if the message ends too early.
  template <typename T>
  T At(std::size_t offset) const
  {
    this->RequireBytes(offset, sizeof(T));
    return Load<T>(this->Data + offset);
  }
  /// Throws Corrupt unless Data contains `bytes` bytes from byte `offset` on.
  void RequireBytes(std::size_t offset, std::size_t bytes) const
  {
    Require(offset <= this->Bytes && bytes <= this->Bytes - offset, "a message that ends early");
  }
};

/// Reads the messages of one object header at a time: call Open(), then Next() until Next() returns false.
/// Not thread-safe. Open() and Next() throw Corrupt for damaged files, Unsupported for unknown versions, and
/// Error if the storage fails.
class ObjectHeader
{
public:
  explicit ObjectHeader(FileBytes& bytes) : Source(bytes) {}
  /// Switches to the header at `address`, before the first message of the header. Reads the header unless it
  /// is open already. Throws Corrupt if there is no header at `address`.
  void Open(std::uint64_t address);
  /// Closes the open header. Call Reset() when FileBytes switches to another file.
  void Reset() { this->OpenAddress = NoAddress; }
  /// Sets `message` to the next message, following continuations. The message is valid until the next call.
  /// Returns false after the last message. Throws Unsupported for an unknown message that readers must
  /// understand.
  bool Next(Message& message);

private:
  using Prefix = std::array<std::byte, 34>;
  void OpenVersion1(std::uint64_t address, const Prefix& prefix);
  void OpenVersion2(std::uint64_t address, const Prefix& prefix);
  void SetBlock(std::uint64_t address, std::uint64_t bytes);
  bool OpenNextBlock();
  void ParseHead(Message& message);
  void AddContinuation(const Message& message);

  struct BlockLocation
  {
    std::uint64_t Address, Bytes;
  };

  FileBytes& Source;
  std::vector<std::byte> Block;  ///< bytes of the current block
  std::size_t BlockBytes = 0;    ///< size of the current block without the checksum
  std::uint64_t BlockAddress = 0;
  std::uint64_t OpenAddress = NoAddress;  ///< address of the header whose first block is in memory
  std::size_t FirstPosition = 0;          ///< offset of the first message in the first block
  unsigned MessageCount = 0;              ///< upper bound of the number of messages in all blocks
  std::size_t Position = 0;               ///< offset of the next message in the current block
  unsigned MessagesLeft = 0;              ///< upper bound of the number of messages that follow
  bool IsVersion2 = false;
  std::size_t HeadBytes = 0;  ///< size of a message's head
  std::vector<BlockLocation> Continuations;
  std::size_t ContinuationsRead = 0;  ///< number of continuations whose blocks were read
  std::uint64_t BytesLeft = 0;        ///< greatest total size of the blocks that follow
};

}  // namespace patchio::hdf5
