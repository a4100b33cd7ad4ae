// Files: reading, writing, opening of regular files only, paths, replacement by a rename.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// A file, used through system calls. Throws Error with the file's name if a call fails. Read() and Write()
/// at different offsets may run in several threads at once.
class PlainFile
{
public:
  enum class Purpose
  {
    Read,
    Create,  ///< for writing and reading; the file must not exist yet
    Update,  ///< for writing and reading; the file must exist
    Share    ///< for writing and reading; the file is created if it does not exist
  };

  /// Opens the file, without waiting for a writer if `path` is a pipe. `mode`: permissions of a new file,
  /// restricted by the user's umask. Throws Error if the file cannot be opened, if `path` is not a regular
  /// file (purpose Read), or if `path` is a symbolic link (all other purposes).
  explicit PlainFile(const std::string& path, Purpose purpose = Purpose::Read, unsigned mode = 0666);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  const std::string& Path() const { return this->PathName; }
  int Descriptor() const { return this->FileDescriptor; }
  std::uint64_t Size() const;

  /// Reads `bytes` bytes at `offset` into `into`, or fewer if the file ends earlier. Returns the number of
  /// bytes read. Throws Error if the read fails.
  std::size_t ReadUpTo(std::uint64_t offset, void* into, std::size_t bytes) const;
  /// Reads exactly `bytes` bytes at `offset`. Throws Error if the file ends earlier or the read fails.
  void Read(std::uint64_t offset, void* into, std::size_t bytes) const;
  /// Writes all bytes at `offset`. Throws Error if the write fails.
  void Write(std::uint64_t offset, const void* data, std::size_t bytes) const;
  /// Writes the buffers one after another at `offset`, and modifies the entries of `buffers`. Throws Error if
  /// the write fails.
  void Write(std::uint64_t offset, std::vector<iovec>& buffers) const;
  /// Truncates or extends the file. An extension reads as zeros and occupies no space on the storage. Throws
  /// Error if the system refuses the size.
  void SetSize(std::uint64_t bytes) const;
  /// Allocates space for the first `bytes` bytes, and extends a shorter file to that size, so that a full
  /// file system causes an error before the first write. Throws Error if the space cannot be allocated.
  void Reserve(std::uint64_t bytes) const;
  /// Returns false if the file was removed or renamed, or if `Path()` is another file now.
  bool IsInPlace() const;
  /// Flushes all written bytes to the storage, so that they survive a failure of the machine. Throws Error if
  /// the flush fails, or if the file was removed.
  void Flush() const;

private:
  [[noreturn]] void Fail(const std::string& expected) const;

  std::string PathName;
  int FileDescriptor;
};

/// Removes the first `bytes` bytes from the buffers `next` .. `end` - 1: moves `next` to the first buffer
/// that is not empty afterwards, or to `end`, and shortens that buffer.
void SkipBytes(iovec*& next, const iovec* end, std::size_t bytes);

/// Returns the paths of a folder's entries for which `accepts` returns true, in ascending order. If
/// the system cannot read the folder, returns only the entries that were read before the error.
std::vector<std::filesystem::path> EntriesOf(const std::filesystem::path& folder,
    const std::function<bool(const std::filesystem::directory_entry&)>& accepts);

/// Removes the temporary files that killed programs left behind: files in `folder` whose names begin with
/// `prefix` and end with `suffix`, and that have not changed for `seconds` seconds. Ignores errors.
void RemoveStaleFiles(
    const std::string& folder, const std::string& prefix, const std::string& suffix, double seconds);

/// Returns `path` without "/" and "/." at the end; the completion of a shell adds "/" to folders. If the last
/// part of the shortened path is "." or "..", returns the canonical path, or the shortened path if it does
/// not exist. Names derived from the result do not depend on how the user typed the end of the path.
std::string NormalizedPath(const std::string& path);

/// Returns `path` as an absolute, normalized path. Throws std::filesystem::filesystem_error if `path` is
/// relative to a folder that no longer exists.
std::string AbsolutePath(const std::string& path);

/// Returns the path of the folder "patchio" for files of the user: in the folder that the environment
/// variable `variable` names by an absolute path, otherwise in the folder `inHome` of the home folder.
/// Returns an empty text if `variable` has no absolute path and $HOME is not set.
std::string UserFolder(const char* variable, const std::string& inHome);

/// Returns the size of a regular file, or nothing if there is no such file.
std::optional<std::uint64_t> SizeOfFile(const std::string& path);

/// Returns the first bytes of a file, at most `most`. Throws Error if the file cannot be read.
std::string FirstBytes(const std::string& path, std::size_t most);

/// Opens a regular file for reading, without waiting. Returns the file descriptor, or -1 with `errno` set if
/// the file cannot be opened. Throws Error if `path` is a folder, a pipe or a device.
int OpenRegularFile(const std::string& path);

/// Throws Error unless `path` is a regular file that can be opened for reading. Call this function before a
/// library or a standard stream opens the file: libraries and streams may wait for a pipe.
void CheckRegularFile(const std::string& path);

/// Flushes the names in a folder to the storage, so that new, renamed and removed files survive a failure of
/// the machine. Ignores errors: some file systems neither support nor need the flush.
void FlushFolder(const std::string& folder);

/// Replaces the contents of a file by `text`, or creates the file. Writes and flushes a temporary file in the
/// same folder, renames it and flushes the folder, so that other programs always see either the old or the
/// new text, and the new text survives a failure of the machine. After a failure, throws Error and leaves the
/// old file unchanged.
void ReplaceFile(const std::string& path, const std::string& text);

}  // namespace patchio
