// The interface to the storage, through which read tasks get all bytes.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace patchio {

/// A set of files, addressed by number. Thread-safe.
class Source
{
public:
  /// One open file. The file is closed when its last owner releases it.
  class File
  {
  public:
    virtual ~File() = default;
    /// Carries out one request: fills the buffers, at most 1024, one after another with the bytes from
    /// `offset` on. Blocks. Thread-safe. Throws Error if the storage fails or the file ends too early.
    virtual void Read(std::uint64_t offset, const std::vector<iovec>& buffers) = 0;
    /// Fills a single buffer with `bytes` bytes from `offset` on.
    void Read(std::uint64_t offset, void* into, std::size_t bytes) { this->Read(offset, {{into, bytes}}); }
  };

  virtual ~Source() = default;
  /// Opens a file. While a file is open, further calls return the same object, so threads with neighbouring
  /// tasks share this object and few files are open at once. Throws Error if the file cannot be opened.
  /// Further calls throw the same error without another attempt, because each attempt may take minutes if the
  /// storage is lost; only a lack of file descriptors allows another attempt.
  virtual std::shared_ptr<File> Open(int file) = 0;
};

}  // namespace patchio
