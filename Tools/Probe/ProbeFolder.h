// Folders of test files: their names tell who made them, so that those of dead processes can be found.
#pragma once

#include <string>
#include <vector>

namespace patchio::probe {

/// Makes a folder patchio_probe_HOST_PID in `dir` and gives its path. Throws Error.
std::string MakeProbeFolder(const std::string& dir);

struct ProbeFolders
{
  std::vector<std::string> Removed;  ///< with all in them
  std::vector<std::string> Left;     ///< of other machines or users, or that could not be removed
};

/// Removes the folders that processes of this machine and user, which no longer run, have left in `dir`.
/// Those of running ones are not mentioned. Never fails: where `dir` cannot be read there are none.
ProbeFolders RemoveDeadProbeFolders(const std::string& dir);

}  // namespace patchio::probe
