// Profiles as files.
#pragma once

#include <string>

namespace patchio {

/// All of a file that somebody has put there. Throws Error where it cannot be read, is no file, or is far
/// larger than any profile.
std::string ReadProfileText(const std::string& file);

/// Writes a file beside, and then puts it in the place of `file`, so that nobody ever sees half of it. Makes
/// the folder if needed. Throws Error.
void ReplaceProfileText(const std::string& file, const std::string& text);

}  // namespace patchio
