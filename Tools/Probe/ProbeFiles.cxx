#include "Probe/ProbeFiles.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Probe/ProbeFolder.h"
#include "Probe/RawFile.h"

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

namespace patchio::probe {
namespace {

constexpr std::uint64_t MiB = 1 << 20;
constexpr std::uint64_t Enough = 128 * MiB;     ///< of test data; the time for more may be saved
constexpr std::uint64_t Least = 16 * MiB;       ///< of test data, however long it takes
constexpr double Patience = 3;                  ///< times the time, before the least is enough
constexpr std::uint64_t LeastFile = 32 * MiB;   ///< rather fewer files
constexpr int MostWritten = 16;                 ///< files of all ranks
constexpr std::size_t MostFound = 64;           ///< files, as all stay open
constexpr std::uint64_t LeastFound = 64 << 10;  ///< of one file

void CheckRoom(const std::string& dir, std::uint64_t bytes)
{
  struct statvfs state = {};
  if (::statvfs(dir.c_str(), &state) != 0) {
    throw SystemError(dir, "a folder to measure in", errno);
  }
  const double room = static_cast<double>(state.f_bavail) * static_cast<double>(state.f_frsize);
  if (room < 1.1 * static_cast<double>(bytes)) {
    throw FileError(dir,
        fmt::format("space for {} of test files", ByteText(1.1 * static_cast<double>(bytes))), ByteText(room),
        "Free some space, use smaller --test-bytes, or read existing files with --existing");
  }
}

/// Writes until `stops`, which is given what is there, says so. Throws Error with what the system says.
template <typename Condition>
void WriteFile(const std::string& path, std::uint64_t bytes, std::mt19937_64& random, const Condition& stops)
{
  const RawFile file(path, O_WRONLY | O_CREAT | O_EXCL, "a test file that can be written");
  const auto check = [&path](bool good) {
    if (!good) {
      throw SystemError(path, "a test file that can be written", errno);
    }
  };
  std::vector<std::uint64_t> block(MiB / sizeof(std::uint64_t));
  std::generate(block.begin(), block.end(), random);
  for (std::uint64_t done = 0; done < bytes && !stops(done);) {
    // No two blocks are alike, so that nothing is stored once only.
    block[random() % block.size()] = random();
    std::rotate(block.begin(), block.begin() + 1, block.end());
    const ssize_t put = ::write(file, block.data(), std::min<std::uint64_t>(MiB, bytes - done));
    check(put > 0 || (put < 0 && errno == EINTR));
    done += put > 0 ? static_cast<std::uint64_t>(put) : 0;
  }
  check(::fsync(file) == 0);
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
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
      throw FileError(dir, "a folder that all nodes share", "a different folder on each node",
          "Measure from one node only");
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
        "Name larger files, or omit --existing so that probe writes test files");
  }
  return files;
}

}  // namespace patchio::probe
