// Paths of index files: next to the data, or in a folder of the user.
#pragma once

#include "Base/Communicator.h"

#include <functional>
#include <string>
#include <vector>

namespace patchio {

/// A path at which a file may have its index file.
struct IndexFilePath
{
  std::string Path;
  /// True: the index file lies in the folder of the described file, so that both can be moved together.
  /// False: the index file contains the absolute path of the described file.
  bool NextToData = false;
  /// True: the index file lies in the folder of the described file and has the former name, without the
  /// leading dot. PatchIO reads such an index file but never writes it, and removes it as soon as one with
  /// the new name exists.
  bool OldName = false;
};

/// Returns the paths in the order in which they are tried: ".<name>.patchio" next to the file (hidden in file
/// dialogs), the former name "<name>.patchio", and a file in the user's cache directory,
/// ${XDG_CACHE_HOME:-~/.cache}/patchio. If the environment variable PATCHIO_METADATA_DIR is set, the only
/// path is in that directory, whose name may be relative to the working directory.
std::vector<IndexFilePath> IndexFilePathsFor(const std::string& path);
/// Returns the paths of IndexFilePathsFor() that may be written.
std::vector<IndexFilePath> WritableIndexFilePathsFor(const std::string& path);
/// Returns all paths at which an index file may have been written: in $PATCHIO_METADATA_DIR if this variable
/// is set, both names next to the file, and in the user's cache directory.
std::vector<IndexFilePath> AllIndexFilePathsFor(const std::string& path);

/// Removes all index files of `path`, and temporary files that killed writers have left. Returns the removed
/// files. Throws Error for a file that cannot be removed.
std::vector<std::string> RemoveIndexFiles(const std::string& path);

/// Calls IndexFilePathsFor() on rank 0 and broadcasts the result. Collective: every rank of the communicator
/// calls it. Throws Error, the same on all ranks, when `path` is relative to a folder that no longer exists.
std::vector<IndexFilePath> SharedIndexFilePathsFor(Communicator& comm, const std::string& path);

/// Returns the absolute, normalized path. An index file in another folder than the described file records
/// this path.
std::string AbsolutePath(const std::string& path);

/// Replaces an index file atomically. Makes the folder first unless it is the data's folder. `write` gets the
/// name of a temporary file that does not exist yet and that no other program uses, and makes that file. Then
/// renames the temporary file to the name of the index file, and removes an index file with the former name
/// from the same folder. Removes the temporary file if `write` throws. Throws Error.
void SaveIndexFile(const IndexFilePath& indexFile, const std::function<void(const std::string&)>& write);

/// The two parts of SaveIndexFile(), for ranks that write together. Only one of the ranks calls them.
/// PrepareToReplace() returns the name of the temporary file.
std::string PrepareToReplace(const IndexFilePath& indexFile);
void Replace(const std::string& temporary, const IndexFilePath& indexFile);

/// Returns `message` with the name of the index file in place of the name of the temporary file, which the
/// user will not find any more.
std::string NameIndexFile(std::string message, const std::string& temporary, const IndexFilePath& indexFile);

}  // namespace patchio
