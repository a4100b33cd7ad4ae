#include "Probe/TestFiles.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Memory.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Probe/Interrupt.h"
#include "Probe/TestData.h"

#include <fmt/format.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <numeric>
#include <optional>
#include <random>

namespace patchio::probe {
namespace {

namespace fs = std::filesystem;

constexpr const char* Prefix = "patchio_probe_";
constexpr int MostFolders = 100;  ///< maximum number of folders of one process in one folder

/// The process that has made a folder of test files.
struct FolderCreator
{
  std::string Host;
  pid_t Process = 0;
};

/// Returns the creator of a folder patchio_probe_HOST_PID, patchio_probe_HOST_PID.2 and so on; nullopt for
/// other names.
std::optional<FolderCreator> CreatorNamed(const std::string& name)
{
  const std::string prefix = Prefix;
  const std::size_t last = name.rfind('_');
  if (!BeginsWith(name, prefix) || last == std::string::npos || last <= prefix.size()) {
    return {};
  }
  FolderCreator creator;
  creator.Host = name.substr(prefix.size(), last - prefix.size());
  creator.Process = ParseNumber<pid_t>(name.substr(last + 1, name.find('.', last) - last - 1)).value_or(0);
  return creator.Process > 0 ? std::optional<FolderCreator>(creator) : std::nullopt;
}

/// Returns whether `path` is a folder of this user, and not a link.
bool IsOwnFolder(const std::string& path)
{
  struct stat state = {};
  return ::lstat(path.c_str(), &state) == 0 && S_ISDIR(state.st_mode) && state.st_uid == ::geteuid();
}

bool IsRunning(pid_t process)
{
  return ::kill(process, 0) == 0 || errno != ESRCH;
}

constexpr std::size_t WriteBytes = 4u << 20;  // bytes written at once
/// Bytes of test data that suffice once the planned time is over.
constexpr std::uint64_t EnoughBytes = 128 * MiB;
constexpr std::uint64_t LeastBytes = 16 * MiB;  ///< bytes of test data in any case
constexpr double Patience = 3;                  ///< after this multiple of the time, LeastBytes is enough
/// Minimum size of a test file of a rank with several files.
constexpr std::uint64_t LeastFileBytes = 32 * MiB;
constexpr int MostTestFiles = 16;  ///< maximum number of test files of all ranks, unless there are more ranks
constexpr std::size_t MostExistingFiles = 64;  ///< maximum number of existing files; all files stay open
constexpr std::uint64_t LeastExistingBytes = 64 << 10;  ///< minimum size of an existing file

/// Throws Error unless `dir` is a folder with space for test files of `bytes` bytes. margin: factor on
/// `bytes`, for metadata. advice: what the user can do if space is lacking.
void CheckFreeSpace(const std::string& dir, std::uint64_t bytes, double margin, const char* advice)
{
  std::error_code fault;
  const fs::space_info space = fs::space(dir, fault);
  if (fault || !fs::is_directory(dir, fault)) {
    throw SystemError(dir, "a folder to measure", fault ? fault.value() : ENOTDIR);
  }
  const double needed = margin * static_cast<double>(bytes);
  if (static_cast<double>(space.available) < needed) {
    throw FileError(dir, ByteText(needed) + " of free space for test files",
        ByteText(static_cast<double>(space.available)), advice);
  }
}

/// Flushes the file, also if a signal has removed the file, unlike PlainFile::Flush(). Throws Error.
void Flush(const PlainFile& file)
{
  if (::fsync(file.Descriptor()) != 0) {
    throw SystemError(file.Path(), "a test file that can be written", errno);
  }
}

/// Writes `bytes` incompressible bytes, or fewer if `stops(bytes written)` returns true, to a new file.
/// Flushes the file and drops it from the page cache. Throws Error.
template <typename Condition>
void WriteFile(const std::string& path, std::uint64_t bytes, std::mt19937_64& random, const Condition& stops)
{
  const PlainFile file(path, PlainFile::Purpose::Create, 0600);
  std::vector<std::uint64_t> block(MiB / sizeof(std::uint64_t));
  std::generate(block.begin(), block.end(), random);
  for (std::uint64_t done = 0; done < bytes && !stops(done);) {
    // All blocks differ, so that no file system can deduplicate them.
    block[random() % block.size()] = random();
    std::rotate(block.begin(), block.begin() + 1, block.end());
    const std::uint64_t count = std::min(MiB, bytes - done);
    file.Write(done, block.data(), count);
    done += count;
  }
  Flush(file);
  DropFromPageCache(path);
}

/// Appends the file `path`, or the files below the folder `path`, to `files`. Leaves out further files of
/// folders when `files` has 100 000 elements. Throws Error if `path` is neither a folder nor a regular file.
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

/// Makes a folder in `dir` on rank 0. A signal on rank 0 removes the folder. Returns the path of the folder.
/// Throws Error, the same on all ranks, if the folder cannot be made or is not the same on all nodes, or if
/// the storage lacks space for `bytes` bytes. margin, advice: see CheckFreeSpace(). Collective: every rank of
/// the communicator calls it.
std::string MakeSharedFolder(
    Communicator& ranks, const std::string& dir, std::uint64_t bytes, double margin, const char* advice)
{
  std::string path;
  RunOnRankZero(ranks, [&] {
    CheckFreeSpace(dir, bytes, margin, advice);
    path = MakeProbeFolder(dir);
    Interrupt::RemoveAtSignal(path);
  });
  path = FirstNonEmpty(ranks, path);
  RunOnAllRanks(ranks, [&] {
    if (!fs::is_directory(path)) {
      throw FileError(dir, "a folder that all nodes share", "a different folder on each node",
          "Measure from one node only");
    }
  });
  return path;
}

}  // namespace

AlignedMemory MakeAlignedMemory(std::size_t bytes)
{
  const std::size_t whole = RoundUp(bytes, PageBytes);
  AlignedMemory memory(static_cast<std::byte*>(std::aligned_alloc(PageBytes, whole)));
  if (!memory) {
    throw std::bad_alloc();
  }
  std::memset(memory.get(), 1, whole);
  return memory;
}

void DropFromPageCache(const std::string& path)
{
  const RawFile file(path, O_RDONLY);
  // ResidentFraction() and the rates show whether the kernel has dropped the file.
  if (file.IsOpen()) {
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  }
}

double ResidentFraction(const std::string& path)
{
  const RawFile file(path, O_RDONLY);
  struct stat attributes;
  if (!file.IsOpen() || ::fstat(file, &attributes) != 0 || attributes.st_size == 0) {
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

std::string MakeProbeFolder(const std::string& dir)
{
  const std::string first = fmt::format("{}/{}{}_{}", dir, Prefix, MachineName(), ::getpid());
  std::string path = first;
  // The folder of an earlier process with the same number may exist.
  for (int next = 2; ::mkdir(path.c_str(), 0700) != 0; ++next) {
    if (errno != EEXIST || next > MostFolders) {
      throw SystemError(
          dir, "a writable folder", errno, "Choose another folder, or read existing files with --existing");
    }
    path = fmt::format("{}.{}", first, next);
  }
  return path;
}

ProbeFolders RemoveDeadProbeFolders(const std::string& dir)
{
  ProbeFolders found;
  std::error_code fault;
  const std::string host = MachineName();
  for (const fs::path& entry : EntriesOf(dir, [](const fs::directory_entry&) { return true; })) {
    const std::string path = entry.string();
    const std::optional<FolderCreator> creator = CreatorNamed(fs::path(path).filename().string());
    if (!creator || !fs::is_directory(path, fault) ||
        (creator->Host == host && IsRunning(creator->Process))) {
      continue;
    }
    if (creator->Host == host && IsOwnFolder(path)) {
      fs::remove_all(path, fault);
    }
    (fs::exists(path, fault) ? found.Remaining : found.Removed).push_back(path);
  }
  return found;
}

TestFolder::TestFolder(Communicator& ranks, const std::string& directory, std::uint64_t bytes) : Ranks(ranks)
{
  constexpr double margin = 1.05;
  this->Name = MakeSharedFolder(ranks, directory, bytes, margin, "Use smaller --sizes, or another folder");
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
  if (Interrupt::Received()) {
    return;  // the signal may have removed the file, which must not be made again
  }
  const PlainFile file(path, PlainFile::Purpose::Share, 0600);
  const Pattern pattern(seed);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(WriteBytes, bytes));
  for (std::uint64_t done = 0; done < bytes && !Interrupt::Received();) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), bytes - done);
    pattern.Fill(offset + done, buffer.data(), count);
    file.Write(offset + done, buffer.data(), count);
    done += count;
  }
  Flush(file);
}

