// The messages of an object header, through all its blocks.
#pragma once

#include "Hdf5/FileBytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::hdf5 {

/// Types of messages that matter here.
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

struct Message
{
  MessageType Type = MessageType::Dataspace;
  const std::byte* Data = nullptr;
  std::size_t Bytes = 0;
  std::uint64_t Address = 0;  ///< of the data in the file
  bool Shared = false;        ///< the data say where another object has them

  /// The number at that place of the data. Throws Corrupt when the message ends before.
  template <typename T>
  T At(std::size_t place) const
  {
    this->Need(place, sizeof(T));
    return Load<T>(this->Data + place);
  }
  /// Throws Corrupt unless there are `bytes` bytes from `place`.
  void Need(std::size_t place, std::size_t bytes) const
  {
    Require(place <= this->Bytes && bytes <= this->Bytes - place, "a message that ends early");
  }
};

class ObjectHeader
{
public:
  explicit ObjectHeader(FileBytes& bytes) : Source(bytes) {}
  /// Turns to the header at `address`, before its first message; a header that is open is not read again.
  /// Throws Corrupt when there is none.
  void Open(std::uint64_t address);
  /// Must be called for each new file.
  void Forget() { this->Opened = NoAddress; }
  /// The next message, continuations followed; false after the last. Valid until the next call. Throws
  /// Corrupt, and Unsupported for an unknown message that must be understood.
  bool Next(Message& message);

private:
  using Prefix = std::array<std::byte, 34>;
  void OpenVersion1(std::uint64_t address, const Prefix& prefix);
  void OpenVersion2(std::uint64_t address, const Prefix& prefix);
  void TurnTo(std::uint64_t address, std::uint64_t bytes);
  bool TurnToNextBlock();
  void TakeHead(Message& message);
  void NoteContinuation(const Message& message);

  struct Place
  {
    std::uint64_t Address, Bytes;
  };

  FileBytes& Source;
  std::vector<std::byte> Block;  ///< the block at hand
  std::size_t BlockBytes = 0;    ///< without its checksum
  std::uint64_t BlockAddress = 0;
  std::uint64_t Opened = NoAddress;  ///< the header whose first block is at hand
  std::size_t FirstPosition = 0;
  unsigned AllMessages = 0;
  std::size_t Position = 0;   ///< in the block
  unsigned MessagesLeft = 0;  ///< in all blocks, at most
  bool IsVersion2 = false;
  std::size_t HeadBytes = 0;  ///< of a message, before its data
  std::vector<Place> Continuations;
  std::size_t Done = 0;         ///< continuations
  std::uint64_t BytesLeft = 0;  ///< that all blocks may still have
};

}  // namespace patchio::hdf5
