#include "Hdf5/Structure.h"

#include "Base/Bytes.h"
#include "Base/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace patchio::hdf5 {
namespace {

/// The addresses in superblocks of all versions.
struct Superblock
{
  std::uint64_t Base = 0;  ///< base address as stated
  std::uint64_t End = 0;   ///< offset of the end of the file if the superblock is at Base
};

/// Throws Truncated if the file is shorter than the superblock `block` states, and Corrupt for impossible
/// addresses. `offset`: offset of the superblock in the file.
void CheckEnd(const FileBytes& bytes, const Superblock& block, std::uint64_t offset)
{
  const std::uint64_t fileBytes = bytes.EndAddress();
  // A user block that was inserted later moves the entire file, but not the stated base address.
  Require(block.Base <= offset && block.End <= NoAddress - offset, "a superblock outside the file");
  const std::uint64_t stated = block.End + (offset - block.Base);
  if (stated > fileBytes) {
    throw Truncated(fmt::format("truncated: {} of {} bytes", fileBytes, stated));
  }
}

/// Throws Unsupported unless addresses and lengths have 8 bytes, and Corrupt for impossible sizes.
void RequireEightBytes(unsigned addressBytes, unsigned lengthBytes)
{
  for (const unsigned bytes : {addressBytes, lengthBytes}) {
    Require(bytes >= 2 && bytes <= 32 && IsPowerOfTwo(bytes), "addresses or lengths of an impossible size");
  }
  if (addressBytes != 8 || lengthBytes != 8) {
    throw Unsupported(
        fmt::format("addresses of {} bytes and lengths of {} bytes", addressBytes, lengthBytes));
  }
}

[[noreturn]] void FailSplitFile()
{
  throw Unsupported("file split into several files");
}

}  // namespace

Structure::Structure()
    : Groups(Bytes), Header(Bytes), SharedHeader(Bytes), Heaps(Bytes), Trees(Bytes), Lists(Bytes)
{
}

void Structure::Open(ReadAt read, std::uint64_t bytes)
{
  this->Bytes.Attach(std::move(read), bytes);
  this->Header.Reset();
  this->SharedHeader.Reset();
  this->Heaps.Reset();
  this->Sizes = NodeSizes();
  this->FindSuperblock();
  this->Groups.SetNodeSizes(this->Sizes);
}

void Structure::FindSuperblock()
{
  constexpr std::size_t least = 48;
  const std::uint64_t fileBytes = this->Bytes.EndAddress();
  for (std::uint64_t base = 0; base + Signature.size() < fileBytes; base = NextSuperblockOffset(base)) {
    std::byte head[9];
    this->Bytes.Read(base, head, sizeof(head));
    if (std::memcmp(head, Signature.data(), Signature.size()) == 0) {
      if (fileBytes - base < least) {
        throw Truncated(fmt::format("truncated: {} bytes, less than the header of an HDF5 file", fileBytes));
      }
      const unsigned version = Load<std::uint8_t>(head + 8);
      if (version > 3) {
        throw Unsupported(fmt::format("superblock of version {}", version));
      }
      return version <= 1 ? this->ReadSuperblock1(base) : this->ReadSuperblock2(base);
    }
  }
  throw NoSuperblock("no superblock");
}

/// Reads a superblock of version 0 or 1 at the offset `base` of the file.
void Structure::ReadSuperblock1(std::uint64_t base)
{
  constexpr std::size_t fixed = 24;  // bytes before the addresses, without the bytes that version 1 adds
  std::byte head[fixed];
  this->Bytes.Read(base, head, fixed);
  RequireEightBytes(Load<std::uint8_t>(head + 13), Load<std::uint8_t>(head + 14));
  this->Sizes.Symbols = Load<std::uint16_t>(head + 16);
  this->Sizes.Group = Load<std::uint16_t>(head + 18);
  std::uint64_t offset = base + fixed;
  if (Load<std::uint8_t>(head + 8) == 1) {
    std::byte more[4];
    this->Bytes.Read(offset, more, sizeof(more));
    this->Sizes.Chunks = Load<std::uint16_t>(more);
    offset += sizeof(more);
  }
  std::byte addresses[24];  // base, free space, end
  this->Bytes.Read(offset, addresses, sizeof(addresses));
  CheckEnd(this->Bytes, {Load<std::uint64_t>(addresses), Load<std::uint64_t>(addresses + 16)}, base);
  std::byte more[24];  // driver; then the root's symbol: name, header
  this->Bytes.Read(offset + sizeof(addresses), more, sizeof(more));
  if (Load<std::uint64_t>(more) != NoAddress) {
    FailSplitFile();
  }
  this->RootHeader = Load<std::uint64_t>(more + 16);
  this->Bytes.SetBase(base);
}

