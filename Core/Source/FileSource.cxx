#include "Source/FileSource.h"

#include "Support/Error.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <mutex>

namespace patchio {
namespace {

class PreadFile : public Source::File
{
public:
  explicit PreadFile(const std::string& path)
      : Path(path), Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC))
  {
    if (this->Descriptor < 0) {
      throw FileError(
          path, "a readable file", SystemMessage(errno), "Check that it exists and its permissions");
    }
  }
  ~PreadFile() override { ::close(this->Descriptor); }
  PreadFile(const PreadFile&) = delete;
  PreadFile& operator=(const PreadFile&) = delete;

  void Read(std::uint64_t offset, void* into, std::size_t bytes) override
  {
    auto* target = static_cast<std::byte*>(into);
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got =
          ::pread(this->Descriptor, target + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        throw FileError(this->Path, fmt::format("{} bytes at offset {}", bytes, offset),
            got < 0 ? SystemMessage(errno) : fmt::format("the end of the file after {}", done),
            "The file is truncated, or changed while it was read");
      }
      done += static_cast<std::size_t>(got);
    }
  }

private:
  std::string Path;
  int Descriptor;
};

class FileSource : public Source
{
public:
  explicit FileSource(const std::vector<std::string>& paths) : Slots(paths.size())
  {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      this->Slots[i].Path = paths[i];
    }
  }

  std::shared_ptr<File> Open(int file) override
  {
    Slot& slot = this->Slots[file];
    const std::lock_guard<std::mutex> lock(slot.Mutex);
    std::shared_ptr<File> open = slot.Current.lock();
    if (!open) {
      open = std::make_shared<PreadFile>(slot.Path);
      slot.Current = open;
    }
    return open;
  }

private:
  struct Slot
  {
    std::string Path;
    std::mutex Mutex;
    std::weak_ptr<File> Current;
  };
  std::vector<Slot> Slots;
};

}  // namespace

std::unique_ptr<Source> MakeFileSource(const std::vector<std::string>& paths)
{
  return std::make_unique<FileSource>(paths);
}

}  // namespace patchio
