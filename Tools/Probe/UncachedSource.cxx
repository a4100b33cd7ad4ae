#include "Probe/UncachedSource.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Probe/RawFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace patchio::probe {
namespace {

constexpr std::uint64_t MiB = 1 << 20;

/// An open file.
class UncachedFile : public Source::File
{
public:
  UncachedFile(const std::string& path, CacheBypass bypass)
      : Path(path),
        Bypass(bypass),
        Opened(path, O_RDONLY | (bypass == CacheBypass::Direct ? O_DIRECT : 0), "a readable file")
  {
  }

  using File::Read;
  void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
  {
    for (const iovec& buffer : buffers) {
      this->ReadOne(offset, static_cast<char*>(buffer.iov_base), buffer.iov_len);
      if (this->Bypass == CacheBypass::Drop) {
        ::posix_fadvise(this->Opened, static_cast<off_t>(offset), static_cast<off_t>(buffer.iov_len),
            POSIX_FADV_DONTNEED);
      }
      offset += buffer.iov_len;
    }
  }

private:
  void ReadOne(std::uint64_t offset, char* into, std::size_t bytes) const
  {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = ::pread(this->Opened, into + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno != EINTR) {
        throw SystemError(this->Path, fmt::format("{} bytes at {}", bytes, offset), errno);
      }
      if (got == 0) {
        throw FileError(this->Path, fmt::format("{} bytes at {}", bytes, offset), "the end of the file");
      }
      done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
  }

  std::string Path;
  CacheBypass Bypass;
  RawFile Opened;
};

class UncachedSource : public Source
{
public:
  UncachedSource(const ProbeFiles& files, CacheBypass bypass)
  {
    for (const std::string& path : files.Paths) {
      this->Opened.push_back(std::make_shared<UncachedFile>(path, bypass));
    }
  }
  std::shared_ptr<File> Open(int file) override { return this->Opened[file]; }

private:
  std::vector<std::shared_ptr<File>> Opened;
};

}  // namespace

CacheBypass BypassFor(const ProbeFiles& files)
{
  const AlignedMemory memory = MakeAlignedMemory(PageBytes);
  for (std::size_t i = 0; i < files.Paths.size(); ++i) {
    const RawFile file(files.Paths[i], O_RDONLY | O_DIRECT);
    if (!file.IsOpen() || ::pread(file, memory.get(), PageBytes, 0) != static_cast<ssize_t>(PageBytes)) {
      return CacheBypass::Drop;
    }
  }
  return CacheBypass::Direct;
}

void DropCaches(const ProbeFiles& files)
{
  for (const std::string& path : files.Paths) {
    const RawFile file(path, O_RDONLY);
    if (file.IsOpen()) {
      ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    }
  }
}

std::unique_ptr<Source> MakeUncachedSource(const ProbeFiles& files, CacheBypass bypass)
{
  return std::make_unique<UncachedSource>(files, bypass);
}

double RereadRate(const ProbeFiles& files)
{
  const auto longest = std::max_element(files.Bytes.begin(), files.Bytes.end());
  if (longest == files.Bytes.end()) {
    return 0;
  }
  const auto bytes = static_cast<std::size_t>(std::min(*longest, 8 * MiB));
  const AlignedMemory memory = MakeAlignedMemory(bytes);
  const RawFile file(files.Paths[longest - files.Bytes.begin()], O_RDONLY);
  double rate = 0;
  for (int pass = 0; pass < 3 && file.IsOpen(); ++pass) {
    const Stopwatch watch;
    const ssize_t got = ::pread(file, memory.get(), bytes, 0);
    const double seconds = watch.Seconds();
    rate = got > 0 && seconds > 0 ? std::max(rate, static_cast<double>(got) / seconds) : rate;
  }
  return rate;
}

}  // namespace patchio::probe
