#include "Hdf5Index/Metadata.h"

#include "Hdf5Index/Lookup3.h"

#include <algorithm>

namespace patchio::hdf5index {

Metadata::Metadata()
    : Buffer(new std::byte[std::max(WholeFile, WindowBytes * WindowCount)]), Windows(WindowCount, NoWindow)
{
}

void Metadata::Attach(std::shared_ptr<Source::File> file, std::uint64_t bytes)
{
  this->File = std::move(file);
  this->Bytes = bytes;
  this->Base = 0;
  this->Whole = bytes <= WholeFile;
  std::fill(this->Windows.begin(), this->Windows.end(), NoWindow);
  if (this->Whole) {
    this->File->Read(0, this->Buffer.get(), bytes);
  }
}

void Metadata::Read(std::uint64_t address, std::byte* into, std::size_t bytes)
{
  const std::uint64_t end = this->EndAddress();
  if (address > end || bytes > end - address) {
    throw Unfamiliar("an address outside the file");
  }
  std::uint64_t offset = this->Base + address;
  if (this->Whole) {
    std::memcpy(into, this->Buffer.get() + offset, bytes);
    return;
  }
  while (bytes > 0) {
    const std::size_t inside = offset % WindowBytes;
    const std::size_t part = std::min(bytes, WindowBytes - inside);
    std::memcpy(into, this->Window(offset / WindowBytes) + inside, part);
    into += part;
    offset += part;
    bytes -= part;
  }
}

void Metadata::ReadChecked(std::uint64_t address, std::byte* into, std::size_t bytes)
{
  if (bytes < ChecksumBytes) {
    throw Unfamiliar("a structure without a checksum");
  }
  this->Read(address, into, bytes);
  const std::size_t checked = bytes - ChecksumBytes;
  if (this->Compares && Lookup3(into, checked) != Load<std::uint32_t>(into + checked)) {
    throw Unfamiliar("a structure with a wrong checksum");
  }
}

const std::byte* Metadata::Window(std::uint64_t number)
{
  const std::size_t place = number % WindowCount;
  std::byte* window = this->Buffer.get() + place * WindowBytes;
  if (this->Windows[place] != number) {
    const std::uint64_t begin = number * WindowBytes;
    this->Windows[place] = NoWindow;  // in case the storage fails
    this->File->Read(begin, window, std::min<std::uint64_t>(WindowBytes, this->Bytes - begin));
    this->Windows[place] = number;
  }
  return window;
}

}  // namespace patchio::hdf5index
