#include "Support/PlainFile.h"

#include "Support/Error.h"
#include "Support/RegularFile.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <ctime>
#include <filesystem>

namespace fs = std::filesystem;

namespace patchio {
namespace {

int OpenFor(PlainFile::Purpose purpose, const std::string& path, unsigned mode)
{
  if (purpose == PlainFile::Purpose::Read) {
    return OpenRegularFile(path);
  }
  const int create = purpose == PlainFile::Purpose::Create ? O_CREAT | O_EXCL : 0;
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC | create, mode);
}

}  // namespace

PlainFile::PlainFile(const std::string& path, Purpose purpose, unsigned mode)
    : PathName(path), Number(OpenFor(purpose, path, mode))
{
  if (this->Number < 0) {
    this->Fail(purpose == Purpose::Read ? "a readable file" : "a file that can be written");
  }
}

PlainFile::~PlainFile()
{
  ::close(this->Number);
}

void PlainFile::Fail(const std::string& expected) const
{
  throw FileError(this->PathName, expected, SystemMessage(errno));
}

std::uint64_t PlainFile::Size() const
{
  struct stat status = {};
  if (::fstat(this->Number, &status) != 0) {
    this->Fail("a readable file");
  }
  return S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::size_t PlainFile::ReadSome(std::uint64_t offset, void* into, std::size_t bytes) const
{
  auto* target = static_cast<std::byte*>(into);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(this->Number, target + done, bytes - done, static_cast<off_t>(offset + done));
    if (got == 0) {
      break;
    }
    if (got < 0 && errno != EINTR) {
      this->Fail(fmt::format("{} bytes at {}", bytes, offset));
    }
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return done;
}

void PlainFile::Read(std::uint64_t offset, void* into, std::size_t bytes) const
{
  if (this->ReadSome(offset, into, bytes) < bytes) {
    throw FileError(this->PathName, fmt::format("{} bytes at {}", bytes, offset), "the end of the file");
  }
}

void PlainFile::Write(std::uint64_t offset, const void* data, std::size_t bytes) const
{
  const auto* source = static_cast<const std::byte*>(data);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t put =
        ::pwrite(this->Number, source + done, bytes - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno != EINTR) {
      this->Fail(fmt::format("room for {} bytes at {}", bytes, offset));
    }
    done += put > 0 ? static_cast<std::size_t>(put) : 0;
  }
}

void PlainFile::Reserve(std::uint64_t bytes) const
{
  const int fault = bytes > 0 ? ::posix_fallocate(this->Number, 0, static_cast<off_t>(bytes)) : 0;
  if (fault != 0) {
    errno = fault;
    this->Fail(fmt::format("room for {} bytes", bytes));
  }
}

void PlainFile::Flush() const
{
  if (::fsync(this->Number) != 0) {
    this->Fail("a file that can be written");
  }
}

void RemoveStrays(
    const std::string& folder, const std::string& prefix, const std::string& suffix, double seconds)
{
  std::error_code fault;
  fs::directory_iterator entry(folder.empty() ? "." : folder, fault);
  for (; !fault && entry != fs::directory_iterator(); entry.increment(fault)) {
    const std::string name = entry->path().filename().string();
    const bool ours = name.size() >= prefix.size() + suffix.size() && name.rfind(prefix, 0) == 0 &&
                      name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
    struct stat status = {};
    if (ours && ::stat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        std::difftime(std::time(nullptr), status.st_mtime) > seconds) {
      std::error_code ignored;
      fs::remove(entry->path(), ignored);
    }
  }
}

}  // namespace patchio
