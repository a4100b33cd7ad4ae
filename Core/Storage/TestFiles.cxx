#include "Storage/TestFiles.h"

#include "Storage/ProbeFolder.h"
#include "Support/ByteText.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"
#include "Support/RunOnAllRanks.h"
#include "Support/Stopwatch.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <sstream>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr std::uint64_t MiB = 1 << 20;
constexpr std::uint64_t Page = 4096;
constexpr std::uint64_t Enough = 128 * MiB;     ///< of test data; the time for more may be saved
constexpr std::uint64_t Least = 16 * MiB;       ///< of test data, however long it takes
constexpr double Patience = 3;                  ///< times the time, before the least is enough
constexpr std::uint64_t LeastFile = 32 * MiB;   ///< rather fewer files
constexpr int MostWritten = 16;                 ///< files of all ranks
constexpr std::size_t MostFound = 64;           ///< files, as all stay open
constexpr std::uint64_t LeastFound = 64 << 10;  ///< of one file

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
  int Number;
};

struct Freeing
{
  void operator()(void* memory) const { std::free(memory); }
};

std::unique_ptr<void, Freeing> AlignedMemory(std::size_t bytes)
{
  std::unique_ptr<void, Freeing> memory(std::aligned_alloc(Page, bytes));
  if (!memory) {
    throw std::bad_alloc();
  }
  return memory;
}

/// One open file of the source.
class ProbeFile : public Source::File
{
public:
  ProbeFile(const std::string& path, CacheBypass bypass)
      : Path(path),
        Bypass(bypass),
        Opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (bypass == CacheBypass::Direct ? O_DIRECT : 0)))
  {
    if (this->Opened.Get() < 0) {
      throw FileError(path, "a readable file", SystemMessage(errno));
    }
  }

  using File::Read;
  void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
  {
    for (const iovec& buffer : buffers) {
      this->ReadOne(offset, static_cast<char*>(buffer.iov_base), buffer.iov_len);
      if (this->Bypass == CacheBypass::Drop) {
        ::posix_fadvise(this->Opened.Get(), static_cast<off_t>(offset), static_cast<off_t>(buffer.iov_len),
            POSIX_FADV_DONTNEED);
      }
      offset += buffer.iov_len;
    }
  }

private:
  void ReadOne(std::uint64_t offset, char* into, std::size_t bytes) const
  {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got =
          ::pread(this->Opened.Get(), into + done, bytes - done, static_cast<off_t>(offset + done));
      if (got <= 0 && !(got < 0 && errno == EINTR)) {
        throw FileError(this->Path, fmt::format("{} bytes at {}", bytes, offset),
            got < 0 ? SystemMessage(errno) : "the end of the file");
      }
      done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
  }

  std::string Path;
  CacheBypass Bypass;
  Descriptor Opened;
};

class ProbeSource : public Source
{
public:
  ProbeSource(const ProbeFiles& files, CacheBypass bypass)
  {
    for (const std::string& path : files.Paths) {
      this->Opened.push_back(std::make_shared<ProbeFile>(path, bypass));
    }
  }
  std::shared_ptr<File> Open(int file) override { return this->Opened[file]; }

private:
  std::vector<std::shared_ptr<File>> Opened;
};

void CheckRoom(const std::string& dir, std::uint64_t bytes)
{
  struct statvfs state = {};
  if (::statvfs(dir.c_str(), &state) != 0) {
    throw FileError(dir, "a folder to measure in", SystemMessage(errno));
  }
  const double room = static_cast<double>(state.f_bavail) * static_cast<double>(state.f_frsize);
  if (room < 1.1 * static_cast<double>(bytes)) {
    throw FileError(dir, fmt::format("room for {} of test files", ByteText(1.1 * static_cast<double>(bytes))),
        ByteText(room), "Free some, ask for less, or name existing files to read");
  }
}

