#include "Storage/ProfileFile.h"

#include "Support/Error.h"
#include "Support/MachineName.h"
#include "Support/RegularFile.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
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
  ~Descriptor() { this->Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int Get() const { return this->Number; }
  /// Whether all has come to the file.
  bool Close()
  {
    const bool good = this->Number < 0 || ::close(this->Number) == 0;
    this->Number = -1;
    return good;
  }

private:
  int Number;
};

void CheckText(const std::string& file, const std::string& text)
{
  if (text.size() > MostBytes) {
    throw FileError(file, "a storage profile", fmt::format("more than {} bytes", MostBytes));
  }
}

bool WriteAll(Descriptor& file, const std::string& text)
{
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(file.Get(), text.data() + done, text.size() - done);
    if (put < 0 && errno != EINTR) {
      return false;
    }
    done += put > 0 ? static_cast<std::size_t>(put) : 0;
  }
  return ::fsync(file.Get()) == 0 && file.Close();
}

}  // namespace

std::string ReadProfileText(const std::string& file)
{
  const Descriptor opened(OpenRegularFile(file));
  if (opened.Get() < 0) {
    throw FileError(file, "a readable file", SystemMessage(errno), "Check its permissions");
  }
  std::string text;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = ::read(opened.Get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      throw FileError(file, "a readable file", SystemMessage(errno));
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
    throw FileError(folder.string(), "a folder for storage profiles", fault.message());
  }
  const std::string temporary = TemporaryName(file);
  Descriptor opened(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  const bool written =
      opened.Get() >= 0 && WriteAll(opened, text) && std::rename(temporary.c_str(), file.c_str()) == 0;
  if (!written) {
    const int reason = errno;
    std::remove(temporary.c_str());
    throw FileError(file, "a file that can be written", SystemMessage(reason));
  }
}

}  // namespace patchio
