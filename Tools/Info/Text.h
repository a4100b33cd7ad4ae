// What `patchio info` says, for people.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace patchio::tools {

/// What people read of the JSON of `patchio info`: a summary, the last step in full, a line for each step,
/// then what is wrong.
std::string InfoText(const nlohmann::json& all);

}  // namespace patchio::tools
