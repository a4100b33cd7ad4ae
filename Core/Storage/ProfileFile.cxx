#include "Storage/ProfileFile.h"

#include "Support/Error.h"
#include "Support/RegularFile.h"
#include "Support/ReplaceFile.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr std::size_t MostBytes = 1 << 20;  ///< of a profile

class Descriptor
{
public:
  explicit Descriptor(int number) : Number(number) {}
  ~Descriptor()
  {
    if (this->Number >= 0) {
      ::close(this->Number);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int Get() const { return this->Number; }

private:
  const int Number;
};

void CheckText(const std::string& file, const std::string& text)
{
  if (text.size() > MostBytes) {
    throw FileError(file, "a storage profile", fmt::format("more than {} bytes", MostBytes));
  }
}

}  // namespace

std::string ReadProfileText(const std::string& file)
{
  const Descriptor opened(OpenRegularFile(file));
  if (opened.Get() < 0) {
    throw SystemError(file, "a readable file", errno, "Check its permissions");
  }
  std::string text;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = ::read(opened.Get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw SystemError(file, "a readable file", errno);
    }
    if (got == 0) {
      return text;
    }
    text.append(buffer, static_cast<std::size_t>(got));
    CheckText(file, text);
  }
}

void ReplaceProfileText(const std::string& file, const std::string& text)
{
  const fs::path folder = fs::path(file).parent_path();
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) {
    throw SystemError(folder.string(), "a folder for storage profiles", fault.value());
  }
  ReplaceFile(file, text);
}

}  // namespace patchio
