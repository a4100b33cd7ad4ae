#include "Exec/Lane.h"

namespace patchio {

void Lane::Read(int file, std::uint64_t offset, const std::vector<iovec>& buffers)
{
  if (this->CurrentNumber != file) {
    this->CurrentNumber = -1;
    this->Current = this->Storage.Open(file);
    this->CurrentNumber = file;
  }
  std::uint64_t bytes = 0;
  for (const iovec& buffer : buffers) {
    bytes += buffer.iov_len;
  }
  const ReadMeter::Request request(this->Meter, bytes);
  this->Current->Read(offset, buffers);
}

std::byte* Lane::Scratch(std::size_t bytes)
{
  if (this->Memory.size() < bytes) {
    // Nothing of the old contents is wanted, so nothing needs to be copied.
    this->Memory.clear();
    this->Memory.resize(bytes);
  }
  return this->Memory.data();
}

std::vector<iovec>& Lane::Buffers()
{
  this->Addresses.clear();
  return this->Addresses;
}

}  // namespace patchio
