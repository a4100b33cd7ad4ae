// Files to measure a storage with: folders of their own, whose names tell who made them; files that are
// written there, or found; and access past this machine's memory.
#pragma once

#include "Base/Communicator.h"

#include <fcntl.h>
#include <unistd.h>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace patchio::probe {

// ---- past the memory
// --------------------------------------------------------------------------------------------------

/// O_DIRECT asks for offsets, lengths and addresses that are multiples of this.
constexpr std::size_t PageBytes = 4096;

struct FreeMemory
{
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte, FreeMemory>;

/// Begins at a page, and its pages exist already. Throws std::bad_alloc.
AlignedMemory MakeAlignedMemory(std::size_t bytes);

/// The descriptor of a file that is opened with any flags, such as O_DIRECT; closed at the end.
class RawFile
{
public:
  RawFile(const std::string& path, int flags) : Number(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~RawFile() { this->Close(); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  bool IsOpen() const { return this->Number >= 0; }
  /// Returns false, with errno, if the system reports a fault.
  bool Close()
  {
    const int number = this->Number;
    this->Number = -1;
    return number < 0 || ::close(number) == 0;
  }
  operator int() const { return this->Number; }

private:
  int Number;
};

/// Asks this machine to forget what it has of the file, which must have been written down before.
void DropFromMemory(const std::string& path);

/// The part of the file that this machine has in memory, 0 to 1; -1 where it does not say.
double ResidentPart(const std::string& path);

// ---- folders
// --------------------------------------------------------------------------------------------------

/// Makes a folder patchio_probe_HOST_PID in `dir` and gives its path. Throws Error.
std::string MakeProbeFolder(const std::string& dir);

struct ProbeFolders
{
  std::vector<std::string> Removed;  ///< with all in them
  std::vector<std::string> Left;     ///< of other machines or users, or that could not be removed
};

/// Removes the folders that processes of this machine and user, which no longer run, have left in `dir`.
/// Folders of running processes are not mentioned. Never fails: if `dir` cannot be read, both lists are
/// empty.
ProbeFolders RemoveDeadProbeFolders(const std::string& dir);

// ---- the files of a study
// --------------------------------------------------------------------------------------------------

/// A folder of its own inside the probed one; gone with everything in it when this ends.
class TestFolder
{
public:
  /// Collective. Throws Error, on all ranks, when there is no room for `bytes` or it cannot be made.
  TestFolder(Communicator& ranks, const std::string& directory, std::uint64_t bytes);
  /// Not collective; rank 0 removes.
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& Path() const { return this->Name; }
  /// A file in it that a signal removes as well.
  std::string File(const std::string& name);

private:
  Communicator& Ranks;
  std::string Name;
};

/// Writes the pattern of `seed` over `bytes` bytes of the file from `offset` on and waits until the storage
/// has them. Ends early when interrupted. Throws Error.
void WritePattern(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes);

// ---- the files of the quick probe
// --------------------------------------------------------------------------------------------------

/// Files that all ranks read.
struct ProbeFiles
{
  std::vector<std::string> Paths;
  std::vector<std::uint64_t> Bytes;  ///< of each
  std::uint64_t TotalBytes() const;
};

/// Test files in a folder of their own in DIR, written by all ranks, removed with this object and at a
/// signal.
class TestFiles
{
public:
  /// Collective. Writes `bytes` of data that no file system can compress in all, and flushes them. After
  /// `seconds` it stops where at least 128 MiB are there, after three times as long where 16 MiB are, and
  /// when `cancel` becomes true. Throws Error, the same on all ranks: no room for so much, DIR is not
  /// writable, or not the same on all nodes.
  TestFiles(Communicator& comm, const std::string& dir, std::uint64_t bytes, double seconds,
      const std::atomic<bool>* cancel = nullptr);
  ~TestFiles();
  TestFiles(const TestFiles&) = delete;
  TestFiles& operator=(const TestFiles&) = delete;

  /// The files of all ranks.
  const ProbeFiles& Files() const { return this->All; }

private:
  void Write(int rank, int ranks, std::uint64_t bytes, double seconds, const std::atomic<bool>* cancel);
  void Gather(Communicator& comm);
  void Remove();

  std::string Folder;
  ProbeFiles Own;
  ProbeFiles All;
};

/// Files that are there already, folders with all files in them included; at most 64 of them, from all parts
/// of the list, and none below 64 KiB. Throws Error where that leaves less than 1 MiB.
ProbeFiles FindProbeFiles(const std::vector<std::string>& paths);

}  // namespace patchio::probe
