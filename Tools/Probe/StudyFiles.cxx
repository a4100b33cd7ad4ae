#include "Probe/StudyFiles.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Probe/Interrupt.h"
#include "Probe/Pattern.h"
#include "Probe/ProbeFolder.h"
#include "Probe/RawFile.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace patchio::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t Stretch = 4u << 20;  // bytes written at once
constexpr double Margin = 1.05;            // of the free space that files take, their metadata included

void CheckRoom(const std::string& directory, std::uint64_t bytes)
{
  std::error_code fault;
  if (!fs::is_directory(directory, fault)) {
    throw SystemError(directory, "a folder to measure", fault ? fault.value() : ENOTDIR);
  }
  const fs::space_info space = fs::space(directory, fault);
  if (!fault && static_cast<double>(space.available) < Margin * static_cast<double>(bytes)) {
    throw FileError(directory, ByteText(bytes) + " of free space for test files",
        ByteText(static_cast<double>(space.available)), "Use smaller --sizes, or another folder");
  }
}

}  // namespace

TestFolder::TestFolder(Communicator& ranks, const std::string& directory, std::uint64_t bytes) : Ranks(ranks)
{
  const std::vector<std::byte> name = BytesOfRankZero(ranks, [&] {
    CheckRoom(directory, bytes);
    const std::string path = MakeProbeFolder(directory);
    Interrupt::RemoveAtSignal(path);
    const auto* begin = reinterpret_cast<const std::byte*>(path.data());
    return std::vector<std::byte>(begin, begin + path.size());
  });
  this->Name.assign(reinterpret_cast<const char*>(name.data()), name.size());
}

TestFolder::~TestFolder()
{
  Interrupt::ForgetFiles();
  if (this->Ranks.Rank() == 0) {
    std::error_code fault;
    fs::remove_all(this->Name, fault);
    if (fault) {
      std::fprintf(stderr, "warning: removing %s failed: %s\n", this->Name.c_str(), fault.message().c_str());
    }
  }
}

std::string TestFolder::File(const std::string& name)
{
  const std::string path = this->Name + "/" + name;
  Interrupt::RemoveAtSignal(path);
  return path;
}

void WritePattern(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes)
{
  if (Interrupt::Asked()) {
    return;  // the file may be gone, and must not come back
  }
  const RawFile file(path, O_WRONLY | O_CREAT, "a test file that can be written");
  const Pattern pattern(seed);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(Stretch, bytes));
  for (std::uint64_t done = 0; done < bytes && !Interrupt::Asked();) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), bytes - done);
    pattern.Fill(offset + done, buffer.data(), count);
    for (std::size_t put = 0; put < count;) {
      const ssize_t now = ::pwrite(file, buffer.data() + put, count - put, offset + done + put);
      if (now <= 0 && errno != EINTR) {
        throw SystemError(path, "a test file that can be written", errno);
      }
      put += std::max<ssize_t>(0, now);
    }
    done += count;
  }
  if (::fsync(file) != 0) {
    throw SystemError(path, "a test file that can be written", errno);
  }
}

void DropFromMemory(const std::string& path)
{
  const RawFile file(path, O_RDONLY, "a test file that can be opened");
  // Where this does not help, ResidentPart() and the rates show it.
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

double ResidentPart(const std::string& path)
{
  const RawFile file(path, O_RDONLY, "a test file that can be opened");
  struct stat attributes;
  if (::fstat(file, &attributes) != 0 || attributes.st_size == 0) {
    return -1;
  }
  const std::size_t bytes = attributes.st_size;
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    return -1;
  }
  const std::size_t page = ::sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const bool known = ::mincore(memory, bytes, pages.data()) == 0;
  ::munmap(memory, bytes);
  const auto resident = [](unsigned char state) { return (state & 1) != 0; };
  return known ? static_cast<double>(std::count_if(pages.begin(), pages.end(), resident)) / pages.size() : -1;
}

}  // namespace patchio::probe
