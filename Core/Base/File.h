// Files: reading one, opening only what is a regular file, replacing one by a rename.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

/// A file through the system's calls, with errors that name it.
class PlainFile
{
public:
  enum class Purpose
  {
    Read,
    Create,  ///< for writing and reading; it must not exist yet
    Update,  ///< for writing and reading; it must exist
    Share    ///< for writing and reading; it is created if it does not exist
  };

  /// Never waits for a writer, as opening a pipe would. Throws Error, also when there is something else than
  /// a file, and for writing when there is a symbolic link. `mode`: permissions of a new file, less the
  /// user's umask.
  explicit PlainFile(const std::string& path, Purpose purpose = Purpose::Read, unsigned mode = 0666);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  const std::string& Path() const { return this->PathName; }
  int Descriptor() const { return this->Number; }
  std::uint64_t Size() const;

  /// Copies as many bytes as there are from `offset` on, at most `bytes`, and gives their number. Throws
  /// Error when the storage fails.
  std::size_t ReadSome(std::uint64_t offset, void* into, std::size_t bytes) const;
  /// Whole or not at all. They throw Error.
  void Read(std::uint64_t offset, void* into, std::size_t bytes) const;
  void Write(std::uint64_t offset, const void* data, std::size_t bytes) const;
  /// Buffers one after another. Changes them.
  void Write(std::uint64_t offset, std::vector<iovec>& buffers) const;
  /// Makes the file longer, with zeros for which no room is taken, or shorter. Throws Error.
  void SetSize(std::uint64_t bytes) const;
  /// Sets the size and takes the room for it, so that a full file system shows now.
  void Reserve(std::uint64_t bytes) const;
  /// Returns false if the file was removed or renamed, or if another file has its path.
  bool IsInPlace() const;
  /// Brings all written bytes to the storage, where they survive a failure of the machine. Throws Error if
  /// that fails, or if the file was removed.
  void Flush() const;

private:
  [[noreturn]] void Fail(const std::string& expected) const;

  std::string PathName;
  int Number;
};

/// Removes files of the folder whose names begin and end like this and that have not changed for `seconds`:
/// what killed programs have left. Faults are ignored.
void RemoveStrays(
    const std::string& folder, const std::string& prefix, const std::string& suffix, double seconds);

/// The path without "/" and "/." at its end, as a shell's Tab adds them; one that ends in "." or ".." is that
/// folder's own path. So everything that is named after a path has one name, however the path was typed.
std::string TidyPath(const std::string& path);

/// Opens a file for reading, without waiting. -1, with `errno`, where it cannot be opened. Throws Error when
/// it is something else than a file: a folder, a pipe, a device.
int OpenRegularFile(const std::string& path);

/// Throws Error unless `path` is a file that can be opened for reading. To be asked before a library, or the
/// standard streams, open it.
void CheckRegularFile(const std::string& path);

/// The file has this text from now on, also after the machine's failure. It is written beside it first, so
/// that nobody ever sees half of it. Throws Error, and the file is as before then.
void ReplaceFile(const std::string& path, const std::string& text);

}  // namespace patchio
