// Files of the file system, read with pread.
#pragma once

#include "Source/Source.h"

#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// `paths[i]` is file number i.
std::unique_ptr<Source> MakeFileSource(const std::vector<std::string>& paths);

}  // namespace patchio
