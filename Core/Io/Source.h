// Where bytes come from. The engine knows storages only through this.
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
  /// One open file. Stays open as long as somebody holds it.
  class File
  {
  public:
    virtual ~File() = default;
    /// One request: fills the buffers, one after another, with the bytes from `offset` on. At most 1024
    /// buffers. Blocks. Thread-safe. Throws Error when the storage fails or the file ends too early.
    virtual void Read(std::uint64_t offset, const std::vector<iovec>& buffers) = 0;
    /// The same into one buffer.
    void Read(std::uint64_t offset, void* into, std::size_t bytes) { this->Read(offset, {{into, bytes}}); }
  };

  virtual ~Source() = default;
  /// Throws Error when the file cannot be opened. Opening a file that somebody still holds gives the same
  /// one, so threads that work on neighbouring tasks share it and few files are open at a time. A file that
  /// could not be opened is not tried again: where a storage is gone, each try may take minutes.
  virtual std::shared_ptr<File> Open(int file) = 0;
};

}  // namespace patchio
