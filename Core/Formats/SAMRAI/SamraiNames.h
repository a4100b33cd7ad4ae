// Names of files, folders, groups and data sets in a dump.
#pragma once

#include <cstdint>
#include <string>

namespace patchio::samrai {

constexpr const char* DumpListName = "dumps.visit";
constexpr const char* SummaryName = "summary.samrai";
constexpr const char* DumpPrefix = "visit_dump.";

/// Returns a name like "patch.00012": the prefix and a number >= 0 with at least five digits.
inline std::string Numbered(const std::string& prefix, std::int64_t number)
{
  const std::string digits = std::to_string(number);
  return prefix + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

inline std::string ClusterName(int file)
{
  return Numbered("processor_cluster.", file) + ".samrai";
}

/// Returns the name of the data set of one component of the variable `name`: "<name>", or "<name>.07" if the
/// variable has several components.
inline std::string ComponentName(const std::string& name, int components, int component)
{
  return components == 1 ? name : name + (component < 10 ? ".0" : ".") + std::to_string(component);
}

}  // namespace patchio::samrai
