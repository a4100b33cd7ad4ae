#include "FakeSource.h"

#include "Base/Error.h"

#include <cstring>
#include <thread>

namespace patchio {

class FakeSource::MemoryFile : public Source::File
{
public:
  MemoryFile(FakeSource& owner, int number) : Owner(owner), Number(number) {}

  using File::Read;
  void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
  {
    std::size_t bytes = 0;
    for (const iovec& buffer : buffers) {
      bytes += buffer.iov_len;
    }
    this->Owner.Wait(bytes);
    const std::vector<std::byte>& content = this->Owner.Files[this->Number];
    const std::string name = "fake file " + std::to_string(this->Number);
    if (this->Owner.Behaviour.FailingFiles.count(this->Number) > 0) {
      throw FileError(name, "readable bytes", "an injected fault");
    }
    if (offset + bytes > content.size()) {
      throw FileError(name, "bytes at " + std::to_string(offset), "the end of the file");
    }
    for (const iovec& buffer : buffers) {
      std::memcpy(buffer.iov_base, content.data() + offset, buffer.iov_len);
      offset += buffer.iov_len;
    }
  }

private:
  FakeSource& Owner;
  int Number;
};

FakeSource::FakeSource(std::vector<std::vector<std::byte>> files, FakeBehaviour behaviour)
    : Files(std::move(files)), Behaviour(std::move(behaviour))
{
}

std::shared_ptr<Source::File> FakeSource::Open(int file)
{
  return std::make_shared<MemoryFile>(*this, file);
}

void FakeSource::Wait(std::size_t bytes)
{
  const int now = ++this->InFlight;
  int peak = this->Peak;
  while (now > peak && !this->Peak.compare_exchange_weak(peak, now)) {
  }
  std::chrono::duration<double> time = this->Behaviour.Latency;
  if (this->Behaviour.Rate) {
    // N requests share F(N), so each of them gets F(N) / N.
    time += std::chrono::duration<double>(bytes * now / this->Behaviour.Rate(now));
  }
  std::this_thread::sleep_for(time);
  --this->InFlight;
}

}  // namespace patchio
