#include "Hdf5Index/Metadata.h"

#include <algorithm>
#include <cstring>

namespace patchio::hdf5index {

Metadata::Metadata()
    : Buffer(new std::byte[std::max(WholeFile, WindowBytes * WindowCount)]), Windows(WindowCount, NoWindow)
{
}

void Metadata::Attach(std::shared_ptr<Source::File> file, std::uint64_t bytes)
{
  this->File = std::move(file);
  this->Bytes = bytes;
  this->Whole = bytes <= WholeFile;
  std::fill(this->Windows.begin(), this->Windows.end(), NoWindow);
  if (this->Whole) {
    this->File->Read(0, this->Buffer.get(), bytes);
  }
}

void Metadata::Read(std::uint64_t offset, std::byte* into, std::size_t bytes)
{
  if (offset > this->Bytes || bytes > this->Bytes - offset) {
    throw Unfamiliar("an address outside the file");
  }
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