/// Writes until `stops`, which is given what is there, says so. Throws Error with what the system says.
template <typename Condition>
void WriteFile(const std::string& path, std::uint64_t bytes, std::mt19937_64& random, const Condition& stops)
{
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const auto check = [&path](bool good) {
    if (!good) {
      throw FileError(path, "a test file that can be written", SystemMessage(errno));
    }
  };
  check(file.Get() >= 0);
  std::vector<std::uint64_t> block(MiB / sizeof(std::uint64_t));
  std::generate(block.begin(), block.end(), random);
  for (std::uint64_t done = 0; done < bytes && !stops(done);) {
    // No two blocks are alike, so that nothing is stored once only.
    block[random() % block.size()] = random();
    std::rotate(block.begin(), block.begin() + 1, block.end());
    const ssize_t put = ::write(file.Get(), block.data(), std::min<std::uint64_t>(MiB, bytes - done));
    check(put > 0 || (put < 0 && errno == EINTR));
    done += put > 0 ? static_cast<std::uint64_t>(put) : 0;
  }
  check(::fsync(file.Get()) == 0);
  ::posix_fadvise(file.Get(), 0, 0, POSIX_FADV_DONTNEED);
}

/// The length of a file that is there; 0 where there is none.
std::uint64_t LengthOf(const std::string& path)
{
  struct stat state = {};
  return ::stat(path.c_str(), &state) == 0 && S_ISREG(state.st_mode)
             ? static_cast<std::uint64_t>(state.st_size)
             : 0;
}

/// The files below a folder, or the file itself.
void CollectFiles(const std::string& path, std::vector<std::string>& files)
{
  constexpr std::size_t most = 100'000;
  if (!fs::is_directory(path)) {
    CheckRegularFile(path);
    files.push_back(path);
    return;
  }
  std::error_code fault;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, fault);
  for (; !fault && entry != fs::recursive_directory_iterator() && files.size() < most;
       entry.increment(fault)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) {
      files.push_back(entry->path().string());
    }
  }
}

}  // namespace

std::uint64_t ProbeFiles::TotalBytes() const
{
  return std::accumulate(this->Bytes.begin(), this->Bytes.end(), std::uint64_t{0});
}

TestFiles::TestFiles(Communicator& comm, const std::string& dir, std::uint64_t bytes, double seconds,
    const std::atomic<bool>* cancel, const std::function<void(const std::string&)>& announce)
    : Announce(announce)
{
  try {
    RunOnAllRanks(comm, [&] { CheckRoom(dir, bytes); });
    this->MakeFolder(comm, dir);
    RunOnAllRanks(comm, [&] { this->Write(comm.Rank(), comm.Size(), bytes, seconds, cancel); });
    this->Gather(comm);
  } catch (...) {
    this->Remove();
    throw;
  }
}

TestFiles::~TestFiles()
{
  this->Remove();
}

void TestFiles::Remove()
{
  for (const std::string& path : this->Own.Paths) {
    std::remove(path.c_str());
  }
  this->Own.Paths.clear();
  if (!this->Folder.empty()) {
    // The last rank to come here finds it empty.
    ::rmdir(this->Folder.c_str());
  }
}

void TestFiles::MakeFolder(Communicator& comm, const std::string& dir)
{
  const std::vector<std::byte> name = BytesOfRankZero(comm, [&] {
    const std::string folder = MakeProbeFolder(dir);
    if (this->Announce) {
      this->Announce(folder);
    }
    std::vector<std::byte> bytes(folder.size());
    std::memcpy(bytes.data(), folder.data(), folder.size());
    return bytes;
  });
  this->Folder.assign(reinterpret_cast<const char*>(name.data()), name.size());
  RunOnAllRanks(comm, [&] {
    if (!fs::is_directory(this->Folder)) {
      throw FileError(dir, "one folder that all nodes see", "one on each node", "Measure it from one node");
    }
  });
}

void TestFiles::Write(
    int rank, int ranks, std::uint64_t bytes, double seconds, const std::atomic<bool>* cancel)
{
  const std::uint64_t share = std::max(bytes / ranks, MiB);
  const auto most = static_cast<std::uint64_t>(std::max(1, MostWritten / ranks));
  const std::uint64_t count = std::clamp<std::uint64_t>(share / LeastFile, 1, most);
  const std::uint64_t each = std::max(share / count / MiB * MiB, MiB);
  std::mt19937_64 random(
      0x9e3779b97f4a7c15ULL + static_cast<unsigned>(rank) + static_cast<unsigned>(::getpid()));
  const Stopwatch watch;
  std::uint64_t written = 0;
  const auto stops = [&](std::uint64_t more) {
    const double late = watch.Seconds() / seconds;
    const std::uint64_t all = (written + more) * static_cast<std::uint64_t>(ranks);
    return (cancel && *cancel) || (late > 1 && all >= Enough) || (late > Patience && all >= Least);
  };
  for (std::uint64_t file = 0; file < count && !stops(0); ++file) {
    const std::string path = fmt::format("{}/{}_{}", this->Folder, rank, file);
    if (this->Announce) {
      this->Announce(path);
    }
    this->Own.Paths.push_back(path);
    WriteFile(path, each, random, stops);
    this->Own.Bytes.push_back(LengthOf(path));
    written += this->Own.Bytes.back();
  }
}

