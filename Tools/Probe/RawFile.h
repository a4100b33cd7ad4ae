// Files and memory as the system gives them, for reading and writing past its caches.
#pragma once

#include "Base/Error.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace patchio::probe {

/// O_DIRECT asks for offsets, lengths and addresses that are multiples of this.
constexpr std::size_t PageBytes = 4096;

/// A file descriptor that is closed at its end.
class RawFile
{
public:
  RawFile(const std::string& path, int flags) : Number(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  /// The same; throws Error with what was `expected` where the file cannot be opened.
  RawFile(const std::string& path, int flags, const char* expected) : RawFile(path, flags)
  {
    if (!this->IsOpen()) {
      throw SystemError(path, expected, errno);
    }
  }
  ~RawFile()
  {
    if (this->IsOpen()) {
      ::close(this->Number);
    }
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  bool IsOpen() const { return this->Number >= 0; }
  operator int() const { return this->Number; }

private:
  int Number;
};

struct FreeMemory
{
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte, FreeMemory>;

/// Begins at a page, and its pages exist already. Throws std::bad_alloc.
inline AlignedMemory MakeAlignedMemory(std::size_t bytes)
{
  const std::size_t whole = (bytes + PageBytes - 1) / PageBytes * PageBytes;
  AlignedMemory memory(static_cast<std::byte*>(std::aligned_alloc(PageBytes, whole)));
  if (!memory) {
    throw std::bad_alloc();
  }
  std::memset(memory.get(), 1, whole);
  return memory;
}

}  // namespace patchio::probe
