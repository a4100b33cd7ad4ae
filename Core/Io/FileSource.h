// Files of the file system, read with pread.
#pragma once

#include "Io/Source.h"

#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// `paths[i]` is file number i. sequential: per file, whether most of it will be read in ascending order, so
/// that the system is told to read ahead; or empty.
std::unique_ptr<Source> MakeFileSource(
    const std::vector<std::string>& paths, const std::vector<bool>& sequential = {});

}  // namespace patchio
