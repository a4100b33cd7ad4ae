#include "Base/File.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <system_error>

namespace fs = std::filesystem;

namespace patchio {

namespace {

int OpenFor(PlainFile::Purpose purpose, const std::string& path, unsigned mode)
{
  if (purpose == PlainFile::Purpose::Read) {
    return OpenRegularFile(path);
  }
  const int create = purpose == PlainFile::Purpose::Create  ? O_CREAT | O_EXCL
                     : purpose == PlainFile::Purpose::Share ? O_CREAT
                                                            : 0;
  // O_NOFOLLOW: in a folder that other users can write to, another user may replace a file by a link.
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | create, mode);
}

}  // namespace

PlainFile::PlainFile(const std::string& path, Purpose purpose, unsigned mode)
    : PathName(path), FileDescriptor(OpenFor(purpose, path, mode))
{
  if (this->FileDescriptor < 0) {
    this->Fail(purpose == Purpose::Read ? "a readable file" : "a file that can be written");
  }
}

PlainFile::~PlainFile()
{
  ::close(this->FileDescriptor);
}

void PlainFile::Fail(const std::string& expected) const
{
  throw SystemError(this->PathName, expected, errno);
}

std::uint64_t PlainFile::Size() const
{
  struct stat status = {};
  if (::fstat(this->FileDescriptor, &status) != 0) {
    this->Fail("a readable file");
  }
  return S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::size_t PlainFile::ReadUpTo(std::uint64_t offset, void* into, std::size_t bytes) const
{
  auto* target = static_cast<std::byte*>(into);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(this->FileDescriptor, target + done, bytes - done, static_cast<off_t>(offset + done));
    if (got == 0) {
      break;
    }
    if (got < 0 && errno != EINTR) {
      this->Fail(fmt::format("{} bytes at offset {}", bytes, offset));
    }
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return done;
}

void PlainFile::Read(std::uint64_t offset, void* into, std::size_t bytes) const
{
  if (this->ReadUpTo(offset, into, bytes) < bytes) {
    throw FileError(
        this->PathName, fmt::format("{} bytes at offset {}", bytes, offset), "the end of the file");
  }
}

void PlainFile::Write(std::uint64_t offset, const void* data, std::size_t bytes) const
{
  std::vector<iovec> buffers{{const_cast<void*>(data), bytes}};
  this->Write(offset, buffers);
}

void PlainFile::Write(std::uint64_t offset, std::vector<iovec>& buffers) const
{
  constexpr std::size_t most = 1024;  // greatest number of buffers of one call: IOV_MAX of Linux
  iovec* next = buffers.data();
  iovec* const end = next + buffers.size();
  while (next != end) {
    const auto count = static_cast<int>(std::min<std::size_t>(most, end - next));
    const ssize_t put = ::pwritev(this->FileDescriptor, next, count, static_cast<off_t>(offset));
    if (put < 0 && errno != EINTR) {
      const std::size_t left = std::accumulate(next, end, std::size_t(0),
          [](std::size_t sum, const iovec& buffer) { return sum + buffer.iov_len; });
      this->Fail(fmt::format("space for {} bytes at offset {}", left, offset));
    }
    const std::size_t done = put > 0 ? static_cast<std::size_t>(put) : 0;
    offset += done;
    SkipBytes(next, end, done);
  }
}

void PlainFile::SetSize(std::uint64_t bytes) const
{
  if (::ftruncate(this->FileDescriptor, static_cast<off_t>(bytes)) != 0) {
    this->Fail(fmt::format("a file that can have {} bytes", bytes));
  }
}

void PlainFile::Reserve(std::uint64_t bytes) const
{
  // In older kernels, a signal interrupts the allocation in a memory file system, which then frees the space
  // again.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int fault = bytes > 0 ? ::posix_fallocate(this->FileDescriptor, 0, static_cast<off_t>(bytes)) : 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (fault != 0) {
    errno = fault;
    this->Fail(fmt::format("space for {} bytes", bytes));
  }
}

