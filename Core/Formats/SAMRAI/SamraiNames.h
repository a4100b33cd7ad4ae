// Names of files, folders, groups and data sets in a dump: one place for reading and writing.
#pragma once

#include <cstdint>
#include <string>

namespace patchio::samrai {

constexpr const char* IndexName = "dumps.visit";
constexpr const char* SummaryName = "summary.samrai";
constexpr const char* DumpPrefix = "visit_dump.";

/// "patch.00012": a number of at least five digits; `number` >= 0.
inline std::string Numbered(const std::string& prefix, std::int64_t number)
{
  const std::string digits = std::to_string(number);
  return prefix + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

/// Folder of the dump of one step.
inline std::string DumpName(std::int64_t step)
{
  return Numbered(DumpPrefix, step);
}

/// True for a name that DumpName() may give.
inline bool IsDumpName(const std::string& name)
{
  return name.rfind(DumpPrefix, 0) == 0;
}

inline std::string ClusterName(int file)
{
  return Numbered("processor_cluster.", file) + ".samrai";
}

/// Data set of one component of the variable `name`: "<name>", or "<name>.07" when there are several.
inline std::string ComponentName(const std::string& name, int components, int component)
{
  return components == 1 ? name : name + (component < 10 ? ".0" : ".") + std::to_string(component);
}

}  // namespace patchio::samrai
