// Files for the measurement of a storage: folders whose names identify the process that made them, test files
// in such folders, existing files, and access that bypasses the page cache.
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

// ---- access that bypasses the page cache
// --------------------------------------------------------------------------------------------------

/// Alignment in bytes that O_DIRECT requires of offsets, lengths and addresses.
constexpr std::size_t PageBytes = 4096;

struct FreeMemory
{
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte, FreeMemory>;

/// Returns page-aligned memory whose pages are already allocated. Throws std::bad_alloc.
AlignedMemory MakeAlignedMemory(std::size_t bytes);

/// The descriptor of a file opened with any flags, such as O_DIRECT. The destructor closes the file.
class RawFile
{
public:
  RawFile(const std::string& path, int flags) : Number(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~RawFile() { this->Close(); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  bool IsOpen() const { return this->Number >= 0; }
  /// Closes the file. Returns false, with errno, if the system reports a fault.
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

/// Asks the kernel to drop the file from this machine's memory. The kernel drops only bytes that have been
/// flushed.
void DropFromMemory(const std::string& path);

/// Returns the part of the file that this machine has in memory, 0 to 1; -1 if unknown.
double ResidentPart(const std::string& path);

// ---- folders
// --------------------------------------------------------------------------------------------------

/// Makes a folder patchio_probe_HOST_PID in `dir` and returns its path. Throws Error.
std::string MakeProbeFolder(const std::string& dir);

struct ProbeFolders
{
  std::vector<std::string> Removed;  ///< folders that were removed with their contents
  std::vector<std::string> Left;     ///< folders of other machines or users, or that could not be removed
};

/// Removes the folders that ended processes of this machine and user have left in `dir`. Ignores folders of
/// running processes. Does not throw: if `dir` cannot be read, both lists are empty.
ProbeFolders RemoveDeadProbeFolders(const std::string& dir);

// ---- the files of a study
// --------------------------------------------------------------------------------------------------

/// A folder for test files inside the measured folder. The destructor removes it with its contents.
class TestFolder
{
public:
  /// Collective: makes the folder. Throws Error, on all ranks, if it cannot be made or has no room for
  /// `bytes` bytes.
  TestFolder(Communicator& ranks, const std::string& directory, std::uint64_t bytes);
  /// Removes the folder on rank 0. Not collective.
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& Path() const { return this->Name; }
  /// Returns the path of file `name` in the folder. A terminating signal also removes that file.
  std::string File(const std::string& name);

private:
  Communicator& Ranks;
  std::string Name;
};

/// Writes the pattern of `seed` to the `bytes` bytes at `offset` of the file, and flushes the file. Ends
/// early after a signal. Throws Error.
void WritePattern(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes);

// ---- the files of the quick probe
// --------------------------------------------------------------------------------------------------

/// Files that all ranks read.
struct ProbeFiles
{
  std::vector<std::string> Paths;
  std::vector<std::uint64_t> Bytes;  ///< size of each file
  std::uint64_t TotalBytes() const;
};

/// Test files of all ranks in a new folder. The destructor, or a signal, removes them.
class TestFiles
{
public:
  /// Collective: writes `bytes` bytes of incompressible data to a new folder in `dir`, and flushes them.
  /// Stops early after `seconds` with at least 128 MiB, after three times `seconds` with at least 16 MiB, and
  /// if `cancel` (may be null) becomes true. Throws Error, the same on all ranks, if there is not enough
  /// room, or if `dir` is not writable or not the same folder on all nodes.
  TestFiles(Communicator& comm, const std::string& dir, std::uint64_t bytes, double seconds,
      const std::atomic<bool>* cancel = nullptr);
  ~TestFiles();
  TestFiles(const TestFiles&) = delete;
  TestFiles& operator=(const TestFiles&) = delete;

  /// Returns the files of all ranks.
  const ProbeFiles& Files() const { return this->All; }

private:
  void Write(int rank, int ranks, std::uint64_t bytes, double seconds, const std::atomic<bool>* cancel);
  void Gather(Communicator& comm);
  void Remove();

  std::string Folder;
  ProbeFiles Own;
  ProbeFiles All;
};

/// Returns existing files: the files among `paths`, and all files in the folders among `paths`. Skips files
/// below 64 KiB, and selects at most 64 files, evenly from the sorted list. Throws Error if the selected
/// files have less than 1 MiB.
ProbeFiles FindProbeFiles(const std::vector<std::string>& paths);

}  // namespace patchio::probe
