// Files for the measurement of a storage: folders whose names identify the process that made the folder, test
// files in such folders, existing files, and access that bypasses the page cache.
#pragma once

#include "Base/Bytes.h"
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
constexpr std::uint64_t PageBytes = 4096;

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
  RawFile(const std::string& path, int flags) : Descriptor(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~RawFile() { this->Close(); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  bool IsOpen() const { return this->Descriptor >= 0; }
  /// Closes the file. Returns false, and sets errno, if the system reports an error.
  bool Close()
  {
    const int number = this->Descriptor;
    this->Descriptor = -1;
    return number < 0 || ::close(number) == 0;
  }
  operator int() const { return this->Descriptor; }

private:
  int Descriptor;
};

/// Asks the kernel to drop the file from this machine's page cache. The kernel drops only bytes that have
/// been flushed.
void DropFromPageCache(const std::string& path);

/// Returns the fraction of the file that is in this machine's page cache, 0 to 1; -1 if unknown.
double ResidentFraction(const std::string& path);

// ---- folders
// --------------------------------------------------------------------------------------------------

/// Makes a folder patchio_probe_HOST_PID in `dir`, with .2, .3 and so on at the end if the name is used.
/// Returns the path of the new folder. Throws Error if `dir` is not writable.
std::string MakeProbeFolder(const std::string& dir);

struct ProbeFolders
{
  std::vector<std::string> Removed;    ///< folders that were removed with their contents
  std::vector<std::string> Remaining;  ///< folders of other machines or users, or whose removal failed
};

/// Removes the folders that ended processes of this machine and user have left in `dir`. Ignores folders of
/// processes of this machine that still run. Does not throw: if `dir` cannot be read, both lists are empty.
ProbeFolders RemoveDeadProbeFolders(const std::string& dir);

// ---- the files of a study
// --------------------------------------------------------------------------------------------------

/// A folder for test files inside the measured folder. The destructor removes the folder with all files.
class TestFolder
{
public:
  /// Makes the folder in `directory`. Throws Error, on all ranks, if the folder cannot be made, lacks space
  /// for `bytes` bytes plus 5 %, or is not the same folder on all nodes. Collective: every rank of the
  /// communicator calls it.
  TestFolder(Communicator& ranks, const std::string& directory, std::uint64_t bytes);
  /// Removes the folder on rank 0. Not collective.
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& Path() const { return this->Name; }
  /// Returns the path of the file `name` in the folder. A terminating signal also removes this file.
  std::string File(const std::string& name);

private:
  Communicator& Ranks;
  std::string Name;
};

/// Writes the pattern of `seed` to the `bytes` bytes at `offset` of the file, which is created if needed, and
/// flushes the file. Ends early after a signal. Throws Error if the file cannot be written.
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

/// The test files of all ranks in a new folder. The destructor, or a signal, removes the files.
class TestFiles
{
public:
  /// Writes `bytes` bytes of incompressible data, of all ranks together, to a new folder in `dir`, and
  /// flushes the data. Stops early after `seconds` with at least 128 MiB, after three times `seconds` with at
  /// least 16 MiB, and if `cancel` (may be null) becomes true. Throws Error, the same on all ranks, if `dir`
  /// lacks space, is not writable, or is not the same folder on all nodes. Collective: every rank of the
  /// communicator calls it.
  TestFiles(Communicator& ranks, const std::string& dir, std::uint64_t bytes, double seconds,
      const std::atomic<bool>* cancel = nullptr);
  ~TestFiles();
  TestFiles(const TestFiles&) = delete;
  TestFiles& operator=(const TestFiles&) = delete;

  /// Returns the files of all ranks.
  const ProbeFiles& Files() const { return this->AllFiles; }

private:
  void WriteFiles(
      int rank, int rankCount, std::uint64_t bytes, double seconds, const std::atomic<bool>* cancel);
  void RemoveFiles();

  std::string Folder;
  ProbeFiles OwnFiles;
  ProbeFiles AllFiles;
};

/// Returns existing files: the files among `paths`, and the files below the folders among `paths`. Skips
/// files below 64 KiB, and selects at most 64 files, evenly from the sorted list. Throws Error if a path is
/// neither a file nor a folder, or if the selected files have less than 1 MiB in total.
ProbeFiles FindProbeFiles(const std::vector<std::string>& paths);

}  // namespace patchio::probe
