#include "Io/FileSource.h"

#include "Base/Error.h"
#include "Base/File.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <mutex>

namespace patchio {
namespace {

/// The error that the process or the system has too many open files. Unlike other errors, this error is
/// temporary and not specific to the file.
class TooManyOpenFiles : public Error
{
public:
  using Error::Error;
};

class PreadFile : public Source::File
{
public:
  PreadFile(const std::string& path, bool sequential) : Path(path), Descriptor(OpenRegularFile(path))
  {
    if (this->Descriptor < 0) {
      const int reason = errno;
      const Error error = SystemError(path, "a readable file", reason);
      if (reason == EMFILE || reason == ENFILE) {
        throw TooManyOpenFiles(error.what());
      }
      throw error;
    }
    if (sequential) {
      // Without this advice, the kernel mistakes the requests of several threads for random access and does
      // not read ahead.
      ::posix_fadvise(this->Descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
  }
  ~PreadFile() override { ::close(this->Descriptor); }
  PreadFile(const PreadFile&) = delete;
  PreadFile& operator=(const PreadFile&) = delete;

  using File::Read;
  void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
  {
    std::vector<iovec> rest = buffers;
    iovec* next = rest.data();
    iovec* const end = next + rest.size();
    std::uint64_t position = offset;
    while (next != end) {
      const ssize_t got =
          ::preadv(this->Descriptor, next, static_cast<int>(end - next), static_cast<off_t>(position));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        throw SystemError(this->Path, RangeText(offset, buffers), errno);
      }
      const iovec* before = next;
      SkipBytes(next, end, static_cast<std::size_t>(got));
      if (got == 0 && next == before) {
        throw FileError(this->Path, RangeText(offset, buffers),
            fmt::format("the end of the file after {} bytes", position - offset),
            "The file is truncated, or changed during the read");
      }
      position += static_cast<std::uint64_t>(got);
    }
  }

private:
  /// Returns the bytes to be read, as a phrase for an error message.
  static std::string RangeText(std::uint64_t offset, const std::vector<iovec>& buffers)
  {
    std::size_t bytes = 0;
    for (const iovec& buffer : buffers) {
      bytes += buffer.iov_len;
    }
    return fmt::format("{} bytes at offset {}", bytes, offset);
  }

  std::string Path;
  int Descriptor;
};

class FileSource : public Source
{
public:
  FileSource(const std::vector<std::string>& paths, const std::vector<bool>& sequential) : Slots(paths.size())
  {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      this->Slots[i].Path = paths[i];
      this->Slots[i].Sequential = !sequential.empty() && sequential[i];
    }
  }

  std::shared_ptr<File> Open(int file) override
  {
    Slot& slot = this->Slots[file];
    const std::lock_guard<std::mutex> lock(slot.Mutex);
    std::shared_ptr<File> open = slot.Current.lock();
    if (!open) {
      open = OpenNew(slot);
      slot.Current = open;
    }
    return open;
  }

private:
  struct Slot
  {
    std::string Path;
    bool Sequential = false;
    std::mutex Mutex;
    std::weak_ptr<File> Current;
    std::string Fault;  ///< why the file cannot be opened; empty before the first attempt and on success
  };

  static std::shared_ptr<File> OpenNew(Slot& slot)
  {
    ThrowFault(slot.Fault);
    try {
      return std::make_shared<PreadFile>(slot.Path, slot.Sequential);
    } catch (const TooManyOpenFiles&) {
      throw;
    } catch (const Error& error) {
      slot.Fault = error.what();
      throw;
    }
  }

  std::vector<Slot> Slots;
};

}  // namespace

std::unique_ptr<Source> MakeFileSource(
    const std::vector<std::string>& paths, const std::vector<bool>& sequential)
{
  return std::make_unique<FileSource>(paths, sequential);
}

}  // namespace patchio