/// Reads a superblock of version 2 or 3 (section II.A of the specification) at the offset `base` of the file.
void Structure::ReadSuperblock2(std::uint64_t base)
{
  std::byte head[48];
  this->Bytes.ReadChecked(base, head, sizeof(head));
  RequireEightBytes(Load<std::uint8_t>(head + 9), Load<std::uint8_t>(head + 10));
  CheckEnd(this->Bytes, {Load<std::uint64_t>(head + 12), Load<std::uint64_t>(head + 28)}, base);
  Require(
      Load<std::uint8_t>(head + 11) == 0, "file consistency flags of a file that is still open for writing");
  this->RootHeader = Load<std::uint64_t>(head + 36);
  this->Bytes.SetBase(base);
  const auto extension = Load<std::uint64_t>(head + 20);
  if (extension != NoAddress) {
    this->ReadExtension(extension);
  }
}

/// Reads the sizes of the nodes of version 1 trees from the superblock extension, an object header at the
/// address `header`. Throws Unsupported for a file that is split into several files.
void Structure::ReadExtension(std::uint64_t header)
{
  this->Header.Open(header);
  Message message;
  while (this->Header.Next(message)) {
    if (message.Type == MessageType::Driver) {
      FailSplitFile();
    }
    if (message.Type == MessageType::TreeSizes) {
      this->Sizes.Chunks = message.At<std::uint16_t>(1);
      this->Sizes.Group = message.At<std::uint16_t>(3);
      this->Sizes.Symbols = message.At<std::uint16_t>(5);
    }
  }
}

Group Structure::OpenGroup(std::uint64_t header)
{
  std::optional<Group> group = this->TryGroup(header);
  Require(group.has_value(), "an object that is not a group");
  return *std::move(group);
}

std::optional<std::uint64_t> Structure::Find(const Group& group, const std::string& name, int& links)
{
  const std::optional<Link> link = this->Groups.Find(group, name);
  if (!link || link->Type == Link::LinkType::Hard) {
    return link ? std::optional(link->Address) : std::nullopt;
  }
  if (link->Type == Link::LinkType::External) {
    throw Unsupported("external link");
  }
  Require(--links >= 0, "links that lead to links");
  const bool fromRoot = !link->Target.empty() && link->Target[0] == '/';
  return this->FindPath(fromRoot ? this->OpenGroup(this->RootHeader) : group, link->Target, links);
}

std::optional<std::uint64_t> Structure::FindPath(const Group& group, const std::string& path, int& links)
{
  Group current = group;
  std::optional<std::uint64_t> found = group.Header;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") {
      continue;
    }
    if (*found != current.Header) {
      std::optional<Group> next = this->TryGroup(*found);
      if (!next) {
        return std::nullopt;  // a data set, which contains no links
      }
      current = *std::move(next);
    }
    found = this->Find(current, name, links);
    if (!found) {
      return std::nullopt;
    }
  }
  return found;
}

/// Parses a shared datatype message: version, type, and address of the object with the actual message.
/// Returns the actual message.
Message Structure::SharedTypeMessage(Cursor& message)
{
  constexpr unsigned inHeader = 2;
  const unsigned version = message.Read<std::uint8_t>(), sharedType = message.Read<std::uint8_t>();
  if (version < 1 || version > 3 || (version == 3 && sharedType != inHeader)) {
    throw Unsupported("shared message");
  }
  message.Skip(version == 1 ? 6 : 0);
  this->SharedHeader.Open(message.Read<std::uint64_t>());
  Message type;
  while (this->SharedHeader.Next(type)) {
    if (type.Type == MessageType::Datatype && !type.Shared) {
      return type;
    }
  }
  throw Corrupt("a shared datatype in an object without a datatype");
}

Datatype Structure::SharedType(Cursor& message)
{
  const Message type = this->SharedTypeMessage(message);
  Cursor cursor(type.Data, type.Bytes);
  return ParseDatatype(cursor);
}

Dataset Structure::Describe(std::uint64_t header)
{
  this->Header.Open(header);
  DatasetMessages messages;
  Message message;
  while (!messages.IsComplete() && this->Header.Next(message)) {
    if (message.Type == MessageType::Datatype && message.Shared) {
      Cursor cursor(message.Data, message.Bytes);
      messages.Add(this->SharedTypeMessage(cursor));
    } else {
      messages.Add(message);
    }
  }
  Dataset dataset = messages.Finish();
  const std::uint64_t end = this->Bytes.EndAddress();
  if (dataset.Layout == StorageLayout::Contiguous) {
    Require(dataset.Offset <= end && dataset.Values <= (end - dataset.Offset) / dataset.ElementBytes,
        "values outside the file");
    dataset.Offset += this->Bytes.BaseAddress();
  }
  return dataset;
}

