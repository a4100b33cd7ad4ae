// Where sidecars lie.
#pragma once

#include "Support/Communicator.h"

#include <functional>
#include <string>
#include <vector>

namespace patchio {

/// One place for the sidecar of a path.
struct Place
{
  std::string Path;  ///< of the sidecar
  bool Beside =
      false;  ///< beside the file that it describes, and so moved with it; else it holds that file's name
};

/// In the order in which they are tried: "<path>.patchio" and a file in the user's cache directory,
/// ${XDG_CACHE_HOME:-~/.cache}/patchio; or, when the environment variable PATCHIO_METADATA_DIR is set, a file
/// in that directory alone (a relative name is taken from the working directory).
std::vector<Place> PlacesFor(const std::string& path);
/// All places that a sidecar of the path may have been written to, whatever PATCHIO_METADATA_DIR was then:
/// those above together.
std::vector<Place> AllPlacesFor(const std::string& path);

/// Removes the path's sidecars in all places, and what writers that were killed have left of them. Gives the
/// files that are gone now. Throws Error for one that cannot be removed.
std::vector<std::string> RemoveSidecars(const std::string& path);

/// Collective: those of rank 0, on all ranks. Throws Error, the same on all ranks, when `path` is relative to
/// a folder that is gone.
std::vector<Place> SharedPlacesFor(Communicator& comm, const std::string& path);

/// The path as a sidecar that does not lie beside it knows it.
std::string AbsolutePath(const std::string& path);

/// Has `write` make a new file and puts it in the place of `place` at once, by rename; makes the folder first
/// where it is not one that data lie in. `write` gets the name of a file that does not exist yet, unlike that
/// of any other program; the file is gone when it throws. Throws Error.
void ReplaceFile(const Place& place, const std::function<void(const std::string&)>& write);

/// The parts of ReplaceFile, for ranks that write together: one of them calls these.
std::string PrepareToReplace(const Place& place);
void Replace(const std::string& temporary, const Place& place);

/// The message of a fault with `temporary`, which nobody will find any more, with the place's name instead.
std::string NamePlace(std::string message, const std::string& temporary, const Place& place);

}  // namespace patchio