std::uint64_t ProbeFiles::TotalBytes() const
{
  return std::accumulate(this->Bytes.begin(), this->Bytes.end(), std::uint64_t{0});
}

TestFiles::TestFiles(Communicator& ranks, const std::string& dir, std::uint64_t bytes, double seconds,
    const std::atomic<bool>* cancel)
{
  constexpr double margin = 1.1;
  try {
    this->Folder = MakeSharedFolder(ranks, dir, bytes, margin,
        "Free some space, use smaller --test-bytes, or read existing files with --existing");
    RunOnAllRanks(ranks, [&] { this->WriteFiles(ranks.Rank(), ranks.Size(), bytes, seconds, cancel); });
    this->AllFiles = {GatherTexts(ranks, this->OwnFiles.Paths), GatherValues(ranks, this->OwnFiles.Bytes)};
  } catch (...) {
    this->RemoveFiles();
    throw;
  }
}

TestFiles::~TestFiles()
{
  this->RemoveFiles();
}

void TestFiles::RemoveFiles()
{
  Interrupt::ForgetFiles();
  for (const std::string& path : this->OwnFiles.Paths) {
    std::remove(path.c_str());
  }
  this->OwnFiles.Paths.clear();
  if (!this->Folder.empty()) {
    // rmdir() succeeds on the last rank, when the folder is empty.
    ::rmdir(this->Folder.c_str());
  }
}