void TestFiles::Gather(Communicator& comm)
{
  std::string mine;
  for (std::size_t i = 0; i < this->Own.Paths.size(); ++i) {
    mine += fmt::format("{} {}\n", this->Own.Bytes[i], fs::path(this->Own.Paths[i]).filename().string());
  }
  for (const std::string& text : comm.AllGather(mine)) {
    std::istringstream lines(text);
    std::uint64_t bytes = 0;
    std::string name;
    while (lines >> bytes >> name) {
      this->All.Paths.push_back(this->Folder + "/" + name);
      this->All.Bytes.push_back(bytes);
    }
  }
}

ProbeFiles FindProbeFiles(const std::vector<std::string>& paths)
{
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    CollectFiles(path, found);
  }
  std::sort(found.begin(), found.end());
  ProbeFiles large;
  for (const std::string& path : found) {
    const std::uint64_t bytes = LengthOf(path);
    if (bytes >= LeastFound) {
      large.Paths.push_back(path);
      large.Bytes.push_back(bytes);
    }
  }
  ProbeFiles files;
  const std::size_t count = std::min(large.Paths.size(), MostFound);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = i * large.Paths.size() / count;
    files.Paths.push_back(large.Paths[index]);
    files.Bytes.push_back(large.Bytes[index]);
  }
  if (files.TotalBytes() < MiB) {
    throw FileError(paths.empty() ? "" : paths.front(), "at least 1 MiB in files of at least 64 KiB",
        fmt::format(
            "{} files with {}", files.Paths.size(), ByteText(static_cast<double>(files.TotalBytes()))),
        "Name larger files, or let test files be written");
  }
  return files;
}

CacheBypass BypassFor(const ProbeFiles& files)
{
  const auto memory = AlignedMemory(Page);
  for (std::size_t i = 0; i < files.Paths.size(); ++i) {
    const Descriptor file(::open(files.Paths[i].c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
    if (file.Get() < 0 || ::pread(file.Get(), memory.get(), Page, 0) != static_cast<ssize_t>(Page)) {
      return CacheBypass::Drop;
    }
  }
  return CacheBypass::Direct;
}

void DropCaches(const ProbeFiles& files)
{
  for (const std::string& path : files.Paths) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.Get() >= 0) {
      ::posix_fadvise(file.Get(), 0, 0, POSIX_FADV_DONTNEED);
    }
  }
}

std::unique_ptr<Source> MakeProbeSource(const ProbeFiles& files, CacheBypass bypass)
{
  return std::make_unique<ProbeSource>(files, bypass);
}

double RereadRate(const ProbeFiles& files)
{
  const auto longest = std::max_element(files.Bytes.begin(), files.Bytes.end());
  if (longest == files.Bytes.end()) {
    return 0;
  }
  const auto bytes = static_cast<std::size_t>(std::min(*longest, 8 * MiB));
  const auto memory = AlignedMemory((bytes + Page - 1) / Page * Page);
  std::memset(memory.get(), 1, bytes);
  const Descriptor file(::open(files.Paths[longest - files.Bytes.begin()].c_str(), O_RDONLY | O_CLOEXEC));
  double rate = 0;
  for (int pass = 0; pass < 3 && file.Get() >= 0; ++pass) {
    const Stopwatch watch;
    const ssize_t got = ::pread(file.Get(), memory.get(), bytes, 0);
    const double seconds = watch.Seconds();
    rate = got > 0 && seconds > 0 ? std::max(rate, static_cast<double>(got) / seconds) : rate;
  }
  return rate;
}

}  // namespace patchio