bool PlainFile::IsInPlace() const
{
  struct stat opened = {}, named = {};
  return ::fstat(this->FileDescriptor, &opened) == 0 && ::stat(this->PathName.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void PlainFile::Flush() const
{
  struct stat status = {};
  if (::fsync(this->FileDescriptor) != 0 || ::fstat(this->FileDescriptor, &status) != 0) {
    this->Fail("a file that can be written");
  }
  if (status.st_nlink == 0 && !this->IsInPlace()) {
    throw FileError(this->PathName, "a file that stays in its folder during the write", "a removed file",
        "Do not remove or replace a file while a run writes it");
  }
}

void SkipBytes(iovec*& next, const iovec* end, std::size_t bytes)
{
  for (; next != end && next->iov_len <= bytes; ++next) {
    bytes -= next->iov_len;
  }
  if (next != end) {
    next->iov_base = static_cast<std::byte*>(next->iov_base) + bytes;
    next->iov_len -= bytes;
  }
}

std::vector<fs::path> EntriesOf(
    const fs::path& folder, const std::function<bool(const fs::directory_entry&)>& accepts)
{
  std::vector<fs::path> paths;
  // Errors are returned as codes, because the increment in a range-for loop would throw.
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault); !fault && entry != fs::directory_iterator();
       entry.increment(fault)) {
    if (accepts(*entry)) {
      paths.push_back(entry->path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void RemoveStaleFiles(
    const std::string& folder, const std::string& prefix, const std::string& suffix, double seconds)
{
  const auto isStale = [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    struct stat status = {};
    return name.size() >= prefix.size() + suffix.size() && BeginsWith(name, prefix) &&
           EndsWith(name, suffix) && ::stat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           std::difftime(std::time(nullptr), status.st_mtime) > seconds;
  };
  for (const fs::path& path : EntriesOf(folder.empty() ? "." : folder, isStale)) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
}

std::string NormalizedPath(const std::string& path)
{
  std::size_t end = path.size();
  while (end > 1 && (path[end - 1] == '/' || (path[end - 1] == '.' && path[end - 2] == '/'))) {
    --end;
  }
  const std::string tidy = path.substr(0, end);
  const std::filesystem::path last = std::filesystem::path(tidy).filename();
  std::error_code fault;
  const std::filesystem::path real =
      last == "." || last == ".." ? std::filesystem::canonical(tidy, fault) : std::filesystem::path(tidy);
  return fault ? tidy : real.string();
}

std::string AbsolutePath(const std::string& path)
{
  return fs::absolute(path).lexically_normal().string();
}

std::string UserFolder(const char* variable, const std::string& inHome)
{
  const std::string folder = FromEnvironment(variable);
  if (BeginsWith(folder, "/")) {
    return folder + "/patchio";
  }
  const std::string home = FromEnvironment("HOME");
  return home.empty() ? "" : home + "/" + inHome + "/patchio";
}

std::optional<std::uint64_t> SizeOfFile(const std::string& path)
{
  std::error_code fault;
  const std::uint64_t size = fs::file_size(path, fault);
  return fault ? std::nullopt : std::optional(size);
}

std::string FirstBytes(const std::string& path, std::size_t most)
{
  constexpr std::size_t piece = 64 * KiB;
  const PlainFile file(path);
  std::string bytes;
  std::size_t before = 0;
  do {  // files in /proc report a size of 0, so the loop reads until the end of the file
    before = bytes.size();
    bytes.resize(std::min(before + piece, most));
    bytes.resize(before + file.ReadUpTo(before, bytes.data() + before, bytes.size() - before));
  } while (bytes.size() == before + piece);
  return bytes;
}

int OpenRegularFile(const std::string& path)
{
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat state = {};
  if (descriptor >= 0 && ::fstat(descriptor, &state) != 0) {
    const int fault = errno;
    ::close(descriptor);
    throw SystemError(path, "a readable file", fault);
  }
  if (descriptor >= 0 && !S_ISREG(state.st_mode)) {
    ::close(descriptor);
    throw FileError(
        path, "a file", S_ISDIR(state.st_mode) ? "a folder" : "a pipe or a device", "Check the path");
  }
  return descriptor;
}

void CheckRegularFile(const std::string& path)
{
  const PlainFile file(path);
}

void FlushFolder(const std::string& folder)
{
  const int number = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number >= 0) {
    ::fsync(number);
    ::close(number);
  }
}

void ReplaceFile(const std::string& path, const std::string& text)
{
  const std::string temporary = TemporaryName(path);
  std::string fault = CatchError([&] {
    const PlainFile file(temporary, PlainFile::Purpose::Create);
    file.Write(0, text.data(), text.size());
    file.Flush();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
      throw SystemError(path, "a file that can be replaced", errno);
    }
  });
  if (!fault.empty()) {
    std::remove(temporary.c_str());
    const std::size_t at = fault.find(temporary);
    throw Error(at == std::string::npos ? fault : fault.replace(at, temporary.size(), path));
  }
  FlushFolder(fs::path(path).parent_path().string());
}

}  // namespace patchio