void TestFiles::WriteFiles(
    int rank, int rankCount, std::uint64_t bytes, double seconds, const std::atomic<bool>* cancel)
{
  const std::uint64_t share = std::max(bytes / rankCount, MiB);
  const auto most = static_cast<std::uint64_t>(std::max(1, MostTestFiles / rankCount));
  const std::uint64_t count = std::clamp<std::uint64_t>(share / LeastFileBytes, 1, most);
  const std::uint64_t each = std::max(share / count / MiB * MiB, MiB);
  std::mt19937_64 random(
      0x9e3779b97f4a7c15ULL + static_cast<unsigned>(rank) + static_cast<unsigned>(::getpid()));
  const Stopwatch watch;
  std::uint64_t written = 0;
  const auto stops = [&](std::uint64_t more) {
    const double late = watch.Seconds() / seconds;
    const std::uint64_t all = (written + more) * static_cast<std::uint64_t>(rankCount);
    return (cancel && *cancel) || (late > 1 && all >= EnoughBytes) || (late > Patience && all >= LeastBytes);
  };
  for (std::uint64_t file = 0; file < count && !stops(0); ++file) {
    const std::string path = fmt::format("{}/{}_{}", this->Folder, rank, file);
    Interrupt::RemoveAtSignal(path);
    this->OwnFiles.Paths.push_back(path);
    WriteFile(path, each, random, stops);
    this->OwnFiles.Bytes.push_back(SizeOfFile(path).value_or(0));
    written += this->OwnFiles.Bytes.back();
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
    const std::uint64_t bytes = SizeOfFile(path).value_or(0);
    if (bytes >= LeastExistingBytes) {
      large.Paths.push_back(path);
      large.Bytes.push_back(bytes);
    }
  }
  ProbeFiles files;
  const std::size_t count = std::min(large.Paths.size(), MostExistingFiles);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = i * large.Paths.size() / count;
    files.Paths.push_back(large.Paths[index]);
    files.Bytes.push_back(large.Bytes[index]);
  }
  if (files.TotalBytes() < MiB) {
    throw FileError(paths.empty() ? "" : paths.front(), "at least 1 MiB in files of at least 64 KiB",
        fmt::format("{} with {}", CountText(files.Paths.size(), "file"),
            ByteText(static_cast<double>(files.TotalBytes()))),
        "Give larger files, or omit --existing, so that probe writes test files");
  }
  return files;
}

}  // namespace patchio::probe