Datatype Structure::DatatypeOf(std::uint64_t header)
{
  this->Header.Open(header);
  Message message;
  while (this->Header.Next(message)) {
    if (message.Type == MessageType::Datatype) {
      Cursor cursor(message.Data, message.Bytes);
      return message.Shared ? this->SharedType(cursor) : ParseDatatype(cursor);
    }
  }
  throw Corrupt("an object that is not a data set");
}

void Structure::ListChunks(const Dataset& dataset, Chunk* chunks)
{
  this->Lists.List(dataset, this->Sizes.Chunks, chunks);
}

std::optional<Attribute> Structure::FindAttribute(std::uint64_t object, const std::string& name)
{
  this->Header.Open(object);
  Message message;
  while (this->Header.Next(message)) {
    if (message.Type == MessageType::AttributeInfo) {
      if (auto found = this->FindDenseAttribute(message, name)) {
        return found;
      }
    } else if (message.Type == MessageType::Attribute) {
      if (message.Shared) {
        throw Unsupported("shared message");
      }
      if (auto found = this->ParseAttribute(message.Data, message.Bytes, name)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

/// Parses an attribute message of `count` bytes (section IV.A.2.m of the specification): version, flags,
/// sizes of name, type and shape, and then name, type, shape and values. In version 1, name, type and shape
/// are padded to multiples of 8 bytes. Returns nothing if the name of the attribute is not `name`.
std::optional<Attribute> Structure::ParseAttribute(
    const std::byte* bytes, std::size_t count, const std::string& name)
{
  constexpr unsigned sharedType = 1, sharedSpace = 2;
  Cursor cursor(bytes, count);
  const unsigned version = cursor.Read<std::uint8_t>(), flags = cursor.Read<std::uint8_t>();
  if (version < 1 || version > 3) {
    throw Unsupported(fmt::format("attribute of version {}", version));
  }
  const std::size_t unit = version == 1 ? 8 : 1;
  const std::uint64_t nameBytes = cursor.Read<std::uint16_t>(), typeBytes = cursor.Read<std::uint16_t>();
  const std::uint64_t spaceBytes = cursor.Read<std::uint16_t>();
  cursor.Skip(version == 3 ? 1 : 0);
  const auto section = [&](std::uint64_t length) { return cursor.Section(RoundUp(length, unit)); };
  Cursor nameText = section(nameBytes), type = section(typeBytes), space = section(spaceBytes);
  if (nameText.ReadText(1) != name) {
    return std::nullopt;
  }
  if (version > 1 && (flags & sharedSpace) != 0) {
    throw Unsupported("shared message");
  }
  Attribute attribute;
  attribute.Type = version > 1 && (flags & sharedType) != 0 ? this->SharedType(type) : ParseDatatype(type);
  attribute.Values = ParseDataspace(space).Values;
  const std::uint64_t valueBytes = CheckedProduct(attribute.Values, attribute.Type.Bytes);
  const std::byte* const values = cursor.Skip(valueBytes);
  attribute.Bytes.assign(values, values + valueBytes);
  return attribute;
}

/// Finds an attribute that is stored in a fractal heap. Parses the attribute info message `info`: version,
/// flags, highest creation order if attributes have creation orders, addresses of the heap and of the tree of
/// hashes. A record of the tree has the ID of the attribute in the heap, flags, creation order and hash.
/// Returns nothing if there is no such attribute.
std::optional<Attribute> Structure::FindDenseAttribute(const Message& info, const std::string& name)
{
  constexpr unsigned hasOrders = 1, shared = 2, byName = 8;  // flags; type of the tree
  const std::size_t offset = (info.At<std::uint8_t>(1) & hasOrders) != 0 ? 4 : 2;
  const auto heapAddress = info.At<std::uint64_t>(offset), treeAddress = info.At<std::uint64_t>(offset + 8);
  if (heapAddress == NoAddress) {
    return std::nullopt;
  }
  const FractalHeap heap = this->Heaps.Open(heapAddress);
  const Tree2 tree = this->Trees.Open(treeAddress, byName);
  Require(tree.RecordBytes == heap.IdBytes + 9, "attributes whose tree and heap do not match");
  std::optional<Attribute> found;
  this->Trees.WalkNamed(tree, name, heap.IdBytes + 5, [&](const std::byte* record) {
    if ((Load<std::uint8_t>(record + heap.IdBytes) & shared) != 0) {
      throw Unsupported("shared message");
    }
    const std::vector<std::byte> bytes = this->Heaps.Read(heap, record);
    found = this->ParseAttribute(bytes.data(), bytes.size(), name);
    return found.has_value();
  });
  return found;
}

/// Returns at most the first `most` bytes of object `number` of the global heap at the address `heap`
/// (section III.E of the specification).
std::vector<std::byte> Structure::ReadGlobalObject(std::uint64_t heap, std::uint32_t number, std::size_t most)
{
  constexpr std::uint64_t headBytes = 16;
  std::byte head[headBytes];
  this->Bytes.Read(heap, head, sizeof(head));
  Require(Begins(head, "GCOL") && head[4] == std::byte{1}, "a damaged global heap");
  const auto heapBytes = Load<std::uint64_t>(head + 8);
  for (std::uint64_t offset = headBytes; heapBytes >= headBytes && offset <= heapBytes - headBytes;) {
    this->Bytes.Read(heap + offset, head, sizeof(head));
    const unsigned found = Load<std::uint16_t>(head);
    const auto bytes = Load<std::uint64_t>(head + 8);
    Require(bytes <= heapBytes - offset && bytes <= this->Bytes.EndAddress(), "a damaged global heap");
    if (found == 0) {
      break;  // the rest is free
    }
    if (found == number) {
      std::vector<std::byte> object(std::min<std::uint64_t>(bytes, most));
      this->Bytes.Read(heap + offset + headBytes, object.data(), object.size());
      return object;
    }
    offset += headBytes + RoundUp(bytes, 8);
  }
  throw Corrupt("an object that is not in its global heap");
}

// An element has the length of the text, the address of a global heap, and the number of an object in this
// heap.
std::string Structure::TextOf(const std::byte* element, std::size_t most)
{
  const std::uint64_t length = Load<std::uint32_t>(element), address = Load<std::uint64_t>(element + 4);
  if (length == 0 || address == 0 || address == NoAddress) {
    return {};
  }
  most = std::min<std::uint64_t>(length, most);
  const std::vector<std::byte> text =
      this->ReadGlobalObject(address, Load<std::uint32_t>(element + 12), most);
  Require(text.size() == most, "a text with a wrong length");
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::vector<VirtualMapping> Structure::Mappings(const Dataset& dataset)
{
  constexpr std::size_t most = 64 << 20;
  if (dataset.MappingHeap == NoAddress) {
    return {};
  }
  const std::vector<std::byte> object =
      this->ReadGlobalObject(dataset.MappingHeap, dataset.MappingNumber, most + 1);
  if (object.size() > most) {
    throw Unsupported("virtual data set of too many parts");
  }
  return ParseMappings(object);
}

void Structure::ReadStored(std::uint64_t offset, std::byte* into, std::size_t bytes)
{
  const std::uint64_t base = this->Bytes.BaseAddress();
  Require(offset >= base, "an address outside the file");
  this->Bytes.Read(offset - base, into, bytes);
}

void OpenStructure(Structure& structure, const std::string& path, ReadAt read, std::uint64_t bytes)
{
  constexpr const char* expected = "a complete HDF5 file";
  constexpr const char* advice = "The file is damaged, truncated or still being written";
  try {
    structure.Open(std::move(read), bytes);
  } catch (const NoSuperblock&) {
    throw FileError(path, expected, "a file that is not HDF5", advice);
  } catch (const Truncated& truncated) {
    throw FileError(path, expected, std::string("the file ") + truncated.what(),
        "Copy it again, or wait until it is written");
  } catch (const Corrupt& corrupt) {
    throw FileError(path, expected, std::string("an HDF5 file that has ") + corrupt.what(), advice);
  } catch (const Unsupported& unsupported) {
    throw UnsupportedError(path, unsupported.what(), "/");
  }
}

void CheckComplete(const std::string& path)
{
  const PlainFile file(path);
  Structure structure;
  const auto read = [&](std::uint64_t offset, void* into, std::size_t bytes) {
    file.Read(offset, into, bytes);
  };
  try {
    structure.Open(read, file.Size());
  } catch (const Truncated&) {
    OpenStructure(structure, path, read, file.Size());
  } catch (const Corrupt&) {
    // The code that reads the file will report this error.
  } catch (const Unsupported&) {
  }
}

}  // namespace patchio::hdf5
