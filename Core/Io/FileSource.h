// A Source of files in the file system, read with preadv().
#pragma once

#include "Io/Source.h"

#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// Makes a source of files. `paths[i]` is file number i. `sequential`: per file, true if most of the file
/// will be read in ascending order, so that the system should read ahead. Empty: false for all files.
std::unique_ptr<Source> MakeFileSource(
    const std::vector<std::string>& paths, const std::vector<bool>& sequential = {});

}  // namespace patchio
