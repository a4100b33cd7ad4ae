// What `patchio --version` says.
#pragma once

#include <string>

namespace patchio::tools {

/// The program's version, and a line with those of the libraries that it runs with.
std::string Versions();

}  // namespace patchio::tools
