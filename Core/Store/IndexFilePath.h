// The paths of index files, next to the data or in a folder of the user, and the replacement and removal of
// index files.
#pragma once

#include "Base/Communicator.h"

#include <functional>
#include <string>
#include <vector>

namespace patchio {

/// A path at which the index file of another file, the indexed file, may be.
struct IndexFilePath
{
  std::string Path;
  /// True: the index file lies in the folder of the indexed file, so that both files can be moved together.
  /// False: the index file contains the absolute path of the indexed file.
  bool NextToData = false;
  /// True: the index file has the old name, without the leading dot, in the folder of the indexed file.
  /// PatchIO reads this file, never writes it, and removes it after writing an index file with the new name.
  bool HasOldName = false;
};

/// Returns the paths at which PatchIO looks for an index file of `path`, in this order: ".<name>.patchio"
/// next to the file (hidden in file dialogs), the old name "<name>.patchio", and a file in the user's cache
/// directory (${XDG_CACHE_HOME:-~/.cache}/patchio) unless $XDG_CACHE_HOME and $HOME are both unset. If the
/// environment variable PATCHIO_METADATA_DIR is set to a directory, absolute or relative to the working
/// directory, returns only a path in this directory. Throws like AbsolutePath().
std::vector<IndexFilePath> IndexFilePathsFor(const std::string& path);
/// Returns all paths at which PatchIO may have written an index file of `path`: in $PATCHIO_METADATA_DIR if
/// this variable is set, with both names next to the file, and in the user's cache directory.
std::vector<IndexFilePath> AllIndexFilePathsFor(const std::string& path);

/// Removes all index files of `path`, and temporary files that have not changed for a minute, which
/// interrupted programs have left. Returns the paths of the removed index files. Throws Error if an index
/// file cannot be removed.
std::vector<std::string> RemoveIndexFiles(const std::string& path);

/// Returns rank 0's result of IndexFilePathsFor() on all ranks. Throws Error, the same on all ranks, if
/// `path` is relative to a folder that no longer exists. Collective: every rank of the communicator calls it.
std::vector<IndexFilePath> SharedIndexFilePathsFor(Communicator& ranks, const std::string& path);

/// Replaces an index file atomically. Creates the folder of the index file unless the index file is next to
/// the data, and removes temporary files older than a day. Calls `write` on all ranks with the path of a
/// temporary file, which `write` must create and no other program uses. Then renames the temporary file to
/// the index file and, if the index file is next to the data, removes an index file with the old name there.
/// If `write` throws Error, the same on all ranks, removes the temporary file and throws Error with the same
/// message, which names the index file instead of the temporary file. Throws Error, the same on all ranks, if
/// the index file cannot be replaced. Collective: every rank of the communicator calls it.
void SaveIndexFile(Communicator& ranks, const IndexFilePath& indexFile,
    const std::function<void(const std::string&)>& write);

}  // namespace patchio
