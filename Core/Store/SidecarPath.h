// Names of sidecars: beside the data, or in folders of the user's.
#pragma once

#include "Base/Communicator.h"

#include <functional>
#include <string>
#include <vector>

namespace patchio {

/// Where a path may have a sidecar.
struct SidecarPath
{
  std::string Path;
  /// True: beside the file that it describes, and so moved with it; false: it holds that file's name.
  bool Beside = false;
  /// True: beside the file, by the name without a dot that PatchIO gave it once. It is read, and removed as
  /// soon as one of the new name is there, but never written.
  bool OldName = false;
};

/// In the order in which they are tried: ".<name>.patchio" beside the file, which dialogs hide, the same by
/// its old name "<name>.patchio", and a file in the user's cache directory,
/// ${XDG_CACHE_HOME:-~/.cache}/patchio; or, when the environment variable PATCHIO_METADATA_DIR is set, a file
/// in that directory alone (a relative name is taken from the working directory).
std::vector<SidecarPath> SidecarPathsFor(const std::string& path);
/// The paths of SidecarPathsFor() that may be written.
std::vector<SidecarPath> WritableSidecarPathsFor(const std::string& path);
/// All that may have been written, whatever PATCHIO_METADATA_DIR was then: those above together.
std::vector<SidecarPath> AllSidecarPathsFor(const std::string& path);

/// Removes all sidecars of the path, and what writers that were killed have left of them. Gives the files
/// that were removed. Throws Error for one that cannot be removed.
std::vector<std::string> RemoveSidecars(const std::string& path);

/// Collective: SidecarPathsFor() on rank 0, given to all ranks. Throws Error, the same on all ranks, when
/// `path` is relative to a folder that is gone.
std::vector<SidecarPath> SharedSidecarPathsFor(Communicator& comm, const std::string& path);

/// The path as a sidecar that does not lie beside it knows it.
std::string AbsolutePath(const std::string& path);

/// Has `write` make a new file, which then replaces the sidecar at once, by rename, and the one of the old
/// name beside it. Makes the folder first
/// unless it is that of the data. `write` gets the name of a file that does not exist yet and that no other
/// program uses; the file is removed when it throws. Throws Error.
void ReplaceFile(const SidecarPath& sidecar, const std::function<void(const std::string&)>& write);

/// The parts of ReplaceFile, for ranks that write together: one of them calls these. The first gives the name
/// of the new file.
std::string PrepareToReplace(const SidecarPath& sidecar);
void Replace(const std::string& temporary, const SidecarPath& sidecar);

/// The message of a fault with the name of the sidecar instead of that of the temporary file, which nobody
/// will find any more.
std::string NameSidecar(std::string message, const std::string& temporary, const SidecarPath& sidecar);

}  // namespace patchio
