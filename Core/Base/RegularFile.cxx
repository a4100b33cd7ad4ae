#include "Base/RegularFile.h"

#include "Base/Error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>

namespace patchio {

std::string TidyPath(const std::string& path)
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
  const int descriptor = OpenRegularFile(path);
  if (descriptor < 0) {
    const int fault = errno;
    throw SystemError(path, "a readable file", fault);
  }
  ::close(descriptor);
}

}  // namespace patchio
