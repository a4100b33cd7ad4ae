// Fingerprints of files: the size, time and inode number, which show whether a file has changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// The attributes of a file that show whether the file has changed. At least one of them changes when a
/// program writes or replaces the file, unless the program restores them on purpose or writes twice within
/// the resolution of the time.
struct Fingerprint
{
  std::uint64_t Size = 0;             ///< in bytes
  std::int64_t ModificationTime = 0;  ///< time of the last change of the contents, nanoseconds since 1970
  std::uint64_t Inode = 0;
  bool operator==(const Fingerprint& other) const
  {
    return this->Size == other.Size && this->ModificationTime == other.ModificationTime &&
           this->Inode == other.Inode;
  }
  bool operator!=(const Fingerprint& other) const { return !(*this == other); }
};

/// The fingerprint of a file and the time of its last change, from one query.
struct FileState
{
  Fingerprint Print;
  /// The later of Print.ModificationTime and the last change of the file's contents, attributes or name:
  /// nanoseconds since 1970, by the clock of the file system's machine.
  std::int64_t ChangeTime = 0;
};

/// Returns the state of the file at `path`, or nothing if `path` cannot be queried or, unless
/// `acceptsAnyType`, is no regular file. Follows links. The time of a folder changes when a program adds,
/// removes or renames an entry.
std::optional<FileState> StateOf(const std::string& path, bool acceptsAnyType = false);

/// Returns the state of each of `paths`, in order, like StateOf(). Queries the files with at most `threads`
/// threads, because queries are slow on a parallel file system.
std::vector<std::optional<FileState>> StatesOf(const std::vector<std::string>& paths, int threads);

/// Returns the fingerprint of a file whose state was taken at `now`, nanoseconds since 1970. Returns a
/// fingerprint that matches no file if the file did not exist, or had changed less than `settleSeconds`
/// before `now`, so that a further change might not show in its times.
Fingerprint TrustedFingerprint(const std::optional<FileState>& state, std::int64_t now, double settleSeconds);

/// Returns the current time by this machine's clock, in nanoseconds since 1970.
std::int64_t NowInNanoseconds();

}  // namespace patchio
