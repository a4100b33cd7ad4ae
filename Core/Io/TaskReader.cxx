#include "Io/TaskReader.h"

#include <tbb/enumerable_thread_specific.h>

namespace patchio {

void TaskReader::Read(int file, std::uint64_t offset, const std::vector<iovec>& buffers)
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

std::byte* TaskReader::Scratch(std::size_t bytes)
{
  if (this->MemoryBytes < bytes) {
    // Nothing of the old contents is wanted, and the new is not looked at before it is written.
    this->MemoryBytes = 0;
    this->Memory.reset();
    this->Memory.reset(new std::byte[bytes]);
    this->MemoryBytes = bytes;
  }
  return this->Memory.get();
}

std::vector<iovec>& TaskReader::Buffers()
{
  this->Addresses.clear();
  return this->Addresses;
}

struct TaskReaders::PerThread
{
  tbb::enumerable_thread_specific<TaskReader> Readers;
};

TaskReaders::TaskReaders(Source& source, ReadMeter& meter)
    : All(new PerThread{tbb::enumerable_thread_specific<TaskReader>(
          [&source, &meter] { return TaskReader(source, meter); })})
{
}

TaskReaders::~TaskReaders() = default;

TaskReader& TaskReaders::OfThisThread()
{
  return this->All->Readers.local();
}

}  // namespace patchio
