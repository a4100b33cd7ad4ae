// Files that appear at once.
#pragma once

#include <string>

namespace patchio {

/// The file has this text from now on, also after the machine's failure. It is written beside it first, so
/// that nobody ever sees half of it. Throws Error, and the file is as before then.
void ReplaceFile(const std::string& path, const std::string& text);

}  // namespace patchio
