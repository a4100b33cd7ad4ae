// How a change of a file is noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// A program that writes or replaces a file changes one of these, unless it restores them on purpose.
struct Fingerprint
{
  std::uint64_t Size = 0;
  std::int64_t Modified = 0;  ///< nanoseconds since 1970
  std::uint64_t Inode = 0;
  bool operator==(const Fingerprint& other) const
  {
    return this->Size == other.Size && this->Modified == other.Modified && this->Inode == other.Inode;
  }
  bool operator!=(const Fingerprint& other) const { return !(*this == other); }
};

/// A file as it is now.
struct FileState
{
  Fingerprint Print;
  /// When anything about it changed last, its name and folder included. Nanoseconds since 1970, by the clock
  /// of the file system's machine.
  std::int64_t Changed = 0;
};

/// Nothing when the file is not there or is no plain file.
std::optional<FileState> StateOf(const std::string& path);
/// The same for anything, a folder too: its time changes when something in it gets or loses its name.
std::optional<FileState> StateOfAny(const std::string& path);

/// The states of many files, `threads` at once: on a parallel file system each takes its time.
std::vector<std::optional<FileState>> StatesOf(const std::vector<std::string>& paths, int threads);

/// Nanoseconds since 1970.
std::int64_t NowInNanoseconds();

}  // namespace patchio
